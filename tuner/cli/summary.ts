/**
 * The result of `tune`: as text for people, as a record for machines.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { medianError } from "../../models/shared_fit.ts";
import type { SharedCostModel } from "../sharing/balance.ts";
import type { Measurement, Verification } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import type { DeviceDescription } from "../devices/device.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { describeCostModel } from "../profile/schema.ts";
import type { Finalist } from "../measuring/final_round.ts";
import { type LeftOut, leftOut } from "../problem/left_out.ts";
import type { TuneOutcome } from "../tune/tune.ts";
import {
  formatBandwidth,
  formatDuration,
  formatFactor,
  formatInterval,
  formatPercent,
  formatPlural,
  formatRate,
  formatTable,
} from "../format.ts";

/** What the summary needs besides the outcome. */
interface SummaryContext {
  readonly device: DeviceDescription;
  /** Path of the profile that was written; undefined where none was. */
  readonly written: string | undefined;
}

/** The outcome as a record for `--json`. */
export function summaryRecord(outcome: TuneOutcome, { device, written }: SummaryContext) {
  const short = (measurement: Measurement | undefined) =>
    measurement === undefined ? null : {
      configuration: measurement.configuration,
      cellsPerSecond: measurement.cellsPerSecond,
      confidence95: measurement.confidence95,
    };
  return {
    profile: written ?? null,
    device: { ...device, measured: { copyBytesPerSecond: outcome.copyBytesPerSecond } },
    entry: outcome.entry ?? null,
    gpuAlone: short(outcome.gpuAlone),
    cpuAlone: short(outcome.cpuAlone),
    together: short(outcome.together),
    balance: outcome.balanceMessage,
    costModel: outcome.costModel === undefined ? null : describeCostModel(outcome.costModel),
    cpuMessage: outcome.cpuMessage ?? null,
    bestOfEach: Object.fromEntries([...outcome.bestOfEach].map(([name, best]) => [name, short(best)])),
    finalists: outcome.finalists.map(finalistRecord),
    notTried: notTried(outcome, device),
    evaluated: outcome.evaluated,
    recalled: outcome.recalled,
    searchVerdict: outcome.searchVerdict ?? null,
    failed: outcome.failed,
    drifts: outcome.drifts,
    budgetMessage: outcome.budgetMessage ?? null,
    interrupted: outcome.interrupted,
    elapsedMs: outcome.elapsedNs / 1e6,
  };
}

/** The traversals of which no configuration was tried, and why; none if there is no GPU. */
function notTried({ problem, space }: TuneOutcome, { gpu }: DeviceDescription): LeftOut[] {
  return gpu === null ? [] : leftOut(problem, space, gpu.limits);
}

/** A finalist with the samples of every turn, null where it had none. */
function finalistRecord({ before, measurement, blocks, standing }: Finalist) {
  return {
    configuration: measurement.configuration,
    cellsPerSecond: measurement.cellsPerSecond,
    confidence95: measurement.confidence95,
    search: before.samples,
    blocks: Array.from(blocks, (samples) => samples ?? null),
    standing: standing ?? null,
  };
}

/** The outcome as text for people. */
export function renderSummary(outcome: TuneOutcome, { device, written }: SummaryContext): string {
  const { problem, entry } = outcome;
  const lines = [
    describeWork(problem),
    describeDevice(device, outcome.copyBytesPerSecond),
    "",
  ];
  if (entry === undefined) {
    lines.push("No configuration verified: no profile was written.");
  } else {
    const { cellsPerSecond, confidence95, roofFraction, speedupOverStepwise } = entry.result;
    lines.push(
      `Fastest: ${describeConfiguration(entry.configuration)}`,
      `  ${formatRate(cellsPerSecond)}${formatInterval(confidence95)}` +
        (roofFraction === null ? "" : `, ${formatPercent(roofFraction)} of its roof`) +
        (speedupOverStepwise === null ? "" : `, ${formatFactor(speedupOverStepwise)} the best stepwise`),
      `  verified against ${entry.verification.against}: ${describeError(entry.verification)}`,
    );
    if (entry.tieSet.length > 1) {
      const most = Math.max(...entry.tieSet.map((tie) => tie.cellsPerSecond));
      const upTo = most > cellsPerSecond ? `, at up to ${formatRate(most)}` : "";
      lines.push(
        `  ${entry.tieSet.length} configurations tie${upTo}: ` +
          "of these Facet picks the one that needs least of the device",
      );
    }
  }
  lines.push("", ...comparison(outcome));
  const failures = Object.values(outcome.failed).reduce((sum, count) => sum + count, 0);
  const reasons = Object.entries(outcome.failed).map(([reason, count]) => `${count} ${reason}`).join(", ");
  const recalled = outcome.recalled === 0 ? "" : `, ${outcome.recalled} of them in earlier runs`;
  lines.push(
    "",
    `${formatPlural(outcome.evaluated, "evaluation")}${recalled}, in ${formatDuration(outcome.elapsedNs)}; ` +
      `the GPU's search space has ${formatPlural(outcome.space.candidates.length, "configuration")}` +
      (failures === 0 ? "" : `; ${formatPlural(failures, "failure")}: ${reasons}`),
    ...(outcome.searchVerdict === undefined ? [] : [`The search ended early: ${outcome.searchVerdict}`]),
    ...(outcome.budgetMessage === undefined ? [] : [`The budget was exceeded: ${outcome.budgetMessage}`]),
    ...(outcome.drifts === 0
      ? []
      : ["The device changed its speed during the search; the affected configurations were measured again."]),
    ...notTried(outcome, device).map(({ traversal, reason }) => `Not tried: ${traversal}: ${reason}`),
    ...(outcome.interrupted ? ["Interrupted: these are the results so far."] : []),
    ...(written === undefined ? [] : [`Profile: ${written}`]),
  );
  return lines.join("\n");
}

