/**
 * A solver that tries other configurations while it runs: by a simulated clock, on whole numbers, bit for bit.
 *
 * @module
 */
import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { readsPrevious } from "../../kernels/update.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";
import { SharedField } from "../../tuner/devices/shared/shared_field.ts";
import { checkProfile } from "../../tuner/profile/schema.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import { FieldSolver } from "../../tuner/solver/field_solver.ts";
import { type Contender, Refinement } from "../../tuner/solver/refinement.ts";
import { along, equation } from "../../kernels/equation.ts";
import type { Expression } from "../../kernels/expression.ts";
import { add, maximum, minimum, multiply, subtract } from "../../kernels/operations.ts";
import { wholeNumberWave } from "../kernels/whole_numbers.ts";
import { PROFILE } from "../profile/sample_profile.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import "../own_thread.ts";
import { SMALL_TORRE } from "../kernels/small_torre.ts";

const GRID: Grid = [14, 9, 11];
const WAVE: Problem = { stencil: wholeNumberWave(2), grid: GRID, boundary: "periodic", steps: 2 };

/** On the CPU, told apart by their steps between exchanges, which do nothing there. */
function onCpu(exchangeEvery: number): Configuration {
  const share = { cpuSlices: 14, gpuSlices: 0, exchangeEvery, cpuWorkers: 1 };
  return { traversal: "stepwise", parameters: {}, share };
}

function onGpu(traversal: string, parameters: Configuration["parameters"], cpuSlices = 0): Configuration {
  const share = { cpuSlices, gpuSlices: 14 - cpuSlices, exchangeEvery: 1, cpuWorkers: cpuSlices > 0 ? 1 : 0 };
  return { traversal, parameters, share };
}

const PLAIN = onGpu("stepwise", { threadsZ: 8, threadsY: 2, threadsX: 1 });
const TORRE = onGpu("diamond-torre", SMALL_TORRE);
const SHARED = onGpu("stepwise", PLAIN.parameters, 5);

/** What a configuration does in the simulation. */
interface Fate {
  /** Simulated time of a step. */
  readonly stepNs: number;
  /** What it takes to compile. @default {0} */
  readonly compileNs?: number;
  /** Called with the steps that are begun. */
  readonly before?: (steps: number) => void;
  /** Called after each run. */
  readonly after?: (field: SharedField, runs: number) => Promise<void> | void;
}

type Fated = readonly [Configuration, Fate];

/** A solver whose fields are real and whose clock is not. */
async function simulated(
  problem: Problem,
  fates: readonly (readonly [Configuration, Fate])[],
  { gpu, isReady, prepare, longRunGain }: {
    gpu?: GpuDevice;
    isReady?: (configuration: Configuration) => boolean;
    prepare?: (configuration: Configuration) => Promise<unknown>;
    longRunGain?: (configuration: Configuration, steps: number) => number;
  } = {},
): Promise<{ solver: FieldSolver; open: Set<Configuration>; ahead: number[] }> {
  const open = new Set<Configuration>(), ahead: number[] = [];
  /** Steps that were begun and are not finished. */
  let underWay = 0;
  const openOne = async (configuration: Configuration): Promise<Contender> => {
    const fate = fates.find(([one]) => one === configuration)![1];
    if (open.size > 0) ahead.push(underWay);
    const cpuPool = configuration.share.cpuSlices > 0 ? await CpuPool.create({ workers: 1 }) : undefined;
    const field = await SharedField.create(problem, { configuration, gpu, cpuPool });
    Object.defineProperty(field, "compileNs", { value: fate.compileNs ?? 0 });
    const run = field.run.bind(field), begin = field.begin.bind(field);
    let runs = 0;
    field.begin = async (steps) => {
      const submission = await begin(steps);
      fate.before?.(steps);
      underWay += steps;
      return {
        finish: async () => {
          await submission.finish();
          underWay -= steps;
          const timeNs = fate.stepNs * steps;
          // of several devices the field runs for it
          if (field.alone !== undefined) await fate.after?.(field, ++runs);
          return timeNs;
        },
      };
    };
    field.run = async (steps, repetitions) => {
      const times = await run(steps, repetitions);
      await fate.after?.(field, ++runs);
      return { ...times, timeNs: fate.stepNs * steps };
    };
    open.add(configuration);
    return {
      configuration,
      field,
      [Symbol.dispose]() {
        open.delete(configuration);
        field[Symbol.dispose]();
        cpuPool?.dispose();
      },
    };
  };
  const [[first], ...others] = fates as [typeof fates[0], ...typeof fates];
  const refinement = new Refinement(problem, others.map(([one]) => one), {
    open: openOne,
    ...(prepare && { prepare }),
    longRunGain,
    ahead: isReady && { isReady, [Symbol.dispose]: () => {} },
  });
  const contender = await openOne(first);
  return {
    solver: new FieldSolver({
      contender,
      gpu: undefined,
      refinement,
      isBorrowed: false,
      withPoints: () => Promise.reject(new Error("not wanted here")),
    }),
    open,
    ahead,
  };
}

