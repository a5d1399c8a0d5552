import { cellsOf, describeGrid, type Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { BalanceIteration, SharedIteration } from "../../models/shared_fit.ts";
import type { Configuration, Measurement } from "../configuration.ts";
import type { DeviceDescription } from "../devices/device.ts";
import { deviceFailed } from "../devices/device_error.ts";
import { DeviceSession } from "../devices/session.ts";
import { formatChange, formatCount, formatDuration, formatPercent, formatRate } from "../format.ts";
import { evaluateOn } from "../measuring/evaluate.ts";
import { refuserOf, RequestError } from "../problem/request_error.ts";
import { usableSpace } from "../profile/learn.ts";
import { describeConfiguration, describeCpu, describeGpu } from "../profile/describe.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import { describeCostModel } from "../profile/schema.ts";
import { cpuCandidates } from "../search/cpu_space.ts";
import { type Balance, balance } from "../sharing/balance.ts";
import { AttendedRun } from "./attended_run.ts";
import { COMMON, type Options, type Values, whole, workers } from "./options.ts";
import { command } from "./parse_options.ts";
import { PROBLEM, resolveOptions } from "./problem_options.ts";
import { EXIT } from "./report_error.ts";
import { describeModel, describeWork, sharingLoss } from "./summary.ts";
import { type Line, print, type Table } from "./terminal.ts";
import type { SharingOptions } from "../sharing/search_shares.ts";

const { noGpu: _, sources: __, receivers: ___, traversal, ...BALANCED } = PROBLEM;

/** The options of what shares a grid between both devices: the problem as for `tune`, and where to start. */
export const SHARED = {
  ...BALANCED,
  traversal: {
    value: "NAME",
    help: `of the GPU's traversals: ${TRAVERSALS.map(({ name }) => name).join(", ")}`,
    read: traversal.read,
    default: "stepwise",
  },
  cpuWorkers: workers(PROBLEM.cpuWorkers.help, 1),
  json: COMMON.json,
  quiet: COMMON.quiet,
} as const satisfies Options;

/** The options of `balance`. */
export const OPTIONS = {
  ...SHARED,
  startShare: COMMON.startShare,
  exchangeEvery: {
    value: "R",
    help: "steps between two exchanges (default: the fastest)",
    read: whole(1, 10_000),
  },
} as const satisfies Options;

/** Writes no file. Exit code 1 where a share fails, or the balance does not settle though sharing pays. */
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
      const reasons = result.evaluations.flatMap((found) => "failure" in found ? [found.failure.reason] : []);
      if (reasons.includes("device-lost")) return EXIT.deviceFailed;
      const isAnswered = result.settled || lossOf(result, context).length > 0;
      return isAnswered && reasons.length === 0 ? EXIT.done : EXIT.no;
    }),
);

/** What is said first of both devices. */
export interface BalanceContext {
  readonly problem: Problem;
  readonly device: DeviceDescription;
  /** The devices alone, verified; undefined where one failed. */
  readonly gpuAlone?: Measurement | undefined;
  readonly cpuAlone?: Measurement | undefined;
}

/**
 * Opens the devices, verifies and times each with the whole grid, in the best predicted way (the CPU in that of each of
 * its traversals), and has them share the grid; returns the exit code.
 */
export async function shareDevices(
  options: Values<typeof SHARED>,
  share: (
    devices: {
      readonly sharing: SharingOptions;
      readonly context: BalanceContext;
      readonly attended: AttendedRun;
    },
  ) => Promise<number>,
): Promise<number> {
  const request = await resolveOptions("balance", { ...options, traversal: [options.traversal] });
  const { device, problem, cpuWorkers } = request;
  if (device.gpu === null) {
    throw new RequestError("Cannot balance: there is no WebGPU adapter to share a grid with");
  }
  if (problem.grid[0] < 2) {
    refuserOf("balance")("wanted a grid of at least 2 slices to share", describeGrid(problem));
  }
  using attended = new AttendedRun(options);
  using session = new DeviceSession({ device });
  const { progress, signal } = attended;
  attended.announce(request);
  const onBoth = async (): Promise<number> => {
    const { problem, space } = usableSpace("balance", request, await session.copyBytesPerSecond());
    const [best] = space.candidates.toSorted((a, b) => b.predicted - a.predicted);
    const { configuration } = best!;
    const measure = async (stage: string, configuration: Configuration): Promise<Measurement[]> => {
      progress.update({ stage, done: 0, total: 0 });
      const evaluation = await evaluateOn(session, configuration, { problem });
      return "measurement" in evaluation ? [evaluation.measurement] : [];
    };
    progress.update({ stage: "reference", done: 0, total: 0 });
    await session.open(problem, cpuWorkers);
    const [gpuAlone] = await measure("GPU alone", configuration), onCpu: Measurement[] = [];
    const ways = Map.groupBy(cpuCandidates(problem, cpuWorkers), ({ traversal }) => traversal.name);
    for (const [best] of ways.values()) onCpu.push(...await measure("CPU alone", best!.configuration));
    const [cpuAlone] = onCpu.toSorted((a, b) => b.cellsPerSecond - a.cellsPerSecond);
    if (signal.aborted) return attended.exitCode;
    const sharing = {
      session,
      problem,
      configuration,
      cpuWorkers: cpuAlone?.configuration.share.cpuWorkers ?? cpuWorkers,
      cpu: cpuAlone?.configuration,
      alone: { cpu: cpuAlone?.cellsPerSecond, gpu: gpuAlone?.cellsPerSecond },
      signal,
    };
    return await share({ sharing, context: { problem, device, gpuAlone, cpuAlone }, attended });
  };
  return await onBoth().catch(deviceFailed("The devices failed"));
}

