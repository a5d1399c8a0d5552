/**
 * Why a configuration was chosen, in words: a sentence that opens the problem, and what else there is to say.
 *
 * @module
 */
import {
  formatBandwidth,
  formatCount,
  formatError,
  formatMeasured,
  formatPercent,
  formatPlural,
  formatRate,
  formatTimes,
} from "../format.ts";
import { describeDisturbance } from "../measuring/disturbance.ts";
import { describeChoice, tiesWithStepwise } from "../profile/describe.ts";
import { differences } from "./configuration_card.ts";
import { deviceName, type EntryView, type Mark, roofFraction } from "./entry_view.ts";
import { type Html, markup } from "./html.ts";
import { TOGETHER } from "./series.ts";
import { ABOVE_ROOF, bytesWords, failureCounts, parameterList } from "./words.ts";
import { isShared, sharesOf, uses } from "../shares.ts";

/** A ratio that explains a difference, and a difference too small to speak of. */
const EXPLAINS = 1.05, NOTHING = 0.02;

/** Between these fractions of its roof a kernel is limited by memory: not by computing, nor by caches. */
const LIMITED = [0.25, 1.15] as const;

/** The sentence that opens a problem: what was found, and why it is faster, if it is. */
export function whySentence({ entry, winner, stepwise, best, speedup, points }: EntryView): string {
  const name = nameOf(winner).replace(/^the /, "The ");
  const where = winner.series === TOGETHER ? "both devices" : `the ${deviceName(winner)}`;
  const found = `Best: ${formatRate(winner.cellsPerSecond)} on ${where}`;
  const others = best.filter((point) => point !== winner && point.cellsPerSecond <= winner.cellsPerSecond);
  const second = others.find(({ isFinal }) => isFinal) ?? others[0];
  if (winner.series === TOGETHER) {
    const gain = second === undefined
      ? "compute together"
      : `together are ${formatTimes(winner.cellsPerSecond / second.cellsPerSecond)} as fast as ${
        nameOf(second)
      } alone`;
    const [cpu, gpu] = sharesOf(winner.configuration);
    const share = `${formatCount(cpu!.slices)} of ${formatCount(cpu!.slices + gpu!.slices)} slices`;
    return `${found}. GPU and CPU ${gain}: the CPU computes ${share} (${cpu!.traversal}).`;
  }
  if (winner === stepwise) {
    if (second === undefined) return `${found}, by stepwise. Nothing slower was measured.`;
    const part = formatPercent(second.cellsPerSecond / winner.cellsPerSecond), ties = entry.tieSet.length;
    const also = ties > 1 ? ` ${formatCount(ties)} configurations are equally fast.` : "";
    return `${found}; ${NO_GAIN}.${also} ${ownerAndName(second)} reaches ${part} of that${
      onceWords(second)
    }.`;
  }
  const by = `${found}, by ${winner.series.replace("CPU ", "")}`;
  if (speedup === undefined) {
    const count = points.length;
    const choice = describeChoice(entry, highestOf(points)).replace("fastest", "the fastest");
    return `${by}, ${
      count === 1 ? "the only measured one" : `${choice} of ${formatCount(count)} measured ones`
    }.`;
  }
  if (tiesWithStepwise(entry) || Math.abs(speedup - 1) < NOTHING) return `${by}; ${NO_GAIN}.`;
  const gain = `${formatTimes(speedup)} as fast as ${stepwiseName(stepwise, winner)}`;
  return `${found}. ${name} is ${gain}${because(winner, stepwise)}.`;
}

/** What is said where nothing is gained. */
const NO_GAIN = "no order beats plain stepping here";

/** That a rate is of one turn of the search. */
function onceWords({ isFinal }: Mark): string {
  return isFinal ? "" : ", measured once in the search";
}

/** The highest rate of the final round: what was measured once may read higher by chance. */
function highestOf(points: readonly Mark[]): number {
  return Math.max(...points.filter(({ isFinal }) => isFinal).map(({ cellsPerSecond }) => cellsPerSecond));
}

