import * as z from "npm:zod@4.6.7";
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { coordinatesOf } from "../../kernels/traversals/all.ts";
import { type Configuration, configurationKey, type FailureReason } from "../configuration.ts";
import { formatPlural } from "../format.ts";
import { checkRecord, matchSchema, parseJson } from "../profile/check_record.ts";
import { kernelNameOf } from "../profile/describe.ts";
import type { EntryRecords } from "../profile/entry_records.ts";
import {
  configurationIn,
  type FailureRecord,
  JOURNAL_VERSION,
  type JournalRecord,
  type MeasurementRecord,
  recordSchema,
  type RunRecord,
} from "../profile/journal_format.ts";
import { ProfileError } from "../profile/profile_error.ts";
import {
  checkProfile,
  JSON_SCHEMA_NAME,
  type Profile,
  type ProfileEntry,
  type ProfileProblem,
  SCHEMA_VERSION,
} from "../profile/schema.ts";
import { fault } from "./read_json.ts";
import type {
  JsonObject,
  ParameterValue,
  RecordedSpace,
  SpaceFailure,
  SpaceRecord,
} from "./recorded_space.ts";

const FACET_BLOCK_VERSION = 2;

const blockSchema = z.strictObject({
  version: z.literal(FACET_BLOCK_VERSION, String(FACET_BLOCK_VERSION)),
  kernelSource: z.string("a text").max(4000).nullable(),
  profile: z.unknown(),
});

/** The measurement that holds an evaluation as the journal has it, in JSON. */
const OWN = "facet_record";

/** Facet's reasons in T4's words. */
const FAILURE_OF: Readonly<Record<FailureReason, SpaceFailure>> = {
  compile: "compile",
  limits: "constraints",
  incorrect: "correctness",
  timeout: "timeout",
  "device-lost": "runtime",
  "out-of-memory": "runtime",
};

type Evaluation = Omit<MeasurementRecord, "run"> | Omit<FailureRecord, "run">;

/**
 * An entry of a profile as a recorded space. The parameters are those of all traversals, with the traversal and the
 * share; one that a configuration does not have is null there. What the formats have no place for stands in the space's
 * `facet` block and in each record's measurement `facet_record`, for {@linkcode importFacetSpace} to find again.
 *
 * @param records the entry's evaluations, from `entryRecords`
 * @returns the space, and what of the profile and the journal is not in it, one line each
 */
export function spaceOfEntry(
  profile: Profile,
  entry: ProfileEntry,
  { measured, failed, repeated, outdated, kernelSource }: EntryRecords,
): { space: RecordedSpace & { readonly records: readonly SpaceRecord[] }; notCarried: string[] } {
  const { problem } = entry, { device } = profile;
  const evaluations: Evaluation[] = [
    ...measured.map((measurement) => ({ kind: "measurement" as const, ...measurement })),
    ...failed.map((failure) => ({ kind: "failure" as const, ...failure })),
  ];
  const values = evaluations.map((evaluation) => valuesOf(configurationIn(evaluation)));
  const names = [...new Set(values.flatMap(Object.keys))];
  return {
    space: {
      kernel: kernelNameOf(problem),
      device: device.gpu?.description || device.cpu.model,
      problemSize: [...problem.grid],
      objectives: ["time"],
      parameters: names.map((name) => ({
        name,
        values: sortedValues(values.map((own) => own[name] ?? null)),
      })),
      records: evaluations.map((evaluation) => recordOf(evaluation, problem, names)),
      facet: {
        version: FACET_BLOCK_VERSION,
        kernelSource,
        profile: profileOfEntry(profile, entry) as unknown as JsonObject,
      },
      other: { cacheHeader: {}, t4Metadata: {} },
    },
    notCarried: [
      ...(repeated > 0
        ? [`${formatPlural(repeated, "repeated evaluation")} of the same configurations`]
        : []),
      ...(outdated > 0 ? [`${formatPlural(outdated, "evaluation")} of kernels that have changed since`] : []),
      "the parameters' lists of values: those that were evaluated are written",
      "which run an evaluation belongs to",
    ],
  };
}

export function profileOfEntry(
  { tool, createdAt, device }: Pick<Profile, "tool" | "createdAt" | "device">,
  entry: ProfileEntry,
): Profile {
  const $schema = JSON_SCHEMA_NAME, schemaVersion = SCHEMA_VERSION;
  return { $schema, schemaVersion, tool, createdAt, device, entries: [entry] };
}

/** A configuration's values by name; `cpu_` precedes how the CPU traverses its slices beside the GPU. */
function valuesOf(
  { traversal, parameters, share: { cpu, ...share } }: Configuration,
): Record<string, ParameterValue> {
  const besideGpu = cpu === undefined ? [] : Object.entries({ traversal: cpu.traversal, ...cpu.parameters });
  const named = besideGpu.map(([name, value]) => [`cpu_${name}`, value]);
  return { traversal, ...parameters, ...share, ...Object.fromEntries(named) };
}

/** Different values, numbers by size, null last. */
function sortedValues(values: readonly ParameterValue[]): ParameterValue[] {
  const rank = (value: ParameterValue): number => value === null ? 1 : 0;
  return [...new Set(values)].sort((a, b) =>
    rank(a) - rank(b) ||
    (typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1)
  );
}

