import { assertEquals } from "@std/assert";
import { equation, type FieldTap } from "../../kernels/equation.ts";
import { fold, TREE } from "../../kernels/expression.ts";
import { add, maximum, minimum, multiply, subtract } from "../../kernels/operations.ts";
import { carried } from "../../kernels/traversals/march_carried.ts";
import { queuesOf } from "../../kernels/traversals/march_queues.ts";
import { marching } from "../../kernels/traversals/marching.ts";
import { onlyExpression } from "../../kernels/update.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { assertExact } from "./oracle_case.ts";

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
    return { u: maximum(-99, minimum(99, add(taps[0]!, ...taps.slice(1)))) };
  },
});

for (
  const [threadsY, tile, depth, boundary] of [
    [4, 1, 1, "insulated"],
    [8, 0, 2, "zero"],
  ] as const
) {
  const parameters = { zPerThread: 2, threadsZ: 8, threadsY, pieces: 2, tile, ahead: 1, depth };
  testOnGpu(
    `a box of 27 weights, ${depth} steps a pass, ${boundary}, equals the oracle`,
    (gpu) =>
      assertExact(gpu, {
        traversal: marching,
        stencil: BOX,
        grid: [11, 9, 17],
        parameters,
        runs: [4, 3],
        boundary,
      }),
  );
}

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
