import { cellsOf } from "../../kernels/stencils/stencil.ts";
import type { Configuration } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";
import { deviceFailed } from "../devices/device_error.ts";
import { DeviceSession } from "../devices/session.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import { evaluateSideBySide } from "../measuring/evaluator.ts";
import { ProcessEvaluator } from "../measuring/process/process_evaluator.ts";
import { Journal, readJournal } from "../profile/journal.ts";
import type { JournalContent, JournalHeader, RunRecord } from "../profile/journal_format.ts";
import { hashKernels, hasSameKernels } from "../profile/kernel_source.ts";
import { describeProfileProblem } from "../profile/describe.ts";
import { describeProblem, isSameProblem } from "../profile/profile_problem.ts";
import { checkFileWritable, isSameDevice } from "../profile/store.ts";
import { chooseConfigurations } from "../replay/choose_configurations.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { type CpuCandidate, cpuCandidates } from "../search/cpu_space.ts";
import { EMPTY_SPACE, enumerateSpace, onGpuAlone } from "../search/space.ts";
import { AttendedRun } from "./attended_run.ts";
import { formatCount, formatDuration, formatPlural, formatRate } from "../format.ts";
import { damageOf } from "./read_inputs.ts";
import { COMMON, count, file, number, type Options, type Values, whole } from "./options.ts";
import { command } from "./parse_options.ts";
import { PROBLEM, resolveOptions } from "./problem_options.ts";
import { EXIT } from "./report_error.ts";
import { print, say } from "./terminal.ts";
import { failureWords } from "../report/words.ts";
import { RequestError } from "../problem/request_error.ts";
import { withSuitedSteps } from "../problem/default_problem.ts";
import type { ResolvedProblem } from "../problem/resolve_problem.ts";
import { MAX_WORKERS } from "../problem/resolve_problem.ts";
import { TOOL } from "../version.ts";
import { measuredDevice } from "./tune.ts";

/** The options of `record`: the problem as for `tune`, all of it on one device, and how to record it. */
export const OPTIONS = {
  ...PROBLEM,
  cpuWorkers: {
    ...count("workers on the CPU (default: one per core)", 1, MAX_WORKERS),
    onlyWith: { "--no-gpu": "with a GPU, its space alone is recorded" },
  },
  noGpu: { help: "record the CPU's space instead of the GPU's" },
  out: { ...file("the journal to write"), required: "the journal to write, as wave.jsonl" },
  resume: { help: "continue the journal if it exists: what it holds is not measured again" },
  limit: {
    value: "N",
    help: "configurations at most: the models' best, and a random sample of each traversal (default: all)",
    read: whole(1, 1e6),
  },
  seed: COMMON.seed,
  workers: COMMON.workers,
  eachLimit: {
    value: "S",
    help: "seconds to compile a configuration, and again to measure it; one that takes longer is a timeout",
    read: number("seconds above 0 and at most 3600", (seconds) => seconds > 0 && seconds <= 3600),
    default: "20",
  },
  quiet: COMMON.quiet,
} as const satisfies Options;

type RecordOptions = Values<typeof OPTIONS>;

/** A recording that takes longer is announced as soon as that is known. */
const LONG_NS = 3600e9;

/** What is said of a recording that takes longer than anyone waits for unasked; undefined if it does not. */
export function whyLong(configurations: number, timeNs: number): string | undefined {
  if (timeNs < LONG_NS) return undefined;
  const all = formatPlural(configurations, "configuration"), time = formatDuration(timeNs);
  return `${all} would take ${time} or longer: --limit 500 records a sample of them; Ctrl-C keeps what is recorded`;
}

/** Evaluations from which the time left is estimated; the first ones take the start of their process, too. */
const SURE = 5;

/** Time of a configuration's samples. */
const SAMPLING_NS = 0.3e9;

export const run = command({
  usage: "deno task record --out FILE.jsonl [OPTIONS]",
  about:
    "Measures the space of a problem, every result verified, into a journal that replay reads. Every evaluation " +
    "is on disk before the next: --resume continues a recording that was cut short.",
  options: OPTIONS,
}, record);

