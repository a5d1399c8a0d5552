import { configurationKey } from "../configuration.ts";
import {
  configurationIn,
  type FailureRecord,
  type JournalRecord,
  type MeasurementRecord,
  type RunRecord,
} from "./journal_format.ts";
import { type Profile, type ProfileEntry, resultOf } from "./schema.ts";
import { isSameProblem } from "./profile_problem.ts";
import { isSameDevice } from "./store.ts";

/** A rate and when it was measured. */
type DatedMeasurement = Pick<MeasurementRecord, "measurement" | "at">;

/** A configuration without a rate. */
export type DatedFailure = Pick<FailureRecord, "configuration" | "failure" | "at">;

/** A measurement that was faster than all before it. */
export interface Improvement extends DatedMeasurement {
  /** Its number among the evaluations, each configuration counted once, from 1. */
  readonly evaluation: number;
  /** Since the run began; of a run that another one resumed, its time is added. */
  readonly elapsedMs: number;
}

/** The evaluations that belong to an entry. */
export interface EntryRecords {
  /** Each configuration once, in the order of their first measurement. */
  readonly measured: readonly DatedMeasurement[];
  /** How the best rate rose during the search. */
  readonly improvements: readonly Improvement[];
  /** Configurations that never got a rate, each once. */
  readonly failed: readonly DatedFailure[];
  /** Whether a run measured a configuration, by its key, more than once: in the search, and in the final round. */
  readonly isRepeated: (key: string) => boolean;
  /** Evaluations left out because another one of the same configuration says more. */
  readonly repeated: number;
  /** Evaluations left out because the kernels have changed since. */
  readonly outdated: number;
  /** The last run's hash of the kernels' sources; null without a journal. */
  readonly kernelSource: string | null;
}

/**
 * The evaluations of an entry's problem on its device. Of several of one configuration the one with most samples
 * counts, of equals the last. The entry's own configuration always has the entry's result, that of the final round.
 */
export function entryRecords(
  profile: Pick<Profile, "device" | "createdAt">,
  entry: ProfileEntry,
  records: readonly JournalRecord[],
): EntryRecords {
  const runs = records.filter((record): record is RunRecord =>
    record.kind === "run" && isSameProblem(record.problem, entry.problem) &&
    isSameDevice(record.device, profile.device)
  );
  const kernelSource = runs.at(-1)?.kernelSource ?? null;
  const all = new Set(runs.map(({ run }) => run));
  const current = new Set(runs.filter((run) => run.kernelSource === kernelSource).map(({ run }) => run));
  const measured = new Map<string, DatedMeasurement>();
  const failed = new Map<string, DatedFailure>();
  const times = new Map(runs.map(({ run, startedAt }) => [run, Date.parse(startedAt)]));
  const turns = new Map<string, number>();
  const seen = new Set<string>(), improvements: Improvement[] = [];
  let evaluations = 0, outdated = 0, elapsedMs = 0;
  for (const record of records) {
    if (record.kind === "run" || !all.has(record.run)) continue;
    if (!current.has(record.run)) {
      outdated++;
      continue;
    }
    evaluations++;
    elapsedMs += Math.max(0, Date.parse(record.at) - times.get(record.run)!);
    times.set(record.run, Date.parse(record.at));
    // the final round measures again what the search has found
    const before = seen.size, evaluation = seen.add(configurationKey(configurationIn(record))).size;
    if (record.kind === "failure") {
      const { configuration, failure, at } = record;
      failed.set(configurationKey(configuration), { configuration, failure, at });
      continue;
    }
    const { measurement, at } = record;
    if (
      evaluation > before &&
      measurement.cellsPerSecond > (improvements.at(-1)?.measurement.cellsPerSecond ?? 0)
    ) improvements.push({ measurement, at, evaluation, elapsedMs });
    const key = configurationKey(measurement.configuration);
    turns.set(`${record.run} ${key}`, (turns.get(`${record.run} ${key}`) ?? 0) + 1);
    const known = measured.get(key)?.measurement.samples.length ?? 0;
    if (measurement.samples.length >= known) measured.set(key, { measurement, at });
  }
  const own = configurationKey(entry.configuration);
  const journalled = measured.get(own);
  if (journalled === undefined) evaluations++;
  measured.set(own, {
    measurement: resultOf(entry, journalled?.measurement.compileNs ?? 0),
    at: journalled?.at ?? profile.createdAt,
  });
  for (const key of measured.keys()) failed.delete(key);
  return {
    measured: [...measured.values()],
    improvements,
    failed: [...failed.values()],
    isRepeated: (key) => [...all].some((run) => (turns.get(`${run} ${key}`) ?? 0) > 1),
    repeated: evaluations - measured.size - failed.size,
    outdated,
    kernelSource,
  };
}
