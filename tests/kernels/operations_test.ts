import type { FloatArray } from "../../kernels/precision.ts";
import { assertEquals } from "@std/assert";
import { hashBits } from "../../bench/write_c.ts";
import { NativeLoops } from "../../bench/native_loops.ts";
import { constant, type Expression, OPERATIONS, tap } from "../../kernels/expression.ts";
import {
  absolute,
  add,
  atLeast,
  choose,
  divide,
  floor,
  greater,
  maximum,
  minimum,
  multiply,
  operate,
  squareRoot,
  subtract,
} from "../../kernels/operations.ts";
import { layOut } from "../../kernels/layout.ts";
import { runReference } from "../../kernels/reference.ts";
import type { Grid, Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { type Update, updateOf } from "../../kernels/update.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { initialCells, inMarches, inSteps, inTorres, testRows } from "./oracle_case.ts";
import "../own_thread.ts";

/** An update of real numbers with every operation: quotients, roots and choices of neighbours on both sides. */
const REAL: Update = updateOf((() => {
  const [a, b, c, d] = [tap(0, 0, -1), tap(0, 0, 0), tap(0, 1, 0), tap(1, 0, 0)];
  const quotient = divide(subtract(a, d), add(constant(1.5), absolute(b)));
  const root = squareRoot(add(multiply(c, c), constant(0.25)));
  const clipped = maximum(minimum(add(quotient, root), constant(0.75)), subtract(b, constant(0.5)));
  const upwind = choose(greater(subtract(a, c), constant(0)), a, c);
  // a condition that is not a comparison, and one that is used twice
  const isAbove = atLeast(b, constant(0.1));
  const branches = choose(multiply(isAbove, greater(c, a)), constant(0.125), choose(isAbove, d, quotient));
  return add(
    multiply(constant(0.3), clipped),
    multiply(constant(0.4), upwind),
    multiply(constant(0.2), branches),
  );
})());

/** Whole numbers from −4 to 4, which no step leaves, with every operation that keeps them whole. */
function wholeNumbers(): Update {
  const [a, b, c, d] = [tap(0, 0, -1), tap(0, 0, 0), tap(0, 0, 1), tap(0, 1, 0)];
  const clip = (of: Expression): Expression => maximum(constant(-4), minimum(of, constant(4)));
  const turned = choose(greater(a, b), subtract(constant(1), absolute(c)), maximum(b, d));
  const branch = choose(subtract(a, d), atLeast(c, b), minimum(a, constant(-1)));
  const bits = subtract(operate("exponentOf", d), floor(operate("powerOfTwo", floor(b))));
  return updateOf(clip(add(turned, branch, floor(multiply(constant(0.5), c)), clip(bits))));
}

const WHOLE: Stencil = {
  ...wave(2),
  title: "whole numbers, every operation",
  update: wholeNumbers(),
};

Deno.test("the oracle rounds the exact result of every operation once", () => {
  const values = [0.3, -1.7, 0, 3.25e5, 1e-4, -0.3].map(Math.fround);
  const exact = {
    add: (a, b) => a + b,
    subtract: (a, b) => a - b,
    multiply: (a, b) => a * b,
    divide: (a, b) => a / b,
    minimum: (a, b) => Math.min(a, b),
    maximum: (a, b) => Math.max(a, b),
    atLeast: (a, b) => Number(a >= b),
    greater: (a, b) => Number(a > b),
    absolute: (a) => Math.abs(a),
    squareRoot: (a) => Math.sqrt(a),
    floor: (a) => Math.floor(a),
    powerOfTwo: (a) => 2 ** a,
    exponentOf: (a) => a === 0 ? -127 : Math.floor(Math.log2(Math.abs(a))),
    choose: (a, b, c) => a === 0 ? c : b,
  } satisfies Record<string, (a: number, b: number, c: number) => number>;
  assertEquals([...OPERATIONS].sort(), Object.keys(exact).sort());
  for (const kind of OPERATIONS) {
    const operands = [tap(0, 0, 0), tap(0, 0, 1), tap(0, 0, 2)].slice(0, exact[kind].length);
    const field = Float32Array.from(values);
    const run = {
      update: updateOf({ kind, operands }),
      grid: [1, 1, 6],
      boundary: "periodic",
      steps: 1,
    } as const;
    const { current } = runReference({ current: field, previous: field }, run);
    const wanted = values.map((a, z) =>
      Math.fround(exact[kind](a, values[(z + 1) % 6]!, values[(z + 2) % 6]!))
    );
    assertEquals([...current], wanted, kind);
  }
});

Deno.test("operations of constants alone are made where they are written", () => {
  const two = constant(2);
  assertEquals(divide(add(constant(1), two), squareRoot(constant(4))), constant(1.5));
  assertEquals(choose(greater(two, two), constant(3), constant(4)), constant(4));
  assertEquals(divide(two, constant(0)), constant(Infinity));
});

async function onCpu(
  update: Update,
  grid: Grid,
  { steps, seed }: { steps: number; seed: number },
): Promise<FloatArray> {
  const pool = await CpuPool.create({ workers: 1 });
  const layout = layOut(grid, { pad: [1, 1, 1] });
  const field = await pool.load({ update, layout, boundary: "zero" });
  await field.initialise({ kind: "noise", seed });
  await field.run({ steps });
  const cells = field.current.slice();
  pool.dispose();
  return cells;
}

Deno.test("WebAssembly equals the oracle bit for bit in every operation", async () => {
  const grid: Grid = [3, 5, 23], steps = 6, layout = layOut(grid, { pad: [1, 1, 1] });
  for (const update of [REAL, WHOLE.update]) {
    const start = initialCells(grid, "noise", 1);
    const run = { update, grid, boundary: "zero", steps } as const;
    const { current } = runReference({ current: start, previous: start }, run);
    const dense = layOut(grid, { pad: [0, 0, 0], align: 1 });
    assertEquals(hashBits(await onCpu(update, grid, { steps, seed: 1 }), layout), hashBits(current, dense));
  }
});

const HAS_GCC = await new Deno.Command("gcc", { args: ["--version"] }).output().then(() => true, () => false);

Deno.test({
  name: "C equals WebAssembly bit for bit in every operation",
  ignore: !HAS_GCC,
  async fn() {
    const grid: Grid = [3, 5, 23], steps = 6, layout = layOut(grid, { pad: [1, 1, 1] });
    const loops = await NativeLoops.create({ update: REAL, layout });
    await loops!.run(steps);
    const found = await loops!.hash();
    await loops!.dispose();
    assertEquals(found, hashBits(await onCpu(REAL, grid, { steps, seed: 0 }), layout));
  },
});

/** Of the smallest numbers and the largest divisors that equations may have, which are none to a GPU. */
const [LEAST, MOST] = [constant(2 ** -126), constant(2 ** 126)];
const AT_THE_ENDS: Stencil = {
  ...wave(2),
  title: "numbers at the ends of f32",
  update: updateOf(add(
    divide(multiply(LEAST, add(absolute(tap(0, 0, 0)), constant(1))), LEAST),
    multiply(divide(constant(1.5), MOST), constant(2 ** 125)),
  )),
};

const REAL_NUMBERS = { ...wave(2), title: "real numbers, every operation", update: REAL };
const WAYS = [
  inSteps([4, 2, 1]),
  inMarches([2, 4, 2, 1, 0, 0]),
  inMarches([4, 4, 4, 1, 1, 0]),
  inTorres([1, 2, 1, 2, 6, 2, 1, 99]),
];

testRows([[AT_THE_ENDS, [3, 7, 11], inSteps([4, 2, 1]), [3]]]);
testRows(WAYS.map((way) => [WHOLE, [3, 7, 11], way, [3, 4]]));
testRows(WAYS.map((way) => [REAL_NUMBERS, [3, 7, 11], way, [2, 3]]), { isReal: true });
