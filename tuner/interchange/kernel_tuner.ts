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
import { checkRecord, firstLine } from "../profile/check_record.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { closeCache } from "./open_cache.ts";
import { pythonKey, sameKey } from "./python_text.ts";
import {
  checkNumbers,
  fault,
  fieldOf,
  type Fields,
  isObject,
  noteNotNumbers,
  parseJson,
  wantNumber,
  wantText,
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

const parameterValue = z.union([z.number(), z.string().max(1000), z.boolean(), z.null()], {
  error: "a number, a text, true, false or null",
});
const text = z.string("a text").max(4000, "a text of at most 4000 characters");

const headerSchema = z.looseObject({
  device_name: text,
  kernel_name: text,
  tune_params_keys: z.array(text, "a list of names").min(1, "at least one name").max(
    1000,
    "at most 1000 names",
  ),
  tune_params: z.record(text, z.array(parameterValue, "a list of values"), "lists of values by name"),
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
 *
 * @example
 * ```ts
 * import { readKernelTuner } from "./kernel_tuner.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { space } = readKernelTuner(
 *   '{"device_name": "GPU", "kernel_name": "k", "tune_params_keys": ["x"], "tune_params": {"x": [1, 2]}, ' +
 *     '"cache": {"2": {"x": 2, "time": 0.5},',
 *   "open.json",
 * );
 * assertEquals(space.records.map(({ values, timeMs }) => [...values, timeMs]), [[2, 0.5]]);
 * ```
 */
export function readKernelTuner(content: string, source: string): SpaceReading {
  const closed = closeCache(content, source);
  let parsed: ReturnType<typeof parseJson>;
  try {
    parsed = parseJson(closed.text);
  } catch (error) {
    throw new ProfileError(`Cannot read ${source}: it is no JSON: ${firstLine(error)}`);
  }
  const header = checkRecord(headerSchema, parsed.data, source);
  const parameters = readParameters(header, source);
  const objectives = header.objective === undefined ? ["time"] : [header.objective].flat();
  const cache = Object.entries(header.cache);
  let legacyFailures = 0, timeless = 0;
  const records = cache.map(([key, fields]) => {
    const path = `cache[${JSON.stringify(key.slice(0, 80))}]`;
    if (!isObject(fields)) throw fault(source, path, "an object", fields);
    const record = readRecord(key, fields, { parameters, objectives, source, path });
    if (record.timeMs === FAILED_TIME) {
      legacyFailures++;
      return { ...record, timeMs: null, failure: "runtime" as const };
    }
    if (record.timeMs === null && record.failure === null && objectives[0] === "time") timeless++;
    return record;
  });
  const { device_name, kernel_name, problem_size, facet, t4_metadata, ...rest } = header;
  for (const field of ["tune_params_keys", "tune_params", "cache", "objective"]) delete rest[field];
  const repeated = closed.records - cache.length;
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
      ...(repeated > 0 ? [`${repeated} records repeat the key of another: the last of each counts`] : []),
      ...noteNotNumbers(parsed.notNumbers),
      ...(legacyFailures > 0
        ? [
          `${legacyFailures} records with the time 1e20, as old Kernel Tuners wrote a failure: read as failed`,
        ]
        : []),
      ...(timeless > 0 ? [`${timeless} records have neither a time nor a failure`] : []),
    ],
  };
}

/** The parameters in the order of the keys; every one has its list of values. */
function readParameters(
  { tune_params_keys: names, tune_params: lists }: z.infer<typeof headerSchema>,
  source: string,
): SpaceParameter[] {
  names.forEach((name, i) => {
    if (names.indexOf(name) !== i) throw fault(source, `tune_params_keys[${i}]`, "a name of its own", name);
    if (RECORD_FIELDS.has(name)) {
      throw fault(source, `tune_params_keys[${i}]`, "no name that Kernel Tuner uses itself", name);
    }
    if (!Object.hasOwn(lists, name)) {
      throw fault(source, `tune_params.${name.slice(0, 80)}`, "a list of values", undefined);
    }
  });
  const stray = Object.keys(lists).find((name) => !names.includes(name));
  if (stray !== undefined) {
    throw fault(source, `tune_params.${stray.slice(0, 80)}`, "a name that is in tune_params_keys", stray);
  }
  return names.map((name) => {
    // a value that stands twice in the list is one value
    return { name, values: [...new Set(lists[name])] };
  });
}

interface RecordContext {
  readonly parameters: readonly SpaceParameter[];
  readonly objectives: readonly string[];
  readonly source: string;
  readonly path: string;
}

function readRecord(key: string, fields: Fields, context: RecordContext): SpaceRecord {
  const { parameters, objectives, source, path } = context;
  const values = parameters.map(({ name }): ParameterValue => {
    const value = fieldOf(fields, name);
    const { success, data } = parameterValue.safeParse(value);
    if (!success) throw fault(source, `${path}.${name}`, "the parameter's value", value);
    return data;
  });
  if (!sameKey(key, values)) {
    throw fault(source, path, `the key ${JSON.stringify(pythonKey(values).slice(0, 80))} of its values`, key);
  }
  const names = new Set(parameters.map(({ name }) => name));
  const measurements: SpaceMeasurement[] = [];
  let failure: SpaceFailure | null = null;
  for (const [name, value] of Object.entries(fields)) {
    if (names.has(name) || RECORD_FIELDS.has(name)) continue;
    checkNumbers(value, { source, path: `${path}.${name.slice(0, 80)}` });
    // as Kernel Tuner's own T4 writer has it
    measurements.push({ name, value: value as JsonValue, unit: name.startsWith("time") ? "ms" : "" });
    if (typeof value === "string" && Object.hasOwn(ERROR_CONFIGS, value)) {
      failure = failure === "compile" || failure === "constraints" ? failure : ERROR_CONFIGS[value];
    }
  }
  const time = fieldOf(fields, "time");
  const isTimed = failure === null && time !== undefined && time !== null;
  const overheadMs: Partial<Record<Overhead, number>> = {};
  for (const [field, part] of TIMING_FIELDS) {
    const value = fieldOf(fields, field);
    if (value === undefined || value === null) continue;
    overheadMs[part] = wantNumber(value, "a time in ms, >= 0", { source, path: `${path}.${field}` });
  }
  const timestamp = fieldOf(fields, "timestamp");
  for (const objective of objectives) {
    const value = fieldOf(fields, objective);
    if (failure === null && typeof value === "string") {
      throw fault(source, `${path}.${objective}`, `a number or one of ${Object.keys(ERROR_CONFIGS)}`, value);
    }
  }
  return {
    values,
    failure,
    timeMs: isTimed ? wantTime(time, { source, path: `${path}.time` }) : null,
    timesMs: readTimes(fieldOf(fields, "times"), { source, path: `${path}.times` }),
    overheadMs,
    measurements,
    timestamp: timestamp === undefined || timestamp === null
      ? null
      : wantText(timestamp, { source, path: `${path}.timestamp` }),
    correctness: failure === null ? 1 : 0,
    ...(key === pythonKey(values) ? {} : { key }),
  };
}

/** A kernel's time, ms. */
export function wantTime(value: unknown, where: { source: string; path: string }): number {
  const time = wantNumber(value, "a time above 0", where);
  if (time === 0) throw fault(where.source, where.path, "a time above 0", value);
  return time;
}

/** The times of single runs, ms; none where the field is missing. */
export function readTimes(value: unknown, { source, path }: { source: string; path: string }): number[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw fault(source, path, "a list of times", value);
  return value.map((time, i) => wantNumber(time, "a time in ms, >= 0", { source, path: `${path}[${i}]` }));
}
