import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Runner } from "../configuration.ts";
import { type Reference, stateLevels, verificationOf } from "./reference.ts";
import type { ClockGauge } from "./gpu/clock_gauge.ts";
import type { Submission } from "./gpu/gpu_device.ts";
import { WindowedField } from "./gpu/windowed_field.ts";
import { RunFailure } from "./run_failure.ts";
import { SharedField, type SharedTimes } from "./shared/shared_field.ts";
import type { ShareOptions } from "./shared/shares.ts";

/** What configurations run on. */
export interface Devices extends Pick<ShareOptions, "gpu" | "cpuPool" | "gpuMemory"> {
  readonly reference: Reference;
  /** Of a GPU that lowers its clock while it waits. */
  readonly gauge?: ClockGauge | undefined;
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
  { gpu, gauge, cpuPool, gpuMemory, reference }: Devices,
  problem: Problem,
  configuration: Configuration,
  onCompiled?: () => Promise<void>,
): Promise<FieldRunner> {
  const { cpuSlices, gpuSlices, deviceMemory } = configuration.share;
  if (deviceMemory !== undefined) {
    return await prepareWindow({ gpu, reference }, problem, configuration, onCompiled);
  }
  const isShared = cpuSlices > 0 && gpuSlices > 0;
  const field = await SharedField.create(problem, {
    gpu,
    cpuPool,
    gpuMemory,
    configuration,
    async onCompiled(part, plan) {
      await reference.prepareGpu?.(part, plan);
      await onCompiled?.();
    },
  });
  // the workers' clock is as good as a device's
  const isGpuUntimed = gpuSlices > 0 && !gpu?.hasTimestamps;
  const longRun = field.gpuShare?.field.longRun ?? 1;
  const isSteadied = gauge !== undefined && cpuSlices === 0 && !isGpuUntimed;
  return {
    configuration,
    compileNs: field.compileNs,
    clock: isShared || isGpuUntimed ? "host" : "device",
    isWarm: cpuSlices === 0 && gpu?.isSoftware === true,
    initialise: () => field.initialise(reference.start),
    runSteps: (steps, repetitions) => field.run(steps, repetitions),
    run: async (repetitions) => (await field.run(problem.steps, repetitions)).timeNs,
    ...(isSteadied && {
      longRun,
      begin: (repetitions: number) => gauged(gauge, () => field.begin(repetitions * problem.steps)),
    }),
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

/** Hands over a batch between two looks at the clock. */
export async function gauged(
  gauge: ClockGauge,
  begin: () => Promise<Submission>,
): ReturnType<NonNullable<Runner["begin"]>> {
  const before = await gauge.begin(), batch = await begin(), after = await gauge.begin();
  return {
    async finish() {
      const [from, timeNs, to] = await Promise.all([before.finish(), batch.finish(), after.finish()]);
      return { timeNs, clock: Math.min(from, to) };
    },
  };
}

/** The same for a field of which the GPU holds no more than a window. */
async function prepareWindow(
  { gpu, reference }: Pick<Devices, "gpu" | "reference">,
  problem: Problem,
  configuration: Configuration,
  onCompiled?: () => Promise<void>,
): Promise<FieldRunner> {
  const { share: { cpuSlices, deviceMemory } } = configuration;
  const refuse = (why: string): never => {
    throw new RunFailure("limits", why);
  };
  if (gpu === undefined) return refuse("there is no GPU for a window");
  if (cpuSlices > 0) return refuse("what passes through a window is not shared with the CPU");
  const field = await WindowedField.open(gpu, problem, {
    ...configuration,
    windowBytes: deviceMemory!,
    onCompiled,
  });
  const run = async (steps: number, repetitions = 1): Promise<SharedTimes> => {
    let wallNs = 0;
    for (let i = 0; i < repetitions; i++) wallNs += await field.run(steps);
    return { wallNs, timeNs: wallNs, gpuNs: wallNs, computeNs: 0, unpackNs: 0, packNs: 0 };
  };
  return {
    configuration,
    compileNs: field.compileNs,
    clock: "host",
    isWarm: gpu.isSoftware,
    initialise: () => field.initialise(reference.start),
    runSteps: run,
    run: async (repetitions) => (await run(problem.steps, repetitions)).timeNs,
    verify() {
      if (reference.window === undefined) return refuse("the reference lies on the GPU as a whole");
      return Promise.resolve(
        verificationOf(field.compare(reference.window, stateLevels(problem)), reference),
      );
    },
    dispose: () => field[Symbol.dispose](),
  };
}
