/**
 * A WebAssembly module with 128-bit SIMD over an imported shared memory, written with binaryen.
 *
 * @module
 */
import type { Target } from "./box_function.ts";

/** Writes a module that imports `facet.memory`, with the functions that `add` adds; returns its bytes. */
export async function writeModule(add: (target: Target) => void): Promise<Uint8Array<ArrayBuffer>> {
  // loaded only where it is used: 15 MB of library, a third of a second
  const { default: library } = await import("binaryen");
  const module = new library.Module();
  try {
    const { Features } = library;
    module.setFeatures(Features.Atomics | Features.SIMD128 | Features.BulkMemory | Features.BulkMemoryOpt);
    module.setMemory(1, 65536, null, [], true);
    module.addMemoryImport("0", "facet", "memory", true);
    add({ library, module });
    if (!module.validate()) throw new Error("Cannot write the WebAssembly module: it is not valid");
    return new Uint8Array(module.emitBinary());
  } finally {
    module.dispose();
  }
}
