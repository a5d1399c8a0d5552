/**
 * Torres of equations with materials, in both forms: read again at every tier, and held in registers.
 *
 * @module
 */
import { assertAlmostEquals, assertEquals, assertGreater, assertLess } from "@std/assert";
import { refusalOf } from "../../../../kernels/capability.ts";
import { equation } from "../../../../kernels/equation.ts";
import type { Expression } from "../../../../kernels/expression.ts";
import { add, multiply, shifted, subtract } from "../../../../kernels/operations.ts";
import type { Grid, Problem, Stencil } from "../../../../kernels/stencils/stencil.ts";
import { wave } from "../../../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../../../kernels/traversals/torre/diamond_torre.ts";
import { registersOf } from "../../../../models/roofline.ts";
import { H100_LIMITS } from "../../../h100_limits.ts";
import { inTorres, type Row, rowsIn, testRows } from "../../oracle_case.ts";
import { clamped, packed, SIGNS, wholeNumberMedium } from "../../whole_numbers.ts";
import { SMALL_TORRE } from "../../small_torre.ts";

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
    return { p: clamped(8, subtract(multiply(v, all), p.before())) };
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
    p: clamped(
      8,
      p,
      multiply(m.at(-1, 0, 1), subtract(p.at(1, 0, 0), p.at(0, 0, -1))),
      multiply(m.at(1, 1, -2), p.at(0, -1, 0)),
    ),
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
    return { p: clamped(8, subtract(add(multiply(m, sides), shifted(scaled, 0, -1, 0)), p.before())) };
  },
});

/** How a torre gets the values of materials. */
type Form = Readonly<Record<"packed" | "held", number>>;

const AGAIN: Form = { packed: 0, held: 0 }, HELD: Form = { packed: 0, held: 1 };
const PACKED: Form = { packed: 1, held: 0 }, PACKED_AND_HELD: Form = { packed: 1, held: 1 };

/** Each row with each form of its materials. */
function forms(materials: readonly Form[], rows: readonly Row[]): Row[] {
  return rows.flatMap(([stencil, grid, { traversal, parameters }, ...rest]) =>
    materials.map((
      form,
    ): Row => [stencil, grid, { traversal, parameters: { ...parameters, ...form } }, ...rest])
  );
}

const PLAIN = forms(
  [AGAIN, HELD],
  rowsIn(inTorres, [
    [wholeNumberMedium(1), [1, 1, 1], [1, 2, 1, 1, 1, 2, 1, 99], [1, 2, 3]],
    [wholeNumberMedium(1), [7, 13, 9], [2, 4, 1, 2, 5, 2, 1, 99], [9, 4]],
    [wholeNumberMedium(1), [41, 3, 5], [1, 4, 4, 1, 32, 2, 1, 100], [17, 2]], // Ny < W; a tier is loaded during the one before
    [wholeNumberMedium(1), [13, 12, 9], [2, 8, 1, 4, 3, 2, 2, 101], [8, 3]], // values rest in workgroup memory
    [wholeNumberMedium(1), [11, 7, 6], [1, 8, 2, 2, 3, 2, 4, 99], [9, 8]],
    [wholeNumberMedium(2), [23, 9, 5], [1, 4, 2, 1, 5, 4, 1, 99], [9]],
    [wholeNumberMedium(2), [5, 11, 7], [1, 4, 1, 2, 4, 2, 2, 101], [5]],
    [density, [9, 11, 13], [2, 4, 1, 1, 13, 4, 1, 99], [5, 4]],
    [density, [19, 5, 7], [1, 4, 2, 2, 4, 2, 2, 99], [9]],
    [density, [9, 7, 9], [1, 4, 1, 4, 3, 2, 1, 99], [7]],
    [aside, [17, 7, 5], [1, 4, 2, 2, 3, 2, 1, 99], [9]],
    [aside, [9, 5, 7], [1, 4, 1, 1, 7, 4, 2, 99], [5, 4]],
    [sums, [11, 7, 9], [1, 4, 1, 2, 5, 4, 1, 1], [5, 4]],
    [sums, [17, 5, 6], [1, 4, 2, 1, 6, 8, 2, 0], [9]],
  ]),
);

