/**
 * What is known of a pair of devices before both compute together: roughly how fast each is, and the host's waits.
 *
 * @module
 */
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import type { FirstGuess } from "../../models/shared_design.ts";
import { SharedField } from "../devices/shared/shared_field.ts";
import { probeCpu } from "../measuring/cpu_probe.ts";
import type { SharedCostOptions } from "./shared_costs.ts";
import { median } from "../measuring/statistics.ts";

/** Waits and timers of the host that are timed. */
const WAITS = 7;
/** Less than this is no time of a clock's, but its resolution. */
const LEAST_NS = 1000;

/** The rates of the devices, probed where they are not known, and the host's waits. */
export async function firstGuess(
  { gpu, cpuPool, problem, configuration, start, alone }: SharedCostOptions,
): Promise<
  FirstGuess
> {
  const waitNs = await medianOf(WAITS, async () => {
    const { finish } = await gpu.submit({
      passes: 1,
      record: (encoder, pass) => encoder.beginComputePass(pass()).end(),
    });
    const began = performance.now();
    await finish();
    return (performance.now() - began) * 1e6;
  });
  const timerNs = await medianOf(WAITS, async () => {
    const began = performance.now();
    await new Promise((resolve) => setTimeout(resolve));
    return (performance.now() - began) * 1e6;
  });
  return {
    waitNs,
    timerNs,
    cpuCellsPerSecond: alone?.cpu ?? await probeCpu(cpuPool, problem),
    gpuCellsPerSecond: alone?.gpu ?? await probeGpu({ gpu, problem, configuration, start, waitNs }),
  };
}

/** Roughly how fast the GPU is alone: a few steps of the whole grid. */
async function probeGpu(
  { gpu, problem, configuration, start, waitNs }:
    & Pick<SharedCostOptions, "gpu" | "problem" | "configuration" | "start">
    & { waitNs: number },
): Promise<number> {
  const [slices] = problem.grid;
  const share = { cpuSlices: 0, gpuSlices: slices, exchangeEvery: 1, cpuWorkers: 0 };
  const field = await SharedField.create(problem, { gpu, configuration: { ...configuration, share } });
  try {
    await field.initialise(start);
    const steps = Math.min(8, problem.steps);
    await field.run(steps); // the first run is slow: shaders are compiled
    const { gpuRoundsNs: [timeNs] } = await field.run(steps);
    const runNs = gpu.hasTimestamps ? timeNs : timeNs - waitNs;
    return cellsOf(problem.grid) * steps / (Math.max(runNs, LEAST_NS) * 1e-9);
  } finally {
    field[Symbol.dispose]();
  }
}

/** The median, and no less than a clock can tell. */
export function middle(times: readonly number[]): number {
  return Math.max(median(times.map((time) => Math.max(time, LEAST_NS))), LEAST_NS);
}

/** The shortest time, as what is undisturbed. */
export function shortest(times: readonly number[]): number {
  return Math.max(LEAST_NS, Math.min(...times));
}

/** The median of some waits, after one that only warms up. */
async function medianOf(count: number, measure: () => Promise<number>): Promise<number> {
  await measure();
  const times: number[] = [];
  for (let i = 0; i < count; i++) times.push(await measure());
  return middle(times);
}
