/**
 * From bytes to data: gunzip, UTF-8, JSON with Python's additions. Files are data; nothing in them is evaluated.
 *
 * @module
 */
import { gunzipSync } from "node:zlib";
import * as z from "zod";
import { describeValue, firstLine } from "../profile/check_record.ts";
import { ProfileError } from "../profile/profile_error.ts";
import type { ParameterValue } from "./recorded_space.ts";

/** Most that a file may hold once unpacked, in bytes; a text of V8 cannot be longer. */
const MAX_BYTES = 500_000_000;

/** A parameter's value in a file. */
export const parameterValueSchema: z.ZodType<ParameterValue> = z.union(
  [z.number(), z.string().max(1000), z.boolean(), z.null()],
  { error: "a number, a text, true, false or null" },
);

/** The error of a file: where in it, what was wanted, what was found. */
export function fault(source: string, where: string, wanted: string, found: unknown): ProfileError {
  return new ProfileError(`Cannot read ${source}: ${where}: wanted ${wanted}, found ${describeValue(found)}`);
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
 * @returns the data, and how many such numbers there were
 * @throws {SyntaxError} if it is no JSON
 */
export function parseJson(text: string): { data: unknown; notNumbers: number } {
  try {
    return { data: JSON.parse(text), notNumbers: 0 };
  } catch (error) {
    let notNumbers = 0;
    const mended = text.replace(PYTHON_NUMBERS, (word) => {
      if (word.startsWith('"')) return word;
      notNumbers++;
      return "null";
    });
    if (notNumbers === 0) throw error;
    return { data: JSON.parse(mended), notNumbers };
  }
}

/** A number of things: `1 record`, `2 records`. */
export function countOf(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/** What is said about numbers that JSON does not have. */
export function noteNotNumbers(count: number): string[] {
  return count === 0 ? [] : [`${countOf(count, "value")} of NaN or Infinity: read as nothing`];
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
export function wantNumber(value: unknown, wanted: string, where: { source: string; path: string }): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
    throw fault(where.source, where.path, wanted, value);
  }
  return value;
}

/** A text that a file has to have, not longer than anything of use. */
export function wantText(value: unknown, where: { source: string; path: string }): string {
  if (typeof value !== "string" || value.length > 4000) {
    throw fault(where.source, where.path, "a text of at most 4000 characters", value);
  }
  return value;
}

/** No number too large for JSON's readers to agree on, however deep. */
export function checkNumbers(value: unknown, { source, path }: { source: string; path: string }): void {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw fault(source, path, "a finite number", String(value));
  }
  if (typeof value !== "object" || value === null) return;
  for (const item of Object.values(value)) checkNumbers(item, { source, path });
}
