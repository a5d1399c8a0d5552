/**
 * The first part of `bench`: the CPU's workers on grids, in every order, against the same loops in C.
 *
 * @module
 */
import { isPlainLoop } from "./write_c.ts";
import { CPU_TRAVERSALS, type CpuTraversal } from "../kernels/cpu/cpu_traversals.ts";
import { layOut } from "../kernels/layout.ts";
import { cellsOf, type Grid, type Problem, type Stencil } from "../kernels/stencils/stencil.ts";
import type { Parameters } from "../kernels/traversals/traversal.ts";
import { planesOf, reachOf } from "../kernels/update.ts";
import { predictCpuRate } from "../models/cpu_roofline.ts";
import { errorBound } from "../models/error_bound.ts";
import { measureCpuCopy } from "../tuner/devices/cpu/cpu_bandwidth.ts";
import type { CpuField } from "../tuner/devices/cpu/cpu_field.ts";
import { detectWasmFeatures } from "../tuner/devices/cpu/wasm_features.ts";
import { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { RunFailure } from "../tuner/devices/run_failure.ts";
import { median } from "../tuner/measuring/statistics.ts";
import { RequestError } from "../tuner/problem/request_error.ts";
import { NATIVE_COMPILER, NativeLoops } from "./native_loops.ts";
import { medianRatio, takeTurns, WARM_UP_TURNS } from "./take_turns.ts";
import { hashBits } from "./write_c.ts";

/** What to compare. */
export interface GridBenchRequest {
  readonly stencils: readonly Stencil[];
  readonly grids: readonly Grid[];
  readonly workers: number;
  /** For each equation and grid, beside the search for the best parameters. */
  readonly timeMs: number;
}

/** The ways to compute a grid: C and a worker on one core; workers stepwise, in their orders, and C on all. */
const WAYS = ["c", "one", "stepwise", "strips", "diamonds", "native"] as const;
export type Way = typeof WAYS[number];

/** What was found; rates are medians in cells per second. */
export interface CpuComparison {
  readonly title: string;
  readonly grid: Grid;
  /** Bytes of both time levels with their pads. */
  readonly bytes: number;
  /** Bytes per second that all workers move together on arrays of this size. */
  readonly copyBytesPerSecond: number;
  readonly samples: number;
  /** Undefined without gcc, and of the diamonds where none fit the grid. */
  readonly cellsPerSecond: Readonly<Partial<Record<Way, number>>>;
  /** Medians over the turns of one way's rate by another's: one worker by C, all others by stepwise. */
  readonly ratios: Readonly<Partial<Record<Exclude<Way, "c" | "stepwise">, number>>>;
  /** How fast native is on all threads, by its rate on one; below 1 it is measured on one. Undefined for one worker. */
  readonly threadsOverOne?: number | undefined;
  /** Diamonds' rate by that of C on all cores, turn by turn. */
  readonly diamondsOverNative: number | undefined;
  /** The parameters of strips and diamonds: the fastest of a short search. */
  readonly chosen: Readonly<Partial<Record<Way, Parameters>>>;
  /** Ways whose result is not the same: bit for bit, or within rounding where products are fused. */
  readonly wrong: readonly Way[];
}

/** One way to advance the field: nanoseconds of a run. */
interface Contender {
  run(steps: number): Promise<number>;
  dispose(): Promise<void>;
}

/** Time of one sample, long compared with the few µs of starting and stopping it; steps of all workers at least. */
const SAMPLE_NS = 60e6, LEAST_STEPS = 32;

/** Parameters of each order that are tried, the best predicted. */
const MOST_TRIED = 5;

/** Compares all equations on all grids. */
export async function benchGrids(
  { stencils, grids, workers, timeMs }: GridBenchRequest,
): Promise<CpuComparison[]> {
  const comparisons: CpuComparison[] = [];
  for (const grid of grids) {
    for (const stencil of stencils) {
      // pools of their own give the memory back
      const one = await CpuPool.create({ workers: 1 }), all = await CpuPool.create({ workers });
      try {
        comparisons.push(await compareOnGrid({ stencil, grid, one, all, timeMs }));
      } catch (error) {
        if (error instanceof RunFailure && error.reason === "limits") throw new RequestError(error.message);
        throw error;
      } finally {
        one.dispose();
        all.dispose();
      }
    }
  }
  return comparisons;
}

/** Time of a run that checks a yardstick; its runs, of which the fastest counts. */
const CHECK_NS = 5e6, CHECKS = 3;

/**
 * How many times as fast a loop is on all threads as on one. Threads that wait for each other on too few free cores can
 * be a hundred times slower: nothing must be measured against them.
 */
export async function threadsOverOne(
  all: Pick<Contender, "run">,
  one: Pick<Contender, "run">,
): Promise<number> {
  await one.run(1);
  const steps = Math.max(1, Math.round(CHECK_NS / await one.run(1)));
  const fastest = async (loop: Pick<Contender, "run">): Promise<number> => {
    const times: number[] = [];
    while (times.length < CHECKS) times.push(await loop.run(steps));
    return Math.min(...times);
  };
  return await fastest(one) / await fastest(all);
}

/** Compares one stencil on one grid, boundary zero. */
async function compareOnGrid({ stencil, grid, one, all, timeMs }: {
  readonly stencil: Stencil;
  readonly grid: Grid;
  readonly one: CpuPool;
  readonly all: CpuPool;
  readonly timeMs: number;
}): Promise<CpuComparison> {
  const { update } = stencil, { x, y, z } = reachOf(update);
  const layout = layOut(grid, { pad: [x, y, z], planes: planesOf(update) });
  const load = async (
    pool: CpuPool,
    order?: CpuTraversal,
    parameters: Parameters = {},
  ): Promise<CpuField> => {
    const shape = order?.shape(parameters), fused = parameters.fused === 1;
    const field = await pool.load({ update, layout, boundary: "zero", shape, fused });
    await field.initialise({ kind: "noise", seed: 0 });
    return field;
  };
  const copyBytesPerSecond = await measureCpuCopy(
    all,
    { stencil, grid, boundary: "zero", steps: 1 },
    all.workers,
  );
  const usual = await load(all);
  await usual.run({ steps: 2 });
  const steps = 2 * Math.ceil(Math.max(LEAST_STEPS / 2, SAMPLE_NS / await usual.run({ steps: 2 })));
  await usual.initialise({ kind: "noise", seed: 0 });
  const problem: Problem = { stencil, grid, boundary: "zero", steps };
  const search = { pool: all, problem, copyBytesPerSecond };
  const contenders: Partial<Record<Way, Contender>> = {}, fields: Partial<Record<Way, CpuField>> = {};
  const chosen: Partial<Record<Way, Parameters>> = {};
  const join = (way: Way, field: CpuField): void => {
    fields[way] = field;
    contenders[way] = { run: (steps) => field.run({ steps }), dispose: () => field.dispose() };
  };
  try {
    join("stepwise", usual);
    for (const [i, way] of (["strips", "diamonds"] as const).entries()) {
      const order = CPU_TRAVERSALS[i]!;
      const best = await findBest(order, search, (parameters) => load(all, order, parameters));
      if (best === undefined) continue;
      chosen[way] = best;
      join(way, await load(all, order, best));
    }
    join("one", await load(one));
    // one core takes as long for fewer steps; an even number brings each sample back to the same arrays
    const oneSteps = Math.min(steps, 2 * Math.ceil(SAMPLE_NS / await fields.one!.run({ steps: 2 })));
    await fields.one!.initialise({ kind: "noise", seed: 0 });
    const stepsOf = (way: Way): number => ["c", "one"].includes(way) ? oneSteps : steps;
    // C last: a field that does not fit is refused before there is a process to end
    const c = isPlainLoop(update) ? await NativeLoops.create({ update, layout }) : undefined;
    if (c !== undefined) contenders.c = c;
    const createNative = (threads: number) =>
      NativeLoops.create({ update, layout }, { compiler: NATIVE_COMPILER, threads });
    const native = c && await createNative(all.workers);
    if (native !== undefined) contenders.native = native;
    let overOne: number | undefined;
    if (native !== undefined && all.workers > 1) {
      const alone = (await createNative(1))!;
      overOne = await threadsOverOne(native, alone);
      if (overOne < 1) contenders.native = alone;
      await (overOne < 1 ? native : alone).dispose();
    }
    const ways = WAYS.filter((way) => contenders[way] !== undefined);
    const runStep = async (way: Way): Promise<number> =>
      await contenders[way]!.run(stepsOf(way)) / stepsOf(way);
    const samples = await takeTurns(ways.map((way) => () => runStep(way)), {
      untilMs: performance.now() + timeMs,
      warmUp: WARM_UP_TURNS,
    });
    const timesOf = (way: Way): number[] | undefined => samples[ways.indexOf(way)];
    const ratio = (way: Way, by: Way): number | undefined => {
      const upper = timesOf(by), lower = timesOf(way);
      return upper && lower && medianRatio(upper, lower);
    };
    const known = <T>(entries: readonly (readonly [string, T | undefined])[]) =>
      Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, T>;
    const turns = WARM_UP_TURNS + samples[0]!.length;
    const isRight = async (way: Way): Promise<boolean> => {
      if (way === "c") return await c!.hash() === hashBits(usual.current, layout);
      const field = fields[way];
      if (field === undefined) return true; // fused by the compiler as it likes
      const slices = { ago: 0, slice: 0, slices: grid[0] } as const;
      const { maxError, maxValue, notFinite } = await field.compare(
        usual.slices()(0, 0),
        slices,
      );
      const bound = chosen[way]?.fused === 1
        ? errorBound({ stencil, grid, boundary: "zero", steps: steps * turns }, maxValue)
        : 0;
      return notFinite === 0 && maxError <= bound;
    };
    const wrong: Way[] = [];
    for (const way of ways) {
      if (stepsOf(way) === steps && !await isRight(way)) wrong.push(way);
    }
    await usual.initialise({ kind: "noise", seed: 0 });
    await usual.run({ steps: oneSteps * turns });
    for (const way of ["c", "one"] as const) {
      if (contenders[way] !== undefined && oneSteps < steps && !await isRight(way)) wrong.push(way);
    }
    return {
      title: stencil.title,
      grid,
      bytes: 8 * layout.length,
      copyBytesPerSecond,
      samples: samples[0]!.length,
      cellsPerSecond: known(ways.map((way) => [way, cellsOf(grid) / median(timesOf(way)!) * 1e9])),
      ratios: known([
        ["one", ratio("one", "c")],
        ...(["strips", "diamonds", "native"] as const).map((way) => [way, ratio(way, "stepwise")] as const),
      ]),
      threadsOverOne: overOne,
      diamondsOverNative: ratio("diamonds", "native"),
      chosen,
      wrong,
    };
  } finally {
    for (const contender of Object.values(contenders)) await contender.dispose();
  }
}

/** The fastest of the best predicted parameters, in runs of one sample each; undefined where none fit the grid. */
async function findBest(
  order: CpuTraversal,
  { pool: { workers }, problem, copyBytesPerSecond }: {
    readonly pool: CpuPool;
    readonly problem: Problem;
    readonly copyBytesPerSecond: number;
  },
  load: (parameters: Parameters) => Promise<CpuField>,
): Promise<Parameters | undefined> {
  const device = { copyBytesPerSecond, workers }, cells = cellsOf(problem.grid);
  const rated = order.candidates(problem, workers, { fuses: detectWasmFeatures().relaxedSimd }).map((
    one,
  ) => ({
    parameters: one,
    predicted: predictCpuRate(order.demand(problem, one, workers), device, { cells }),
  }));
  const tried = rated.sort((a, b) => b.predicted - a.predicted).slice(0, MOST_TRIED);
  const times: { parameters: Parameters; timeNs: number }[] = [];
  for (const { parameters } of tried) {
    const field = await load(parameters);
    const run = () => field.run({ steps: problem.steps });
    await run();
    times.push({ parameters, timeNs: Math.min(await run(), await run()) });
    await field.dispose();
  }
  return times.sort((a, b) => a.timeNs - b.timeNs)[0]?.parameters;
}
