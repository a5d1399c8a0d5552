/**
 * Kernel Tuner's cache files. One JSON object: a header, and under `cache` a record for each configuration,
 * its key the values joined by commas (`read_cache`, `store_cache` of kernel_tuner/util.py, version 1.3):
 *
 *     {"device_name": "…", "kernel_name": "…", "problem_size": [4096, 4096], "tune_params_keys": ["x", "y"],
 *      "tune_params": {"x": [16, 32], "y": [1, 2]}, "objective": "time",
 *      "cache": {
 *     "16,1": {"x": 16, "y": 1, "time": 1.25, "times": [1.24, 1.26], "compile_time": 440.9, …},
 *     "16,2": {"x": 16, "y": 2, "time": "CompilationFailedConfig", …},
 *
 * Times are milliseconds. A record may have nothing but its time; the key then says its values. Kernel Tuner appends to these files: while it runs, and after it was cut off, the two
 * closing braces are missing, a comma may stand at the end, and the last record may be torn.
 *
 * @module
 */
import * as z from "npm:zod@4.6.7";
import { matchSchema } from "../profile/check_record.ts";
import { ProfileError } from "../profile/profile_error.ts";
import {
  asFloat,
  checkRuns,
  type CostFields,
  costSchemas,
  fault,
  nameSchema,
  objectSchema,
  overheadOf,
  parameterValueSchema,
  parsePython,
  Remarks,
  timesSchema,
  wantFinite,
  wantTime,
} from "./read_json.ts";
import type { RecordList } from "./record_list.ts";
import type {
  JsonObject,
  JsonValue,
  ParameterValue,
  RecordedSpace,
  SpaceFailure,
  SpaceMeasurement,
  SpaceParameter,
  SpaceReader,
  SpaceWriter,
} from "./recorded_space.ts";

/** What Kernel Tuner writes in place of a result, and the failure it stands for. */
const ERROR_CONFIGS: ReadonlyMap<JsonValue, SpaceFailure> = new Map([
  ["InvalidConfig", "constraints"],
  ["CompilationFailedConfig", "compile"],
  ["RuntimeFailedConfig", "runtime"],
  ["ErrorConfig", "runtime"],
]);

/** A record's fields with the parts of its cost, ms. */
const TIMING_FIELDS: CostFields = [
  ["compile_time", "compile"],
  ["verification_time", "validation"],
  ["benchmark_time", "benchmark"],
  ["strategy_time", "search"],
  ["framework_time", "framework"],
];

