/**
 * Arrays in files that other programs write and read.
 *
 * @module
 */
import { type Precise, precisionIn, precisionOf } from "../../kernels/precision.ts";
import { checkOptions } from "../../kernels/check_options.ts";
import { replaceBytes } from "../platform.ts";
import { refuserOf } from "../problem/request_error.ts";
import { oneLine, reasonOf } from "../profile/profile_error.ts";
import { readBytes } from "../profile/read_bytes.ts";
import { bytesIn, type FileArray, npyBytes, type NumberArray, numbersIn, productOf, readNpy } from "./npy.ts";
import { readSegy, SEGY } from "./segy.ts";
import { vtiBytes } from "./vti.ts";

export type { FileArray, NumberArray };

/** Ends of names of files that hold nothing but numbers, little-endian. */
const RAW = /\.(?:raw|f32|bin)$/;

/** How {@linkcode readArray} reads. */
export interface ReadArrayOptions extends Precise {
  /** Numbers along each axis, the last fastest, of a file that does not say: raw numbers. @default {undefined} */
  readonly shape?: readonly number[] | undefined;
}

/**
 * Reads an array as f32, or in the `precision` that is asked for: NumPy's `.npy` of real numbers, in both byte orders and both memory orders; SEG-Y (`.sgy`,
 * `.segy`) of IBM floats, IEEE floats or integers, as traces × samples, or lines × traces × samples; or raw little-endian
 * numbers of that precision (`.raw`, `.f32`, `.bin`) with a `shape`.
 *
 * @throws {RequestError} if the file holds something else; the message is one line
 * @throws {ProfileError} if it cannot be read
 *
 * @example
 * ```ts
 * import { readArray, writeArray } from "./array.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const path = `${await Deno.makeTempDir()}/u.npy`;
 * await writeArray(path, { shape: [2, 3], values: Float32Array.of(1, 2, 3, 4, 5, 6) });
 * const { shape, values } = await readArray(path);
 * assertEquals([shape, values[1 * 3 + 2]], [[2, 3], 6]); // the element (1, 2)
 * ```
 */
export async function readArray(path: string, options: ReadArrayOptions = {}): Promise<FileArray> {
  checkOptions("read the array", options, ["shape", "precision"]);
  const { shape } = options, refuse = refuserOf(`read ${path}`);
  if (!RAW.test(path)) {
    return (SEGY.test(path) ? readSegy : readNpy)(await readBytes(path, Infinity), path, options);
  }
  if (shape === undefined) return refuse("the shape of raw values is wanted", "none");
  const bytes = await readBytes(path, Infinity), count = productOf(shape);
  const { bytes: each } = precisionOf(options), view = new DataView(bytes.buffer, bytes.byteOffset);
  if (bytes.length !== each * count) {
    refuse(`${each * count} bytes of values are wanted, ${shape.join("x")}`, `${bytes.length}`);
  }
  return { shape, values: numbersIn(view, `f${each}`, count, true, options) };
}

/** How {@linkcode writeArray} writes. */
export interface WriteArrayOptions {
  /** From cell to cell, in any unit of length, for `.vti`. @default {1} */
  readonly spacing?: number;
}

/**
 * Writes an array, whole or not at all, in its precision and the format that the name's end says: NumPy's `.npy`, raw little-endian
 * (`.raw`, `.f32`, `.bin`), or VTK's image data (`.vti`), which also takes several arrays of one shape by their names.
 *
 * @throws {RequestError} if the values are not as many as the shape has, or the name ends otherwise
 * @throws {ProfileError} if it cannot be written
 */
export async function writeArray(
  path: string,
  given: NumberArray | Readonly<Record<string, NumberArray>>,
  options: WriteArrayOptions = {},
): Promise<void> {
  checkOptions("write the array", options, ["spacing"]);
  const fields = given.shape instanceof Array
    ? { values: given as NumberArray }
    : given as Record<string, NumberArray>;
  const arrays = Object.values(fields), refuse = refuserOf(`write ${path}`), { shape = [] } = arrays[0] ?? {};
  for (const { shape: own, values: { length } } of arrays) {
    const count = productOf(own);
    if (length !== count) refuse(`${count} values are wanted, ${own.join("x")}`, `${length}`);
    if (`${own}` !== `${shape}`) refuse(`arrays of one shape are wanted, ${shape.join("x")}`, own.join("x"));
  }
  if (path.endsWith(".vti") && arrays.length > 0) {
    return await writeBytes(path, vtiBytes(fields, options.spacing));
  }
  if (arrays.length !== 1) refuse("one array is wanted, of several .vti,", `${arrays.length}`);
  await writeBytes(path, bytesOfArray(path, arrays[0]!));
}

/** The bytes of a file of that name, of one array alone. */
export function bytesOfArray(path: string, array: NumberArray): Uint8Array {
  if (path.endsWith(".npy")) return npyBytes(array);
  const wanted = "a name that ends in .npy, .vti, .raw, .f32 or .bin is wanted";
  const isRaw = RAW.test(path) && (precisionIn(array.values).name === "f32" || !path.endsWith(".f32"));
  return isRaw ? bytesIn(array.values) : refuserOf(`write ${path}`)(wanted, path);
}

/** Writes a file, whole or not at all. @throws {ProfileError} in one line */
export async function writeBytes(path: string, bytes: Uint8Array): Promise<void> {
  await replaceBytes(path, bytes).catch((cause): never => {
    throw oneLine(cause, `Cannot write ${path}: ${reasonOf(cause)}`);
  });
}
