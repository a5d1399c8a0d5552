/**
 * The precisions that values have, in memory and while they are computed: all that kernels, layouts, exchanges, estimates
 * and files ask of one.
 *
 * @module
 */

/** `f32`: 24 bits of a number count. `f64`: 53 bits, twice the memory. */
export type PrecisionName = "f32" | "f64";

/** An array of values of either precision. */
export type FloatArray<B extends ArrayBufferLike = ArrayBufferLike> = Float32Array<B> | Float64Array<B>;

/** What both kinds of arrays are made by. */
interface FloatArrays {
  readonly BYTES_PER_ELEMENT: number;
  new (of: number | ArrayLike<number>): FloatArray<ArrayBuffer>;
  new <B extends ArrayBufferLike>(buffer: B, byteOffset?: number, length?: number): FloatArray<B>;
  from(of: { readonly length: number }, value: (_: unknown, i: number) => number): FloatArray<ArrayBuffer>;
  from(of: ArrayLike<number> | Iterable<number>): FloatArray<ArrayBuffer>;
}

/** How a precision's values are stored, written and rounded. */
export interface Precision {
  readonly name: PrecisionName;
  /** Bytes of a value. */
  readonly bytes: 4 | 8;
  /** Values of a 128-bit vector of WebAssembly. */
  readonly lanes: 4 | 2;
  /** The arrays that hold values. */
  readonly Values: FloatArrays;
  /** The nearest number that it holds. */
  round(value: number): number;
  /** Bits of the mantissa as it is stored, and what is added to the exponent above them. */
  readonly bits: readonly [mantissa: 23, bias: 127] | readonly [mantissa: 52, bias: 1023];
  /** The largest number. */
  readonly most: number;
  /** Half the distance from 1 to the next number: what rounding changes at most, relative. */
  readonly unit: number;
  /** WGSL's type of a value; `vec2<…>` of it is one of two. */
  readonly type: PrecisionName;
  /** A literal of WGSL that is exactly the nearest value. */
  literal(value: number): string;
  /** NumPy's name of the type, little-endian. */
  readonly npy: "<f4" | "<f8";
  /** The features of wgpu that shaders need, beyond WebGPU: whole numbers of 64 bits are what the bits of an f64 are. */
  readonly features: readonly string[];
}

export const PRECISIONS: Readonly<Record<PrecisionName, Precision>> = {
  f32: {
    name: "f32",
    bytes: 4,
    lanes: 4,
    Values: Float32Array as FloatArrays,
    round: Math.fround,
    bits: [23, 127],
    most: (2 - 2 ** -23) * 2 ** 127,
    unit: 2 ** -24,
    type: "f32",
    literal: (value) => literal(Math.fround(value), "f"),
    npy: "<f4",
    features: [],
  },
  f64: {
    name: "f64",
    bytes: 8,
    lanes: 2,
    Values: Float64Array as FloatArrays,
    round: (value) => value,
    bits: [52, 1023],
    most: Number.MAX_VALUE,
    unit: 2 ** -53,
    type: "f64",
    literal: (value) => literal(value, "lf"),
    npy: "<f8",
    features: ["wgpu-shader-f64", "wgpu-shader-int64"],
  },
};

function literal(value: number, suffix: string): string {
  return `${value}`.replace(/^-?\d+$/, "$&.0") + suffix;
}

/** The precision of an update, a layout or a problem: f32 unless it says another. */
export function precisionOf({ precision = "f32" }: Precise): Precision {
  return PRECISIONS[precision];
}

/** The precision of an array. */
export function precisionIn(values: FloatArray): Precision {
  return PRECISIONS[values instanceof Float64Array ? "f64" : "f32"];
}

/** So many zeros in a precision. */
export function zeros(of: Precise, count: number): FloatArray<ArrayBuffer> {
  return new (precisionOf(of).Values)(count);
}

/** What has a precision. */
export interface Precise {
  /** What its values are. @default {"f32"} */
  readonly precision?: PrecisionName | undefined;
}
