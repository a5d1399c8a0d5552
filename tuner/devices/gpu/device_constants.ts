import { wgsl } from "../../../kernels/wgsl/template.ts";
import type { Constant } from "../../../models/gpu_record.ts";
import { ClockGauge } from "./clock_gauge.ts";
import type { GpuDevice } from "./gpu_device.ts";
import { compile } from "./gpu_pipelines.ts";
import { UNIFORM_STRIDE, Uniforms } from "./gpu_uniforms.ts";

/** Workgroups of each kernel, enough for any GPU, and their threads; vectors that caches hold. */
const WORKGROUPS = 2048, THREADS = 256, CACHED = 2 ** 16;

/** What a round of each constant's loop does; a single workgroup shows a barrier. */
const ROUNDS: readonly (readonly [name: Constant, body: string, workgroups: number, rounds: number])[] = [
  ["arithmeticNs", "a = fma(a, vec4f(0.999), b); b = fma(b, vec4f(0.998), a);", WORKGROUPS, 512],
  ["exchangeNs", "shared_[lane] = a.x; a.x += shared_[(lane + i) % 256u];", WORKGROUPS, 512],
  ["cacheNs", `a += data[(id.x * 7u + i * 4099u) % ${CACHED}u];`, WORKGROUPS, 64],
  ["barrierNs", "workgroupBarrier();", 1, 4096],
  ["dispatchNs", "", 1, 0],
];

/** Dispatches of a sample, those of single workgroups and of many; samples, and the time after which no other begins. */
const SINGLE = 256, MANY = 16, SAMPLES = 9, LONGEST_MS = 250;

/**
 * What kinds of work take on a device that no record knows, in nanoseconds of a round of all workgroups: within a second.
 *
 * @throws {RunFailure} if the device fails
 */
export async function measureConstants(gpu: GpuDevice): Promise<Record<Constant, number>> {
  await ClockGauge.of(gpu); // raises the clock
  const uniforms = await Uniforms.create(gpu);
  const data = await gpu.buffer(Math.max(UNIFORM_STRIDE, 16 * CACHED), GPUBufferUsage.STORAGE, "constants");
  try {
    const found: [Constant, number][] = [];
    for (const [name, body, workgroups, rounds] of ROUNDS) {
      const kernel = await compile(gpu, codeOf(body, rounds), name, [0]);
      const times = workgroups === 1 ? SINGLE : MANY, started = performance.now();
      const work = { on: [[data]], workgroups: [workgroups, 1, 1] as const, times };
      let leastNs = Infinity;
      for (let i = 0; i < SAMPLES && (i === 0 || performance.now() - started < LONGEST_MS); i++) {
        const record = (encoder: GPUCommandEncoder, timestamps: () => GPUComputePassDescriptor): void =>
          uniforms.dispatch(encoder, kernel, { ...work, pass: timestamps() });
        leastNs = Math.min(leastNs, await gpu.timed({ passes: 1, record }) / times);
      }
      found.push([name, leastNs / Math.max(1, rounds)]);
    }
    return Object.fromEntries(found) as Record<Constant, number>;
  } finally {
    data.destroy();
  }
}

function codeOf(body: string, rounds: number): string {
  return wgsl`
    @group(0) @binding(0) var<storage, read_write> data: array<vec4f>;
    var<workgroup> shared_: array<f32, ${THREADS}>;
    @compute @workgroup_size(${THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
      var a = vec4f(f32(lane)); var b = a;
      for (var i = 0u; i < ${rounds}u; i++) { ${body} }
      if (a.x + b.y + shared_[lane] == 0.12345) { data[lane] = a; }
    }
  `;
}
