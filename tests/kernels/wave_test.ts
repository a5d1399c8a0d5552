import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { fold, NUMBERS } from "../../kernels/expression.ts";
import { conservingWeights, secondDerivative, symbolAt } from "../../kernels/weights.ts";
import { stabilityLimit, wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { onlyExpression } from "../../kernels/update.ts";

Deno.test("second derivatives of order 2 to 8 are the known fractions", () => {
  const known: Record<number, number[]> = {
    2: [-2, 1],
    4: [-5 / 2, 4 / 3, -1 / 12],
    6: [-49 / 18, 3 / 2, -3 / 20, 1 / 90],
    8: [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560],
  };
  for (const [order, coefficients] of Object.entries(known)) {
    const { centre, sides } = secondDerivative(Number(order));
    [centre, ...sides].forEach((c, k) => assertAlmostEquals(c, coefficients[k]!, 1e-15));
  }
});

for (const order of WAVE_ORDERS) {
  Deno.test(`moments of order ${order}: the sum is 0, Σ c_k k² = 1, higher even ones vanish`, () => {
    const { centre, sides } = secondDerivative(order);
    const moment = (power: number): number => sides.reduce((sum, c, i) => sum + c * (i + 1) ** power, 0);
    assertAlmostEquals(centre + 2 * moment(0), 0, 1e-14);
    assertAlmostEquals(moment(2), 1, 1e-13);
    for (let m = 2; m <= order / 2; m++) assertAlmostEquals(moment(2 * m) / (order / 2) ** (2 * m), 0, 1e-12);
  });

  Deno.test(`stability limit of order ${order}: the fastest mode is just at its end`, () => {
    // The checkerboard, θ = π along every axis, makes every term of G positive
    const { centre, sides } = secondDerivative(order);
    const g = -(centre + 2 * sides.reduce((sum, c, i) => sum + c * Math.cos((i + 1) * Math.PI), 0));
    assertAlmostEquals(1 - 0.5 * stabilityLimit(order) ** 2 * 3 * g, -1, 1e-12);
  });

  Deno.test(`the plane wave of order ${order} satisfies the update exactly`, () => {
    const stencil = wave(order, { courant: 0.6 * stabilityLimit(order) });
    const exact = stencil.planeWave!([9, 10, 11], [1, -2, 3]);
    for (const [x, y, z] of [[0, 0, 0], [3, 4, 5], [8, 9, 10]] as const) {
      for (const step of [0, 1, 17]) {
        const next = fold<number>(onlyExpression(stencil.update)!, {
          ...NUMBERS,
          tap: ({ offset, ago }) => exact.at([x + offset[0], y + offset[1], z + offset[2]], step - ago),
        });
        assertAlmostEquals(next, exact.at([x, y, z], step + 1), 1e-12);
      }
    }
  });
}

Deno.test("rounded weights are numbers of f32, conserve exactly, and stay close to the given ones", () => {
  const order = fc.constantFrom(...WAVE_ORDERS), scale = fc.double({ min: 1e-3, max: 0.3, noNaN: true });
  fc.assert(
    fc.property(
      order,
      scale,
      fc.constantFrom(0, 1, 2),
      fc.constantFrom(2, 6),
      (order, scale, total, count) => {
        const given = secondDerivative(order).sides.map((side) => scale * side);
        const { centre, sides } = conservingWeights(total, given, count);
        for (const weight of [centre, ...sides]) assertEquals(weight, Math.fround(weight));
        assertEquals(count * sides.reduce((sum, side) => sum + side), total - centre);
        sides.forEach((side, k) =>
          assertAlmostEquals(side, given[k]!, 2 ** -24 * Math.max(1, Math.abs(centre)))
        );
      },
    ),
    { seed: 20261122, numRuns: 2000 },
  );
});

Deno.test("a plane wave of higher order is closer to the continuous wave", () => {
  const phase = 2 * Math.PI / 8;
  const errors = WAVE_ORDERS.map((order) => {
    return Math.abs(Math.sqrt(-symbolAt(secondDerivative(order), phase)) / phase - 1);
  });
  for (let i = 1; i < 5; i++) assert(errors[i]! < errors[i - 1]! / 3, `${errors}`);
});

Deno.test("other orders and Courant numbers beyond the limit are refused, naming both", () => {
  for (const order of [0, 1, 3, 16, NaN]) {
    assertThrows(() => wave(order), RangeError, `2, 4, 6, 8, 10, 12, 14: current value is ${order}`);
  }
  const limit = stabilityLimit(2);
  assertAlmostEquals(limit, 1 / Math.sqrt(3), 1e-15);
  assertEquals(wave(2, { courant: limit }).variant, { order: 2 });
  for (const courant of [limit * (1 + 1e-12), 0, -0.1, NaN]) {
    assertThrows(
      () => wave(2, { courant }),
      RangeError,
      `0.577350, the stability limit of order 2: current value is`,
    );
  }
});
