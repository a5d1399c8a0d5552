/**
 * One result of a T4 file, checked and read.
 *
 * @module
 */
import { readTimes, wantTime } from "./kernel_tuner.ts";
import { checkNumbers, fault, fieldOf, type Fields, isObject, wantNumber, wantText } from "./read_json.ts";
import {
  type JsonValue,
  type Overhead,
  type ParameterValue,
  SPACE_FAILURES,
  type SpaceFailure,
  type SpaceMeasurement,
  type SpaceRecord,
} from "./recorded_space.ts";

/** Fields of T4's `times` with the parts of an evaluation's cost; the schema's own name of the first differs. */
export const TIMES_FIELDS: readonly (readonly [field: string, part: Overhead])[] = [
  ["compilation", "compile"],
  ["compilation_time", "compile"],
  ["benchmark", "benchmark"],
  ["framework", "framework"],
  ["search_algorithm", "search"],
  ["validation", "validation"],
];

/** Milliseconds of a unit, by the names that files use. */
const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1e3,
  seconds: 1e3,
  ms: 1,
  milliseconds: 1,
  us: 1e-3,
  "µs": 1e-3,
  microseconds: 1e-3,
  ns: 1e-6,
  nanoseconds: 1e-6,
};

/** The units, for messages. */
export const UNITS: string = Object.keys(UNIT_MS).join(", ");

/** Milliseconds of a unit; undefined of one that is not known. */
export function unitMs(unit: string): number | undefined {
  const name = unit.toLowerCase();
  return Object.hasOwn(UNIT_MS, name) ? UNIT_MS[name] : undefined;
}

/** What the results have that no record has a place for. */
export interface T4Notes {
  readonly unknownFields: Set<string>;
  /** What was dropped or changed, and how often. */
  readonly dropped: Map<string, number>;
}

/** A result; its values stand beside their names until all names are known. */
export interface ResultReading {
  readonly configuration: ReadonlyMap<string, ParameterValue>;
  /** Undefined where the result does not say. */
  readonly objectives: readonly string[] | undefined;
  readonly record: Omit<SpaceRecord, "values">;
}

interface ResultContext {
  readonly source: string;
  /** `results[3]`. */
  readonly path: string;
  /** Milliseconds of the unit of `times`. */
  readonly timesUnitMs: number;
  readonly notes: T4Notes;
}

const FIELDS = new Set([
  "timestamp",
  "configuration",
  "objectives",
  "times",
  "invalidity",
  "correctness",
  "measurements",
  "cache_key",
]);

/** Reads one result. */
export function readResult(result: unknown, context: ResultContext): ResultReading {
  const { source, path, notes } = context;
  if (!isObject(result)) throw fault(source, path, "an object", result);
  for (const name of Object.keys(result)) if (!FIELDS.has(name)) notes.unknownFields.add(name.slice(0, 60));
  const failure = readInvalidity(fieldOf(result, "invalidity"), context);
  const correctness = wantNumber(fieldOf(result, "correctness"), "a number >= 0", {
    source,
    path: `${path}.correctness`,
  });
  const times = fieldOf(result, "times");
  if (!isObject(times)) throw fault(source, `${path}.times`, "an object", times);
  const measurements = readMeasurements(fieldOf(result, "measurements"), context);
  const time = measurements.find(({ name }) => name === "time")?.value;
  // Kernel Tuner writes "" for the time of a configuration that failed
  const isTimed = failure === null && time !== undefined && time !== null && time !== "";
  const timestamp = fieldOf(result, "timestamp");
  const key = fieldOf(result, "cache_key");
  return {
    configuration: readConfiguration(fieldOf(result, "configuration"), context),
    objectives: readObjectives(fieldOf(result, "objectives"), context),
    record: {
      failure,
      timeMs: isTimed ? wantTime(time, { source, path: `${path}.measurements: the time` }) : null,
      timesMs: readRuntimes(times, context),
      overheadMs: readOverheads(times, context),
      measurements,
      timestamp: timestamp === undefined || timestamp === null
        ? null
        : wantText(timestamp, { source, path: `${path}.timestamp` }),
      correctness,
      ...(key === undefined ? {} : { key: wantText(key, { source, path: `${path}.cache_key` }) }),
    },
  };
}

