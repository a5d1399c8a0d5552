/**
 * Where a grid's cells lie in memory. One order everywhere: x slowest, z fastest. Around the grid lie pads:
 * the frame of zeros or the periodic images that taps reach, and room for whatever a traversal touches
 * beyond. A row is one x and y; rows start at a multiple of the alignment. Where there are several fields, a slice
 * holds one plane of each after another, so that slices stay in one piece.
 *
 * @module
 */
import { type Precise, precisionOf } from "./precision.ts";
import type { Grid } from "./stencils/stencil.ts";

/** A grid with its pads in one array. */
export interface Layout extends Precise {
  /** The grid's own cells along x, y, z. */
  readonly grid: Grid;
  /** Cells before and after the grid along x and y; before it along z (there are at least as many after). */
  readonly pad: Grid;
  /** Cells from one row to the next (y + 1). */
  readonly pitch: number;
  /** Fields and materials. */
  readonly planes: number;
  /** How many of them are fields, which come first. @default {all} */
  readonly fields?: number;
  /** How many fields follow that lie elsewhere, in layers. @default {none} */
  readonly layered?: number;
  /** Cells from one plane to the next (the same x, the next field). */
  readonly plane: number;
  /** Cells from one slice to the next (x + 1): all planes. */
  readonly slice: number;
  /** Index of cell (0, 0, 0) of plane 0. */
  readonly origin: number;
  /** Cells in the whole array. */
  readonly length: number;
}

export interface LayoutOptions extends Precise {
  /** Cells that must exist before and after the grid along each axis. */
  pad: Grid;
  /**
   * Rows start, and the grid's first cell of a row lies, at multiples of this many cells.
   * @default {those of a 32-byte sector}
   */
  align?: number;
  /**
   * The pad before a row is also the pad after the row before it; for pads that hold nothing but zeros.
   * @default {false}
   */
  sharedPads?: boolean;
  /** @default {1} */
  planes?: number;
  /** How many of them are fields. @default {all} */
  fields?: number;
  /** How many more fields there are. @default {none} */
  layered?: number;
}

/** Lays out a grid with at least the pads asked for; those along z grow to the alignment. */
export function layOut(grid: Grid, options: LayoutOptions): Layout {
  const { pad, sharedPads = false, planes = 1, fields, layered = 0, precision } = options;
  const { align = 32 / precisionOf(options).bytes } = options;
  const roundUp = (cells: number): number => Math.ceil(cells / align) * align;
  const [nx, ny, nz] = grid;
  const [px, py] = pad;
  const pz = roundUp(pad[2]);
  const pitch = roundUp(pz + nz + (sharedPads ? 0 : pad[2]));
  const plane = pitch * (ny + 2 * py);
  const slice = planes * plane;
  return {
    grid,
    pad: [px, py, pz],
    pitch,
    planes,
    ...(fields !== undefined && { fields }),
    ...(layered > 0 && { layered }),
    ...(precision === "f64" && { precision }),
    plane,
    slice,
    origin: px * slice + py * pitch + pz,
    length: slice * (nx + 2 * px) + pz,
  };
}

/** The fields that lie in a layout. */
export function fieldsIn({ fields, planes }: Layout): number {
  return fields ?? planes;
}

/** Where a layout has a field or material of an update. */
export function planeIn({ fields = Infinity, layered = 0 }: Layout, plane: number): number {
  return plane < fields ? plane : plane - layered;
}

/** Index of a cell; negative coordinates lie in the pads. */
export function indexOf(layout: Layout, [x, y, z]: readonly [number, number, number], plane = 0): number {
  return layout.origin + x * layout.slice + planeIn(layout, plane) * layout.plane + y * layout.pitch + z;
}
