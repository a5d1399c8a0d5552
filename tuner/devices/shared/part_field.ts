import { type FloatArray, zeros } from "../../../kernels/precision.ts";
import type { FieldStart } from "../../../kernels/initial_field.ts";
import type { Point } from "../../../kernels/points.ts";
import type { Grid } from "../../../kernels/stencils/stencil.ts";
import type { Box, PartPlace } from "../../../models/rank_part.ts";
import type { Comparison } from "../comparison.ts";
import type { DeviceField } from "../device_field.ts";
import { giveBack } from "../gpu/gpu_device.ts";
import type { GpuField } from "../gpu/gpu_field.ts";
import type { Reference } from "../reference.ts";
import { piecesOf } from "./boxes.ts";

/** Steps that a part's device was handed, and the boxes that are packed after them. */
export interface Round {
  /** Waits for the end of the steps. @returns nanoseconds that the device took */
  finish(): Promise<number>;
  /** After that the cells of each group of boxes, in pieces: of a GPU each is read when it is asked for, once. */
  pieces(): Iterable<FloatArray<ArrayBuffer>>[];
  /** Ends the pieces. */
  release(): void;
  /** From the beginning on the cells of each group that stays on the device. @default {[]} */
  readonly staying?: readonly HandedOver[];
}

/** Boxes whose cells have come, in their pieces. */
export interface Arrival {
  readonly boxes: readonly Box[];
  readonly pieces: readonly FloatArray<ArrayBuffer>[];
  /** On the device itself; the pieces are not read then. */
  readonly buffers?: readonly GPUBuffer[];
}

/** What a part hands to another one of its process, until that has taken it. */
export interface HandedOver extends Omit<Arrival, "boxes"> {
  readonly taken: () => void;
}

/** Memory of a device for boxes that are to come, in their pieces. */
export interface Coming extends Pick<HandedOver, "taken"> {
  readonly buffers: readonly GPUBuffer[];
  /** Takes a piece, which is free then. */
  set(piece: number, cells: FloatArray<ArrayBuffer>): void;
}

/** What is done besides steps. */
export interface RoundOptions {
  /** Groups of boxes to pack after them. @default {none} */
  readonly pack?: readonly (readonly Box[])[];
  /** The same for another part on the same GPU: they stay there. @default {none} */
  readonly stay?: readonly (readonly Box[])[];
  /** How often the steps are done, one run after another, before anything is packed. @default {1} */
  readonly repetitions?: number;
  /** Waits until a GPU may begin, when all is prepared. @default {it begins at once} */
  readonly turn?: (() => Promise<void>) | undefined;
}

/** A part of a grid on its device, ghost zones included, and how boxes of its cells come and go. */
export interface PartField extends Disposable {
  readonly place: PartPlace;
  readonly field: DeviceField;
  /** The field, where it lies on a GPU as a whole: what is on the same GPU reaches it without the host. */
  readonly onGpu?: GpuField;
  /** Sets both levels and the time step. */
  initialise(start: FieldStart): Promise<void>;
  /** Sets all fields to zero, and the time step to 0; materials stay. */
  clear(): Promise<void>;
  /** The values that cells of the part have now, those of fields and materials. */
  sample(cells: readonly Point[]): Promise<FloatArray>;
  /** Hands steps to the device, and then boxes to be packed. What follows need not wait for their end. */
  begin(steps: number, options?: RoundOptions): Promise<Round>;
  /** On a GPU, whose memory takes pieces while it computes and others travel. */
  coming?(boxes: readonly Box[]): Promise<Coming>;
  /** Sets boxes from their pieces, before whatever begins later, or {@linkcode settle} ends. */
  unpack(arrived: readonly Arrival[]): Promise<void>;
  /** Hands to the device what was unpacked, and waits for it where the host holds much. */
  settle(): Promise<void>;
  /**
   * Looks, behind what was begun, whether its own cells of F(t) are finite; its ghost zones may count, too.
   *
   * @returns what waits for the answer, on a GPU in the same wait as for what was begun
   */
  look(): Promise<() => Promise<boolean>>;
  /** Compares its own cells, every level of the state, with a reference at the same time step. */
  compare(reference: Reference): Promise<Comparison>;
}

/** A part's own slices, and where they lie in the whole grid. */
export function ownSlices({ part: { own, before } }: PartPlace) {
  return { slice: before[0], slices: own.size[0], referenceSlice: own.low[0] };
}

/** Slices of one plane of a level; x is that of the whole grid. */
export interface GridSlices {
  readonly ago: 0 | 1;
  /** Field, or after the last field material. */
  readonly plane: number;
  readonly x: number;
  readonly slices: number;
}

/** Slices of a box that are on the host at once, with 2²⁴ cells at most: a large field is never there as a whole. */
export function slicesAtOnce([, ny, nz]: Grid): number {
  return Math.max(1, Math.floor(2 ** 24 / (ny * nz)));
}

/** Reads a box of one plane into an array that is just as long: x, y, z. */
export async function readBox(field: PartField, box: Box, target: FloatArray): Promise<void> {
  const { low: [x, ...low], size: [slices, ...size] } = box, most = slicesAtOnce(box.size);
  for (let read = 0, done = 0; read < slices; read += most) {
    const count = Math.min(most, slices - read);
    const round = await field.begin(0, {
      pack: [[{ ...box, low: [x + read, ...low], size: [count, ...size] }]],
    });
    await round.finish();
    for (const cells of round.pieces()[0]!) {
      target.set(cells, done);
      done += cells.length;
      giveBack(cells.buffer);
    }
    round.release();
  }
}

/** Sets a box from its cells. */
export async function writeBox(field: PartField, box: Box, cells: FloatArray<ArrayBuffer>): Promise<void> {
  let done = 0;
  const pieces = piecesOf([box]).map((piece) => cells.subarray(done, done += piece.cells));
  await field.unpack([{ boxes: [box], pieces }]);
  await field.settle();
}

/**
 * Sets slices of a plane of some levels, ghost zones included.
 *
 * @param cellsOf the cells of a slice of the part: y, z; undefined where they stay. It is asked once for all levels
 */
export async function writeSlices(
  part: PartField,
  levels: readonly Pick<Box, "ago" | "plane">[],
  cellsOf: (slice: number) => FloatArray | undefined,
): Promise<void> {
  const { place: { part: { grid } }, field } = part, [nx, ny, nz] = grid, most = slicesAtOnce(grid);
  let waiting: FloatArray[] = [];
  for (let x = 0; x <= nx; x++) {
    const cells = x < nx ? cellsOf(x) : undefined;
    if (waiting.length === most || (waiting.length > 0 && cells === undefined)) {
      const slices = zeros(field.profiles.update, waiting.length * ny * nz);
      waiting.forEach((slice, i) => slices.set(slice, i * ny * nz));
      const low = [x - waiting.length, 0, 0] as const, size = [waiting.length, ny, nz] as const;
      for (const level of levels) await writeBox(part, { ...level, planes: 1, low, size }, slices);
      waiting = [];
    }
    if (cells !== undefined) waiting.push(cells);
  }
}
