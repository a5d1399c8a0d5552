import { existsSync } from "node:fs";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { configurationKey } from "../configuration.ts";
import { deviceFailed } from "../devices/device_error.ts";
import { DeviceSession } from "../devices/session.ts";
import { evaluateSideBySide } from "../measuring/evaluator.ts";
import { ProcessEvaluator } from "../measuring/process/process_evaluator.ts";
import { Journal, readJournal } from "../profile/journal.ts";
import type { JournalHeader, JournalRecord, RunRecord } from "../profile/journal_format.ts";
import { recallEvaluations } from "../profile/recalled.ts";
import { checkFileWritable, isSameDevice } from "../profile/store.ts";
import { chooseConfigurations } from "../replay/choose_configurations.ts";
import { type CpuCandidate, cpuCandidates } from "../search/cpu_space.ts";
import { EMPTY_SPACE } from "../search/space.ts";
import { AttendedRun } from "./attended_run.ts";
import { formatCount, formatDuration, formatPlural, formatRate } from "../format.ts";
import { damageOf } from "./read_inputs.ts";
import { COMMON, count, number, type Options, output, type Values, workers } from "./options.ts";
import { command } from "./parse_options.ts";
import { PROBLEM, resolveOptions } from "./problem_options.ts";
import { EXIT } from "./report_error.ts";
import { print, say } from "./terminal.ts";
import { failureCounts } from "../report/words.ts";
import { RequestError } from "../problem/request_error.ts";
import type { ResolvedProblem } from "../problem/resolve_problem.ts";
import { usableSpace } from "../profile/learn.ts";
import { Findings } from "../tune/findings.ts";
import { journalHeaderOf } from "./tune.ts";

/** The options of `record`: the problem as for `tune`, all of it on one device, and how to record it. */
export const OPTIONS = {
  ...PROBLEM,
  cpuWorkers: {
    ...workers("workers on the CPU (default: one per core)", 1),
    onlyWith: { "--no-gpu": "with a GPU, its space alone is recorded" },
  },
  noGpu: { help: "record the CPU's space instead of the GPU's" },
  out: { ...output("the journal to write"), required: "the journal to write, as wave.jsonl" },
  resume: { help: "continue the journal if it exists: what it holds is not measured again" },
  limit: count(
    "at most N configurations: the models' best, and a random sample of each traversal (default: all)",
    1,
    1e6,
  ),
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
  about: `Measures the space of a problem into a journal that replay reads; every result is verified.
Every evaluation is on disk before the next begins: --resume continues a recording that was cut short.`,
  options: OPTIONS,
}, record);

