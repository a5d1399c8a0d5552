/**
 * Definitions that make no sense are refused where they are made, in one line that names the place.
 *
 * @module
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { checkStencil } from "../../kernels/check_definition.ts";
import { definitionOf, stencilOf } from "../../kernels/definition.ts";
import { equation } from "../../kernels/equation.ts";
import { constant, type Expression } from "../../kernels/expression.ts";
import {
  add,
  choose,
  divide,
  exponential,
  formula,
  greater,
  logarithm,
  maximum,
  minimum,
  multiply,
  power,
  shifted,
  sine,
  squareRoot,
} from "../../kernels/operations.ts";
import type { Stencil } from "../../kernels/stencils/stencil.ts";
import { randomEquation, randomNumbers } from "./random_equation.ts";

/** Whatever a program without types may write. */
// deno-lint-ignore no-explicit-any
type Loose = any;

const PLAIN = { name: "plain", fields: { u: [0, 1], v: [0, 1] }, materials: { m: [1, 2] } } as const;
const keep = ({ u, v }: Loose): object => ({ u, v });

/** An equation whose sub-step makes this of `u`. */
const made = (value: (planes: Loose, signal: Loose) => unknown) => ({
  step: (planes: Loose, signal: Loose) => ({ u: value(planes, signal), v: planes.v }),
});

const itself: Loose = { kind: "absolute", operands: [] };
itself.operands.push(itself);
let doubled: Loose = { kind: "tap", offset: [0, 0, 0], ago: 0, plane: 0 };
for (let i = 0; i < 60; i++) doubled = add(doubled, doubled);

const node = (kind: "add" | "subtract" | "multiply" | "minimum", ...operands: Expression[]): Expression => ({
  kind,
  operands,
});

/** Numbers that are 0 to a kernel, and what they come to. */
const VANISHING: readonly (readonly [value: (planes: Loose) => unknown, found: string])[] = [
  [({ u }) => divide(u, 1e-50), "1e-50"],
  [({ u }) => divide(u, multiply(1e-30, 1e-30)), "1.00000000"],
  [({ u }) => divide(u, node("multiply", constant(1e-30), constant(1e-30))), "1.00000000"],
  [({ u }) => multiply(1e-40, u), "1e-40"], // f32 has it, and GPUs need not
  [({ u }) => divide(u, maximum(u, 1e-40)), "1e-40"],
  [({ u }) => divide(u, minimum(multiply(-1, u), -1e-45)), "-1e-45"],
  [({ u, v }) => choose(1e-50, u, v), "1e-50"],
  [({ u }) => greater(u, 1e-39), "1e-39"],
];