/** What the winner is compared with; where that is the GPU's kernel and the winner the CPU's, it is said. */
export function stepwiseName(stepwise: Mark | undefined, winner: Mark): string {
  if (stepwise === undefined) return "stepwise";
  const isOther = deviceName(stepwise) === "GPU" && deviceName(winner) === "CPU";
  return `${nameOf(stepwise)}${isOther ? " on the GPU" : ""}`;
}

/** The sentence that opens a page of several problems; each of them says why. */
export function overviewSentence(views: readonly EntryView[]): string {
  const speedups = views.flatMap(({ speedup }) => speedup ?? []);
  const start = `On ${formatPlural(views.length, "problem")} the chosen configurations are`;
  if (speedups.length < views.length) return `${start} the fastest that were measured, or as fast as these.`;
  if (Math.max(...speedups) < 1 + NOTHING) {
    return `On ${views.length} problems nothing is much faster than stepwise.`;
  }
  const range = [...new Set([Math.min(...speedups), Math.max(...speedups)].map(formatTimes))].join(" to ");
  return `${start} ${range.replace(" times to", " to")} as fast as stepwise.`;
}

/** The part of the sentence that says why: fewer bytes, more of the bandwidth, or both. */
function because(winner: Mark, stepwise: Mark | undefined): string {
  const own = roofFraction(winner) ?? 0, other = (stepwise && roofFraction(stepwise)) ?? 0;
  if (stepwise === undefined || other === 0 || deviceName(stepwise) !== deviceName(winner)) return "";
  const isLimited = other > LIMITED[0] && other < LIMITED[1];
  const saved = isLimited ? (stepwise.bytes ?? 0) / (winner.bytes ?? Infinity) : 0;
  const why = [
    ...(saved > EXPLAINS
      ? [`moves ${bytesWords(winner.bytes!)} instead of ${bytesWords(stepwise.bytes!)} bytes per cell`]
      : []),
    ...(own / other > EXPLAINS
      ? [`reaches ${formatPercent(own)} instead of ${formatPercent(other)} of the memory bandwidth`]
      : []),
  ];
  return why.length === 0 ? "" : ` because it ${why.join(" and ")}`;
}

/** A series as a sentence names it. */
function nameOf({ series }: Mark): string {
  if (series === TOGETHER) return "GPU and CPU together";
  return series.replace(/^CPU /, "the CPU's ");
}

/** A series at the start of a sentence, with its device: `The GPU's marching`. */
function ownerAndName(point: Mark): string {
  const { series } = point, name = nameOf(point);
  return series === TOGETHER ? name : name === series ? `The GPU's ${name}` : name.replace(/^the /, "The ");
}

/** What else there is to say about the chosen configuration, from what was measured. */
export function explain(view: EntryView): Html {
  const parts = [againstRoof, againstOthers, againstCpu, howSure, howItWasFound];
  const said = parts.map((part) => part(view)).filter((text) => text !== undefined);
  return markup`<ul class="reasons">${said.map((text) => markup`<li>${text}</li>`)}</ul>`;
}

function howItWasFound({ entry: { search: { evaluated, spaceSize, failed } } }: EntryView): Html {
  const space = spaceSize > 0 ? `of ${formatCount(spaceSize)} possible ` : "";
  const reasons = failureCounts(failed), failures = reasons === "" ? "none failed" : `of these ${reasons}`;
  const count = `Evaluated: ${formatCount(evaluated)} ${space}configurations;`;
  return markup`<strong>${count}</strong> ${failures}.`;
}

