import { assertEquals } from "@std/assert";
import { constant, eachOperation, type Expression, fold, tap } from "../../kernels/expression.ts";
import { add, multiply, subtract } from "../../kernels/operations.ts";
import { wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { operationsOf, reachOf, readsPrevious, tapsOf, updateOf } from "../../kernels/update.ts";

/** Fully parenthesised text. */
function show(expression: Expression): string {
  return fold<string>(expression, {
    tap: ({ offset, ago }) => `[${offset}${ago === 0 ? "" : " before"}]`,
    constant: (value) => `${value}`,
    ...eachOperation((kind) => (...operands) => `${kind}(${operands.join()})`),
    add: (left, right) => `(${left} + ${right})`,
    subtract: (left, right) => `(${left} - ${right})`,
    multiply: (left, right) => `(${left} * ${right})`,
    signal: () => "signal",
  });
}

Deno.test("sums of several terms go from left to right", () => {
  assertEquals(show(add(tap(1, 0, 0), tap(0, -2, 0), constant(3))), "(([1,0,0] + [0,-2,0]) + 3)");
  assertEquals(show(add(tap(0, 0, 0, 1))), "[0,0,0 before]");
});

Deno.test("fold replaces every node, left before right", () => {
  const update = subtract(multiply(constant(2), tap(0, 0, 1)), add(tap(0, 0, 0), constant(-1)));
  assertEquals(show(update), "((2 * [0,0,1]) - ([0,0,0] + -1))");
});

Deno.test("tapsOf names each tap once, in the order of appearance, now and before apart", () => {
  const update = add(tap(0, 0, 1), tap(0, 0, 1), multiply(constant(2), tap(0, 0, 1, 1)), tap(0, 0, 0));
  assertEquals(tapsOf(updateOf(update)), [tap(0, 0, 1), tap(0, 0, 1, 1), tap(0, 0, 0)]);
  assertEquals(tapsOf(updateOf(constant(1))), []);
});

Deno.test("reachOf measures each axis, and the diamond in x and y", () => {
  const update = add(tap(-3, 0, 0), tap(2, 2, 0), tap(0, 0, -5), tap(0, 1, 0, 1));
  assertEquals(reachOf(updateOf(update)), { x: 3, y: 2, z: 5, diamond: 4 });
  assertEquals(reachOf(updateOf(constant(1))), { x: 0, y: 0, z: 0, diamond: 0 });
  for (const order of WAVE_ORDERS) {
    const reach = order / 2;
    assertEquals(reachOf(wave(order).update), { x: reach, y: reach, z: reach, diamond: reach });
  }
});

Deno.test("readsPrevious tells two time levels from one", () => {
  assertEquals(readsPrevious(updateOf(add(tap(0, 0, 0), tap(0, 0, 0, 1)))), true);
  assertEquals(readsPrevious(updateOf(add(tap(0, 0, 0), tap(1, 0, 0)))), false);
});

Deno.test("the wave equation takes 2 + 7p operations a cell of order 2p", () => {
  // 2·F, − F(t−1); for each k six cells (5 sums), a product, a sum
  for (const order of WAVE_ORDERS) {
    assertEquals(operationsOf(wave(order).update), 2 + 7 * order / 2);
  }
});