/** One material packed, the other not. */
const half = {
  ...density,
  title: "two materials, the second packed",
  update: {
    ...density.update,
    materials: density.update.materials.with(1, packed(density, -1, 3).update.materials[1]!),
  },
};

const PACKED_TOO = forms(
  [PACKED, PACKED_AND_HELD],
  rowsIn(inTorres, [
    [packed(wholeNumberMedium(1), -2, 2), [7, 13, 9], [2, 4, 1, 2, 5, 2, 1, 99], [9, 4]],
    [packed(wholeNumberMedium(1), 1, 2), [13, 12, 9], [2, 8, 1, 4, 3, 2, 2, 101], [8, 1]], // a step has no torre
    [packed(wholeNumberMedium(1), -2, 2), [41, 3, 5], [1, 4, 4, 2, 3, 2, 1, 99], [17, 2]],
    [packed(wholeNumberMedium(2), -2, 2), [5, 11, 7], [1, 4, 1, 2, 32, 2, 2, 101], [5]],
    // neighbours beyond the grid are 0, which is not among the values
    [packed(density, 1, 2), [9, 11, 13], [2, 4, 1, 2, 7, 4, 1, 99], [5, 4]],
    [packed(aside, -2, -1), [17, 7, 5], [1, 4, 2, 2, 3, 2, 1, 99], [9]],
    [packed(aside, 1, 2), [9, 5, 7], [1, 4, 1, 4, 2, 4, 2, 99], [5, 4]],
    [half, [9, 7, 9], [1, 4, 1, 4, 3, 2, 1, 99], [7]],
    [packed(sums, -2, 2), [11, 7, 9], [1, 4, 1, 2, 5, 4, 1, 1], [5, 4]],
  ]),
);

// the forms by turns, each with half of the rows; both of every row in thorough runs
for (const [i, row] of [...PLAIN, ...PACKED_TOO].entries()) {
  testRows([row], { isSlow: i % 4 !== 0 && i % 4 !== 3 });
}

const GRID: Grid = [64, 40, 36];
const TORRE = { ...SMALL_TORRE, dts: 2, nt: 16, zPerThread: 2, threads: 18, chunk: 4, unroll: 1 };

function problemOf(stencil: Stencil): Problem {
  return { stencil, grid: GRID, boundary: "zero", steps: 32 };
}

Deno.test("equations with materials have both forms to try, packed ones packed too, others have no such parameter", () => {
  const formsOf = (stencil: Stencil) => {
    const { packed, held } = diamondTorre.parameterLists(problemOf(stencil), H100_LIMITS);
    return [packed, held];
  };
  assertEquals(formsOf(wholeNumberMedium(1)), [[0], [0, 1]]);
  assertEquals(formsOf(half), [[0, 1], [0, 1]]);
  assertEquals(formsOf(wave(2)), [undefined, undefined]);
});

Deno.test("materials are read packed where the equation's are, two z a thread share words, and a level is whole", () => {
  const medium = wholeNumberMedium(1), limits = H100_LIMITS;
  const whyNot = (stencil: Stencil, given: object = {}, within = limits): string | undefined =>
    diamondTorre.infeasible(problemOf(stencil), { ...TORRE, ...PACKED, ...given }, within)?.message;
  const level = 4 * diamondTorre.plan(problemOf(half), { ...TORRE, ...PACKED }).storage.layout.length;
  assertEquals(whyNot(half), undefined);
  assertEquals(whyNot(medium), "packed 1: a packed material of f32 and two z a thread or more are wanted");
  assertEquals(
    whyNot(half, { zPerThread: 1, threads: 36, held: 1 }),
    "packed 1: a packed material of f32 and two z a thread or more are wanted",
  );
  const pieces = "packed 1: a level in one buffer is wanted";
  assertEquals(whyNot(half, {}, { ...limits, maxStorageBufferBindingSize: level }), undefined);
  assertEquals(whyNot(half, {}, { ...limits, maxStorageBufferBindingSize: level - 4 }), pieces);
  assertEquals(whyNot(half, {}, { ...limits, windowBytes: 4 * level }), pieces);
});

