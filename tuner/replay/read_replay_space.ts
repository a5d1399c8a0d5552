/**
 * Opens whatever holds a recorded space: what `record` wrote, a journal, T4 results, a Kernel Tuner cache.
 *
 * @module
 */
import { readSpace } from "../interchange/read_space.ts";
import {
  describeRecord,
  type ParameterValue,
  type RecordedSpace,
  recordIdentity,
  type SpaceRecord,
} from "../interchange/recorded_space.ts";
import { readJournal } from "../profile/journal.ts";
import type { JournalRecord, RunRecord } from "../profile/journal_format.ts";
import { ProfileError, whyUnreadable } from "../profile/profile_error.ts";
import { keyOf, type RecordedConfiguration, type ReplaySpace, titleOf } from "./replay_space.ts";
import { checkSpace, readText, spaceOf } from "./space_file.ts";

/** Spaces of a file, and what the readers have to say about it. */
export interface ReplaySpaces {
  /** One; of a journal one for each problem and device. */
  readonly spaces: readonly ReplaySpace[];
  /** One line each. */
  readonly notes: readonly string[];
}

/**
 * Reads recorded spaces. Nothing of a file is evaluated.
 *
 * @param path a file of `record`, a journal (`*.jsonl`), T4 results or a Kernel Tuner cache, plain or gzipped
 * @throws {ProfileError} in one line, if it can't be read or holds nothing to replay
 */
export async function readReplaySpaces(path: string): Promise<ReplaySpaces> {
  const { spaces, notes } = path.endsWith(".jsonl") ? await journalSpaces(path) : await fileSpace(path);
  const usable = spaces.filter(({ configurations }) => configurations.some(({ rate }) => rate !== undefined));
  if (usable.length === 0) throw new ProfileError(`Cannot replay ${path}: no configuration has a rate`);
  return { spaces: usable, notes };
}

async function fileSpace(path: string): Promise<ReplaySpaces> {
  const text = await readText(path);
  if (/^\s*\{\s*"format"\s*:\s*"facet-space"/.test(text)) {
    return { spaces: [spaceOf(checkSpace(JSON.parse(text), path))], notes: [] };
  }
  const { space, notes } = readSpace(new TextEncoder().encode(text), path);
  return { spaces: [foreignSpace(space, path)], notes };
}

async function journalSpaces(path: string): Promise<ReplaySpaces> {
  await Deno.stat(path).catch((error) => {
    throw new ProfileError(`Cannot read ${path}: ${whyUnreadable(error)}`);
  });
  const { records, damaged, torn } = await readJournal(path);
  const notes = damaged.map(({ line, reason }) => `line ${line} is damaged: ${reason}`);
  return {
    spaces: spacesOfJournal(records),
    notes: [...notes, ...(torn ? ["the last line was cut off while it was written: left out"] : [])],
  };
}

/**
 * The spaces of a journal: one for each problem on each device. What was measured several times counts with its
 * first rate: later ones are those of the final round, which only the best few have.
 */
export function spacesOfJournal(records: readonly JournalRecord[]): ReplaySpace[] {
  const runs = new Map<string, RunRecord>();
  const spaces = new Map<
    string,
    { title: string; run: RunRecord; found: Map<string, RecordedConfiguration> }
  >();
  for (const record of records) {
    if (record.kind === "run") {
      runs.set(record.run, record);
      continue;
    }
    const run = runs.get(record.run)!;
    const title = titleOf(run.problem, run.device);
    const space = spaces.get(title) ?? { title, run, found: new Map() };
    spaces.set(title, space);
    const { configuration } = record.kind === "measurement" ? record.measurement : record;
    // the CPU's and shared runs are not part of the GPU's space
    if (configuration.share.cpuSlices > 0) continue;
    const { traversal, parameters } = configuration;
    const recorded: RecordedConfiguration = record.kind === "failure"
      ? { traversal, parameters, rate: undefined, failure: record.failure.reason }
      : {
        traversal,
        parameters,
        rate: record.measurement.cellsPerSecond || undefined,
        interval95: record.measurement.confidence95,
        compileNs: record.measurement.compileNs,
      };
    const key = keyOf(recorded);
    if (!space.found.has(key)) space.found.set(key, recorded);
  }
  return [...spaces.values()].map(({ title, run: { problem, device }, found }) => ({
    title,
    configurations: [...found.values()],
    facet: { problem, device },
  }));
}

/**
 * Another tuner's space. A value that is no number becomes its place in the list of the parameter's values; one
 * that has no meaning (null) is left out.
 */
export function foreignSpace(space: RecordedSpace, source: string): ReplaySpace {
  const { kernel, device, parameters, records, objectives } = space;
  if (objectives.length === 0 || objectives[0] !== "time") {
    throw new ProfileError(
      `Cannot replay ${source}: wanted a space that was tuned for "time", found ${
        JSON.stringify(objectives[0])
      }`,
    );
  }
  const traversal = kernel || "kernel";
  const places = parameters.map(({ values }) => new Map(values.map((value, i) => [value, i])));
  const number = (value: ParameterValue, i: number): number => {
    if (typeof value === "number" && Number.isFinite(value)) return value;
    return typeof value === "boolean" ? Number(value) : places[i].get(value) ?? -1;
  };
  const once = new Map<string, SpaceRecord>(records.map((record) => [recordIdentity(record), record]));
  const configurations = [...once.values()].map((record): RecordedConfiguration => {
    const costMs = Object.values(record.overheadMs).reduce((sum, part) => sum + part, 0);
    const failure = record.failure ?? (record.timeMs === null ? "no time" : undefined);
    return {
      traversal,
      parameters: Object.fromEntries(
        parameters.flatMap(({ name }, i) =>
          record.values[i] === null ? [] : [[name, number(record.values[i], i)]]
        ),
      ),
      rate: failure === undefined ? 1e3 / record.timeMs! : undefined,
      ...(record.overheadMs.compile === undefined ? {} : { compileNs: record.overheadMs.compile * 1e6 }),
      ...(costMs > 0 ? { evaluationNs: costMs * 1e6 } : {}),
      ...(failure === undefined ? {} : { failure }),
    };
  });
  const keys = new Set(configurations.map(keyOf));
  if (keys.size < configurations.length) {
    const example = describeRecord(space, [...once.values()][0]);
    throw new ProfileError(
      `Cannot replay ${source}: configurations are alike once values are numbers, for example ${example}`,
    );
  }
  const title = [traversal, device].filter((part) => part !== null).join(", ");
  return { title, configurations };
}
