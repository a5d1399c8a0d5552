/**
 * Functions in steps, compared with the host's in f64: on every device at most 4 units in the last place, in the ranges
 * that docs/reference.md states. The oracle in f32 computes what kernels compute; in f64 it has the host's functions.
 *
 * @module
 */
import type { FloatArray } from "../../kernels/precision.ts";
import { assert, assertEquals, assertLess, assertLessOrEqual } from "@std/assert";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { equation } from "../../kernels/equation.ts";
import {
  type Algebra,
  eachOperation,
  type Expression,
  fold,
  OPERATIONS,
  tap,
  TREE,
} from "../../kernels/expression.ts";
import { costOf, type FunctionName, FUNCTIONS, made } from "../../kernels/functions.ts";
import {
  add,
  cosine,
  evaluate,
  exponential,
  floor,
  formula,
  logarithm,
  multiply,
  operate,
  power,
  sine,
  tanh,
} from "../../kernels/operations.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { runReference } from "../../kernels/reference.ts";
import type { Grid, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { operationsOf, updateOf } from "../../kernels/update.ts";
import { PRECISIONS } from "../../kernels/precision.ts";
import { updateWriter } from "../../kernels/wgsl/write_update.ts";
import { errorBound } from "../../models/error_bound.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import { gatherCells, scatterCells } from "../devices/cells.ts";
import { layOut } from "../../kernels/layout.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { errorIn } from "./exact_functions.ts";
import { randomNumbers } from "./random_equation.ts";
import "../own_thread.ts";

const GRID: Grid = [4, 4, THOROUGH ? 65_536 : 4096], CELLS = GRID[0] * GRID[1] * GRID[2];

/** Least size of a result that no GPU takes for 0. */
const LEAST = 2 ** -126;

/** Operands from a range: evenly, by size, and its ends. */
function spread(low: number, high: number, seed = 1): () => number {
  const random = randomNumbers(seed),
    ends = [low, high, 0, 1, -1, LEAST].filter((x) => x >= low && x <= high);
  let count = 0;
  return () => {
    if (count < ends.length) return ends[count++]!;
    const [share, isEven] = [random(), random() < 0.5];
    if (isEven) return low + (high - low) * share;
    const most = random() < 0.5 && low < 0 ? -low : high, least = Math.max(low, 1e-12);
    return (most === high ? 1 : -1) * least * (most / least) ** share;
  };
}

/** Multiples of π/2, where a sine or cosine is near 0, and what lies next to them. */
function nearZeros(): () => number {
  const random = randomNumbers(3);
  return () => {
    const nearest = Math.fround(Math.PI / 2 * Math.floor(random() * 5215));
    return Math.sign(random() - 0.5) * nearest * (1 + Math.floor(random() * 3 - 1) * 2 ** -23);
  };
}

/** Bases and exponents whose power is from 10⁻³⁰ to 10³⁰. */
function powers(): [() => number, () => number] {
  const base = spread(1.7e-38, 3e38, 5), close = spread(0.6, 1.6, 6), random = randomNumbers(7);
  let x = 1;
  return [() => x = Math.fround(random() < 0.5 ? base() : close()), () => {
    const most = Math.min(1e4, 69 / Math.abs(Math.log(x)));
    return (2 * random() - 1) * (random() < 0.3 ? Math.min(most, 3) : most);
  }];
}

const [bases, exponents] = powers();

/** Every function, in its range. */
const CASES: readonly (readonly [name: FunctionName, x: () => number, y?: () => number])[] = [
  ["exponential", spread(-87, 88)],
  ["logarithm", spread(1.7e-38, 3.4e38)],
  ["logarithm", spread(0.5, 2)],
  ["sine", spread(-8192, 8192)],
  ["sine", nearZeros()],
  ["cosine", spread(-8192, 8192)],
  ["cosine", nearZeros()],
  ["tanh", spread(-20, 20)],
  ["tanh", spread(-3.4e38, 3.4e38)],
  ["power", bases, exponents],
];

/** r = f(x, y) */
const stencilOfFunction = (name: FunctionName): Stencil =>
  equation({
    name,
    fields: { x: [0, 1], y: [0, 1], r: [0, 1] },
    step: ({ x, y }) => ({ x, y, r: formula(name, ...[x, y].slice(0, FUNCTIONS[name].length)) }),
  });

/** Operands by cell, each as f32, and what f64 makes of them. */
function operandsOf([name, x, y = () => 0]: typeof CASES[number]) {
  const values = Array.from({ length: CELLS }, () => [x(), y()].map(Math.fround) as [number, number]);
  return { values, exact: values.map((pair) => FUNCTIONS[name](...pair)) };
}

/** The largest error, in units in the last place. */
function largestError(found: ArrayLike<number>, { values, exact }: ReturnType<typeof operandsOf>) {
  let worst = { error: 0, at: values[0]!, found: 0 };
  exact.forEach((wanted, i) => {
    const unit = 2 ** (Math.floor(Math.log2(Math.max(LEAST, Math.abs(wanted)))) - 23);
    const error = Math.abs(found[i]! - wanted) / unit;
    if (!(error <= worst.error)) worst = { error, at: values[i]!, found: found[i]! };
  });
  return worst;
}

/** A cell at a time, and vectors of cells. */
const ON_GPU: readonly { readonly traversal: string; readonly parameters: Parameters }[] = [
  { traversal: "stepwise", parameters: { threadsZ: 64, threadsY: 1, threadsX: 1 } },
  {
    traversal: "marching",
    parameters: { zPerThread: 4, threadsZ: 16, threadsY: 2, pieces: 1, tile: 0, ahead: 0 },
  },
];

/** A step by the GPU. */
async function onGpu(
  gpu: GpuDevice,
  name: FunctionName,
  values: readonly (readonly [number, number])[],
  how: typeof ON_GPU[number],
): Promise<FloatArray> {
  const problem: Problem = { stencil: stencilOfFunction(name), grid: GRID, boundary: "periodic", steps: 1 };
  const share = { cpuSlices: 0, gpuSlices: GRID[0], exchangeEvery: 1, cpuWorkers: 0 };
  await using solver = await createSolver(gpu.device, problem, { ...how, share }, { timeoutMs: 120_000 });
  const at = (x: number, y: number, z: number) => values[(x * GRID[1] + y) * GRID[2] + z]!;
  await solver.write("x", (...cell) => at(...cell)[0]);
  await solver.write("y", (...cell) => at(...cell)[1]);
  await solver.run(1);
  return await solver.read("r");
}

for (const [index, one] of CASES.entries()) {
  const [name] = one, operands = operandsOf(one), { values } = operands;

  Deno.test(`${name} is within 4 units in the last place, and the CPU's bits are the oracle's (${index})`, async () => {
    const { update } = stencilOfFunction(name), [, ny, nz] = GRID;
    const start = new Float32Array(3 * CELLS);
    values.forEach((pair, cell) => {
      const x = Math.floor(cell / ny / nz), rest = cell % (ny * nz);
      pair.forEach((value, plane) => start[(x * 3 + plane) * ny * nz + rest] = value);
    });
    const run = { update, grid: GRID, boundary: "periodic", steps: 1 } as const;
    const { current } = runReference({ current: start, previous: start }, run);
    const ofResult = (cells: FloatArray) => {
      return Float32Array.from(
        { length: CELLS },
        (_, cell) => cells[(Math.floor(cell / ny / nz) * 3 + 2) * ny * nz + cell % (ny * nz)]!,
      );
    };
    const worst = largestError(ofResult(current), operands);
    assertLessOrEqual(worst.error, 4, `${worst.at}: ${worst.found}`);
    assert(worst.error > 0.45, "too good to be f32");
    const pool = await CpuPool.create({ workers: 1 }), layout = layOut(GRID, { pad: [0, 0, 0], planes: 3 });
    for (const fused of [false, true]) {
      const field = await pool.load({ update, layout, boundary: "periodic", fused });
      await field.initialise({ kind: "noise", seed: 1 });
      field.current.set(scatterCells(start, layout));
      await field.run({ steps: 1 });
      const found = gatherCells(field.current, layout),
        { error, at } = largestError(ofResult(found), operands);
      if (!fused) assertEquals(found.findIndex((value, i) => value !== current[i]), -1, "not the oracle's");
      assertLessOrEqual(error, 4, `${at}, fused: ${fused}`);
      await field.dispose();
    }
    pool.dispose();
  });

  testOnGpu(`${name} is within 4 units in the last place on the GPU (${index})`, async (gpu) => {
    for (const how of THOROUGH ? ON_GPU : [ON_GPU[index % 2]!]) {
      const { error, at, found } = largestError(await onGpu(gpu, name, values, how), operands);
      assertLessOrEqual(error, 4, `${at}: ${found}, ${how.traversal}`);
    }
  });
}

/** Operands of f64, from their ranges and where they are hardest. */
const CASES_IN_F64: readonly (readonly [name: FunctionName, x: () => number, y?: () => number])[] = (() => {
  const random = randomNumbers(11), between = (low: number, high: number) => low + (high - low) * random();
  const bySize = (least: number, most: number) => 10 ** between(Math.log10(least), Math.log10(most));
  const beside = (x: number) => x * (1 + Math.floor(between(-1, 2)) * 2 ** -52);
  let base = 1;
  return [
    ["exponential", () => random() < 0.5 ? between(-708, 709) : between(-1, 1)],
    ["logarithm", () => random() < 0.5 ? bySize(1e-307, 1e308) : between(0.5, 2)],
    ["logarithm", () => 1 + between(-1, 1) * bySize(1e-15, 0.1)],
    ["sine", () => between(-8192, 8192)],
    ["sine", () => beside(Math.PI / 2 * Math.ceil(between(0, 5215)))],
    ["cosine", () => between(-8192, 8192)],
    ["cosine", () => beside(Math.PI / 2 * Math.ceil(between(0, 5215)))],
    ["tanh", () => between(-1, 1) * bySize(1e-9, 30)],
    [
      "power",
      () => base = random() < 0.5 ? bySize(1e-300, 1e300) : 1 + between(-0.5, 1) * bySize(1e-9, 1),
      () => Math.min(300, 708 / Math.abs(Math.log(base))) * between(-1, 1) ** (random() < 0.5 ? 1 : 5),
    ],
    [
      "power",
      () => base = 1 + between(-0.4, 0.5) * bySize(1e-9, 1),
      () => between(-1, 1) * 708 / Math.abs(Math.log(base)),
    ],
  ];
})();

for (const [index, [name, x, y = () => 0]] of CASES_IN_F64.entries()) {
  Deno.test(`${name} in f64 is within 2 units in the last place on the CPU (${index})`, async () => {
    const cells = THOROUGH ? 2 ** 16 : 2 ** 11,
      operands = Array.from({ length: cells }, () => [x(), y()] as const);
    const { stencil: { update } } = plannedProblem({
      ...{ stencil: stencilOfFunction(name), grid: [1, 1, cells], boundary: "periodic", precision: "f64" },
    });
    const pool = await CpuPool.create({ workers: 1 });
    const layout = layOut([1, 1, cells], { pad: [0, 0, 0], planes: 3, precision: "f64" });
    for (const fused of [false, true]) {
      const field = await pool.load({ update, layout, boundary: "periodic", fused, shape: { strip: 0 } });
      const at = (plane: number, cell: number) => layout.origin + plane * layout.plane + cell;
      operands.forEach((pair, cell) =>
        pair.forEach((value, plane) => field.current[at(plane, cell)] = value)
      );
      await field.run({ steps: 1 });
      operands.forEach(([x, y], cell) => {
        const found = field.current[at(2, cell)]!, error = errorIn(found, name, x, y);
        assertLessOrEqual(error, 2, `${name}(${x}, ${y}): ${found}, fused: ${fused}`);
      });
      await field.dispose();
    }
    pool.dispose();
  });
}

interface Fusable {
  readonly value: number;
  /** Of a product: a sum may take it before it is rounded. */
  readonly exact?: number;
  /** Of a difference: from what it was taken, and what. */
  readonly parts?: readonly [Fusable, Fusable];
}

/**
 * f32 on a device that fuses every product that is added or subtracted, of two the left or the right one, and for which
 * a − (a − b) is b.
 */
function fusing(first: "left" | "right"): Algebra<Fusable> {
  const rounded = (exact: number): Fusable => ({ value: Math.fround(exact) });
  const sum = (sign: 1 | -1) => (left: Fusable, right: Fusable): Fusable => {
    const isLeft = left.exact !== undefined && (first === "left" || right.exact === undefined);
    const [a, b] = isLeft ? [left.exact!, right.value] : [left.value, right.exact ?? right.value];
    return rounded(a + sign * b);
  };
  return {
    ...eachOperation<Fusable>((_, operate) => (...operands) =>
      rounded(operate(...operands.map(({ value }) => value)))
    ),
    add: sum(1),
    subtract: (left, right) =>
      right.parts?.[0] === left ? right.parts[1] : { ...sum(-1)(left, right), parts: [left, right] },
    multiply: (left, right) => ({ ...rounded(left.value * right.value), exact: left.value * right.value }),
    constant: rounded,
    tap: () => rounded(NaN),
    signal: () => rounded(NaN),
  };
}

for (const [index, one] of CASES.entries()) {
  const [name] = one;
  for (const first of ["left", "right"] as const) {
    Deno.test(`${name} is within 4 units where sums are taken apart and every product is fused, the ${first} one first (${index})`, () => {
      const operands = operandsOf(one), algebra = fusing(first);
      const values = operands.values.slice(0, THOROUGH ? 65_536 : 4096);
      const found = values.map((pair) => made(name, pair.map((value) => ({ value })), algebra).value);
      const worst = largestError(found, { values, exact: operands.exact.slice(0, values.length) });
      assertLessOrEqual(worst.error, 4, `${worst.at}: ${worst.found}`);
    });
  }
}

Deno.test("beyond their ranges functions are 0, not finite, or lose the phase, as is documented", () => {
  const of = (value: Expression, ...operands: number[]): number[] => {
    const cells = Float32Array.from(operands);
    const run = { grid: [1, 1, cells.length], boundary: "periodic", steps: 1 } as const;
    return [
      ...runReference({ current: cells, previous: cells }, { ...run, update: updateOf(value) }).current,
    ];
  };
  const u = tap(0, 0, 0);
  assertEquals(of(exponential(u), -88.1, -1e30, -Infinity, 88.5, 1e30, NaN), [
    0,
    0,
    0,
    Infinity,
    Infinity,
    NaN,
  ]);
  assertEquals(of(logarithm(u), 0, -1, -Infinity, Infinity, NaN), [NaN, NaN, NaN, NaN, NaN]);
  assertEquals(of(tanh(u), 1e30, -1e30, Infinity, -Infinity), [1, -1, 1, -1]);
  assertEquals(of(power(u, 1.5), 0, 1e-40, -1, NaN, Infinity), [0, 0, NaN, NaN, Infinity]);
  assertEquals(of(power(u, 3), -2, 0), [-8, 0]);
  assertEquals(of(power(u, -0.5), 4), [0.5]);
  assertEquals(of(floor(u), 2.5, -2.5, 0, 1e30), [2, -3, 0, Math.fround(1e30)]);
  assertLess(Math.abs(of(sine(u), 1e5)[0]! - Math.sin(1e5)), 1e-4);
  for (const wave of [sine, cosine]) {
    const far = of(wave(u), ...Array.from({ length: 4000 }, (_, i) => (i % 2 ? -1 : 1) * 1.02 ** i % 3e38));
    assert(far.every((value) => Math.abs(value) <= 1));
    assertEquals(of(wave(u), 1e10, -3e38, Infinity, -Infinity, NaN).map(Math.abs), [0, 0, NaN, NaN, NaN]);
  }
});

Deno.test("whole numbers from 1 to 8 as exponents take any base, and are within 4 units in the last place", () => {
  const length = THOROUGH ? 2 ** 23 : 2 ** 14;
  // of few mantissas products of eight factors are further off
  const hard = [4490325, 4514261, 4519324, 6828104, 6919419].map((i) => i / 2 ** 23);
  const bases = Float32Array.from({ length }, (_, i) => {
    return (i % 3 ? -1 : 1) * (1 + (hard[i] ?? (THOROUGH ? i / length : i * 0.618034 % 1))) *
      2 ** (i % 5 - 2);
  });
  const run = { grid: [1, 1, length], boundary: "periodic", steps: 1 } as const;
  for (let n = 1; n <= 8; n++) {
    const update = updateOf(power(tap(0, 0, 0), n));
    const { current } = runReference({ current: bases, previous: bases }, { ...run, update });
    const exact = Array.from(bases, (x) => x ** n),
      values = Array.from(bases, (x): [number, number] => [x, n]);
    const { error, at } = largestError(current, { values, exact });
    assertLessOrEqual(error, 4, `${at}`);
  }
});

Deno.test("signals and materials have the host's functions, steps of constants their value", () => {
  const step = formula("step");
  const value = add(cosine(step), tanh(step), power(step, 1.5), logarithm(step), floor(multiply(0.5, step)));
  assertEquals(
    evaluate(value, { step: 3 }),
    Math.cos(3) + Math.tanh(3) + 3 ** 1.5 + Math.log(3) + 1,
  );
  const { constants } = updateWriter([multiply(exponential(-2), tap(0, 0, 0))], {});
  assertEquals(constants, `const W0 = ${PRECISIONS.f32.literal(Math.exp(-2))};`);
});

Deno.test("functions survive JSON by name, and count in the hash", () => {
  const stencilMade = (of: (x: Expression, y: Expression) => Expression): Stencil =>
    equation({ name: "plain", fields: { x: [0.5, 1], y: [0, 1] }, step: ({ x, y }) => ({ x: of(x, y), y }) });
  const stencils = [
    ...[exponential, logarithm, sine, cosine, tanh, floor].map((of) => stencilMade((x) => of(x))),
    stencilMade((x, y) => power(x, y)),
    stencilMade((x, y) => power(y, x)),
    stencilMade((x) => x),
  ];
  for (const stencil of stencils) {
    const again = stencilOf(JSON.parse(JSON.stringify(definitionOf(stencil))));
    assertEquals(again.update, stencil.update);
    assertEquals(hashOf(again.update), hashOf(stencil.update));
    // also where a tree is built again, to replace some of its taps
    for (const { value } of stencil.update.substeps.flat()) assertEquals(fold(value, TREE), value);
  }
  assertEquals(new Set(stencils.map(({ update }) => hashOf(update))).size, stencils.length);
  const { substeps: [power1] } = definitionOf(stencils[6]!);
  assertEquals(power1!.x, ["power", ["at", "x", 0, 0, 0], ["at", "y", 0, 0, 0]]);
});

Deno.test("what a function uses twice is computed once", () => {
  const x = tap(0, 0, 0), twice = add(sine(exponential(x)), exponential(x));
  const { write } = updateWriter([twice], {});
  const { lines, values } = write({ tap: () => "u" });
  const text = [...lines, ...values].join("\n");
  // one floor of the exponential, two of the sine
  assertEquals(text.match(/floor\(/g)!.length, 3);
  assertEquals(text.match(/bitcast<f32>/g)!.length, 1);
  assertLess(text.length, 2500);
  // WGSL lets no shift stand beside another operator of bits; a compiler may take it nonetheless
  const ofLogarithm = updateWriter([logarithm(x)], {}).write({ tap: () => "u", type: "vec2f" });
  assert([...ofLogarithm.lines, ...ofLogarithm.values].join().includes(">> vec2u(23)) | vec2u(0x4b000000)"));
  assertEquals(operationsOf(updateOf(sine(x))), costOf("sine"));
  assertEquals(operationsOf(updateOf(multiply(2, sine(add(x, 1))))), costOf("sine") + 2);
  assert(costOf("exponential") < 30 && costOf("power") < 110, `${costOf("exponential")} ${costOf("power")}`);
});

Deno.test("powers of two and exponents are those of the bits", () => {
  assert(OPERATIONS.includes("powerOfTwo") && OPERATIONS.includes("exponentOf"));
  const n = Float32Array.from({ length: 256 }, (_, i) => i - 127);
  const run = { grid: [1, 1, 256], boundary: "periodic", steps: 1 } as const;
  const of = (kind: "powerOfTwo" | "exponentOf", cells: FloatArray) =>
    runReference({ current: cells, previous: cells }, {
      ...run,
      update: updateOf(operate(kind, tap(0, 0, 0))),
    })
      .current;
  const powers = of("powerOfTwo", n);
  assertEquals([powers[0], powers[1], powers[127], powers[255]], [0, LEAST, 1, Infinity]);
  assertEquals(of("exponentOf", powers), n);
  // the largest number below each power of two
  const below = powers.map((value) =>
    Number.isFinite(value) ? value * (1 - 2 ** -23) : 3.4028234663852886e38
  );
  assertEquals(of("exponentOf", below), n.map((value) => Math.max(-127, value - 1)));
});

/** Equations that stay bounded, of every function. */
const DRIVEN: readonly Stencil[] = [
  equation({
    name: "pendulums",
    fields: { u: [-3, 3], v: [-1, 1] },
    step: ({ u, v }) => [
      {
        v: add(
          v,
          multiply(0.1, add(u.at(0, 0, 1), u.at(0, 0, -1), multiply(-2, u))),
          multiply(-0.1, sine(u)),
        ),
      },
      { u: add(u, multiply(0.1, v.next())) },
    ],
  }),
  equation({
    name: "mixed",
    fields: { u: [0.5, 2] },
    step: ({ u }) => {
      const mean = multiply(
        1 / 6,
        add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1), u.at(0, 0, 1), u.at(0, 0, -1)),
      );
      const pushed = add(
        tanh(mean),
        cosine(multiply(3, mean)),
        exponential(multiply(-2, mean)),
        logarithm(mean),
      );
      return { u: add(multiply(0.5, mean), multiply(0.1, pushed), multiply(0.4, power(mean, 0.7))) };
    },
  }),
];

