import {
  formatBandwidth,
  formatCount,
  formatFactor,
  formatInterval,
  formatPercent,
  formatPlural,
  formatRate,
} from "../format.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { bytesOf, type EntryView, type Point } from "./entry_view.ts";
import { type Html, markup, numbers, table } from "./html.ts";
import { failureWords, parameterMeaning, parameterTitle } from "./words.ts";

/** A measured configuration that differs from the chosen one in one parameter. */
interface Neighbour {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly point: Point;
}

/** "Why this configuration", from what was measured: reasons, and a table of what one change does. */
export function explain(view: EntryView): Html {
  const parts = [howItWasFound, againstStepwise, againstRoof, againstOthers, againstCpu, howSure];
  const said = parts.map((part) => part(view)).filter((text) => text !== undefined);
  return markup`<ul class="reasons">${said.map((text) => markup`<li>${text}</li>`)}</ul>${
    neighbourTable(view, neighboursOf(view))
  }`;
}

function howItWasFound({ entry: { search }, points, failures, hasJournal }: EntryView): Html {
  const failed = Object.entries(search.failed).map(([reason, count]) =>
    `${formatCount(count)} ${failureWords(reason)}`
  );
  const part = search.spaceSize > 0
    ? ` of a space of ${formatPlural(search.spaceSize, "configuration")}`
    : "";
  const here = hasJournal
    ? `; this page shows the ${formatPlural(points.length, "configuration")} with a rate`
    : "";
  const others = failed.length > 0
    ? `Of the others, ${failed.join(", ")}.`
    : failures.length === 0
    ? "None failed."
    : `${formatCount(failures.length)} failed.`;
  return markup`<strong>It was the fastest of what was tried.</strong> ${
    formatPlural(search.evaluated, "evaluation")
  }${part}${here}. ${others}`;
}

function againstStepwise({ points, winner, entry }: EntryView): Html | undefined {
  if (winner.series === "stepwise") {
    return markup`<strong>The plain kernel won:</strong> it passes over memory once for each step, and nothing more elaborate was faster here.`;
  }
  const stepwise = points.find(({ series }) => series === "stepwise");
  // the profile's own figure, of the final round, where it has one
  const speedup = entry.result.speedupOverStepwise ??
    (stepwise && winner.cellsPerSecond / stepwise.cellsPerSecond);
  if (speedup === undefined) return undefined;
  return markup`<strong>It is ${formatFactor(speedup)} as fast as the best plain kernel</strong> (${
    formatRate(winner.cellsPerSecond / speedup)
  }, one pass over memory for each step). ${movesLess(winner, stepwise)}`;
}

function movesLess(winner: Point, stepwise: Point | undefined): string {
  if (winner.demand === undefined || stepwise?.demand === undefined) return "";
  const [ours, theirs] = [bytesOf(winner.demand), bytesOf(stepwise.demand)];
  if (ours >= theirs) return "It moves no fewer bytes: what it saves is not memory traffic.";
  const { nt } = winner.configuration.parameters;
  const how = nt === undefined ? "" : `, because it computes ${nt} time steps in one pass over memory`;
  return `It moves ${ours.toPrecision(3)} bytes for each cell update instead of ${
    theirs.toPrecision(3)
  }${how}.`;
}

function againstRoof({ winner, copyBytesPerSecond }: EntryView): Html | undefined {
  if (winner.roof === undefined || copyBytesPerSecond === null) return undefined;
  const fraction = winner.cellsPerSecond / winner.roof;
  const verdict = fraction > 1
    ? "It is above the roof because part of the data stays in the caches, which the copies bypass."
    : fraction >= 0.85
    ? "Memory bandwidth limits it: only a traversal that moves less could be much faster."
    : fraction >= 0.5
    ? "Memory bandwidth is close to the limit; waiting, exchanging values and registers cost the rest."
    : "Memory bandwidth does not limit it: arithmetic, waiting, registers or too few workgroups do.";
  return markup`<strong>It reaches ${formatPercent(fraction)} of its roof.</strong> Copies run at ${
    formatBandwidth(copyBytesPerSecond)
  } here, which allows ${formatRate(winner.roof)} for its traffic. ${verdict}`;
}