function againstRoof({ winner, bandwidths }: EntryView): Html | undefined {
  const fraction = roofFraction(winner), bandwidth = bandwidths[deviceName(winner)];
  if (fraction === undefined || winner.bytes === undefined || bandwidth === null) return undefined;
  const verdict = winner.configuration.share.deviceMemory !== undefined
    ? "The time to move slices between the host and the GPU comes on top."
    : fraction > 1
    ? `It is above the roof because ${ABOVE_ROOF}.`
    : fraction >= 0.85
    ? "Memory bandwidth limits it: only a traversal that moves less could be much faster."
    : fraction >= 0.5
    ? "Memory bandwidth is close to the limit; waiting, exchanging values and registers cost the rest."
    : "Memory bandwidth does not limit it: arithmetic, waiting, registers or too few workgroups do.";
  const part = formatPercent(fraction), roof = formatRate(winner.roof!);
  const allowed = `Copies run at ${formatBandwidth(bandwidth)} here, which allows ${roof} for its traffic.`;
  return markup`<strong>It reaches ${part} of its roof.</strong> ${allowed} ${verdict}`;
}

function againstOthers({ points, winner, entry }: EntryView): Html | undefined {
  const ties = entry.tieSet.length - 1;
  if (ties > 0) {
    const others = points.filter(({ isTied }) => isTied).map((point) => another(winner, point));
    const count = formatPlural(ties, "other configuration is", "other configurations are");
    const little = `not significantly slower, or too little slower to matter: ${others.join("; ")}.`;
    return markup`<strong>${count} equally fast</strong>, ${little}`;
  }
  const others = points.filter(({ isWinner, series }) => !isWinner && series !== TOGETHER);
  const second = others.find(({ isFinal }) => isFinal) ?? others[0];
  if (second === undefined) return undefined;
  const difference = 1 - second.cellsPerSecond / winner.cellsPerSecond;
  const verdict = difference >= 0
    ? `is ${formatPercent(difference)} slower${onceWords(second)}`
    : second.isFinal
    ? "was faster once, but not when the best were measured again in turns"
    : "was faster when it was measured once, and was not measured again";
  const next = another(winner, second);
  return markup`<strong>Nothing else is as fast.</strong> The next best (${next}) ${verdict}.`;
}

/** Another configuration: its traversal, and in what it differs from the chosen one; in all where that is another. */
function another(winner: Mark, point: Mark): string {
  const { series, parameters } = point, changed = differences(winner, point);
  const named = parameterList(Object.keys(changed).length === 0 ? parameters : changed, series);
  return named === "" ? series : `${series} with ${named}`;
}

function againstCpu({ entry: { configuration, balance }, best }: EntryView): Html | undefined {
  const { share, share: { cpuWorkers } } = configuration;
  if (!uses(share, "gpu")) {
    const gpu = best.find(({ configuration: { share } }) => !uses(share, "cpu"));
    const other = gpu &&
      ` The best of the GPU is ${formatRate(gpu.cellsPerSecond)} (${gpu.series}${onceWords(gpu)}).`;
    const workers = formatPlural(cpuWorkers, "worker");
    return markup`<strong>The CPU computes alone</strong>, with ${workers}.${other}`;
  }
  if (isShared(share)) return undefined;
  const cpu = best.find(({ configuration: { share } }) => !uses(share, "gpu"));
  if (cpu === undefined && balance.length === 0) return undefined;
  const tries = balance.length === 1 ? "once" : `${balance.length} times`;
  const tried = balance.length > 0 &&
    ` Sharing with the CPU was tried ${tries}: waiting for it cost more than it saved.`;
  const alone = cpu &&
    ` Alone, the CPU reaches ${formatRate(cpu.cellsPerSecond)} (${cpu.series}${onceWords(cpu)}).`;
  return markup`<strong>The GPU computes alone.</strong>${tried || ""}${alone}`;
}

function howSure({ entry: { result, verification }, winner: { confidence95 } }: EntryView): Html {
  const { against } = verification;
  const samples = formatPlural(result.samples.length, "sample"), error = formatError(verification);
  const disturbance = describeDisturbance(result.samples);
  const rate = `${formatMeasured({ ...result, confidence95 })}, from ${samples}` +
    (disturbance === undefined ? "" : ` (${disturbance})`);
  return against.startsWith("nothing by Facet")
    ? markup`<strong>Facet did not verify it:</strong> it was imported, and its result was compared with ${against}. Its rate: ${rate}.`
    : markup`<strong>Its result is right:</strong> compared with ${against}, cell by cell: ${error}. Its rate: ${rate}.`;
}