/** What is wrong, and what the message says of it. */
const WRONG: readonly (readonly [change: object, message: string])[] = [
  [{ name: undefined }, "name: a letter, then letters, digits, _ or - are wanted: found undefined"],
  [{ name: "a wave" }, "name: a letter, then letters, digits, _ or - are wanted: found a wave"],
  [{ title: "two\nlines" }, "plain: title: one line"],
  [{ variant: { grid: 4 } }, "plain: variant: a name of letters and digits other than stencil, grid"],
  [{ variant: { order: NaN } }, "plain: variant order: a number or a line of text is wanted: found NaN"],
  [{ surface: "closed" }, "plain: surface: free, a list of fields, or nothing, is wanted: found closed"],
  [{ surface: ["m"] }, "surface: free, a list of fields, or nothing, is wanted: found [m]"],
  [{ stagger: 1 }, "stagger: places by field are wanted: found 1"],
  [{ stagger: { m: [0, 0, 0] } }, "stagger m: a field and a part of a cell along each axis are wanted"],
  [
    { stagger: { u: [0, 0, 1] } },
    "stagger u: a field and a part of a cell along each axis are wanted: found [0, 0, 1]",
  ],
  [
    { surface: "free", stagger: { u: [0, 0, 0.5] } },
    "stagger u: below a surface 0 or -0.5 along the depth is wanted: found [0, 0, 0.5]",
  ],
  [{ dimensions: 4 }, "plain: dimensions: 1, 2 or 3 is wanted: found 4"],
  [{ boundaries: [] }, "plain: boundaries: a list of some of zero, periodic, insulated is wanted: found []"],
  [
    { boundaries: ["open"] },
    "plain: boundaries: a list of some of zero, periodic, insulated is wanted: found [open]",
  ],
  [{ initialField: "sound" }, "plain: initialField: one of noise, integers, binary is wanted: found sound"],
  [{ fields: {}, step: () => ({}) }, "plain: fields: at least one is wanted: found []"],
  [{ fields: { u: [1, 0], v: [0, 1] } }, "plain: ranges: the lowest and the highest"],
  [{ fields: { u: [0, 1e39], v: [0, 1] } }, "plain: ranges: the lowest and the highest"],
  [
    { fields: { u: [0, 1], v: [0, 1], "w 2": [0, 1] } },
    "plain: field 3: a name of letters, digits and _ is wanted: found w 2",
  ],
  [
    { fields: { u: [0, 1], v: [0, 1], m: [0, 1] } },
    "plain: material m: a name that nothing else has is wanted: found m",
  ],
  [
    { fields: { u: [0, 1], v: [0, 1], w: [0, 1] } },
    "plain: field w: a sub-step that computes it is wanted (what no step changes is a material)",
  ],
  [
    { materials: { m: 2 } },
    "plain: material m: a range, one to eight values, or a function of x, y, z is wanted: found 2",
  ],
  [{ materials: { m: { values: [] } } }, "plain: material m: a range, one to eight values"],
  [{ materials: { m: { values: [NaN] } } }, "plain: material m: a range, one to eight values"],
  [{ materials: { m: () => {} } }, "plain: material m: a number or an expression is wanted: found undefined"],
  [
    { materials: { m: (x: Loose) => 2 * x } },
    "plain: material m: a number is wanted (multiply(2, u), not 2 * u): found NaN",
  ],
  [
    { materials: { m: (x: Loose) => divide(1, add(x, -0.0625)) } },
    "plain: material m: eight values that f32 holds",
  ],
  [{ signal: 3 }, "plain: signal: a function of the step is wanted: found 3"],
  [{ signal: () => {} }, "plain: signal: a number or an expression is wanted: found null"],
  [{ signal: (step: Loose) => step }, "plain: signal: a sub-step that reads it is wanted: found none"],
  [
    { signal: (step: Loose) => divide(1, step), ...made((_, signal) => signal) },
    "plain: signal at step 0: a number that f32",
  ],
  [
    made((_, signal) => signal),
    "plain: sub-step 1, field u: a signal is wanted where one is read: found none",
  ],
  [
    { step: keep(PLAIN.fields) },
    "plain: step: a function that returns the new values is wanted: found an object",
  ],
  [{ step: () => {} }, "plain: sub-step 1: new values of fields by name are wanted: found undefined"],
  [{ step: () => [] }, "plain: step: at least one sub-step is wanted: found []"],
  [{ step: () => [{}] }, "plain: sub-step 1: new values of fields are wanted: found []"],
  [{ step: () => ({ w: 1 }) }, "plain: sub-step 1: one of u, v is wanted: found w"],
  [{ step: () => ({ m: 1 }) }, "plain: sub-step 1: one of u, v is wanted: found m"],
  [{ step: ({ u }: Loose) => ({ u }) }, "plain: field v: a sub-step that computes it is wanted"],
  [
    { step: ({ u, v }: Loose) => [{ u, v }, { u }] },
    "plain: sub-step 2, field u: one value a step is wanted: found another before",
  ],
  [{ step: ({ w }: Loose) => ({ u: w }) }, "plain: step: one of u, v, m is wanted: found w"],
  [made(() => undefined), "plain: sub-step 1, field u: a number or an expression is wanted: found undefined"],
  [
    made(({ u }) => add(1, multiply(u, undefined as Loose))),
    "plain: sub-step 1, field u, operand 2 of multiply: a number or an expression is wanted: found undefined",
  ],
  [
    made(({ u }) => u.at),
    "plain: sub-step 1, field u: a number or an expression is wanted: found a function",
  ],
  [
    made(({ u }) => add(u, 2 * u)),
    "plain: sub-step 1, field u, operand 2 of add: a number is wanted (multiply(2, u), not 2 * u): found NaN",
  ],
  [
    made(({ u }) => multiply(1e39, u)),
    "plain: sub-step 1, field u, operand 1 of multiply: a number that f32 can hold is wanted: found 1e+39",
  ],
  [
    made(({ u }) => add(u, divide(1, 0))),
    "plain: sub-step 1, field u, operand 2 of add: a number that f32 can hold is wanted: found Infinity",
  ],
  [
    made(({ u }) => divide(u, 0)),
    "plain: sub-step 1, field u: a divisor other than 0, up to 2¹²⁶, is wanted: found 0",
  ],
  [made(() => squareRoot(-1)), "plain: sub-step 1, field u: a number is wanted"],
  ...VANISHING.map(([value, found]): [change: object, message: string] => [
    made(value),
    `a number that f32 can hold is wanted (GPUs may take one below 2⁻¹²⁶ for 0): found ${found}`,
  ]),
  ...[
    // what kernels compute of constants that nobody has put together
    ({ u }: Loose) => divide(u, shifted(0, 1, 0, 0)),
    ({ u }: Loose) => divide(u, choose(1, 0, u)),
    ({ u }: Loose) => divide(u, node("minimum", constant(0), constant(2))),
    ({ u }: Loose) => divide(u, node("subtract", constant(1 + 1e-9), constant(1))),
  ].map((value): [change: object, message: string] => [
    made(value),
    "plain: sub-step 1, field u: a divisor other than 0, up to 2¹²⁶, is wanted: found 0",
  ]),
  [
    made(({ u }) => divide(u, -(2 ** 127))),
    "plain: sub-step 1, field u: a divisor other than 0, up to 2¹²⁶, is wanted: found -1.7",
  ],
  [
    made(({ u }) => add(u, node("add", constant(3e38), constant(3e38)))),
    "plain: sub-step 1, field u, operand 2 of add: a number that f32 can hold is wanted: found 6",
  ],
  [{ fields: { u: [1e-40, 1], v: [0, 1] } }, "plain: ranges: the lowest and the highest"],
  [{ materials: { m: { values: [1e-50] } } }, "plain: material m: a range, one to eight values"],
  [
    made(({ u }) => add(u, formula("step"))),
    "plain: sub-step 1, field u, operand 2 of add: one of exponential, logarithm, sine, cosine, tanh, power is wanted: found step",
  ],
  [
    made(({ u }) => multiply(u, logarithm(0))),
    "plain: sub-step 1, field u, operand 2 of multiply: a number that f32 can hold is wanted: found -Infinity",
  ],
  [
    made(({ u }) => multiply(u, exponential(100))),
    "plain: sub-step 1, field u, operand 2 of multiply: a number that f32 can hold is wanted: found 2.6",
  ],
  [made(({ u }) => multiply(u, power(-1, 0.5))), "operand 2 of multiply: a number is wanted"],
  [made(() => formula("sine")), "plain: sub-step 1, field u: sine of 1 is wanted: found 0"],
  [made(({ u }) => formula("power", u)), "plain: sub-step 1, field u: power of 2 is wanted: found 1"],
  [
    made(({ u }) => sine(2 * u)),
    "plain: sub-step 1, field u, operand 1 of sine: a number is wanted (multiply(2, u), not 2 * u): found NaN",
  ],
  [
    made(({ u }) => formula("toString" as Loose, u)),
    "tanh, power is wanted: found toString",
  ],
  [
    made(({ u }) => u.at(0.5, 0, 0)),
    "plain: sub-step 1, field u: a whole number of cells along each axis is wanted: found [0.5, 0, 0]",
  ],
  [made(({ u }) => u.at(0, 65)), "at most 64 cells are wanted: found u.at(0, 65, 0)"],
  [made(({ u }) => shifted(u.at(60), 5, 0, 0)), "at most 64 cells are wanted: found u.at(65, 0, 0)"],
  [made(({ u }) => u.at(1, 2, 3, 4)), "found [1, 2, 3, 4]"],
  [made(({ u }) => u.at("1")), "found [1, 0, 0]"],
  [made(({ u }) => u.at(undefined)), "found [undefined, 0, 0]"],
  [
    made(({ u }) => ({ ...u.at(), ago: 2 })),
    "plain: sub-step 1, field u: ago must be 0 (now), 1 (before) or -1 (next): found 2",
  ],
  [
    made(({ u }) => ({ ...u.at(), plane: 3 })),
    "plain: sub-step 1, field u: a field or material is wanted: found 3",
  ],
  [
    made(({ v }) => v.next()),
    "plain: sub-step 1, field u: what an earlier sub-step has computed is wanted: found v.next(0, 0, 0)",
  ],
  [
    { step: ({ u, v }: Loose) => [{ u: v.next(1) }, { v: u }] },
    "plain: sub-step 1, field u: what an earlier sub-step has computed",
  ],
  [
    { step: ({ u }: Loose) => [{ u }, { v: u.before() }] },
    "plain: sub-step 2, field v: what no earlier sub-step has replaced is wanted: found u.before(0, 0, 0)",
  ],
  [
    made(({ u }) => u.before(1)),
    "plain: sub-step 1, field u: of the step before only the cell itself is wanted",
  ],
  [
    made(({ m }) => m.before()),
    "plain: sub-step 1, field u: a material does not change: at is wanted: found m.before(0, 0, 0)",
  ],
  [
    { dimensions: 1, ...made(({ u }) => u.at(1, 0, 0)) },
    "plain: sub-step 1, field u: cells of the line, along z, are wanted: found u.at(1, 0, 0)",
  ],
  [made(() => itself), "plain: sub-step 1, field u: operations nested at most 500 deep are wanted"],
  [made(() => doubled), "plain: sub-step 1, field u: at most 10000 operations and operands are wanted"],
  [{
    fields: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`f${i}`, [0, 1]])),
    step: ({ m: _, ...planes }: Loose) => planes,
  }, "plain: fields: at most 64 with the materials are wanted: found 66"],
];