async function record(options: RecordOptions): Promise<number> {
  const { out, workers } = options, eachLimitMs = 1000 * options.eachLimit;
  const earlier = await readEarlier(out, options.resume);
  await checkFileWritable(out);
  const resolved = await resolveOptions("record", options.noGpu ? options : { ...options, cpuWorkers: 0 });
  const isHere = (line: JournalRecord) => line.kind === "run" && isSameDevice(line.device, resolved.device);
  const run = earlier.find(isHere) as RunRecord | undefined;
  const bandwidth = run?.device.measured.copyBytesPerSecond;
  const { header, candidates, problem } = await plan(resolved, bandwidth);
  const chosen = chooseConfigurations<Recordable>(candidates, options);
  const known = recallEvaluations(earlier, header);
  if (known.size === 0 && earlier.some(({ kind }) => kind !== "run")) {
    throw new RequestError(
      `Cannot go on with ${out}: it was recorded for another problem, on another device or with other kernels: ` +
        "choose another file with --out",
    );
  }
  const left = chosen.filter(({ configuration }) => !known.has(configurationKey(configuration)));
  const found = new Findings();
  for (const evaluation of known.values()) found.take(evaluation);
  // each its samples, or a run to verify and one to time as fast as predicted
  const updates = cellsOf(problem.grid) * problem.steps;
  const leastNs = left.reduce(
    (sum, { predicted }) => sum + Math.max(SAMPLING_NS, 2e9 * updates / predicted),
    0,
  );

  const journal = await Journal.open(out, header);
  using attended = new AttendedRun(options);
  const { progress, signal } = attended;
  attended.announce(resolved);
  const began = performance.now();
  const elapsedNs = (): number => (performance.now() - began) * 1e6;
  let next = 0, isSaid = options.limit !== undefined;
  const show = (leftNs?: number): void => {
    const long = isSaid ? undefined : whyLong(left.length, leftNs ?? leastNs);
    if (long !== undefined) {
      isSaid = true;
      progress.clear();
      say(`facet: ${long}`);
    }
    progress.update({
      stage: "record",
      done: found.evaluated,
      total: known.size + left.length,
      bestCellsPerSecond: found.best?.cellsPerSecond,
      leftNs,
    });
  };
  try {
    show();
    const useGpu = header.device.gpu !== null;
    const { workersGivenUp } = await evaluateSideBySide<Recordable>({
      workers,
      signal,
      start: (turn) =>
        ProcessEvaluator.start({ problem, useGpu, limitMs: eachLimitMs, samplingNs: SAMPLING_NS, turn }),
      next: () => left[next++],
      best: () => found.best?.cellsPerSecond ?? 0,
      async onEvaluated(_, { evaluation, evaluationNs }) {
        await journal.record(evaluation, evaluationNs);
        found.take(evaluation);
        const done = found.evaluated - known.size;
        show(done < SURE ? undefined : elapsedNs() / done * (left.length - done));
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
  print([
    `${formatCount(found.evaluated)} of ${formatPlural(candidates.length, "configuration")}, ` +
    `${formatCount(found.evaluated - known.size)} of them now, in ${formatDuration(elapsedNs())}`,
    summary(found),
    `Recorded: ${out}`,
  ]);
  if (signal.aborted) return attended.exitCode;
  return found.best === undefined ? EXIT.no : EXIT.done;
}

/** A candidate of either device. */
type Recordable = Pick<CpuCandidate, "traversal" | "configuration" | "predicted">;

/**
 * The space of a device, and under what it is measured.
 *
 * @param bandwidth of an earlier recording: the ranking, and so the sample, follows it
 */
async function plan(
  resolved: ResolvedProblem,
  bandwidth: number | null | undefined,
): Promise<{ header: JournalHeader; problem: Problem; candidates: readonly Recordable[] }> {
  const { device, cpuWorkers } = resolved;
  if (device.gpu === null) {
    const { problem } = resolved, candidates = cpuCandidates(problem, cpuWorkers);
    const start = { problem, space: EMPTY_SPACE, copyBytesPerSecond: null };
    return { header: await journalHeaderOf(device, start), problem, candidates };
  }
  using session = new DeviceSession({ device });
  const copyBytesPerSecond = bandwidth ??
    await session.copyBytesPerSecond().catch(deviceFailed("The GPU failed"));
  const { problem, space } = usableSpace("record", resolved, copyBytesPerSecond);
  const header = await journalHeaderOf(device, { problem, space, copyBytesPerSecond });
  return { header, problem, candidates: space.candidates };
}

/** What the file holds already, to go on with. No other file is overwritten or added to. */
async function readEarlier(out: string, resume: boolean): Promise<readonly JournalRecord[]> {
  if (out.endsWith(".gz")) {
    throw new RequestError(
      `Cannot record to ${out}: a recording is a journal, which grows line by line: ` +
        "choose a name as wave.jsonl; replay also reads it once it is gzipped",
    );
  }
  if (!existsSync(out)) return [];
  if (!resume) {
    throw new RequestError(
      `Cannot record to ${out}: it exists: --resume goes on with it, another --out leaves it alone`,
    );
  }
  const content = await readJournal(out);
  if (!content.records.some(({ kind }) => kind === "run")) {
    throw new RequestError(`Cannot go on with ${out}: it is not a journal: choose another file with --out`);
  }
  for (const warning of damageOf(out, content)) say(`facet: ${warning}`);
  return content.records;
}

/** How many have a rate, and why the others have none. */
function summary({ measured, failed }: Findings): string {
  const [best] = measured, failures = failureCounts(failed);
  return `${formatCount(measured.length)} with a rate` +
    (best === undefined ? "" : `, the best ${formatRate(best.cellsPerSecond)}`) +
    (failures === "" ? "" : `; ${failures}`);
}
