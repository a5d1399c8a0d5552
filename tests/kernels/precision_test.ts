import { assert, assertEquals, assertLess, assertNotEquals } from "@std/assert";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { type Expression, fold, TREE } from "../../kernels/expression.ts";
import { inPrecision, plannedProblem } from "../../kernels/planned_problem.ts";
import { precisionOf, PRECISIONS } from "../../kernels/precision.ts";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { stabilityLimit, wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { secondDerivative } from "../../kernels/weights.ts";
import { runReference } from "../../kernels/reference.ts";

/** The constants of an expression, in order of appearance. */
function constantsIn(expression: Expression): number[] {
  const found: number[] = [];
  fold<Expression>(expression, {
    ...TREE,
    constant(value) {
      found.push(value);
      return { kind: "constant", value };
    },
  });
  return found;
}

Deno.test("weights of f64 are the given ones to 50 bits, and keep constants", () => {
  for (const order of WAVE_ORDERS) {
    const stencil = inPrecision(wave(order), "f64"), { update } = stencil;
    const square = (0.9 * stabilityLimit(order)) ** 2, wanted = secondDerivative(order).sides;
    const found = constantsIn(update.substeps[0]![0]!.value);
    for (const side of wanted) {
      const error = Math.min(...found.map((one) => Math.abs(one / (side * square) - 1)));
      assertLess(error, 2 ** -46, `order ${order}`);
    }
    const ones = new Float64Array(8).fill(0.7),
      run = { update, grid: [2, 2, 2], boundary: "periodic" } as const;
    const { current } = runReference({ current: ones, previous: ones }, { ...run, steps: 100 });
    assert(current.every((value) => Math.abs(value - 0.7) < 1e-12), `${current[0]}`);
  }
});

Deno.test("f64 is part of what an equation computes: its hash and its definition say so, f32's stay", () => {
  for (const equation of EQUATIONS) {
    const stencil = equation.create(equation.variant?.default), precise = inPrecision(stencil, "f64");
    assertEquals("precision" in definitionOf(stencil), false);
    assertNotEquals(hashOf(precise.update), hashOf(stencil.update));
    const again = stencilOf(JSON.parse(JSON.stringify(definitionOf(precise))));
    assertEquals(hashOf(again.update), hashOf(precise.update));
    assertEquals(precisionOf(again.update), PRECISIONS.f64);
    assertEquals(inPrecision(again, "f64"), again);
  }
  const problem = { stencil: heat(1), grid: [4, 4, 4], boundary: "zero" } as const;
  assertEquals(plannedProblem(problem).stencil, problem.stencil);
  const planned = plannedProblem({ ...problem, precision: "f64" });
  assertEquals(plannedProblem(planned).stencil, planned.stencil);
});

Deno.test("a precision holds what its numbers say", () => {
  for (
    const { Values, bytes, round, most, unit, literal, npy, lanes, bits: [mantissa] } of Object.values(
      PRECISIONS,
    )
  ) {
    const held = (value: number) => Values.from([value])[0]!;
    assertEquals([held(most), held(1 + 2 * unit), held(1 + unit)], [most, 1 + 2 * unit, 1]);
    assert(round(most * (1 + unit)) === Infinity || most * (1 + unit) === most);
    assertEquals([lanes * bytes, npy, 2 ** (-1 - mantissa)], [16, `<f${bytes}`, unit]);
    for (const value of [1, -3, 0.1, 1e-7, 1 / 3, 1e20]) {
      assertEquals(round(Number(literal(value).replace(/l?f$/, ""))), round(value));
    }
  }
});
