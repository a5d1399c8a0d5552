/**
 * The traversals of a line, bit for bit: updates on bits have no rounding, so every misplaced read shows.
 *
 * Compiling takes most of the time on a software device, and a shader depends on the parameters, not on the length:
 * each set of parameters here runs several lengths, and workgroups are small. More than eight threads are needed to see
 * that a barrier is missing: so many run in step there. What adds only size is left to thorough runs.
 *
 * @module
 */
import { assert } from "@std/assert";
import { runReference } from "../../../../kernels/reference.ts";
import type { Boundary, Stencil } from "../../../../kernels/stencils/stencil.ts";
import { initialCells } from "../../../../tuner/devices/oracle.ts";
import { bitFar, bitHeat, bitKs, bitKs3 } from "../../line_stencils.ts";
import { inSteps, onLine, type Row, SEED, type Special, testRows, type Way } from "../../oracle_case.ts";

/** A way to sweep, and on each of some lengths the runs that follow one another on the same field. */
type LineWay = readonly [Way, runs: Readonly<Record<number, readonly number[]>>];

/** Rows of every length. */
function testLines(
  stencil: Stencil,
  boundary: Boundary,
  ways: readonly LineWay[],
  special: Special = {},
): void {
  const rows = ways.flatMap(([way, runs]) =>
    Object.entries(runs).map(([points, steps]): Row => [stencil, [1, 1, Number(points)], way, steps])
  );
  testRows(rows, { ...special, boundary });
}

const STEPWISE: LineWay = [inSteps([64, 1, 1]), { 257: [1, 40] }];
const CLASSIC: readonly LineWay[] = [
  [onLine("classic", [32, 1]), { 11: [1, 2, 9] }],
  [onLine("classic", [64, 4]), { 1001: [5, 40] }],
];

// Heat loses a point a row at each end: a triangle of 16 × 2 points has 16 rows, a step each.
const FULL: LineWay = [onLine("swept", [16, 2, 16]), { 32: [1, 15, 16, 17, 33, 50], 160: [45, 100] }];
// Fewer steps a dispatch: hexagons.
const NARROWEST: LineWay = [onLine("swept-register", [12, 2, 11]), { 26: [10, 11, 35], 78: [12, 23] }];

testLines(bitHeat, "insulated", [
  STEPWISE,
  ...CLASSIC,
  FULL,
  [onLine("swept-register", [8, 4, 16]), { 32: [1, 2, 15, 16, 17, 35], 96: [15, 50] }],
  [onLine("swept", [24, 1, 4]), { 40: [31, 32, 33], 120: [1, 4, 5, 8, 9, 50] }],
  NARROWEST,
  // two levels, the fewest
  [onLine("swept-register", [12, 4, 4]), { 88: [3, 4, 40], 264: [1, 9, 30] }],
]);
testLines(bitHeat, "periodic", [STEPWISE, ...CLASSIC, FULL, NARROWEST]);

const CLASSIC_KS: LineWay = [onLine("classic", [32, 2]), { 129: [1, 2, 9] }];
// A triangle of 16 × 2 points has 8 rows of the flattened form: 4 steps; 16 rows of the other: 4 steps too.
const FULL_KS: LineWay = [onLine("swept", [16, 2, 4]), { 32: [1, 3, 4, 5, 20], 96: [13] }];
const HEXAGON: LineWay = [onLine("swept", [24, 1, 2]), { 32: [1, 2, 3, 20], 96: [7] }];

testLines(bitKs, "insulated", [
  CLASSIC_KS,
  FULL_KS,
  [onLine("swept-register", [4, 8, 3]), { 40: [1, 3, 4, 13], 80: [7] }],
]);
testLines(bitKs, "periodic", [CLASSIC_KS, HEXAGON]);
testLines(bitKs3, "insulated", [CLASSIC_KS]);
testLines(bitKs3, "insulated", [FULL_KS], { isSlow: true });
testLines(bitKs3, "periodic", [CLASSIC_KS, HEXAGON]);
const REGISTER_KS: LineWay = [onLine("swept-register", [4, 8, 4]), { 32: [1, 3, 4, 5, 13], 96: [9] }];
testLines(bitKs3, "periodic", [REGISTER_KS], { isSlow: true });

/** Larger nodes, more points a thread, other steps a dispatch. */
const LARGE_HEAT: readonly LineWay[] = [
  [onLine("swept", [32, 4, 64]), { 2048: [63, 64, 65, 129, 3] }],
  [onLine("swept", [128, 2, 128]), { 6144: [301] }],
  [onLine("swept", [96, 1, 32]), { 128: [31, 32, 33, 150] }],
  [onLine("swept-register", [32, 2, 32]), { 64: [1, 2, 31, 32, 33, 70] }],
  [onLine("swept-register", [32, 4, 64]), { 128: [63, 64, 65, 129, 200], 2048: [2, 61, 190] }],
  [onLine("swept-register", [12, 8, 48]), { 288: [51, 99] }],
  [onLine("swept-register", [24, 4, 32]), { 128: [1, 17, 90], 512: [31, 32, 33, 80] }],
];
const LARGE_KS: readonly LineWay[] = [
  [onLine("swept", [64, 1, 8]), { 2560: [37] }],
  [onLine("swept", [32, 2, 2]), { 448: [1, 2, 3, 20] }],
  [onLine("swept-register", [12, 8, 6]), { 144: [1, 6, 7, 20], 288: [9] }],
  [onLine("swept-register", [12, 8, 12]), { 96: [1, 11, 12, 13, 30], 288: [25] }],
];
// a tap further out than rows shrink: of the widest row it lies beyond the reach
const FAR: readonly LineWay[] = [
  [onLine("swept", [16, 2, 8]), { 32: [1, 8, 20], 96: [17] }],
  [onLine("swept-register", [12, 4, 12]), { 48: [1, 12, 30] }],
];
for (const boundary of ["insulated", "periodic"] as const) {
  testLines(bitHeat, boundary, LARGE_HEAT, { isSlow: true });
  for (const stencil of [bitKs, bitKs3]) testLines(stencil, boundary, LARGE_KS, { isSlow: true });
  testLines(bitFar, boundary, FAR);
}

Deno.test("the bits do not come to rest", () => {
  for (const stencil of [bitHeat, bitKs, bitKs3, bitFar]) {
    for (const boundary of ["insulated", "periodic"] as const) {
      for (const points of [32, 48, 96, 129]) {
        const grid = [1, 1, points] as const,
          start = initialCells({ grid, stencil }, { kind: "binary", seed: SEED });
        const run = { update: stencil.update, grid, boundary, steps: 100 };
        const { current } = runReference({ current: start, previous: start }, run);
        assert(current.includes(1) && current.includes(0), `${stencil.title}, ${boundary}, ${points} points`);
      }
    }
  }
});
