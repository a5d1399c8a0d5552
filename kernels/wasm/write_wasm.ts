/**
 * The writer for the CPU: an update as a WebAssembly module with 128-bit SIMD over an imported shared memory.
 *
 * Each operation of the expression becomes one `f32x4` instruction, in the expression's own order. Nothing
 * is fused, because WebAssembly without relaxed SIMD has no fused multiply-add: the results equal those of
 * the f32 oracle bit for bit.
 *
 * @module
 */
import { planesOf, reachOf, tapsOf } from "../update.ts";
import { writeModule } from "./functions.ts";
import { addCopyRows, addWrapRows, VECTOR, type WasmSource } from "./rows.ts";
import { addSubstep } from "./write_step.ts";

/**
 * What the module exports. Arrays are byte offsets into the memory, multiples of 16, of F(t) and of the
 * array that holds F(t−1) and receives F(t+1). Boxes are cells x0 ≤ x < x1 and y0 ≤ y < y1, whole rows.
 */
export interface WasmExports {
  /** Sub-step i as `step{i}`: updates a box of the grid; along a periodic z it also fills the new rows' pads. */
  [step: `step${number}`]: Substep;
  /** Fills the z pads of a box's rows with the periodic images. */
  wrapRows(array: number, x0: number, x1: number, y0: number, y1: number): void;
  /** Fills a box of pad rows, whose coordinates lie outside the grid, with the periodic images: z pads too. */
  copyRows(array: number, x0: number, x1: number, y0: number, y1: number): void;
}

/** One sub-step on a box; `signal` is the update's at this step, 0 where it has none. */
export type Substep = (
  current: number,
  next: number,
  signal: number,
  x0: number,
  x1: number,
  y0: number,
  y1: number,
) => void;

/** Bytes that must exist in the memory before and after each array: the outermost vectors may read past its ends. */
export const GUARD_BYTES = VECTOR;

/**
 * Writes the module. It imports `facet.memory`, shared, and exports {@linkcode WasmExports}.
 *
 * @returns the module's bytes
 * @throws {RangeError} when the layout has thinner pads than the taps reach, or the update reads a neighbour's
 *   F(t−1), which its F(t+1) may already have overwritten
 */
export async function writeWasm(source: WasmSource): Promise<Uint8Array<ArrayBuffer>> {
  checkSource(source);
  return await writeModule((target) => {
    source.update.substeps.forEach((_, index) => addSubstep(target, source, index));
    addWrapRows(target, source);
    addCopyRows(target, source);
  });
}

function checkSource({ update, layout }: WasmSource): void {
  if (layout.planes !== planesOf(update)) {
    throw new RangeError(
      `Cannot write the WebAssembly module: the layout must have ${
        planesOf(update)
      } planes: it has ${layout.planes}`,
    );
  }
  const reach = reachOf(update);
  const [x, y, z] = layout.pad;
  if (x < reach.x || y < reach.y || z < reach.z || layout.pitch - z - layout.grid[2] < reach.z) {
    throw new RangeError(
      `Cannot write the WebAssembly module: the pads must hold the taps' reach ${reach.x}, ${reach.y}, ${reach.z}: ` +
        `current pads are ${layout.pad.join(", ")}`,
    );
  }
  const early = tapsOf(update).find(({ ago, offset }) => ago === 1 && offset.some((cells) => cells !== 0));
  if (early !== undefined) {
    throw new RangeError(
      `Cannot write the WebAssembly module: F(t+1) takes the place of F(t−1), so that only the cell itself ` +
        `can be read there: current tap is at ${early.offset.join(", ")}`,
    );
  }
}
