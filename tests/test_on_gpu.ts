/**
 * Tests that need the GPU. Where there is no WebGPU adapter they are ignored, and their names say why; they
 * never pass without having run.
 *
 * @module
 */
import { type Precise, type PrecisionName, precisionOf } from "../kernels/precision.ts";
import { gpuDescriptionOf, requestFullDevice } from "../tuner/devices/device.ts";
import { GpuDevice } from "../tuner/devices/gpu/gpu_device.ts";

const adapter = await navigator.gpu?.requestAdapter() ?? null;
/** Whether there is any GPU, in software too. */
export const HAS_ADAPTER = adapter !== null;

/** Whether that GPU is hardware, where threads without a barrier may happen to meet. */
export const IS_HARDWARE = adapter !== null && !adapter.info.isFallbackAdapter;

/**
 * Time that one submission may take. A software device compiles at the first dispatch, for seconds where the
 * shader is large, and shares its cores with the other tests.
 */
const TIMEOUT_MS = 600_000;

/** By precision. */
const opened = new Map<PrecisionName, Promise<GpuDevice | undefined>>();

/** Whether the GPU computes in f64. */
const HAS_F64 = adapter !== null && await requestFullDevice(adapter, { precision: "f64" }).then((device) => {
  device?.destroy();
  return device !== null;
});

/** Threads of a SIMD group of that GPU, where shaders may shuffle among them. */
export const SUBGROUP_SIZE = adapter === null ? undefined : gpuDescriptionOf(adapter).limits.subgroupSize;

/**
 * Adds a test; all tests of one file share an open device.
 *
 * @param options `ignore: !THOROUGH` where the test is too slow for every run
 */
export function testOnGpu(
  name: string,
  test: (gpu: GpuDevice) => Promise<void>,
  { ignore = false, shuffles = false, ...of }: { ignore?: boolean; shuffles?: boolean } & Precise = {},
): void {
  const { name: precision } = precisionOf(of);
  const missing = !HAS_ADAPTER
    ? "no WebGPU adapter"
    : precision === "f64" && !HAS_F64
    ? "no f64"
    : shuffles && SUBGROUP_SIZE === undefined
    ? "no subgroups"
    : undefined;
  Deno.test({
    name: missing === undefined ? name : `${name} (ignored: ${missing})`,
    ignore: ignore || missing !== undefined,
    async fn() {
      const open = () => GpuDevice.open({ timeoutMs: TIMEOUT_MS, precision });
      await test((await opened.getOrInsertComputed(precision, open))!);
    },
  });
}

Deno.test.afterAll(async () => {
  for (const device of opened.values()) (await device)?.[Symbol.dispose]();
});
