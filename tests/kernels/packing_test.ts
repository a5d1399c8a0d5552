import { assert, assertEquals, assertLess, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { along, equation, type MaterialSource, type PackedMaterial } from "../../kernels/equation.ts";
import { add, multiply } from "../../kernels/operations.ts";
import { packingOf } from "../../kernels/packing.ts";
import type { Stencil } from "../../kernels/stencils/stencil.ts";
import type { ValueRange } from "../../kernels/update.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import "../own_thread.ts";

const RANGES: readonly ValueRange[] = [
  [1500, 4500],
  [0, 1],
  [-1, 1],
  [-7.3, -0.1],
  [0.1, 0.30000001],
  [999.99, 1000.01],
  [2000, 2000],
  [0, 0],
  [-3e-33, 5e-33],
  [-(2 ** 100), 2 ** 99],
];

const fround = Math.fround;

for (const range of RANGES) {
  Deno.test(`values packed from ${range[0]} to ${range[1]} come back exactly from 16 bits, in f32`, () => {
    const { unit, least, most, nearest } = packingOf(range), [lowest, highest] = range.map(fround);
    assert(most - least <= 65_534 && Math.log2(unit) % 1 === 0);
    if (highest! - lowest! > highest! / 100) assert(most - least >= 32_000);
    // as shaders unpack: each operation is exact, so that it makes no difference whether two are fused
    const offset = (least - 2 ** 23) * unit;
    assertEquals(fround(offset), offset);
    for (const number of [0, 1, 2, 3, 1000, 4097, 32_767, 32_768, 65_533, 65_534]) {
      if (number > most - least) continue;
      const scaled = (2 ** 23 + number) * unit, value = (least + number) * unit;
      for (const exact of [scaled, value, scaled + offset]) assertEquals(fround(exact), exact);
      assertEquals(scaled + offset, value);
      assertEquals(nearest(value), value + 0);
      // as a shader packs
      assertEquals(Math.floor(fround(fround(value - least * unit) * (1 / unit) + 0.5)), number);
    }
  });
}

Deno.test("values are rounded to the nearest one within the range, and none is beyond it", () => {
  const { unit, nearest } = packingOf([1500, 4500]);
  assertEquals(unit, 1 / 16);
  assertEquals([1500, 1500.03, 1500.04, 4500].map(nearest), [1500, 1500, 1500.0625, 4500]);
  assertEquals([1499.99, 4500.01, NaN, Infinity].map(nearest), Array(4).fill(undefined));
  // the ends lie between two values
  const odd = packingOf([0.1, 0.3]);
  const [low, high] = [0.1, 0.3].map((end) => odd.nearest(fround(end))!);
  assert(low! >= fround(0.1) && high! <= fround(0.3));
  assertLess(low! - 0.1, odd.unit);
  assertEquals([low!, high!].map(odd.nearest), [low, high]);
});

const made = (m: MaterialSource): Stencil => {
  return equation({
    name: "still",
    fields: { u: [0, 1] },
    materials: { m },
    step: ({ u, m }) => ({ u: add(u, m) }),
  });
};

Deno.test("an equation's packed materials have values of 16 bits, in its definition and its hash", () => {
  const packed: ValueRange = [0.1, 0.3], { nearest } = packingOf(packed);
  const ramp = made({ packed, of: (x) => add(0.1, multiply(0.2, x)) });
  for (const stencil of [made({ packed }), made({ packed, of: { values: [0.1, 0.27] } }), ramp]) {
    const [material] = stencil.update.materials;
    assertEquals(material!.values.map(nearest), [...material!.values]);
    const again = stencilOf(JSON.parse(JSON.stringify(definitionOf(stencil))));
    assertEquals(again.update, stencil.update);
    assertEquals(hashOf(again.update), hashOf(stencil.update));
  }
  const whole = (packed?: ValueRange) => {
    const of = { values: [1, 2] };
    return hashOf(made(packed ? { packed, of } : of).update);
  };
  assertEquals(new Set([whole(), whole([0, 2]), whole([0, 3])]).size, 3);
  assertNotEquals(ramp.update.materials[0]!.formula, undefined);
});

Deno.test("packed materials that make no sense are refused", () => {
  const cases: [PackedMaterial | { packed: unknown }, string][] = [
    [{ packed: [2, 1] }, "material m: the lowest and the highest value are wanted: found [2, 1]"],
    [{ packed: true }, "material m: the lowest and the highest value are wanted: found true"],
    [{ packed: [0, 2 ** 101] }, "material m: cells with 16 bits between two values are wanted"],
    [{ packed: [1500.3, 1500.3] }, "material m: cells with 16 bits between two values are wanted"],
    [
      { packed: [1, 2], of: { values: [1, 3] } },
      "material m: values from 1 to 2 are wanted: found 3",
    ],
    [{ packed: [1, 2], of: "m" as unknown as ValueRange }, "one to eight values, or a function"],
  ];
  for (const [source, message] of cases) {
    assertThrows(() => made(source as PackedMaterial), RangeError, message);
  }
  const profile = along("x", { packed: [1, 2] } as unknown as ValueRange);
  assertThrows(
    () => made(profile),
    RangeError,
    "material m: cells with 16 bits between two values are wanted",
  );
  const data = definitionOf(made({ packed: [1, 2] }));
  const materials = [{ ...data.materials[0]!, values: Array(8).fill(fround(1.00001)) }];
  assertThrows(
    () => stencilOf({ ...data, materials }),
    RangeError,
    "material m: values from 1 to 2 are wanted: found 1.0000",
  );
});

Deno.test("a solver rounds what is written into a packed material, and refuses what lies beyond", async () => {
  const stencil = made({ packed: [1, 2], of: (x) => add(1, x) }), grid = [3, 2, 2] as const;
  const share = { cpuSlices: 3, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  await using solver = await createSolver(null, { stencil, grid, boundary: "zero", steps: 1 }, {
    traversal: "stepwise",
    parameters: {},
    share,
  });
  const { unit } = packingOf([1, 2]), nearest = (value: number) => Math.round(value / unit) * unit;
  const cells = (of: (x: number) => number) => Float32Array.from({ length: 12 }, (_, i) => of(i >> 2));
  assertEquals(await solver.read("m"), cells((x) => nearest(1 + (x + 0.5) / 3)));
  await solver.write("m", (x) => 1 + x / 7);
  assertEquals(await solver.read("m"), cells((x) => nearest(1 + x / 7)));
  await solver.write("m", Float32Array.of(1.1, 1.2, 1.3, 2), { x: 1, slices: 1 });
  assertEquals(
    await solver.read("m", { x: 1, slices: 1 }),
    Float32Array.of(...[1.1, 1.2, 1.3, 2].map(nearest)),
  );
  await solver.write("m", 1.7);
  const before = await solver.read("m");
  assertEquals(before, cells(() => nearest(1.7)));
  const beyond = [2.1, [...Array(11).fill(1), 0.9], (x: number) => x < 2 ? 1 : NaN];
  for (const [i, value] of ["2.1", "0.9", "NaN"].entries()) {
    const message = `Cannot write m: values must lie from 1 to 2: found ${value}`;
    await assertRejects(async () => await solver.write("m", beyond[i]!), RangeError, message);
  }
  assertEquals((await solver.read("m")).slice(8), before.slice(8)); // of the last slice nothing was written
  await solver.write("u", 0.3); // a field is not packed
  await solver.run(1);
  assertEquals((await solver.read("u"))[11], fround(fround(0.3) + nearest(1.7)));
});
