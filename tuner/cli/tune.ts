/**
 * `deno task tune`: finds the fastest verified configuration for this device and writes it to its profile.
 *
 * @module
 */
import { dirname } from "node:path";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { GpuDevice } from "../backends/gpu_device.ts";
import type { DeviceDescription } from "../device.ts";
import { Journal, journalPath } from "../profile/journal.ts";
import {
  describeProblem,
  JSON_SCHEMA_NAME,
  type Profile,
  type ProfileDevice,
  SCHEMA_VERSION,
} from "../profile/schema.ts";
import { checkWritable, defaultProfilePath, writeProfile } from "../profile/store.ts";
import { STRATEGIES } from "../search/all.ts";
import type { Candidate } from "../search/space.ts";
import { tune, type TuneOutcome, type TuneStart } from "../tune.ts";
import { VERSION } from "../version.ts";
import { Progress, progressMode } from "./progress.ts";
import { EXIT } from "./report_error.ts";
import { resolveRequest } from "./request.ts";
import { renderSummary, summaryRecord } from "./summary.ts";
import { parseTuneOptions, type TuneOptions } from "./tune_options.ts";

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

  const stop = new AbortController();
  const interrupt = (): void => {
    if (stop.signal.aborted) Deno.exit(EXIT.interrupted); // pressed twice: the journal has what was measured
    stop.abort();
  };
  Deno.addSignalListener("SIGINT", interrupt);
  const progress = new Progress({
    mode: progressMode(Deno.stderr, options.quiet),
    write: (text) => Deno.stderr.writeSync(new TextEncoder().encode(text)),
    now,
    columns: () => Deno.consoleSize().columns,
  });
  let journal: Journal | undefined;
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
      signal: stop.signal,
      onProgress: (state) => progress.update(state),
      async onStart(start) {
        journal = await openJournal(out, device, start);
      },
      async onEvaluation(evaluation) {
        if ("measurement" in evaluation) await journal?.measured(evaluation.measurement);
        else await journal?.failed(evaluation.configuration, evaluation.failure);
      },
    });
    progress.clear();
    return await report(outcome, { options, device, out });
  } finally {
    progress.clear();
    journal?.close();
    Deno.removeSignalListener("SIGINT", interrupt);
  }
}

/** A device as profiles and journals have it. */
export function measuredDevice(device: DeviceDescription, copyBytesPerSecond: number | null): ProfileDevice {
  return { ...device, measured: { copyBytesPerSecond } };
}

/** Writes the profile, prints the summary. */
async function report(
  outcome: TuneOutcome,
  { options, device, out }: { options: TuneOptions; device: DeviceDescription; out: string },
): Promise<number> {
  if (outcome.entry !== undefined) {
    const profile: Profile = {
      $schema: JSON_SCHEMA_NAME,
      schemaVersion: SCHEMA_VERSION,
      tool: TOOL,
      createdAt: new Date().toISOString(),
      device: measuredDevice(device, outcome.copyBytesPerSecond),
      entries: [outcome.entry],
    };
    await writeProfile(out, profile);
  }
  const written = outcome.entry === undefined ? undefined : out;
  if (options.json) console.log(JSON.stringify(summaryRecord(outcome, { device, written }), null, 2));
  else console.log(renderSummary(outcome, { device, written }));
  if (outcome.interrupted) return EXIT.interrupted;
  return outcome.entry === undefined ? EXIT.no : EXIT.done;
}

/** Opens the journal beside the profile; its directory is made where it is missing. */
async function openJournal(out: string, device: DeviceDescription, start: TuneStart): Promise<Journal> {
  await Deno.mkdir(dirname(out), { recursive: true });
  return await Journal.open(journalPath(out), {
    tool: TOOL,
    device: measuredDevice(device, start.copyBytesPerSecond),
    problem: describeProblem(start.problem),
    kernelSource: await hashKernels(start),
  });
}

/**
 * SHA-256 of one generated shader of every traversal: kernels that changed are not the ones that were measured.
 * Which one must not depend on the ranking, which follows the bandwidth that was measured a moment ago.
 */
export async function hashKernels(
  { problem, space }: Pick<TuneStart, "problem" | "space">,
): Promise<string> {
  const oneOfEach = new Map<string, Candidate>();
  for (const candidate of space.candidates) {
    const { traversal: { name } } = candidate, before = oneOfEach.get(name);
    if (before === undefined || keyOf(candidate) < keyOf(before)) oneOfEach.set(name, candidate);
  }
  const code = [...oneOfEach.values()].sort((a, b) => a.traversal.name < b.traversal.name ? -1 : 1).flatMap((
    { traversal, parameters },
  ) => traversal.plan(problem, parameters).shaders.map((shader) => shader.code));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(code.join("\n")));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Parameters as a text, to order by. */
function keyOf({ parameters }: Candidate): string {
  return JSON.stringify(Object.entries(parameters));
}

function now(): number {
  return performance.now() * 1e6;
}