function readInvalidity(value: unknown, { source, path }: ResultContext): SpaceFailure | null {
  if (value === "correct") return null;
  const failure = SPACE_FAILURES.find((name) => name === value);
  if (failure === undefined) {
    throw fault(source, `${path}.invalidity`, `one of correct, ${SPACE_FAILURES.join(", ")}`, value);
  }
  return failure;
}

function readConfiguration(value: unknown, { source, path }: ResultContext): Map<string, ParameterValue> {
  if (!isObject(value)) throw fault(source, `${path}.configuration`, "values by name", value);
  const entries = Object.entries(value).map(([name, value]): [string, ParameterValue] => {
    const isValue = value === null || typeof value === "boolean" || typeof value === "string" ||
      (typeof value === "number" && Number.isFinite(value));
    if (!isValue) {
      const wanted = "a number, a text, true, false or null";
      throw fault(source, `${path}.configuration.${name.slice(0, 80)}`, wanted, value);
    }
    return [name, value as ParameterValue];
  });
  return new Map(entries);
}

function readObjectives(value: unknown, { source, path }: ResultContext): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const isRight = Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string");
  if (!isRight) throw fault(source, `${path}.objectives`, "a list of names", value);
  return value;
}

function readMeasurements(value: unknown, { source, path, notes }: ResultContext): SpaceMeasurement[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw fault(source, `${path}.measurements`, "a list", value);
  const seen = new Set<string>();
  return value.map((item: unknown, i) => {
    const at = `${path}.measurements[${i}]`;
    if (!isObject(item)) throw fault(source, at, "an object", item);
    const name = wantText(fieldOf(item, "name"), { source, path: `${at}.name` });
    if (seen.has(name)) throw fault(source, `${at}.name`, "a name of its own", name);
    seen.add(name);
    const unit = fieldOf(item, "unit") === undefined
      ? ""
      : wantText(fieldOf(item, "unit"), { source, path: `${at}.unit` });
    const measured = fieldOf(item, "value");
    checkNumbers(measured, { source, path: `${at}.value` });
    if (name !== "time" || typeof measured !== "number" || unit === "") {
      return { name, value: (measured ?? null) as JsonValue, unit };
    }
    const factor = unitMs(unit);
    if (factor === undefined) throw fault(source, `${at}.unit`, "a unit of time as ms", unit);
    if (factor !== 1) count(notes, `the measured time in ${unit} was read as milliseconds`);
    return { name, value: measured * factor, unit: "ms" };
  });
}

function readOverheads(times: Fields, context: ResultContext): Partial<Record<Overhead, number>> {
  const { source, path, timesUnitMs, notes } = context;
  const overheadMs: Partial<Record<Overhead, number>> = {};
  const known = new Set(TIMES_FIELDS.map(([field]) => field));
  for (const [field, part] of TIMES_FIELDS) {
    const value = readOverhead(fieldOf(times, field), {
      source,
      path: `${path}.times.${field}`,
      timesUnitMs,
    });
    if (value === undefined) continue;
    if (part in overheadMs) throw fault(source, `${path}.times.${field}`, "one time of compilation", value);
    if (field === "compilation_time") count(notes, "times.compilation_time was read as times.compilation");
    overheadMs[part] = value;
  }
  for (const name of Object.keys(times)) {
    if (!known.has(name) && name !== "runtimes") notes.unknownFields.add(`times.${name.slice(0, 60)}`);
  }
  return overheadMs;
}

function readRuntimes(times: Fields, { source, path, timesUnitMs }: ResultContext): number[] {
  const runs = readTimes(fieldOf(times, "runtimes"), { source, path: `${path}.times.runtimes` });
  return timesUnitMs === 1 ? runs : runs.map((time) => time * timesUnitMs);
}

function count({ dropped }: T4Notes, what: string): void {
  dropped.set(what, (dropped.get(what) ?? 0) + 1);
}

/** A number of T4's `times`, in ms; undefined where it is missing. */
function readOverhead(
  value: unknown,
  { source, path, timesUnitMs }: { source: string; path: string; timesUnitMs: number },
): number | undefined {
  if (value === undefined || value === null) return undefined;
  return wantNumber(value, "a time >= 0", { source, path }) * timesUnitMs;
}