Deno.test("what makes no sense is refused, and the message names the place", () => {
  equation({ ...PLAIN, step: keep });
  for (const [change, message] of WRONG) {
    assertThrows(() => equation({ ...PLAIN, step: keep, ...change } as Loose), RangeError, message);
  }
  for (const value of [undefined, null, 3, "wave", [], {}]) {
    assertThrows(() => equation(value as Loose), RangeError);
  }
});

Deno.test("what f32 holds just so is accepted, and formulas are the host's, which has f64", () => {
  for (const value of [2 ** -126, -(2 ** 126), 1e-30]) {
    equation({ ...PLAIN, ...made(({ u }) => divide(u, value)) } as Loose);
  }
  equation({ ...PLAIN, ...made(({ u }) => divide(multiply(3e38, u), choose(0, 0, 2))) } as Loose);
  equation({
    ...PLAIN,
    materials: { m: (x: Loose) => add(1, divide(multiply(1e50, x), 1e60)) },
    signal: (step: Loose) => multiply(1e-40, step),
    ...made(({ u }, signal) => add(u, signal)),
  } as Loose);
});

/** Every place in a tree of objects and lists. */
function placesIn(
  value: unknown,
  found: [holder: Loose, key: string][] = [],
): [holder: Loose, key: string][] {
  if (typeof value !== "object" || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push([value, key]);
    placesIn((value as Loose)[key], found);
  }
  return found;
}

