import {
  formatBandwidth,
  formatCount,
  formatError,
  formatInterval,
  formatPercent,
  formatPlural,
  formatRate,
} from "../format.ts";
import { differences } from "./configuration_card.ts";
import { deviceOf, type EntryView, type Point, roofFraction } from "./entry_view.ts";
import { type Html, markup } from "./html.ts";
import { TOGETHER } from "./series.ts";
import { ABOVE_ROOF, failureWords, parameterList } from "./words.ts";

/** What else there is to say about the chosen configuration, from what was measured. */
export function explain(view: EntryView): Html {
  const parts = [againstRoof, againstOthers, againstCpu, howSure, howItWasFound];
  const said = parts.map((part) => part(view)).filter((text) => text !== undefined);
  return markup`<ul class="reasons">${said.map((text) => markup`<li>${text}</li>`)}</ul>`;
}

function howItWasFound({ entry: { search: { evaluated, spaceSize, failed } } }: EntryView): Html {
  const space = spaceSize > 0 ? `of ${formatCount(spaceSize)} possible ` : "";
  const reasons = Object.entries(failed).map(([reason, count]) => `${count} ${failureWords(reason)}`);
  const failures = reasons.length > 0 ? `of these ${reasons.join(", ")}` : "none failed";
  const count = `${formatCount(evaluated)} ${space}configurations`;
  return markup`<strong>${count} were evaluated;</strong> ${failures}.`;
}

function againstRoof({ winner, bandwidths }: EntryView): Html | undefined {
  const fraction = roofFraction(winner), bandwidth = bandwidths[deviceOf(winner)];
  if (fraction === undefined || winner.bytes === undefined || bandwidth === null) return undefined;
  const verdict = fraction > 1
    ? `It is above the roof because ${ABOVE_ROOF}.`
    : fraction >= 0.85
    ? "Memory bandwidth limits it: only a traversal that moves less could be much faster."
    : fraction >= 0.5
    ? "Memory bandwidth is close to the limit; waiting, exchanging values and registers cost the rest."
    : "Memory bandwidth does not limit it: arithmetic, waiting, registers or too few workgroups do.";
  const allowed = `Copies run at ${formatBandwidth(bandwidth)} here, which allows ${
    formatRate(winner.roof!)
  }`;
  return markup`<strong>It reaches ${
    formatPercent(fraction)
  } of its roof.</strong> ${allowed} for its traffic. ${verdict}`;
}

function againstOthers({ points, winner, entry }: EntryView): Html | undefined {
  const ties = entry.tieSet.length - 1;
  if (ties > 0) {
    const others = points.filter(({ isTied }) => isTied).slice(0, 3).map((point) => another(winner, point));
    const count = formatPlural(ties, "other configuration ties", "other configurations tie");
    const named = others.length > 0 ? ` Among them: ${others.join("; ")}.` : "";
    return markup`<strong>${count} with it:</strong> not significantly slower, or too little slower to matter.${named}`;
  }
  const second = points.find(({ isWinner, series }) => !isWinner && series !== TOGETHER);
  if (second === undefined) return undefined;
  const difference = 1 - second.cellsPerSecond / winner.cellsPerSecond;
  const verdict = difference >= 0
    ? `is ${formatPercent(difference)} slower`
    : "was faster once, but not when the best were measured again in turns";
  return markup`<strong>Nothing ties with it.</strong> The next best (${
    another(winner, second)
  }) ${verdict}.`;
}

/** Another configuration: its traversal, and in what it differs from the chosen one. */
function another(winner: Point, point: Point): string {
  const changed = parameterList(differences(winner, point), point.series);
  return changed === "" ? point.series : `${point.series} with ${changed}`;
}

function againstCpu({ entry: { configuration, balance }, best }: EntryView): Html | undefined {
  const { cpuSlices, gpuSlices, cpuWorkers } = configuration.share;
  if (gpuSlices === 0) {
    const gpu = best.find(({ configuration: { share } }) => share.cpuSlices === 0);
    const other = gpu && ` The best of the GPU is ${formatRate(gpu.cellsPerSecond)} (${gpu.series}).`;
    return markup`<strong>The CPU computes alone</strong>, with ${
      formatPlural(cpuWorkers, "worker")
    }.${other}`;
  }
  if (cpuSlices > 0) return undefined;
  const cpu = best.find(({ configuration: { share } }) => share.gpuSlices === 0);
  if (cpu === undefined && balance.length === 0) return undefined;
  const tries = balance.length === 1 ? "once" : `${balance.length} times`;
  const tried = balance.length > 0 &&
    ` Sharing with the CPU was tried ${tries}: waiting for it cost more than it saved.`;
  const alone = cpu && ` Alone, the CPU reaches ${formatRate(cpu.cellsPerSecond)} (${cpu.series}).`;
  return markup`<strong>The GPU computes alone.</strong>${tried || ""}${alone}`;
}

function howSure({ entry: { result, verification }, winner: { confidence95 } }: EntryView): Html {
  const { against } = verification;
  const samples = formatPlural(result.samples.length, "sample"), error = formatError(verification);
  const rate = `${formatRate(result.cellsPerSecond)}${formatInterval(confidence95)}, from ${samples}`;
  return against.startsWith("nothing by Facet")
    ? markup`<strong>Facet did not verify it:</strong> it was imported, and its result was compared with ${against}. Its rate: ${rate}.`
    : markup`<strong>Its result is right:</strong> compared with ${against}, cell by cell: ${error}. Its rate: ${rate}.`;
}
