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
import { knownOf } from "../profile/merge.ts";
import { checkWritable, defaultProfilePath, writeProfile } from "../profile/store.ts";
import { STRATEGIES } from "../search/all.ts";
import { measuredDevice, profileOfRun } from "../tune/library_tune.ts";
import { type Evaluators, runTuning, type TuneStart } from "../tune/tune.ts";
import { SPENT_NS } from "../tune/tune_request.ts";
import { TOOL } from "../version.ts";
import { AttendedRun } from "./attended_run.ts";
import { processesFor, ProcessEvaluator } from "../measuring/process/process_evaluator.ts";
import { EXIT } from "./report_error.ts";
import { damageOf } from "./read_inputs.ts";
import { typicalGrids } from "../problem/default_problem.ts";
import type { Sample } from "../../models/cost_model.ts";
import { samplesOf } from "../profile/samples.ts";
import { describeLoss, LEAST_SIZES, leaveOneOut, type MeasuredProblem } from "../profile/leave_one_out.ts";
import { deviceModelOf } from "../devices/device_model.ts";
import type { OwnGrid } from "../../kernels/stencils/stencil.ts";
import type { DeviceModel } from "../../models/roofline.ts";
import { formatDuration, formatPlural } from "../format.ts";
import { type Budget, COMMON, oneOf, type Options, profileOutput, type Values } from "./options.ts";
import { command } from "./parse_options.ts";
import { PROBLEM, resolveOptions } from "./problem_options.ts";
import type { ResolvedProblem } from "../problem/resolve_problem.ts";
import { nextSteps, renderSummary, summaryRecord } from "./summary.ts";
import { print, say } from "./terminal.ts";

/** How a task is run here: Deno may have come with npx. */
const TASK = /[\\/]_npx[\\/]/.test(Deno.execPath()) ? "npx -y deno@2.9.6 task" : "deno task";

export const OPTIONS = {
  ...PROBLEM,
  grid: { ...PROBLEM.grid, repeatable: true },
  sizes: {
    value: "NAME",
    help: "typical: several grids that span what people run, in one budget; so do several --grid",
    read: oneOf(["typical"]),
    notWith: { "--grid": "both name what to tune" },
  },
  deviceMemory: COMMON.deviceMemory,
  strategy: { ...COMMON.strategy, default: STRATEGIES[0]!.name },
  budget: { ...COMMON.budget, default: "60s" },
  startShare: COMMON.startShare,
  seed: COMMON.seed,
  out: profileOutput("the profile to write or add to (default: profiles/<device>.json)"),
  resume: { help: "reuse the results in the profile's journal; they count toward the budget" },
  json: COMMON.json,
  quiet: COMMON.quiet,
  verbose: COMMON.verbose,
} as const satisfies Options;

export const run = command({
  usage: "deno task tune [OPTIONS]",
  about: "Finds the fastest configuration for this device and writes it to a profile.",
  options: OPTIONS,
}, async (options) => {
  const requested = await resolveSizes(options);
  const [{ device }] = requested;
  using session = new DeviceSession({ device });
  const evaluators = device.gpu === null ? undefined : evaluatorsOf(device, options.deviceMemory);
  return await tuneOn({ session, evaluators }, options, requested);
});

/** The problems that the options ask for, one a grid, each checked before any is tuned. */
export async function resolveSizes(
  { grid: grids, sizes, ...options }: Values<typeof OPTIONS>,
  machine?: DeviceDescription,
): Promise<readonly [ResolvedProblem, ...ResolvedProblem[]]> {
  const resolve = (grid: OwnGrid | undefined) => resolveOptions("tune", { ...options, grid }, machine);
  const [grid] = grids;
  const first = await resolve(grid);
  const { problem: { stencil }, device: { gpu } } = first;
  const named = new Map(grids.map((grid) => [`${grid}`, grid])).values();
  const all = sizes === undefined ? [...named].slice(1) : typicalGrids(stencil, gpu);
  const others = await Promise.all(all.map(resolve));
  return sizes === undefined ? [first, ...others] : others as [ResolvedProblem];
}

/** Time for a grid below which hardly more than the minimum is measured. */
const SHORT_NS = 5e9;

/** What is said of a budget too small for these grids; undefined where it is not. */
export function whyTight(budget: Budget, grids: number): string | undefined {
  if (grids === 1) return undefined;
  if ("evaluations" in budget) {
    return budget.evaluations < grids ? `${grids} grids: each gets one evaluation` : undefined;
  }
  if (budget.timeNs >= grids * SHORT_NS) return undefined;
  const [all, each, enough] = [budget.timeNs, budget.timeNs / grids, grids * SHORT_NS].map(formatDuration);
  return `a budget of ${all} is too small for ${grids} grids: ${each} each is hardly a search; give ${enough} or more`;
}

