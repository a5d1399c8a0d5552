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
