import type { Problem } from "../../kernels/stencils/stencil.ts";
import { balance } from "../sharing/balance.ts";
import { DeviceSession } from "../devices/session.ts";
import { type Configuration, MAX_WORKERS, type Measurement } from "../configuration.ts";
import { deviceFailed } from "../devices/device_error.ts";
import type { ResolvedProblem } from "../problem/resolve_problem.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { evaluateOn } from "../measuring/evaluate.ts";
import type { SharingOptions } from "../sharing/shared_run.ts";
import { usableSpace } from "../problem/suited_space.ts";
import { cpuCandidates } from "../search/cpu_space.ts";
import { onGpuAlone } from "../search/space.ts";
import { AttendedRun } from "./attended_run.ts";
import { type BalanceContext, balanceRecord, renderBalance } from "./balance_report.ts";
import { EXIT } from "./report_error.ts";
import { COMMON, type Options, type Values, whole } from "./options.ts";
import { command } from "./parse_options.ts";
import { print } from "./terminal.ts";
import { PROBLEM, resolveOptions } from "./problem_options.ts";
import { RequestError } from "../problem/request_error.ts";

const { noGpu: _, traversal, ...BALANCED } = PROBLEM;

/** The options of what shares a grid between both devices: the problem as for `tune`, and where to start. */
export const SHARED = {
  ...BALANCED,
  traversal: {
    value: "NAME",
    help: `of the GPU's traversals: ${TRAVERSALS.map(({ name }) => name).join(", ")}`,
    read: traversal.read,
    default: "stepwise",
  },
  cpuWorkers: { ...PROBLEM.cpuWorkers, read: whole(1, MAX_WORKERS) },
  json: COMMON.json,
  quiet: COMMON.quiet,
} as const satisfies Options;

/** The options of `balance`. */
export const OPTIONS = {
  ...SHARED,
  startShare: COMMON.startShare,
  exchangeEvery: {
    value: "R",
    help: "steps between two exchanges (default: the fastest of 1, 2, 4, … 32)",
    read: whole(1, 10_000),
  },
} as const satisfies Options;

/** Writes no file. Exit code 1 where the balance does not settle, or no share verifies. */
export const run = command(
  {
    usage: "deno task balance [OPTIONS]",
    about: "Shares a grid between the GPU and the CPU until both take equally long, and reports the gain.",
    options: OPTIONS,
  },
  (options) =>
    shareDevices(options, async ({ sharing, context, attended }) => {
      const { startShare, exchangeEvery } = options;
      const periods = exchangeEvery === undefined ? undefined : [exchangeEvery];
      const onProgress = (done: number, total: number) =>
        attended.progress.update({ stage: "balance", done, total });
      const result = await balance({ ...sharing, startShare, exchangeEvery: periods, onProgress });
      attended.progress.clear();
      print(options.json ? balanceRecord(result, context) : renderBalance(result, context));
      if (attended.signal.aborted) return attended.exitCode;
      const reasons = result.evaluations.flatMap((one) => "failure" in one ? [one.failure.reason] : []);
      if (reasons.includes("device-lost")) return EXIT.deviceFailed;
      return result.settled && reasons.length === 0 ? EXIT.done : EXIT.no;
    }),
);

/** Both devices, each measured alone. */
interface SharedDevices {
  readonly sharing: SharingOptions;
  readonly context: BalanceContext;
  readonly attended: AttendedRun;
}

/** Opens the devices, measures each alone, and has them share the grid; returns the exit code. */
export async function shareDevices(
  options: Values<typeof SHARED>,
  share: (devices: SharedDevices) => Promise<number>,
): Promise<number> {
  const request = await resolveOptions("balance", { ...options, traversal: [options.traversal] });
  const { device, problem: { grid }, cpuWorkers } = request;
  if (device.gpu === null) {
    throw new RequestError("Cannot balance: there is no WebGPU adapter to share a grid with");
  }
  if (grid[0] < 2) {
    throw new RequestError(
      `Cannot balance: wanted a grid of at least 2 slices to share: found ${grid.join("x")}`,
    );
  }
  using attended = new AttendedRun(options);
  using session = new DeviceSession({ device });
  const onBoth = async (): Promise<number> => {
    const { problem, configuration } = await bestPredicted({ request, session });
    attended.progress.update({ stage: "reference", done: 0, total: 0 });
    await session.open(problem, cpuWorkers);
    const context = await measureAlone(problem, configuration, { request, attended, session });
    if (attended.signal.aborted) return attended.exitCode;
    const { gpuAlone, cpuAlone } = context;
    const sharing = {
      session,
      problem,
      configuration,
      cpuWorkers: cpuAlone?.configuration.share.cpuWorkers ?? cpuWorkers,
      cpu: cpuAlone?.configuration,
      alone: { cpu: cpuAlone?.cellsPerSecond, gpu: gpuAlone?.cellsPerSecond },
      signal: attended.signal,
    };
    return await share({ sharing, context, attended });
  };
  return await onBoth().catch(deviceFailed("The devices failed"));
}

interface BalanceSetup {
  readonly request: ResolvedProblem;
  readonly attended: AttendedRun;
  readonly session: DeviceSession;
}

/** The problem with the steps that suit the GPU, and the best predicted configuration of the traversal asked for. */
async function bestPredicted({ request, session }: Omit<BalanceSetup, "attended">) {
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
