import { checkOptions } from "../../kernels/check_options.ts";
import { refuserOf } from "../problem/request_error.ts";
import { checkEach, type NumberArray, productOf, rangeOf } from "./npy.ts";
import { type Colour, drawPlot } from "./picture.ts";

/** How {@linkcode drawField} draws. */
export interface DrawFieldOptions {
  /** Above the picture. @default {""} */
  readonly title?: string;
  /** From cell to cell, in any unit of length. @default {1} */
  readonly spacing?: number;
}

/** Most pixels of a plot. */
export const WIDEST = 760, HIGHEST = 560;

/** From dark blue at 0 over green to yellow at 1, ever brighter: some colours of the map viridis. */
const SEQUENCE: readonly Colour[] = [
  ...[[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]] as const,
];

/**
 * Draws a field as PNG, with axes and a colour bar: its first axis to the right, the second upwards; of three axes the
 * slice through the middle of the one with the fewest cells. Fields with both signs are red above 0 and blue below.
 *
 * @returns the bytes of the file
 * @throws {RequestError} if it has not two or three axes, or values that are not finite
 */
export async function drawField(
  array: NumberArray,
  options: DrawFieldOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  checkOptions("draw the field", options, ["title", "spacing"]);
  const { title = "", spacing = 1 } = options, { shape, values } = array;
  const refuse = refuserOf("draw the field");
  const isShape = (shape.length === 2 || shape.length === 3) && values.length === productOf(shape);
  if (!isShape || values.length === 0) {
    refuse("two or three axes with as many values are wanted", shape.join("x"));
  }
  const across = shape.length === 3 ? shape.lastIndexOf(Math.min(...shape)) : 2;
  const strides = shape.map((_, axis) => productOf(shape.slice(axis + 1)));
  const [a, b] = [0, 1, 2].filter((axis) => axis !== across),
    first = Math.floor((shape[across] ?? 1) / 2) * (strides[across] ?? 0);
  const wide = shape[a!]!, high = shape[b!]!;
  const at = (i: number, j: number): number =>
    values[first + i * strides[a!]! + (high - 1 - j) * strides[b!]!]!;
  const all = Float64Array.from({ length: wide * high }, (_, k) => at(k % wide, Math.floor(k / wide)));
  checkEach(
    { shape: [wide * high], values: all },
    Number.isFinite,
    (found) => refuse("finite values are wanted", found),
  );
  const { least, most } = rangeOf(all);
  const isSigned = least < 0 && most > 0, end = isSigned ? Math.max(-least, most) : most;
  const start = isSigned ? -end : least;
  const colourOf = (value: number): Colour =>
    isSigned ? seismic(value / end, 255) : sequential((value - start) / (end - start || 1));
  const valueAt = smoothly(at, wide, high), scale = Math.min(WIDEST / wide, HIGHEST / high);
  return await drawPlot({
    title,
    across: { label: "xyz"[a!]!, from: 0, to: wide * spacing },
    down: { label: "xyz"[b!]!, from: high * spacing, to: 0 },
    size: [Math.ceil(wide * scale), Math.ceil(high * scale)],
    colourAt: (right, down) => colourOf(valueAt(right, down)),
    bar: { label: "", from: start, to: end, colourOf },
  });
}

function sequential(part: number): Colour {
  const at = Math.max(0, Math.min(1, part)) * (SEQUENCE.length - 1),
    i = Math.min(SEQUENCE.length - 2, Math.floor(at));
  return SEQUENCE[i]!.map((low, k) =>
    Math.round(low + (at - i) * (SEQUENCE[i + 1]![k]! - low))
  ) as readonly number[] as Colour;
}

/** Red above 0 and blue below, from grey at 0 to dark beyond 1; few colours make small files. */
export function seismic(value: number, grey: number): Colour {
  const size = Math.round(40 * Math.min(1, Math.abs(value))) / 40, part = Math.min(1, 1.6 * size);
  const pure = grey + part * (255 - 130 * Math.max(0, 2 * size - 1) - grey), other = grey * (1 - part);
  return value > 0 ? [pure, other, other] : [other, other, pure];
}

/** Values between those of a table, by a place from 0 to 1 along both axes. */
export function smoothly(valueAt: (i: number, j: number) => number, wide: number, high: number) {
  const around = (place: number, cells: number): [cell: number, next: number, part: number] => {
    const at = Math.min(cells - 1, Math.max(0, place * cells - 0.5)), cell = Math.floor(at);
    return [cell, Math.min(cell + 1, cells - 1), at - cell];
  };
  return (right: number, down: number): number => {
    const [i, nextI, partI] = around(right, wide), [j, nextJ, partJ] = around(down, high);
    const along = (row: number): number => valueAt(i, row) + partI * (valueAt(nextI, row) - valueAt(i, row));
    return along(j) + partJ * (along(nextJ) - along(j));
  };
}
