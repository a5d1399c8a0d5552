/**
 * How two fields on a device differ, found out there.
 *
 * @module
 */
import type { Layout } from "../../kernels/layout.ts";
import { compareWorkgroups, COMPARISON_WORDS } from "../../kernels/wgsl/fields.ts";
import type { GpuDevice } from "./gpu_device.ts";
import { compileCompare } from "./gpu_pipelines.ts";
import type { Uniforms } from "./gpu_uniforms.ts";

/** Bytes of a comparison: `COMPARISON_WORDS`. */
const COMPARISON_BYTES = 16;

/** Cells of some slices in a GPU's arrays, one for each time level. */
export interface Slab {
  readonly arrays: readonly GPUBuffer[];
  readonly layout: Layout;
  /** First slice. */
  readonly slice: number;
}

/** How two fields differ. */
export interface Comparison {
  readonly maxError: number;
  /** Largest |value| of the reference. */
  readonly maxValue: number;
  /** Cells where either is infinite or not a number. */
  readonly notFinite: number;
  readonly cells: number;
}

/** The comparison of several parts as one. */
export function joinComparisons(parts: readonly Comparison[]): Comparison {
  return parts.reduce((a, b) => ({
    maxError: Math.max(a.maxError, b.maxError),
    maxValue: Math.max(a.maxValue, b.maxValue),
    notFinite: a.notFinite + b.notFinite,
    cells: a.cells + b.cells,
  }), { maxError: 0, maxValue: 0, notFinite: 0, cells: 0 });
}

/**
 * Compares each array of a slab with the other slab's, all in one submission.
 *
 * @param result what is compared
 * @param reference what it is compared with
 * @param options how many slices, and uniforms that nothing else uses meanwhile
 */
export async function compareSlabs(
  result: Slab,
  reference: Slab,
  { gpu, uniforms, slices }: {
    readonly gpu: GpuDevice;
    readonly uniforms: Uniforms;
    readonly slices: number;
  },
): Promise<Comparison> {
  const [, ny, nz] = result.layout.grid;
  const mine: Layout = { ...result.layout, grid: [slices, ny, nz] };
  const { pipeline, bindings } = await compileCompare(gpu, mine, reference.layout);
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
  const comparison = await gpu.buffer(COMPARISON_BYTES, usage, "comparison");
  const readable = await gpu.buffer(
    COMPARISON_BYTES,
    GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ,
    "comparison, read back",
  );
  try {
    uniforms.write([[result.slice, reference.slice]]);
    await gpu.timed({
      passes: 1,
      outgoing: [readable],
      record: (encoder, timestamps) => {
        const pass = encoder.beginComputePass(timestamps());
        pass.setPipeline(pipeline);
        for (const [i, array] of result.arrays.entries()) {
          pass.setBindGroup(
            0,
            uniforms.bind(bindings, [[0, array], [1, reference.arrays[i]], [3, comparison]]),
            [0],
          );
          pass.dispatchWorkgroups(...compareWorkgroups(mine));
        }
        pass.end();
        encoder.copyBufferToBuffer(comparison, 0, readable, 0, COMPARISON_BYTES);
      },
    });
    const bits = gpu.mapped(readable);
    const words = new Uint32Array(bits), floats = new Float32Array(bits);
    return {
      maxError: floats[COMPARISON_WORDS.maxError],
      maxValue: floats[COMPARISON_WORDS.maxValue],
      notFinite: words[COMPARISON_WORDS.notFinite],
      cells: words[COMPARISON_WORDS.count],
    };
  } finally {
    comparison.destroy();
    readable.destroy();
  }
}
