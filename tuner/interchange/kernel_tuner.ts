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
 * Times are milliseconds. Kernel Tuner appends to these files: while it runs, and after it was cut off, the two
 * closing braces are missing, a comma may stand at the end, and the last record may be torn.
 *
 * @module
 */
import * as z from "npm:zod@^4.6.0";
import { checkRecord } from "../profile/check_record.ts";
import type { Place } from "../profile/json_fault.ts";
import type { ListFile } from "./list_scanner.ts";
import {
  costSchema,
  costsOf,
  fault,
  fieldOf,
  type Fields,
  isObject,
  nameSchema,
  parameterValueSchema,
  parsePython,
  Remarks,
  timesSchema,
  wantFinite,
  wantTime,
  wantValue,
} from "./read_json.ts";
import type {
  JsonObject,
  JsonValue,
  Overhead,
  ParameterValue,
  RecordReader,
  SpaceFailure,
  SpaceMeasurement,
  SpaceParameter,
  SpaceRecord,
} from "./recorded_space.ts";

/** What Kernel Tuner writes in place of a result, and the failure it stands for. */
export const ERROR_CONFIGS: ReadonlyMap<JsonValue, SpaceFailure> = new Map([
  ["InvalidConfig", "constraints"],
  ["CompilationFailedConfig", "compile"],
  ["RuntimeFailedConfig", "runtime"],
  ["ErrorConfig", "runtime"],
]);

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

const headerSchema = z.looseObject({
  device_name: nameSchema,
  kernel_name: nameSchema,
  tune_params_keys: z.array(nameSchema, "a list of names").min(1, "at least one name")
    .max(1000, "at most 1000 names"),
  tune_params: z.record(
    nameSchema,
    z.array(parameterValueSchema, "a list of values"),
    "lists of values by name",
  ),
  objective: z.union([nameSchema, z.array(nameSchema).min(1)], "a name or a list of names").optional(),
});

const recordSchema = z.looseObject({
  ...Object.fromEntries(TIMING_FIELDS.map(([field]) => [field, costSchema])),
  times: timesSchema,
  timestamp: nameSchema.nullish(),
});

/** Reads the records of a cache. */
export class KernelTunerReader implements RecordReader {
  readonly #source: string;
  readonly #file: ListFile;
  readonly #header: z.infer<typeof headerSchema>;
  readonly parameters: readonly { readonly name: string; readonly places: Map<ParameterValue, number> }[];
  readonly #listed: readonly SpaceParameter[];
  readonly #names: ReadonlySet<string>;
  readonly #objectives: readonly string[];
  readonly #remarks = new Remarks();
  #count = 0;

