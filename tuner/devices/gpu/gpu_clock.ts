import type { GpuDescription } from "../device.ts";

/** Shortest batch to time by the device's own clock: its ticks and the ends of a pass are then under 0.1%. */
export const DEVICE_BATCH_NS = 2e6;

/** Shortest batch of a device that must not wait: twice what Deno takes to tell that the one before has ended. */
export const STEADY_BATCH_NS = 25e6;

/** The same where the rate is reported: of whole long runs, unless one takes longer than this. */
export const REPORTED_BATCH_NS = 100e6, LONGEST_REPORTED_NS = 250e6;

/**
 * Shortest batch to time by the host's clock. Deno polls the device on a 10 ms timer, and a wait never ends in
 * under 10–11 ms: at 550 ms that is 2%.
 */
export const HOST_BATCH_NS = 550e6;

/** Shortest batch whose rate is reported on a GPU of this kind. */
export function shortestBatchNs(gpu: Pick<GpuDescription, "timestampQuery" | "isFallback"> | null): number {
  if (gpu?.timestampQuery === false) return HOST_BATCH_NS;
  return gpu === null || gpu.isFallback ? DEVICE_BATCH_NS : REPORTED_BATCH_NS;
}

/** Nanoseconds per tick of the clock of each device that was ever opened. */
const calibrated = new WeakMap<GPUDevice, Promise<number>>();

/** What the clock is read with. */
interface Clock {
  readonly device: GPUDevice;
  read(buffer: GPUBuffer): Promise<ArrayBuffer>;
}

/**
 * Nanoseconds per tick of a device that has timestamps, found out once for each. WebGPU promises timestamps in
 * nanoseconds; a runtime that hands out the device's ticks instead would make every rate wrong by a constant.
 */
export async function tickOf(gpu: Clock): Promise<number> {
  const known = calibrated.get(gpu.device) ?? measureTick(gpu);
  calibrated.set(gpu.device, known);
  known.catch(() => calibrated.delete(gpu.device));
  return await known;
}

/**
 * Two timestamps 0.1 s apart tell: where the clocks differ by more than a tenth, the host's is believed; else a tick
 * is a nanosecond.
 */
async function measureTick(gpu: Clock): Promise<number> {
  await stamp(gpu); // the first submission is slow
  const [ticksA, hostA] = await stamp(gpu);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const [ticksB, hostB] = await stamp(gpu);
  const nsPerTick = (hostB - hostA) * 1e6 / (ticksB - ticksA);
  return Number.isFinite(nsPerTick) && nsPerTick > 0 && Math.abs(nsPerTick - 1) > 0.1 ? nsPerTick : 1;
}

/** The device's clock and the host's at one moment. */
async function stamp(gpu: Clock): Promise<[ticks: number, hostMs: number]> {
  const { device } = gpu;
  const queries = device.createQuerySet({ type: "timestamp", count: 2 });
  const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC;
  const resolved = device.createBuffer({ size: 16, usage });
  const encoder = device.createCommandEncoder();
  encoder.beginComputePass({
    timestampWrites: { querySet: queries, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
  }).end();
  encoder.resolveQuerySet(queries, 0, 2, resolved, 0);
  const hostMs = performance.now();
  device.queue.submit([encoder.finish()]);
  const [begin] = new BigUint64Array(await gpu.read(resolved));
  resolved.destroy();
  queries.destroy();
  return [Number(begin), hostMs];
}
