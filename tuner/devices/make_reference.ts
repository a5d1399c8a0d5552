import type { Start } from "../../kernels/initial_field.ts";
import { precisionOf } from "../../kernels/precision.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { feasible, type Parameters } from "../../kernels/traversals/traversal.ts";
import { coordinatesOf } from "../../kernels/traversals/all.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { partOfRank, type PartPlace, planAlongX } from "../../models/rank_part.ts";
import { cpuLayoutOf } from "./cpu/cpu_field.ts";
import { CpuPool } from "./cpu/wasm_workers.ts";
import type { GpuDevice } from "./gpu/gpu_device.ts";
import { GpuField } from "./gpu/gpu_field.ts";
import { WindowedField } from "./gpu/windowed_field.ts";
import { type ProbedRun, runProbed } from "./probes.ts";
import { type Reference, referenceShape, stateLevels } from "./reference.ts";
import { RunFailure } from "./run_failure.ts";
import { GpuPartField } from "./shared/gpu_part_field.ts";
import { HostPartField } from "./shared/host_part_field.ts";
import { planGpuPart } from "./shared/shares.ts";
import { configurationOf } from "../shares.ts";
import { Survey } from "./survey.ts";

/** What the oracle does at most to check a reference: about 0.25 s (AMD EPYC, Zen 5, 2026-11-28). */
const ORACLE_OPERATIONS = 50e6;

/**
 * Computes the reference of a problem, and compares it with the oracle.
 *
 * @throws {RunFailure} if it cannot be computed, or is wrong
 */
export async function makeReference(
  { gpu, problem, start: given, isChecked = false, oracleOperations = ORACLE_OPERATIONS, windowBytes }: {
    /** Computes the reference; without one the CPU does. */
    readonly gpu?: GpuDevice | undefined;
    readonly problem: Problem;
    /** @default {the stencil's, seed 1} */
    readonly start?: Start;
    /** Whether this device's was compared with the oracle before. @default {false} */
    readonly isChecked?: boolean;
    /** What the levels may take on the GPU, where the host holds them. */
    readonly windowBytes?: number | undefined;
    /** What the oracle may do, roughly. */
    readonly oracleOperations?: number;
  },
): Promise<Reference> {
  const start = given ?? { kind: problem.stencil.initialField ?? "noise", seed: 1 };
  const survey = problem.survey && Survey.synthetic(problem, problem.steps);
  const run = { problem, start, survey, operations: isChecked ? 0 : oracleOperations };
  const made =
    await (gpu === undefined
      ? cpuReference(run)
      : windowBytes === undefined
      ? gpuReference(gpu, run)
      : windowReference(gpu, run, windowBytes));
  return { problem, start, traces: survey?.traces(), ...made };
}

/** What is made in one of three ways. */
type Made = Omit<Reference, "problem" | "start" | "traces">;

type Run = Omit<ProbedRun, "name" | "isExact">;

async function gpuReference(gpu: GpuDevice, run: Run): Promise<Made> {
  const { problem } = run, parameters = stepwiseShape(gpu, problem);
  const field = await GpuField.create(gpu, problem, stepwise.plan(problem, parameters, gpu.limits));
  const part = new GpuPartField(field, wholeOf(problem)), against = `gpu ${field.plan.label}`;
  const dispose = (): void => part[Symbol.dispose]();
  try {
    await runProbed(part, { ...run, name: against });
  } catch (error) {
    dispose();
    throw error;
  }
  const slices: Reference["slices"] = (...which) => field.readSlices(...which);
  return { against, onGpu: field, slices, dispose };
}

/** Stepwise as well, its levels on the host. */
async function windowReference(gpu: GpuDevice, run: Run, windowBytes: number): Promise<Made> {
  const { problem } = run;
  const parameters = stepwiseShape({ limits: { ...gpu.limits, windowBytes } }, problem);
  const way = { traversal: stepwise.name, parameters, memory: windowBytes };
  const configuration = configurationOf([{ device: "gpu", slices: problem.grid[0], ...way }]);
  const window = await WindowedField.create(gpu, problem, planGpuPart(problem, configuration, gpu));
  const against = `gpu ${window.plan.label} through a window`;
  try {
    await runProbed(new HostPartField(window, wholeOf(problem)), { ...run, name: against });
  } finally {
    window[Symbol.dispose](); // the host keeps the levels
  }
  const sliceOf = window.slices();
  return {
    against,
    slices: (ago, first, slices) =>
      Array.from({ length: slices }, (_, i) => ({ ...sliceOf(ago, first + i), x: first + i, slices: 1 })),
    dispose: () => {},
  };
}

async function cpuReference(run: Run): Promise<Made> {
  const { problem, problem: { stencil: { update }, boundary } } = run;
  const pool = await CpuPool.create({ workers: 1 }), name = "one CPU worker";
  const oracle = `oracle ${precisionOf(update).name}`;
  try {
    const field = await pool.load({ update, layout: cpuLayoutOf(problem), boundary });
    const extent = await runProbed(new HostPartField(field, wholeOf(problem)), {
      ...run,
      name,
      isExact: true,
    });
    const sliceOf = field.slices();
    // what the workers that compute results share with these: the memory outlives its pool
    const levels = stateLevels(problem).map((ago) => sliceOf(ago, 0));
    return {
      against: extent === undefined ? oracle : `${name}, checked by ${oracle}: ${extent}`,
      slices: (ago, first, slices) => [{ ...levels[ago]!, slice: first, x: first, slices }],
      dispose: () => levels.splice(0),
    };
  } finally {
    pool.dispose();
  }
}

/** Where a field lies that has all of its grid. */
function wholeOf(problem: Problem): PartPlace {
  const { grid, grid: [slices] } = problem;
  return { part: partOfRank(problem, planAlongX(problem, [slices], 1), 0), whole: grid };
}

/** The reference's shape, or the largest workgroup that the device allows. */
function stepwiseShape({ limits }: Pick<GpuDevice, "limits">, problem: Problem): Parameters {
  const usual = referenceShape(problem), refusal = stepwise.infeasible(problem, usual, limits);
  if (refusal === undefined) return usual;
  const sizeOf = (shape: Parameters): number =>
    Object.values(coordinatesOf(stepwise.name, shape)).reduce((product, n) => product * n);
  const [largest] = [...feasible(stepwise, problem, limits)].sort((a, b) => sizeOf(b) - sizeOf(a));
  if (largest === undefined) throw new RunFailure("limits", refusal.message);
  return largest;
}