  /** @throws {ProfileError} in one line: where in the file, what was wanted, what was found */
  constructor(file: ListFile, source: string) {
    this.#source = source;
    this.#file = file;
    this.#header = checkRecord(headerSchema, parsePython(file.head, source, this.#remarks), source);
    this.#listed = readParameters(this.#header, source);
    this.parameters = this.#listed.map(({ name, values }) => ({
      name,
      places: new Map(values.map((value, place) => [value, place])),
    }));
    this.#names = new Set(this.#listed.map(({ name }) => name));
    const { objective = "time" } = this.#header;
    this.#objectives = [objective].flat();
  }

  read(text: string, { line, column }: Place): SpaceRecord {
    const place = `${this.#source}: record ${++this.#count}`;
    const record = parsePython(`{${text}}`, place, this.#remarks, { line, column: column - 1 });
    const [entry] = Object.entries(record as Fields);
    if (entry === undefined) throw fault(place, "a key and an object", text);
    const [key, fields] = entry;
    const where = `${this.#source}: cache[${JSON.stringify(key.slice(0, 80))}]`;
    return this.#read(key, checkRecord(recordSchema, fields, where), where);
  }

  end(): ReturnType<RecordReader["end"]> {
    const { device_name, kernel_name, problem_size, facet, t4_metadata, ...rest } = this.#header;
    for (const field of ["tune_params_keys", "tune_params", "cache", "objective"]) delete rest[field];
    return {
      space: {
        kernel: kernel_name,
        device: device_name,
        problemSize: (problem_size ?? null) as JsonValue,
        objectives: this.#objectives,
        parameters: this.parameters.map(({ name, places }) => ({ name, values: [...places.keys()] })),
        facet: (facet ?? null) as JsonValue,
        other: {
          cacheHeader: rest as JsonObject,
          t4Metadata: isObject(t4_metadata) ? t4_metadata as JsonObject : {},
        },
      },
      notes: [
        ...(this.#file.isTorn ? ["the last record was cut off while it was written: left out"] : []),
        ...this.#remarks.lines(),
      ],
    };
  }

  #read(key: string, fields: z.infer<typeof recordSchema>, where: string): SpaceRecord {
    const values = this.parameters.map(({ name }) => wantValue(fieldOf(fields, name), `${where}.${name}`));
    if (!sameKey(key, values)) {
      throw fault(where, `the key ${JSON.stringify(pythonKey(values).slice(0, 80))} of its values`, key);
    }
    let isOutside = false;
    values.forEach((value, i) => {
      const { places } = this.parameters[i]!;
      if (!places.has(value)) places.set(value, places.size);
      isOutside ||= places.get(value)! >= this.#listed[i]!.values.length;
    });
    if (isOutside) this.#remarks.count("record", "with values that tune_params does not list");
    const measurements: SpaceMeasurement[] = [];
    let failure: SpaceFailure | null = null;
    for (const [name, value] of Object.entries(fields)) {
      if (this.#names.has(name) || RECORD_FIELDS.has(name)) continue;
      // as Kernel Tuner's own T4 writer has it
      const unit = name.startsWith("time") ? "ms" : "";
      const measured = wantFinite(value, `${where}.${name.slice(0, 80)}`);
      measurements.push({ name, value: measured, unit });
      const error = ERROR_CONFIGS.get(measured);
      if (error && failure !== "compile" && failure !== "constraints") failure = error;
    }
    for (const objective of this.#objectives) {
      const value = fieldOf(fields, objective);
      if (failure === null && typeof value === "string") {
        throw fault(`${where}.${objective}`, `a number or one of ${[...ERROR_CONFIGS.keys()]}`, value);
      }
    }
    const time = fieldOf(fields, "time") ?? null;
    if (time === FAILED_TIME && failure === null) {
      failure = "runtime";
      const what = "with the time 1e20, as old Kernel Tuners wrote a failure: read as failed";
      this.#remarks.count("record", what);
    }
    const isTimed = failure === null && time !== null;
    if (failure === null && !isTimed && this.#objectives[0] === "time") {
      this.#remarks.count("record", "with neither a time nor a failure");
    }
    return {
      values,
      failure,
      timeMs: isTimed ? wantTime(time, `${where}.time`) : null,
      timesMs: fields.times,
      overheadMs: costsOf(fields, TIMING_FIELDS),
      // without the room that a growing list keeps
      measurements: measurements.slice(),
      timestamp: fields.timestamp ?? null,
      // Kernel Tuner takes a wrong result for a failure to run, and always writes 1 into its T4 files
      correctness: 1,
      ...(key === pythonKey(values) ? {} : { key }),
    };
  }
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

/** A value as Python's `str` writes it; whole numbers without a point, since JSON does not tell 1.0 from 1. */
export function pythonText(value: ParameterValue): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return value;
  // repr: the exponent has two digits at least; JavaScript writes 1e-7 and, unlike Python, 0.00001
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  const plain = !Number.isInteger(value) && exponent < -4 ? value.toExponential() : String(value);
  return plain.replace(/e([+-])(\d)$/, "e$10$2");
}

/** A configuration's key in a cache file: `",".join(str(value) …)`. */
export function pythonKey(values: readonly ParameterValue[]): string {
  return values.map(pythonText).join(",");
}

/** Whether a key belongs to these values; numbers may be written otherwise, as 1.0 for 1. */
function sameKey(key: string, values: readonly ParameterValue[]): boolean {
  if (key === pythonKey(values)) return true;
  const parts = key.split(",");
  return parts.length === values.length && parts.every((part, i) => {
    const value = values[i]!;
    return typeof value === "number"
      ? part.trim() !== "" && Number(part) === value
      : part === pythonText(value);
  });
}
