import { tap } from "../../../kernels/expression.ts";
import { add } from "../../../kernels/operations.ts";
import { layOut } from "../../../kernels/layout.ts";
import { cellsOf, type Problem } from "../../../kernels/stencils/stencil.ts";
import { planesOf, updateOf } from "../../../kernels/update.ts";
import type { CpuPool } from "./wasm_workers.ts";

/** Adds an array to another in place: 12 bytes a cell. A store elsewhere would load, uncounted, what it overwrites. */
const COPY = updateOf(add(tap(0, 0, 0), tap(0, 0, 0, 1))), COPY_BYTES = 12;

/** Cells of a row; cells at most, both arrays then take 512 MiB, more than the caches of large machines. */
const ROW = 1024, MOST_CELLS = 2 ** 26;

/** Time for all passes over one pair of arrays, and for some together; runs at least: V8 replaces its first code within them. */
const TOTAL_MS = 60, RUN_NS = 5e6, LEAST_RUNS = 4;

/**
 * Bytes read plus bytes written per second by all workers, which add one array to another in place. The arrays are as
 * large as the problem's levels: where these fit a cache, it is the cache's bandwidth. What a pass over one row per worker
 * takes, waiting for each other above all, does not count, up to three quarters of the time.
 *
 * @throws {RunFailure} if the workers fail, or there is no memory
 */
export async function measureCpuCopy(
  pool: CpuPool,
  { grid, stencil: { update } }: Problem,
  workers: number,
): Promise<number> {
  const rows = Math.ceil(Math.min(MOST_CELLS, planesOf(update) * cellsOf(grid)) / ROW);
  const passNs = await measurePass(pool, rows, workers), emptyNs = await measurePass(pool, workers, workers);
  return rows * ROW * COPY_BYTES / (Math.max(passNs - emptyNs, passNs / 4) * 1e-9);
}

/** The shortest time of a pass over `rows` rows. */
async function measurePass(pool: CpuPool, rows: number, workers: number): Promise<number> {
  const layout = layOut([rows, 1, ROW], { pad: [0, 0, 0] });
  const field = await pool.load({ update: COPY, layout, boundary: "zero", workers });
  try {
    const endMs = performance.now() + TOTAL_MS;
    let steps = 1, stepNs = Infinity;
    for (let run = 0; run < LEAST_RUNS || performance.now() < endMs; run++) {
      stepNs = Math.min(stepNs, await field.run({ steps }) / steps);
      steps = Math.min(1000, Math.ceil(RUN_NS / Math.max(stepNs, 1)));
    }
    return stepNs;
  } finally {
    await field.dispose();
  }
}
