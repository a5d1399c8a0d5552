import type { Layout } from "../layout.ts";
import { precisionOf } from "../precision.ts";
import { type AxisBoundaries, type Boundary, imageOf } from "../stencils/stencil.ts";
import { reachOf, type Update } from "../update.ts";
import { type Declare, forEach, indexFunction, range } from "./functions.ts";
import {
  type Code,
  copyMemory,
  FLOATS,
  i32,
  type Local,
  type ModuleFunction,
  select,
} from "./instructions.ts";

/** What the grid's kernels are made of. */
export interface WasmSource {
  readonly update: Update;
  /** Where the cells lie; its pads hold at least the update's reach. */
  readonly layout: Layout;
  /** Axes of zeros have pads that are never written; the others' are filled with images. */
  readonly boundaries: AxisBoundaries;
  /** Whether a product and a sum are one operation that rounds once. @default {false} */
  readonly fused?: boolean;
}

/** Bytes of a vector. */
export const VECTOR = 16;

/** Address of a row's cell z = 0 in a plane: array + bytes·(origin + x·slice + plane·size + y·pitch), modulo 2³². */
export function rowAddress(
  layout: Layout,
  { array, x, y, plane = 0 }: { array: Local; x: Code; y: Code; plane?: number },
): Code {
  const { origin, slice, pitch, plane: perPlane } = layout, cell = precisionOf(layout).bytes;
  const bytes = (cells: number): Code => i32.const(cells * cell | 0);
  const inSlices = i32.add(i32.mul(x, bytes(slice)), i32.mul(y, bytes(pitch)));
  return i32.add(i32.add(array.get(), bytes(origin + plane * perPlane)), inSlices);
}

/** The images in the pads of a row, as far as taps reach: where each lies along z, and the cell that it is the image of. */
export function rowImages(cells: number, reach: number, along: Boundary): { to: number; from: number }[] {
  if (along === "zero") return [];
  const pads = range(2 * reach).map((i) => i < reach ? i - reach : cells + i - reach);
  return pads.map((to) => ({ to, from: imageOf(to, cells, along)! }));
}

/** Fills the z pads of the row `bytes` from an address with the cells that they are images of. */
export function wrapRow(
  { layout, update, boundaries: [, , along] }: WasmSource,
  { row, bytes }: { readonly row: Local; readonly bytes: number },
): Code[] {
  const first = layout.pad[2], { bytes: cell, name } = precisionOf(layout), { load, store } = FLOATS[name];
  const start = i32.add(row.get(), i32.const(bytes - first * cell | 0));
  return rowImages(layout.grid[2], reachOf(update).z, along).map(({ to, from }) =>
    store((first + to) * cell, start, load((first + from) * cell, start))
  );
}

/** `wrapRows(array, x0, x1, y0, y1)`: fills the z pads of the box's rows in every plane. */
export function wrapRows(source: WasmSource): ModuleFunction {
  const { layout } = source, { bytes } = precisionOf(layout);
  return boxFunction("wrapRows", ({ array, x, y, declare }) => {
    const row = declare("i32");
    return [
      row.set(rowAddress(layout, { array, x: x.get(), y: y.get() })),
      ...range(layout.planes).flatMap((plane) =>
        wrapRow(source, { row, bytes: plane * layout.plane * bytes })
      ),
    ];
  });
}

/** `copyRows(array, x0, x1, y0, y1)`: each row of the box, in every plane, becomes a copy of what it is the image of. */
export function copyRows(source: WasmSource): ModuleFunction {
  const { layout, boundaries } = source, { grid: [nx, ny], pad, pitch } = layout;
  const { bytes } = precisionOf(layout);
  const wrap = (i: Local, cells: number, boundary: Boundary): Code => {
    if (boundary === "zero") return i.get();
    const modulo = (value: Code, n: number): Code => i32.rem_s(value, i32.const(n));
    const wrapped = (n: number): Code => modulo(i32.add(modulo(i.get(), n), i32.const(n)), n);
    if (boundary === "periodic" || cells === 1) return wrapped(cells);
    // as `imageOf` does: n − 1 − |n − 1 − i| of what is left of i in a period
    const last = i32.const(cells - 1);
    const fromLast = i32.sub(last, wrapped(2 * (cells - 1)));
    const isBefore = i32.gt_s(fromLast, i32.const(0));
    return i32.sub(last, select(fromLast, i32.sub(i32.const(0), fromLast), isBefore));
  };
  return boxFunction("copyRows", ({ array, x, y }) => {
    const start = (row: { x: Code; y: Code; plane: number }): Code =>
      i32.sub(rowAddress(layout, { array, ...row }), i32.const(pad[2] * bytes));
    return range(layout.planes).map((plane) =>
      copyMemory(
        start({ x: x.get(), y: y.get(), plane }),
        start({ x: wrap(x, nx, boundaries[0]), y: wrap(y, ny, boundaries[1]), plane }),
        i32.const(pitch * bytes),
      )
    );
  });
}

/** `name(array, x0, x1, y0, y1)`: the body for every row of the box. */
function boxFunction(
  name: string,
  body: (row: Readonly<Record<"array" | "x" | "y", Local>> & { readonly declare: Declare }) => Code[],
): ModuleFunction {
  return indexFunction({
    name,
    parameters: ["array", "x0", "x1", "y0", "y1"],
    write({ array, x0, x1, y0, y1 }, declare) {
      const x = declare("i32"), y = declare("i32");
      return forEach(
        { index: x, from: x0, to: x1 },
        () => forEach({ index: y, from: y0, to: y1 }, () => body({ array, x, y, declare })),
      );
    },
  });
}