/** Whole numbers into both levels, and materials that are not the stencil's. */
async function writeAll(solver: FieldSolver | Awaited<ReturnType<typeof createSolver>>): Promise<void> {
  const { fields, materials } = solver.problem.stencil.update;
  for (const [plane, name] of [...fields, ...materials.map(({ name }) => name)].entries()) {
    const isMaterial = plane >= fields.length;
    for (
      const ago of readsPrevious(solver.problem.stencil.update) && !isMaterial
        ? [0, 1] as const
        : [0] as const
    ) {
      await solver.write(name, (x, y, z) => (x * 7 + y * 3 + z * 5 + plane + 2 * ago) % 3 - 1, { ago });
    }
  }
}

/** Every field and level. */
async function stateOf(solver: FieldSolver | Awaited<ReturnType<typeof createSolver>>): Promise<number[][]> {
  const state: number[][] = [[solver.step]];
  const { update } = solver.problem.stencil;
  for (const name of update.fields) {
    for (const ago of readsPrevious(update) ? [0, 1] as const : [0] as const) {
      state.push([...await solver.read(name, { ago })]);
    }
  }
  return state;
}

/** Bit for bit, in few words. */
function assertSame(found: number[][][], wanted: number[][][]): void {
  const differing = wanted.flatMap((state, run) =>
    state.flatMap((level, i) => {
      const count = level.filter((value, cell) => value !== found[run]![i]![cell]).length;
      const largest = level.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      return count === 0 && largest <= 2 ** 24 ? [] : [{ run, level: i, count, largest }];
    })
  );
  assertEquals(differing, []);
}

/** Odd runs; all is written anew before each, so that numbers stay small enough for f32. */
const RUNS = [1, 2, 5, 1, 4, 3, 5, 4, 5, 3, 4];

/** The states after each run; `between` is called first. */
async function statesOf(
  solver: FieldSolver | Awaited<ReturnType<typeof createSolver>>,
  between: () => void = () => {},
): Promise<number[][][]> {
  const states: number[][][] = [];
  for (const steps of RUNS) {
    await writeAll(solver);
    await solver.run(steps);
    states.push(await stateOf(solver));
    between();
  }
  return states;
}

const MS = 1e6;

Deno.test("without refine nothing else is measured; what refine takes is checked", async () => {
  await using solver = await createSolver(null, WAVE, onCpu(1));
  await solver.run(8);
  assertEquals(solver.refined, undefined);
  await assertRejects(
    () => createSolver(null, WAVE, onCpu(1), { refine: 3 as never }),
    RangeError,
    "refine must be a boolean or a list",
  );
  await assertRejects(
    () => createSolver(null, WAVE, onCpu(1), { refine: true, buffers: [] as never }),
    RangeError,
    "with your own buffers refine must be false",
  );
});

Deno.test("the fastest is kept, the entry can be stored, and all memory is given back", async () => {
  const [slow, slower, fast, fastest] = [1, 2, 3, 4].map(onCpu) as [Configuration, ...Configuration[]];
  const { solver, open } = await simulated(WAVE, [
    [slow, { stepNs: 20 * MS }],
    [slower!, { stepNs: 40 * MS }],
    [fast!, { stepNs: 10 * MS }],
    [fastest!, { stepNs: 5 * MS }],
  ]);
  {
    await using _ = solver;
    assertEquals([solver.refined!.isDone, solver.refined!.entry], [false, undefined]);
    await solver.run(1); // too short to begin
    assertEquals(open, new Set([slow]));
    await solver.run(60);
    const { isDone, configuration, cellsPerSecond, entry, tried } = solver.refined!;
    assertEquals([isDone, configuration, solver.configuration], [true, fastest, fastest]);
    assertEquals(open, new Set([fastest]));
    assertEquals(cellsPerSecond, 14 * 9 * 11 / 5e-3);
    assertEquals(tried.find((one) => one.configuration === slower)!.samples.length, 0, "given up at once");
    checkProfile({ ...PROFILE, entries: [entry] }, "refined.json");
    assertEquals(entry!.calibration![0]!.cellsPerSecond, cellsPerSecond);
  }
  assertEquals(open.size, 0);
});

