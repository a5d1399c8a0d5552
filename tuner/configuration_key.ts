/**
 * When two configurations are the same, and when one is the baseline of speedups.
 *
 * @module
 */
import type { Parameters } from "../kernels/traversals/traversal.ts";
import type { Configuration } from "./configuration.ts";
import { isShared } from "./shares.ts";

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

/** A text that is equal for equal traversals with equal parameters only. */
export function traversalKey(
  { traversal, parameters }: Pick<Configuration, "traversal" | "parameters">,
): string {
  return JSON.stringify([traversal, sorted(parameters)]);
}

/** Whether one device computes alone and stepwise, which on a line is called classic. */
export function isStepwise({ traversal, share }: Configuration): boolean {
  return (traversal === "stepwise" || traversal === "classic") && !isShared(share);
}

function sorted(parameters: Parameters): (readonly [name: string, value: number])[] {
  return Object.entries(parameters).sort(([a], [b]) => a < b ? -1 : 1);
}
