/**
 * "Why this configuration", in plain words, from nothing but what was measured.
 *
 * @module
 */
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { formatBandwidth, formatCount, formatFactor, formatPercent, formatRate } from "../format.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { bytesOf, type EntryView, type Point } from "./entry_view.ts";
import { type Html, markup, table } from "./html.ts";
import { failureWords, parameterMeaning, parameterTitle } from "./words.ts";

/** What a change of one parameter did. */
export interface Neighbour {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly point: Point;
}

/** The answer, as paragraphs and a table of what one change does. */
export function explain(view: EntryView): Html {
  const neighbours = neighboursOf(view);
  return markup`<ul class="reasons">${
    [howItWasFound, againstStepwise, againstRoof, againstOthers, againstCpu, howSure].map((part) => {
      const said = part(view);
      return said === undefined ? "" : markup`<li>${said}</li>`;
    })
  }</ul>${neighbours.length === 0 ? "" : neighbourTable(view, neighbours)}`;
}

function howItWasFound({ entry, points, failures, hasJournal }: EntryView): Html {
  const { search } = entry;
  const failed = Object.entries(search.failed).map(([reason, count]) =>
    `${formatCount(count)} ${failureWords(reason)}`
  );
  const tried = `${formatCount(search.evaluated)} ${search.evaluated === 1 ? "evaluation" : "evaluations"}`;
  const part = search.spaceSize > 0 ? ` of a space of ${formatCount(search.spaceSize)} configurations` : "";
  return markup`<strong>It was the fastest of what was tried.</strong> ${tried}${part}${
    hasJournal ? `; this page has the ${formatCount(points.length)} configurations with a rate` : ""
  }. ${
    failed.length > 0
      ? `Of the others, ${failed.join(", ")}.`
      : failures.length === 0
      ? "None failed."
      : `${formatCount(failures.length)} failed.`
  }`;
}

function againstStepwise({ points, winner, entry }: EntryView): Html | undefined {
  const stepwise = points.find(({ series }) => series === "stepwise");
  if (winner.series === "stepwise") {
    return markup`<strong>The plain kernel won:</strong> one pass over memory for each step, and nothing cleverer was faster here.`;
  }
  // the profile's own figure, of the final round, where it has one
  const speedup = entry.result.speedupOverStepwise ??
    (stepwise && winner.cellsPerSecond / stepwise.cellsPerSecond);
  if (speedup === undefined) return undefined;
  const why = winner.demand === undefined || stepwise?.demand === undefined
    ? ""
    : movesLess(winner, stepwise);
  return markup`<strong>It is ${formatFactor(speedup)} as fast as the best plain kernel</strong> (${
    formatRate(winner.cellsPerSecond / speedup)
  }, one pass over memory for each step). ${why}`;
}

function movesLess(winner: Point, stepwise: Point): string {
  const [ours, theirs] = [bytesOf(winner.demand!), bytesOf(stepwise.demand!)];
  if (ours >= theirs) return "It moves no fewer bytes: what it saves is not memory traffic.";
  const { nt } = winner.configuration.parameters;
  const how = nt === undefined ? "" : ` because it computes ${nt} time steps in one pass over memory`;
  return `It moves ${ours.toPrecision(3)} bytes for each cell update instead of ${
    theirs.toPrecision(3)
  },${how}.`
    .replace(/,\.$/, ".");
}

function againstRoof({ winner, copyBytesPerSecond }: EntryView): Html | undefined {
  if (winner.roof === undefined || copyBytesPerSecond === null) return undefined;
  const fraction = winner.cellsPerSecond / winner.roof;
  const verdict = fraction > 1
    ? "More than all of it: part of the data stays in the caches, where copies do not reach."
    : fraction >= 0.85
    ? "Memory is what limits it: only a traversal that moves less could be much faster."
    : fraction >= 0.5
    ? "Memory is close to the limit, but not all of it: waiting, exchanging values and registers cost the rest."
    : "Memory is not what limits it: arithmetic, waiting, registers or too few workgroups are.";
  return markup`<strong>It reaches ${formatPercent(fraction)} of its roof.</strong> Copies run at ${
    formatBandwidth(copyBytesPerSecond)
  } here, which allows ${formatRate(winner.roof)} for its traffic. ${verdict}`;
}

