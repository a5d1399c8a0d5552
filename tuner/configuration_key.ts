/**
 * When two configurations are the same.
 *
 * @module
 */
import type { Parameters } from "../kernels/traversals/traversal.ts";
import type { Configuration } from "./configuration.ts";

/** A text that is equal for equal configurations only. */
export function configurationKey({ traversal, parameters, share }: Configuration): string {
  const { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers, cpu, deviceMemory } = share;
  return JSON.stringify([
    traversal,
    sorted(parameters),
    cpuSlices,
    gpuSlices,
    exchangeEvery,
    cpuWorkers,
    ...(deviceMemory === undefined ? [] : [`window ${deviceMemory}`]),
    ...(cpu === undefined ? [] : [cpu.traversal, sorted(cpu.parameters)]),
  ]);
}

function sorted(parameters: Parameters): (readonly [name: string, value: number])[] {
  return Object.entries(parameters).sort(([a], [b]) => a < b ? -1 : 1);
}
