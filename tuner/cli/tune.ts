/**
 * `deno task tune`: finds the fastest verified configuration for this device and writes it to its profile.
 *
 * @module
 */
import { dirname } from "node:path";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { planesOf } from "../../kernels/update.ts";
import { GpuDevice } from "../devices/gpu/gpu_device.ts";
import type { DeviceDescription } from "../devices/device.ts";
import { describeDriver } from "../devices/driver.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import { hashKernels } from "../profile/kernel_source.ts";
import { Journal, journalPath, readJournal } from "../profile/journal.ts";
import type { JournalHeader } from "../profile/journal_format.ts";
import { JournalKeeper } from "../profile/journal_keeper.ts";
import { ProfileError, reasonOf } from "../profile/profile_error.ts";
import { recallEvaluations } from "../profile/recalled.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import { JSON_SCHEMA_NAME, type Profile, type ProfileDevice, SCHEMA_VERSION } from "../profile/schema.ts";
import { checkWritable, defaultProfilePath, writeProfile } from "../profile/store.ts";
import { STRATEGIES } from "../search/all.ts";
import { type Evaluators, tune, type TuneOutcome, type TuneStart } from "../tune/tune.ts";
import { VERSION } from "../version.ts";
import { AttendedRun } from "./attended_run.ts";
import { ProcessEvaluator } from "../measuring/process/process_evaluator.ts";
import { EXIT } from "./report_error.ts";
import { damageOf } from "./read_inputs.ts";
import { resolveRequest } from "./request.ts";
import { renderSummary, summaryRecord } from "./summary.ts";
import { parseTuneOptions, type TuneOptions } from "./tune_options.ts";

/** Time to compile a configuration, and again to verify and time it: this part of the budget, within these bounds. */
const LIMIT_PART = 0.25, LIMIT_MS = [10_000, 30_000] as const;

/** Time for a configuration's samples. */
const SAMPLING_NS = 3e9;

/** Who wrote a profile or a journal. */
export const TOOL = { name: "facet", version: VERSION };

/**
 * Runs the command.
 *
 * @param args its options
 * @returns the exit code
 */
export async function run(args: string[]): Promise<number> {
  const options = parseTuneOptions(args, {
    traversals: TRAVERSALS.map(({ name }) => name),
    strategies: STRATEGIES.map(({ name }) => name),
  });
  if ("help" in options) {
    console.log(options.help);
    return EXIT.done;
  }
  return await tuneDevice(options);
}

async function tuneDevice(options: TuneOptions): Promise<number> {
  const { stencil, traversals, device, cpuWorkers } = await resolveRequest(options);
  const out = options.out ?? defaultProfilePath(device);
  await checkWritable(out, { device: measuredDevice(device, null) });

  using attended = new AttendedRun(options);
  const { progress, signal } = attended;
  let journal: JournalKeeper | undefined;
  const warn = (text: string): void => {
    progress.clear();
    console.error(`facet: ${text}`);
  };
  try {
    const outcome = await tune({
      stencil,
      grid: options.grid,
      boundary: options.boundary,
      steps: options.steps,
      traversals,
      strategy: STRATEGIES.find(({ name }) => name === options.strategy)!,
      budget: options.budget,
      cpuWorkers,
      seed: options.seed,
      startShare: options.startShare,
    }, {
      gpu: device.gpu === null ? undefined : await GpuDevice.open(),
      device,
      now,
      signal,
      evaluators: device.gpu === null ? undefined : evaluatorsOf(options, device.gpu),
      onProgress: (state) => progress.update(state),
      recall: options.resume
        ? async (start) => await recallFrom(journalPath(out), await headerOf(device, start), warn)
        : undefined,
      async onStart(start) {
        const header = await headerOf(device, start);
        journal = new JournalKeeper(() => openJournal(out, header), warn);
        await journal.begin();
      },
      async onEvaluation(evaluation) {
        await journal?.record(evaluation);
      },
    });
    progress.clear();
    return await report(outcome, { options, device, out });
  } finally {
    journal?.close();
  }
}

/** Memory that the processes of a search may take together, and processes at most. */
const PROCESSES_BYTES = 52e9, MOST_PROCESSES = 8;

/**
 * How many processes evaluate: the one whose turn it is measures, the others compile. Each holds a reference, and the
 * memory of a field for its turns. Nobody tells how much memory a GPU has: one that runs short gets fewer while the
 * search runs; one that shares the host's must not take more than half of it; and two are always worth it.
 *
 * @param problem what they compute
 * @param host its cores, and its memory in bytes
 */
export function processesFor(
  { grid, stencil: { update } }: Problem,
  { cores, memory }: { readonly cores: number; readonly memory: number },
): number {
  const fieldBytes = 2 * 4 * planesOf(update) * cellsOf(grid);
  const fit = Math.floor(Math.min(PROCESSES_BYTES, memory / 2) / (2 * fieldBytes));
  return Math.max(2, Math.min(fit, cores - 1, MOST_PROCESSES));
}

/** Processes that evaluate. A software device computes on the cores that would compile: it gets one. */
function evaluatorsOf(options: TuneOptions, { isFallback }: { isFallback: boolean }): Evaluators {
  const { equation: { name: equation }, variant, timeStep, budget } = options;
  const wanted = "timeNs" in budget ? budget.timeNs / 1e6 * LIMIT_PART : Infinity;
  const [least, most] = LIMIT_MS;
  return {
    workersFor: (problem) =>
      isFallback ? 1 : processesFor(problem, {
        cores: navigator.hardwareConcurrency,
        memory: Deno.systemMemoryInfo().total,
      }),
    start: ({ grid, boundary, steps }, turn) =>
      ProcessEvaluator.start({
        problem: { equation, variant, timeStep, grid, boundary, steps },
        limitMs: Math.min(Math.max(wanted, least), most),
        samplingNs: SAMPLING_NS,
        turn,
      }),
  };
}

/** A device as profiles and journals have it. */
export function measuredDevice(device: DeviceDescription, copyBytesPerSecond: number | null): ProfileDevice {
  return { ...device, measured: { copyBytesPerSecond } };
}

/** Writes the profile, prints the summary; what was found is printed also where it cannot be written. */
async function report(
  outcome: TuneOutcome,
  { options, device, out }: { options: TuneOptions; device: DeviceDescription; out: string },
): Promise<number> {
  let problem: unknown;
  if (outcome.entry !== undefined) {
    const profile: Profile = {
      $schema: JSON_SCHEMA_NAME,
      schemaVersion: SCHEMA_VERSION,
      tool: TOOL,
      createdAt: new Date().toISOString(),
      device: measuredDevice(device, outcome.copyBytesPerSecond),
      entries: [outcome.entry],
    };
    await writeProfile(out, profile).catch((error) => problem = error);
  }
  const written = outcome.entry === undefined || problem !== undefined ? undefined : out;
  if (options.json) console.log(JSON.stringify(summaryRecord(outcome, { device, written }), null, 2));
  else console.log(renderSummary(outcome, { device, written }));
  if (problem !== undefined) throw problem;
  if (outcome.interrupted) return EXIT.interrupted;
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

/** Opens the journal beside the profile; its directory is made where it is missing. */
async function openJournal(out: string, header: JournalHeader): Promise<Journal> {
  try {
    await Deno.mkdir(dirname(out), { recursive: true });
  } catch (error) {
    throw new ProfileError(`Cannot write ${journalPath(out)}: ${reasonOf(error)}`);
  }
  return await Journal.open(journalPath(out), header);
}

/** What earlier runs evaluated that still holds; damaged lines are told and left out. */
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

function now(): number {
  return performance.now() * 1e6;
}
