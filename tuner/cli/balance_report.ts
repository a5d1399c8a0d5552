/**
 * What `balance` says: for people as tables, for machines as records.
 *
 * @module
 */
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { BalanceIteration } from "../../models/balance.ts";
import { medianError } from "../../models/shared_fit.ts";
import type { DeviceBalance } from "../sharing/balance_run.ts";
import type { Measurement } from "../configuration.ts";
import type { DeviceDescription } from "../devices/device.ts";
import type { ExchangeSweep } from "../sharing/exchange_sweep.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import { describeCostModel } from "../profile/schema.ts";
import { formatDuration, formatPercent, formatRate, formatTable } from "../format.ts";
import { describeConfiguration, describeModel } from "./summary.ts";

/** What both reports name first. */
export interface BalanceContext {
  readonly problem: Problem;
  readonly device: DeviceDescription;
  /** The devices alone, verified; undefined where one failed. */
  readonly gpuAlone: Measurement | undefined;
  readonly cpuAlone: Measurement | undefined;
}

/** Times differ by this part of the longer one. */
export function differenceOf({ cpuTimeNs, gpuTimeNs }: BalanceIteration): number {
  const longer = Math.max(cpuTimeNs, gpuTimeNs);
  return longer === 0 ? 0 : (cpuTimeNs - gpuTimeNs) / longer;
}

/** The combined rate over the sum of the two alone; undefined where one of the three is not known. */
function partOfSum(
  { gpuAlone, cpuAlone }: BalanceContext,
  best: Measurement | undefined,
): number | undefined {
  if (gpuAlone === undefined || cpuAlone === undefined || best === undefined) return undefined;
  return best.cellsPerSecond / (gpuAlone.cellsPerSecond + cpuAlone.cellsPerSecond);
}

/** A balance as a record for `--json`. */
export function balanceRecord(result: DeviceBalance, context: BalanceContext) {
  const { problem, device, gpuAlone, cpuAlone } = context;
  const { best, iterations, settled, message, costModel, evaluations } = result;
  return {
    device,
    problem: describeProblem(problem),
    gpuAlone: shortOf(gpuAlone),
    cpuAlone: shortOf(cpuAlone),
    iterations: iterations.map((iteration, i) => ({
      iteration: i + 1,
      ...iteration,
      difference: differenceOf(iteration),
    })),
    settled,
    message,
    together: shortOf(best),
    partOfSum: partOfSum(context, best) ?? null,
    failures: evaluations.filter((evaluation) => "failure" in evaluation),
    costModel: costModel === undefined ? null : describeCostModel(costModel),
  };
}

function shortOf(measurement: Measurement | undefined) {
  if (measurement === undefined) return null;
  const { configuration, cellsPerSecond, confidence95, verification } = measurement;
  return { configuration, cellsPerSecond, confidence95, verification };
}

/** A balance for people: the iterations as B2R's Fig. 5a has them, then what came of it. */
export function renderBalance(result: DeviceBalance, context: BalanceContext): string {
  const { best, iterations, settled, message, costModel, evaluations } = result;
  const header = ["iteration", "CPU slices", "GPU slices", "CPU time", "GPU time", "difference"];
  const rows = iterations.map((iteration, i) => [
    `${i + 1}`,
    `${iteration.cpuSlices}`,
    `${iteration.gpuSlices}`,
    formatDuration(iteration.cpuTimeNs),
    formatDuration(iteration.gpuTimeNs),
    formatSigned(differenceOf(iteration)),
  ]);
  const part = partOfSum(context, best);
  const failures = evaluations.flatMap((evaluation) => "failure" in evaluation ? [evaluation.failure] : []);
  return [
    ...headLines(context),
    "",
    ...(costModel === undefined ? [] : [describeModel(costModel), ""]),
    ...(rows.length === 0
      ? []
      : [formatTable([header, ...rows], { right: [0, 1, 2, 3, 4, 5], indent: "  " }), ""]),
    `${settled ? "Settled" : "Not settled"}: ${message}`,
    ...failures.map(({ reason, message }) => `Failed: ${reason}: ${message}`),
    ...(best === undefined ? [] : [
      `Together: ${formatRate(best.cellsPerSecond)}, verified against ${best.verification.against}` +
      (part === undefined ? "" : `; ${formatPercent(part)} of the sum of both alone`),
      `  ${describeConfiguration(best.configuration)}`,
    ]),
  ].join("\n");
}

/** A sweep as a record for `--json`. */
export function sweepRecord(sweep: ExchangeSweep, { problem, device, gpuAlone, cpuAlone }: BalanceContext) {
  const { points, failed, medianError, picked, fastest, regret, samples, costs, residuals } = sweep;
  return {
    device,
    problem: describeProblem(problem),
    gpuAlone: shortOf(gpuAlone),
    cpuAlone: shortOf(cpuAlone),
    points,
    failed,
    medianError,
    picked: picked.exchangeEvery,
    fastest: fastest.exchangeEvery,
    regret,
    samples,
    coefficients: costs,
    residuals,
  };
}

/** A sweep for people. */
export function renderSweep(sweep: ExchangeSweep, context: BalanceContext): string {
  const { points, failed, picked, fastest, regret, residuals } = sweep;
  const header = ["R", "CPU slices", "GPU slices", "predicted", "measured", "error"];
  const [slices] = context.problem.grid;
  const rows = points.map(({ exchangeEvery, cpuSlices, predictedNs, measuredNs, error }) => [
    `${exchangeEvery}`,
    `${cpuSlices}`,
    `${slices - cpuSlices}`,
    formatDuration(predictedNs),
    formatDuration(measuredNs),
    formatSigned(error),
  ]);
  return [
    ...headLines(context),
    "",
    "Time of a step, by the steps R between two exchanges, each at the model's best share:",
    formatTable([header, ...rows], { right: [0, 1, 2, 3, 4, 5], indent: "  " }),
    "",
    ...failed.map(({ exchangeEvery, failure: { reason, message } }) =>
      `Failed: R = ${exchangeEvery}: ${reason}: ${message}`
    ),
    `Median error ${formatPercent(sweep.medianError)} over ${points.length} R; fits within ${
      (["cpu", "gpu", "together"] as const).map((part) =>
        `${formatPercent(medianError(residuals[part]))} (${part})`
      ).join(", ")
    }`,
    `Picked R = ${picked.exchangeEvery}, ${formatDuration(picked.measuredNs)} a step; fastest measured R = ` +
    `${fastest.exchangeEvery}, ${formatDuration(fastest.measuredNs)}: the choice costs ${
      formatPercent(regret)
    }`,
  ].join("\n");
}

function headLines({ problem, device, gpuAlone, cpuAlone }: BalanceContext): string[] {
  const { stencil, grid, boundary, steps } = problem;
  const alone = (measurement: Measurement | undefined): string =>
    measurement === undefined
      ? "failed"
      : `${formatRate(measurement.cellsPerSecond)}  ${describeConfiguration(measurement.configuration)}`;
  return [
    `${stencil.title}, grid ${grid.join("x")} (${
      cellsOf(grid).toLocaleString("en-US")
    } cells), ${boundary} boundary, f32, ${steps} steps`,
    `GPU alone  ${alone(gpuAlone)}`,
    `           ${device.gpu?.description}`,
    `CPU alone  ${alone(cpuAlone)}`,
    `           ${device.cpu.model} (${device.cpu.cores} cores)`,
  ];
}

function formatSigned(fraction: number): string {
  return `${fraction < 0 ? "−" : "+"}${(100 * Math.abs(fraction)).toFixed(1)}%`;
}
