/**
 * Torres of equations with materials, in both forms: read again at every tier, and held in registers.
 *
 * @module
 */
import { assertEquals, assertLess } from "@std/assert";
import { equation, type FieldTap } from "../../kernels/equation.ts";
import type { Expression } from "../../kernels/expression.ts";
import { add, maximum, minimum, multiply, shifted, subtract, type Value } from "../../kernels/operations.ts";
import type { Grid, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { diamondTorre } from "../../kernels/traversals/diamond_torre.ts";
import { AGAIN, HELD } from "../../kernels/traversals/torre_materials.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { assertExact, describeCase, type OracleCase } from "./oracle_case.ts";

/** Whole numbers that stay within −8 and 8, so that they are exact for any number of steps. */
function within(value: Value): Expression {
  return maximum(-8, minimum(8, value));
}

const SIGNS = { values: [1, -1, 0, 2, 1, -2, -1, 1] };

/** Neighbours along all axes, each with another weight. */
function star(p: FieldTap, reach: number): Expression {
  const weights = [1, -1, 2, -1, 1, -2];
  const terms = [-reach, reach].flatMap((by, side) =>
    [p.at(by, 0, 0), p.at(0, by, 0), p.at(0, 0, by)].map((one, axis) =>
      multiply(weights[3 * side + axis]!, one)
    )
  );
  return add(...terms as [Expression, ...Expression[]]);
}

/** A wave with a velocity of its own in each cell. */
function velocity(reach: number): Stencil {
  return equation({
    name: "velocity",
    title: `a material at the cell itself, reach ${reach}`,
    fields: { p: [-1, 1] },
    materials: { m: SIGNS },
    initialField: "integers",
    step: ({ p, m }) => ({
      p: within(
        subtract(multiply(m, reach === 1 ? star(p, 1) : add(star(p, 1), star(p, reach))), p.before()),
      ),
    }),
  });
}

/** One material at the cell, the other between it and each neighbour. */
const density = equation({
  name: "density",
  title: "two materials, one of them at neighbours",
  fields: { p: [-1, 1] },
  materials: { v: SIGNS, b: { values: [1, 0, 1, -1] } },
  initialField: "integers",
  step({ p, v, b }) {
    const flux = (x: number, y: number, z: number): Expression =>
      subtract(multiply(b, p.at(x, y, z)), multiply(b.at(-x, -y, -z), p.at(-x, -y, -z)));
    const all = add(flux(1, 0, 0), multiply(2, flux(0, 1, 0)), flux(0, 0, 1));
    return { p: within(subtract(multiply(v, all), p.before())) };
  },
});

/** Of t alone; the material further away than the field, and on a diagonal along z that the field could not have. */
const aside = equation({
  name: "aside",
  title: "a material aside of the cell only, one level",
  fields: { p: [-1, 1] },
  materials: { m: SIGNS },
  initialField: "integers",
  step: ({ p, m }) => ({
    p: within(add(p, multiply(m.at(-1, 0, 1), star(p, 1)), multiply(m.at(1, 1, -2), p.at(0, -1, 0)))),
  }),
});

/** Sums of columns, which a torre keeps, and of one with a material, which it does not. */
const sums = equation({
  name: "sums",
  title: "sums of columns, a material",
  fields: { p: [-1, 1] },
  materials: { m: SIGNS },
  initialField: "integers",
  step({ p, m }) {
    const column = add(p.at(0, 0, -1), multiply(-2, p), p.at(0, 0, 1));
    const sides = add(shifted(column, 1, 0, 0), shifted(column, -1, 0, 0), shifted(column, 0, 1, 0));
    const scaled = multiply(m, add(shifted(column, 0, 0, 0), multiply(3, p)));
    return { p: within(subtract(add(multiply(m, sides), shifted(scaled, 0, -1, 0)), p.before())) };
  },
});

type TorreRow = [
  stencil: Stencil,
  grid: Grid,
  values: [
    dts: number,
    nt: number,
    bands: number,
    zPerThread: number,
    threads: number,
    chunk: number,
    unroll: number,
    lookahead: number,
  ],
  runs: number[],
];

const CASES: readonly OracleCase[] = ([
  [velocity(1), [1, 1, 1], [1, 2, 1, 1, 1, 2, 1, 99], [1, 2, 3]],
  [velocity(1), [7, 13, 9], [2, 4, 1, 2, 5, 2, 1, 99], [9, 4]],
  [velocity(1), [41, 3, 5], [1, 4, 4, 1, 32, 2, 1, 100], [17, 2]], // Ny < W; a tier is loaded during the one before
  [velocity(1), [13, 12, 9], [2, 8, 1, 4, 3, 2, 2, 101], [8, 3]], // values rest in workgroup memory
  [velocity(1), [11, 7, 6], [1, 8, 2, 2, 3, 2, 4, 1], [9, 8]],
  [velocity(2), [23, 9, 5], [1, 4, 2, 1, 5, 4, 1, 99], [9]],
  [velocity(2), [5, 11, 7], [1, 4, 1, 2, 4, 2, 2, 0], [5]],
  [density, [9, 11, 13], [2, 4, 1, 1, 13, 4, 1, 99], [5, 4]],
  [density, [19, 5, 7], [1, 4, 2, 2, 4, 2, 2, 1], [9]],
  [density, [9, 7, 9], [1, 4, 1, 4, 3, 2, 1, 100], [7]],
  [aside, [17, 7, 5], [1, 4, 2, 2, 3, 2, 1, 99], [9]],
  [aside, [9, 5, 7], [1, 4, 1, 1, 7, 4, 2, 0], [5, 4]],
  [sums, [11, 7, 9], [1, 4, 1, 2, 5, 4, 1, 1], [5, 4]],
  [sums, [17, 5, 6], [1, 4, 2, 1, 6, 8, 2, 0], [9]],
] satisfies TorreRow[]).flatMap(([stencil, grid, values, runs]) => {
  const [dts, nt, bands, zPerThread, threads, chunk, unroll, lookahead] = values;
  return [AGAIN, HELD].map((materials) => ({
    traversal: diamondTorre,
    stencil,
    grid,
    parameters: { dts, nt, bands, zPerThread, threads, chunk, unroll, lookahead, materials },
    runs,
  }));
});

for (const one of CASES) {
  testOnGpu(`equals the oracle bit for bit: ${describeCase(one)}`, (gpu) => assertExact(gpu, one));
}
