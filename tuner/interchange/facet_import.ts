import * as z from "npm:zod@^4.6.0";
import type { Configuration, FailureReason, Measurement } from "../configuration.ts";
import { relativeSpread } from "../measuring/statistics.ts";
import { checkRecord } from "../profile/check_record.ts";
import { configurationKey } from "../configuration_key.ts";
import { formatPlural } from "../format.ts";
import { JOURNAL_VERSION, type JournalRecord, recordSchema } from "../profile/journal_format.ts";
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
  /** The run first, then every evaluation. */
  readonly journal: readonly JournalRecord[];
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
export function importFacetSpace(space: RecordedSpace, { source, run }: ImportOptions): FacetImport {
  const block = checkRecord(blockSchema, space.facet, `${source}: the facet block`);
  const { profile, entry } = profileOfEntry(block, `${source}: the facet block`);
  const { tool, device, createdAt } = profile;
  const journal: JournalRecord[] = [{
    kind: "run",
    version: JOURNAL_VERSION,
    run,
    startedAt: createdAt,
    tool,
    device,
    problem: entry.problem,
    kernelSource: block.kernelSource ?? "",
  }];
  const wanted = configurationKey(entry.configuration);
  let isThere = false, faster = 0;
  space.records.forEach((record, i) => {
    const where = `${source}: record ${i + 1}`;
    const configuration = configurationOf(space, record, where);
    const at = timeOf(record, createdAt);
    if (record.failure !== null) {
      journal.push({ kind: "failure", run, at, configuration, failure: failureOf(record, where) });
      return;
    }
    const measurement = measurementOf(record, { configuration, entry, where });
    journal.push({ kind: "measurement", run, at, measurement });
    const isWinner = configurationKey(configuration) === wanted;
    if (isWinner && isClose(measurement.cellsPerSecond, entry.result.cellsPerSecond)) isThere = true;
    else if (measurement.confidence95[0] > (entry.result.confidence95?.[1] ?? Infinity)) faster++;
  });
  if (!isThere) {
    throw new ProfileError(
      `Cannot read ${source}: wanted a record with the configuration and the rate of the facet block's entry ` +
        `(${entry.result.cellsPerSecond} cells/s), found none: the file was changed`,
    );
  }
  for (const record of journal) checkRecord(recordSchema, record, source);
  return { profile, journal, notCarried: lossesOf(space, faster) };
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

/** Names of other measurements than the known ones, and of the fields beside the records. */
export function beside({ records, other }: RecordedSpace, known: readonly string[]) {
  const names = new Set(records.flatMap(({ measurements }) => measurements.map(({ name }) => name)));
  for (const name of known) names.delete(name);
  return { names: [...names], fields: Object.keys({ ...other.cacheHeader, ...other.t4Metadata }) };
}

function lossesOf(space: RecordedSpace, faster: number): string[] {
  const { names, fields } = beside(space, KNOWN);
  const what = `${formatPlural(faster, "record")} faster than the entry, which stays as it was`;
  return [
    ...(names.length > 0 ? [`measurements that a journal has no place for: ${names.join(", ")}`] : []),
    ...(fields.length > 0 ? [`fields beside the records: ${fields.join(", ")}`] : []),
    ...(faster > 0 ? [`${what}: tune or qualify to choose anew`] : []),
  ];
}
