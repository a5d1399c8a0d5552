/**
 * How long an entry will take, by its recorded rate: nobody waits for hours for what a profile asks, by mistake or
 * on a device a thousand times slower.
 *
 * @module
 */
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import type { ProfileEntry } from "../profile/schema.ts";

/** Time that a step takes at least, however small the grid: a dispatch to record and to launch. */
const STEP_NS = 10e3;

/** Runs before the first sample counts: one to warm up, one to time. */
const RUNS = 2;

/**
 * Nanoseconds until an entry has its first sample: the reference, the warm-up and one run.
 *
 * @param entry the profile's
 * @param slowdown how many times slower this device is than the recorded one
 *
 * @example
 * ```ts
 * import { expectedNs } from "./expected_time.ts";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const problem = { grid: [1000, 1000, 1000], steps: 100 } as const;
 * const result = { cellsPerSecond: 100e9, speedupOverStepwise: 2 };
 * assertAlmostEquals(expectedNs({ problem, result }, 1), 2e9 + 2 * 1e9); // the reference takes twice as long
 * ```
 */
export function expectedNs(
  { problem: { grid, steps }, result: { cellsPerSecond, speedupOverStepwise } }: {
    readonly problem: Pick<ProfileEntry["problem"], "grid" | "steps">;
    readonly result: Pick<ProfileEntry["result"], "cellsPerSecond" | "speedupOverStepwise">;
  },
  slowdown: number,
): number {
  const runNs = Math.max(cellsOf(grid) * steps / cellsPerSecond * 1e9, steps * STEP_NS);
  return slowdown * runNs * (RUNS + Math.max(1, speedupOverStepwise ?? 1));
}
