import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { equation } from "../../kernels/equation.ts";
import { constant } from "../../kernels/expression.ts";
import { add, choose, greater, multiply, operate, sine, subtract } from "../../kernels/operations.ts";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import type { Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";

/** Everything that a definition can hold. */
const sound = (weight = 0.25, name = "p"): Stencil =>
  equation({
    name: "sound",
    fields: { v: [-1, 1], [name]: [0, 2] },
    materials: { bulk: [0.5, 1], source: (_x, y, z) => choose(greater(y, 0.5), multiply(y, z), 0) },
    signal: (step) => sine(multiply(0.1, step)),
    step: (planes, signal) => {
      const { v, bulk, source } = planes, p = planes[name]!;
      const pressure = subtract(
        add(p, multiply(weight, bulk, subtract(v!.next(-1), v!.next())), multiply(source!, signal)),
        p.before(),
      );
      return [{ v: subtract(v!, subtract(p.at(1), p)) }, { [name]: pressure }];
    },
  });

const throughJson = (stencil: Stencil): Stencil =>
  stencilOf(JSON.parse(JSON.stringify(definitionOf(stencil))));

/** The shaders, which tell whether two equations compute the same. */
const kernelsOf = (stencil: Stencil): string[] =>
  stepwise.plan({ stencil, grid: [8, 8, 8], boundary: "zero", steps: 4 }, {
    threadsZ: 8,
    threadsY: 1,
    threadsX: 1,
  })
    .shaders.map(({ code }) => code);

Deno.test("an equation made again from its definition has the same kernels, definition and hash", () => {
  for (const stencil of [sound(), ...EQUATIONS.map(({ variant, create }) => create(variant?.default))]) {
    const again = throughJson(stencil);
    assertEquals(kernelsOf(again), kernelsOf(stencil), stencil.name);
    assertEquals(definitionOf(again), definitionOf(stencil));
    assertEquals(hashOf(again.update), hashOf(stencil.update));
  }
});

Deno.test("the hash tells what is computed, not what it is called", () => {
  const { update } = sound();
  assertEquals(hashOf(update), "91a009689d0cce54"); // profiles hold it
  assertEquals(hashOf(sound(0.25, "q").update), hashOf(update));
  assertEquals(hashOf({ ...update, ranges: [[0, 1], [0, 1]] }), hashOf(update));
  assertEquals(hashOf(sound(0.25 + 1e-9).update), hashOf(update)); // the same in f32
  const others = [
    sound(0.26).update,
    { ...update, materials: update.materials.toReversed() },
    { ...update, signal: sine(multiply(0.2, 1)) },
    { ...update, substeps: update.substeps.toReversed() },
    wave(2).update,
    wave(2, { courant: 0.1 }).update,
  ].map(hashOf);
  assertEquals(new Set([hashOf(update), ...others]).size, others.length + 1);
});

Deno.test("−0 is another constant than 0, as data and in the hash", () => {
  const plain = (value: number, kind: "add" | "multiply" = "add"): Stencil => {
    return equation({
      name: "plain",
      fields: { u: [0, 1] },
      materials: { m: { values: [value] } },
      step: ({ u }) => ({ u: operate(kind, constant(value), u, 3) }),
    });
  };
  for (const kind of ["add", "multiply"] as const) {
    const negative = plain(-0, kind), again = throughJson(negative);
    assertNotEquals(hashOf(negative.update), hashOf(plain(0, kind).update));
    assertEquals(hashOf(again.update), hashOf(negative.update));
    assert(Deno.inspect(again.update, { depth: 9 }).includes("value: -0"));
    assertEquals(again.update, negative.update);
  }
  // of a material, whose values JSON holds as numbers, it becomes 0
  assertEquals(plain(-0).update.materials, plain(0).update.materials);
});

Deno.test("what is no definition is refused, and the place is named", () => {
  const data = definitionOf(sound());
  const cases: [change: object, message: string][] = [
    [{ name: "two words" }, "name: a letter, then letters, digits, _ or - are wanted: found two words"],
    [{ fields: 3 }, "sound: fields: a list of objects is wanted: found 3"],
    [
      { signal: ["at", "v", 0, 0, 0] },
      "signal: a signal or material that reads no field is wanted: found a tap",
    ],
    [{ signal: ["steps"] }, "signal: a word that definitions know is wanted: found steps"],
    [{ substeps: [{ w: 1 }] }, "sub-step 1, field w: the name of a field is wanted: found w"],
    [
      { substeps: [{ v: ["at", "w", 0, 0, 0] }] },
      "field v: the name of a field or material is wanted: found w",
    ],
    [{ substeps: [{ v: ["at", "p", 0, 0] }] }, "field v: a whole number of cells along each axis"],
    [{ substeps: [{ v: ["add", 1] }] }, "field v: add of 2 is wanted: found 1"],
    [{ substeps: [{ v: ["divide", 1, 2, 3] }] }, "field v: divide of 2 is wanted: found 3"],
    [{ substeps: [{ v: [] }] }, "field v: a word that definitions know is wanted: found undefined"],
    [
      { substeps: [{ v: null }] },
      "field v: a number, or a list that begins with a word, is wanted: found null",
    ],
  ];
  for (const [change, message] of cases) {
    assertThrows(() => stencilOf({ ...data, ...change }), RangeError, message);
  }
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = ["absolute", deep];
  assertThrows(() => stencilOf({ ...data, substeps: [{ v: deep }] }), RangeError, "nested at most 500 deep");
  for (const value of [undefined, null, 1, "wave", [], {}]) assertThrows(() => stencilOf(value), RangeError);
});
