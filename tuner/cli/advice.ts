import type { DeviceDescription } from "../devices/device.ts";
import type { WasmFeatures } from "../devices/cpu/wasm_features.ts";
import { commandToType, type DriverPackage } from "./driver_package.ts";

/** Memory of the machine. */
export interface Memory {
  readonly totalBytes: number;
  readonly availableBytes: number;
}

/** Everything that `doctor` finds out. */
export interface Findings {
  readonly device: DeviceDescription;
  readonly webAssembly: WasmFeatures;
  /** Null where the system does not tell. */
  readonly memory: Memory | null;
}

/** What advice needs to know about how software is installed here. */
export interface InstallationFacts {
  readonly driverPackage: DriverPackage | undefined;
  readonly isRoot: boolean;
}

/** One thing that would help. */
export interface Advice {
  /** A sentence or two. */
  readonly text: string;
  /** What to type for it, where one command does. */
  readonly command?: string;
}

const GIB = 2 ** 30;

/**
 * What would make tuning faster or more trustworthy on this machine.
 *
 * @param findings what was found
 * @param installation how software is installed here
 * @returns the most useful first; empty where nothing is missing
 */
export function advise({ device, webAssembly, memory }: Findings, installation: InstallationFacts): Advice[] {
  const { gpu, cpu } = device;
  const { driverPackage, isRoot } = installation;
  const advice: Advice[] = [];
  const add = (text: string, command?: string): void =>
    void advice.push(command ? { text, command } : { text });
  if (gpu === null) {
    add(
      "There is no WebGPU adapter: only the CPU computes. A GPU needs its vendor's driver with Vulkan; without " +
        "a GPU, Mesa's software driver runs the same kernels, slowly",
      driverPackage && commandToType(driverPackage, isRoot),
    );
  } else if (gpu.isFallback) {
    add(
      "The adapter is software: its rates are those of the CPU and say nothing about a GPU. If this machine has " +
        "a GPU, install its vendor's driver with Vulkan",
    );
  }
  if (gpu !== null && !gpu.timestampQuery) {
    add(
      "Timestamp queries are missing: kernels are timed by the host's clock, in batches long enough to hide its " +
        "10 ms tick, so that each measurement takes longer. A newer driver may have them",
    );
  }
  if (!webAssembly.simd) {
    add("WebAssembly has no SIMD here: the CPU cannot take part. A newer CPU or Deno has it");
  } else if (!webAssembly.threads) {
    add("WebAssembly has no shared memory here: the CPU's workers cannot share a grid");
  }
  if (cpu.cores < 4) {
    const cores = cpu.cores === 1 ? "Only 1 core is available" : `Only ${cpu.cores} cores are available`;
    add(`${cores}: the CPU's workers and the process that feeds the GPU share them. More cores would help`);
  }
  if (memory !== null && memory.availableBytes < GIB) {
    add(
      `Only ${
        (memory.availableBytes / GIB).toFixed(1)
      } GiB of memory are available: grids far larger than the ` +
        "caches may not fit. Close what else is running",
    );
  }
  return advice;
}
