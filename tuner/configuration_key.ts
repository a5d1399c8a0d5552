/**
 * When two configurations are the same.
 *
 * @module
 */
import type { Configuration } from "./configuration.ts";

/** A text that is equal for equal configurations only. */
export function configurationKey({ traversal, parameters, share }: Configuration): string {
  const sorted = Object.keys(parameters).sort().map((name) => [name, parameters[name]]);
  const { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers } = share;
  return JSON.stringify([traversal, sorted, cpuSlices, gpuSlices, exchangeEvery, cpuWorkers]);
}
