import { formatCount, formatFactor, formatPercent, formatPlural, formatRate } from "../format.ts";
import { deviceOf, type EntryView, type Point, roofFraction } from "./entry_view.ts";
import { TOGETHER } from "./series.ts";
import { bytesWords } from "./words.ts";

/** A ratio that explains a difference, and a difference too small to speak of. */
const EXPLAINS = 1.05, NOTHING = 0.02;

/** Between these fractions of its roof a kernel is limited by memory: not by computing, nor by caches. */
const LIMITED = [0.25, 1.15] as const;

/** The sentence that opens a problem: how much faster the chosen configuration is, and why. */
export function whySentence({ winner, plain, best, speedup, points }: EntryView): string {
  const name = nameOf(winner).replace(/^the /, "The ");
  const rate = formatRate(winner.cellsPerSecond);
  const second = best.find((one) => one !== winner && one.cellsPerSecond <= winner.cellsPerSecond);
  if (winner.series === TOGETHER) {
    const gain = second === undefined
      ? `compute ${rate}`
      : `are ${times(winner.cellsPerSecond / second.cellsPerSecond)} as fast as ${nameOf(second)} alone`;
    const { cpuSlices, gpuSlices, cpu } = winner.configuration.share;
    const share = `${formatCount(cpuSlices)} of ${formatCount(cpuSlices + gpuSlices)} slices`;
    return `${name} ${gain}: the CPU computes ${share} (${cpu?.traversal ?? "stepwise"}).`;
  }
  if (winner === plain) {
    const part = formatPercent((second?.cellsPerSecond ?? 0) / winner.cellsPerSecond);
    const others = second ? `${nameOf(second)} reaches ${part} of its rate` : "nothing else was measured";
    return `${name}, one pass over memory for each step, is the fastest: ${others}.`;
  }
  if (speedup === undefined) {
    const count = points.length;
    const which = count === 1
      ? "the only measured one"
      : `the fastest of ${formatCount(count)} measured ones`;
    return `${name} computes ${rate}, ${which}.`;
  }
  const gain = Math.abs(speedup - 1) < NOTHING ? "" : `${times(speedup)} `;
  return `${name} is ${gain}as fast as ${plainName(plain, winner)}${because(winner, plain)}.`;
}

/** What the winner is compared with; where that is the GPU's kernel and the winner the CPU's, it is said. */
export function plainName(plain: Point | undefined, winner: Point): string {
  if (plain === undefined) return "the plain kernel";
  const isOther = deviceOf(plain) === "GPU" && deviceOf(winner) === "CPU";
  return `${nameOf(plain)}${isOther ? " on the GPU" : ""}`;
}

/** The sentence that opens a page of several problems. */
export function overviewSentence(views: readonly EntryView[]): string {
  const speedups = views.flatMap(({ speedup }) => speedup ?? []);
  const start = `On ${formatPlural(views.length, "problem")} the chosen configurations are`;
  if (speedups.length < views.length) return `${start} the fastest of those that were measured.`;
  const saved = Math.max(...views.map((view) => gains(view).saved));
  const gained = Math.max(...views.map((view) => gains(view).used));
  const why = [
    ...(saved > EXPLAINS ? [`move up to ${times(saved)} fewer bytes per cell`] : []),
    ...(gained > EXPLAINS ? [`use the memory bandwidth up to ${times(gained)} better`] : []),
  ].join(" and ");
  const range = [...new Set([Math.min(...speedups), Math.max(...speedups)].map(times))].join(" to ");
  const because = why && `, because they ${why}`;
  return `${start} ${range.replace(" times to", " to")} as fast as the plain kernel${because}.`;
}

/** The part of the sentence that says why: fewer bytes, more of the bandwidth, or both. */
function because(winner: Point, plain: Point | undefined): string {
  const { saved, used } = gains({ winner, plain });
  const why = [];
  if (saved > EXPLAINS) {
    why.push(`moves ${bytesWords(winner.bytes!)} instead of ${bytesWords(plain!.bytes!)} bytes per cell`);
  }
  if (used > EXPLAINS) {
    const [ours, theirs] = [winner, plain!].map((point) => formatPercent(roofFraction(point)!));
    why.push(`reaches ${ours} instead of ${theirs} of the memory bandwidth`);
  }
  return why.length === 0 ? "" : ` because it ${why.join(" and ")}`;
}

/** What makes the winner faster: how many times fewer bytes it moves, and as much of the bandwidth it uses; or 0. */
function gains({ winner, plain }: Pick<EntryView, "winner" | "plain">): { saved: number; used: number } {
  const own = roofFraction(winner) ?? 0, other = (plain && roofFraction(plain)) ?? 0;
  if (plain === undefined || other === 0 || deviceOf(plain) !== deviceOf(winner)) {
    return { saved: 0, used: 0 };
  }
  const isLimited = other > LIMITED[0] && other < LIMITED[1];
  return { saved: isLimited ? (plain.bytes ?? 0) / (winner.bytes ?? Infinity) : 0, used: own / other };
}

/** A series as a sentence names it. */
function nameOf({ series }: Point): string {
  if (series === TOGETHER) return "GPU and CPU together";
  const plain = /^(CPU )?(?:stepwise|classic)$/.exec(series);
  if (plain !== null) return plain[1] ? "the plain order on the CPU" : "the plain kernel";
  return series.replace(/^CPU /, "the CPU's ");
}

/** `3.9 times`. */
function times(factor: number): string {
  return `${formatFactor(factor).slice(0, -1)} times`;
}