/** How much longer the CPU takes than the GPU, as a part of the longer time. */
export function differenceOf({ cpuTimeNs, gpuTimeNs }: BalanceIteration): number {
  const longer = Math.max(cpuTimeNs, gpuTimeNs);
  return longer === 0 ? 0 : (cpuTimeNs - gpuTimeNs) / longer;
}

/** The combined rate over the sum of the two alone; null where one of the three is not known. */
function partOfSum({ gpuAlone, cpuAlone }: BalanceContext, best: Measurement | undefined): number | null {
  if (gpuAlone === undefined || cpuAlone === undefined || best === undefined) return null;
  return best.cellsPerSecond / (gpuAlone.cellsPerSecond + cpuAlone.cellsPerSecond);
}

function balanceRecord(
  { best, iterations, settled, message, costModel, evaluations }: Balance,
  context: BalanceContext,
) {
  return {
    ...headRecord(context),
    iterations: iterations.map((run, i) => ({ iteration: i + 1, ...run, difference: differenceOf(run) })),
    settled,
    message,
    together: best ?? null,
    partOfSum: partOfSum(context, best),
    failures: evaluations.filter((evaluation) => "failure" in evaluation),
    costModel: costModel === undefined ? null : describeCostModel(costModel),
  };
}

/** What every record begins with. */
export function headRecord({ problem, device, gpuAlone, cpuAlone }: BalanceContext) {
  const alone = { gpuAlone: gpuAlone ?? null, cpuAlone: cpuAlone ?? null };
  return { device, problem: describeProblem(problem), ...alone };
}

/** A table of numbers. */
export function numbers(header: readonly string[], rows: readonly (readonly string[])[]): Table {
  return { rows: [header, ...rows], right: header.map((_, i) => i), indent: "  " };
}

/** A balance for people: the iterations as B2R's Fig. 5a shows them, then the outcome. */
export function renderBalance(result: Balance, context: BalanceContext): Line[] {
  const { best, iterations, settled, message, costModel, evaluations } = result;
  const columns: readonly (readonly [name: string, of: (run: SharedIteration, i: number) => string])[] = [
    ["iteration", (_, i) => `${i + 1}`],
    ["R", (run) => `${run.exchangeEvery}`],
    ["CPU slices", (run) => `${run.cpuSlices}`],
    ["GPU slices", (run) => `${run.gpuSlices}`],
    ["CPU time", (run) => formatDuration(run.cpuTimeNs)],
    ["GPU time", (run) => formatDuration(run.gpuTimeNs)],
    ["difference", (run) => formatChange(differenceOf(run))],
    ["a step", (run) => formatDuration(run.roundNs / run.exchangeEvery)],
  ];
  const rows = iterations.map((run, i) => columns.map(([, of]) => of(run, i)));
  const stepTime = ({ cellsPerSecond }: Measurement): string =>
    formatDuration(cellsOf(context.problem.grid) / cellsPerSecond * 1e9);
  const part = partOfSum(context, best);
  const failures = evaluations.flatMap((evaluation) => "failure" in evaluation ? [evaluation.failure] : []);
  return [
    ...headLines(context),
    "",
    ...(rows.length === 0 ? [] : [
      "What each device computed in R steps, and a step with the exchange and the waits:",
      numbers(columns.map(([name]) => name), rows),
      "",
    ]),
    ...(best === undefined ? [] : [
      `Result: ${formatRate(best.cellsPerSecond)}, ${
        stepTime(best)
      } a step with the exchange and the waits, ` +
      `verified against ${best.verification.against}` +
      (part === null ? "" : `; ${formatPercent(part)} of the sum of both alone`),
      `  ${describeConfiguration(best.configuration)}`,
      ...lossOf(result, context),
    ]),
    ...failures.map(({ reason, message }) => `Failed: ${reason}: ${message}`),
    `${settled ? "Settled" : "Not settled"}: ${message}`,
    ...(costModel === undefined ? [] : [describeModel(costModel)]),
  ];
}

/** That one device is faster alone, in a line; nothing where it is not, or nothing was shared. */
function lossOf({ best }: Balance, { cpuAlone, gpuAlone }: BalanceContext): string[] {
  const [cpu = 0, gpu = 0] = [cpuAlone, gpuAlone].map((alone) => alone?.cellsPerSecond);
  const who = `the ${cpu > gpu ? "CPU" : "GPU"} alone`;
  return best === undefined ? [] : sharingLoss(best.cellsPerSecond, Math.max(cpu, gpu), who);
}

/** What every report begins with. */
export function headLines({ problem, device, gpuAlone, cpuAlone }: BalanceContext): string[] {
  const alone = (measurement: Measurement | undefined): string =>
    measurement === undefined
      ? "failed"
      : `${formatRate(measurement.cellsPerSecond)}, ${describeConfiguration(measurement.configuration)}`;
  return [
    describeWork(problem, ` (${formatCount(cellsOf(problem.grid))} cells)`),
    `GPU alone: ${alone(gpuAlone)}`,
    `  ${describeGpu(device.gpu)}`,
    `CPU alone: ${alone(cpuAlone)}`,
    `  ${describeCpu(device.cpu)}`,
  ];
}