async function record(options: RecordOptions): Promise<number> {
  const { out, workers } = options, eachLimitMs = 1000 * options.eachLimit;
  const earlier = await readEarlier(out, options.resume);
  await checkFileWritable(out);
  const { header, configurations, candidates, problem, leastNs } = await plan(options, earlier.runs[0]);
  refuseOther(out, earlier.runs, { header, configurations });
  const recorded = [...earlier.evaluations];
  const known = new Set(recorded.map(({ configuration }) => configurationKey(configuration)));
  const left = configurations.filter((configuration) => !known.has(configurationKey(configuration)));

  const journal = await Journal.open(out, header);
  using attended = new AttendedRun(options);
  const { progress, signal } = attended;
  const began = now();
  let next = 0, best = bestOf(recorded);
  let isSaid = options.limit !== undefined;
  const show = (leftNs?: number): void => {
    const long = isSaid ? undefined : whyLong(left.length, leftNs ?? leastNs(left));
    if (long !== undefined) {
      isSaid = true;
      progress.clear();
      say(`facet: ${long}`);
    }
    progress.update({
      stage: "record",
      done: recorded.length,
      total: Math.max(recorded.length, configurations.length),
      bestCellsPerSecond: best > 0 ? best : undefined,
      leftNs,
    });
  };
  try {
    show();
    const { workersGivenUp } = await evaluateSideBySide<Configuration>({
      workers,
      signal,
      start: (turn) =>
        ProcessEvaluator.start({
          problem,
          useGpu: header.device.gpu !== null,
          limitMs: eachLimitMs,
          samplingNs: SAMPLING_NS,
          turn,
        }),
      next: () => left[next++],
      configurationOf: (configuration) => configuration,
      best: () => best,
      async onEvaluated(_, { evaluation, evaluationNs }) {
        await journal.record(evaluation, evaluationNs);
        if ("measurement" in evaluation) best = Math.max(best, evaluation.measurement.cellsPerSecond);
        recorded.push(evaluation);
        const done = recorded.length - earlier.evaluations.length;
        show(done < SURE ? undefined : (now() - began) / done * (left.length - done));
      },
    });
    progress.clear();
    if (workersGivenUp > 0) {
      say(`facet: the device has no memory for ${workers} processes: ${workersGivenUp} were given up`);
    }
  } catch (error) {
    deviceFailed("The process that measures cannot start")(error);
  } finally {
    journal.close();
  }
  const done = recorded.length - earlier.evaluations.length;
  print([
    `${formatCount(recorded.length)} of ${formatPlural(candidates, "configuration")}, ` +
    `${formatCount(done)} of them now, in ${formatDuration(now() - began)}`,
    summary(recorded),
    `Recorded: ${out}`,
  ]);
  if (signal.aborted) return attended.exitCode;
  return bestOf(recorded) > 0 ? EXIT.done : EXIT.no;
}

/** What there is to measure, and under what. */
async function plan(options: RecordOptions, earlier: RunRecord | undefined) {
  const { noGpu, limit, seed } = options;
  const resolved = await resolveOptions("record", { ...options, ...(noGpu ? {} : { cpuWorkers: 0 }) });
  const { candidates, device, space, problem } = noGpu
    ? cpuSpace(resolved)
    : await gpuSpace(resolved, earlier);
  const header: JournalHeader = {
    tool: TOOL,
    device,
    problem: describeProblem(problem),
    kernelSource: await hashKernels({ problem, space }),
  };
  const chosen = chooseConfigurations<Recordable>(candidates, { seed, limit });
  const predicted = new Map(chosen.map((one) => [configurationKey(one.configuration), one.predicted]));
  return {
    header,
    candidates: candidates.length,
    configurations: chosen.map(({ configuration }) => configuration),
    problem,
    // each its samples, or a run to verify and one to time as fast as predicted
    leastNs: (some: readonly Configuration[]): number =>
      some.reduce((sum, one) => {
        const rate = predicted.get(configurationKey(one))!;
        return sum + Math.max(SAMPLING_NS, 2e9 * cellsOf(problem.grid) * problem.steps / rate);
      }, 0),
  };
}

/** A candidate of either device. */
type Recordable = Pick<CpuCandidate, "traversal" | "configuration" | "predicted">;

/** The CPU's candidates; the space of a GPU that it comes without is empty. */
function cpuSpace({ problem, device, cpuWorkers }: ResolvedProblem) {
  const candidates = cpuCandidates(problem, cpuWorkers);
  return { candidates, device: measuredDevice(device, null), space: EMPTY_SPACE, problem };
}

