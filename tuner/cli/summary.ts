import { precisionOf } from "../../kernels/precision.ts";
import { describeGrid, ownBoundary, type Problem } from "../../kernels/stencils/stencil.ts";
import { usersProblem } from "../../kernels/planned_problem.ts";
import { medianError } from "../../models/shared_fit.ts";
import type { SharedCostModel } from "../sharing/search_shares.ts";
import { type Configuration, configurationKey, type Measurement } from "../configuration.ts";
import type { DeviceDescription } from "../devices/device.ts";
import {
  alike,
  describeChoice,
  describeConfiguration,
  describeCpu,
  describeGpu,
  describeSurvey,
  EQUAL,
  tiesWithStepwise,
} from "../profile/describe.ts";
import { describeCostModel, type ProfileEntry } from "../profile/schema.ts";
import { failureCounts, gcells } from "../report/words.ts";
import { describeWarning } from "../measuring/disturbance.ts";
import type { Finalist } from "../measuring/final_round.ts";
import { leftOut } from "../problem/left_out.ts";
import { measuredDevice } from "../tune/library_tune.ts";
import type { TuneOutcome } from "../tune/tune.ts";
import {
  describeLowClock,
  formatBandwidth,
  formatCount,
  formatDuration,
  formatError,
  formatFactor,
  formatMeasured,
  formatPercent,
  formatPeriod,
  formatPlural,
  formatRate,
  formatTimes,
} from "../format.ts";
import type { Line } from "./terminal.ts";
import { isShared, isStepwise, uses } from "../shares.ts";

/** What the summary needs besides the outcome. */
interface SummaryContext {
  readonly device: DeviceDescription;
  /** Path of the profile that was written; undefined where none was. */
  readonly written: string | undefined;
  /** The highest rate that was shown while the run went on; undefined if none was. */
  readonly highest: number | undefined;
  /** Whether rates are drawn, too. */
  readonly hasBars: boolean;
  /** Whether all is said: the CPU's parameters, and how sharing was tried. @default {false} */
  readonly isVerbose?: boolean;
}

export function summaryRecord(
  outcome: TuneOutcome,
  { device, written }: Pick<SummaryContext, "device" | "written">,
) {
  const { balanceMessage, earlierMessage, elapsedNs, copyBytesPerSecond, constants, ...rest } = outcome;
  const { problem: _, space: __, ...found } = rest;
  return {
    profile: written ?? null,
    ...found,
    device: measuredDevice(device, { copyBytesPerSecond, constants }),
    entry: outcome.entry ?? null,
    warning: outcome.entry && describeWarning(outcome.entry.result) || null,
    gpuAlone: outcome.gpuAlone ?? null,
    cpuAlone: outcome.cpuAlone ?? null,
    together: outcome.together ?? null,
    balance: balanceMessage,
    costModel: outcome.costModel === undefined ? null : describeCostModel(outcome.costModel),
    cpuMessage: outcome.cpuMessage ?? null,
    bestOfEach: Object.fromEntries(outcome.bestOfEach),
    finalists: outcome.finalists.map(finalistRecord),
    notTried: notTried(outcome, device),
    earlier: earlierMessage ?? null,
    searchVerdict: outcome.searchVerdict ?? null,
    budgetMessage: outcome.budgetMessage ?? null,
    elapsedMs: elapsedNs / 1e6,
  };
}