/** Fields of a record that are no measurement, beside the parameters. */
const RECORD_FIELDS: ReadonlySet<string> = new Set([
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

/** A record's key, with the colon after it. */
const KEY = /^\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*:/;

/**
 * Reads a Kernel Tuner cache.
 *
 * @throws {ProfileError} in one line: where in the file, what was wanted, what was found
 */
export function readCache(list: RecordList, source: string): SpaceReader {
  const remarks = new Remarks();
  const header = matchSchema(headerSchema, parsePython(list.head, source, remarks), source);
  const parameters = readParameters(header, source), names = new Set(parameters.map(({ name }) => name));
  /** What each parameter is listed to be, and everything that it is. */
  const columns = parameters.map(({ values }) => ({ listed: new Set(values), all: new Set(values) }));
  const objectives = [header.objective ?? "time"].flat();
  const schema = z.object({
    ...costSchemas(TIMING_FIELDS),
    times: timesSchema,
    timestamp: nameSchema.nullish(),
    ...Object.fromEntries(parameters.map(({ name }) => [name, parameterValueSchema])),
  });
  return {
    read(index) {
      const place = `${source}: record ${index + 1}`, text = list.textOf(index);
      const startOf = () => {
        const { line, column } = list.placeOf(index);
        return { line, column: column - 1 };
      };
      // as a list: the engine keeps the keys of objects for long
      const key = KEY.exec(text)?.[0], rest = text.slice(key?.length);
      const record = key === undefined ? `{${text}}` : `[${key.slice(0, -1)},${rest}]`;
      const entry = parsePython(record, place, remarks, startOf);
      if (!Array.isArray(entry)) throw fault(place, "a key and an object", text);
      const [name, data] = entry as [string, unknown];
      const where = `${source}: cache[${JSON.stringify(name.slice(0, 80))}]`;
      const fields = { ...valuesOfKey(name, data, parameters), ...matchSchema(objectSchema, data, where) };
      matchSchema(schema, fields, where);
      const values = parameters.map(({ name }) => fields[name] as ParameterValue);
      const ownKey = pythonKey(values);
      if (name !== ownKey && !sameKey(name, values)) {
        throw fault(where, `the key ${JSON.stringify(ownKey.slice(0, 80))} of its values`, name);
      }
      if (values.some((value, i) => !columns[i]!.listed.has(value))) {
        remarks.count("record", "with values that tune_params does not list");
        values.forEach((value, i) => columns[i]!.all.add(value));
      }
      const measurements: SpaceMeasurement[] = [];
      let failure: SpaceFailure | null = null;
      for (const [name, value] of Object.entries(fields)) {
        if (names.has(name) || RECORD_FIELDS.has(name)) continue;
        wantFinite(value, `${where}.${name.slice(0, 80)}`);
        measurements.push({ name, value, unit: unitOf(name) });
        const error = ERROR_CONFIGS.get(value);
        if (error && failure !== "compile" && failure !== "constraints") failure = error;
      }
      for (const objective of objectives) {
        const value = fields[objective];
        if (failure === null && typeof value === "string") {
          throw fault(`${where}.${objective}`, `a number or one of ${[...ERROR_CONFIGS.keys()]}`, value);
        }
      }
      const time = fields.time ?? null;
      if (time === FAILED_TIME && failure === null) {
        failure = "runtime";
        remarks.count("record", "with the time 1e20, as old Kernel Tuners wrote a failure: read as failed");
      }
      const isTimed = failure === null && time !== null;
      const timeMs = isTimed ? wantTime(time, `${where}.time`) : null;
      const timesMs = fields.times as number[] | undefined ?? [];
      checkRuns(timeMs, timesMs, `${where}.time`);
      if (failure === null && !isTimed && objectives[0] === "time") {
        remarks.count("record", "with neither a time nor a failure");
      }
      return {
        values,
        failure,
        timeMs,
        timesMs,
        overheadMs: overheadOf(fields, TIMING_FIELDS),
        measurements,
        timestamp: fields.timestamp as string | undefined ?? null,
        // Kernel Tuner takes a wrong result for a failure to run, and always writes 1 into its T4 files
        correctness: 1,
        ...(name === ownKey ? {} : { key: name }),
      };
    },
    end() {
      const { device_name, kernel_name, problem_size, facet, t4_metadata, ...cacheHeader } = header;
      for (const field of ["tune_params_keys", "tune_params", "cache", "objective"]) {
        delete cacheHeader[field];
      }
      return {
        space: {
          kernel: kernel_name,
          device: device_name,
          problemSize: (problem_size ?? null) as JsonValue,
          objectives,
          parameters: parameters.map(({ name }, i) => ({ name, values: [...columns[i]!.all] })),
          facet: (facet ?? null) as JsonValue,
          other: {
            cacheHeader: cacheHeader as unknown as JsonObject,
            t4Metadata: objectSchema.safeParse(t4_metadata).data ?? {},
          },
        },
        notes: [
          ...(list.isTorn ? ["the last record was cut off while it was written: left out"] : []),
          ...remarks.lines(),
        ],
      };
    },
  };
}

/** A measurement's unit, as Kernel Tuner's own T4 writer has it. */
function unitOf(name: string): string {
  return name.startsWith("time") ? "ms" : "";
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

/** The values that a key has for a record that names none of them; nothing where the record does, or it has other parts. */
function valuesOfKey(key: string, record: unknown, parameters: readonly SpaceParameter[]): JsonObject {
  const parts = key.split(",");
  const isNamed = parameters.some(({ name }) => Object.hasOwn(Object(record), name));
  if (isNamed || parts.length !== parameters.length) return {};
  const valueOf = (part: string, { values }: SpaceParameter): ParameterValue => {
    const listed = values.find((value) => sameKey(part, [value]));
    return listed ?? (part.trim() !== "" && Number.isFinite(Number(part)) ? Number(part) : part);
  };
  return Object.fromEntries(parameters.map((of, i) => [of.name, valueOf(parts[i]!, of)]));
}

/** A value as Python's `str` writes it; whole numbers without a point, since in JSON 1.0 is 1. */
export function pythonText(value: ParameterValue): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return value;
  if (Number.isInteger(value)) return String(value);
  // repr: the exponent has two digits at least; JavaScript writes 1e-7 and, unlike Python, 0.00001
  const plain = Math.abs(value) < 1e-4 ? value.toExponential() : String(value);
  return plain.replace(/e([+-])(\d)$/, "e$10$2");
}

/** A configuration's key in a cache file: `",".join(str(value) …)`. */
export function pythonKey(values: readonly ParameterValue[]): string {
  return values.map(pythonText).join(",");
}

/** Whether a key belongs to these values, with numbers written otherwise, as 1.0 for 1. */
function sameKey(key: string, values: readonly ParameterValue[]): boolean {
  const parts = key.split(",");
  return parts.length === values.length && parts.every((part, i) => {
    const value = values[i]!;
    return typeof value === "number"
      ? part.trim() !== "" && Number(part) === value
      : part === pythonText(value);
  });
}

/** A failure as Kernel Tuner's caches have it. */
const ERROR_OF: Readonly<Record<SpaceFailure, string>> = {
  constraints: "InvalidConfig",
  compile: "CompilationFailedConfig",
  runtime: "RuntimeFailedConfig",
  timeout: "RuntimeFailedConfig",
  correctness: "RuntimeFailedConfig",
};

/**
 * Writes a Kernel Tuner cache, closed, a record a line as Kernel Tuner itself does. Every record has the fields
 * that Kernel Tuner expects; costs that were not kept are 0, as where Kernel Tuner does not measure them.
 *
 * @throws {ProfileError} if there is no parameter, or one has the name of a field of Kernel Tuner's own
 */
export function writeKernelTuner(space: RecordedSpace): SpaceWriter {
  const { parameters, objectives } = space;
  const lost = new Remarks();
  const names = new Set(parameters.map(({ name }) => name));
  const taken = [...RECORD_FIELDS, ...objectives, "time"].find((name) => names.has(name));
  if (taken !== undefined || names.size === 0) {
    const found = taken === undefined ? "no parameter" : `one named "${taken}"`;
    throw new ProfileError(
      `Cannot write a Kernel Tuner cache: wanted parameters, named unlike its own fields, found ${found}`,
    );
  }
  const header = JSON.stringify({
    ...space.other.cacheHeader,
    device_name: space.device ?? "unknown",
    kernel_name: space.kernel ?? "unknown",
    ...(space.problemSize === null ? {} : { problem_size: space.problemSize }),
    tune_params_keys: parameters.map(({ name }) => name),
    tune_params: Object.fromEntries(parameters.map(({ name, values }) => [name, values])),
    objective: objectives.length === 1 ? objectives[0] : objectives,
    ...(space.facet === null ? {} : { facet: space.facet }),
    ...(Object.keys(space.other.t4Metadata).length === 0 ? {} : { t4_metadata: space.other.t4Metadata }),
  });
  return {
    head: `${header.slice(0, -1)},\n"cache": {\n`,
    textOf(record) {
      const { values, failure, timesMs, overheadMs, measurements, timestamp, correctness } = record;
      /** The fields, in Kernel Tuner's order. */
      const fields = new Map<string, JsonValue>(parameters.map(({ name }, i) => [name, values[i] ?? null]));
      const lose = (what: string): void => {
        const place = parameters.flatMap(({ name }, i) => values[i] === null ? [] : `${name}=${values[i]}`);
        lost.count("record", what, place.join(" "));
      };
      for (const { name, value, unit } of measurements) {
        if (names.has(name) || RECORD_FIELDS.has(name)) {
          lose(`with a measurement named ${name}, as Kernel Tuner names a field itself`);
          continue;
        }
        if (unit !== unitOf(name) && !(unit === "" && value === "")) {
          lose(`with the unit ${unit || "(none)"} of ${name}`);
        }
        fields.set(name, name.startsWith("time") || objectives.includes(name) ? asFloat(value) : value);
      }
      if (failure !== null) {
        const marksFailure = measurements.some(({ value }) => ERROR_CONFIGS.has(value));
        if (!marksFailure) fields.set(objectives[0]!, ERROR_OF[failure]);
        if (failure === "timeout" || failure === "correctness") {
          lose(`with the reason ${failure}, written as ${ERROR_OF[failure]}`);
        }
      }
      if (correctness !== 1) lose(`with the correctness ${correctness}`);
      // an empty list is as good as none
      if (timesMs.length > 0) fields.set("times", asFloat(timesMs));
      for (const [field, part] of TIMING_FIELDS) fields.set(field, asFloat(overheadMs[part] ?? 0));
      if (TIMING_FIELDS.some(([, part]) => overheadMs[part] === undefined)) {
        lose("without some of their costs (compiling, verifying, …): those are written as 0");
      }
      if (timestamp !== null) fields.set("timestamp", timestamp);
      const key = record.key ?? pythonKey(values);
      return `${JSON.stringify(key)}: ${JSON.stringify(Object.fromEntries(fields))}`;
    },
    end: "}\n}\n",
    notCarried() {
      const missing = (["device", "kernel"] as const).filter((what) => space[what] === null)
        .map((what) => `that the ${what}'s name is not known: it is written as "unknown"`);
      return [...missing, ...lost.lines()];
    },
  };
}
