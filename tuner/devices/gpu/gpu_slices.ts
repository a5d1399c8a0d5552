/**
 * Slices on their way between a GPU's levels and a buffer that another device fills or reads.
 *
 * @module
 */
import type { Layout } from "../../../kernels/layout.ts";
import type { Transfer } from "../shared/slice_exchange.ts";

/** Slices of one time level, pads along y and z included. */
export interface SliceRange {
  /** 0: the newest level, 1: the one before. */
  readonly ago: 0 | 1;
  /** First slice. */
  readonly slice: number;
  readonly slices: number;
}

/** Slices that lie one range after another in a buffer, each slice as in the plan's layout. */
export interface SliceBuffer {
  readonly buffer: GPUBuffer;
  readonly ranges: readonly SliceRange[];
}

/** Bytes that the transfers' slices take in the GPU's layout. */
export function bytesOf(transfers: readonly Transfer[], layout: Layout): number {
  return 4 * layout.slice * transfers.reduce((sum, { slices }) => sum + slices, 0);
}

/** Where the transfers' slices lie in the GPU's levels. */
export function rangesOf(transfers: readonly Transfer[]): SliceRange[] {
  return transfers.map(({ ago, gpuSlice, slices }) => ({ ago, slice: gpuSlice, slices }));
}

/**
 * Copies slices between a field's levels and a buffer.
 *
 * @param encoder records the copies
 * @param staged the buffer, and which slices it holds
 * @param field its layout, and the arrays that hold F(t) and F(t−1)
 * @param isOut whether they go to the buffer
 */
export function copyRanges(
  encoder: GPUCommandEncoder,
  { buffer, ranges }: SliceBuffer,
  { layout, levels }: { readonly layout: Layout; readonly levels: readonly [GPUBuffer, GPUBuffer] },
  isOut: boolean,
): void {
  const { slice: perSlice, pad: [padX] } = layout;
  let offset = 0;
  for (const { ago, slice, slices } of ranges) {
    const at = 4 * (padX + slice) * perSlice, bytes = 4 * slices * perSlice;
    if (isOut) encoder.copyBufferToBuffer(levels[ago], at, buffer, offset, bytes);
    else encoder.copyBufferToBuffer(buffer, offset, levels[ago], at, bytes);
    offset += bytes;
  }
}