function recordOf(evaluation: Evaluation, problem: ProfileProblem, names: readonly string[]): SpaceRecord {
  const configuration = configurationIn(evaluation), { traversal, parameters } = configuration;
  // files of earlier versions name the axes of searches
  const own = { ...coordinatesOf(traversal, parameters), ...valuesOf(configuration) };
  const values = names.map((name) => own[name] ?? null);
  const whole = { name: OWN, value: JSON.stringify(evaluation), unit: "" };
  const common = { values, timestamp: evaluation.at, timeMs: null, timesMs: [], overheadMs: {} };
  if (evaluation.kind === "failure") {
    const { reason } = evaluation.failure, correctness = reason === "incorrect" ? 0 : 1;
    return { ...common, failure: FAILURE_OF[reason], measurements: [whole], correctness };
  }
  const { cellsPerSecond, samples, compileNs } = evaluation.measurement;
  const timeOf = (rate: number): number => cellsOf(problem.grid) * problem.steps / rate * 1e3;
  const timeMs = timeOf(cellsPerSecond), timesMs = samples.map(timeOf);
  const benchmark = timesMs.reduce((sum, time) => sum + time, 0);
  return {
    ...common,
    failure: null,
    timeMs,
    timesMs,
    overheadMs: { ...(compileNs !== 0 && { compile: compileNs / 1e6 }), benchmark },
    measurements: [
      { name: "time", value: timeMs, unit: "ms" },
      { name: "cells_per_second", value: cellsPerSecond, unit: "cells/s" },
      whole,
    ],
    correctness: 1,
  };
}

/** A profile and the records of the journal that goes with it. */
export interface FacetImport {
  readonly profile: Profile;
  /** The run first, then every evaluation; made anew each time that someone goes through them. */
  readonly journal: Iterable<JournalRecord>;
  readonly records: number;
  /** What could not be carried over, one line each. */
  readonly notCarried: readonly string[];
}

export interface ImportOptions {
  /** What to call the file in errors. */
  readonly source: string;
  /** What the journal calls the run that the records become. */
  readonly run: string;
}

/**
 * Makes a profile and a journal of a space that Facet wrote. Everything is checked as if it came from a stranger: the
 * file may have been edited.
 *
 * @param space with a `facet` block
 * @throws {ProfileError} in one line: where in the file, what was wanted, what was found
 */
export function importFacetSpace(space: RecordedSpace, { source, run }: ImportOptions): FacetImport {
  const where = `${source}: the facet block`;
  const { kernelSource, ...block } = checkRecord(blockSchema, space.facet, where);
  const profile = checkProfile(block.profile, where), [entry, another] = profile.entries;
  if (entry === undefined || another !== undefined) {
    throw fault(`${where}: profile.entries`, "one entry", profile.entries);
  }
  const names = space.parameters.map(({ name }) => name);
  const evaluationOf = (record: SpaceRecord, index: number): JournalRecord => {
    const where = `${source}: record ${index + 1}`;
    const own = record.measurements.find(({ name }) => name === OWN)?.value;
    if (typeof own !== "string") throw fault(where, `the measurement ${OWN}`, own);
    const evaluation = matchSchema(recordSchema, { ...parseJson(own, where) as object, run }, where);
    if (evaluation.kind === "run") throw fault(where, "an evaluation", "run");
    const { values, timeMs } = recordOf(evaluation, entry.problem, names);
    const wanted = JSON.stringify([values, timeMs]), found = JSON.stringify([record.values, record.timeMs]);
    if (found !== wanted) throw fault(where, `the values and the time ${wanted} of its ${OWN}`, found);
    return evaluation;
  };
  const key = configurationKey(entry.configuration), { cellsPerSecond, confidence95 } = entry.result;
  const measured = new Set<string>();
  let isThere = false, faster = 0, records = 0;
  for (const record of space.records) {
    const made = evaluationOf(record, records++);
    for (const { name } of record.measurements) measured.add(name);
    if (made.kind !== "measurement") continue;
    const { configuration, ...result } = made.measurement;
    if (result.cellsPerSecond === cellsPerSecond && configurationKey(configuration) === key) isThere = true;
    else if (result.confidence95[0] > (confidence95?.[1] ?? Infinity)) faster++;
  }
  if (!isThere) {
    throw new ProfileError(
      `Cannot read ${source}: wanted a record with the configuration and the rate of the facet block's entry ` +
        `(${cellsPerSecond} cells/s), found none: the file was changed`,
    );
  }
  const head = { ...profile, startedAt: profile.createdAt, problem: entry.problem };
  const journal = journalOf({ ...head, run, kernelSource: kernelSource ?? "" }, space.records, evaluationOf);
  const others = [...measured].filter((name) => !["time", "cells_per_second", OWN].includes(name));
  const fields = fieldsBeside(space);
  const what = `${formatPlural(faster, "record")} faster than the entry, which stays as it was`;
  const notCarried = [
    ...(others.length > 0 ? [`measurements that a journal has no place for: ${others.join(", ")}`] : []),
    ...(fields.length > 0 ? [`fields beside the records: ${fields.join(", ")}`] : []),
    ...(faster > 0 ? [`${what}: tune or qualify to choose anew`] : []),
  ];
  return { profile, journal, records, notCarried };
}

/** A run's records, made of a space's as they are read; those that make none are left out. */
export function journalOf(
  { run, startedAt, tool, device, problem, kernelSource }: Omit<RunRecord, "kind" | "version">,
  records: RecordedSpace["records"],
  evaluationOf: (record: SpaceRecord, index: number) => JournalRecord | undefined,
): Iterable<JournalRecord> {
  return {
    *[Symbol.iterator]() {
      yield { kind: "run", version: JOURNAL_VERSION, run, startedAt, tool, device, problem, kernelSource };
      let index = 0;
      for (const record of records) {
        const made = evaluationOf(record, index++);
        if (made !== undefined) yield made;
      }
    },
  };
}

export function fieldsBeside({ other: { cacheHeader, t4Metadata } }: Pick<RecordedSpace, "other">): string[] {
  return Object.keys({ ...cacheHeader, ...t4Metadata });
}
