import * as z from "npm:zod@^4.6.0";
import type { Configuration, FailureReason, Measurement } from "../configuration.ts";
import { relativeSpread } from "../measuring/statistics.ts";
import { checkRecord } from "../profile/check_record.ts";
import { configurationKey } from "../configuration_key.ts";
import { formatPlural } from "../format.ts";
import {
  JOURNAL_VERSION,
  type JournalRecord,
  recordSchema,
  type RunRecord,
} from "../profile/journal_format.ts";
import { ProfileError } from "../profile/profile_error.ts";
import {
  checkProfile,
  configurationSchema,
  JSON_SCHEMA_NAME,
  type Profile,
  type ProfileEntry,
  SCHEMA_VERSION,
} from "../profile/schema.ts";
import {
  BESIDE_GPU,
  FACET_BLOCK_VERSION,
  FAILURE_OF,
  measured,
  runTimeNs,
  SHARE_PARAMETERS,
} from "./facet_space.ts";
import type { RecordedSpace, SpaceRecord } from "./recorded_space.ts";

/** A profile and the records of the journal that goes with it. */
export interface FacetImport {
  readonly profile: Profile;
  /** The run first, then every evaluation; made anew each time that someone goes through them. */
  readonly journal: AsyncIterable<JournalRecord>;
  /** Evaluations. */
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

const blockSchema = z.strictObject({
  version: z.literal(FACET_BLOCK_VERSION, String(FACET_BLOCK_VERSION)),
  tool: z.strictObject({ name: z.string(), version: z.string() }),
  createdAt: z.iso.datetime({ error: "a UTC time as 2026-11-21T10:00:00Z" }),
  device: z.unknown(),
  kernelSource: z.string("a text").max(1000).nullable(),
  entry: z.unknown(),
});

const ratesSchema = z.strictObject({
  cellsPerSecond: z.number("a number").gt(0, "a number above 0"),
  confidence95: z.tuple([z.number().min(0), z.number().min(0)], "two numbers, low and high"),
  samples: z.array(z.number().gt(0), "a list of rates").min(1, "at least one rate"),
  maxError: z.number("a number").min(0),
  bound: z.number("a number").min(0),
  against: z.string("a text"),
});

/** Largest relative difference of a time and the rate beside it. */
const RATE_TOLERANCE = 1e-9;

/**
 * Makes a profile and a journal of a space that Facet wrote. Everything is checked as if it came from a stranger: the
 * file may have been edited.
 *
 * @param space with a `facet` block
 * @throws {ProfileError} in one line: where in the file, what was wanted, what was found
 */
export async function importFacetSpace(
  space: RecordedSpace,
  { source, run }: ImportOptions,
): Promise<FacetImport> {
  const block = checkRecord(blockSchema, space.facet, `${source}: the facet block`);
  const { profile, entry } = profileOfEntry(block, `${source}: the facet block`);
  const { tool, device, createdAt } = profile;
  const kernelSource = block.kernelSource ?? "", { problem } = entry;
  const head: RunRecord = {
    kind: "run",
    version: JOURNAL_VERSION,
    run,
    startedAt: createdAt,
    tool,
    device,
    problem,
    kernelSource,
  };
  const evaluationOf = (record: SpaceRecord, index: number): JournalRecord => {
    const where = `${source}: record ${index + 1}`;
    const configuration = configurationOf(space, record, where);
    const made = { run, at: timeOf(record, createdAt) };
    return record.failure !== null
      ? { kind: "failure", ...made, configuration, failure: failureOf(record, where) }
      : { kind: "measurement", ...made, measurement: measurementOf(record, { configuration, entry, where }) };
  };
  const journal = journalOf(head, space.records, evaluationOf);
  const wanted = configurationKey(entry.configuration);
  const names = new Set<string>();
  let isThere = false, faster = 0, records = 0;
  for await (const record of space.records) {
    const made = checkRecord(recordSchema, evaluationOf(record, records++), source);
    for (const { name } of record.measurements) names.add(name);
    if (made.kind !== "measurement") continue;
    const { configuration, cellsPerSecond, confidence95 } = made.measurement;
    const isWinner = configurationKey(configuration) === wanted;
    if (isWinner && isClose(cellsPerSecond, entry.result.cellsPerSecond)) isThere = true;
    else if (confidence95[0] > (entry.result.confidence95?.[1] ?? Infinity)) faster++;
  }
  if (!isThere) {
    throw new ProfileError(
      `Cannot read ${source}: wanted a record with the configuration and the rate of the facet block's entry ` +
        `(${entry.result.cellsPerSecond} cells/s), found none: the file was changed`,
    );
  }
  return { profile, journal, records, notCarried: lossesOf(space, names, faster) };
}

/** A run's records, made of a space's as they are read; those that make none are left out. */
export function journalOf(
  head: RunRecord,
  records: RecordedSpace["records"],
  evaluationOf: (record: SpaceRecord, index: number) => JournalRecord | undefined,
): AsyncIterable<JournalRecord> {
  return {
    async *[Symbol.asyncIterator]() {
      yield head;
      let index = 0;
      for await (const record of records) {
        const made = evaluationOf(record, index++);
        if (made !== undefined) yield made;
      }
    },
  };
}

/** A profile of one entry, checked. */
export function profileOfEntry(
  { tool, createdAt, device, entry }: Record<"tool" | "createdAt" | "device" | "entry", unknown>,
  source: string,
): { profile: Profile; entry: ProfileEntry } {
  const head = { $schema: JSON_SCHEMA_NAME, schemaVersion: SCHEMA_VERSION, tool, createdAt, device };
  const profile = checkProfile({ ...head, entries: [entry] }, source);
  return { profile, entry: profile.entries[0]! };
}

function configurationOf(
  { parameters }: RecordedSpace,
  { values }: SpaceRecord,
  where: string,
): Configuration {
  const given = parameters.flatMap(({ name }, i) => values[i] === null ? [] : [[name, values[i]] as const]);
  const { own = [], share = [], besideGpu = [] } = Object.groupBy(given, ([name]) => {
    if (SHARE_PARAMETERS.some((other) => other === name)) return "share";
    return name.startsWith(BESIDE_GPU) ? "besideGpu" : "own";
  });
  const traversing = (named: typeof given, prefix = "") => {
    const values = named.map(([name, value]) => [name.slice(prefix.length), value]);
    const { traversal, ...parameters } = Object.fromEntries(values);
    return { traversal, parameters };
  };
  const cpu = besideGpu.length === 0 ? {} : { cpu: traversing(besideGpu, BESIDE_GPU) };
  const shares = { ...Object.fromEntries(share), ...cpu };
  return checkRecord(configurationSchema, { ...traversing(own), share: shares }, where);
}

function failureOf(record: SpaceRecord, where: string): { reason: FailureReason; message: string } {
  const told = measured(record, "failure_reason");
  const reason = (Object.keys(FAILURE_OF) as FailureReason[]).find((name) => name === told);
  // Kernel Tuner has one word for all that goes wrong while a kernel runs
  if (reason === undefined || (FAILURE_OF[reason] !== record.failure && record.failure !== "runtime")) {
    throw new ProfileError(
      `Cannot read ${where}: wanted the measurement failure_reason of a failure of kind ${record.failure}, ` +
        `found ${JSON.stringify(told) ?? "nothing"}`,
    );
  }
  return { reason, message: String(measured(record, "failure_message") ?? "") };
}

function measurementOf(
  record: SpaceRecord,
  { configuration, entry, where }: { configuration: Configuration; entry: ProfileEntry; where: string },
): Measurement {
  const { cellsPerSecond, confidence95, samples, ...verification } = checkRecord(ratesSchema, {
    cellsPerSecond: measured(record, "cells_per_second"),
    confidence95: measured(record, "confidence95"),
    samples: measured(record, "samples"),
    maxError: measured(record, "max_error"),
    bound: measured(record, "error_bound"),
    against: measured(record, "verified_against"),
  }, where);
  const timeMs = runTimeNs(entry.problem, cellsPerSecond) / 1e6;
  if (record.timeMs === null || !isClose(record.timeMs, timeMs)) {
    throw new ProfileError(
      `Cannot read ${where}: wanted the time ${timeMs} ms of its rate ${cellsPerSecond} cells/s, ` +
        `found ${record.timeMs === null ? "none" : `${record.timeMs} ms`}`,
    );
  }
  // 12 digits: more did not survive the change of the unit
  const compileNs = Number(((record.overheadMs.compile ?? 0) * 1e6).toPrecision(12));
  const spread = relativeSpread(samples);
  return { configuration, cellsPerSecond, confidence95, samples, spread, verification, compileNs };
}

function isClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= RATE_TOLERANCE * Math.abs(other);
}

