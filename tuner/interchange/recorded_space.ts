/**
 * A recorded space: what a tuner measured of one kernel on one device, whoever the tuner was. `t4.ts` reads and writes
 * it as T4 results, `kernel_tuner.ts` as Kernel Tuner's cache files; `read_space.ts` finds out which a file is.
 *
 * Values lie beside their parameter by position, not by name: a name from a file is never a key of an object.
 * Times are milliseconds, as in both formats.
 *
 * @module
 */
/** Anything that JSON can say. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** A parameter's value; null where the parameter has no meaning for this configuration (Python's `None`). */
export type ParameterValue = number | string | boolean | null;

/**
 * How a parameter's values are written as numbers, where numbers are wanted: values that are numbers stay, and texts of
 * numbers, as KTT writes them, become these; if one is neither, all become their places in the list. Null, which does not apply, has no number.
 *
 * @returns the places; undefined where all values are numbers
 */
export function placesOf(values: readonly ParameterValue[]): ReadonlyMap<ParameterValue, number> | undefined {
  if (values.every((value) => value === null || typeof value === "number")) return undefined;
  const given = values.filter((value) => value !== null);
  const areNumbers = given.every((value) => `${Number(value)}` === value);
  return new Map(given.map((value, place) => [value, areNumbers ? Number(value) : place]));
}

export interface SpaceParameter {
  readonly name: string;
  /** The values to try, where the format has such a list (T4 has none), then others that were tried. All different. */
  readonly values: readonly ParameterValue[];
}

/** Why a configuration has no time, in T4's words. */
export const SPACE_FAILURES = ["timeout", "compile", "runtime", "correctness", "constraints"] as const;
export type SpaceFailure = typeof SPACE_FAILURES[number];

/** A part of an evaluation's cost beside the kernel's own time. */
export type Overhead = "compile" | "benchmark" | "framework" | "search" | "validation";

/** Something measured: `{ name: "time", value: 1.25, unit: "ms" }`. */
export interface SpaceMeasurement {
  readonly name: string;
  readonly value: JsonValue;
  /** Empty where the format does not say. */
  readonly unit: string;
}

/** One evaluated configuration. */
export interface SpaceRecord {
  /** The value of each of the space's parameters, in their order. */
  readonly values: readonly ParameterValue[];
  /** Why there is no time; null where the configuration ran and its result was right. */
  readonly failure: SpaceFailure | null;
  /**
   * Time of one run, ms: what the tuner took as the result (Kernel Tuner: the mean of its runs). Null where it
   * failed, and where it was not timed because the objective is another.
   */
  readonly timeMs: number | null;
  /** Time of each run, ms; empty where not kept. */
  readonly timesMs: readonly number[];
  /** Cost of the evaluation by part, ms; a part that was not kept is missing. */
  readonly overheadMs: Readonly<Partial<Record<Overhead, number>>>;
  /** Everything that was measured, the time included, as the file has it; names differ. */
  readonly measurements: readonly SpaceMeasurement[];
  /** When, as the file writes it; null where it does not say. */
  readonly timestamp: string | null;
  /** How right the result is, as T4 has it: 1 where nothing else is known. */
  readonly correctness: number;
  /** Kernel Tuner's key, where it isn't what its values give (`1.0` is read as 1). */
  readonly key?: string;
}

/** What a tuner measured of one kernel on one device. */
export interface RecordedSpace {
  /** The kernel's name; null where the file does not say (T4 has no place for it). */
  readonly kernel: string | null;
  /** The device's name; null where the file does not say. */
  readonly device: string | null;
  /** The problem's size, as a number, a list or a text; null where the file does not say. */
  readonly problemSize: JsonValue;
  /** What was tuned for; `["time"]` unless the file says otherwise. */
  readonly objectives: readonly string[];
  /** The kernel's parameters, in the order of the records' values. */
  readonly parameters: readonly SpaceParameter[];
  /** In the order of the file, each configuration once; those of a file are read anew each time. */
  readonly records: Iterable<SpaceRecord> & { readonly length: number };
  /** What Facet adds about its own spaces: device, problem, tool; null in files of other tools. Unchecked. */
  readonly facet: JsonValue;
  /** Other fields beside the records, by format. Carried through, never interpreted. */
  readonly other: { readonly cacheHeader: JsonObject; readonly t4Metadata: JsonObject };
}

/** Reads the records of a file. */
export interface SpaceReader {
  /**
   * Reads a record, by its index.
   *
   * @throws {ProfileError} in one line: where in the file, what was wanted, what was found
   */
  read(index: number): SpaceRecord;
  /**
   * What there is beside the records, once all were read (from then on their values are those of all parameters); and what
   * could not be carried over, or was mended (a record cut off at the end), one line each.
   */
  end(): { readonly space: Omit<RecordedSpace, "records">; readonly notes: readonly string[] };
}

/** What a format makes of a space: the text before its records, of each of them, and after them. */
export interface SpaceWriter {
  readonly head: string;
  textOf(record: SpaceRecord): string;
  readonly end: string;
  /** What of the space is not in the text, one line each; once all records were written. */
  notCarried(): readonly string[];
}
