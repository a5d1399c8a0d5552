/**
 * One result of a T4 file, checked and read.
 *
 * @module
 */
import * as z from "zod";
import { checkRecord } from "../profile/check_record.ts";
import {
  costSchema,
  costsOf,
  fault,
  nameSchema,
  parameterValueSchema,
  type Remarks,
  timesSchema,
  wantFinite,
  wantTime,
} from "./read_json.ts";
import {
  type Overhead,
  type ParameterValue,
  SPACE_FAILURES,
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

const PER_MEASUREMENT = { name: nameSchema, value: z.unknown(), unit: nameSchema.nullish() };

const TIMES = {
  ...Object.fromEntries(TIMES_FIELDS.map(([field]) => [field, costSchema])),
  runtimes: timesSchema,
};

const RESULT = {
  timestamp: nameSchema.nullish(),
  configuration: z.record(z.string(), parameterValueSchema, "values by name"),
  objectives: z.array(nameSchema, "a list of names").min(1, "a list of names").optional(),
  times: z.looseObject(TIMES),
  invalidity: z.enum(["correct", ...SPACE_FAILURES], `one of correct, ${SPACE_FAILURES.join(", ")}`),
  correctness: z.number("a number >= 0").min(0, "a number >= 0").max(1e20, "a number <= 1e20"),
  measurements: z.array(z.looseObject(PER_MEASUREMENT), "a list").default([]),
  cache_key: nameSchema.optional(),
};

const resultSchema = z.looseObject(RESULT);

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

/** Checks one result. */
export function readResult(data: unknown, context: ResultContext): ResultReading {
  const { where, timesUnitMs, remarks } = context;
  const result = checkRecord(resultSchema, data, where);
  const { configuration, objectives, times, invalidity, timestamp, correctness, cache_key: key } = result;
  noteStrays(result, RESULT, "results[].", context);
  noteStrays(times, TIMES, "results[].times.", context);
  if (Object.values(configuration).includes(null)) {
    remarks.count("result", "with a parameter that is null: read as one that does not apply");
  }
  if (typeof times.compilation_time === "number") {
    if (typeof times.compilation === "number") {
      throw fault(`${where}: times`, "one time of compilation", times);
    }
    remarks.count("time", "named times.compilation_time: read as times.compilation");
  }
  const failure = invalidity === "correct" ? null : invalidity;
  const measurements = readMeasurements(result.measurements, context);
  const time = measurements.find(({ name }) => name === "time")?.value ?? null;
  // Kernel Tuner writes "" for the time of a configuration that failed
  const isTimed = failure === null && time !== null && time !== "";
  return {
    configuration: new Map(Object.entries(configuration)),
    objectives,
    record: {
      failure,
      timeMs: isTimed ? wantTime(time, `${where}: measurements: the time`) : null,
      timesMs: times.runtimes.map((time) => time * timesUnitMs),
      overheadMs: costsOf(times, TIMES_FIELDS, timesUnitMs),
      measurements,
      timestamp: timestamp ?? null,
      correctness,
      ...(key === undefined ? {} : { key }),
    },
  };
}

/** Notes the fields that no record has a place for. */
function noteStrays(fields: object, known: object, prefix: string, { strays }: ResultContext): void {
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(known, name)) strays.add(`${prefix}${name.slice(0, 60)}`);
  }
}

function readMeasurements(
  list: z.infer<typeof resultSchema>["measurements"],
  { where, remarks }: ResultContext,
): SpaceMeasurement[] {
  return list.map(({ name, value, unit: given }, i) => {
    const at = `${where}: measurements[${i}]`, unit = given ?? "";
    if (list.findIndex((other) => other.name === name) < i) {
      throw fault(`${at}.name`, "a name of its own", name);
    }
    const measured = wantFinite(value, `${at}.value`);
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
