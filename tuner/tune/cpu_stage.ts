/**
 * The CPU alone: all workers, the whole grid.
 *
 * @module
 */
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Measurement } from "../configuration.ts";
import { cpuConfigurations } from "../search/cpu_configurations.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import { probeCpu } from "../measuring/cpu_probe.ts";
import { HOST_BATCH_NS } from "../devices/gpu/gpu_clock.ts";
import type { TuningRun } from "./tuning_run.ts";
import { isFailure } from "../devices/run_failure.ts";

/** What the CPU alone came to. */
export interface CpuResult {
  readonly measurement?: Measurement;
  /** Its rate, measured or probed; undefined where it failed. */
  readonly cellsPerSecond?: number;
  /** Why there is no measurement. */
  readonly message?: string;
}

/** Time for a configuration's samples. */
const SAMPLING_NS = 3e9;
/** Samples that there should be time for; and time for some of short runs though it is over. */
const WANTED_SAMPLES = 3, LEAST_SAMPLING_NS = 2e9;

/** What a probe of the CPU says: its rate, or why there is none. */
export type CpuProbe = Pick<CpuResult, "cellsPerSecond" | "message">;

/** Probes the CPU, so that the time to measure it is known before the search; a few hundredths of a second. */
export async function probe(run: TuningRun): Promise<CpuProbe> {
  if (run.request.cpuWorkers === 0 || run.environment.signal.aborted) return {};
  try {
    const { cpuPool } = await run.open();
    const cellsPerSecond = await probeCpu(cpuPool!, run.problem);
    const runNs = updatesOf(run.problem) / cellsPerSecond * 1e9;
    const samplesNs = Math.max(runNs, Math.min(SAMPLING_NS, WANTED_SAMPLES * Math.max(runNs, HOST_BATCH_NS)));
    run.cpuNs = runNs + samplesNs;
    run.cpuCellsPerSecond = cellsPerSecond;
    return { cellsPerSecond };
  } catch (error) {
    if (!isFailure(error)) throw error;
    return { message: `not measured: ${error.reason}: ${error.message}` };
  }
}

/** Measures the CPU alone, unless a probe says that it is far behind the GPU and would take more than the time left. */
export async function measureCpu(run: TuningRun, probed: CpuProbe, deadlineNs: number): Promise<CpuResult> {
  const { request: { cpuWorkers }, environment: { signal, onProgress }, session, findings } = run;
  const now = (): number => session.now();
  if (cpuWorkers === 0) return { message: "no CPU workers were asked for" };
  const configurations = cpuConfigurations(run.problem, cpuWorkers);
  const known = configurations.map((one) => findings.recall(one)).filter((one) => one !== undefined);
  if (known.length > 0) return fastestResult(known.map(cpuResultOf));
  if (signal.aborted) return { message: "interrupted before the CPU was measured" };
  onProgress({ stage: "cpu", done: 0, total: 1, bestCellsPerSecond: findings.best?.cellsPerSecond });
  const { cellsPerSecond } = probed;
  if (cellsPerSecond === undefined) return probed;
  const runNs = updatesOf(run.problem) / cellsPerSecond * 1e9;
  const { best } = findings;
  // a run to verify, and one to time; half of what is left is the balance's
  if (best !== undefined && run.isCpuFarBehind && 2 * runNs > (deadlineNs - now()) / 2) {
    const factor = Math.round(best.cellsPerSecond / cellsPerSecond);
    return {
      cellsPerSecond,
      message: `not measured: a probe ran at ${
        (cellsPerSecond / 1e9).toPrecision(2)
      } Gcells/s, the GPU is ${factor} times as fast`,
    };
  }
  const results: CpuResult[] = [];
  for (const configuration of configurations.toReversed()) {
    // one is measured whatever the time, the most promising
    if (results.length > 0 && (signal.aborted || now() >= deadlineNs)) break;
    const leftNs = deadlineNs - now() - runNs;
    const evaluation = await run.measure(configuration, {
      samplingNs: Math.min(Math.max(leftNs, LEAST_SAMPLING_NS), SAMPLING_NS),
    });
    await run.keep(evaluation);
    results.push(cpuResultOf(evaluation));
  }
  return fastestResult(results);
}

function cpuResultOf(evaluation: Evaluation): CpuResult {
  if ("failure" in evaluation) {
    return { message: `not measured: ${evaluation.failure.reason}: ${evaluation.failure.message}` };
  }
  const { measurement } = evaluation;
  return { measurement, cellsPerSecond: measurement.cellsPerSecond };
}

/** The fastest of what the CPU came to; where nothing was measured, why the first was not. */
function fastestResult(results: readonly CpuResult[]): CpuResult {
  const rate = ({ measurement }: CpuResult): number => measurement?.cellsPerSecond ?? 0;
  return results.reduce((best, one) => rate(one) > rate(best) ? one : best);
}

/** Cell updates of one run. */
function updatesOf({ grid, steps }: Problem): number {
  return cellsOf(grid) * steps;
}
