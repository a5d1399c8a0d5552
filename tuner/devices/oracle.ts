import { type FloatArray, zeros } from "../../kernels/precision.ts";
import { initialRow, type PartStart } from "../../kernels/initial_field.ts";
import { imageOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { planesOf } from "../../kernels/update.ts";

/** A dense level of initial values, of a part of a grid too: x, planes, y, z. */
export function initialCells(
  { grid: [nx, ny, nz], stencil: { update } }: Pick<Problem, "grid" | "stencil">,
  { first: [x, y, z] = [0, 0, 0], whole = [nx, ny, nz], ...start }: PartStart,
): FloatArray<ArrayBuffer> {
  const planes = planesOf(update), along = runsOf(z, nz, whole[2]);
  const cells = zeros(update, nx * planes * ny * nz);
  for (let row = 0; row < nx * planes * ny; row++) {
    const plane = Math.floor(row / ny) % planes;
    const i = imageOf(x + Math.floor(row / (planes * ny)), whole[0], "periodic")!;
    const j = imageOf(y + row % ny, whole[1], "periodic")!;
    for (const { from, to, cells: count } of along) {
      const at = row * nz + to;
      initialRow({ ...update, ...start }, [i, j, from], plane, cells.subarray(at, at + count));
    }
  }
  return cells;
}

/** Cells of an axis of `n` that goes on as a ring, `count` from cell `first` on: where each run of them lies and begins. */
export function runsOf(first: number, count: number, n: number) {
  const runs: { readonly from: number; readonly to: number; readonly cells: number }[] = [];
  for (let to = 0; to < count; to += runs.at(-1)!.cells) {
    const from = imageOf(first + to, n, "periodic")!;
    runs.push({ from, to, cells: Math.min(count - to, n - from) });
  }
  return runs;
}