/** Tunes problems one after another on these devices, and writes what was found: the journal, the profile, the summary. */
export async function tuneOn(
  devices: { readonly session: Session; readonly evaluators: Evaluators | undefined },
  options: Values<typeof OPTIONS>,
  requested: readonly ResolvedProblem[],
): Promise<number> {
  using attended = new AttendedRun(options);
  if ("evaluations" in options.budget && !options.quiet) {
    const { evaluations } = options.budget;
    say(`facet: ${formatPlural(evaluations, "evaluation")}; for seconds type ${evaluations}s`);
  }
  const measured: MeasuredProblem[] = [], records: ReturnType<typeof summaryRecord>[] = [];
  const endNs = "timeNs" in options.budget ? devices.session.now() + options.budget.timeNs : Infinity;
  const tight = whyTight(options.budget, requested.length), [{ note } = {}] = requested;
  for (const line of [note, tight]) if (line !== undefined) say(`facet: ${line}`);
  let exitCode = EXIT.done as number, model: DeviceModel | undefined, written: string | undefined;
  for (const [i, resolved] of requested.entries()) {
    if (i > 0 && attended.signal.aborted) break;
    if (i > 0 && !options.json) print([""]);
    // each gets an equal part of what is left
    const part = 1 / (requested.length - i);
    const budget = "timeNs" in options.budget
      ? {
        timeNs: Math.max(SPENT_NS, part * (i === 0 ? options.budget.timeNs : endNs - devices.session.now())),
      }
      : { evaluations: Math.max(1, Math.floor((options.budget.evaluations + i) / requested.length)) };
    const learned = measured.flatMap(({ samples }) => samples);
    const { outcome, record, code, ...made } = await tuneOne(devices, { ...options, budget }, {
      ...resolved,
      learned,
      attended,
    });
    exitCode ||= code;
    written ??= made.written;
    records.push(record);
    const { entry, problem } = outcome;
    model = deviceModelOf(measuredDevice(resolved.device, outcome));
    if (entry !== undefined) measured.push({ problem, samples: samplesOf(entry, problem, model) });
  }
  const areEnough = requested.length >= LEAST_SIZES;
  const unseen = areEnough && model !== undefined ? leaveOneOut(measured, model) : [];
  const losses = unseen.map(({ grid, loss, expected }) => ({ grid, loss, expected }));
  if (options.json) print(requested.length === 1 ? records[0]! : { sizes: records, unseen: losses });
  else {
    const lateNs = devices.session.now() - endNs;
    const late = lateNs > 0 && tight
      ? [`The budget was exceeded by ${formatDuration(lateNs)}: ${tight}`]
      : [];
    const all = [...(requested.length === 1 ? [] : late), ...(areEnough ? [describeLoss(unseen)] : [])];
    const loss = all.length === 0 ? [] : ["", ...all];
    const next = nextSteps(written, TASK);
    if (loss.length + next.length > 0) print([...loss, ...next]);
  }
  return exitCode;
}

/**
 * Tunes one problem, writes its profile and prints the summary, also where the profile cannot be written; JSON is printed
 * by the caller. The search starts from what was learned on others.
 */
async function tuneOne(
  { session, evaluators }: Parameters<typeof tuneOn>[0],
  { budget, seed, startShare, resume, json, ...options }: Values<typeof OPTIONS>,
  { problem, device: { gpu, ...machine }, learned, attended, ...request }:
    & ResolvedProblem
    & { readonly learned: readonly Sample[]; readonly attended: AttendedRun },
) {
  // the memory that the request allows is not the device's
  const device = { ...machine, gpu: gpu && { ...gpu, limits: limitsOf(gpu.limits) } };
  const out = options.out ?? defaultProfilePath(device);
  const { progress, signal } = attended;
  const warn = (text: string): void => {
    progress.clear();
    say(`facet: ${text}`);
  };
  const ours = measuredDevice(device, { copyBytesPerSecond: null });
  const there = await checkWritable(out, ours, { onRemark: warn });
  await checkJournal(journalPath(out));
  attended.announce({ problem, device, ...request });
  let journal: JournalKeeper | undefined;
  const strategy = STRATEGIES.find(({ name }) => name === options.strategy)!;
  try {
    const search = { strategy, budget, seed, startShare, learned, ...(there && knownOf(there, device)) };
    const outcome = await runTuning({ ...problem, ...request, ...search }, {
      session,
      signal,
      evaluators,
      onProgress: (state) => progress.update(state),
      onWarning: warn,
      async onStart(start) {
        const header = await journalHeaderOf(device, start);
        const known = resume ? await recallFrom(journalPath(out), header, warn) : new Map();
        journal = new JournalKeeper(() => Journal.open(journalPath(out), header), warn);
        await journal.begin();
        return known;
      },
      async onEvaluation(evaluation) {
        await journal?.record(evaluation);
      },
    });
    progress.clear();
    const profile = profileOfRun(outcome, device);
    let failure: unknown;
    if (profile !== undefined) await writeProfile(out, profile).catch((error) => failure = error);
    const written = profile === undefined || failure !== undefined ? undefined : out;
    const { highest } = progress, hasBars = Deno.stdout.isTerminal();
    const record = summaryRecord(outcome, { device, written });
    if (!json) {
      print(renderSummary(outcome, { device, written, highest, hasBars, isVerbose: options.verbose }));
    } else if (failure !== undefined) print(record);
    if (failure !== undefined) throw failure;
    const code = outcome.entry === undefined ? EXIT.no : EXIT.done;
    return { outcome, record, written, code: outcome.interrupted ? attended.exitCode : code };
  } finally {
    journal?.close();
  }
}

/** Processes that evaluate. A software device computes on the cores that would compile: it gets one. */
function evaluatorsOf(device: DeviceDescription, allowed: number | undefined): Evaluators {
  return {
    workersFor: (problem) =>
      device.gpu?.isFallback ? 1 : processesFor(problem, {
        cores: navigator.hardwareConcurrency,
        memory: Deno.systemMemoryInfo().total,
        deviceMemory: allowed,
      }),
    // this process has compared the device's reference with the oracle
    start: (problem, options) => {
      const deviceMemory = device.gpu?.limits.windowBytes;
      return ProcessEvaluator.start({ problem, checksReference: false, deviceMemory, ...options });
    },
  };
}

/** Under what a run measures. */
export async function journalHeaderOf(device: DeviceDescription, start: TuneStart): Promise<JournalHeader> {
  const driver = device.gpu === null ? undefined : await describeDriver();
  return {
    tool: TOOL,
    device: measuredDevice(device, start),
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
