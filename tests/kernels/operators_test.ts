/**
 * Operators: polynomials up to the order are derived exactly, those of the next degree are not; built-in equations written
 * with them are what they were.
 *
 * @module
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { digestOf, hashOf } from "../../kernels/definition.ts";
import { equation, type FieldTap, type MaterialTap } from "../../kernels/equation.ts";
import { fold, NUMBERS } from "../../kernels/expression.ts";
import { add, divide, multiply, subtract, type Value } from "../../kernels/operations.ts";
import { curl, derivative, divergence, gradient, laplacian } from "../../kernels/operators.ts";
import { axesOf, type Dimensions } from "../../kernels/stencils/stencil.ts";
import { fourierLimit, heat } from "../../kernels/stencils/heat.ts";
import { stabilityLimit, wave } from "../../kernels/stencils/wave.ts";
import { reachOf, tapsOf, updateOf } from "../../kernels/update.ts";

type Planes = Readonly<Record<"u" | "v" | "w", FieldTap> & Record<"c", MaterialTap>>;
type Place = readonly number[];

/** What becomes of an expression in a step. */
function written(dimensions: Dimensions, write: (planes: Planes) => Value) {
  const { update } = equation({
    name: "written",
    dimensions,
    fields: { u: [0, 1], v: [0, 1], w: [0, 1] },
    materials: { c: [0, 1] },
    step: (planes) => ({ u: write(planes), v: planes.v, w: planes.w }),
  });
  return update.substeps[0]![0]!.value;
}

/** Cells along the axes. */
const SPACING = [0.5, 0.25, 2] as const;

/** Its value in f64, in the cell at the origin, of planes u, v, w and c that are functions of the place. */
function valueOf(
  dimensions: Dimensions,
  write: (planes: Planes) => Value,
  ...planes: ((place: Place) => number)[]
): number {
  return fold(written(dimensions, write), {
    ...NUMBERS,
    tap: ({ plane, offset }) => planes[plane]!(placeOf(dimensions, offset)),
  });
}

/** The sum of the sizes of its parts. */
function sizeOf(
  dimensions: Dimensions,
  write: (planes: Planes) => Value,
  u: (place: Place) => number,
): number {
  return fold(written(dimensions, write), {
    ...NUMBERS,
    tap: ({ offset }) => Math.abs(u(placeOf(dimensions, offset))),
    constant: Math.abs,
    subtract: NUMBERS.add,
  });
}

function placeOf(dimensions: Dimensions, offset: Place): Place {
  return axesOf({ dimensions }).map((axis, i) => offset[axis]! * SPACING[i]!);
}

/** x^a y^b z^c about a place that is no cell, with its size there. */
const AWAY = [0.7, -0.4, 1.1];
const monomial = (...powers: number[]) => (place: Place): number =>
  powers.reduce((all, power, i) => all * (place[i]! - AWAY[i]!) ** power, 1);

/** Its derivative of a degree along an axis, at a place. */
function derived(powers: readonly number[], axis: number, degree: number, place: Place): number {
  let factor = 1;
  for (let i = 0; i < degree; i++) factor *= powers[axis]! - i;
  return factor === 0 ? 0 : factor * monomial(...powers.with(axis, powers[axis]! - degree))(place);
}

/** Weights are rounded to f32; `size` is that of what they weigh. */
function assertClose(found: number, wanted: number, what: string, size = 40): void {
  assert(Math.abs(found - wanted) <= 1e-6 * size, `${what}: ${found}, not ${wanted}, of ${size}`);
}

