import { assertAlmostEquals } from "@std/assert";
import { stepwiseLocality, torreLocality } from "../../models/locality.ts";

/** Cells (a, b) of a diamond in its own diagonal coordinates: a + b even, both from `from` to below `to`. */
function square(from: number, to: number): Set<string> {
  const cells = new Set<string>();
  for (let a = from; a < to; a++) {
    for (let b = from; b < to; b++) if ((a + b) % 2 === 0) cells.add(`${a},${b}`);
  }
  return cells;
}

/** Values that a torre moves and updates, counted cell by cell. `neighbours`: what one more loads is shared. */
function count(
  { s, dts, nt, levels, neighbours }: {
    s: number;
    dts: number;
    nt: number;
    levels: number;
    neighbours: boolean;
  },
) {
  const w = 2 * s * dts;
  const held = square(-s, w - s);
  const loads = new Set([...square(-s, w + s)].filter((cell) => !held.has(cell)));
  // the next torre of the row lies W further in a, W less in b
  const shared = [...loads].filter((cell) => {
    const [a = 0, b = 0] = cell.split(",").map(Number);
    return loads.has(`${a - w},${b + w}`);
  }).length;
  const kept = square(2 * s, w);
  const stores = [...square(0, w)].filter((cell) => !kept.has(cell)).length;
  const first = held.size + (levels === 2 ? square(0, w).size : 0);
  const last = square(s, w - s).size + (levels === 2 ? square(0, w - 2 * s).size : 0);
  const perTier = loads.size + stores - (neighbours ? shared : 0);
  return square(0, w).size * nt / (perTier * nt + first + last);
}

Deno.test("the locality of a torre equals a count of cells", () => {
  for (const [s, dts, nt] of [[1, 1, 1], [1, 2, 7], [2, 1, 96], [2, 3, 2], [3, 2, 7], [3, 5, 96]] as const) {
    for (const levelsRead of [1, 2] as const) {
      for (const inRow of [false, true]) {
        const counted = count({ s, dts, nt, levels: levelsRead, neighbours: inRow });
        assertAlmostEquals(torreLocality(dts, nt, { levelsRead, inRow }), counted, 1e-12);
      }
    }
  }
});

Deno.test("the locality of a torre equals the paper's formulas with Nt = 2·DTS·n", () => {
  for (const [dts, n] of [[1, 3], [4, 2], [5, 9]] as const) {
    const ends = 2 - 2 / dts + 1 / dts ** 2;
    assertAlmostEquals(torreLocality(dts, 2 * dts * n, { inRow: false }), dts * n / (4 * n + ends), 1e-12);
    assertAlmostEquals(torreLocality(dts, 2 * dts * n), dts * n / (n * (4 - 1 / dts) + ends), 1e-12);
  }
  assertAlmostEquals(torreLocality(6, 1e9, { inRow: false }), 6 / 4, 1e-6);
  assertAlmostEquals(torreLocality(6, 1e9), 6 / (4 - 1 / 6), 1e-6);
});

Deno.test("stepwise locality gives the 12 bytes of the wave equation and the 8 of heat", () => {
  assertAlmostEquals(4 / stepwiseLocality(2), 12, 1e-12);
  assertAlmostEquals(4 / stepwiseLocality(1), 8, 1e-12);
});
