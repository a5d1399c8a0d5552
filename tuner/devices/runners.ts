import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Runner } from "../configuration.ts";
import { type Reference, verificationOf } from "./reference.ts";
import type { ClockGauge } from "./gpu/clock_gauge.ts";
import type { Submission } from "./gpu/gpu_device.ts";
import { Survey } from "./survey.ts";
import { SharedField, type SharedTimes } from "./shared/shared_field.ts";
import type { ShareOptions } from "./shared/shares.ts";

/** What configurations run on. */
export interface Devices extends Pick<ShareOptions, "gpu" | "cpuPool" | "gpuMemory"> {
  readonly reference: Reference;
  /** Shows the clock of a GPU that lowers it while it waits. */
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
  const field = await SharedField.create(problem, {
    gpu,
    cpuPool,
    gpuMemory,
    configuration,
    async onCompiled(part, plan) {
      await reference.onGpu?.compileComparison(reference.start.kind, part, plan);
      await onCompiled?.();
    },
  });
  const survey = problem.survey && Survey.synthetic(problem, problem.steps);
  const { alone, parts } = field, { clock = "host", longRun } = alone?.field.facts ?? {};
  return {
    configuration,
    compileNs: field.compileNs,
    clock,
    isWarm: parts.every(({ field }) => field.facts.isWarm),
    async initialise() {
      await field.initialise(reference.start);
      survey?.restart();
      await survey?.watch(field);
    },
    runSteps: (steps, repetitions) => field.run(steps, repetitions),
    run: async (repetitions) => (await field.run(problem.steps, repetitions)).timeNs,
    ...(gauge !== undefined && longRun !== undefined && clock === "device" && {
      longRun,
      begin: (repetitions: number) => gauged(gauge, () => field.begin(repetitions * problem.steps)),
    }),
    async verify() {
      if (field.step !== problem.steps) {
        const found = `it is at ${field.step}`;
        throw new RangeError(`Cannot verify: the field must be at step ${problem.steps}: ${found}`);
      }
      return verificationOf(await field.compare(reference), reference, survey?.traces());
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