Deno.test("derivatives of degree 1 to 4 are exact to their order, on all sides, staggered or not, and no further", () => {
  const sides = [{}, { side: "forward" }, { side: "backward" }, { stagger: "forward" }, {
    stagger: "backward",
  }] as const;
  const at = { x: 0, y: 1, z: 2 } as const;
  for (const dimensions of [1, 2, 3] as const) {
    const spacing = SPACING.slice(0, dimensions);
    for (const axis of ["x", "y", "z"].slice(0, dimensions) as ("x" | "y" | "z")[]) {
      for (const way of sides) {
        for (const degree of [1, 2, 3, 4]) {
          for (const order of "side" in way ? [1, 3] : [2, 6]) {
            const what = `${degree} ${axis} of ${order}, ${JSON.stringify(way)} in ${dimensions}`;
            const half = "stagger" in way ? (way.stagger === "forward" ? 0.5 : -0.5) * spacing[at[axis]]! : 0;
            const place = [0, 0, 0].with(at[axis], half);
            const errorOf = (power: number): [found: number, wanted: number, what: string, size: number] => {
              const powers = [1, 1, 1].slice(0, dimensions).with(at[axis], power);
              const options = { ...way, degree, order, spacing };
              const write = ({ u }: Planes) => derivative(u, axis, options), u = monomial(...powers);
              const wanted = derived(powers, at[axis], degree, place), size = sizeOf(dimensions, write, u);
              return [valueOf(dimensions, write, u), wanted, `${what}, power ${power}`, size];
            };
            for (let power = 0; power < degree + order; power++) {
              assertClose(...errorOf(power));
            }
            // a symmetric scheme may be of a higher order, of an even degree between cells
            const least = "stagger" in way && degree % 2 === 0 ? degree + order + 1 : degree + order;
            const errors = [least, least + 1].map((power) => {
              const [found, wanted] = errorOf(power);
              return Math.abs(found - wanted);
            });
            assert(Math.max(...errors) > 1e-3, `${what}: more than its order`);
          }
        }
      }
    }
  }
});

Deno.test("laplacian, gradient, divergence and curl are sums of derivatives; a coefficient lies on faces", () => {
  const powers = [[2, 1, 2], [1, 2, 1], [2, 2, 1]];
  for (const dimensions of [2, 3] as const) {
    const options = { spacing: SPACING.slice(0, dimensions), order: 4 };
    const own = powers.map((one) => one.map((power, axis) => axis < dimensions ? power : 0));
    const given = own.map((one) => monomial(...one));
    const value = (write: (planes: Planes) => Value): number => valueOf(dimensions, write, ...given);
    const slope = (i: number, axis: number, degree = 1) => derived(own[i]!, axis, degree, [0, 0, 0]);
    const axes = [0, 1, 2].slice(0, dimensions);
    const laplace = axes.reduce((sum, axis) => sum + slope(0, axis, 2), 0);
    assertClose(value(({ u }) => laplacian(u, options)), laplace, "laplacian");
    const list = ({ u, v, w }: Planes): FieldTap[] => [u, v, w].slice(0, dimensions);
    axes.forEach((axis) =>
      assertClose(value(({ u }) => gradient(u, options)[axis]!), slope(0, axis), "gradient")
    );
    const spread = axes.reduce((sum, axis) => sum + slope(axis, axis), 0);
    assertClose(value((planes) => divergence(list(planes), options)), spread, "divergence");
    const turns = dimensions === 2 ? [[0, 1]] as const : [[1, 2], [2, 0], [0, 1]] as const;
    turns.forEach(([a, b], i) =>
      assertClose(value((planes) => curl(list(planes), options)[i]!), slope(b, a) - slope(a, b), "curl")
    );
    // ∇·(c∇u) = cΔu + ∇c·∇u, and the same from fluxes on faces, written out
    const linear = (place: Place): number =>
      3 + axes.reduce((sum, axis) => sum + (axis + 1) * place[axis]!, 0);
    const square = (place: Place): number => axes.reduce((sum, axis) => sum + (place[axis]! - 1) ** 2, 0);
    const wanted = 3 * 2 * dimensions + axes.reduce((sum, axis) => sum + (axis + 1) * -2, 0);
    const of = (write: (planes: Planes) => Value): number =>
      valueOf(dimensions, write, square, square, square, linear);
    const spacing = options.spacing;
    assertClose(of(({ u, c }) => laplacian(u, { spacing, coefficient: c })), wanted, "with a coefficient");
    const faces = { spacing, stagger: "forward" } as const;
    const fluxes = ({ u, c }: Planes): Value[] =>
      gradient(u, faces).map((slope, i) => {
        const next = c.at(...axes.map((axis) => axis === i ? 1 : 0));
        return multiply(0.5, add(c, next), slope);
      });
    const onFaces = of((planes) => divergence(fluxes(planes), { spacing, stagger: "backward" }));
    assertClose(onFaces, wanted, "divergence of a flux");
  }
});

