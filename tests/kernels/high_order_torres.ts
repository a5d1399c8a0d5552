/**
 * Torres of the highest orders. A software device compiles each for up to a minute, so each is run in a process
 * of its own, where the compiler can be told to spare its effort: `deno run high_order_torres.ts ORDER …`.
 *
 * @module
 */
import type { Grid } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/diamond_torre.ts";
import { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { assertWithinBound, type OracleCase } from "./oracle_case.ts";

/** A case of the wave equation. */
interface HighOrderCase extends Omit<OracleCase, "stencil"> {
  readonly order: number;
}

/** One case an order: unroll 1 has the least code. */
export const HIGH_ORDER_TORRES: readonly HighOrderCase[] = ([
  [10, [23, 11, 13], 13],
  [12, [7, 29, 5], 5],
  [14, [17, 5, 31], 32],
] satisfies [order: number, grid: Grid, threads: number][]).map(([order, grid, threads]) => ({
  traversal: diamondTorre,
  order,
  grid,
  parameters: { dts: 1, nt: 2, bands: 1, zPerThread: 1, threads, chunk: 8, unroll: 1, lookahead: 99 },
  runs: [1, 2, 3],
}));

if (import.meta.main) {
  using gpu = await GpuDevice.open({ timeoutMs: 500_000 });
  for (const { order, ...rest } of HIGH_ORDER_TORRES) {
    if (Deno.args.includes(`${order}`)) await assertWithinBound(gpu!, { ...rest, stencil: wave(order) });
  }
}
