import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Runner } from "../configuration.ts";
import { type Reference, verificationOf } from "./reference.ts";
import { SharedField, type SharedTimes } from "./shared/shared_field.ts";
import type { ShareOptions } from "./shared/shares.ts";

/** What configurations run on. */
export interface Devices extends Pick<ShareOptions, "gpu" | "cpuPool" | "gpuMemory"> {
  readonly reference: Reference;
}

/** A runner that can also run another number of steps, and reports the times of both devices. */
export interface FieldRunner extends Runner {
  runSteps(steps: number, repetitions?: number): Promise<SharedTimes>;
}

/**
 * Compiles a configuration and takes its memory, on the GPU, the CPU, or both together, as its share says.
 *
 * @param onCompiled called when the GPU's code is compiled, before its memory is taken
 * @throws {RunFailure} if it cannot run
 */
export async function prepare(
  { gpu, cpuPool, gpuMemory, reference }: Devices,
  problem: Problem,
  configuration: Configuration,
  onCompiled?: () => Promise<void>,
): Promise<FieldRunner> {
  const field = await SharedField.create(problem, {
    gpu,
    cpuPool,
    gpuMemory,
    configuration,
    async onCompiled(part, layout) {
      await reference.prepareGpu(part, layout);
      await onCompiled?.();
    },
  });
  const { cpuSlices, gpuSlices } = configuration.share;
  const isShared = cpuSlices > 0 && gpuSlices > 0;
  // the workers' clock is as good as a device's
  const isGpuUntimed = gpuSlices > 0 && (!gpu?.hasTimestamps || field.usesHost);
  return {
    configuration,
    compileNs: field.compileNs,
    clock: isShared || isGpuUntimed ? "host" : "device",
    initialise: () => field.initialise(reference.start),
    runSteps: (steps, repetitions) => field.run(steps, repetitions),
    run: async (repetitions) => (await field.run(problem.steps, repetitions)).timeNs,
    async verify() {
      if (field.step !== problem.steps) {
        const found = `it is at ${field.step}`;
        throw new RangeError(`Cannot verify: the field must be at step ${problem.steps}: ${found}`);
      }
      return verificationOf(await field.compare(reference), reference);
    },
    dispose: () => field[Symbol.dispose](),
  };
}
