import { assertEquals } from "@std/assert";
import { equation, type FieldTap } from "../../../../kernels/equation.ts";
import { fold, TREE } from "../../../../kernels/expression.ts";
import { add, multiply, subtract } from "../../../../kernels/operations.ts";
import { carried } from "../../../../kernels/traversals/marching/carried.ts";
import { queuesOf } from "../../../../kernels/traversals/marching/queues.ts";
import { onlyExpression } from "../../../../kernels/update.ts";
import { inMarches, testRows } from "../../oracle_case.ts";
import { clamped } from "../../whole_numbers.ts";

const SPAN = [-1, 0, 1];
const around = (u: FieldTap) =>
  SPAN.flatMap((x) =>
    SPAN.flatMap((y) => SPAN.map((z) => multiply(((5 * x + 3 * y + 7 * z + 40) % 5) - 2 || 3, u.at(x, y, z))))
  );

/** A box of 27 distinct whole weights, tap by tap. */
const BOX = equation({
  name: "box",
  fields: { u: [-4, 3] },
  step({ u }) {
    const taps = around(u);
    return { u: clamped(99, taps[0]!, ...taps.slice(1)) };
  },
});

testRows([
  [BOX, [11, 9, 17], inMarches([2, 8, 4, 2, 1, 1, 1]), [4, 3], { boundary: "insulated" }],
  [BOX, [11, 9, 17], inMarches([2, 8, 8, 2, 0, 1, 2]), [4, 3]],
]);

Deno.test("what is carried is the same expression, of one sum a slice", () => {
  const update = carried(BOX.update), whole = (of: typeof update) => fold(onlyExpression(of)!, TREE);
  assertEquals(whole(update), whole(BOX.update));
  const { columns, sums } = queuesOf(update, { isTiled: true, ahead: 0, isPlane: false });
  assertEquals(columns.map(({ low, high }) => [low, high]), [[1, 1]]);
  assertEquals(sums.map(({ low, high }) => [low, high]), [[1, 1], [0, 1], [0, 1]]);
});

Deno.test("a product of late and early cells is carried in parts, F(t − 1) never", () => {
  const { update } = equation({
    name: "product",
    fields: { u: [-4, 3] },
    step: ({ u }) => ({
      u: subtract(multiply(u.at(1, 1, 0), add(u.at(-1, 0, 1), u.at(0, 1, 0))), u.before()),
    }),
  });
  const { sums } = queuesOf(carried(update), { isTiled: false, ahead: 0, isPlane: false });
  assertEquals(sums.map(({ low, high, isPart }) => [low, high, isPart]), [[1, 1, false], [0, 1, true], [
    0,
    1,
    true,
  ]]);
});