/** The traversals of which no configuration was tried, and why; none if there is no GPU. */
function notTried({ problem, space }: TuneOutcome, { gpu }: DeviceDescription) {
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

/** What was found, what it means, warnings, the traversals as a table, and how it was found; the rest where it is asked for. */
export function renderSummary(outcome: TuneOutcome, context: SummaryContext): Line[] {
  const { problem, entry, searchVerdict, budgetMessage, costModel, cpuMessage, interrupted } = outcome;
  const recalled = outcome.recalled === 0 ? "" : `, ${formatCount(outcome.recalled)} of them in earlier runs`;
  const space = entry === undefined
    ? ""
    : `; the search space has ${formatPlural(entry.search.spaceSize, "configuration")}`;
  const count = `${formatPlural(outcome.evaluated, "evaluation")}${recalled}`;
  const warnings = [
    entry && describeWarning(entry.result),
    budgetMessage && `the budget was exceeded: ${budgetMessage}`,
    interrupted && "interrupted: these are the results so far",
  ];
  const isWhole = context.isVerbose || entry === undefined;
  const notes = [
    `${count}, in ${formatDuration(outcome.elapsedNs)}${space}${describeFailures(outcome.failed)}`,
    outcome.earlierMessage && `The profile had ${outcome.earlierMessage}`,
    searchVerdict && `The search ended early: ${searchVerdict}`,
    cpuMessage && `CPU: ${cpuMessage}`,
    describeSharing(outcome, isWhole),
    ...notTried(outcome, context.device).map(({ traversal, reason }) => `Not tried: ${traversal}: ${reason}`),
    isWhole && costModel && describeModel(costModel),
  ];
  return [
    describeWork(problem),
    describeDevice(context.device, outcome.copyBytesPerSecond),
    "",
    ...(entry === undefined
      ? ["No configuration verified: no profile was written."]
      : describeWinner(outcome, entry, context)),
    ...said(warnings).map((warning) => `Warning: ${warning}`),
    ...chart(outcome, context),
    "",
    ...said(notes),
  ];
}

/** The lines of these that are there. */
function said(lines: readonly (string | false | undefined)[]): string[] {
  return lines.filter((line) => line !== undefined && line !== false && line !== "") as string[];
}

/** How the devices share the grid, where they do; else what it would cost. */
function describeSharing(outcome: TuneOutcome, isWhole: boolean): string | undefined {
  const { entry, together, balanceMessage, problem: { grid: [nx, ny, nz] } } = outcome;
  if (entry && isShared(entry.configuration.share)) return `Balance: ${balanceMessage}`;
  const factor = entry && together ? entry.result.cellsPerSecond / together.cellsPerSecond : 1;
  if (isWhole || factor < 1.01) return isWhole ? `Balance: ${balanceMessage}` : undefined;
  const [own, other] = uses(entry!.configuration.share, "gpu") ? ["GPU", "CPU"] : ["CPU", "GPU"];
  const [shared, alone] = [together!, entry!.result].map(({ cellsPerSecond }) =>
    formatDuration(nx * ny * nz / cellsPerSecond * 1e9)
  );
  return `Sharing with the ${other} would be ${
    formatTimes(factor)
  } slower (${shared} a step; the ${own} alone: ${alone})`;
}

/** What the result means to the one who waited for it. */
function meaningOf(entry: ProfileEntry, { gpu }: DeviceDescription): string {
  const { configuration, result: { speedupOverStepwise: gain } } = entry;
  const isPlain = isStepwise(configuration);
  const gained = isPlain || tiesWithStepwise(entry)
    ? `${isPlain ? "the plain kernel" : "as fast as the plain kernel"}: no other order gains anything here`
    : gain === null
    ? undefined
    : `${formatTimes(gain)} the plain kernel`;
  const isOnCpu = !uses(configuration.share, "gpu"),
    missing = gpu === null ? "No GPU" : "Only a software GPU";
  const machine = isOnCpu && (gpu === null || gpu.isFallback)
    ? `${missing} was found, so this tuned your CPU; on an H100 the wave equation gains a factor of 4.2`
    : undefined;
  return said([gained, machine]).join(". ");
}

/** The winner, its rate, what that means, and why it can be believed. */
function describeWinner(
  outcome: TuneOutcome,
  entry: ProfileEntry,
  { device, highest, isVerbose }: SummaryContext,
): string[] {
  const { configuration, result, verification } = entry,
    tieSet = entry.tieSet.filter((tie) => alike(tie, entry));
  const { cellsPerSecond, roofFraction, byHost, clock } = result;
  const lowClock = describeLowClock(clock);
  const like = { like: cellsPerSecond };
  const rate = formatRate(cellsPerSecond), most = Math.max(...tieSet.map((tie) => tie.cellsPerSecond));
  const upTo = most > cellsPerSecond ? ` (up to ${formatRate(most, like)})` : "";
  // what the CPU's configurations need of it is alike
  const taken = `the ${uses(configuration.share, "gpu") ? "simplest" : "one that measured fastest"} is taken`;
  const isKept = outcome.earlierMessage !== undefined;
  const choice = isKept ? `the profile's is kept if it is one of them, else ${taken}` : taken;
  const shown = highest ? formatRate(highest, like) : undefined;
  const word = describeChoice(entry, ratesOf(outcome)[0]!.cellsPerSecond);
  const lines = [
    formatMeasured(result) + (roofFraction === null ? "" : `, ${formatPercent(roofFraction)} of its roof`),
    meaningOf(entry, device),
    byHost &&
    `by the host's clock ${formatRate(byHost.cellsPerSecond)} in a run of ${
      formatPlural(byHost.steps, "step")
    }`,
    lowClock && `${lowClock}: under this work it does not rise further`,
    shown !== undefined && shown !== rate &&
    `during the search the best was ${shown}; measured again, the chosen one runs at ${rate}`,
    `verified against ${verification.against}: ${formatError(verification)}`,
    tieSet.length > 1 &&
    `${
      tieSet.every((tie) => alike(tie, entry) === EQUAL) ? "" : "within the noise "
    }${tieSet.length} configurations are equally fast${upTo}; ${choice}`,
  ];
  return [
    `${word[0]!.toUpperCase()}${word.slice(1)}: ${
      describeConfiguration(configuration, { isBrief: !isVerbose })
    }`,
    ...said(lines).map((line) => `  ${line}`),
  ];
}

/** Failures in words: `; 3 failures: 1 did not compile, 2 lost the device`. */
function describeFailures(failed: Readonly<Record<string, number>>): string {
  const all = Object.values(failed).reduce((sum, count) => sum + count, 0);
  return all === 0 ? "" : `; ${formatPlural(all, "failure")}: ${failureCounts(failed)}`;
}

/** Characters of the longest bar; the last one may be filled in eighths. */
const BAR_WIDTH = 16, EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar of this part of the longest; what is not 0 can be seen. */
function barOf(part: number): string {
  const eighths = Math.max(1, Math.round(8 * BAR_WIDTH * part));
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}

/** The best of each traversal on each device, and of both together, the fastest first. */
function ratesOf({ bestOfEach, together }: TuneOutcome): Measurement[] {
  return [...bestOfEach.values(), together].filter((measurement) => measurement !== undefined)
    .sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
}

/** The same with a bar, a bar, and how far it is behind. */
function chart(outcome: TuneOutcome, { hasBars }: SummaryContext): Line[] {
  const { entry, finalists } = outcome;
  const sorted = ratesOf(outcome), [longest] = sorted;
  if (longest === undefined || entry === undefined) return [];
  const chosen = configurationKey(entry.configuration);
  const word = describeChoice(entry, longest.cellsPerSecond) === "fastest" ? "fastest" : "chosen one";
  const ties = new Map(entry.tieSet.map((tie) => [configurationKey(tie.configuration), tie]));
  const standing = ({ configuration, cellsPerSecond }: Measurement): string => {
    const key = configurationKey(configuration);
    if (key === chosen) return `the ${word}`;
    const part = `${formatPercent(cellsPerSecond / entry.result.cellsPerSecond)} of the ${word}`;
    const tie = ties.get(key), like = tie && alike(tie, entry);
    if (like !== undefined) return like === EQUAL ? EQUAL : `${part}, ${like}`;
    // alone it may have had a better time
    const isFinalist = finalists.some(({ measurement }) =>
      configurationKey(measurement.configuration) === key
    );
    if (cellsPerSecond > entry.result.cellsPerSecond) {
      return isFinalist ? "slower when measured in turns" : "not measured in turns";
    }
    return part;
  };
  const rows = sorted.map((measurement) => {
    const bars = hasBars ? [barOf(measurement.cellsPerSecond / longest.cellsPerSecond)] : [];
    const rate = gcells(measurement.cellsPerSecond, { like: longest.cellsPerSecond });
    return [wayOf(measurement.configuration), rate, ...bars, standing(measurement)];
  });
  const [, unit] = formatRate(longest.cellsPerSecond).split(" ");
  return ["", `The best of each traversal, in ${unit}:`, { rows, right: [1], indent: "  " }];
}

/** What computes, and in which order: `GPU diamond-torre`, `CPU stepwise`, `GPU and CPU`. */
function wayOf({ traversal, share }: Configuration): string {
  return isShared(share) ? "GPU and CPU" : `${uses(share, "gpu") ? "GPU" : "CPU"} ${traversal}`;
}

/**
 * The profile, and what can be done with it. What to type comes first, where it is not broken and can be copied.
 *
 * @param task how a task is run here, as `deno task`
 */
export function nextSteps(written: string | undefined, task: string): Line[] {
  if (written === undefined) return [];
  // quoted where a shell would see more in it than a name
  const path = /^[\w./\\:@%+=,-]+$/.test(written) ? written : `'${written.replaceAll("'", "'\\''")}'`;
  const rows = [
    [`${task} report --profile ${path}`, "one page of charts"],
    [`${task} qualify --profile ${path}`, "check a device with it"],
    [`await readProfile(${JSON.stringify(written)})`, "in your own program"],
  ];
  return ["", `Profile: ${written}`, "What to do with it:", { rows, indent: "  " }];
}

/** What is computed, in one line. */
export function describeWork(problem: Problem, cells = ""): string {
  const { stencil, steps, survey, inner } = problem, all = describeGrid(problem) + cells;
  const grid = inner ? `${describeGrid(usersProblem(problem))} with edges around it, ${all} in all` : all;
  return `${stencil.title}, grid ${grid}, ${ownBoundary(problem)} boundary, ` +
    `${precisionOf(stencil.update).name}${describeSurvey(survey)}, ${formatPlural(steps, "step")}`;
}

/** That one device is faster alone than several together, and by how much; nothing where it is not. */
export function sharingLoss(together: number, alone: number, who: string): string[] {
  if (alone < 1.01 * together) return [];
  return [`Sharing loses: ${who} reaches ${formatRate(alone)}, ${formatFactor(alone / together)} as much`];
}

/** The best predicted R, and how far the model is from the measurements. */
export function describeModel({ curve, residuals }: Pick<SharedCostModel, "curve" | "residuals">): string {
  const best = curve.reduce((least, point) => point.predictedNs < least.predictedNs ? point : least);
  const measured = curve.filter((point) => point.measuredNs !== null);
  const errors = measured.map(({ predictedNs, measuredNs }) => predictedNs / measuredNs! - 1);
  const time = formatDuration(best.predictedNs), fit = formatPercent(medianError(residuals.together));
  const slices = formatPlural(best.cpuSlices, "slice");
  const later = errors.length > 0 && `, later measurements are within ${formatPercent(medianError(errors))}`;
  const took = best.measuredNs === null ? "not measured" : `measured: ${formatDuration(best.measuredNs)}`;
  return `Cost model: expects ${time} a step exchanging every ${formatPeriod(best.exchangeEvery)}, ` +
    `${slices} on the CPU (${took}); the fit is within ${fit}${later || ""}`;
}

function describeDevice({ gpu, cpu }: DeviceDescription, copyBytesPerSecond: number | null): string {
  const bandwidth = copyBytesPerSecond === null ? "" : `, copies ${formatBandwidth(copyBytesPerSecond)}`;
  return `${describeGpu(gpu)}${bandwidth}, ${describeCpu(cpu)}`;
}