/** A RangeError of one or two short lines that begins as all do. */
function assertRefused(make: () => unknown, what: string): void {
  try {
    make();
  } catch (error) {
    const { name, message } = error as Error;
    assertEquals(name, "RangeError", `${what}: ${(error as Error).stack}`);
    assert(
      message.startsWith("Cannot build the equation") && message.length < 400 && !message.includes("\n"),
      message,
    );
    return;
  }
  throw new Error(`${what} is not refused`);
}

Deno.test("a thousand equations with anything anywhere in them are refused", () => {
  const nonsense = [null, NaN, () => 1, Symbol("no"), 10n, -Infinity];
  for (let seed = 0; seed < 1000; seed++) {
    const random = randomNumbers(seed), isData = seed % 2 === 1;
    const stencil = randomEquation({ seed, isWhole: seed % 4 < 2, dimensions: seed % 5 === 0 ? 1 : 3 });
    const broken = structuredClone(isData ? definitionOf(stencil) : stencil) as Loose;
    const places = placesIn(broken);
    const [holder, key] = places[Math.floor(random() * places.length)]!;
    // what JSON has
    holder[key] = isData ? [null, { "?": 0 }, [[]]][seed % 3] : nonsense[seed % nonsense.length];
    const what = `seed ${seed}: ${key} is ${Deno.inspect(holder[key])}`;
    assertRefused(() => isData ? stencilOf(broken) : checkStencil(broken as Stencil), what);
  }
});

Deno.test("a definition in which anything else stands anywhere is refused or makes sense", () => {
  const others = [0, -1, 2.5, 1e300, "", "u", "add", "step", [], [1], ["at"], ["add"], true, { toString: 1 }];
  for (let seed = 0; seed < 1000; seed++) {
    const random = randomNumbers(seed);
    const stencil = randomEquation({ seed: seed % 40, isWhole: false, dimensions: 3 });
    const broken = structuredClone(definitionOf(stencil)) as Loose;
    const places = placesIn(broken);
    const [holder, key] = places[Math.floor(random() * places.length)]!;
    holder[key] = others[Math.floor(random() * others.length)];
    try {
      checkStencil(stencilOf(broken));
    } catch {
      assertRefused(() => stencilOf(broken), `seed ${seed}: ${key} is ${JSON.stringify(holder[key])}`);
    }
  }
});
