/**
 * The CPU alone: all workers, the whole grid.
 *
 * @module
 */
import { HOST_BATCH_NS } from "../devices/gpu/gpu_clock.ts";
import { isFailure } from "../devices/run_failure.ts";
import { formatRate } from "../format.ts";
import { probeCpu } from "../measuring/cpu_probe.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import { configurationKey } from "../configuration_key.ts";
import type { Measurement } from "../configuration.ts";
import type { TuningRun } from "./tuning_run.ts";

/** What the CPU alone came to. */
export interface CpuResult {
  readonly measurement?: Measurement;
  /** Its rate, measured or probed; undefined if it failed. */
  readonly cellsPerSecond?: number;
  /** Why there is no measurement. */
  readonly message?: string;
}

/** Time for the samples of a configuration. */
const SAMPLING_NS = 0.5e9;
/** The CPU's configurations that are tried where the GPU's evaluations are counted: the best of each way. */
const LEAST_CONFIGURATIONS = 2;
/** Samples from which an interval can be reported. */
const WANTED_SAMPLES = 3;

/** Probes the CPU for a few hundredths of a second, so that the time to measure it is known before the search. */
export async function probe(run: TuningRun): Promise<CpuResult> {
  if (run.request.cpuWorkers === 0 || run.environment.signal.aborted) return {};
  try {
    const { cpuPool } = await run.open();
    const cellsPerSecond = await probeCpu(cpuPool!, run.problem);
    const runNs = run.updates / cellsPerSecond * 1e9;
    const samplesNs = Math.min(SAMPLING_NS, WANTED_SAMPLES * Math.max(runNs, HOST_BATCH_NS));
    run.cpuNs = runNs + Math.max(runNs, samplesNs);
    run.cpuCellsPerSecond = cellsPerSecond;
    return { cellsPerSecond };
  } catch (error) {
    if (!isFailure(error)) throw error;
    return { message: `not measured: ${error.reason}: ${error.message}` };
  }
}

/** Measures the CPU alone, unless a probe says that it is far behind the GPU and would take more than the time left. */
export async function measureCpu(run: TuningRun, probed: CpuResult, deadlineNs: number): Promise<CpuResult> {
  const { request: { cpuWorkers, budget }, environment: { signal, onProgress }, session, findings } = run;
  if (cpuWorkers === 0) return { message: "no CPU workers were asked for" };
  const configurations = run.cpuConfigurations;
  const evaluations: Evaluation[] = configurations.map((one) => findings.recall(one)).filter((one) =>
    one !== undefined
  );
  const isKnown = new Set(evaluations.map(({ configuration }) => configurationKey(configuration)));
  if (signal.aborted) {
    return evaluations.length > 0
      ? fastestOf(evaluations)
      : { message: "interrupted before the CPU was measured" };
  }
  const { best } = findings;
  const { cellsPerSecond } = probed;
  if (cellsPerSecond === undefined) return probed;
  const runNs = run.updates / cellsPerSecond * 1e9;
  // half of the time is the balance's, if there is one
  const untilNs = session.hasGpu ? (session.now() + deadlineNs) / 2 : deadlineNs;
  // a run to verify and one to time; half of the time left is the balance's
  if (best !== undefined && run.isCpuFarBehind && 2 * runNs > (deadlineNs - session.now()) / 2) {
    const factor = Math.round(best.cellsPerSecond / cellsPerSecond);
    const rates = `a probe ran at ${formatRate(cellsPerSecond)}, the GPU is ${factor} times as fast`;
    return { cellsPerSecond, message: `not measured: ${rates}` };
  }
  // where evaluations are counted they are the GPU's, and the CPU has the best of each of its ways
  const counted = "evaluations" in budget ? budget.evaluations : Infinity;
  const most = session.hasGpu && counted < Infinity ? Math.min(counted, LEAST_CONFIGURATIONS) : counted;
  for (const configuration of configurations.toReversed()) {
    if (isKnown.has(configurationKey(configuration))) continue;
    // the most promising one is always measured, and another only if it would probably end in time
    const { measurement } = fastestOf(evaluations);
    const isLate = measurement !== undefined && session.now() + (2 + WANTED_SAMPLES) * runNs >= untilNs;
    if (evaluations.length > 0 && (signal.aborted || isLate || evaluations.length >= most)) break;
    onProgress({
      stage: "cpu",
      done: evaluations.length,
      total: Math.min(configurations.length, most),
      bestCellsPerSecond: findings.best?.cellsPerSecond ?? measurement?.cellsPerSecond,
    });
    const evaluation = await run.measure(configuration, {
      samplingNs: SAMPLING_NS,
      ...(measurement === undefined ? {} : { best: measurement.cellsPerSecond }),
    });
    await run.keep(evaluation);
    evaluations.push(evaluation);
  }
  const { measurement } = fastestOf(evaluations);
  if (measurement === undefined || measurement.samples.length >= WANTED_SAMPLES || signal.aborted) {
    return fastestOf(evaluations);
  }
  // one or two samples are enough to find the fastest, not to report its rate
  const again = await run.measure(measurement.configuration, { samplingNs: 1.1 * WANTED_SAMPLES * runNs });
  await run.keep(again, { isAgain: true });
  return fastestOf("measurement" in again ? [again] : evaluations);
}

/** The fastest configuration; if all failed, why the first did. */
function fastestOf(evaluations: readonly Evaluation[]): CpuResult {
  const [measurement] = evaluations.flatMap((one) => "measurement" in one ? [one.measurement] : [])
    .sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  if (measurement !== undefined) return { measurement, cellsPerSecond: measurement.cellsPerSecond };
  const [failure] = evaluations.flatMap((one) => "failure" in one ? [one.failure] : []);
  return { message: `not measured: ${failure?.reason}: ${failure?.message}` };
}
