import type { Problem } from "../../kernels/stencils/stencil.ts";
import { balance } from "../sharing/balance.ts";
import { DeviceSession } from "../devices/session.ts";
import { type Configuration, MAX_WORKERS, type Measurement } from "../configuration.ts";
import { deviceFailed } from "../devices/device_error.ts";
import type { ResolvedProblem } from "../problem/resolve_problem.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { evaluateOn } from "../measuring/evaluate.ts";
import { sweepExchange } from "../sharing/sweep_exchange.ts";
import { usableSpace } from "../problem/suited_space.ts";
import { cpuCandidates } from "../search/cpu_space.ts";
import { onGpuAlone } from "../search/space.ts";
import { AttendedRun } from "./attended_run.ts";
import {
  type BalanceContext,
  balanceRecord,
  renderBalance,
  renderSweep,
  sweepRecord,
} from "./balance_report.ts";
import { EXIT } from "./report_error.ts";
import { COMMON, count, type Options, type Reader, type Values, whole } from "./options.ts";
import { command } from "./parse_options.ts";
import { print } from "./terminal.ts";
import { PROBLEM, resolveOptions } from "./problem_options.ts";
import { RequestError } from "../problem/request_error.ts";

/** R that anyone could mean; a typing error beyond. */
const readPeriod = whole(1, 10_000);

/** `A..B` as every R from A to B. */
const readSweep: Reader<readonly number[]> = (text, refuse, earlier) => {
  const [first, last] = (/^(\d+)\.\.(\d+)$/.exec(text) ?? []).slice(1)
    .map((part) => readPeriod(part, refuse, earlier));
  if (first === undefined || last === undefined || first > last) {
    return refuse("two whole numbers, the smaller first, such as 1..32");
  }
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
};

const { noGpu: _, traversal, ...BALANCED } = PROBLEM;

/** The options of `balance`: the problem as for `tune`, where to start, and which R. */
export const OPTIONS = {
  ...BALANCED,
  traversal: {
    value: "NAME",
    help: `of the GPU's traversals: ${TRAVERSALS.map(({ name }) => name).join(", ")}`,
    read: traversal.read,
    default: "stepwise",
  },
  cpuWorkers: { ...PROBLEM.cpuWorkers, read: whole(1, MAX_WORKERS) },
  startShare: COMMON.startShare,
  exchangeEvery: {
    value: "R",
    help: "steps between two exchanges (default: the fastest of 1, 2, 4, … 32)",
    read: readPeriod,
    notWith: { "--sweep-exchange": "give either one R or several" },
  },
  sweepExchange: {
    value: "A..B",
    help: "measure these steps between exchanges beside their prediction",
    read: readSweep,
  },
  passes: {
    ...count("with --sweep-exchange: how often each is measured", 1, 1000),
    default: "7",
    onlyWith: { "--sweep-exchange": "only a sweep is repeated" },
  },
  json: COMMON.json,
  quiet: COMMON.quiet,
} as const satisfies Options;

/** Writes no file. Exit code 1 where the balance does not settle, or no share verifies. */
export const run = command({
  usage: "deno task balance [OPTIONS]",
  about: "Shares a grid between the GPU and the CPU until both take equally long, and reports the gain.",
  options: OPTIONS,
}, async (options) => {
  const request = await resolveOptions("balance", { ...options, traversal: [options.traversal] });
  if (request.device.gpu === null) {
    throw new RequestError("Cannot balance: there is no WebGPU adapter to share a grid with");
  }
  const { grid } = request.problem;
  if (grid[0] < 2) {
    throw new RequestError(
      `Cannot balance: wanted a grid of at least 2 slices to share: found ${grid.join("x")}`,
    );
  }
  using attended = new AttendedRun(options);
  using session = new DeviceSession({ device: request.device });
  return await balanceDevices(options, { request, attended, session })
    .catch(deviceFailed("The devices failed"));
});

