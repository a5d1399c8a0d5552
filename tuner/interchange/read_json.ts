/**
 * From bytes to data: gunzip, UTF-8, JSON with Python's additions. Files are data; nothing in them is evaluated.
 *
 * @module
 */
import { gunzipSync } from "node:zlib";
import * as z from "zod";
import { describeValue, firstLine } from "../profile/check_record.ts";
import { jsonFault } from "../profile/json_fault.ts";
import { ProfileError } from "../profile/profile_error.ts";
import type { ParameterValue } from "./recorded_space.ts";

/** Most that a file may hold once unpacked, in bytes; a text of V8 cannot be longer. */
const MAX_BYTES = 500_000_000;

/** A parameter's value in a file. */
export const parameterValueSchema: z.ZodType<ParameterValue> = z.union(
  [z.number(), z.string().max(1000), z.boolean(), z.null()],
  { error: "a number, a text, true, false or null" },
);

/**
 * The error of a file.
 *
 * @param where the file and the place in it, as `a.json: results[3]`
 */
export function fault(where: string, wanted: string, found: unknown): ProfileError {
  return new ProfileError(`Cannot read ${where}: wanted ${wanted}, found ${describeValue(found)}`);
}

/**
 * The bytes of a file, unpacked where they are gzipped.
 *
 * @param source what to call the file in errors
 * @throws {ProfileError} in one line, if gzip's data are damaged or too large
 */
export function unpack(bytes: Uint8Array, source: string): Uint8Array {
  let plain = bytes;
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    try {
      plain = gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
    } catch (error) {
      throw new ProfileError(`Cannot read ${source}: wanted whole gzip data, found: ${firstLine(error)}`);
    }
  }
  if (plain.length > MAX_BYTES) {
    throw new ProfileError(`Cannot read ${source}: wanted at most ${MAX_BYTES} bytes, found ${plain.length}`);
  }
  return plain;
}

/** The text of a file, plain or gzipped. */
export function readText(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(unpack(bytes, source));
  } catch (error) {
    if (error instanceof ProfileError) throw error;
    throw new ProfileError(`Cannot read ${source}: wanted text in UTF-8 or gzip, found other bytes`);
  }
}

/** A text, or one of the words that Python writes for numbers that JSON does not have. */
const PYTHON_NUMBERS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b/gs;

/**
 * Reads JSON. Python's `NaN`, `Infinity` and `-Infinity`, which JSON does not have, are read as null.
 *
 * @param source what to call the file in errors
 * @returns the data, and what is to be said about such numbers
 * @throws {ProfileError} in one line, if it is not JSON
 */
export function parseJson(text: string, source: string): { data: unknown; notes: readonly string[] } {
  let notNumbers = 0;
  try {
    return { data: JSON.parse(text), notes: [] };
  } catch (error) {
    const mended = text.replace(PYTHON_NUMBERS, (word) => {
      if (word.startsWith('"')) return word;
      notNumbers++;
      return "null";
    });
    try {
      if (notNumbers === 0) throw error;
      return {
        data: JSON.parse(mended),
        notes: [`${countOf(notNumbers, "value")} of NaN or Infinity: read as nothing`],
      };
    } catch {
      throw new ProfileError(`Cannot read ${source}: it is not JSON: ${jsonFault(mended)}`);
    }
  }
}

/** A number of things: `1 record`, `2 records`. */
export function countOf(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/** An object that came from JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object, not a list. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field of its own; what is inherited does not count. */
export function fieldOf(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** A number that a file has to have. */
export function wantNumber(value: unknown, where: string, wanted = "a time >= 0"): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) throw fault(where, wanted, value);
  return value;
}

/** A kernel's time. */
export function wantTime(value: unknown, where: string): number {
  const time = wantNumber(value, where, "a time above 0");
  if (time === 0) throw fault(where, "a time above 0", value);
  return time;
}

/** The times of single runs; none where the field is missing. */
export function wantTimes(value: unknown, where: string): number[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw fault(where, "a list of times", value);
  return value.map((time, i) => wantNumber(time, `${where}[${i}]`));
}

/** A text that a file has to have, not longer than anything of use. */
export function wantText(value: unknown, where: string): string {
  if (typeof value === "string" && value.length <= 4000) return value;
  throw fault(where, "a text of at most 4000 characters", value);
}

/** A text that a file may have. */
export function textOrNull(value: unknown, where: string): string | null {
  return value === undefined || value === null ? null : wantText(value, where);
}

/** No number too large for JSON's readers to agree on, however deep. */
export function checkNumbers(value: unknown, where: string): void {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw fault(where, "a finite number", String(value));
  }
  if (typeof value !== "object" || value === null) return;
  for (const item of Object.values(value)) checkNumbers(item, where);
}
