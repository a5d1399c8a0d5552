import { assertEquals, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import { type Expression, fold, NUMBERS } from "../../kernels/expression.ts";
import { life, readRule } from "../../kernels/stencils/life.ts";
import type { Boundary, Grid } from "../../kernels/stencils/stencil.ts";
import { runReference } from "../../kernels/reference.ts";
import { onlyExpression } from "../../kernels/update.ts";
import { inMarches, inSteps, testRows } from "./oracle_case.ts";

/** Evaluates a rule for a cell with so many living neighbours. */
function next(expression: Expression, alive: number, neighbours: number): number {
  return fold<number>(expression, {
    ...NUMBERS,
    // the first of the neighbours live, in an order that no tap knows
    tap: ({ offset: [x, y, z] }) => {
      if (x === 0 && y === 0 && z === 0) return alive;
      const index = (x + 1) * 9 + (y + 1) * 3 + z + 1;
      return (index < 13 ? index : index - 1) < neighbours ? 1 : 0;
    },
  });
}

Deno.test("a cell follows its rule for every number of neighbours", () => {
  for (
    const [rule, born, survives] of [["5/2-7", [5, 5], [2, 7]], ["0/0-26", [0, 0], [0, 26]], ["3-6/26", [
      3,
      6,
    ], [26, 26]]] as const
  ) {
    const expression = onlyExpression(life(rule).update)!;
    const within = (n: number, [low, high]: readonly [number, number]): number =>
      Number(low <= n && n <= high);
    for (let neighbours = 0; neighbours <= 26; neighbours++) {
      assertEquals(
        next(expression, 0, neighbours),
        within(neighbours, born),
        `${rule}: born with ${neighbours}`,
      );
      assertEquals(
        next(expression, 1, neighbours),
        within(neighbours, survives),
        `${rule}: alive with ${neighbours}`,
      );
    }
  }
});

Deno.test("what is no rule is refused, naming the format", () => {
  for (const text of ["", "5", "5/", "5/7-2", "27/2", "5/2-27", "a/b", "5/2-7/1", "-1/2", "100/2"]) {
    assertEquals(readRule(text), undefined, text);
    assertThrows(() => life(text), RangeError, "BORN/SURVIVES, numbers");
  }
});

/** A grid with a few living cells. */
function world([nx, ny, nz]: Grid, alive: readonly Grid[]): Float32Array {
  const cells = new Float32Array(nx * ny * nz);
  for (const [x, y, z] of alive) cells[(x * ny + y) * nz + z] = 1;
  return cells;
}

function steps(
  cells: Float32Array,
  grid: Grid,
  count: number,
  rule = "5/2-7",
  boundary: Boundary = "zero",
): Float32Array {
  const run = { update: life(rule).update, grid, boundary, steps: count };
  return runReference({ current: cells, previous: cells }, run).current;
}

const sumOf = (cells: Float32Array): number => cells.reduce((sum, value) => sum + value, 0);

Deno.test("a block of eight is a still life: each has seven neighbours", () => {
  const grid: Grid = [6, 7, 8];
  const block = [2, 3].flatMap((x) => [2, 3].flatMap((y) => [2, 3].map((z): Grid => [x, y, z])));
  const cells = world(grid, block);
  assertEquals(steps(cells, grid, 5), cells);
});

Deno.test("lonely and crowded cells die, and empty ones with five neighbours come to life", () => {
  const grid: Grid = [7, 7, 7];
  assertEquals(sumOf(steps(world(grid, [[3, 3, 3], [3, 3, 4]]), grid, 1)), 0); // one neighbour each
  // four in a square: three neighbours each, all survive; nobody sees five of them
  const square: Grid[] = [[3, 3, 3], [3, 3, 4], [3, 4, 3], [3, 4, 4]];
  assertEquals(steps(world(grid, square), grid, 3), world(grid, square));
  // five in a plane around a hole
  const ring: Grid[] = [[3, 2, 3], [3, 4, 3], [3, 3, 2], [3, 3, 4], [3, 2, 2]];
  assertEquals(steps(world(grid, ring), grid, 1)[(3 * 7 + 3) * 7 + 3], 1);
});

Deno.test("an oscillator comes back after two steps, and not after one", () => {
  // a plate of 2 × 3 cells under rule 5-6/5-7 stands up and lies down again
  const grid: Grid = [8, 8, 8];
  const plate = world(grid, [3, 4, 5].flatMap((y) => [3, 4].map((z): Grid => [4, y, z])));
  const upright = steps(plate, grid, 1, "5-6/5-7");
  assertEquals(upright.some((value, i) => value !== plate[i]), true);
  assertEquals(steps(upright, grid, 1, "5-6/5-7"), plate);
  assertEquals(sumOf(upright), 6);
});

Deno.test("on a periodic grid patterns move with the grid, whatever the rule", () => {
  const grid: Grid = [5, 4, 6], [nx, ny, nz] = grid;
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(0, 0, 1), { minLength: 120, maxLength: 120 }),
      fc.tuple(fc.nat(4), fc.nat(3), fc.nat(5)),
      fc.constantFrom("5/2-7", "4-6/3-9", "0/1-26"),
      (values, [dx, dy, dz], rule) => {
        const shift = (cells: Float32Array): Float32Array =>
          Float32Array.from(cells, (_, i) => {
            const x = Math.floor(i / (ny * nz)), y = Math.floor(i / nz) % ny, z = i % nz;
            return cells[(((x + dx) % nx) * ny + (y + dy) % ny) * nz + (z + dz) % nz]!;
          });
        const cells = Float32Array.from(values);
        assertEquals(
          steps(shift(cells), grid, 2, rule, "periodic"),
          shift(steps(cells, grid, 2, rule, "periodic")),
        );
      },
    ),
    { numRuns: 20, seed: 20_261_121 },
  );
});

/** Rules are constants in the shader, the boundary is in its layout. */
const ZERO = life("5/2-7"), PERIODIC = life("0-3/1-9");

for (const [stencil, boundary] of [[ZERO, "zero"], [PERIODIC, "periodic"]] as const) {
  testRows([
    [stencil, [7, 5, 11], inSteps([8, 2, 1]), [6, 3]],
    [stencil, [13, 9, 21], inMarches([1, 8, 4, 2, 0, 0]), [7, 2]],
    [stencil, [13, 9, 21], inMarches([1, 8, 4, 2, 1, 0]), [7]],
    [stencil, [5, 11, 19], inMarches([2, 8, 4, 2, 0, 1]), [7]],
    [stencil, [9, 7, 11], inMarches([4, 3, 4, 2, 1, 1]), [7]],
    [stencil, [1, 1, 1], inMarches([4, 4, 4, 1, 0, 0]), [2]],
  ], { boundary });
}

// several steps a pass
testRows([
  [ZERO, [13, 9, 21], inMarches([2, 8, 8, 2, 0, 1, 2]), [9, 6]],
  [ZERO, [9, 11, 19], inMarches([4, 5, 6, 2, 0, 1, 3]), [4, 7]],
]);
