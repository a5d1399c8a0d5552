/**
 * Sources are taken out of the expressions that name them: what is left, what each is multiplied by, and what is refused.
 *
 * @module
 */
import { assertEquals, assertThrows } from "@std/assert";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { along, equation } from "../../kernels/equation.ts";
import { fold, NUMBERS } from "../../kernels/expression.ts";
import {
  absolute,
  add,
  choose,
  divide,
  greater,
  multiply,
  power,
  shifted,
  sine,
  subtract,
  type Value,
} from "../../kernels/operations.ts";
import type { Stencil } from "../../kernels/stencils/stencil.ts";

/** What a program without types may write. */
// deno-lint-ignore no-explicit-any
type Planes = any;

const SIGNAL = 7;

function sourced(value: (planes: Planes, signal: Planes) => Value): Stencil {
  return equation({
    name: "sourced",
    fields: { u: [0, 1] },
    materials: { m: [1, 2], d: along("x", [0, 1]) },
    sources: { s: [-1, 1], r: [0, 2] },
    signal: (step) => step,
    step: (planes, signal) => ({ u: add(value(planes, signal), multiply(0, signal), planes.r) }),
  });
}

/** The new value by what is left of it and by what the two sources add, and the value as it was written. */
function values(write: (planes: Planes, signal: Planes) => Value): [split: number, whole: number] {
  const { substeps: [[assignment] = []], sources } = sourced(write).update, u = 3, m = 5, d = 11;
  const at = (expression: Parameters<typeof fold<number>>[0]): number =>
    fold<number>(expression, {
      ...NUMBERS,
      tap: ({ plane }) => [u, m][plane]!,
      profile: () => d,
      signal: () => SIGNAL,
    });
  const [s, r] = [13, 17], added = sources!.map(({ into }) => at(into[0]!.value));
  const given = { kind: "constant" } as const;
  const planes = Object.fromEntries(
    Object.entries({ u, m, d, s, r }).map(([name, value]) => [name, { ...given, value }]),
  );
  const whole = at(add(write(planes, { ...given, value: SIGNAL }), r));
  return [at(assignment!.value) + s * added[0]! + r * added[1]!, whole];
}

Deno.test("what is left and what sources add make the value that was written", () => {
  const written: ((planes: Planes, signal: Planes) => Value)[] = [
    ({ u, m, s }) => add(u, multiply(m, s)),
    ({ u, m, s }) => add(u, multiply(s, m, 2)),
    ({ u, d, s }) => subtract(multiply(d, u), s),
    ({ u, s }) => subtract(s, u),
    ({ u, m, s, r }) => divide(subtract(add(u, s), multiply(3, r)), m),
    ({ u, m, s }) => choose(greater(m, 1), add(u, s), u),
    ({ u, m, s }, signal) => add(choose(greater(m, 9), s, u), multiply(m, signal)),
    ({ m, s }) => multiply(m, s),
    ({ u, s, r }) => add(subtract(s, r), subtract(u, absolute(u))),
    ({ u, m, s }) => add(sine(u), multiply(power(m, 1.5), s)),
  ];
  for (const write of written) {
    const [split, whole] = values(write);
    assertEquals(split, whole, String(write));
  }
});

Deno.test("a sum that is taken at other cells stays whole beside a source, and definitions keep both", () => {
  const stencil = sourced(({ u, d, s }) => add(shifted(add(u, multiply(d, u)), 1, 0, 0), s));
  const kinds = JSON.stringify(stencil.update.substeps);
  assertEquals(kinds.includes('"partial"'), true);
  const again = stencilOf(JSON.parse(JSON.stringify(definitionOf(stencil))));
  assertEquals([again.update, hashOf(again.update)], [stencil.update, hashOf(stencil.update)]);
});

Deno.test("what is not linear in a source, or reads it elsewhere, is refused", () => {
  const refused: [(planes: Planes, signal: Planes) => Value, string][] = [
    [({ s }) => multiply(s, s), "a source is used linearly, at the cell itself: not times itself"],
    [({ s }) => multiply(s, add(1, s)), "not times itself"],
    [({ u, s }) => divide(u, s), "not as a divisor"],
    [({ u, s }) => choose(s, u, 1), "not as a condition"],
    [({ s }) => absolute(s), "not in absolute"],
    [({ u, s }) => multiply(u, sine(s)), "a source is used linearly, at the cell itself: not in sine"],
    [({ u, s }) => greater(u, s), "not in greater"],
    [({ u, s }) => shifted(add(u, s), 1, 0, 0), "not in a partial sum"],
    [({ s }) => s.at(1), "sub-step 1, field u: a source is wanted at the cell itself, now"],
    [({ s }) => s.before(), "a source is wanted at the cell itself, now"],
    [({ u }) => u, "source s: a sub-step that adds it is wanted: found none"],
    [({ u, s }) => multiply(u, s), "source s, field u: a factor of materials is wanted: found u"],
    [({ m, s }) => multiply(m.at(65), s), "source s, field u: at most 64 cells are wanted: found m"],
    [({ s }, signal) => multiply(s, signal), "source s, field u: a"],
  ];
  for (const [write, message] of refused) assertThrows(() => sourced(write), RangeError, message);
});

Deno.test("definitions whose sources make no sense are refused, with their place", () => {
  const definition = definitionOf(sourced(({ u, m, s }) => add(u, multiply(m, s))));
  const [s, r] = definition.sources!;
  const refused: [unknown, string][] = [
    [[{ ...s, name: "u" }], "source u: a name that nothing else has is wanted: found u"],
    [[s, s], "source s: a name that nothing else has is wanted: found s"],
    [[{ ...s, name: "?" }], "a name of letters, digits and _ is wanted: found ?"],
    [[s, { ...r, range: [1, 0] }], "source r: its lowest and highest value are wanted: found [1, 0]"],
    [[{ ...s, into: {} }], "source s: factors of fields are wanted: found []"],
    [[{ ...s, into: { m: 1 } }], "source 1, field m: the name of a field is wanted: found m"],
    [[7], "sources: a list of objects is wanted"],
  ];
  for (const [sources, message] of refused) {
    assertThrows(() => stencilOf({ ...definition, sources }), RangeError, message);
  }
});
