import { formatCount, formatPlural, formatRate } from "../format.ts";

/** A parameter in words: what a value counts, in the singular, and the values that are no counts. */
type Words = readonly [
  title: string,
  meaning: string,
  unit?: string | undefined,
  values?: Readonly<Record<number, string>>,
];

/** Every parameter of every traversal; `CPU swept points` is that of one series. */
const PARAMETERS: Readonly<Record<string, Words>> = {
  dts: [
    "Tile size (DTS)",
    "width of a diamond tile; a larger one moves fewer bytes and needs more registers",
  ],
  nt: ["Steps per pass (Nt)", "time steps in one pass over memory", "step"],
  bands: ["Bands", "passes over memory that advance together", "band"],
  zPerThread: ["Cells per thread", "neighbours along z that a thread computes at once", "cell"],
  threads: ["Workgroup", "threads that work together", "thread"],
  threadsX: ["Workgroup along x", "threads side by side along x", "thread"],
  threadsY: ["Workgroup along y", "threads side by side along y", "thread"],
  threadsZ: ["Workgroup along z", "threads along z, where neighbours lie side by side in memory", "thread"],
  chunk: ["Chunk", "cells that a thread exchanges between two barriers", "cell"],
  unroll: ["Unrolled", "time steps written out in the loop's body", "step"],
  lookahead: [
    "Load ahead",
    "how early values are loaded; earlier hides the wait and takes registers",
    "chunk",
    {
      0: "when needed",
      99: "at the start of a step",
      100: "a step ahead",
      101: "at the start of a step, some at rest",
    },
  ],
  line: [
    "Elements of a thread",
    "pairs of cells side by side along x, which a thread keeps in registers, in a line or along one side of a square",
    "element",
  ],
  across: ["Elements across", "rows of elements that a thread keeps side by side", "row", {
    0: "a line alone, along x",
  }],
  "plane-torre tiles": ["Cells lie", "the order of cells in the device's memory", undefined, {
    0: "in rows",
    1: "in diamond tiles along the Z curve",
  }],
  side: ["Side of a tile", "elements of two cells along each of the tile's three forms", "element"],
  patchA: ["Elements along a", "elements that a thread keeps side by side along x − y − z", "element"],
  patchB: ["Elements along b", "elements that a thread keeps side by side along x + y − z", "element"],
  patchC: ["Elements along c", "elements that a thread keeps side by side along x − y + z", "element"],
  phases: ["Phases", "turns in which threads exchange values in a time step", undefined, {
    1: "all cells at once",
    2: "even and odd cells by turns, in half the workgroup memory",
  }],
  "volume-torre ahead": [
    "Loaded ahead",
    "time steps by which what other torres left is loaded early",
    "step",
  ],
  farsh: ["From torre to torre", "how a torre gets what others have left for it", undefined, {
    0: "through the level",
    1: "through FArSh, a buffer of its own",
  }],
  materials: ["Materials", "how a torre gets the values of materials", undefined, {
    0: "read again at every step",
    1: "held in registers",
    2: "packed, read again at every step",
    3: "packed, held in registers",
  }],
  pieces: ["Pieces", "parts of x that workgroups march through side by side", "piece"],
  tile: ["Neighbours from", "where a thread reads its neighbours in a slice", undefined, {
    0: "the caches",
    1: "workgroup memory",
  }],
  ahead: ["Loaded ahead", "slices loaded before they are used", "slice"],
  depth: ["Steps per march", "time steps in one pass over memory; each costs threads at the rim", "step"],
  points: ["Points per thread", "points of the line that a thread computes", "point"],
  "CPU swept points": ["Node", "points of the line that a core advances many steps at once", "point"],
  steps: ["Steps per dispatch", "time steps that one dispatch computes", "step"],
  strip: ["Strip", "rows that a core visits in a slice before it goes to the next slice", "row", {
    0: "all rows",
  }],
  tiles: ["Tiles along y", "diamonds side by side", "tile"],
  levels: ["Growth of a tile", "sub-steps by which a diamond grows; more need less memory traffic", "level"],
  cpuSlices: ["Slices of the CPU", "y–z planes that the CPU computes; the GPU has the others", "slice"],
  exchangeEvery: ["Exchange (R)", "steps between two exchanges of ghost zones", "step"],
  cpuWorkers: ["CPU workers", "threads that compute side by side", "worker"],
  fused: ["Multiply-add", "whether a product and a sum are one operation, which rounds once", undefined, {
    0: "in two operations",
    1: "in one operation",
  }],
  block: ["Block", "slices that the wave along x moves at once", "slice"],
};

const FAILURES: Readonly<Record<string, string>> = {
  compile: "did not compile",
  limits: "exceeded the device's limits",
  incorrect: "gave a wrong result",
  timeout: "took too long",
  "device-lost": "lost the device",
  "out-of-memory": "ran out of memory",
  // of other tools
  constraints: "were not allowed",
  correctness: "gave a wrong result",
  runtime: "failed while running",
};

/** A parameter of a series for people; by its own name and without a meaning where it is another tool's. */
export function parameterWords(name: string, series: string) {
  const key = [`${series} ${name}`, name].find((key) => Object.hasOwn(PARAMETERS, key));
  const [title, meaning, unit, values]: Words | [string] = key === undefined ? [name] : PARAMETERS[key]!;
  return {
    title,
    meaning,
    /** A value with its unit, as `96 steps`; without one among other counts in a table. */
    valueOf(value: number, { hasUnit = true } = {}): string {
      const isBare = unit === undefined || (!hasUnit && values === undefined);
      return values?.[value] ?? (isBare ? String(value) : formatPlural(value, unit));
    },
  };
}

/** Parameters in one line, as `Bands: 2 bands, Chunk: 8 cells`. */
export function parameterList(parameters: Readonly<Record<string, number>>, series: string): string {
  return Object.entries(parameters).map(([name, value]) => {
    const { title, valueOf } = parameterWords(name, series);
    return `${title}: ${valueOf(value)}`;
  }).join(", ");
}

/** A rate without its unit, which is Gcells/s, or that of another rate. */
export function gcells(cellsPerSecond: number, { like = 1e9 }: { like?: number } = {}): string {
  return formatRate(cellsPerSecond, { like }).split(" ")[0]!;
}

/** A 95% interval, as `802–804`, in Gcells/s or another rate's unit; nothing where there is none. */
export function intervalWords(
  interval: readonly [low: number, high: number] | null,
  { to = "–", like = 1e9 }: { to?: string; like?: number } = {},
): string {
  return [...new Set(interval?.map((end) => gcells(end, { like })))].join(to);
}

/** Bytes per cell update, as `2.9` or `12`. */
export function bytesWords(bytes: number): string {
  return bytes >= 9.95 ? bytes.toFixed(0) : String(Number(bytes.toPrecision(2)));
}

/** Why a rate may be above its roof. */
export const ABOVE_ROOF =
  "part of the data stays in the caches, which are faster than the memory that the roof counts";

/** What a failure means, as `did not compile`. */
export function failureWords(reason: string): string {
  return Object.hasOwn(FAILURES, reason) ? FAILURES[reason]! : reason;
}

/** How many failed in which way, as `1 did not compile, 2 lost the device`. */
export function failureCounts(failed: Readonly<Record<string, number>>): string {
  return Object.entries(failed).map(([reason, count]) => `${formatCount(count)} ${failureWords(reason)}`)
    .join(", ");
}
