/**
 * Stepwise on the CPU: a round for every level, in which each worker updates its share of the rows. Strips along y are
 * visited one after another, so that the slices within reach of a strip stay in a core's cache.
 *
 * @module
 */
import { type Box, type CpuOrder, type CpuRun, shareRows, type Visit } from "./cpu_order.ts";

/**
 * The stepwise order.
 *
 * @param run what is visited, and by which of the workers
 * @param strip rows of a strip along y; 0: one strip
 */
export function stepwiseOrder(run: CpuRun, { strip }: { readonly strip: number }): CpuOrder {
  const { levels, grid: [, ny] } = run;
  return {
    rounds: levels,
    visitRound(level: number, visit: Visit): void {
      const [x0, x1] = run.slicesAt(level);
      const strips: Box[] = [];
      const rows = strip > 0 ? strip : ny;
      for (let y0 = 0; y0 < ny; y0 += rows) strips.push({ x0, x1, y0, y1: Math.min(ny, y0 + rows) });
      for (const box of shareRows(strips, run)) visit(level, box);
    },
  };
}

/** Rows of a strip where taps reach far. */
const STRIP_ROWS = 32;

/** Bytes of the slices in reach that stay in a core's second-level cache. */
const CACHED_BYTES = 2 ** 19;

/**
 * The strips that suit a grid if nothing was measured. Where taps reach four slices or more and so many slices leave the
 * cache, strips of 32 rows are 1.1 to 1.3 times faster for orders 10 to 14 on 256³ and 128×128×256, while orders 2 and 4
 * lose up to 0.7 (AMD EPYC, 1 MiB of second-level cache, 2026-11-21).
 *
 * @param reach slices that a sub-step reaches
 * @param sliceBytes bytes of a slice with its pads
 * @returns rows of a strip; 0: one strip
 */
export function usualStrip(reach: number, sliceBytes: number): number {
  return reach >= 4 && sliceBytes * (2 * reach + 1) > CACHED_BYTES ? STRIP_ROWS : 0;
}
