import { stencilOf } from "../../../kernels/definition.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { detectDevice, withWindow } from "../../devices/device.ts";
import { DeviceSession } from "../../devices/session.ts";
import type { Failure } from "../../configuration.ts";
import { evaluateOn, type Workbench } from "../evaluate.ts";
import { type FromEvaluator, readRecords, recordLine, type ToEvaluator } from "./evaluator_protocol.ts";
import { quietMesa } from "../../devices/mesa_environment.ts";
import { isFailure } from "../../devices/run_failure.ts";

const requests = readRecords<ToEvaluator>(Deno.stdin.readable);

async function say(answer: FromEvaluator): Promise<void> {
  const bytes = recordLine(answer);
  for (let done = 0; done < bytes.length;) done += await Deno.stdout.write(bytes.subarray(done));
}

/** The next request, which must be of this kind; ends with the requests. */
async function receive<K extends ToEvaluator["say"]>(kind: K): Promise<ToEvaluator & { readonly say: K }> {
  const { value, done } = await requests.next();
  if (done) Deno.exit(0);
  if (value.say !== kind) throw new Error(`wanted ${kind}, found ${value.say}`);
  return value as ToEvaluator & { readonly say: K };
}

/** Waits for this process's turn on the device; returns how long that took, in nanoseconds. */
async function takeTurn(): Promise<number> {
  const asked = now();
  await say({ say: "wait" });
  await receive("go");
  return now() - asked;
}

function now(): number {
  return performance.now() * 1e6;
}

async function serve(session: DeviceSession, problem: Problem, samplingNs = 300e6): Promise<never> {
  while (true) {
    const { configuration, best } = await receive("evaluate");
    const started = now();
    let waitedNs = 0;
    // memory is taken in turn as well: many may compile, one measures
    const onCompiled = async (): Promise<void> => {
      waitedNs = await takeTurn();
    };
    const inTurn: Workbench = { prepare: (...what) => session.prepare(...what, onCompiled), now };
    const evaluation = await evaluateOn(inTurn, configuration, { problem, best, samplingNs });
    await say({ say: "evaluated", evaluation, evaluationNs: now() - started - waitedNs });
  }
}

/** Compiles and measures for `tune` and `record`, as `evaluator_protocol.ts` says; the process ends with its stdin. */
export async function serveEvaluations(): Promise<void> {
  quietMesa();
  new Worker(new URL("./orphan_watch.ts", import.meta.url), { type: "module" });
  // they are for the process that waits for this one
  for (const signal of Deno.build.os === "windows" ? ["SIGINT"] as const : ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {});
  }
  try {
    const { problem: { definition, ...rest }, samplingNs, deviceMemory, ...options } = await receive("open");
    const problem = { stencil: stencilOf(definition), ...rest };
    const device = withWindow(await detectDevice(problem.stencil.update), deviceMemory);
    const session = new DeviceSession({ device, ...options });
    if (options.useGpu ?? true) await session.openGpu();
    await takeTurn();
    await session.open(problem);
    await say({ say: "done" });
    await serve(session, problem, samplingNs);
  } catch (error) {
    const failure: Failure = isFailure(error)
      ? { reason: error.reason, message: error.message }
      : { reason: "device-lost", message: error instanceof Error ? error.message : `${error}` };
    await say({ say: "failed", failure });
    Deno.exit(1);
  }
}

if (import.meta.main) await serveEvaluations();