/** When a record was made, in the journal's form. */
export function timeOf({ timestamp }: SpaceRecord, otherwise: string): string {
  const time = timestamp === null ? NaN : Date.parse(timestamp.replace(/^(\d{4}-\d\d-\d\d) /, "$1T"));
  return Number.isNaN(time) ? otherwise : new Date(time).toISOString();
}

/** Measurements that a journal has a place for. */
const KNOWN = [
  "time",
  "cells_per_second",
  "confidence95",
  "samples",
  "max_error",
  "error_bound",
  "verified_against",
  "failure_reason",
  "failure_message",
];

function lossesOf({ other }: RecordedSpace, measured: ReadonlySet<string>, faster: number): string[] {
  const names = [...measured].filter((name) => !KNOWN.includes(name)), fields = fieldsBeside(other);
  const what = `${formatPlural(faster, "record")} faster than the entry, which stays as it was`;
  return [
    ...(names.length > 0 ? [`measurements that a journal has no place for: ${names.join(", ")}`] : []),
    ...(fields.length > 0 ? [`fields beside the records: ${fields.join(", ")}`] : []),
    ...(faster > 0 ? [`${what}: tune or qualify to choose anew`] : []),
  ];
}

/** Names of the fields beside the records. */
export function fieldsBeside({ cacheHeader, t4Metadata }: RecordedSpace["other"]): string[] {
  return Object.keys({ ...cacheHeader, ...t4Metadata });
}
