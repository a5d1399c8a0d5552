import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Runner } from "../configuration.ts";
import type { FieldMemory } from "./gpu/field_memory.ts";
import type { GpuDevice } from "./gpu/gpu_device.ts";
import { type Reference, verificationOf } from "./reference.ts";
import { SharedField, type SharedTimes } from "./shared/shared_field.ts";
import type { CpuPool } from "./cpu/wasm_workers.ts";

/** What configurations run on. */
export interface Devices {
  readonly gpu?: GpuDevice | undefined;
  readonly cpuPool?: CpuPool | undefined;
  /** Where the GPU's arrays come from. @default {memory of each field's own} */
  readonly gpuMemory?: FieldMemory | undefined;
  /** The right result of the problem. */
  readonly reference: Reference;
}

/** Options of {@linkcode prepare}. */
export interface PrepareOptions {
  /** Called when the GPU's code is compiled, before its memory is taken. */
  readonly onCompiled?: () => Promise<void>;
}

/** A runner that can also run another number of steps, and reports the times of both devices. */
export interface FieldRunner extends Runner {
  runSteps(steps: number, repetitions?: number): Promise<SharedTimes>;
}

/**
 * Compiles a configuration and takes its memory, on the GPU, the CPU, or both together, as its share says.
 *
 * @throws {RunFailure} if it cannot run
 */
export async function prepare(
  { gpu, cpuPool, gpuMemory, reference }: Devices,
  problem: Problem,
  configuration: Configuration,
  { onCompiled }: PrepareOptions = {},
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
    async run(repetitions) {
      const { wallNs, cpuRoundsNs, gpuRoundsNs } = await field.run(problem.steps, repetitions);
      const [aloneNs = wallNs] = [...cpuRoundsNs, ...gpuRoundsNs];
      return isShared ? wallNs : aloneNs;
    },
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
