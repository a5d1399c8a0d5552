import { assertEquals } from "@std/assert";
import { detectWasmFeatures } from "../../../tuner/devices/cpu/wasm_features.ts";

Deno.test("detectWasmFeatures finds all that this version of Deno has", () => {
  assertEquals(detectWasmFeatures(), { simd: true, relaxedSimd: true, threads: true });
});

Deno.test("detectWasmFeatures believes an engine that refuses a module", () => {
  const validate = WebAssembly.validate;
  /** An engine without the prefix 0xfd, vector instructions. */
  WebAssembly.validate = (bytes) => !(bytes as Uint8Array).includes(0xfd) && validate(bytes);
  try {
    assertEquals(detectWasmFeatures(), { simd: false, relaxedSimd: false, threads: true });
  } finally {
    WebAssembly.validate = validate;
  }
});

Deno.test("detectWasmFeatures asks for shared memory, not just any", () => {
  const validate = WebAssembly.validate;
  /** An engine that refuses the flags 3 of a memory: shared, with a maximum. */
  WebAssembly.validate = (bytes) => !(bytes as Uint8Array).join().includes("5,4,1,3,1,1") && validate(bytes);
  try {
    assertEquals(detectWasmFeatures(), { simd: true, relaxedSimd: true, threads: false });
  } finally {
    WebAssembly.validate = validate;
  }
});
