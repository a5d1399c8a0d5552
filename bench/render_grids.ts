/**
 * What the first part of `bench` found, for people.
 *
 * @module
 */
import type { Parameters } from "../kernels/traversals/traversal.ts";
import { formatBandwidth, formatPercent, formatRate, formatTable } from "../tuner/format.ts";
import type { CpuComparison } from "./bench_grids.ts";
import { C_COMPILER, NATIVE_COMPILER } from "./native_loops.ts";

/**
 * Tables of rates and ratios, and the parameters that were chosen.
 *
 * @param comparisons in the order they were measured
 * @param workers of the pool of several
 * @returns text of whole lines, without the last line end
 */
export function renderGrids(comparisons: readonly CpuComparison[], workers: number): string {
  const rate = (value: number | undefined): string =>
    value === undefined ? "–" : formatRate(value, { like: 1e9 }).split(" ")[0]!;
  const ratio = (value: number | undefined): string => value === undefined ? "–" : value.toFixed(2);
  const nameOf = ({ title, grid }: CpuComparison): string => `${title}, ${grid.join("x")}`;
  const rates = comparisons.map((
    { cellsPerSecond: { c, one, stepwise, strips, diamonds, native }, ...found },
  ) => [
    nameOf(found as CpuComparison),
    formatBandwidth(found.copyBytesPerSecond),
    ...[c, one, stepwise, strips, diamonds, native].map(rate),
    String(found.samples),
  ]);
  const ratios = comparisons.map(({ ratios: { one, strips, diamonds, native }, ...found }) => [
    nameOf(found as CpuComparison),
    ...[one, strips, diamonds, native, found.diamondsOverNative].map(ratio),
    describe(found.chosen.strips),
    describe(found.chosen.diamonds),
  ]);
  const right = [1, 2, 3, 4, 5, 6, 7, 8];
  const hasC = comparisons.some(({ cellsPerSecond }) => cellsPerSecond.c !== undefined);
  const doubts = comparisons.flatMap((found) => {
    const { threadsOverOne: over = 1, cellsPerSecond: { c = 0, native = Infinity } } = found;
    if (over < 1) {
      const part = formatPercent(over);
      return [
        `NATIVE ON ONE THREAD: ${
          nameOf(found)
        }: ${workers} threads run at ${part} of its rate: are cores free?`,
      ];
    }
    return native < c ? [`NATIVE BELOW C: ${nameOf(found)}: something slowed it down: measure again`] : [];
  });
  const wrong = comparisons.filter((found) => found.wrong.length > 0);
  return [
    `Gcells/s: medians of samples taken in turns; boundary zero, f32. C: plain loops, ${
      C_COMPILER.join(" ")
    }, one core;`,
    `native: the same, ${
      NATIVE_COMPILER.join(" ")
    }, ${workers} threads. Copy: what ${workers} workers move together.`,
    ...(hasC
      ? []
      : ["The loops in C are left out: they need gcc, and one field without materials or a signal."]),
    "",
    formatTable([
      ["", "copy", "C", "1 worker", "stepwise", "strips", "diamonds", "native", "samples"],
      ...rates,
    ], {
      right,
    }),
    "",
    "Ratios, medians over the turns: one worker by C, all workers by their own stepwise, diamonds by native.",
    "",
    formatTable([
      [
        "",
        "1 worker/C",
        "strips",
        "diamonds",
        "native",
        "diamonds/native",
        "strips chosen",
        "diamonds chosen",
      ],
      ...ratios,
    ], { right: right.slice(0, 5) }),
    "",
    ...doubts,
    wrong.length === 0
      ? "All ways gave the same field, bit for bit; where products are fused, within rounding."
      : `DIFFERENT FIELDS: ${wrong.map((found) => `${nameOf(found)}: ${found.wrong.join(", ")}`).join("; ")}`,
  ].join("\n");
}

function describe(parameters: Parameters | undefined): string {
  if (parameters === undefined) return "–";
  return Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" ");
}
