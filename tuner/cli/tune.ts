import { DeviceSession, type Session } from "../devices/session.ts";
import { type DeviceDescription, limitsOf } from "../devices/device.ts";
import { describeDriver } from "../devices/driver.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import { hashKernels } from "../profile/kernel_source.ts";
import { checkJournal, Journal, journalPath, readJournal } from "../profile/journal.ts";
import type { JournalHeader } from "../profile/journal_format.ts";
import { JournalKeeper } from "../profile/journal_keeper.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { recallEvaluations } from "../profile/recalled.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import type { ProfileDevice } from "../profile/schema.ts";
import { checkWritable, defaultProfilePath, writeProfile } from "../profile/store.ts";
import { STRATEGIES } from "../search/all.ts";
import { profileOf } from "../tune/library_tune.ts";
import { type Evaluators, runTuning, type TuneOutcome, type TuneStart } from "../tune/tune.ts";
import { TOOL } from "../version.ts";
import { AttendedRun } from "./attended_run.ts";
import { processesFor, ProcessEvaluator } from "../measuring/process/process_evaluator.ts";
import { EXIT } from "./report_error.ts";
import { damageOf } from "./read_inputs.ts";
import { COMMON, file, type Options, type Values } from "./options.ts";
import { command } from "./parse_options.ts";
import { DEVICE_MEMORY, PROBLEM, resolveOptions } from "./problem_options.ts";
import type { ResolvedProblem } from "../problem/resolve_problem.ts";
import { renderSummary, summaryRecord } from "./summary.ts";
import { print, say } from "./terminal.ts";

/** How a task is run here: Deno may have come with npx. */
const TASK = /[\\/]_npx[\\/]/.test(Deno.execPath()) ? "npx -y deno task" : "deno task";

export const OPTIONS = {
  ...PROBLEM,
  ...DEVICE_MEMORY,
  strategy: { ...COMMON.strategy, default: STRATEGIES[0]!.name },
  budget: { ...COMMON.budget, default: "60s" },
  startShare: COMMON.startShare,
  seed: COMMON.seed,
  out: file("the profile to write or add to (default: profiles/<device>.json)"),
  resume: { help: "reuse the results in the profile's journal; they count toward the budget" },
  json: COMMON.json,
  quiet: COMMON.quiet,
} as const satisfies Options;

export const run = command({
  usage: "deno task tune [OPTIONS]",
  about: "Finds the fastest configuration for this device and writes it to a profile.",
  options: OPTIONS,
}, async (options) => {
  const requested = await resolveOptions("tune", options);
  const { device } = requested;
  using session = new DeviceSession({ device });
  const evaluators = device.gpu === null ? undefined : evaluatorsOf(device);
  return await tuneOn({ session, evaluators }, options, requested);
});

/** Tunes on these devices, and writes what was found: the journal, the profile, the summary. */
export async function tuneOn(
  { session, evaluators }: { readonly session: Session; readonly evaluators: Evaluators | undefined },
  options: Values<typeof OPTIONS>,
  { problem, device: { gpu, ...machine }, isDefaultGrid, isDefaultSteps, traversals, cpuWorkers }:
    ResolvedProblem,
): Promise<number> {
  // the memory that the request allows is not the device's
  const device = { ...machine, gpu: gpu && { ...gpu, limits: limitsOf(gpu.limits) } };
  const { budget, seed, startShare } = options;
  const out = options.out ?? defaultProfilePath(device);
  await checkWritable(out, measuredDevice(device, null));
  await checkJournal(journalPath(out));

  using attended = new AttendedRun(options);
  const { progress, signal } = attended;
  let journal: JournalKeeper | undefined;
  const warn = (text: string): void => {
    progress.clear();
    say(`facet: ${text}`);
  };
  try {
    const outcome = await runTuning({
      ...problem,
      isDefaultGrid,
      isDefaultSteps,
      traversals,
      strategy: STRATEGIES.find(({ name }) => name === options.strategy)!,
      budget,
      cpuWorkers,
      seed,
      startShare,
    }, {
      session,
      signal,
      evaluators,
      onProgress: (state) => progress.update(state),
      onWarning: warn,
      recall: async (start) =>
        options.resume ? await recallFrom(journalPath(out), await headerOf(device, start), warn) : new Map(),
      async onStart(start) {
        const header = await headerOf(device, start);
        journal = new JournalKeeper(() => Journal.open(journalPath(out), header), warn);
        await journal.begin();
      },
      async onEvaluation(evaluation) {
        await journal?.record(evaluation);
      },
    });
    progress.clear();
    return await report(outcome, { isJson: options.json, device, out, attended });
  } finally {
    journal?.close();
  }
}

/** Processes that evaluate. A software device computes on the cores that would compile: it gets one. */
function evaluatorsOf(device: DeviceDescription): Evaluators {
  return {
    workersFor: (problem) =>
      device.gpu?.isFallback ? 1 : processesFor(problem, {
        cores: navigator.hardwareConcurrency,
        memory: Deno.systemMemoryInfo().total,
      }),
    // this process has compared the device's reference with the oracle
    start: (problem, options) => {
      const deviceMemory = device.gpu?.limits.windowBytes;
      return ProcessEvaluator.start({ problem, checksReference: false, deviceMemory, ...options });
    },
  };
}

/** A device as profiles and journals have it. */
export function measuredDevice(device: DeviceDescription, copyBytesPerSecond: number | null): ProfileDevice {
  return { ...device, measured: { copyBytesPerSecond } };
}

/** Writes the profile and prints the summary, even if the profile cannot be written. */
async function report(
  outcome: TuneOutcome,
  { isJson, device, out, attended: { progress: { highest }, exitCode } }: {
    isJson: boolean;
    device: DeviceDescription;
    out: string;
    attended: AttendedRun;
  },
): Promise<number> {
  const profile = profileOf(outcome, device);
  let problem: unknown;
  if (profile !== undefined) await writeProfile(out, profile).catch((error) => problem = error);
  const written = profile === undefined || problem !== undefined ? undefined : out;
  const reader = { device, written, highest, task: TASK, hasBars: Deno.stdout.isTerminal() };
  print(isJson ? summaryRecord(outcome, reader) : renderSummary(outcome, reader));
  if (problem !== undefined) throw problem;
  if (outcome.interrupted) return exitCode;
  return outcome.entry === undefined ? EXIT.no : EXIT.done;
}

/** Under what a run measures. */
async function headerOf(device: DeviceDescription, start: TuneStart): Promise<JournalHeader> {
  const driver = device.gpu === null ? undefined : await describeDriver();
  return {
    tool: TOOL,
    device: measuredDevice(device, start.copyBytesPerSecond),
    problem: describeProblem(start.problem),
    kernelSource: await hashKernels(start),
    ...(driver === undefined ? {} : { driver }),
  };
}

/** The results of earlier runs that are still valid; damaged lines are reported and left out. */
async function recallFrom(
  path: string,
  header: JournalHeader,
  warn: (text: string) => void,
): Promise<ReadonlyMap<string, Evaluation>> {
  try {
    const content = await readJournal(path);
    for (const warning of damageOf(path, content)) warn(warning);
    return recallEvaluations(content.records, header);
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    warn(`${error.message}: everything is measured again`);
    return new Map();
  }
}
