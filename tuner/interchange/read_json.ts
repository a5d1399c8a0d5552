import * as z from "npm:zod@4.6.7";
import { describeValue, formatPlural } from "../format.ts";
import { parseJson } from "../profile/check_record.ts";
import type { TextPlace } from "../profile/json_fault.ts";
import { ProfileError } from "../profile/profile_error.ts";
import type { JsonObject, JsonValue, Overhead, ParameterValue } from "./recorded_space.ts";

/** A name in a file, or another short text. */
export const nameSchema = z.string("a text").max(4000, "a text of at most 4000 characters")
  .regex(/^\P{Cc}*$/u, "a text without control characters");

/** An object without a meaning here. */
export const objectSchema = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "an object",
);

export const parameterValueSchema = z.custom<ParameterValue>((value) => {
  if (typeof value === "number") return value === 0 || (Math.abs(value) >= 1e-15 && Math.abs(value) <= 1e15);
  if (typeof value === "string") return value.length <= 1000 && !/\p{Cc}/u.test(value);
  return typeof value === "boolean" || value === null;
}, "a number from 1e-15 to 1e15 of either sign, 0, a short text, true, false or null");

/**
 * The error of a file.
 *
 * @param where the file and the place in it, as `a.json: results[3]`
 */
export function fault(where: string, wanted: string, found: unknown): ProfileError {
  return new ProfileError(`Cannot read ${where}: wanted ${wanted}, found ${describeValue(found)}`);
}

/** What a reader or a writer left out or mended. */
export class Remarks {
  #counts = new Map<string, { readonly thing: string; readonly first: string; count: number }>();

  /** Counts a `thing` of which `what` holds, as a `record` `without a time`; the first may be named. */
  count(thing: string, what: string, where?: string): void {
    const known = this.#counts.get(what);
    if (known !== undefined) known.count++;
    else this.#counts.set(what, { thing, first: where ? ` (first: ${where.slice(0, 120)})` : "", count: 1 });
  }

  /** One line each, as `2 records without a time (first: x=1)`. */
  lines(): string[] {
    return [...this.#counts]
      .map(([what, { thing, first, count }]) => `${formatPlural(count, thing)} ${what}${first}`);
  }
}

/** A text in quotes, or what Python writes and JSON does not have. */
const PYTHON = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b/gs;

/**
 * Reads JSON. Python's `NaN`, `Infinity` and `-Infinity`, which JSON does not have, are read as null.
 *
 * @param where what to call it in errors
 * @throws {ProfileError} in one line, if it is not JSON
 */
export function parsePython(
  text: string,
  where: string,
  remarks: Remarks,
  startOf?: () => TextPlace,
): unknown {
  if (!/NaN|Infinity/.test(text)) return parseJson(text, where, startOf);
  const plain = text.replace(PYTHON, (found) => {
    if (found.startsWith('"')) return found;
    remarks.count("value", "of NaN or Infinity: read as nothing");
    return "null";
  });
  return parseJson(plain, where, startOf);
}

const COST = "a time from 0 to 1e20";

/** What a part of an evaluation cost; nothing that anybody measures takes longer. */
const costSchema = z.number(COST).min(0, COST).max(1e20, COST).nullish();

export function costSchemas(fields: CostFields): Record<string, typeof costSchema> {
  return Object.fromEntries(fields.map(([field]) => [field, costSchema]));
}

/** Names of fields, each with the part of an evaluation's cost that it has. */
export type CostFields = readonly (readonly [field: string, part: Overhead])[];

const TIME = "a time from 1e-9 to 1e15 ms";

/** A kernel's time in ms. Its inverse, and what a run of all cells takes, are numbers too. */
const timeSchema = z.number(TIME).min(1e-9, TIME).max(1e15, TIME);

const runSchema = z.custom<number>(
  (time) => time === 0 || (typeof time === "number" && time >= 1e-9 && time <= 1e15),
  `0 or ${TIME}`,
);

/** The times of single runs in ms. */
export const timesSchema = z.array(runSchema, "a list of times").nullish();

/** Whether a time is the result of these runs. A tool may leave out some, or take off an overhead: a factor of 2 is none. */
export function isOfRuns(timeMs: number, timesMs: readonly number[]): boolean {
  return timesMs.some((known) => known <= 2 * timeMs) && timesMs.some((known) => timeMs <= 2 * known);
}

/** Throws where a time is not the result of the runs beside it: one of them has another unit, or was changed. */
export function checkRuns(timeMs: number | null, timesMs: readonly number[], where: string): void {
  if (timeMs === null || timesMs.length === 0 || isOfRuns(timeMs, timesMs)) return;
  const [low, high] = [timesMs.toSorted((a, b) => a - b)].flatMap((all) => [all[0], all.at(-1)]);
  throw fault(where, `${low} to ${high} ms, the times of its runs`, timeMs);
}

/** A number as Python writes a float, 2 as 2.0: what is written as 2 its readers may take for no time. */
export function asFloat(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(asFloat);
  if (!Number.isInteger(value) || `${value}`.includes("e")) return value;
  return (JSON as unknown as { rawJSON(text: string): JsonValue }).rawJSON(`${value}.0`);
}

/** A kernel's time in ms that a file has to have. */
export function wantTime(value: unknown, where: string): number {
  const { data } = timeSchema.safeParse(value);
  if (data === undefined) throw fault(where, TIME, value);
  return data;
}

export function overheadOf(
  fields: Readonly<Record<string, unknown>>,
  names: CostFields,
  unitMs = 1,
): Partial<Record<Overhead, number>> {
  const costs: Partial<Record<Overhead, number>> = {};
  for (const [field, part] of names) {
    const value = fields[field];
    if (typeof value === "number") costs[part] = value * unitMs;
  }
  return costs;
}

/** A value without numbers too large for JSON's readers to agree on, however deep. */
export function wantFinite(value: unknown, where: string): JsonValue {
  if (value === Infinity || value === -Infinity) throw fault(where, "a finite number", String(value));
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) wantFinite(item, where);
  }
  return (value ?? null) as JsonValue;
}