for (const stencil of DRIVEN) {
  Deno.test(`error bound holds for f32 against f64, and catches a function wrong by 1e-3: ${stencil.name}`, () => {
    const grid: Grid = [6, 5, 11], length = stencil.update.fields.length * 6 * 5 * 11;
    const [low, high] = stencil.update.ranges![0]!, random = randomNumbers(9);
    const start = Float32Array.from({ length }, () => low + (high - low) * random());
    const mutant = wrongBy(stencil);
    for (const boundary of ["periodic", "insulated"] as const) {
      for (const steps of [1, 7, 40]) {
        const run = <T extends Float32Array | Float64Array>(cells: T, of = stencil): T =>
          runReference({ current: cells, previous: cells }, { update: of.update, grid, boundary, steps })
            .current;
        const exact = run(Float64Array.from(start)), found = run(start), off = run(start, mutant);
        const differ = (cells: FloatArray) =>
          exact.reduce((most, value, i) => Math.max(most, Math.abs(value - cells[i]!)), 0);
        const largest = exact.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        const bound = errorBound({ stencil, grid, boundary, steps }, largest), error = differ(found);
        assert(error < bound, `${boundary}, ${steps} steps: error ${error}, bound ${bound}`);
        assert(
          error > bound / 3000,
          `${boundary}, ${steps} steps: error ${error}, bound ${bound} is too wide`,
        );
        assert(differ(off) > bound, `${boundary}, ${steps} steps: a wrong function is within ${bound}`);
      }
    }
  });
}

