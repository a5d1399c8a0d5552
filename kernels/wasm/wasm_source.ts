import type { Expression } from "../expression.ts";
import type { Layout } from "../layout.ts";
import type { Boundary } from "../stencils/stencil.ts";

/** What lies beyond the grid along x, y and z. The CPU's share of a periodic grid is `zero` along x only. */
export type AxisBoundaries = readonly [x: Boundary, y: Boundary, z: Boundary];

/** What `writeWasm` translates. */
export interface WasmSource {
  readonly update: Expression;
  /** Where the cells lie; its pads hold at least the update's reach. */
  readonly layout: Layout;
  /** Periodic axes have their pads filled; the others' pads are never written. */
  readonly boundaries: AxisBoundaries;
  /**
   * Vectors of four cells in the body of the innermost loop.
   * @default {4} for up to 32 taps, else 2: on an AMD EPYC (Zen 5), 2026-11-21, best or within 5% of the best for
   * all orders of the wave equation; 6 and more lose up to 40%
   */
  readonly vectorsPerLoop?: number;
}
