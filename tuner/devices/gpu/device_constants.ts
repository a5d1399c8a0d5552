import { wgsl } from "../../../kernels/wgsl/template.ts";
import type { Constant, Constants } from "../../../models/gpu_record.ts";
import { whyNoPrecision } from "../device.ts";
import { ClockGauge } from "./clock_gauge.ts";
import { measureCopyBandwidth } from "./copy_bandwidth.ts";
import { DEVICE_BATCH_NS } from "./gpu_clock.ts";
import { GpuDevice } from "./gpu_device.ts";
import { compile } from "./gpu_pipelines.ts";
import { Uniforms } from "./gpu_uniforms.ts";

/** Workgroups that fill any GPU; vectors of 16 bytes that its cache holds, and that it does not. */
const WORKGROUPS = 2048, CACHED = 2 ** 16, FAR = 2 ** 24;

/**
 * For each constant: what a round does, the number of rounds, how many are written one after another (so that the loop
 * around them takes little), and the workgroups; one workgroup alone shows how long it waits. What is computed of a vector are
 * three values: the fourth is not stored, so that compilers leave it out.
 */
const WORK: readonly (readonly [
  name: Constant,
  round: string,
  rounds: number,
  written: number,
  workgroups: number,
])[] = [
  ["arithmeticNs", "a = fma(a, vec4f(0.999), b);", 1024, 8, WORKGROUPS],
  ["doubleNs", "c = fma(c, vec4<f64>(0.999lf), c0);", 1024, 8, WORKGROUPS],
  ["latencyNs", "a.x = fma(a.x, 0.999, b.x);", 4096, 8, 1],
  ["exchangeNs", "row[lane] = a.x; a.x += row[(lane + i) % 256u];", 512, 8, WORKGROUPS],
  ["cacheNs", `a += data[(id.x + i * 4099u) % ${CACHED}u];`, 64, 1, WORKGROUPS],
  ["waitNs", "at = (at * 1664525u + 1013904223u + u32(a.y)) % arrayLength(&data); a = data[at];", 256, 8, 1],
  ["barrierNs", "workgroupBarrier();", 4096, 8, 1],
  ["dispatchNs", "", 1, 1, 1],
];

/** Samples, of which the shortest counts, the time after which no other begins, and the longest list of dispatches. */
const SAMPLES = 4, LONGEST_MS = 120, MOST_TIMES = 2 ** 12;

/** How much longer a list becomes at most, and by how much it should be longer than the device's clock needs. */
const MOST_MORE = 64, LONGER = 1.25;

/** Chains of the gauge before each sample: as long as the host waits for the one before, so that the clock stays up. */
const CHAINS = 60;

/**
 * What kinds of work take on a device, in nanoseconds of a round, within two seconds; nothing where the device's clock cannot
 * be read.
 *
 * @throws {RunFailure} if the device fails
 */
export async function measureConstants(gpu: GpuDevice, workgroups = WORKGROUPS): Promise<Constants> {
  if (!gpu.hasTimestamps) return {};
  const gauge = await ClockGauge.of(gpu);
  const uniforms = await Uniforms.create(gpu), found: { -readonly [name in Constant]?: number } = {};
  const vectors = Math.min(FAR, 2 ** Math.floor(Math.log2(gpu.limits.maxStorageBufferBindingSize / 16)));
  const data = await gpu.buffer(16 * vectors, GPUBufferUsage.STORAGE, "constants");
  try {
    for (const [name, round, rounds, written, wanted] of WORK) {
      if (name === "doubleNs" && whyNoPrecision(gpu.device, { precision: "f64" })) continue;
      const kernel = await compile(gpu, codeOf(round, rounds, written), name, [0]);
      const started = performance.now();
      const work = { on: [[data]], workgroups: [Math.min(wanted, workgroups), 1, 1] } as const;
      let times = 1, leastNs = Infinity;
      for (
        let samples = 0;
        samples < 2 || (samples < SAMPLES && performance.now() - started < LONGEST_MS);
        samples++
      ) {
        const busy = await gauge?.begin(CHAINS);
        const timed = gpu.timed({
          passes: 1,
          record: (encoder, pass) => uniforms.dispatch(encoder, kernel, { ...work, times, pass: pass() }),
        });
        const [ns] = await Promise.all([timed, busy?.finish()]);
        leastNs = Math.min(leastNs, ns / times);
        if (ns > DEVICE_BATCH_NS || times === MOST_TIMES) continue;
        // the first time of a kernel says little
        const more = Math.min(MOST_MORE, Math.ceil(LONGER * DEVICE_BATCH_NS / ns));
        [times, samples] = [Math.min(MOST_TIMES, more * times), 0];
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

/** What a dispatch ends with is what the next begins with, so that none finds what the one before has just read. */
function codeOf(round: string, rounds: number, written: number): string {
  const [made, used] = round.includes("lf")
    ? ["var c = vec4<f64>(a); let c0 = c;", "a += vec4f(c);"]
    : ["", ""];
  return wgsl`
    @group(0) @binding(0) var<storage, read_write> data: array<vec4f>;
    var<workgroup> row: array<f32, 256>;
    @compute @workgroup_size(256)
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
      var a = data[lane]; let b = a; var at = id.x + u32(abs(a.w)); ${made}
      for (var i = 0u; i < ${rounds / written}u; i++) {
        ${`${round}\n`.repeat(written)}
      }
      ${used}
      data[lane] = vec4f(a.x + a.y + a.z + row[lane], 0.0, 0.0, f32(at & 0xffffffu));
    }
  `;
}