function againstOthers({ points, winner, entry }: EntryView): Html | undefined {
  const ties = entry.tieSet.length - 1;
  if (ties > 0) {
    const others = points.filter(({ isTied }) => isTied).slice(0, 3).map(({ configuration }) =>
      describeConfiguration(configuration)
    );
    return markup`<strong>${formatCount(ties)} ${
      ties === 1 ? "other cannot" : "others cannot"
    } be told apart from it:</strong> what was measured differs by no more than the noise explains, or too little to matter. ${
      others.length > 0 ? `Among them: ${others.join("; ")}.` : ""
    }`;
  }
  const second = points.find(({ isWinner, series }) => !isWinner && series !== "GPU + CPU");
  if (second === undefined) return undefined;
  return second.cellsPerSecond <= winner.cellsPerSecond
    ? markup`<strong>Nothing ties with it.</strong> The next best, ${
      describeConfiguration(second.configuration)
    }, is ${formatPercent(1 - second.cellsPerSecond / winner.cellsPerSecond)} slower.`
    : markup`<strong>The final round decided.</strong> ${
      describeConfiguration(second.configuration)
    } showed ${formatRate(second.cellsPerSecond)} once, but not when the best were measured again in turns.`;
}

function againstCpu({ entry: { configuration: { share }, balance }, points }: EntryView): Html | undefined {
  const cpu = points.find(({ series }) => series === "CPU");
  if (share.gpuSlices === 0) {
    return markup`<strong>The CPU computes alone:</strong> ${
      share.cpuWorkers === 1 ? "1 worker was" : `${formatCount(share.cpuWorkers)} workers were`
    } faster than anything with the GPU.`;
  }
  if (share.cpuSlices > 0) {
    return markup`<strong>The CPU takes ${formatCount(share.cpuSlices)} of ${
      formatCount(share.cpuSlices + share.gpuSlices)
    } slices,</strong> and exchanges its ghost zone every ${
      formatCount(share.exchangeEvery)
    } steps: together they are faster than either.`;
  }
  const alone = cpu === undefined ? "" : ` Alone, the CPU reaches ${formatRate(cpu.cellsPerSecond)}.`;
  if (balance.length === 0) {
    return alone === "" ? undefined : markup`<strong>The GPU computes alone.</strong>${alone}`;
  }
  return markup`<strong>The GPU computes alone.</strong> Sharing with the CPU was tried ${
    formatCount(balance.length)
  } ${balance.length === 1 ? "time" : "times"}: waiting for the CPU cost more than its share saved.${alone}`;
}

function howSure(
  { entry: { result: { confidence95: [low, high], samples }, verification } }: EntryView,
): Html {
  const { maxError, bound, against } = verification;
  const rate = markup`${formatCount(samples.length)} ${
    samples.length === 1 ? "sample puts" : "samples put"
  } its rate between ${formatRate(low)} and ${formatRate(high)} (95%).`;
  if (against.startsWith("nothing by Facet")) {
    return markup`<strong>Facet did not verify it:</strong> it was imported, and its result was compared with ${against}. ${rate}`;
  }
  return markup`<strong>Its result is right:</strong> compared with ${against}, cell by cell, the largest error is ${
    maxError.toPrecision(3)
  }; rounding explains up to ${bound.toPrecision(3)}. ${rate}`;
}

/** For each parameter and each of its other values: the same configuration but for it, if it was measured. */
export function neighboursOf({ winner, points }: EntryView): Neighbour[] {
  const own = winner.configuration.parameters;
  const names = Object.keys(own);
  const neighbours = points.flatMap((point): Neighbour[] => {
    const { parameters } = point.configuration;
    if (point.series !== winner.series || point.isWinner) return [];
    const different = differences(own, parameters, names);
    if (different.length !== 1) return [];
    const [name] = different;
    return [{ name, from: own[name], to: parameters[name], point }];
  });
  return neighbours.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name) || a.to - b.to);
}

function differences(one: Parameters, other: Parameters, names: readonly string[]): string[] {
  if (Object.keys(other).length !== names.length) return [];
  return names.filter((name) => one[name] !== other[name]);
}

function neighbourTable({ winner }: EntryView, neighbours: readonly Neighbour[]): Html {
  const isKnown = neighbours.some(({ name }) => parameterMeaning(name) !== undefined);
  const rows = neighbours.map(({ name, from, to, point }, i) => {
    const change = point.cellsPerSecond / winner.cellsPerSecond - 1;
    return [
      parameterTitle(name),
      String(from),
      String(to),
      formatRate(point.cellsPerSecond),
      `${change < 0 ? "−" : "+"}${formatPercent(Math.abs(change))}`,
      ...(isKnown ? [name === neighbours[i - 1]?.name ? "" : parameterMeaning(name) ?? ""] : []),
    ];
  });
  return table("What one change does to the chosen configuration", [
    { title: "parameter" },
    { title: "chosen", isNumber: true },
    { title: "instead", isNumber: true },
    { title: "rate", isNumber: true },
    { title: "change", isNumber: true },
    ...(isKnown ? [{ title: "meaning" }] : []),
  ], rows);
}
