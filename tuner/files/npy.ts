import {
  type FloatArray,
  type Precise,
  precisionIn,
  precisionOf,
  PRECISIONS,
  zeros,
} from "../../kernels/precision.ts";
import { refuserOf } from "../problem/request_error.ts";

/** Numbers along one axis or several. */
export interface NumberArray {
  /** Numbers along each axis. */
  readonly shape: readonly number[];
  /** All of them, the last axis fastest. */
  readonly values: FloatArray<ArrayBuffer>;
}

/** What a file holds. */
export interface FileArray extends NumberArray {
  /** The file's own type, where it is another than the values': as NumPy writes it, or in words. @default {undefined} */
  readonly converted?: string | undefined;
}

const MAGIC = "\x93NUMPY";

/** What reads a number of NumPy's types. */
export const READERS = {
  ...{ f4: "getFloat32", f8: "getFloat64", i1: "getInt8", i2: "getInt16", i4: "getInt32" } as const,
  ...{ i8: "getBigInt64", u8: "getBigUint64" } as const,
  ...{ b1: "getUint8", u1: "getUint8", u2: "getUint16", u4: "getUint32" } as const,
};

export const productOf = (sizes: readonly number[]): number =>
  sizes.reduce((product, size) => product * size, 1);

/** Refuses an array with a number that is not right, which is said with its place. */
export function checkEach(
  { shape, values }: NumberArray,
  isRight: (value: number) => boolean,
  refuse: (found: string) => never,
): void {
  const odd = values.findIndex((value) => !isRight(value));
  const place = shape.map((size, axis) => Math.floor(odd / productOf(shape.slice(axis + 1))) % size);
  if (odd >= 0) refuse(`${values[odd]} at (${place.join(", ")})`);
}

/** What numbers lie between. */
export type ValueRange = Readonly<Record<"least" | "most", number>>;

export function rangeOf(values: Iterable<number>): ValueRange {
  let least = Infinity, most = -Infinity;
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { least, most };
}

/** Reads NumPy's file of one array, version 1 or 2, C or Fortran order. @throws {RequestError} if it is none of numbers */
export function readNpy(bytes: Uint8Array<ArrayBuffer>, path: string, precise: Precise = {}): FileArray {
  const refuse = refuserOf(`read ${path}`), [version] = bytes.subarray(6);
  const textOf = (from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to));
  if (textOf(0, 6) !== MAGIC || bytes.length < 12) refuse("a NumPy file (.npy) is wanted", "another kind");
  if (version !== 1 && version !== 2) refuse("version 1 or 2 of .npy is wanted", `${version}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset), start = version === 1 ? 10 : 12;
  const end = start + (version === 1 ? view.getUint16(8, true) : view.getUint32(8, true));
  const header = textOf(start, Math.min(end, start + 4096));
  const after = (name: string, value: RegExp): string =>
    new RegExp(`["']${name}["'] *: *${value.source}`).exec(header)?.[1] ??
      refuse(`a header with ${name} is wanted`, JSON.stringify(header.trim().slice(0, 60)));
  const type = after("descr", /["'](.*?)["']/), order = after("fortran_order", /(True|False)/);
  const [, sign, kind] = /^([<>|])(\w\d)$/.exec(type) ?? [];
  const reader = READERS[kind as keyof typeof READERS];
  if (reader === undefined) {
    return refuse(
      "real numbers, f4, f8, integers or booleans, are wanted (in NumPy: array.astype('<f4'))",
      type,
    );
  }
  const shape = (after("shape", /\(([\d, ]*)\)/).match(/\d+/g) ?? []).map(Number), count = productOf(shape);
  const wanted = Number(kind![1]) * count, found = Math.max(0, bytes.length - end);
  if (found !== wanted) refuse(`${wanted} bytes of values are wanted, ${shape.join("x")}`, `${found}`);
  const valuesAt = bytes.byteOffset + end;
  const { Values, npy } = precisionOf(precise), numbers = new DataView(bytes.buffer, valuesAt);
  const stored = type === npy
    ? new Values(bytes.buffer.slice(valuesAt, valuesAt + wanted))
    : numbersIn(numbers, kind as keyof typeof READERS, count, sign === "<", precise);
  const values = order === "True" ? transposed({ shape: shape.toReversed(), values: stored }).values : stored;
  return { shape, values, converted: type === npy ? undefined : `${type}` };
}

/** Numbers that lie one after another, in a precision. */
export function numbersIn(
  view: DataView,
  type: keyof typeof READERS,
  count: number,
  isLittle: boolean,
  precise: Precise = {},
): FloatArray<ArrayBuffer> {
  const bytes = Number(type[1]), reader = READERS[type], values = zeros(precise, count);
  for (let i = 0; i < count; i++) values[i] = Number(view[reader](i * bytes, isLittle));
  return values;
}

/** The same numbers with these axes first to last; unless they are given, in the opposite order. */
export function transposed(
  { shape, values }: NumberArray,
  axes: readonly number[] = shape.map((_, axis) => axis).reverse(),
): NumberArray {
  const turned = values.slice(), at = shape.map(() => 0);
  const sizes = axes.map((axis) => shape[axis]!);
  // how far apart neighbours along an axis lie then
  const strides = shape.map((_, axis) => productOf(sizes.slice(axes.indexOf(axis) + 1)));
  for (let i = 0, to = 0; i < values.length; i++) {
    turned[to] = values[i]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      to += strides[axis]!;
      if (++at[axis]! < shape[axis]!) break;
      to -= strides[axis]! * shape[axis]!;
      at[axis] = 0;
    }
  }
  return { shape: sizes, values: turned };
}

/** The bytes of a file, version 1 in C order. */
export function npyBytes({ shape, values }: NumberArray): Uint8Array<ArrayBuffer> {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const text = `{'descr': '${precisionIn(values).npy}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const header = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n";
  const start = `${MAGIC}\x01\0${String.fromCharCode(header.length, 0)}${header}`;
  return joined(Uint8Array.from(start, (char) => char.charCodeAt(0)), bytesIn(values));
}

/** Arrays of one length, one after another. */
export function rowsOf(rows: readonly FloatArray[]): NumberArray {
  const length = rows[0]?.length ?? 0, { Values } = rows[0] ? precisionIn(rows[0]) : PRECISIONS.f32;
  const values = new Values(rows.length * length);
  rows.forEach((row, i) => values.set(row, i * length));
  return { shape: [rows.length, length], values };
}

export function bytesIn({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Bytes one after another. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
