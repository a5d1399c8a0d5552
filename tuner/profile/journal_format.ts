/**
 * The journal: every measurement as it is made, so that nothing is lost. JSON Lines, beside the profile. Each
 * line holds one record and the CRC-32 of the record's text, and is on disk before the next measurement begins:
 *
 *     {"crc32":"8c5b1f20","record":{"kind":"run","run":"…","startedAt":"…","tool":{…},"device":{…},…}}
 *     {"crc32":"01d6a4e3","record":{"kind":"measurement","run":"…","at":"…","measurement":{…}}}
 *
 * A journal may hold many runs: each begins with a record of kind `run` that says under what it measures, and
 * everything measured names its run. So a damaged line costs itself alone.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import * as z from "npm:zod@4.6.7";
import type { Configuration, Failure, Measurement } from "../configuration.ts";
import { matchSchema, parseJson } from "./check_record.ts";
import { reasonOf } from "./profile_error.ts";
import { configurationSchema, deviceSchema, problemSchema, verificationSchema } from "./schema.ts";

/** Version of the format; other versions' lines are reported as damaged. */
export const JOURNAL_VERSION = 1;

/** Longest message of a failure; compilers can be wordy. */
export const MAX_MESSAGE = 4000;

/** A rate, time or error: 0, or a number whose inverse is one too. */
export const quantitySchema: z.ZodType<number> = z.number("a number").min(0, "a number >= 0")
  .max(1e30, "a number <= 1e30").refine((value) => value === 0 || value >= 1e-30, "0 or a number >= 1e-30");

/** The same above 0. */
export const rateSchema: z.ZodType<number> = quantitySchema.refine((rate) => rate > 0, "a rate above 0");

const text = z.string().max(MAX_MESSAGE);
const time = z.iso.datetime();

const header = z.strictObject({
  tool: z.strictObject({ name: text, version: text }),
  device: deviceSchema,
  problem: problemSchema,
  /** Hashes of the kernels' source, so that rates of older kernels are not taken for those of new ones. */
  kernelSource: text,
  /** The GPU's driver; missing where it is unknown. */
  driver: text.optional(),
});

const run = z.strictObject({
  kind: z.literal("run"),
  version: z.literal(JOURNAL_VERSION),
  /** What the run's other records call it. */
  run: text.min(1),
  startedAt: time,
  ...header.shape,
});

const evaluation = {
  run: text,
  at: time,
  /** Host time of the whole evaluation, compiling included; missing where it was not kept. */
  evaluationNs: quantitySchema.optional(),
};

const measured: z.ZodType<Measurement> = z.strictObject({
  configuration: configurationSchema,
  cellsPerSecond: rateSchema,
  confidence95: z.tuple([quantitySchema, quantitySchema]),
  samples: z.array(quantitySchema),
  spread: quantitySchema,
  verification: verificationSchema,
  compileNs: quantitySchema,
  clock: quantitySchema.optional(),
});

const failed: z.ZodType<Failure> = z.strictObject({
  reason: z.enum(["compile", "limits", "incorrect", "timeout", "device-lost", "out-of-memory"]),
  message: text,
});

const measurement = z.strictObject({ kind: z.literal("measurement"), ...evaluation, measurement: measured });

const failure = z.strictObject({
  kind: z.literal("failure"),
  ...evaluation,
  configuration: configurationSchema,
  failure: failed,
});

/** {@linkcode JournalRecord} as JSON. */
export const recordSchema = z.discriminatedUnion("kind", [run, measurement, failure]);

/** What a run measures, and on what. What was measured under another header does not count for it. */
export type JournalHeader = Readonly<z.infer<typeof header>>;
/** The first record of a run. */
export type RunRecord = Readonly<z.infer<typeof run>>;
/** A rate with its evidence. */
export type MeasurementRecord = Readonly<z.infer<typeof measurement>>;
/** A configuration that has no rate. */
export type FailureRecord = Readonly<z.infer<typeof failure>>;
export type JournalRecord = RunRecord | MeasurementRecord | FailureRecord;

/** What an evaluation was of, whether or not it has a rate. */
export function configurationIn(
  record: Pick<MeasurementRecord, "kind" | "measurement"> | Pick<FailureRecord, "kind" | "configuration">,
): Configuration {
  return record.kind === "failure" ? record.configuration : record.measurement.configuration;
}

export interface JournalContent {
  /** Every whole record, in order. Those that were measured name a run that is among them. */
  readonly records: readonly JournalRecord[];
  /** Lines that cannot be used, counted from 1, each with the reason in one line. */
  readonly damaged: readonly { readonly line: number; readonly reason: string }[];
  /** Whether the last line was cut off while it was written; it is dropped. */
  readonly torn: boolean;
}

/** Bytes of a line before its record. */
const HEAD_LENGTH = '{"crc32":"00000000","record":'.length;

const CLOSING_BRACE = 0x7d, LINE_END = 0x0a;

export function formatLine(record: JournalRecord): string {
  const json = JSON.stringify(record);
  return `{"crc32":"${checksum(json)}","record":${json}}\n`;
}

export function parseJournal(bytes: Uint8Array): JournalContent {
  const records: JournalRecord[] = [];
  const damaged: { line: number; reason: string }[] = [];
  const runs = new Set<string>();
  let line = 0, isLastUnread = false;
  for (const content of linesOf(bytes)) {
    line++;
    // left by an append that failed before its first byte
    if (content.length === 0) continue;
    const parsed = parseLine(content);
    isLastUnread = typeof parsed === "string";
    if (typeof parsed === "string") damaged.push({ line, reason: parsed });
    else if (parsed.kind === "run" || runs.has(parsed.run)) {
      if (parsed.kind === "run") runs.add(parsed.run);
      records.push(parsed);
    } else damaged.push({ line, reason: "the record that began its run is missing" });
  }
  const torn = isLastUnread && bytes.at(-1) !== LINE_END;
  if (torn) damaged.pop();
  return { records, damaged, torn };
}

/** The lines of a file without their ends, which may be those of Windows; the last need not have one. */
export function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(LINE_END, start);
    const end = found < 0 ? bytes.length : found;
    yield bytes.subarray(start, end > start && bytes[end - 1] === 0x0d ? end - 1 : end);
    start = end + 1;
  }
}

/** Whether a line has its checksum, whatever its record holds. */
export function hasChecksum(line: Uint8Array): boolean {
  return typeof recordOf(line) !== "string";
}

/** The JSON of a line's record, or why it has none. */
function recordOf(line: Uint8Array): Uint8Array | string {
  const head = Buffer.from(line.subarray(0, HEAD_LENGTH)).toString("latin1");
  const match = /^\{"crc32":"([0-9a-f]{8})","record":$/.exec(head);
  if (match === null || line.at(-1) !== CLOSING_BRACE) return "wanted a record with its checksum";
  const json = line.subarray(HEAD_LENGTH, -1);
  return checksum(json) === match[1] ? json : "the checksum differs";
}

/** The record of a line, or why it has none. */
function parseLine(line: Uint8Array): JournalRecord | string {
  const json = recordOf(line);
  if (typeof json === "string") return json;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(json);
    return matchSchema(recordSchema, parseJson(text, "the record"), "the record");
  } catch (error) {
    return reasonOf(error);
  }
}

function checksum(json: string | Uint8Array): string {
  return crc32(json).toString(16).padStart(8, "0");
}
