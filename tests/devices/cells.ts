/**
 * Whole fields on the host, as the tests compare them: dense, x, planes, y, z.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { indexOf, type Layout } from "../../kernels/layout.ts";
import { type FloatArray, zeros } from "../../kernels/precision.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { planesOf, type Update } from "../../kernels/update.ts";
import type { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import type { SharedField } from "../../tuner/devices/shared/shared_field.ts";

/** The grid's own cells of a level, 0 for fields in layers; where several parts hold a slice, those of each must be alike. */
export async function readCells(field: GpuField, ago: 0 | 1): Promise<FloatArray> {
  const { grid: [nx, ny, nz], planes, fields = planes, layered = 0 } = field.plan.storage.layout;
  const { Values } = field.precision, perSlice = planes * ny * nz, cells = new Values(nx * perSlice);
  let end = 0;
  for (const { array, layout, x } of field.level(ago)) {
    const part = gatherCells(
      new Values(await field.device.read(array.buffer, array.offset, array.size)),
      layout,
    );
    const common = Math.max(0, end - x) * perSlice;
    assertEquals(
      part.subarray(0, common),
      cells.subarray(x * perSlice, x * perSlice + common),
      `slices from ${x} on`,
    );
    cells.set(part, x * perSlice);
    end = x + layout.grid[0];
  }
  if (layered === 0) return readable(cells, field.problem);
  const whole = new Values(nx * (planes + layered) * ny * nz);
  for (let row = 0; row < nx * planes; row++) {
    const plane = row % planes,
      to = Math.floor(row / planes) * (planes + layered) + (plane < fields ? plane : plane + layered);
    whole.set(cells.subarray(row * ny * nz, (row + 1) * ny * nz), to * ny * nz);
  }
  return whole;
}

/** Sets both levels, pads too, and time step 0. */
export async function writeCells(
  field: GpuField,
  current: FloatArray,
  previous: FloatArray,
): Promise<void> {
  await field.initialise({ kind: "noise", seed: 1 });
  await setLevels(field, current, previous);
}

/** Sets both levels of a field that has taken no step. */
export async function setLevels(field: GpuField, current: FloatArray, previous: FloatArray): Promise<void> {
  const { grid: [, ny, nz], planes } = field.plan.storage.layout, perSlice = planes * ny * nz;
  for (const [ago, cells] of [[0, current], [1, previous]] as const) {
    for (const { array, layout, x } of field.level(ago)) {
      const own = cells.subarray(x * perSlice, (x + layout.grid[0]) * perSlice);
      field.device.write(array.buffer, array.offset, scatterCells(own, layout));
    }
  }
  await field.renewPads();
}

function isInLayers({ fields, layers = [] }: Update, plane: number): boolean {
  return plane < fields.length && plane >= fields.length - layers.length;
}

/** Cells of all planes as the functions here read them: 0 for fields in layers, which show in those that they belong to. */
export function readable(
  cells: FloatArray,
  { grid: [, ny, nz], stencil: { update } }: Pick<Problem, "grid" | "stencil">,
) {
  if (update.layers === undefined) return cells;
  return cells.map((value, i) => isInLayers(update, Math.floor(i / ny / nz) % planesOf(update)) ? 0 : value);
}

/** The whole grid's own cells of a level, 0 for fields in layers. */
export async function readSharedCells(field: SharedField, ago: 0 | 1): Promise<FloatArray> {
  const { grid: [nx, ny, nz], stencil: { update } } = field.problem;
  const planes = planesOf(update), perSlice = ny * nz;
  const cells = zeros(update, nx * planes * perSlice), dense = zeros(update, nx * perSlice);
  for (let plane = 0; plane < planes; plane++) {
    if (isInLayers(update, plane)) continue;
    await field.readBox({ ago, plane, planes: 1, low: [0, 0, 0], size: field.problem.grid }, dense);
    for (let x = 0; x < nx; x++) {
      cells.set(dense.subarray(x * perSlice, (x + 1) * perSlice), (x * planes + plane) * perSlice);
    }
  }
  return cells;
}

/** The own cells of an array, dense. */
export function gatherCells(array: FloatArray, layout: Layout): FloatArray<ArrayBuffer> {
  const [nx, ny, nz] = layout.grid;
  const cells = zeros(layout, nx * layout.planes * ny * nz);
  rowStarts(layout).forEach((from, row) => cells.set(array.subarray(from, from + nz), row * nz));
  return cells;
}

/** An array in a layout with these cells, and 0 around them. */
export function scatterCells(cells: FloatArray, layout: Layout): FloatArray<ArrayBuffer> {
  const nz = layout.grid[2];
  const array = zeros(layout, layout.length);
  rowStarts(layout).forEach((to, row) => array.set(cells.subarray(row * nz, (row + 1) * nz), to));
  return array;
}

/** Where each row of the grid's own cells begins: x, planes that it stores, y. */
function rowStarts(its: Layout): number[] {
  const layout = { ...its, layered: 0 }, [nx, ny] = layout.grid;
  return Array.from({ length: nx * layout.planes * ny }, (_, row) => {
    const x = Math.floor(row / (layout.planes * ny)), plane = Math.floor(row / ny) % layout.planes;
    return indexOf(layout, [x, row % ny, 0], plane);
  });
}

/** Largest |value|. */
export function maxAbs(cells: FloatArray): number {
  let most = 0;
  for (const value of cells) most = Math.max(most, Math.abs(value));
  return most;
}
