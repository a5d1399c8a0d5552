/**
 * Kernel Tuner's cache files, read. One JSON object: a header, and under `cache` a record for each configuration,
 * its key the values joined by commas (`read_cache`, `store_cache` of kernel_tuner/util.py, version 1.3):
 *
 *     {"device_name": "…", "kernel_name": "…", "problem_size": [4096, 4096], "tune_params_keys": ["x", "y"],
 *      "tune_params": {"x": [16, 32], "y": [1, 2]}, "objective": "time",
 *      "cache": {
 *     "16,1": {"x": 16, "y": 1, "time": 1.25, "times": [1.24, 1.26], "compile_time": 440.9, …},
 *     "16,2": {"x": 16, "y": 2, "time": "CompilationFailedConfig", …},
 *
 * Times are milliseconds. The two last braces may be missing (`open_cache.ts`).
 *
 * @module
 */
import * as z from "zod";
import { checkRecord } from "../profile/check_record.ts";
import { closeCache } from "./open_cache.ts";
import { pythonKey, sameKey } from "./python_text.ts";
import {
  checkNumbers,
  countOf,
  fault,
  fieldOf,
  type Fields,
  isObject,
  parameterValueSchema,
  parseJson,
  textOrNull,
  wantNumber,
  wantTime,
  wantTimes,
} from "./read_json.ts";
import type {
  JsonObject,
  JsonValue,
  Overhead,
  ParameterValue,
  SpaceFailure,
  SpaceMeasurement,
  SpaceParameter,
  SpaceReading,
  SpaceRecord,
} from "./recorded_space.ts";

/** What Kernel Tuner writes in place of a result, and the failure it stands for. */
export const ERROR_CONFIGS: Readonly<Record<string, SpaceFailure>> = {
  InvalidConfig: "constraints",
  CompilationFailedConfig: "compile",
  RuntimeFailedConfig: "runtime",
  ErrorConfig: "runtime",
};

/** A record's fields with the parts of its cost, ms. */
export const TIMING_FIELDS: readonly (readonly [field: string, part: Overhead])[] = [
  ["compile_time", "compile"],
  ["verification_time", "validation"],
  ["benchmark_time", "benchmark"],
  ["strategy_time", "search"],
  ["framework_time", "framework"],
];

/** Fields of a record that are no measurement, beside the parameters. */
export const RECORD_FIELDS: ReadonlySet<string> = new Set([
  ...TIMING_FIELDS.map(([field]) => field),
  "times",
  "timestamp",
]);

/** Kernel Tuner before 0.4 wrote this time, ms, for a configuration that failed. */
const FAILED_TIME = 1e20;

const text = z.string("a text").max(4000, "a text of at most 4000 characters");

const headerSchema = z.looseObject({
  device_name: text,
  kernel_name: text,
  tune_params_keys: z.array(text, "a list of names").min(1, "at least one name").max(
    1000,
    "at most 1000 names",
  ),
  tune_params: z.record(text, z.array(parameterValueSchema, "a list of values"), "lists of values by name"),
  objective: z.union([text, z.array(text).min(1)], "a name or a list of names").optional(),
  cache: z.custom<Fields>(isObject, "an object with a record for each configuration"),
});

/**
 * Reads a cache file.
 *
 * @param content the file's text, closed or not
 * @param source what to call it in errors
 * @returns the space, and what was mended: a record cut off, keys that occur twice
 * @throws {ProfileError} in one line: where in the file, what was wanted, what was found
 */
export function readKernelTuner(content: string, source: string): SpaceReading {
  const closed = closeCache(content, source);
  const parsed = parseJson(closed.text, source);
  const header = checkRecord(headerSchema, parsed.data, source);
  const parameters = readParameters(header, source);
  const objectives = header.objective === undefined ? ["time"] : [header.objective].flat();
  const cache = Object.entries(header.cache);
  let legacyFailures = 0, timeless = 0;
  const records = cache.map(([key, fields]) => {
    const where = `${source}: cache[${JSON.stringify(key.slice(0, 80))}]`;
    if (!isObject(fields)) throw fault(where, "an object", fields);
    const record = readRecord(key, fields, { parameters, objectives, where });
    if (record.timeMs === FAILED_TIME) {
      legacyFailures++;
      return { ...record, timeMs: null, failure: "runtime" as const };
    }
    if (record.timeMs === null && record.failure === null && objectives[0] === "time") timeless++;
    return record;
  });
  const { device_name, kernel_name, problem_size, facet, t4_metadata, ...rest } = header;
  for (const field of ["tune_params_keys", "tune_params", "cache", "objective"]) delete rest[field];
  const lists = parameters.map(({ values }) => new Set(values));
  const outside = records.filter(({ values }) => values.some((value, i) => !lists[i]!.has(value))).length;
  const counted: [count: number, what: string][] = [
    [closed.records - cache.length, "with the key of another: the last of each counts"],
    [outside, "with values that tune_params does not list"],
    [legacyFailures, "with the time 1e20, as old Kernel Tuners wrote a failure: read as failed"],
    [timeless, "with neither a time nor a failure"],
  ];
  return {
    space: {
      kernel: kernel_name,
      device: device_name,
      problemSize: (problem_size ?? null) as JsonValue,
      objectives,
      parameters,
      records,
      facet: (facet ?? null) as JsonValue,
      other: {
        cacheHeader: rest as JsonObject,
        t4Metadata: isObject(t4_metadata) ? t4_metadata as JsonObject : {},
      },
    },
    notes: [
      ...(closed.torn ? ["the last record was cut off while it was written: left out"] : []),
      ...parsed.notes,
      ...counted.filter(([count]) => count > 0).map(([count, what]) => `${countOf(count, "record")} ${what}`),
    ],
  };
}

