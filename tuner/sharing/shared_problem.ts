/**
 * A problem and a share of it, as the model of a shared step and the devices each name them.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { planesOf, readsPrevious } from "../../kernels/update.ts";
import type { SharedGrid, SharePoint } from "../../models/shared_step.ts";
import { ghostSlices } from "../devices/shared/shares.ts";
import type { CpuPool } from "../devices/cpu/wasm_workers.ts";
import type { Configuration } from "../configuration.ts";

/** The problem as the model of a shared step sees it. */
export function sharedGridOf({ grid, stencil, boundary, steps }: Problem): SharedGrid {
  return {
    grid,
    reach: ghostSlices({ stencil }, 1),
    interfaces: boundary === "periodic" ? 2 : 1,
    values: [planesOf(stencil.update), readsPrevious(stencil.update) ? planesOf(stencil.update) : 0],
    steps,
  };
}

/** What is shared, and how the GPU computes it. */
export interface SharedSetup {
  readonly configuration: Configuration;
  readonly cpuPool: CpuPool;
  readonly problem: Problem;
}

/** The GPU's configuration with a share for the CPU. */
export function shareConfiguration(
  { configuration: { traversal, parameters }, cpuPool, problem: { grid: [slices] } }: SharedSetup,
  { exchangeEvery, cpuSlices }: SharePoint,
): Configuration {
  const cpuWorkers = cpuSlices > 0 ? cpuPool.workers : 0;
  return {
    traversal,
    parameters,
    share: { cpuSlices, gpuSlices: slices - cpuSlices, exchangeEvery, cpuWorkers },
  };
}
