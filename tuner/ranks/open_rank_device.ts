import { CpuPool } from "../devices/cpu/wasm_workers.ts";
import { requestAdapter } from "../devices/device.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { takeInTurn, takeWantedGpu } from "../devices/gpu_choice.ts";
import { gpuName } from "../devices/vendors.ts";
import type { DeviceWishes, RankDevice, World } from "../devices/world.ts";

export type { DeviceWishes, RankDevice };

/** A rank's device, and what it is called. */
export interface OpenedDevice extends RankDevice, Disposable {
  /** `4 CPU workers`, or the GPU's. */
  readonly name: string;
  /** Where it is: ranks with the same place share one GPU. */
  readonly place: string;
  /** Why it is not the GPU whose turn it is. */
  readonly note: string | undefined;
}

/**
 * Opens what this rank computes with: a GPU, or its share of the cores where there is none or only one in software that
 * nobody asked for, since that computes on the same cores, more slowly.
 *
 * @throws {GpuChoiceError} if there is no such GPU
 */
export async function openRankDevice(
  world: World,
  { gpu: wanted, noGpu = false, cpuWorkers, deviceMemory, precision }: DeviceWishes,
): Promise<OpenedDevice> {
  const machines = await world.shareAll(Deno.hostname());
  const isHere = (machine: string): boolean => machine === machines[world.rank];
  if (!noGpu && cpuWorkers === undefined) {
    const turn = machines.slice(0, world.rank).filter(isHere).length;
    const asked = await takeWantedGpu(wanted), { taken = asked, note } = asked ? {} : await takeInTurn(turn);
    const adapter = await requestAdapter();
    const isGood = adapter !== null && (asked !== undefined || !adapter.info.isFallbackAdapter);
    const gpu = isGood ? await GpuDevice.open({ precision }) : undefined;
    if (gpu !== undefined) {
      const name = `${gpuName(adapter!.info)} ${taken?.pci ?? ""}`.trimEnd();
      const place = `${machines[world.rank]} ${taken?.pci ?? ""}`;
      const device = { gpu, cpuPool: undefined, deviceMemory, name, place, note };
      return { ...device, [Symbol.dispose]: () => gpu[Symbol.dispose]() };
    }
  }
  const workers = cpuWorkers ??
    Math.max(1, Math.floor(navigator.hardwareConcurrency / machines.filter(isHere).length));
  const cpuPool = await CpuPool.create({ workers });
  const name = workers === 1 ? "1 CPU worker" : `${workers} CPU workers`;
  const place = `rank ${world.rank}`, note = undefined;
  return { gpu: undefined, cpuPool, name, place, note, [Symbol.dispose]: () => cpuPool.dispose() };
}