/** The GPU's candidates. */
async function gpuSpace(resolved: ResolvedProblem, earlier: RunRecord | undefined) {
  const { traversals, device } = resolved;
  if (device.gpu === null) {
    throw new RequestError("Cannot record: there is no WebGPU adapter: --no-gpu records the CPU's space");
  }
  using session = new DeviceSession({ device });
  // the ranking, and so the sample, follows the bandwidth: a resumed recording keeps the first one's
  const copyBytesPerSecond = earlier?.device.measured.copyBytesPerSecond ??
    await session.copyBytesPerSecond().catch(deviceFailed("The GPU failed"));
  const problem = withSuitedSteps(resolved, copyBytesPerSecond);
  const space = enumerateSpace(problem, {
    traversals,
    limits: device.gpu.limits,
    device: deviceModelOf(device, copyBytesPerSecond),
  });
  if (space.candidates.length === 0) {
    const reasons = space.refused.map(({ traversal, reason }) => `${traversal}: ${reason}`).join("; ");
    throw new RequestError(`Cannot record: no configuration can run this problem: ${reasons}`);
  }
  const candidates = space.candidates.map((one) => ({ ...one, configuration: onGpuAlone(one, problem) }));
  return { candidates, device: measuredDevice(device, copyBytesPerSecond), space, problem };
}

/** What the file holds already, to go on with. No other file is overwritten or added to. */
async function readEarlier(
  out: string,
  resume: boolean,
): Promise<{ runs: readonly RunRecord[]; evaluations: readonly Evaluation[] }> {
  if (out.endsWith(".gz")) {
    throw new RequestError(
      `Cannot record to ${out}: a recording is a journal, which grows line by line: ` +
        "choose a name as wave.jsonl; replay also reads it once it is gzipped",
    );
  }
  const exists = await Deno.stat(out).then(() => true, () => false);
  if (!exists) return { runs: [], evaluations: [] };
  if (!resume) {
    throw new RequestError(
      `Cannot record to ${out}: it exists: --resume goes on with it, another --out leaves it alone`,
    );
  }
  const content = await readJournal(out);
  const runs = content.records.filter((record) => record.kind === "run");
  if (runs.length === 0) {
    throw new RequestError(`Cannot go on with ${out}: it is not a journal: choose another file with --out`);
  }
  for (const warning of damageOf(out, content)) say(`facet: ${warning}`);
  return { runs, evaluations: evaluationsOf(content) };
}

/** The evaluations of a journal, each configuration once. */
function evaluationsOf({ records }: JournalContent): Evaluation[] {
  const all = records.flatMap((record): Evaluation[] =>
    record.kind === "run"
      ? []
      : record.kind === "failure"
      ? [record]
      : [{ configuration: record.measurement.configuration, measurement: record.measurement }]
  );
  return [...new Map(all.map((one) => [configurationKey(one.configuration), one])).values()];
}

/** Refuses to go on with what was recorded under anything else. */
function refuseOther(
  out: string,
  runs: readonly RunRecord[],
  { header, configurations }: { header: JournalHeader; configurations: readonly Configuration[] },
): void {
  for (const { device, problem, kernelSource } of runs) {
    const other = !isSameDevice(device, header.device)
      ? "on another device"
      : !isSameProblem(problem, header.problem)
      ? `for another problem, ${describeProfileProblem(problem)}`
      : configurations.some((one) => !hasSameKernels(one, kernelSource, header.kernelSource))
      ? "with other kernels"
      : undefined;
    if (other !== undefined) {
      throw new RequestError(
        `Cannot go on with ${out}: it was recorded ${other}: choose another file with --out`,
      );
    }
  }
}

/** The fastest rate; 0 where nothing has one. */
function bestOf(recorded: readonly Evaluation[]): number {
  return recorded.reduce(
    (best, one) => "failure" in one ? best : Math.max(best, one.measurement.cellsPerSecond),
    0,
  );
}

/** How many have a rate, and why the others have none. */
function summary(recorded: readonly Evaluation[]): string {
  const reasons = recorded.flatMap((one) => "failure" in one ? one.failure.reason : []);
  const groups = Map.groupBy(reasons, (reason) => reason);
  const failures = [...groups].map(([reason, { length }]) => `${length} ${failureWords(reason)}`);
  const best = bestOf(recorded);
  return `${formatCount(recorded.length - reasons.length)} with a rate` +
    (best > 0 ? `, the best ${formatRate(best)}` : "") +
    (failures.length > 0 ? `; ${failures.join(", ")}` : "");
}

function now(): number {
  return performance.now() * 1e6;
}
