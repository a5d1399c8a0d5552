import { wgsl } from "../../../kernels/wgsl/template.ts";
import type { Constant } from "../../../models/gpu_record.ts";
import { ClockGauge } from "./clock_gauge.ts";
import type { GpuDevice, Recorder } from "./gpu_device.ts";
import { compile } from "./gpu_pipelines.ts";
import { Uniforms } from "./gpu_uniforms.ts";

/** Workgroups that fill any GPU; vectors that its cache holds. */
const WORKGROUPS = 2048, CACHED = 2 ** 16;

/** Of each constant what a round of a loop does, the rounds, the workgroups (one shows a barrier) and the dispatches. */
const WORK:
  readonly (readonly [name: Constant, body: string, rounds: number, groups: number, times: number])[] = [
    ["arithmeticNs", "a = fma(a, vec4f(0.999), b); b = fma(b, vec4f(0.998), a);", 512, WORKGROUPS, 16],
    ["exchangeNs", "row[lane] = a.x; a.x += row[(lane + i) % 256u];", 512, WORKGROUPS, 16],
    ["cacheNs", `a += data[(id.x * 7u + i * 4099u) % ${CACHED}u];`, 64, WORKGROUPS, 16],
    ["barrierNs", "workgroupBarrier();", 4096, 1, 256],
    ["dispatchNs", "", 1, 1, 256],
  ];

/** Samples, of which the shortest counts, and the time after which no other begins. */
const SAMPLES = 9, LONGEST_MS = 250;

/**
 * What kinds of work take on a device, in nanoseconds of a round: a second or two.
 *
 * @throws {RunFailure} if the device fails
 */
export async function measureConstants(
  gpu: GpuDevice,
  workgroups = WORKGROUPS,
): Promise<Partial<Record<Constant, number>>> {
  await ClockGauge.of(gpu); // raises the clock
  const uniforms = await Uniforms.create(gpu), found: Partial<Record<Constant, number>> = {};
  const data = await gpu.buffer(16 * CACHED, GPUBufferUsage.STORAGE, "constants"), on = [[data]];
  try {
    for (const [name, body, rounds, groups, times] of WORK) {
      const kernel = await compile(gpu, codeOf(body, rounds), name, [0]), started = performance.now();
      const record: Recorder = (encoder, timestamps) =>
        uniforms.dispatch(encoder, kernel, {
          on,
          workgroups: [Math.min(groups, workgroups), 1, 1],
          times,
          pass: timestamps(),
        });
      let leastNs = Infinity;
      for (let i = 0; i < SAMPLES && (i === 0 || performance.now() - started < LONGEST_MS); i++) {
        leastNs = Math.min(leastNs, await gpu.timed({ passes: 1, record }));
      }
      found[name] = leastNs / times / rounds;
    }
    return found;
  } finally {
    data.destroy();
  }
}

function codeOf(body: string, rounds: number): string {
  return wgsl`
    @group(0) @binding(0) var<storage, read_write> data: array<vec4f>;
    var<workgroup> row: array<f32, 256>;
    @compute @workgroup_size(256)
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
      var a = vec4f(f32(lane)); var b = a;
      for (var i = 0u; i < ${rounds}u; i++) { ${body} }
      if (a.x + b.y + row[lane] == 0.12345) { data[lane] = a; }
    }
  `;
}
