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
  /** Its name, also WGSL's type of a value. */
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
  /** A literal of WGSL that is exactly the nearest value. */
  literal(value: number): string;
  /** NumPy's name of the type, little-endian. */
  readonly npy: "<f4" | "<f8";
  /** The features of wgpu that shaders need, beyond WebGPU: whole numbers of 64 bits are what the bits of an f64 are. */
  readonly features: readonly string[];
}

function made(
  Values: FloatArrays,
  bits: Precision["bits"],
  { round, suffix, features }: Pick<Precision, "round" | "features"> & { readonly suffix: string },
): Precision {
  const bytes = Values.BYTES_PER_ELEMENT as 4 | 8, [mantissa, bias] = bits;
  return {
    name: bytes === 4 ? "f32" : "f64",
    ...{ bytes, Values, bits, round, features },
    lanes: bytes === 4 ? 4 : 2,
    most: (2 - 2 ** -mantissa) * 2 ** bias,
    unit: 2 ** (-1 - mantissa),
    literal: (value) => `${round(value)}`.replace(/^-?\d+$/, "$&.0") + suffix,
    npy: `<f${bytes}`,
  };
}

export const PRECISIONS: Readonly<Record<PrecisionName, Precision>> = {
  f32: made(Float32Array as FloatArrays, [23, 127], { round: Math.fround, suffix: "f", features: [] }),
  f64: made(Float64Array as FloatArrays, [52, 1023], {
    round: (value) => value,
    suffix: "lf",
    features: ["wgpu-shader-f64", "wgpu-shader-int64"],
  }),
};

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