Deno.test("the current configuration computes while a candidate is opened, and what is clear is timed twice", async () => {
  // a run of the problem's two steps takes 8 ms at first
  const [first, slower, alike, faster, mixed] = [4, 4.1, 4.02, 3, 3].map((ms, i) =>
    [onCpu(i + 1), { stepNs: ms * MS, compileNs: 40 * MS }] as const
  ) as [Fated, ...Fated[]];
  let waveringMs = 3;
  const wavering: Fated = [mixed![0], {
    get stepNs() {
      return waveringMs * MS;
    },
    after: (_, runs) => {
      waveringMs = runs % 2 === 0 ? 2.9 : 3.1;
    },
  }];
  const { solver, ahead } = await simulated(WAVE, [first, slower!, alike!, faster!, wavering]);
  await using _ = solver;
  await solver.run(400);
  const { isDone, configuration, tried } = solver.refined!;
  assertEquals([isDone, configuration], [true, faster![0]]);
  assertEquals(ahead, [6, 10, 10, 14], "20 ms at first, then what the last one took to compile");
  const samplesOf = ([wanted]: Fated): number =>
    tried.find((one) => one.configuration === wanted)!.samples.length;
  assertEquals([slower!, alike!, wavering].map(samplesOf), [2, 2, 5]);
});

Deno.test("a function is asked once while a candidate is tried, so that both have the same random values", async () => {
  const stencil = equation({
    name: "media",
    fields: { u: [0, 1] },
    materials: { v: { values: [3] }, p: along("y", { values: [1] }) },
    step: ({ u, v, p }) => ({ u: add(u, multiply(v, p)) }),
  });
  const fates = [1, 2].map((i) => [onCpu(i), { stepNs: 20 * MS / i }] as const);
  const { solver, open } = await simulated({ stencil, grid: GRID, boundary: "zero", steps: 2 }, fates);
  await using _ = solver;
  await solver.run(4);
  assertEquals(open.size, 2);
  for (const [name, cells] of [["v", 14 * 9 * 11], ["p", 9], ["u", 14 * 9 * 11]] as const) {
    let calls = 0;
    await solver.write(name, () => ++calls);
    assertEquals(calls, cells, name);
  }
  await solver.run(40);
  assertEquals(solver.configuration, fates[1]![0]);
  assertEquals(solver.refined!.tried.flatMap(({ failure }) => failure ?? []), []);
});

Deno.test("a problem without steps: runs of any length are compared, one with steps waits for as long ones", async () => {
  for (const anyLength of [false, true]) {
    const [slow, fast] = [onCpu(1), onCpu(2)], problem = { ...WAVE, steps: 100 };
    const { solver } = await simulated(problem, [[slow, { stepNs: 2e6 }], [fast, { stepNs: 1e6 }]], {
      ...(anyLength && { longRunGain: () => 1 }),
    });
    for (let i = 0; i < 8; i++) await solver.run(3);
    assertEquals([solver.step, solver.configuration], [24, anyLength ? fast : slow]);
    assertEquals(solver.refined!.isDone, anyLength);
    solver.dispose();
  }
});

testOnGpu(
  "without steps, long runs decide between two orders, on cores always; without hope one is given up before",
  async (gpu) => {
    const problem: Problem = { ...WAVE, boundary: "zero", steps: 1000 };
    const fast = { ...TORRE, parameters: { ...TORRE.parameters, nt: 96, bands: 2 } };
    const alike = { ...fast, parameters: { ...fast.parameters, unroll: 1 } };
    const { isSoftware: own } = gpu;
    for (
      const [isSoftware, slow, gain, shortMs, longMs, isKept, samples] of [
        [false, alike, 1, 1, 3, true, 1], // of one order few steps tell
        [true, alike, 1, 1, 3, false, 1],
        [false, PLAIN, 1, 1, 3, false, 1],
        [false, PLAIN, 1.2, 2.4, 1.5, true, 1], // 2 / 2.4 alone would leave no hope
        [true, PLAIN, 1, 2.4, 1.5, true, 1], // on cores it leaves some
        [false, PLAIN, 0.6, 1.5, 1.5, false, 0],
      ] as const
    ) {
      let steps = 0;
      const fate: Fate = {
        get stepNs() {
          return (steps >= 192 ? longMs : shortMs) * MS;
        },
        before: (count) => {
          steps = count;
        },
      };
      Object.defineProperty(gpu, "isSoftware", { value: isSoftware, configurable: true });
      const { solver } = await simulated(problem, [[slow, { stepNs: 2 * MS }], [fast, fate]], {
        gpu,
        longRunGain: (configuration, steps) => configuration === fast && steps < 192 ? gain : 1,
      });
      await using _ = solver;
      await solver.run(600);
      const { isDone, tried } = solver.refined!,
        its = tried.find(({ configuration }) => configuration === fast);
      const found = [isDone, solver.configuration, its!.samples.length];
      assertEquals([isSoftware, gain, ...found], [isSoftware, gain, true, isKept ? fast : slow, samples]);
    }
    Object.defineProperty(gpu, "isSoftware", { value: own, configurable: true });
  },
);

