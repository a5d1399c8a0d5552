/**
 * Opens whatever holds a recorded space: a journal, T4 results, a Kernel Tuner cache, or a file of an older `record`.
 *
 * @module
 */
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { InputFile } from "../interchange/input_file.ts";
import { readSpace } from "../interchange/read_space.ts";
import {
  describeRecord,
  type ParameterValue,
  type RecordedSpace,
  type SpaceRecord,
} from "../interchange/recorded_space.ts";
import {
  type FailureRecord,
  type JournalContent,
  type JournalRecord,
  type MeasurementRecord,
  parseJournal,
  type RunRecord,
} from "../profile/journal_format.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { isOldRecording, readOldRecording } from "./old_recording.ts";
import { keyOf, type RecordedConfiguration, type ReplaySpace, titleOf } from "./replay_space.ts";

/** The spaces of a file. */
export interface ReplaySpaces {
  /** One; of a journal one for each problem and device. */
  readonly spaces: readonly ReplaySpace[];
  /** What the reader left out or mended, one line each. */
  readonly notes: readonly string[];
}

/**
 * Reads recorded spaces. Nothing in a file is evaluated.
 *
 * @param path a journal, T4 results or a Kernel Tuner cache, plain or gzipped
 * @throws {ProfileError} in one line, if it can't be read or holds nothing to replay
 */
export async function readReplaySpaces(path: string): Promise<ReplaySpaces> {
  const { spaces, notes } = await spacesOf(await InputFile.open(path));
  const usable = spaces.filter(({ configurations }) => configurations.some(({ rate }) => rate !== undefined));
  if (usable.length === 0) throw new ProfileError(`Cannot replay ${path}: no configuration has a rate`);
  return { spaces: usable, notes };
}

async function spacesOf(file: InputFile): Promise<ReplaySpaces> {
  const { path } = file, start = await file.start();
  if (start.startsWith('{"crc32":') || /\.jsonl(\.gz)?$/.test(path)) {
    return journalSpaces(parseJournal(await file.bytes()));
  }
  if (isOldRecording(start)) {
    const text = new TextDecoder().decode(await file.bytes());
    return { spaces: [readOldRecording(text, path)], notes: [] };
  }
  const { space, notes } = await readSpace(file);
  return { spaces: [foreignSpace(space, path)], notes };
}

function journalSpaces({ records, damaged, torn }: JournalContent): ReplaySpaces {
  const notes = damaged.map(({ line, reason }) => `line ${line} is damaged: ${reason}`);
  if (torn) notes.push("the last line was cut off while it was written: left out");
  return { spaces: spacesOfJournal(records), notes };
}

/**
 * The spaces of a journal: one for each problem on each device. Of several rates of one configuration the first
 * counts: later ones come from the final round, which only the best few have.
 */
export function spacesOfJournal(records: readonly JournalRecord[]): ReplaySpace[] {
  const runs = new Map<string, RunRecord>();
  const spaces = new Map<
    string,
    { readonly run: RunRecord; readonly found: Map<string, RecordedConfiguration> }
  >();
  for (const record of records) {
    if (record.kind === "run") {
      runs.set(record.run, record);
      continue;
    }
    const run = runs.get(record.run)!;
    const title = titleOf(run.problem, run.device);
    if (!spaces.has(title)) spaces.set(title, { run, found: new Map() });
    const { found } = spaces.get(title)!;
    const { configuration } = record.kind === "measurement" ? record.measurement : record;
    // what the CPU computes is no part of the GPU's space
    if (configuration.share.cpuSlices > 0) continue;
    const recorded = recordedOf(record);
    const key = keyOf(recorded);
    if (!found.has(key)) found.set(key, recorded);
  }
  return [...spaces].map(([title, { run: { problem, device }, found }]) => ({
    title,
    configurations: [...found.values()],
    facet: { problem, device },
  }));
}

function recordedOf(record: MeasurementRecord | FailureRecord): RecordedConfiguration {
  const { evaluationNs } = record;
  if (record.kind === "failure") {
    const { configuration: { traversal, parameters }, failure } = record;
    return { traversal, parameters, rate: undefined, evaluationNs, failure: failure.reason };
  }
  const { configuration: { traversal, parameters }, cellsPerSecond, compileNs } = record.measurement;
  return { traversal, parameters, rate: cellsPerSecond || undefined, compileNs, evaluationNs };
}

/**
 * Another tuner's space. A value that is not a number becomes its place in the list of the parameter's values; one
 * that does not apply (null) is left out.
 */
export function foreignSpace(space: RecordedSpace, source: string): ReplaySpace {
  const { kernel, device, parameters, records, objectives: [objective] } = space;
  if (objective !== "time") {
    throw new ProfileError(
      `Cannot replay ${source}: wanted a space that was tuned for "time", found ${JSON.stringify(objective)}`,
    );
  }
  const traversal = kernel || "kernel";
  const places = parameters.map(({ values }) => new Map(values.map((value, i) => [value, i])));
  const numberOf = (value: ParameterValue, i: number): number => {
    if (typeof value === "number") return value;
    return typeof value === "boolean" ? Number(value) : places[i]!.get(value) ?? -1;
  };
  // of a configuration that occurs again the last record counts
  const once = new Map<string, { readonly record: SpaceRecord; readonly parameters: Parameters }>();
  for (const record of records) {
    const values = parameters.flatMap(({ name }, i): [string, number][] => {
      const value = record.values[i] ?? null;
      return value === null ? [] : [[name, numberOf(value, i)]];
    });
    const key = values.join();
    const earlier = once.get(key)?.record;
    if (earlier?.values.some((value, i) => value !== record.values[i])) {
      throw new ProfileError(
        `Cannot replay ${source}: two configurations become the same when words are numbered: ` +
          `${describeRecord(space, earlier)} and ${describeRecord(space, record)}`,
      );
    }
    once.set(key, { record, parameters: Object.fromEntries(values) });
  }
  const configurations = Array.from(once.values(), ({ record, parameters }): RecordedConfiguration => {
    const { overheadMs, timeMs } = record;
    const costMs = Object.values(overheadMs).reduce((sum, part) => sum + part, 0);
    const failure = record.failure ?? (timeMs === null ? "no time" : undefined);
    return {
      traversal,
      parameters,
      rate: timeMs === null || failure !== undefined ? undefined : 1e3 / timeMs,
      compileNs: overheadMs.compile === undefined ? undefined : overheadMs.compile * 1e6,
      evaluationNs: costMs > 0 ? costMs * 1e6 : undefined,
      failure,
    };
  });
  return { title: [traversal, device].filter((part) => part !== null).join(", "), configurations };
}
