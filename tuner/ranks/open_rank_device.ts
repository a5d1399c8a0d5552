import { CpuPool } from "../devices/cpu/wasm_workers.ts";
import { requestAdapter } from "../devices/device.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { gpuName } from "../devices/vendors.ts";
import type { RankDevice } from "./rank_field.ts";
import { shareAll, type World } from "./world.ts";

/** A rank's device, and what it is called. */
export interface OpenedDevice extends RankDevice, Disposable {
  readonly name: string;
}

/**
 * Opens what this rank computes with: its machine's GPU, or its share of the cores, where there is no GPU or only one in
 * software.
 *
 * @param wishes `gpu: false` leaves the GPU out; `true` takes a software one too
 * @throws {RunFailure} if the device cannot be opened
 */
export async function openRankDevice(
  world: World,
  { gpu: takesGpu, cpuWorkers }: {
    readonly gpu?: boolean | undefined;
    readonly cpuWorkers?: number | undefined;
  },
): Promise<OpenedDevice> {
  const machines = await shareAll(world, Deno.hostname());
  const neighbours = machines.filter((machine) => machine === machines[world.rank]).length;
  const adapter = takesGpu === false || cpuWorkers !== undefined ? null : await requestAdapter();
  if (adapter !== null && (takesGpu || !adapter.info.isFallbackAdapter)) {
    const gpu = await GpuDevice.open();
    const { vendor, device, description } = adapter.info;
    if (gpu !== undefined) {
      return {
        gpu,
        cpuPool: undefined,
        name: gpuName({ vendor, device, description }),
        [Symbol.dispose]: () => gpu[Symbol.dispose](),
      };
    }
  }
  const workers = cpuWorkers ?? Math.max(1, Math.floor(navigator.hardwareConcurrency / neighbours));
  const cpuPool = await CpuPool.create({ workers });
  return {
    gpu: undefined,
    cpuPool,
    name: workers === 1 ? "1 CPU worker" : `${workers} CPU workers`,
    [Symbol.dispose]: () => cpuPool.dispose(),
  };
}