Deno.test("what is not compiled yet waits, and the solver goes on; what is ready is tried first", async () => {
  const [first, second, third] = [1, 2, 3].map(onCpu) as [Configuration, Configuration, Configuration];
  const ready = new Set<Configuration>();
  const { solver, open } = await simulated(WAVE, [
    [first, { stepNs: 20 * MS }],
    [second, { stepNs: 20 * MS }],
    [third, { stepNs: 20 * MS }],
  ], { isReady: (one) => ready.has(one) });
  await using _ = solver;
  await solver.run(20);
  assertEquals([solver.step, open, solver.refined!.isDone], [20, new Set([first]), false]);
  ready.add(third);
  await solver.run(20);
  const tried = solver.refined!.tried.map(({ configuration }) => configuration);
  assertEquals([solver.step, new Set(tried)], [40, new Set([first, third])]);
  ready.add(second);
  await solver.run(20);
  assertEquals([solver.step, solver.refined!.isDone], [60, true]);
});

Deno.test("a candidate that is wrong, fails or cannot be opened changes nothing, and is recorded", async () => {
  // stable, so that rounding explains little after any number of steps
  const problem: Problem = { ...WAVE, stencil: wave(2), boundary: "zero" };
  const [first, wrong, late, failing, missing] = [1, 2, 3, 4, 5].map(onCpu) as Configuration[];
  const spoil = (field: SharedField) =>
    field.write({ plane: 0, ago: 1, x: 4, slices: 1 }, () => new Float32Array(9 * 11).fill(9));
  const { solver, open } = await simulated(problem, [
    [first!, { stepNs: 20 * MS }],
    [wrong!, { stepNs: MS, after: spoil }],
    [late!, { stepNs: MS, after: (field, runs) => runs > 3 ? spoil(field) : undefined }],
    [failing!, {
      stepNs: MS,
      after: () => {
        throw new RunFailure("out-of-memory", "no memory");
      },
    }],
    [{ ...missing!, share: { ...missing!.share, gpuSlices: 14, cpuSlices: 0 } }, { stepNs: MS }],
  ]);
  await using _ = solver;
  await using plain = await createSolver(null, problem, first!);
  assertSame(await statesOf(solver), await statesOf(plain));
  const { isDone, tried, configuration } = solver.refined!;
  assertEquals([isDone, configuration, open], [true, first, new Set([first])]);
  assertEquals(
    tried.flatMap(({ failure }) => failure?.reason ?? []).slice(0, 3),
    ["incorrect", "incorrect", "out-of-memory"],
  );
  assertEquals(tried.length, 5);
});

Deno.test("a solver disposed while a candidate is under way gives its memory back", async () => {
  const [first, other] = [onCpu(1), onCpu(2)];
  const { solver, open } = await simulated(WAVE, [[first, { stepNs: 1 }], [other, { stepNs: 1 }]]);
  await solver.run(4);
  assertEquals(open, new Set([first, other]));
  await solver[Symbol.asyncDispose]();
  assertEquals(open.size, 0);
});

const clamped = (value: Expression): Expression => maximum(-99, minimum(99, value));

/** Two sub-steps with a material and a signal, on whole numbers that stay exact. */
const PUSHED = equation({
  name: "pushed",
  fields: { u: [-4, 3], w: [-4, 3] },
  materials: { m: { values: [1, 0, -1, 2, 0, 1, 1, 0] } },
  initialField: "integers",
  signal: (step) => step,
  step: ({ u, w, m }, signal) => [
    { u: clamped(add(u, w.at(1), multiply(-1, w.at(0, -1)), multiply(m, signal))) },
    { w: clamped(subtract(u.next(-1), u.next(0, 0, 1))) },
  ],
});

