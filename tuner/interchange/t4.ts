/**
 * T4 results: the format of the auto-tuning community (Open Autotuning Results Schema 1.0.0,
 * https://github.com/odgaard/TuningSchema) as Kernel Tuner's `store_output_file` writes it:
 *
 *     {"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}, "results": [
 *       {"configuration": {"x": 16}, "invalidity": "correct", "correctness": 1, "objectives": ["time"],
 *        "times": {"compilation": 440.9, "benchmark": 1.1, "framework": 0.9, "search_algorithm": 0,
 *                  "validation": 0, "runtimes": [1.24, 1.26]},
 *        "measurements": [{"name": "time", "value": 1.25, "unit": "ms"}]}, …]}
 *
 * T4 names neither the kernel nor the device; Facet's own files do under `metadata`, and KTT's the device. KTT's older
 * files call the time `TotalDuration`, with its unit, and say none for `times`.
 *
 * @module
 */
import * as z from "npm:zod@4.6.7";
import { matchSchema } from "../profile/check_record.ts";
import {
  asFloat,
  checkRuns,
  type CostFields,
  costSchemas,
  fault,
  isOfRuns,
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
import {
  type JsonValue,
  type ParameterValue,
  type RecordedSpace,
  SPACE_FAILURES,
  type SpaceMeasurement,
  type SpaceReader,
  type SpaceWriter,
} from "./recorded_space.ts";

/** Version of the schema that is read and written. */
const T4_VERSION = "1.0.0";

const fileSchema = z.looseObject({
  schema_version: z.string("a version such as 1.0.0").regex(/^1\.\d+\.\d+$/, "version 1, such as 1.0.0")
    .optional(),
  metadata: objectSchema.optional(),
  results: z.array(z.unknown(), "a list of results"),
});

/** What Facet keeps under `metadata.recorded_space`: a cache file's header, for which T4 has no place. */
const carriedSchema = z.strictObject({
  device_name: nameSchema.nullable(),
  kernel_name: nameSchema.nullable(),
  problem_size: z.unknown(),
  parameters: z.array(z.strictObject({ name: nameSchema, values: z.array(parameterValueSchema) })),
  cache_header: objectSchema,
});

/** Fields of T4's `times` with the parts of an evaluation's cost; the schema's own name of the first differs. */
const TIMES_FIELDS: CostFields = [
  ["compilation", "compile"],
  ["compilation_time", "compile"],
  ["benchmark", "benchmark"],
  ["framework", "framework"],
  ["search_algorithm", "search"],
  ["validation", "validation"],
];

const timesOfResult = z.looseObject({ ...costSchemas(TIMES_FIELDS), runtimes: timesSchema });

const measurementSchema = z.looseObject({ name: nameSchema, value: z.unknown(), unit: nameSchema.nullish() });

const resultSchema = z.looseObject({
  timestamp: nameSchema.nullish(),
  configuration: z.record(z.string(), parameterValueSchema, "values by name"),
  objectives: z.array(nameSchema, "a list of names").min(1, "a list of names").optional(),
  times: timesOfResult,
  invalidity: z.enum(["correct", ...SPACE_FAILURES], `one of correct, ${SPACE_FAILURES.join(", ")}`),
  correctness: z.number("a number >= 0").min(0, "a number >= 0").max(1e20, "a number <= 1e20"),
  measurements: z.array(measurementSchema, "a list").default([]),
  cache_key: nameSchema.optional(),
});

/** Milliseconds of a unit, by the names that files use in small letters; Kernel Tuner wrote "miliseconds" until 2024. */
const UNIT_MS: ReadonlyMap<string, number> = new Map(Object.entries({
  ...{ s: 1e3, seconds: 1e3, ms: 1, milliseconds: 1, miliseconds: 1 },
  ...{ us: 1e-3, "µs": 1e-3, microseconds: 1e-3, ns: 1e-6, nanoseconds: 1e-6 },
}));

/**
 * Reads T4 results.
 *
 * @throws {ProfileError} in one line: where in the file, what was wanted, what was found
 */
export function readT4(list: RecordList, source: string): SpaceReader {
  const remarks = new Remarks();
  const { metadata = {}, results: _, schema_version: __, ...rest } = matchSchema(
    fileSchema,
    parsePython(list.head, source, remarks),
    source,
  );
  const { timeunit, recorded_space, facet = null, ...t4Metadata } = metadata;
  const place = `${source}: metadata.timeunit`;
  /** The unit of times: the file's, else that of the first measured time that has one. */
  let timesUnit = timeunit === undefined ? undefined : matchSchema(nameSchema, timeunit, place);
  if (timesUnit !== undefined && unitMs(timesUnit) === undefined) {
    throw fault(place, `one of ${[...UNIT_MS.keys()].join(", ")}`, timesUnit);
  }
  const carried = recorded_space === undefined
    ? undefined
    : matchSchema(carriedSchema, recorded_space, `${source}: metadata.recorded_space`);
  /** The parameters' values, in the order in which they first occur, and how many results have each parameter. */
  const parameters = new Map<string, Set<ParameterValue>>(), having = new Map<string, number>();
  const addValue = (name: string, value: ParameterValue): void => {
    parameters.set(name, (parameters.get(name) ?? new Set()).add(value));
  };
  for (const { name, values } of carried?.parameters ?? []) {
    for (const value of values) addValue(name, value);
  }
  const strays = new Set(Object.keys(rest));
  /** Notes the fields that no record has a place for. */
  const noteStrays = (fields: object, known: object, prefix: string): void => {
    for (const name of Object.keys(fields)) {
      if (!Object.hasOwn(known, name)) strays.add(`${prefix}${name.slice(0, 60)}`);
    }
  };
  let objectives: readonly string[] | undefined, hasTimes = false;
  /** What the file calls the time: an objective with a unit of time, where nothing is named so. */
  let timeName = "time";
  return {
    read(index) {
      const where = `${source}: results[${index}]`;
      const data = parsePython(list.textOf(index), where, remarks, () => list.placeOf(index));
      const result = matchSchema(resultSchema, data, where);
      const { configuration, times, invalidity, timestamp, correctness, cache_key: key } = result;
      noteStrays(result, resultSchema.shape, "results[].");
      noteStrays(times, timesOfResult.shape, "results[].times.");
      if (Object.values(configuration).includes(null)) {
        remarks.count("result", "with a parameter that is null: read as one that does not apply");
      }
      if (typeof times.compilation_time === "number") {
        if (typeof times.compilation === "number") {
          throw fault(`${where}: times`, "one time of compilation", times);
        }
        remarks.count("time", "named times.compilation_time: read as times.compilation");
      }
      const runtimes = times.runtimes ?? [];
      const named = result.measurements.find(({ name }) => name === "time") ??
        result.measurements.find(({ name, unit }) => name === result.objectives?.[0] && unitMs(unit ?? ""));
      if (named !== undefined) timeName = named.name;
      if (timesUnit === undefined && unitMs(named?.unit ?? "")) {
        // both numbers stand side by side: the default is kept where it makes them agree
        const { unit, value } = named!, timeMs = Number(value) * unitMs(unit!)!;
        timesUnit = isOfRuns(timeMs, runtimes) ? "ms" : unit!;
      }
      /** With its time in milliseconds. */
      const measurements = result.measurements.map(
        ({ name, value: found, unit: given }, i): SpaceMeasurement => {
          const at = `${where}: measurements[${i}]`, value = wantFinite(found, `${at}.value`);
          const unit = given ?? "";
          if (result.measurements.findIndex((other) => other.name === name) < i) {
            throw fault(`${at}.name`, "a name of its own", name);
          }
          if (name !== timeName) return { name, value, unit };
          if (name !== "time") remarks.count("measured time", `named ${name}: read as time`);
          if (typeof value !== "number") return { name: "time", value, unit };
          if (unit === "") {
            const meant = timeunit === undefined ? "milliseconds" : `${timesUnit}, the file's unit`;
            remarks.count("measured time", `without a unit: read as ${meant}`);
            if (timeunit === undefined) return { name: "time", value, unit };
          }
          const factor = unitMs(unit || timesUnit!);
          if (factor === undefined) throw fault(`${at}.unit`, "a unit of time as ms", unit);
          if (factor !== 1 && unit !== "") remarks.count("measured time", `in ${unit}: read as milliseconds`);
          return { name: "time", value: value * factor, unit: "ms" };
        },
      );
      const failure = invalidity === "correct" ? null : invalidity;
      const time = measurements.find(({ name }) => name === "time")?.value ?? null;
      // Kernel Tuner writes "" for the time of a configuration that failed
      const isTimed = failure === null && time !== null && time !== "";
      objectives ??= result.objectives;
      if (result.objectives !== undefined && result.objectives.join() !== objectives!.join()) {
        const wanted = `${JSON.stringify(objectives)} as in the results before`;
        throw fault(`${where}.objectives`, wanted, result.objectives);
      }
      const timeMs = isTimed ? wantTime(time, `${where}: measurements: the time`) : null;
      const timesUnitMs = unitMs(timesUnit ?? "ms")!, timesMs = runtimes.map((time) => time * timesUnitMs);
      checkRuns(timeMs, timesMs, `${where}: measurements: the time`);
      const overheadMs = overheadOf(times, TIMES_FIELDS, timesUnitMs);
      hasTimes ||= timesMs.length > 0 || Object.values(overheadMs).some((time) => time > 0);
      for (const [name, value] of Object.entries(configuration)) {
        addValue(name, value);
        having.set(name, (having.get(name) ?? 0) + 1);
      }
      const given = new Map(Object.entries(configuration));
      return {
        values: [...parameters.keys()].map((name) => given.get(name) ?? null),
        failure,
        timeMs,
        timesMs,
        overheadMs,
        measurements,
        timestamp: timestamp ?? null,
        correctness,
        ...(key === undefined ? {} : { key }),
      };
    },
    end() {
      for (const name of parameters.keys()) {
        if ((having.get(name) ?? 0) < list.length) addValue(name, null);
      }
      const { kernel_name = null, problem_size = null, cache_header = {} } = carried ?? {};
      const { device = null } = t4Metadata,
        { device_name = typeof device === "string" ? device : null } = carried ?? {};
      const isMs = timesUnit === undefined || unitMs(timesUnit) === 1;
      const read = `read as ${isMs ? "milliseconds" : `${timesUnit}, that of the measured times`}`;
      return {
        space: {
          kernel: kernel_name,
          device: device_name,
          problemSize: problem_size as JsonValue,
          objectives: objectives?.map((name) => name === timeName ? "time" : name) ?? ["time"],
          parameters: Array.from(parameters, ([name, values]) => ({ name, values: [...values] })),
          facet,
          other: { cacheHeader: cache_header, t4Metadata },
        },
        notes: [
          ...strays.size > 0
            ? [`fields that T4 does not define: ${[...strays].slice(0, 10).join(", ")}`]
            : [],
          ...timeunit === undefined && hasTimes
            ? [`the unit of times, which the file does not say: ${read}`]
            : [],
          ...isMs || timeunit === undefined ? [] : [`times in ${timesUnit} were read as milliseconds`],
          ...remarks.lines(),
        ],
      };
    },
  };
}

/**
 * Writes T4 results, a result a line. What T4 has no place for (kernel, device, problem size, values to try)
 * goes under `metadata.recorded_space`, where {@linkcode readT4} finds it again and other readers pass it over.
 */
export function writeT4({ parameters, objectives, ...space }: RecordedSpace): SpaceWriter {
  const parts = TIMES_FIELDS.filter(([field]) => field !== "compilation_time");
  const head = JSON.stringify({
    schema_version: T4_VERSION,
    metadata: {
      ...space.other.t4Metadata,
      timeunit: "milliseconds",
      ...(space.facet === null ? {} : { facet: space.facet }),
      recorded_space: {
        device_name: space.device,
        kernel_name: space.kernel,
        problem_size: space.problemSize,
        parameters,
        cache_header: space.other.cacheHeader,
      },
    },
  });
  const odd = new Set<string>();
  return {
    head: `${head.slice(0, -1)},"results":[\n`,
    textOf({ values, failure, timesMs, overheadMs, measurements, timestamp, correctness, key }) {
      for (const { name, value } of measurements) if (isOutsideSchema(value)) odd.add(name);
      return JSON.stringify({
        ...(timestamp === null ? {} : { timestamp }),
        configuration: Object.fromEntries(
          parameters.flatMap(({ name }, i) => (values[i] ?? null) === null ? [] : [[name, values[i]!]]),
        ),
        objectives,
        // JSON leaves out what is undefined
        times: {
          ...Object.fromEntries(parts.map(([field, part]) => [field, overheadMs[part]])),
          runtimes: asFloat(timesMs),
        },
        invalidity: failure ?? "correct",
        correctness,
        measurements: measurements.map((measurement) => ({
          ...measurement,
          value: measurement.unit === "ms" ? asFloat(measurement.value) : measurement.value,
        })),
        cache_key: key,
      });
    },
    end: "\n]}\n",
    notCarried() {
      const names = [...odd], more = names.length > 5 ? ` and ${names.length - 5} more` : "";
      const what =
        "measurements that are neither numbers, texts nor lists, which T4's schema does not foresee";
      return names.length === 0 ? [] : [`${what}: ${names.slice(0, 5).join(", ")}${more}`];
    },
  };
}

/** Milliseconds of a unit; undefined if it is none of time. */
function unitMs(unit: string): number | undefined {
  return UNIT_MS.get(unit.toLowerCase());
}

/** Whether T4's schema has no such value: its readers may refuse it. */
function isOutsideSchema(value: JsonValue): boolean {
  return value === null || typeof value === "boolean" || (typeof value === "object" && !Array.isArray(value));
}