/** The parameters in the order of the keys; every one has its list of values. */
function readParameters(
  { tune_params_keys: names, tune_params: lists }: z.infer<typeof headerSchema>,
  source: string,
): SpaceParameter[] {
  names.forEach((name, i) => {
    const where = `${source}: tune_params_keys[${i}]`;
    if (names.indexOf(name) !== i) throw fault(where, "a name of its own", name);
    if (RECORD_FIELDS.has(name)) throw fault(where, "no name that Kernel Tuner uses itself", name);
  });
  const stray = Object.keys(lists).find((name) => !names.includes(name));
  if (stray !== undefined) {
    throw fault(`${source}: tune_params.${stray.slice(0, 80)}`, "a name that is in tune_params_keys", stray);
  }
  return names.map((name) => {
    const list = Object.hasOwn(lists, name) ? lists[name] : undefined;
    if (list === undefined) {
      throw fault(`${source}: tune_params.${name.slice(0, 80)}`, "a list of values", list);
    }
    // a value that is listed twice is one value
    return { name, values: [...new Set(list)] };
  });
}

interface RecordContext {
  readonly parameters: readonly SpaceParameter[];
  readonly objectives: readonly string[];
  readonly where: string;
}

function readRecord(key: string, fields: Fields, context: RecordContext): SpaceRecord {
  const { parameters, objectives, where } = context;
  const values = parameters.map(({ name }): ParameterValue => {
    const value = fieldOf(fields, name);
    const { success, data } = parameterValueSchema.safeParse(value);
    if (!success) throw fault(`${where}.${name}`, "the parameter's value", value);
    return data;
  });
  const ownKey = pythonKey(values);
  if (!sameKey(key, values)) {
    throw fault(where, `the key ${JSON.stringify(ownKey.slice(0, 80))} of its values`, key);
  }
  const names = new Set(parameters.map(({ name }) => name));
  const measurements: SpaceMeasurement[] = [];
  let failure: SpaceFailure | null = null;
  for (const [name, value] of Object.entries(fields)) {
    if (names.has(name) || RECORD_FIELDS.has(name)) continue;
    checkNumbers(value, `${where}.${name.slice(0, 80)}`);
    // as Kernel Tuner's own T4 writer has it
    measurements.push({ name, value: value as JsonValue, unit: name.startsWith("time") ? "ms" : "" });
    const error = typeof value === "string" && Object.hasOwn(ERROR_CONFIGS, value)
      ? ERROR_CONFIGS[value]
      : null;
    if (error && failure !== "compile" && failure !== "constraints") failure = error;
  }
  for (const objective of objectives) {
    const value = fieldOf(fields, objective);
    if (failure === null && typeof value === "string") {
      throw fault(`${where}.${objective}`, `a number or one of ${Object.keys(ERROR_CONFIGS)}`, value);
    }
  }
  const overheadMs: Partial<Record<Overhead, number>> = {};
  for (const [field, part] of TIMING_FIELDS) {
    const value = fieldOf(fields, field) ?? null;
    if (value !== null) overheadMs[part] = wantNumber(value, `${where}.${field}`);
  }
  const time = fieldOf(fields, "time") ?? null;
  return {
    values,
    failure,
    timeMs: failure === null && time !== null ? wantTime(time, `${where}.time`) : null,
    timesMs: wantTimes(fieldOf(fields, "times"), `${where}.times`),
    overheadMs,
    measurements,
    timestamp: textOrNull(fieldOf(fields, "timestamp"), `${where}.timestamp`),
    // Kernel Tuner takes a wrong result for a failure to run, and always writes 1 into its T4 files
    correctness: 1,
    ...(key === ownKey ? {} : { key }),
  };
}