interface BalanceSetup {
  readonly request: ResolvedProblem;
  readonly attended: AttendedRun;
  readonly session: DeviceSession;
}

async function balanceDevices(options: Values<typeof OPTIONS>, setup: BalanceSetup): Promise<number> {
  const { request: { cpuWorkers }, attended, session } = setup;
  const { signal, progress } = attended;
  const { problem, configuration } = await bestPredicted(setup);
  progress.update({ stage: "reference", done: 0, total: 0 });
  await session.open(problem, cpuWorkers);
  const context = await measureAlone(problem, configuration, setup);
  if (signal.aborted) return attended.exitCode;
  const stage = options.sweepExchange === undefined ? "balance" : "sweep";
  const { gpuAlone, cpuAlone } = context;
  const sharing = {
    session,
    problem,
    configuration,
    cpuWorkers: cpuAlone?.configuration.share.cpuWorkers ?? cpuWorkers,
    cpu: cpuAlone?.configuration,
    alone: { cpu: cpuAlone?.cellsPerSecond, gpu: gpuAlone?.cellsPerSecond },
    signal,
    onProgress: (done: number, total: number) => progress.update({ stage, done, total }),
  };
  if (options.sweepExchange !== undefined) {
    const sweep = await sweepExchange({ ...sharing, periods: options.sweepExchange, passes: options.passes });
    progress.clear();
    if (sweep === undefined) {
      if (signal.aborted) return attended.exitCode;
      throw new RequestError(
        `Cannot use --sweep-exchange: no R fits: two shares of ${problem.grid[0]} slices hold no ghost zones`,
      );
    }
    print(options.json ? sweepRecord(sweep, context) : renderSweep(sweep, context));
    return signal.aborted ? attended.exitCode : sweep.failed.length > 0 ? EXIT.no : EXIT.done;
  }
  const { startShare, exchangeEvery } = options;
  const periods = exchangeEvery === undefined ? undefined : [exchangeEvery];
  const result = await balance({ ...sharing, startShare, exchangeEvery: periods });
  progress.clear();
  print(options.json ? balanceRecord(result, context) : renderBalance(result, context));
  if (signal.aborted) return attended.exitCode;
  const reasons = result.evaluations.flatMap((one) => "failure" in one ? [one.failure.reason] : []);
  if (reasons.includes("device-lost")) return EXIT.deviceFailed;
  return result.settled && reasons.length === 0 ? EXIT.done : EXIT.no;
}

/** The problem with the steps that suit the GPU, and the best predicted configuration of the traversal asked for. */
async function bestPredicted({ request, session }: BalanceSetup) {
  const { problem, space } = usableSpace("balance", request, await session.copyBytesPerSecond());
  const [best] = space.candidates.toSorted((a, b) => b.predicted - a.predicted);
  return { problem, configuration: onGpuAlone(best!, problem) };
}

/** Verifies and times each device with the whole grid; the CPU in the best predicted of each of its traversals. */
async function measureAlone(
  problem: Problem,
  configuration: Configuration,
  { request: { device, cpuWorkers }, attended: { progress }, session }: BalanceSetup,
): Promise<BalanceContext> {
  const measure = async (stage: string, configuration: Configuration): Promise<Measurement[]> => {
    progress.update({ stage, done: 0, total: 0 });
    const evaluation = await evaluateOn(session, configuration, { problem });
    return "measurement" in evaluation ? [evaluation.measurement] : [];
  };
  const [gpuAlone] = await measure("GPU alone", configuration), onCpu: Measurement[] = [];
  const ways = Map.groupBy(cpuCandidates(problem, cpuWorkers), ({ traversal }) => traversal.name);
  for (const [best] of ways.values()) onCpu.push(...await measure("CPU alone", best!.configuration));
  const [cpuAlone] = onCpu.toSorted((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  return { problem, device, gpuAlone, cpuAlone };
}
