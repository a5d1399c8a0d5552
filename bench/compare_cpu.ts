/**
 * The CPU's workers against the same loops in C, and many workers against one: samples of all are taken in
 * turns, so that whatever else the machine does meets each of them alike, and ratios are taken turn by turn.
 *
 * @module
 */
import { median } from "simple-statistics";
import { hashBits } from "./write_c.ts";
import { layOut } from "../kernels/layout.ts";
import { cellsOf, type Grid, type Stencil } from "../kernels/stencils/stencil.ts";
import { planesOf, reachOf } from "../kernels/update.ts";
import { NativeLoops } from "./native_loops.ts";
import type { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";

/** What {@linkcode compareCpu} compares. */
export interface CpuComparisonOptions {
  readonly stencil: Stencil;
  readonly grid: Grid;
  /** A pool of one worker. */
  readonly one: CpuPool;
  /** A pool of several; undefined to leave it out. */
  readonly many?: CpuPool;
  /** Time to spend on samples. */
  readonly timeNs: number;
}

/** What was found; rates are medians in cells per second. */
export interface CpuComparison {
  readonly order: number;
  readonly grid: Grid;
  /** Bytes of both time levels with their pads. */
  readonly bytes: number;
  readonly samples: number;
  /** The loops in C; null without gcc. */
  readonly cCellsPerSecond: number | null;
  readonly oneCellsPerSecond: number;
  readonly manyCellsPerSecond: number | null;
  /** Median over the turns of one worker's rate by that of C. */
  readonly oneOverC: number | null;
  readonly manyOverOne: number | null;
  /** Whether every way gave the same bits in the end. */
  readonly sameBits: boolean;
}

/** One way to advance the field: nanoseconds of a run, and the bits it arrives at. */
interface Contender {
  run(steps: number): Promise<number>;
  hash(): number;
  dispose(): Promise<void>;
}

/** Turns before the first sample that counts: V8 replaces its first code within them. */
const WARM_UP_TURNS = 3;

/** Time of one sample, long against the few µs of starting and stopping it. */
const SAMPLE_NS = 60e6;

/** Turns at least, for a median that one disturbance cannot move. */
const MIN_TURNS = 7;

/** Measures one stencil on one grid, boundary zero. */
export async function compareCpu(options: CpuComparisonOptions): Promise<CpuComparison> {
  const { stencil: { update, variant }, grid, one, many, timeNs } = options;
  const { x, y, z } = reachOf(update);
  const layout = layOut(grid, { pad: [x, y, z], planes: planesOf(update) });
  const load = async (pool: CpuPool): Promise<Contender> => {
    const field = await pool.load({ update, layout, boundary: "zero" });
    await field.setInitial("noise", { seed: 0 });
    return {
      run: (steps) => field.run({ steps }),
      hash: () => hashBits(field.current, layout),
      dispose: () => field.dispose(),
    };
  };
  // C last: a field that does not fit is refused before there is a process to end
  const oneWorker = await load(one), manyWorkers = many && await load(many);
  const contenders = { c: await compileC({ update, layout }), one: oneWorker, many: manyWorkers };
  const all = Object.values(contenders).filter((contender) => contender !== undefined);
  try {
    // an even number of steps brings each sample back to the same arrays
    const probeNs = await contenders.one.run(2);
    for (const other of all) if (other !== contenders.one) await other.run(2);
    const steps = 2 * Math.max(1, Math.round(SAMPLE_NS / probeNs));
    const times = new Map<Contender, number[]>(all.map((contender) => [contender, []]));
    const start = performance.now();
    for (let turn = -WARM_UP_TURNS; turn < MIN_TURNS || (performance.now() - start) * 1e6 < timeNs; turn++) {
      for (const contender of all) {
        const sampleNs = await contender.run(steps);
        if (turn >= 0) times.get(contender)!.push(sampleNs);
      }
    }
    const rate = (contender: Contender | undefined): number | null =>
      contender === undefined ? null : cellsOf(grid) * steps / median(times.get(contender)!) * 1e9;
    const ratio = (upper: Contender | undefined, lower: Contender | undefined): number | null =>
      upper === undefined || lower === undefined
        ? null
        : median(times.get(upper)!.map((upperNs, turn) => times.get(lower)![turn] / upperNs));
    const hashes = all.map((contender) => contender.hash());
    return {
      order: Number(variant.order),
      grid,
      bytes: 8 * layout.length,
      samples: times.get(contenders.one)!.length,
      cCellsPerSecond: rate(contenders.c),
      oneCellsPerSecond: rate(contenders.one)!,
      manyCellsPerSecond: rate(contenders.many),
      oneOverC: ratio(contenders.one, contenders.c),
      manyOverOne: ratio(contenders.many, contenders.one),
      sameBits: hashes.every((hash) => hash === hashes[0]),
    };
  } finally {
    for (const contender of all) await contender.dispose();
  }
}

async function compileC(source: Parameters<typeof NativeLoops.create>[0]): Promise<Contender | undefined> {
  const loops = await NativeLoops.create(source);
  if (loops === undefined) return undefined;
  let newest = 0;
  return {
    run: async (steps) => {
      const { timeNs, hash } = await loops.run(steps);
      newest = hash;
      return timeNs;
    },
    hash: () => newest,
    dispose: () => loops.dispose(),
  };
}
