/** What WebAssembly can do here, found by trying it. */
export interface WasmFeatures {
  /** 128-bit SIMD: four f32 at a time. */
  readonly simd: boolean;
  /** Relaxed SIMD: multiply and add in one instruction where the CPU has it. */
  readonly relaxedSimd: boolean;
  /** Memory that several workers share, with atomics. */
  readonly threads: boolean;
}

// Sections of a module, in the order of the binary format (WebAssembly core specification 5.5)
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const RETURNS_V128 = [0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b];
const RETURNS_I32 = [0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7f];
const ONE_FUNCTION = [0x03, 0x02, 0x01, 0x00];
const SHARED_MEMORY = [0x05, 0x04, 0x01, 0x03, 0x01, 0x01];

const I32_CONST_0 = [0x41, 0x00];
const I8X16_SPLAT = [0xfd, 0x0f];
const F32X4_RELAXED_MADD = [0xfd, 0x85, 0x02];
const I32_ATOMIC_LOAD = [0xfe, 0x10, 0x02, 0x00];

/** The code section of a module whose only function consists of these instructions. */
function codeOf(...instructions: number[][]): number[] {
  const body = [0x00, ...instructions.flat(), 0x0b];
  return [0x0a, body.length + 2, 0x01, body.length, ...body];
}

function isValid(...sections: number[][]): boolean {
  return WebAssembly.validate(Uint8Array.from([HEADER, ...sections].flat()));
}

export function detectWasmFeatures(): WasmFeatures {
  const vector = [...I32_CONST_0, ...I8X16_SPLAT];
  return {
    simd: isValid(RETURNS_V128, ONE_FUNCTION, codeOf(vector)),
    relaxedSimd: isValid(RETURNS_V128, ONE_FUNCTION, codeOf(vector, vector, vector, F32X4_RELAXED_MADD)),
    threads: isValid(RETURNS_I32, ONE_FUNCTION, SHARED_MEMORY, codeOf(I32_CONST_0, I32_ATOMIC_LOAD)),
  };
}
