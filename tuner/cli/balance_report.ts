import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { BalanceIteration } from "../../models/balance.ts";
import type { Measurement } from "../configuration.ts";
import type { DeviceDescription } from "../devices/device.ts";
import { formatChange, formatCount, formatDuration, formatPercent, formatRate } from "../format.ts";
import { describeConfiguration, describeCpu, describeGpu } from "../profile/describe.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import { describeCostModel } from "../profile/schema.ts";
import type { Balance } from "../sharing/balance.ts";
import { describeModel, describeWork } from "./summary.ts";
import type { Line, Table } from "./terminal.ts";

/** What both reports name first. */
export interface BalanceContext {
  readonly problem: Problem;
  readonly device: DeviceDescription;
  /** The devices alone, verified; undefined where one failed. */
  readonly gpuAlone?: Measurement | undefined;
  readonly cpuAlone?: Measurement | undefined;
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

export function balanceRecord(
  { best, iterations, settled, message, costModel, evaluations }: Balance,
  context: BalanceContext,
) {
  return {
    ...headRecord(context),
    iterations: iterations.map((one, i) => ({ iteration: i + 1, ...one, difference: differenceOf(one) })),
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
  const header = ["iteration", "R", "CPU slices", "GPU slices", "CPU time", "GPU time", "difference"];
  const rows = iterations.map((one, i) => [
    `${i + 1}`,
    `${one.exchangeEvery}`,
    `${one.cpuSlices}`,
    `${one.gpuSlices}`,
    formatDuration(one.cpuTimeNs),
    formatDuration(one.gpuTimeNs),
    formatChange(differenceOf(one)),
  ]);
  const part = partOfSum(context, best);
  const failures = evaluations.flatMap((evaluation) => "failure" in evaluation ? [evaluation.failure] : []);
  return [
    ...headLines(context),
    "",
    ...(costModel === undefined ? [] : [describeModel(costModel), ""]),
    ...(rows.length === 0 ? [] : ["Time of R steps:", numbers(header, rows), ""]),
    `${settled ? "Settled" : "Not settled"}: ${message}`,
    ...failures.map(({ reason, message }) => `Failed: ${reason}: ${message}`),
    ...(best === undefined ? [] : [
      `Together: ${formatRate(best.cellsPerSecond)}, verified against ${best.verification.against}` +
      (part === null ? "" : `; ${formatPercent(part)} of the sum of both alone`),
      `  ${describeConfiguration(best.configuration)}`,
    ]),
  ];
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
