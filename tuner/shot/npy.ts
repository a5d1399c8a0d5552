import { Buffer } from "node:buffer";
import { refuserOf } from "../problem/request_error.ts";

/** An array of f32 values: element (i, j, …) lies where its indices, each times its axis' stride, add up to. */
export interface NpyArray {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly values: Float32Array<ArrayBuffer>;
}

const MAGIC = "\x93NUMPY";

/** Reads NumPy's file of one array, version 1 or 2, C or Fortran order. @throws {RequestError} if it is none of f32 values */
export function readNpy(bytes: Uint8Array<ArrayBuffer>, path: string): NpyArray {
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
  if (type !== "<f4") refuse("f32 values, <f4, are wanted (in NumPy: array.astype('<f4'))", type);
  const shape = (after("shape", /\(([\d, ]*)\)/).match(/\d+/g) ?? []).map(Number);
  const productOf = (sizes: readonly number[]): number => sizes.reduce((product, size) => product * size, 1);
  const wanted = 4 * productOf(shape), found = Math.max(0, bytes.length - end);
  if (found !== wanted) refuse(`${wanted} bytes of values are wanted, ${shape.join("x")}`, `${found}`);
  const strides = shape.map((_, i) => productOf(order === "True" ? shape.slice(0, i) : shape.slice(i + 1)));
  const buffer = bytes.buffer.slice(bytes.byteOffset + end, bytes.byteOffset + bytes.length);
  return { shape, strides, values: new Float32Array(buffer) };
}

/** The bytes of a file, version 1 in C order, with rows of the same length. */
export function npyBytes(rows: readonly Float32Array[]): Uint8Array<ArrayBuffer> {
  const { length } = rows[0]!, shape = `(${rows.length}, ${length})`;
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}, }`;
  const header = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n";
  const start = `${MAGIC}\x01\0${String.fromCharCode(header.length, 0)}${header}`;
  const parts = rows.map(({ buffer, byteOffset, byteLength }) =>
    new Uint8Array(buffer, byteOffset, byteLength)
  );
  return Buffer.concat([Buffer.from(start, "latin1"), ...parts]);
}