/** The same with every sine and tangent larger by 1e-3. */
function wrongBy(stencil: Stencil): Stencil {
  const wrong = (data: unknown): unknown =>
    !Array.isArray(data)
      ? data
      : data[0] === "sine" || data[0] === "tanh"
      ? ["multiply", 1.001, data]
      : data.map(wrong);
  const { substeps, ...rest } = definitionOf(stencil);
  const changed = substeps.map((substep) =>
    Object.fromEntries(Object.entries(substep).map(([field, data]) => [field, wrong(data)]))
  );
  return stencilOf({ ...rest, substeps: changed });
}

Deno.test("the bound of a function counts its 4 units, and what its slope makes of errors", () => {
  const { update } = heat(1), problem = { grid: [6, 5, 11], boundary: "periodic", steps: 1 } as const;
  const of = (value: Expression): number =>
    errorBound({
      ...problem,
      stencil: { ...heat(1), update: { ...update, substeps: [[{ field: 0, value }]] } },
    }, 1);
  const u = tap(0, 0, 0), once = of(exponential(u));
  // 8 standard deviations of two kernels' 4 units of e
  assertLess(Math.abs(once / (8 * Math.SQRT2 * 8 * 2 ** -24 * Math.E) - 1), 0.05);
  const steep = of(sine(multiply(100, u)));
  assert(steep > 50 * of(multiply(1, u)), `${steep}`);
});
