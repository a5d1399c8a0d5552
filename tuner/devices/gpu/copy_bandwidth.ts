import { linearWorkgroups } from "../../../kernels/wgsl/declare.ts";
import { wgsl } from "../../../kernels/wgsl/template.ts";
import type { GpuDevice } from "./gpu_device.ts";
import { compile } from "./gpu_pipelines.ts";
import { Uniforms } from "./gpu_uniforms.ts";
import { DEVICE_BATCH_NS, HOST_BATCH_NS } from "./gpu_clock.ts";

/** Bytes to copy: far more than any cache holds; less on a software device. */
const HARDWARE_BYTES = 2 ** 29, SOFTWARE_BYTES = 2 ** 24;
const THREADS = 256;
const SAMPLES = 5, MOST_REPETITIONS = 2 ** 13;

/**
 * The copy bandwidth, from which every roof follows: bytes read plus bytes written per second by a plain kernel that
 * copies one buffer to another, 16 bytes a thread.
 * @throws {RunFailure} if the device fails
 */
export async function measureCopyBandwidth(
  gpu: GpuDevice,
  { isFallback }: { isFallback: boolean },
): Promise<number> {
  const bytes = Math.min(
    isFallback ? SOFTWARE_BYTES : HARDWARE_BYTES,
    2 ** Math.floor(Math.log2(gpu.limits.maxStorageBufferBindingSize)),
  );
  const vectors = bytes / 16;
  const code = wgsl`
    // A plain copy, 16 bytes a thread.
    @group(0) @binding(0) var<storage, read> source: array<vec4u>;
    @group(0) @binding(1) var<storage, read_write> copy: array<vec4u>;
    @compute @workgroup_size(${THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let index = id.x + id.y * groups.x * ${THREADS}u;
      if (index < ${vectors}u) { copy[index] = source[index]; }
    }
  `;
  const source = await gpu.buffer(bytes, GPUBufferUsage.STORAGE, "copy source");
  const copy = await gpu.buffer(bytes, GPUBufferUsage.STORAGE, "copy");
  const uniforms = await Uniforms.create(gpu);
  try {
    const kernel = await compile(gpu, code, "copy", [0, 1]);
    const work = { on: [[source, copy]], workgroups: linearWorkgroups(vectors, THREADS) } as const;
    const run = (times: number): Promise<number> =>
      gpu.timed({
        passes: 1,
        record: (encoder, pass) => uniforms.dispatch(encoder, kernel, { ...work, times, pass: pass() }),
      });
    await run(1); // compiles, wakes the device up
    const minBatchNs = gpu.hasTimestamps ? DEVICE_BATCH_NS : HOST_BATCH_NS;
    let repetitions = 1;
    while (repetitions < MOST_REPETITIONS && await run(repetitions) < minBatchNs) repetitions *= 2;
    const samplesNs: number[] = [];
    for (let i = 0; i < SAMPLES; i++) samplesNs.push(await run(repetitions));
    const medianNs = samplesNs.sort((a, b) => a - b)[SAMPLES >> 1]! / repetitions;
    return 2 * bytes / (medianNs * 1e-9);
  } finally {
    for (const each of [source, copy, uniforms]) each.destroy();
  }
}