/** What is computed, in one line. */
export function describeWork({ stencil, grid, boundary, steps }: Problem, cells = ""): string {
  return `${stencil.title}, grid ${grid.join("x")}${cells}, ${boundary} boundary, f32, ${steps} steps`;
}

/** The largest error and its bound: `exact`, or `largest error 1.0e-6, bound 1.0e-4`. */
function describeError({ maxError, bound }: Pick<Verification, "maxError" | "bound">): string {
  const short = (value: number): string => value === 0 ? "0" : value.toExponential(1);
  return maxError === 0 ? "exact" : `largest error ${short(maxError)}, bound ${short(bound)}`;
}

/** The table of the best of each kind, and how far the winner is ahead of each. */
function comparison(
  { entry, bestOfEach, cpuMessage, together, balanceMessage, costModel }: TuneOutcome,
): string[] {
  const kinds: [name: string, best: Measurement | undefined][] = [
    ...[...bestOfEach.values()].map((best): [string, Measurement] => {
      const { configuration: { traversal, share } } = best;
      return [`${share.gpuSlices > 0 ? "GPU" : "CPU"} ${traversal}`, best];
    }),
    ["GPU and CPU", together],
  ];
  const chosen = entry?.result.cellsPerSecond ?? 0;
  const ties = new Set(entry?.tieSet.map((tie) => configurationKey(tie.configuration)));
  const standing = ({ configuration, cellsPerSecond }: Measurement): string => {
    const key = configurationKey(configuration);
    if (entry !== undefined && key === configurationKey(entry.configuration)) return "the fastest";
    return ties.has(key) ? "ties with it" : `the fastest is ${formatFactor(chosen / cellsPerSecond)} as fast`;
  };
  const rows = kinds.flatMap(([name, best]) =>
    best === undefined ? [] : [[
      name,
      formatRate(best.cellsPerSecond),
      standing(best),
      describeConfiguration(best.configuration),
    ]]
  );
  const table = rows.length === 0 ? [] : [formatTable(rows, { indent: "  ", right: [1] })];
  const cpu = cpuMessage === undefined ? [] : [`  CPU: ${cpuMessage}`];
  const model = costModel === undefined ? [] : [`  ${describeModel(costModel)}`];
  return [...table, ...cpu, `  Balance: ${balanceMessage}`, ...model];
}

/** The best predicted R, and how far the model is from the measurements. */
export function describeModel({ curve, residuals }: Pick<SharedCostModel, "curve" | "residuals">): string {
  const best = curve.reduce((least, point) => point.predictedNs < least.predictedNs ? point : least);
  const measured = curve.filter((point) => point.measuredNs !== null);
  const errors = measured.map(({ predictedNs, measuredNs }) => predictedNs / measuredNs! - 1);
  const time = formatDuration(best.predictedNs), fit = formatPercent(medianError(residuals.together));
  return `Cost model: best exchanging every ${best.exchangeEvery} steps, ` +
    `${best.cpuSlices} slices on the CPU: ${time} a step; the fit is within ${fit}` +
    (errors.length === 0 ? "" : `, later measurements are within ${formatPercent(medianError(errors))}`);
}

function describeDevice({ gpu, cpu }: DeviceDescription, copyBytesPerSecond: number | null): string {
  const processor = `${cpu.model} (${formatPlural(cpu.cores, "core")})`;
  if (gpu === null) return `no GPU, ${processor}`;
  const bandwidth = copyBytesPerSecond === null ? "" : `, copies ${formatBandwidth(copyBytesPerSecond)}`;
  return `${gpu.description}${gpu.isFallback ? " (software)" : ""}${bandwidth}, ${processor}`;
}