Deno.test("what is added to operators is collected: each value is read and weighed once, and totals are kept", () => {
  const sumOf = (write: (planes: Planes) => Value, dimensions: Dimensions = 3): number =>
    valueOf(dimensions, write, () => 1, () => 0, () => 0, () => 1);
  const spacing = [0.3, 0.7, 1.1];
  const rates: ((planes: Planes) => Value)[] = [
    ({ u }) => add(u, multiply(0.01, laplacian(u, { order: 8, spacing }))),
    ({ u, v }) => add(u, multiply(u, v, v), multiply(0.013, laplacian(u, { spacing }))),
    ({ u }) => subtract(u, divide(derivative(u, "x", { side: "backward", spacing: 3 }), 7)),
    ({ u }) =>
      add(
        multiply(0.013, laplacian(u, { order: 4 })),
        multiply(-0.1, derivative(u, "y", { side: "forward", order: 3, spacing: 0.9 })),
        u,
      ),
    ({ u }) => subtract(u, multiply(0.001, laplacian(laplacian(u, { spacing }), { spacing }))),
    ({ u, c }) => add(u, multiply(0.01, laplacian(u, { order: 4, spacing, coefficient: c }))),
  ];
  for (const rate of rates) assertEquals(sumOf(rate), 1, `${rate}`);
  const biharmonic = written(3, ({ u }) => laplacian(laplacian(u)));
  assertEquals([tapsOf(updateOf(biharmonic)).length, reachOf(updateOf(biharmonic)).x], [25, 2]);
  // of an expression the same, which kernels may keep as a partial sum
  const square = (place: Place): number => place[0]! + 2;
  const ofSquare = valueOf(2, ({ u }) => laplacian(multiply(u, u), { spacing: [0.5, 0.25] }), square);
  assertClose(ofSquare, 2, "Δu² = 2|∇u|² of a plane");
});

Deno.test("wave and heat, written with the Laplacian, have the hashes that they had before", () => {
  const parts = [1, 0.9, 0.5, 0.123];
  const hashes = ([2, 3] as const).flatMap((dimensions) => [
    ...[2, 4, 6, 8, 10, 12, 14].flatMap((order) =>
      parts.map((part) => wave(order, { courant: part * stabilityLimit(order, dimensions), dimensions }))
    ),
    ...[1, 2, 3, 4].flatMap((delta) =>
      parts.map((part) => heat(delta, { fourier: part * fourierLimit(delta, dimensions), dimensions }))
    ),
  ]).map(({ update }) => hashOf(update));
  assertEquals(hashes[0], "c1789defaf4f82dc");
  assertEquals(digestOf(hashes.join(" ")), "fb8b8d253902255c");
});

Deno.test("operators refuse what makes no sense, and where they do not belong", () => {
  const refused: readonly (readonly [(planes: Planes) => Value, string])[] = [
    [({ u }) => laplacian(u, { order: 3 }), "an even order from 2 to 14 is wanted: found 3"],
    [({ u }) => derivative(u, "z"), 'one of the axes x, y is wanted: found "z"'],
    [({ u }) => derivative(u, "x", { degree: 5 }), "a degree from 1 to 4 is wanted: found 5"],
    [({ u }) => derivative(u, "x", { side: "left" as never }), "a side, forward or backward, is wanted"],
    [({ u }) => derivative(u, "x", { side: "forward", stagger: "forward" }), "either a side or a stagger"],
    [
      ({ u }) => laplacian(u, { spacing: [1, 1, 1] }),
      "a spacing above 0, or one for each of 2 axes, is wanted",
    ],
    [({ u }) => laplacian(u, { spacing: 0 }), "a spacing above 0"],
    [({ u }) => divergence([u]), "a list of 2 components is wanted: found 1"],
    [({ u }) => laplacian(u, { ordre: 2 } as never), "ordre"],
  ];
  for (const [write, message] of refused) assertThrows(() => written(2, write), Error, message);
  assertThrows(() => written(1, ({ u }) => curl([u])[0]!), RangeError, "two or three dimensions");
  assertThrows(() => laplacian(1), RangeError, "operators are used in an equation's step");
});
