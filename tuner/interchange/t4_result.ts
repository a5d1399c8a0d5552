/**
 * One result of a T4 file, checked and read.
 *
 * @module
 */
import {
  fault,
  fieldOf,
  type Fields,
  isObject,
  type Remarks,
  textOrNull,
  wantFinite,
  wantNumber,
  wantText,
  wantTime,
  wantTimes,
  wantValue,
} from "./read_json.ts";
import {
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

/** Fields of T4's `times`. */
const KNOWN_TIMES = new Set(["runtimes", ...TIMES_FIELDS.map(([field]) => field)]);

/** Milliseconds of a unit, by the names that files use. */
const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1e3,
  seconds: 1e3,
  ms: 1,
  milliseconds: 1,
  // as Kernel Tuner spelt it until 2024
  miliseconds: 1,
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

/** Where a result is, and what its file says beside it. */
interface ResultContext {
  readonly where: string;
  readonly timesUnitMs: number;
  readonly remarks: Remarks;
  /** Takes the names of fields that no record has a place for. */
  readonly strays: Set<string>;
}

/** A result; its values stand beside their names until all names are known. */
interface ResultReading {
  readonly configuration: ReadonlyMap<string, ParameterValue>;
  readonly objectives: readonly string[] | undefined;
  readonly record: Omit<SpaceRecord, "values">;
}

/** Fields of a result. */
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

/** Checks one result. */
export function readResult(result: unknown, context: ResultContext): ResultReading {
  const { where, strays } = context;
  if (!isObject(result)) throw fault(where, "an object", result);
  for (const name of Object.keys(result)) {
    if (!FIELDS.has(name)) strays.add(`results[].${name.slice(0, 60)}`);
  }
  const failure = readInvalidity(fieldOf(result, "invalidity"), where);
  const times = fieldOf(result, "times");
  if (!isObject(times)) throw fault(`${where}.times`, "an object", times);
  const measurements = readMeasurements(fieldOf(result, "measurements"), context);
  const time = measurements.find(({ name }) => name === "time")?.value ?? null;
  // Kernel Tuner writes "" for the time of a configuration that failed
  const isTimed = failure === null && time !== null && time !== "";
  const key = fieldOf(result, "cache_key");
  return {
    configuration: readConfiguration(fieldOf(result, "configuration"), context),
    objectives: readObjectives(fieldOf(result, "objectives"), where),
    record: {
      failure,
      timeMs: isTimed ? wantTime(time, `${where}.measurements: the time`) : null,
      ...readTimes(times, context),
      measurements,
      timestamp: textOrNull(fieldOf(result, "timestamp"), `${where}.timestamp`),
      correctness: wantNumber(fieldOf(result, "correctness"), `${where}.correctness`, "a number >= 0"),
      ...(key === undefined ? {} : { key: wantText(key, `${where}.cache_key`) }),
    },
  };
}

function readInvalidity(value: unknown, where: string): SpaceFailure | null {
  if (value === "correct") return null;
  const failure = SPACE_FAILURES.find((name) => name === value);
  if (failure !== undefined) return failure;
  throw fault(`${where}.invalidity`, `one of correct, ${SPACE_FAILURES.join(", ")}`, value);
}

function readConfiguration(value: unknown, { where, remarks }: ResultContext): Map<string, ParameterValue> {
  if (!isObject(value)) throw fault(`${where}.configuration`, "values by name", value);
  const read = new Map<string, ParameterValue>();
  for (const [name, given] of Object.entries(value)) {
    read.set(name, wantValue(given, `${where}.configuration.${name.slice(0, 80)}`));
    if (given === null) remarks.count("parameter", "that is null: read as one that does not apply");
  }
  return read;
}

function readObjectives(value: unknown, where: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const isRight = Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string");
  if (!isRight) throw fault(`${where}.objectives`, "a list of names", value);
  return value.map((name) => wantText(name, `${where}.objectives`));
}

function readMeasurements(value: unknown, { where, remarks }: ResultContext): SpaceMeasurement[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw fault(`${where}.measurements`, "a list", value);
  const seen = new Set<string>();
  return value.map((item: unknown, i) => {
    const at = `${where}.measurements[${i}]`;
    if (!isObject(item)) throw fault(at, "an object", item);
    const name = wantText(fieldOf(item, "name"), `${at}.name`);
    if (seen.has(name)) throw fault(`${at}.name`, "a name of its own", name);
    seen.add(name);
    const unit = wantText(fieldOf(item, "unit") ?? "", `${at}.unit`);
    const measured = wantFinite(fieldOf(item, "value"), `${at}.value`);
    if (name !== "time" || typeof measured !== "number") return { name, value: measured, unit };
    if (unit === "") {
      remarks.count("measured time", "without a unit: read as milliseconds");
      return { name, value: measured, unit };
    }
    const factor = unitMs(unit);
    if (factor === undefined) throw fault(`${at}.unit`, "a unit of time as ms", unit);
    if (factor !== 1) remarks.count("measured time", `in ${unit}: read as milliseconds`);
    return { name, value: measured * factor, unit: "ms" };
  });
}

/** What an evaluation cost, and the times of its runs. */
function readTimes(
  times: Fields,
  { where, timesUnitMs, remarks, strays }: ResultContext,
): Pick<SpaceRecord, "overheadMs" | "timesMs"> {
  const overheadMs: Partial<Record<Overhead, number>> = {};
  for (const [field, part] of TIMES_FIELDS) {
    const value = fieldOf(times, field) ?? null, at = `${where}.times.${field}`;
    if (value === null) continue;
    if (part in overheadMs) throw fault(at, "one time of compilation", value);
    if (field === "compilation_time") {
      remarks.count("time", "named times.compilation_time: read as times.compilation");
    }
    overheadMs[part] = wantNumber(value, at) * timesUnitMs;
  }
  for (const name of Object.keys(times)) {
    if (!KNOWN_TIMES.has(name)) strays.add(`results[].times.${name.slice(0, 60)}`);
  }
  return {
    overheadMs,
    timesMs: wantTimes(fieldOf(times, "runtimes"), `${where}.times.runtimes`, timesUnitMs),
  };
}