function againstOthers({ points, winner, entry }: EntryView): Html | undefined {
  const ties = entry.tieSet.length - 1;
  if (ties > 0) {
    const others = points.filter(({ isTied }) => isTied).slice(0, 3)
      .map(({ configuration }) => describeConfiguration(configuration));
    return markup`<strong>${
      formatPlural(ties, "other configuration ties", "other configurations tie")
    } with it:</strong> ${
      ties === 1 ? "it is" : "they are"
    } not significantly slower, or too little slower to matter. ${
      others.length > 0 ? `Among them: ${others.join("; ")}.` : ""
    }`;
  }
  const second = points.find(({ isWinner, series }) => !isWinner && series !== "GPU + CPU");
  if (second === undefined) return undefined;
  const name = describeConfiguration(second.configuration);
  return second.cellsPerSecond <= winner.cellsPerSecond
    ? markup`<strong>Nothing ties with it.</strong> The next best, ${name}, is ${
      formatPercent(1 - second.cellsPerSecond / winner.cellsPerSecond)
    } slower.`
    : markup`<strong>The final round decided.</strong> ${name} reached ${
      formatRate(second.cellsPerSecond)
    } once, but not when the best were measured again in turns.`;
}

function againstCpu({ entry: { configuration: { share }, balance }, points }: EntryView): Html | undefined {
  const { cpuSlices, gpuSlices, cpuWorkers, exchangeEvery, cpu: onCpu } = share;
  if (gpuSlices === 0) {
    return markup`<strong>The CPU computes alone:</strong> ${
      formatPlural(cpuWorkers, "worker was", "workers were")
    } faster than anything with the GPU.`;
  }
  if (cpuSlices > 0) {
    return markup`<strong>The CPU takes ${formatCount(cpuSlices)} of ${
      formatCount(cpuSlices + gpuSlices)
    } slices</strong> in the order ${onCpu?.traversal ?? "stepwise"}, and exchanges its ghost zone every ${
      formatPlural(exchangeEvery, "step")
    }: together the two devices are faster than either alone.`;
  }
  const cpu = points.find(({ series }) => series === "CPU");
  if (cpu === undefined && balance.length === 0) return undefined;
  const tried = balance.length === 0
    ? ""
    : ` Sharing with the CPU was tried ${
      formatPlural(balance.length, "time")
    }: waiting for it cost more than it saved.`;
  const alone = cpu === undefined ? "" : ` Alone, the CPU reaches ${formatRate(cpu.cellsPerSecond)}.`;
  return markup`<strong>The GPU computes alone.</strong>${tried}${alone}`;
}

function howSure({ entry: { result, verification } }: EntryView): Html {
  const { cellsPerSecond, confidence95, samples } = result;
  const { maxError, bound, against } = verification;
  const rate = `Its rate is ${formatRate(cellsPerSecond)}${formatInterval(confidence95)}, from ${
    formatPlural(samples.length, "sample")
  }.`;
  if (against.startsWith("nothing by Facet")) {
    return markup`<strong>Facet did not verify it:</strong> it was imported, and its result was compared with ${against}. ${rate}`;
  }
  return markup`<strong>Its result is right:</strong> compared with ${against}, cell by cell, the largest error is ${
    maxError.toPrecision(3)
  }; rounding explains up to ${bound.toPrecision(3)}. ${rate}`;
}

/** The measured configurations of the winner's traversal that differ from it in exactly one parameter. */
export function neighboursOf({ winner, points }: EntryView): Neighbour[] {
  const own = winner.configuration.parameters;
  const names = Object.keys(own);
  const neighbours = points.flatMap((point): Neighbour[] => {
    const { parameters } = point.configuration;
    if (point.series !== winner.series || Object.keys(parameters).length !== names.length) return [];
    const [name, ...others] = names.filter((name) => own[name] !== parameters[name]);
    const to = name === undefined ? undefined : parameters[name];
    if (name === undefined || to === undefined || others.length > 0) return [];
    return [{ name, from: own[name]!, to, point }];
  });
  return neighbours.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name) || a.to - b.to);
}

function neighbourTable({ winner }: EntryView, neighbours: readonly Neighbour[]): Html | "" {
  if (neighbours.length === 0) return "";
  const rows = neighbours.map(({ name, from, to, point }, i) => {
    const change = point.cellsPerSecond / winner.cellsPerSecond - 1;
    return [
      parameterTitle(name),
      String(from),
      String(to),
      formatRate(point.cellsPerSecond),
      `${change < 0 ? "−" : "+"}${formatPercent(Math.abs(change))}`,
      name === neighbours[i - 1]?.name ? "" : parameterMeaning(name) ?? "",
    ];
  });
  const columns = ["parameter", ...numbers("chosen", "instead", "rate", "change"), "meaning"];
  return table("What one change does to the chosen configuration", columns, rows);
}
