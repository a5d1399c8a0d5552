import { layOut } from "../../kernels/layout.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { planesOf, reachOf } from "../../kernels/update.ts";
import type { CpuPool } from "../devices/cpu/wasm_workers.ts";

/** Cell updates of one run of the probe: some 10 ms on one core. */
const PROBE_UPDATES = 2e7;
/** Runs; the first ones are slow, until V8 has optimised the code. */
const PROBE_RUNS = 5;
/** Steps of the first run at most: on a small grid a step costs what the workers wait for each other. */
const FIRST_STEPS = 64;
/** Time of a run that is long enough to be timed, in nanoseconds. */
const RUN_NS = 10e6;

/**
 * Estimates how fast the CPU is, from a few steps on a few slices, so that the cost of the whole problem is known
 * beforehand. It is not a measurement: nothing is verified, and the slices may fit a cache.
 *
 * @returns cells per second
 * @throws {RunFailure} if the workers fail
 */
export async function probeCpu(
  pool: Pick<CpuPool, "workers" | "load">,
  { stencil: { update }, grid, boundary }: Problem,
): Promise<number> {
  const [nx, ny, nz] = grid;
  const slices = Math.min(nx, Math.max(4 * pool.workers, Math.ceil(PROBE_UPDATES / 4 / (ny * nz))));
  const { x, y, z } = reachOf(update);
  const field = await pool.load({
    update,
    layout: layOut([slices, ny, nz], { pad: [x, y, z], planes: planesOf(update) }),
    boundary,
  });
  try {
    await field.setInitial("noise");
    const updates = cellsOf([slices, ny, nz]);
    const most = Math.max(1, Math.ceil(PROBE_UPDATES / updates));
    let steps = Math.min(most, FIRST_STEPS), stepNs = Infinity;
    for (let run = 0; run < PROBE_RUNS; run++) {
      const runNs = await field.run({ steps });
      stepNs = Math.min(stepNs, runNs / steps);
      steps = Math.min(most, Math.max(steps, Math.ceil(RUN_NS / stepNs)));
    }
    return updates / (stepNs * 1e-9);
  } finally {
    await field.dispose();
  }
}
