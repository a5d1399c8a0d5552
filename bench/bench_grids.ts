/**
 * The first part of `bench`: one CPU worker against the same loops in C, and several workers against one.
 *
 * @module
 */
import { layOut } from "../kernels/layout.ts";
import { cellsOf, type Grid, type Stencil } from "../kernels/stencils/stencil.ts";
import { wave } from "../kernels/stencils/wave.ts";
import { planesOf, reachOf } from "../kernels/update.ts";
import { CpuPool } from "../tuner/devices/cpu/wasm_workers.ts";
import { RunFailure } from "../tuner/devices/run_failure.ts";
import { formatRate, formatTable } from "../tuner/format.ts";
import { median } from "../tuner/measuring/statistics.ts";
import { RequestError } from "../tuner/problem/request_error.ts";
import { C_COMPILER, NativeLoops } from "./native_loops.ts";
import { medianRatio, takeTurns, WARM_UP_TURNS } from "./take_turns.ts";
import { hashBits } from "./write_c.ts";

/** What to compare. */
export interface GridBenchRequest {
  readonly orders: readonly number[];
  readonly grids: readonly Grid[];
  readonly workers: number;
  /** For each order and grid. */
  readonly timeMs: number;
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

/** One way to advance the field: nanoseconds of a run, and the bits of its result. */
interface Contender {
  run(steps: number): Promise<number>;
  hash(): number;
  dispose(): Promise<void>;
}

/** Time of one sample, long compared with the few µs of starting and stopping it. */
const SAMPLE_NS = 60e6;

/** Compares all orders on all grids. */
export async function benchGrids(
  { orders, grids, workers, timeMs }: GridBenchRequest,
): Promise<CpuComparison[]> {
  const one = await CpuPool.create({ workers: 1 });
  const many = workers > 1 ? await CpuPool.create({ workers }) : undefined;
  try {
    const comparisons: CpuComparison[] = [];
    for (const grid of grids) {
      for (const order of orders) {
        comparisons.push({
          order,
          ...await compareOnGrid({ stencil: wave(order), grid, one, many, timeMs }),
        });
      }
    }
    return comparisons;
  } catch (error) {
    if (error instanceof RunFailure && error.reason === "limits") throw new RequestError(error.message);
    throw error;
  } finally {
    one.dispose();
    many?.dispose();
  }
}

/** Compares one stencil on one grid, boundary zero. */
async function compareOnGrid({ stencil: { update }, grid, one, many, timeMs }: {
  readonly stencil: Stencil;
  readonly grid: Grid;
  readonly one: CpuPool;
  readonly many: CpuPool | undefined;
  readonly timeMs: number;
}): Promise<Omit<CpuComparison, "order">> {
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
  const c = await NativeLoops.create({ update, layout });
  const all: Contender[] = [oneWorker, manyWorkers, c].filter((contender) => contender !== undefined);
  try {
    // an even number of steps brings each sample back to the same arrays
    const probeNs = await oneWorker.run(2);
    for (const other of all.slice(1)) await other.run(2);
    const steps = 2 * Math.max(1, Math.round(SAMPLE_NS / probeNs));
    const runs = all.map((contender) => () => contender.run(steps));
    const samples = await takeTurns(runs, { untilMs: performance.now() + timeMs, warmUp: WARM_UP_TURNS });
    const timesOf = (contender: Contender | undefined): number[] | undefined =>
      contender && samples[all.indexOf(contender)];
    const rate = (times: number[]): number => cellsOf(grid) * steps / median(times) * 1e9;
    const ofC = timesOf(c), ofOne = timesOf(oneWorker)!, ofMany = timesOf(manyWorkers);
    return {
      grid,
      bytes: 8 * layout.length,
      samples: ofOne.length,
      cCellsPerSecond: ofC === undefined ? null : rate(ofC),
      oneCellsPerSecond: rate(ofOne),
      manyCellsPerSecond: ofMany === undefined ? null : rate(ofMany),
      oneOverC: ofC === undefined ? null : medianRatio(ofC, ofOne),
      manyOverOne: ofMany === undefined ? null : medianRatio(ofOne, ofMany),
      sameBits: new Set(all.map((contender) => contender.hash())).size === 1,
    };
  } finally {
    for (const contender of all) await contender.dispose();
  }
}

/**
 * The results for people.
 *
 * @param comparisons in the order they were measured
 * @param workers of the pool of several
 * @returns text of whole lines, without the last line end
 */
export function renderGrids(comparisons: readonly CpuComparison[], workers: number): string {
  const rate = (cellsPerSecond: number | null): string =>
    cellsPerSecond === null ? "–" : formatRate(cellsPerSecond);
  const ratio = (value: number | null): string => value === null ? "–" : value.toFixed(2);
  const header = ["grid", "MiB", "order", "C", "1 worker", "of C", `${workers} workers`, "of 1", "samples"];
  const rows = comparisons.map((found) => [
    found.grid.join("x"),
    (found.bytes / 2 ** 20).toFixed(0),
    String(found.order),
    rate(found.cCellsPerSecond),
    rate(found.oneCellsPerSecond),
    ratio(found.oneOverC),
    rate(found.manyCellsPerSecond),
    ratio(found.manyOverOne),
    String(found.samples),
  ]);
  const hasC = comparisons.some(({ cCellsPerSecond }) => cCellsPerSecond !== null);
  const differing = comparisons.filter(({ sameBits }) => !sameBits);
  return [
    `Wave equation, boundary zero, f32; medians of samples taken in turns. C: plain loops, ${
      C_COMPILER.join(" ")
    }, one thread.`,
    ...(hasC ? [] : ["There is no gcc on this machine: the loops in C are left out."]),
    "",
    formatTable([header, ...rows], { right: [1, 2, 3, 4, 5, 6, 7, 8] }),
    "",
    differing.length === 0
      ? "All ways gave the same field, bit for bit."
      : `DIFFERENT FIELDS: ${
        differing.map(({ grid, order }) => `order ${order} on ${grid.join("x")}`).join(", ")
      }`,
  ].join("\n");
}
