import { assert, assertAlmostEquals } from "@std/assert";
import { addRow, dot, type Factor, solve, solveLower } from "../../models/cholesky.ts";

/** A Hilbert matrix with something more on the diagonal. */
const SIZE = 7;
const MATRIX = Array.from(
  { length: SIZE },
  (_, i) => Float64Array.from({ length: SIZE }, (_, j) => 1 / (1 + i + j) + (i === j ? 0.01 : 0)),
);

function factorOf(matrix: readonly Float64Array[]): Factor {
  const factor: Factor = [];
  for (const row of matrix) assert(addRow(factor, row.slice(), 0) > 0);
  return factor;
}

Deno.test("the factor times its transpose is the matrix", () => {
  const factor = factorOf(MATRIX);
  MATRIX.forEach((row, i) =>
    row.forEach((value, j) =>
      assertAlmostEquals(dot(factor[i]!, factor[j]!, Math.min(i, j) + 1), value, 1e-14)
    )
  );
});

Deno.test("solutions solve, with the factor and with the matrix", () => {
  const factor = factorOf(MATRIX), wanted = Float64Array.from({ length: SIZE }, (_, i) => 2 - i);
  const lower = solveLower(factor, wanted.slice()), all = solve(factor, wanted.slice());
  wanted.forEach((value, i) => {
    assertAlmostEquals(dot(factor[i]!, lower, i + 1), value, 1e-12);
    assertAlmostEquals(dot(MATRIX[i]!, all, SIZE), value, 1e-10);
  });
});

Deno.test("a row that the others explain leaves nothing, and gets the least pivot", () => {
  const factor: Factor = [];
  addRow(factor, Float64Array.of(4), 0);
  assertAlmostEquals(addRow(factor, Float64Array.of(2, 1), 0.25), 0, 1e-15);
  assertAlmostEquals(factor[1]![1]!, 0.5);
});