Deno.test("packed materials count half of the traffic and of the registers, and what it takes to unpack them", () => {
  const medium = packed(wholeNumberMedium(1), -2, 2);
  const demandOf = (stencil: Stencil, form: Form) =>
    diamondTorre.demand(problemOf(stencil), { ...TORRE, ...form });
  const without = demandOf(wave(2), AGAIN);
  for (const form of [AGAIN, HELD]) {
    const plain = demandOf(medium, form), halved = demandOf(medium, { ...form, packed: 1 });
    const more = (one: typeof plain, of: (demand: typeof plain) => number) => of(one) - of(without);
    const sizes = [
      (demand: typeof plain) => demand.bytesPerUpdate,
      (demand: typeof plain) => demand.rounds.nearBytes,
      (demand: typeof plain) => demand.rounds.rows,
      ({ registers }: typeof plain) => registers.plain!,
    ];
    for (const of of sizes) assertAlmostEquals(more(halved, of), more(plain, of) / 2);
    // three operations for each of a thread's two values of the tile's 8 cells; a word moves like a value
    const moves = form === HELD ? 8 : 0;
    assertEquals(halved.rounds.instructions - plain.rounds.instructions, 3 * 2 * 8 - moves);
  }
  // of two materials one
  const bytes = [density, half, packed(density, -1, 3)].map((one) => demandOf(one, PACKED).bytesPerUpdate);
  assertAlmostEquals(bytes[0]! - bytes[1]!, bytes[1]! - bytes[2]!, 1.2);
  assertGreater(bytes[0]! - bytes[1]!, 0.5);
});

/** Loads of materials in the loop of a torre's kernel. */
function loadsIn(stencil: Stencil, form: Form): number {
  const [{ code } = { code: "" }] = diamondTorre.plan(problemOf(stencil), { ...TORRE, ...form }).shaders;
  return code.slice(code.indexOf("for (var tier = 0;")).match(/= now\[.*PLANE_T/g)?.length ?? 0;
}

Deno.test("the demand counts what either form loads, and what of it the device's memory has", () => {
  const demandOf = (stencil: Stencil, form: Form) =>
    diamondTorre.demand(problemOf(stencil), { ...TORRE, ...form });
  // a tile of order 2 and DTS 2 has 8 cells; with each tier 3.5 rows enter, 3 or 4 by where its corner lies
  const cells = 8, entering = 3;
  const medium = wholeNumberMedium(1), again = demandOf(medium, AGAIN), held = demandOf(medium, HELD);
  assertEquals([loadsIn(medium, AGAIN), loadsIn(medium, HELD)], [cells, entering]);
  assertEquals(again.bytesPerUpdate, held.bytesPerUpdate);
  const materials = again.bytesPerUpdate - demandOf(wave(2), AGAIN).bytesPerUpdate;
  assertGreater(materials, 4 * entering / cells);
  assertLess(materials, 4 * (entering + 1) / cells);
  const saved = again.rounds.nearBytes - held.rounds.nearBytes;
  assertEquals(Math.round(saved * cells / 4), cells - entering);
  assertGreater(registersOf(held), registersOf(again) - 1);
  // each of two materials counts, also where only a neighbour's is read
  assertEquals(loadsIn(aside, AGAIN) > 2 * loadsIn(medium, AGAIN), true);
  assertGreater(demandOf(density, AGAIN).bytesPerUpdate, again.bytesPerUpdate);
});

Deno.test("a sum of a material that is taken elsewhere is no sum of a column", () => {
  const slanted = equation({
    name: "slanted",
    fields: { p: [-1, 1] },
    materials: { m: [0, 1] },
    step: ({ p, m }) => ({ p: shifted(multiply(m, add(p.at(0, 0, 1), p.at(0, 0, -1))), 1, 0, 0) }),
  });
  assertEquals(refusalOf(diamondTorre, problemOf(slanted))?.kind, "diagonal-taps");
  assertEquals(refusalOf(diamondTorre, problemOf(sums)), undefined);
});
