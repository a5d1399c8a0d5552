import type { Layout } from "../layout.ts";
import type { Boundary } from "../stencils/stencil.ts";
import type { Update } from "../update.ts";

/** What lies beyond the grid along x, y and z. The CPU's share of a periodic grid is `zero` along x only. */
export type AxisBoundaries = readonly [x: Boundary, y: Boundary, z: Boundary];

/** What `writeWasm` translates. */
export interface WasmSource {
  readonly update: Update;
  /** Where the cells lie; its pads hold at least the update's reach. */
  readonly layout: Layout;
  /** Periodic axes have their pads filled; the others' pads are never written. */
  readonly boundaries: AxisBoundaries;
  /**
   * Vectors of four cells in the body of the innermost loop.
   * @default {4} for up to 32 taps, 2 for more, 1 for several fields
   */
  readonly vectorsPerLoop?: number;
}