for (
  const [name, problem, ...others] of [
    ["waves", WAVE],
    ["waves between zeros", { ...WAVE, boundary: "zero" }, TORRE],
    ["two fields with a signal", { ...WAVE, stencil: PUSHED }],
  ] as const
) {
  testOnGpu(`refined ${name}: the results are those without, across layouts and devices`, async (gpu) => {
    const all = [PLAIN, ...others, onGpu("stepwise", { ...PLAIN.parameters, threadsZ: 4 }), onCpu(1), SHARED];
    // each is faster than the one before
    const fates = all.map((one, i) => [one, { stepNs: 40 * MS / 2 ** i }] as const);
    const { solver } = await simulated(problem, fates, { gpu });
    await using _ = solver;
    await using plain = await createSolver(gpu.device, problem, PLAIN, { timeoutMs: 600_000 });
    const used = new Set<Configuration>();
    const states = await statesOf(solver, () => used.add(solver.configuration));
    assertSame(states, await statesOf(plain));
    assertGreater(used.size, 1, "it changed its configuration meanwhile");
    assertEquals(solver.refined!.tried.flatMap(({ failure }) => failure ?? []), []);
  });
}

testOnGpu(
  "what is compiled elsewhere is prepared once, while both compute, and if that fails nothing changes",
  async (gpu) => {
    const [first, second, third] = [8, 4, 2].map((threadsZ) =>
      onGpu("stepwise", { ...PLAIN.parameters, threadsZ })
    ) as [Configuration, Configuration, Configuration];
    const prepared: Configuration[] = [];
    const prepare = (one: Configuration): Promise<never> => {
      prepared.push(one);
      return Promise.reject(new Error("no"));
    };
    for (const isReady of [() => true, undefined]) {
      const fates = [[first, { stepNs: 3 * MS }], [second, { stepNs: 2 * MS }], [third, {
        stepNs: MS,
      }]] as const;
      const { solver } = await simulated(WAVE, fates, { gpu, prepare, ...(isReady && { isReady }) });
      await using _ = solver;
      await solver.run(400);
      assertEquals([solver.refined!.isDone, solver.configuration], [true, third]);
      // the second is opened at once; where nothing compiles ahead, nothing is prepared
      assertEquals(prepared.splice(0), isReady ? [third] : []);
    }
  },
);

testOnGpu("refine: true tries what the models predict", async ({ device }) => {
  const configuration = PLAIN, options = { refine: true, timeoutMs: 600_000 };
  await using solver = await createSolver(device, WAVE, configuration, options);
  await using plain = await createSolver(device, WAVE, configuration);
  assertSame(await statesOf(solver), await statesOf(plain));
  assert(solver.refined!.tried.length > 0);
  // the CPU that was chosen gives way to no GPU that the models cannot compare it with
  await using other = await createSolver(device, WAVE, onCpu(1), options);
  await other.run(200);
  const tried = other.refined!.tried.map(({ configuration: { share } }) => share.gpuSlices);
  assertEquals(tried, tried.map(() => 0));
});

testOnGpu("rates under a lower clock are not entered; what is compared under it is decided", async (gpu) => {
  Object.defineProperty(gpu, "isSoftware", { value: false });
  // the clock is up once the first candidate is decided
  let factor = 2;
  const fateOf = (ms: number, after?: Fate["after"]): Fate => ({
    get stepNs() {
      return factor * ms * MS;
    },
    ...(after && { after }),
  });
  const [slow, slower, fast] = [2, 4, 8].map((threadsZ) =>
    onGpu("stepwise", { ...PLAIN.parameters, threadsZ })
  );
  const { solver } = await simulated(WAVE, [
    [slow!, fateOf(20)],
    [slower!, fateOf(22)],
    [
      fast!,
      fateOf(10, () => {
        factor = 1;
      }),
    ],
  ], { gpu });
  await using _ = solver;
  await writeAll(solver);
  await solver.run(60);
  const { configuration, tried, entry } = solver.refined!;
  assertEquals(configuration, fast);
  const ratesOf = (wanted: Configuration): number[] => {
    const { samples } = tried.find((one) => one.configuration === wanted)!;
    return [...new Set(samples.map((rate) => Math.round(14 * 9 * 11 / rate * 1e3)))];
  };
  assertEquals([slow!, slower!, fast!].map(ratesOf), [[20], [], [10]]);
  assertEquals(entry!.calibration!.length, 2);
});
