import { traversalKey } from "../configuration.ts";
import { readInput } from "../interchange/read_input.ts";
import { readSpace } from "../interchange/read_space.ts";
import { placesOf, type RecordedSpace } from "../interchange/recorded_space.ts";
import {
  configurationIn,
  type FailureRecord,
  type JournalRecord,
  type MeasurementRecord,
  parseJournal,
  type RunRecord,
} from "../profile/journal_format.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { type RecordedConfiguration, type ReplaySpace, titleOf } from "./replay_space.ts";
import { isShared, uses } from "../shares.ts";

export interface ReplaySpaces {
  /** One; of a journal one for each problem and device. */
  readonly spaces: readonly ReplaySpace[];
  /** What the reader left out or mended, one line each. */
  readonly notes: readonly string[];
}

/**
 * Reads recorded spaces, whose titles name the file: others may be of the same problem and device. Nothing in a file is
 * evaluated.
 *
 * @param path a journal, T4 results or a Kernel Tuner cache, plain or gzipped
 * @throws {ProfileError} in one line, if it can't be read or holds nothing to replay
 */
export async function readReplaySpaces(path: string): Promise<ReplaySpaces> {
  const bytes = await readInput(path), { makeSpaces, notes } = spacesOf(bytes, path);
  // frees the text at once: the spaces need room too
  bytes.buffer.transfer(0);
  const usable = makeSpaces().filter(({ configurations }) =>
    configurations.some(({ rate }) => rate !== undefined)
  );
  const why = ["no configuration has a rate", ...notes].slice(0, 2).join(": ");
  if (usable.length === 0) throw new ProfileError(`Cannot replay ${path}: ${why}`);
  return { spaces: usable.map((space) => ({ ...space, title: `${space.title} (${path})` })), notes };
}

/** What makes the spaces of a file, without its text. */
function spacesOf(
  bytes: Uint8Array,
  path: string,
): { makeSpaces: () => readonly ReplaySpace[]; notes: readonly string[] } {
  if (
    /\.jsonl(\.gz)?$/.test(path) || new TextDecoder().decode(bytes.subarray(0, 20)).startsWith('{"crc32":')
  ) {
    const { records, damaged, torn } = parseJournal(bytes);
    const notes = damaged.map(({ line, reason }) => `line ${line} is damaged: ${reason}`);
    if (torn) notes.push("the last line was cut off while it was written: left out");
    return { makeSpaces: () => spacesOfJournal(records), notes };
  }
  const { space, notes } = readSpace(bytes, path), makeSpace = spaceOfOthers(space, path);
  return { makeSpaces: () => [makeSpace()], notes };
}

/**
 * The spaces of a journal: one for each problem on each device. Of several rates of one configuration the first
 * counts: later ones come from the final round, which only the best few have.
 */
function spacesOfJournal(records: readonly JournalRecord[]): ReplaySpace[] {
  const runs = new Map<string, RunRecord>();
  const spaces = new Map<string, { run: RunRecord; found: Map<string, RecordedConfiguration> }>();
  for (const record of records) {
    if (record.kind === "run") {
      runs.set(record.run, record);
      continue;
    }
    const run = runs.get(record.run)!;
    const title = titleOf(run.problem, run.device);
    if (!spaces.has(title)) spaces.set(title, { run, found: new Map() });
    const { found } = spaces.get(title)!;
    const { share } = configurationIn(record);
    // what the CPU computes is no part of the GPU's space
    if (uses(share, "cpu") && (isShared(share) || run.device.gpu !== null)) continue;
    const recorded = recordedOf(record);
    const key = traversalKey(recorded);
    if (!found.has(key)) found.set(key, recorded);
  }
  return [...spaces].map(([title, { run: { problem, device }, found }]) => ({
    title,
    configurations: [...found.values()],
    facet: { problem, device },
  }));
}

function recordedOf(record: MeasurementRecord | FailureRecord): RecordedConfiguration {
  const { traversal, parameters: own, share: { cpuWorkers } } = configurationIn(record);
  // of the CPU alone, the number of workers is one of the parameters
  const parameters = cpuWorkers > 0 ? { ...own, cpuWorkers } : own;
  const about = { traversal, parameters, evaluationNs: record.evaluationNs };
  if (record.kind === "failure") return { ...about, rate: undefined, failure: record.failure.reason };
  const { cellsPerSecond, compileNs } = record.measurement;
  return { ...about, rate: cellsPerSecond, compileNs };
}

/**
 * What makes another tuner's space, of numbers alone: while the text needs room, there is none for an object for each
 * record. Values are numbered as {@linkcode placesOf} says; one that does not apply (null) is left out.
 */
function spaceOfOthers(
  { kernel, device, objectives: [objective], parameters, records }: RecordedSpace,
  source: string,
): () => ReplaySpace {
  if (objective !== "time") {
    const found = JSON.stringify(objective);
    throw new ProfileError(
      `Cannot replay ${source}: wanted a space that was tuned for "time", found ${found}`,
    );
  }
  const columns = parameters.map(({ name, values }) => ({
    name,
    places: placesOf(values),
    found: new Float64Array(records.length),
  }));
  /** NaN where there is none. */
  const timesMs = new Float64Array(records.length), compileMs = timesMs.slice(), costsMs = timesMs.slice();
  const failures: (string | undefined)[] = [];
  for (const { values, failure, timeMs, overheadMs } of records) {
    const at = failures.push(failure ?? (timeMs === null ? "no time" : undefined)) - 1;
    columns.forEach(({ places, found }, i) => {
      const value = values[i] ?? null;
      found[at] = value === null ? NaN : places?.get(value) ?? value as number;
    });
    timesMs[at] = failure === null && timeMs !== null ? timeMs : NaN;
    compileMs[at] = overheadMs.compile ?? NaN;
    costsMs[at] = Object.values(overheadMs).reduce((sum, part) => sum + part, 0) || NaN;
  }
  const traversal = kernel || "kernel";
  const title = [traversal, device].filter((part) => part !== null).join(", ");
  const nsOf = (ms: number) => Number.isNaN(ms) ? undefined : ms * 1e6;
  return () => ({
    title,
    configurations: failures.map((failure, i) => {
      const parameters: Record<string, number> = {};
      for (const { name, found } of columns) if (!Number.isNaN(found[i])) parameters[name] = found[i]!;
      return {
        traversal,
        parameters,
        rate: failure === undefined ? 1e3 / timesMs[i]! : undefined,
        compileNs: nsOf(compileMs[i]!),
        evaluationNs: nsOf(costsMs[i]!),
        failure,
      };
    }),
  });
}
