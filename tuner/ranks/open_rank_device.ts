import { CpuPool } from "../devices/cpu/wasm_workers.ts";
import { requestAdapter } from "../devices/device.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import { GpuChoiceError, listGpus, type PciGpu, takeGpu, takeWantedGpu } from "../devices/gpu_choice.ts";
import { gpuName } from "../devices/vendors.ts";
import type { World } from "./world.ts";

/** What a rank computes with: a GPU, or workers of its CPU. */
export interface RankDevice {
  /** @internal */
  readonly gpu: GpuDevice | undefined;
  /** @internal */
  readonly cpuPool: CpuPool | undefined;
}

/** A rank's device, and what it is called. */
export interface OpenedDevice extends RankDevice, Disposable {
  /** `4 CPU workers`, or the GPU's. */
  readonly name: string;
  /** Why it is not the GPU whose turn it is. */
  readonly note: string | undefined;
}

/** Which device. */
export interface DeviceWishes {
  /** A GPU's index, name or PCI address. @default {FACET_GPU; without it the ranks of a machine take its GPUs in turn} */
  readonly gpu?: string | undefined;
  /** Computes with CPU workers. */
  readonly noGpu?: boolean;
  /** Workers, instead of a GPU. @default {this rank's share of the cores, where there is no GPU} */
  readonly cpuWorkers?: number | undefined;
}

/**
 * Opens what this rank computes with: a GPU, or its share of the cores where there is none or only one in software that
 * nobody asked for, since that computes on the same cores, more slowly.
 *
 * @throws {GpuChoiceError} if there is no such GPU
 */
export async function openRankDevice(
  world: World,
  { gpu: wanted, noGpu = false, cpuWorkers }: DeviceWishes,
): Promise<OpenedDevice> {
  const machines = await world.shareAll(Deno.hostname());
  const isHere = (machine: string): boolean => machine === machines[world.rank];
  if (!noGpu && cpuWorkers === undefined) {
    const turn = machines.slice(0, world.rank).filter(isHere).length;
    const asked = await takeWantedGpu(wanted), { taken = asked, note } = asked ? {} : await takeInTurn(turn);
    const adapter = await requestAdapter();
    const isGood = adapter !== null && (asked !== undefined || !adapter.info.isFallbackAdapter);
    const gpu = isGood ? await GpuDevice.open() : undefined;
    if (gpu !== undefined) {
      const name = `${gpuName(adapter!.info)} ${taken?.pci ?? ""}`.trimEnd();
      return { gpu, cpuPool: undefined, name, note, [Symbol.dispose]: () => gpu[Symbol.dispose]() };
    }
  }
  const workers = cpuWorkers ??
    Math.max(1, Math.floor(navigator.hardwareConcurrency / machines.filter(isHere).length));
  const cpuPool = await CpuPool.create({ workers });
  const name = workers === 1 ? "1 CPU worker" : `${workers} CPU workers`;
  return { gpu: undefined, cpuPool, name, note: undefined, [Symbol.dispose]: () => cpuPool.dispose() };
}

/** The next of several GPUs, nothing where there is no choice; or why it cannot be taken: then WebGPU's own is. */
async function takeInTurn(turn: number): Promise<{ readonly taken?: PciGpu; readonly note?: string }> {
  const { length } = await listGpus();
  if (length < 2) return {};
  return await takeGpu(`${turn % length}`).then((taken) => ({ taken }), (error) => {
    if (error instanceof GpuChoiceError) {
      return { note: `${error.message}: it takes the one that WebGPU offers` };
    }
    throw error;
  });
}
