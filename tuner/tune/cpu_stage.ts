import { cellsOf, type Grid, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Failure } from "../configuration.ts";
import { isStepwise } from "../shares.ts";
import { cpuLayoutOf } from "../devices/cpu/cpu_field.ts";
import type { CpuPool } from "../devices/cpu/wasm_workers.ts";
import { DEVICE_BATCH_NS } from "../devices/gpu/gpu_clock.ts";
import { isFailure } from "../devices/run_failure.ts";
import { formatRate } from "../format.ts";
import { cpuCandidates } from "../search/cpu_space.ts";
import { beginSearch, outcomeOf } from "./search_stage.ts";
import type { TuningRun } from "./tuning_run.ts";

/** Time for the samples of a configuration. */
const SAMPLING_NS = 0.5e9;
/** Samples of an evaluation, time permitting, and the run that is verified before. */
const RUNS = 1 + 3;
/** Time of an evaluation beside its runs: to fill a field, to read the reference from the GPU, and to compare. */
const AROUND_NS = 0.1e9;
/** Cell updates of one run of the probe: some 10 ms on one core. */
const PROBE_UPDATES = 2e7;
/** Its runs, of which the first ones are slow, until V8 has optimised the code; the time of one that can be timed. */
const PROBE_RUNS = 5, PROBE_RUN_NS = 10e6;
/** Steps of the first run at most: on a small grid a step costs what the workers wait for each other. */
const FIRST_STEPS = 64;

/**
 * Probes the CPU for a few hundredths of a second, so that the time to measure it is known before the search.
 *
 * @returns why the CPU cannot be measured; undefined if it can
 */
export async function probe(run: TuningRun): Promise<string | undefined> {
  if (run.request.cpuWorkers === 0) return "not measured: it has no workers";
  if (run.environment.signal.aborted) return "interrupted before the CPU was measured";
  try {
    const { problem, session, request: { cpuWorkers } } = run;
    const { cpuPool } = await session.open(problem, cpuWorkers);
    const cellsPerSecond = await probeCpu(cpuPool!, problem);
    const copyBytesPerSecond = await session.cpuCopyBytesPerSecond(problem, cpuWorkers);
    const runNs = run.updates / cellsPerSecond * 1e9;
    const evaluationNs = AROUND_NS + runNs + Math.max(DEVICE_BATCH_NS, (RUNS - 1) * runNs);
    run.cpu = { cellsPerSecond, evaluationNs, copyBytesPerSecond };
    run.cpuSpace = cpuCandidates(problem, cpuWorkers, copyBytesPerSecond);
    return undefined;
  } catch (error) {
    if (!isFailure(error)) throw error;
    return `not measured: ${error.reason}: ${error.message}`;
  }
}

/**
 * Evaluates the CPU's ways to compute the grid alone, with all workers, in this process; the most promising first, as
 * long as another would probably end in time. The first is always evaluated, unless a probe says that the CPU is far
 * behind the GPU and would take too long.
 *
 * @returns why the CPU was not measured; undefined if it was
 */
export async function searchCpu(run: TuningRun): Promise<string | undefined> {
  const { environment: { signal }, session, findings } = run;
  const { cpu, cpuSpace, evaluations: { cpu: most } } = run;
  if (most === 0) return "not measured: the only evaluation was the GPU's";
  const strategySearch = beginSearch(run, cpuSpace);
  let evaluated = cpuSpace.filter(({ configuration }) => findings.isMeasured(configuration)).length;
  const total = Math.min(cpuSpace.length, most);
  let spentNs = 0, timed = 0;
  let failure: Failure | undefined;
  while (evaluated < most) {
    if (signal.aborted) {
      return findings.bestOn("cpu") === undefined ? "interrupted before the CPU was measured" : undefined;
    }
    const eachNs = timed === 0 ? cpu!.evaluationNs : spentNs / timed;
    const isLate = session.now() + eachNs > run.plan.cpuUntilNs;
    const best = findings.bestOn("cpu");
    const why = isLate && best === undefined ? whyNot(run) : undefined;
    if (why !== undefined) return why;
    const candidate = isLate && best !== undefined ? missingStepwise(run, eachNs) : strategySearch.next();
    if (candidate === undefined) break;
    run.report("CPU search", evaluated, total);
    const options = { samplingNs: SAMPLING_NS, best: best?.cellsPerSecond ?? 0 };
    const evaluation = await run.measure(candidate.configuration, options);
    await run.keep(evaluation);
    evaluated++;
    timed++;
    spentNs += evaluation.evaluationNs;
    strategySearch.tell(candidate, outcomeOf(evaluation));
    if ("failure" in evaluation.evaluation) failure = evaluation.evaluation.failure;
  }
  const isUnknown = findings.bestOn("cpu") === undefined && failure !== undefined;
  return isUnknown ? `not measured: ${failure?.reason}: ${failure?.message}` : undefined;
}

/** Stepwise, where the CPU is the fastest without it, and it would probably still end in time. */
function missingStepwise({ findings, cpuSpace, plan, session }: TuningRun, eachNs: number) {
  const isFastest = findings.best === findings.bestOn("cpu");
  const isMissing = isFastest && findings.baseline === undefined && session.now() + eachNs <= plan.latestNs;
  return isMissing ? cpuSpace.find(({ configuration }) => isStepwise(configuration)) : undefined;
}

/** Why not even the first of the CPU's configurations is evaluated, late as it is; undefined if it is. */
function whyNot({ findings, cpu, isCpuFarBehind, plan, session }: TuningRun): string | undefined {
  const gpu = findings.bestOn("gpu");
  if (gpu === undefined || cpu === undefined) return undefined;
  const probed = `not measured: a probe ran at ${formatRate(cpu.cellsPerSecond)}`;
  if (isCpuFarBehind) {
    return `${probed}, the GPU is ${Math.round(gpu.cellsPerSecond / cpu.cellsPerSecond)} times as fast`;
  }
  return session.now() + cpu.evaluationNs > plan.latestNs ? `${probed}, and no time was left` : undefined;
}

/**
 * Estimates how fast the CPU is, from a few steps on a few slices, so that the cost of the whole problem is known
 * beforehand. It is not a measurement: nothing is verified, and the slices may fit a cache.
 *
 * @returns cells per second
 * @throws {RunFailure} if the workers fail
 */
export async function probeCpu(pool: Pick<CpuPool, "workers" | "load">, problem: Problem): Promise<number> {
  const [nx, ny, nz] = problem.grid;
  const slices = Math.min(nx, Math.max(4 * pool.workers, Math.ceil(PROBE_UPDATES / 4 / (ny * nz))));
  const grid: Grid = [slices, ny, nz];
  const { stencil, stencil: { update }, boundary } = problem;
  const field = await pool.load({ update, layout: cpuLayoutOf({ stencil, grid }), boundary });
  try {
    await field.initialise({ kind: "noise", seed: 0 });
    const updates = cellsOf(grid);
    const most = Math.max(1, Math.ceil(PROBE_UPDATES / updates));
    let steps = Math.min(most, FIRST_STEPS), stepNs = Infinity;
    for (let run = 0; run < PROBE_RUNS; run++) {
      const runNs = await field.run({ steps });
      stepNs = Math.min(stepNs, runNs / steps);
      steps = Math.min(most, Math.max(steps, Math.ceil(PROBE_RUN_NS / stepNs)));
    }
    return updates / (stepNs * 1e-9);
  } finally {
    await field.dispose();
  }
}
