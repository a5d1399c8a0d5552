/**
 * The grid's own cells between an array in a layout, pads included, and a dense one: x, planes, y, z.
 *
 * @module
 */
import { indexOf, type Layout } from "../../../kernels/layout.ts";

/** The own cells of an array, dense. */
export function gatherCells(array: Float32Array, layout: Layout): Float32Array<ArrayBuffer> {
  const [nx, ny, nz] = layout.grid;
  const cells = new Float32Array(nx * layout.planes * ny * nz);
  rowStarts(layout).forEach((from, row) => cells.set(array.subarray(from, from + nz), row * nz));
  return cells;
}

/** An array in a layout with these cells, and 0 around them. */
export function scatterCells(cells: Float32Array, layout: Layout): Float32Array<ArrayBuffer> {
  const nz = layout.grid[2];
  const array = new Float32Array(layout.length);
  rowStarts(layout).forEach((to, row) => array.set(cells.subarray(row * nz, (row + 1) * nz), to));
  return array;
}

/** Where each row of the grid's own cells begins: x, planes, y. */
function rowStarts(layout: Layout): number[] {
  const [nx, ny] = layout.grid;
  return Array.from({ length: nx * layout.planes * ny }, (_, row) => {
    const x = Math.floor(row / (layout.planes * ny)), plane = Math.floor(row / ny) % layout.planes;
    return indexOf(layout, [x, row % ny, 0], plane);
  });
}
