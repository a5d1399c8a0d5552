import { wgsl } from "../../../kernels/wgsl/template.ts";
import type { Constant, Constants } from "../../../models/gpu_record.ts";
import { ClockGauge } from "./clock_gauge.ts";
import { measureCopyBandwidth } from "./copy_bandwidth.ts";
import { DEVICE_BATCH_NS } from "./gpu_clock.ts";
import { GpuDevice } from "./gpu_device.ts";
import { compile } from "./gpu_pipelines.ts";
import { Uniforms } from "./gpu_uniforms.ts";

/** Workgroups that fill any GPU; vectors of 16 bytes that its cache holds, and that it does not. */
const WORKGROUPS = 2048, CACHED = 2 ** 16, FAR = 2 ** 24;

/** Of each constant what a round of a loop does, the rounds, and the workgroups: one alone shows how long it waits. */
const WORK: readonly (readonly [name: Constant, body: string, rounds: number, workgroups: number])[] = [
  ["arithmeticNs", "a = fma(a, vec4f(0.999), b); b = fma(b, vec4f(0.998), a);", 512, WORKGROUPS],
  ["latencyNs", "a.x = fma(a.x, 0.999, b.x);", 4096, 1],
  ["exchangeNs", "row[lane] = a.x; a.x += row[(lane + i) % 256u];", 512, WORKGROUPS],
  ["cacheNs", `a += data[(id.x + i * 4099u) % ${CACHED}u];`, 64, WORKGROUPS],
  ["waitNs", `at = (at * 1664525u + 1013904223u + u32(a.x)) % far; a = data[at];`, 256, 1],
  ["barrierNs", "workgroupBarrier();", 4096, 1],
  ["dispatchNs", "", 1, 1],
];

/** Samples, of which the shortest counts, the time after which no other begins, and the longest list of dispatches. */
const SAMPLES = 7, LONGEST_MS = 200, MOST_TIMES = 2 ** 12;

/**
 * What kinds of work take on a device, in nanoseconds of a round, within two seconds; nothing where the device's clock cannot
 * be read.
 *
 * @throws {RunFailure} if the device fails
 */
export async function measureConstants(gpu: GpuDevice, workgroups = WORKGROUPS): Promise<Constants> {
  if (!gpu.hasTimestamps) return {};
  await ClockGauge.of(gpu); // raises the clock
  const uniforms = await Uniforms.create(gpu), found: { -readonly [name in Constant]?: number } = {};
  const vectors = Math.min(FAR, 2 ** Math.floor(Math.log2(gpu.limits.maxStorageBufferBindingSize / 16)));
  const data = await gpu.buffer(16 * vectors, GPUBufferUsage.STORAGE, "constants");
  try {
    for (const [name, body, rounds, wanted] of WORK) {
      const kernel = await compile(gpu, codeOf(body, rounds), name, [0]), started = performance.now();
      const work = { on: [[data]], workgroups: [Math.min(wanted, workgroups), 1, 1] } as const;
      let times = 1, leastNs = Infinity;
      for (let samples = 0; samples < SAMPLES && performance.now() - started < LONGEST_MS; samples++) {
        const ns = await gpu.timed({
          passes: 1,
          record: (encoder, pass) => uniforms.dispatch(encoder, kernel, { ...work, times, pass: pass() }),
        });
        leastNs = Math.min(leastNs, ns / times);
        if (ns > DEVICE_BATCH_NS || times === MOST_TIMES) continue;
        [times, samples] = [2 * times, 0];
      }
      found[name] = leastNs / rounds;
    }
    return found;
  } finally {
    data.destroy();
    uniforms.destroy();
  }
}

/**
 * Measures what the models should know of a GPU that no profile and no record of Facet describes, within some three seconds:
 * options for {@linkcode chooseConfiguration}.
 *
 * @throws {RunFailure} if the device fails
 */
export async function measureDevice(
  device: GPUDevice,
): Promise<{ readonly copyBytesPerSecond: number; readonly constants: Constants }> {
  using gpu = await GpuDevice.borrow(device);
  const constants = gpu.isSoftware ? {} : await measureConstants(gpu);
  return { constants, copyBytesPerSecond: await measureCopyBandwidth(gpu, { isFallback: gpu.isSoftware }) };
}

function codeOf(body: string, rounds: number): string {
  return wgsl`
    @group(0) @binding(0) var<storage, read_write> data: array<vec4f>;
    var<workgroup> row: array<f32, 256>;
    @compute @workgroup_size(256)
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
      let far = arrayLength(&data);
      var a = vec4f(f32(lane)); var b = a; var at = lane;
      for (var i = 0u; i < ${rounds}u; i++) { ${body} }
      if (a.x + b.y + row[lane] == 0.12345) { data[lane] = a; }
    }
  `;
}
