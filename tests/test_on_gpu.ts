/**
 * Tests that need the GPU. Where there is no WebGPU adapter they are ignored, and their names say why; they
 * never pass without having run.
 *
 * @module
 */
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

let opened: Promise<GpuDevice | undefined> | undefined;

/**
 * Adds a test; all tests of one file share an open device.
 *
 * @param options `ignore: !THOROUGH` where the test is too slow for every run
 */
export function testOnGpu(
  name: string,
  test: (gpu: GpuDevice) => Promise<void>,
  { ignore = false }: { ignore?: boolean } = {},
): void {
  Deno.test({
    name: HAS_ADAPTER ? name : `${name} (ignored: no WebGPU adapter)`,
    ignore: ignore || !HAS_ADAPTER,
    async fn() {
      opened ??= GpuDevice.open({ timeoutMs: TIMEOUT_MS });
      await test((await opened)!);
    },
  });
}

Deno.test.afterAll(async () => (await opened)?.[Symbol.dispose]());
