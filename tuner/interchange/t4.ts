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
 * T4 names neither the kernel nor the device; Facet's own files do under `metadata`.
 *
 * @module
 */
import * as z from "npm:zod@^4.6.0";
import { matchSchema } from "../profile/check_record.ts";
import {
  type CostFields,
  costSchemas,
  costsOf,
  fault,
  nameSchema,
  objectSchema,
  parameterValueSchema,
  parsePython,
  Remarks,
  timesSchema,
  wantFinite,
  wantTime,
} from "./read_json.ts";
import type { RecordList } from "./record_list.ts";
import {
  type JsonObject,
  type JsonValue,
  type ParameterValue,
  type RecordedSpace,
  SPACE_FAILURES,
  type SpaceFrame,
  type SpaceMeasurement,
  type SpaceReader,
  type SpaceRecord,
  type SpaceText,
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

const measurementSchema = z.looseObject({
  name: nameSchema,
  value: z.unknown(),
  unit: nameSchema.nullish(),
});

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

/** Milliseconds of a unit, by the names that files use in small letters. */
const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["s", 1e3],
  ["seconds", 1e3],
  ["ms", 1],
  ["milliseconds", 1],
  // as Kernel Tuner spelt it until 2024
  ["miliseconds", 1],
  ["us", 1e-3],
  ["µs", 1e-3],
  ["microseconds", 1e-3],
  ["ns", 1e-6],
  ["nanoseconds", 1e-6],
]);

export class T4Reader implements SpaceReader {
  readonly #source: string;
  readonly #list: RecordList;
  readonly #metadata: JsonObject;
  readonly #timesUnitMs: number;
  readonly #carried: z.infer<typeof carriedSchema> | undefined;
  /** The parameters' values, in the order in which they first occur. */
  readonly #parameters = new Map<string, Set<ParameterValue>>();
  /** How many results have each of them. */
  readonly #having = new Map<string, number>();
  readonly #strays: Set<string>;
  readonly #remarks = new Remarks();
  #objectives: readonly string[] | undefined;
  #hasTimes = false;

  /** @throws {ProfileError} in one line: where in the file, what was wanted, what was found */
  constructor(list: RecordList, source: string) {
    [this.#source, this.#list] = [source, list];
    const data = matchSchema(fileSchema, parsePython(list.head, source, this.#remarks), source);
    const { metadata = {}, results: _, schema_version: __, ...rest } = data;
    this.#metadata = metadata;
    this.#strays = new Set(Object.keys(rest));
    const { timeunit: unit = "ms", recorded_space: carried } = metadata;
    const place = `${source}: metadata.timeunit`;
    const factor = UNIT_MS.get(matchSchema(nameSchema, unit, place).toLowerCase());
    if (factor === undefined) throw fault(place, `one of ${[...UNIT_MS.keys()].join(", ")}`, unit);
    this.#timesUnitMs = factor;
    this.#carried = carried === undefined
      ? undefined
      : matchSchema(carriedSchema, carried, `${source}: metadata.recorded_space`);
    for (const { name, values } of this.#carried?.parameters ?? []) {
      for (const value of values) this.#place(name, value);
    }
  }

  read(index: number): SpaceRecord {
    const where = `${this.#source}: results[${index}]`, startOf = () => this.#list.placeOf(index);
    const data = parsePython(this.#list.textOf(index), where, this.#remarks, startOf);
    const result = matchSchema(resultSchema, data, where);
    const { configuration, objectives, times, invalidity, timestamp, correctness, cache_key: key } = result;
    this.#noteStrays(result, resultSchema.shape, "results[].");
    this.#noteStrays(times, timesOfResult.shape, "results[].times.");
    if (Object.values(configuration).includes(null)) {
      this.#remarks.count("result", "with a parameter that is null: read as one that does not apply");
    }
    if (typeof times.compilation_time === "number") {
      if (typeof times.compilation === "number") {
        throw fault(`${where}: times`, "one time of compilation", times);
      }
      this.#remarks.count("time", "named times.compilation_time: read as times.compilation");
    }
    const measurements = this.#measurements(result.measurements, where);
    const failure = invalidity === "correct" ? null : invalidity;
    const time = measurements.find(({ name }) => name === "time")?.value ?? null;
    // Kernel Tuner writes "" for the time of a configuration that failed
    const isTimed = failure === null && time !== null && time !== "";
    this.#objectives ??= objectives;
    if (objectives !== undefined && objectives.join() !== this.#objectives!.join()) {
      const wanted = `${JSON.stringify(this.#objectives)} as in the results before`;
      throw fault(`${where}.objectives`, wanted, objectives);
    }
    const timesMs = (times.runtimes ?? []).map((time) => time * this.#timesUnitMs);
    const overheadMs = costsOf(times, TIMES_FIELDS, this.#timesUnitMs);
    this.#hasTimes ||= timesMs.length > 0 || Object.values(overheadMs).some((time) => time > 0);
    for (const [name, value] of Object.entries(configuration)) {
      this.#place(name, value);
      this.#having.set(name, (this.#having.get(name) ?? 0) + 1);
    }
    const given = new Map(Object.entries(configuration));
    return {
      values: [...this.#parameters.keys()].map((name) => given.get(name) ?? null),
      failure,
      timeMs: isTimed ? wantTime(time, `${where}: measurements: the time`) : null,
      timesMs,
      overheadMs,
      measurements,
      timestamp: timestamp ?? null,
      correctness,
      ...(key === undefined ? {} : { key }),
    };
  }

  /** Notes the fields that no record has a place for. */
  #noteStrays(fields: object, known: object, prefix: string): void {
    for (const name of Object.keys(fields)) {
      if (!Object.hasOwn(known, name)) this.#strays.add(`${prefix}${name.slice(0, 60)}`);
    }
  }

  #measurements(list: z.infer<typeof resultSchema>["measurements"], where: string): SpaceMeasurement[] {
    return list.map(({ name, value, unit: given }, i) => {
      const at = `${where}: measurements[${i}]`,
        unit = given ?? "",
        measured = wantFinite(value, `${at}.value`);
      if (list.findIndex((other) => other.name === name) < i) {
        throw fault(`${at}.name`, "a name of its own", name);
      }
      if (name !== "time" || typeof measured !== "number") return { name, value: measured, unit };
      if (unit === "") {
        this.#remarks.count("measured time", "without a unit: read as milliseconds");
        return { name, value: measured, unit };
      }
      const factor = UNIT_MS.get(unit.toLowerCase());
      if (factor === undefined) throw fault(`${at}.unit`, "a unit of time as ms", unit);
      if (factor !== 1) this.#remarks.count("measured time", `in ${unit}: read as milliseconds`);
      return { name, value: measured * factor, unit: "ms" };
    });
  }

  #place(name: string, value: ParameterValue): void {
    let values = this.#parameters.get(name);
    if (values === undefined) this.#parameters.set(name, values = new Set());
    values.add(value);
  }

  end(): SpaceFrame {
    for (const name of this.#parameters.keys()) {
      if ((this.#having.get(name) ?? 0) < this.#list.length) this.#place(name, null);
    }
    const { timeunit, recorded_space: _, facet = null, ...t4Metadata } = this.#metadata;
    const strays = [...this.#strays];
    const { kernel_name = null, device_name = null, problem_size = null, cache_header = {} } =
      this.#carried ?? {};
    return {
      space: {
        kernel: kernel_name,
        device: device_name,
        problemSize: problem_size as JsonValue,
        objectives: this.#objectives ?? ["time"],
        parameters: Array.from(this.#parameters, ([name, values]) => ({ name, values: [...values] })),
        facet,
        other: { cacheHeader: cache_header, t4Metadata },
      },
      notes: [
        ...(strays.length > 0 ? [`fields that T4 does not define: ${strays.slice(0, 10).join(", ")}`] : []),
        ...(timeunit === undefined && this.#hasTimes
          ? ["the unit of times, which the file does not say: read as milliseconds"]
          : []),
        ...(this.#timesUnitMs === 1 ? [] : [`times in ${timeunit} were read as milliseconds`]),
        ...this.#remarks.lines(),
      ],
    };
  }
}

/**
 * Writes T4 results, a result a line. What T4 has no place for (kernel, device, problem size, values to try)
 * goes under `metadata.recorded_space`, where {@linkcode T4Reader} finds it again and other readers pass it over.
 */
export function* writeT4(space: RecordedSpace): SpaceText {
  const { parameters, objectives } = space;
  const parts = TIMES_FIELDS.filter(([field]) => field !== "compilation_time");
  const resultOf = (record: SpaceRecord): string => {
    const { values, failure, timesMs, overheadMs, measurements, timestamp, correctness, key } = record;
    return JSON.stringify({
      ...(timestamp === null ? {} : { timestamp }),
      configuration: Object.fromEntries(
        parameters.flatMap(({ name }, i) => (values[i] ?? null) === null ? [] : [[name, values[i]!]]),
      ),
      objectives,
      // JSON leaves out what is undefined
      times: {
        ...Object.fromEntries(parts.map(([field, part]) => [field, overheadMs[part]])),
        runtimes: timesMs,
      },
      invalidity: failure ?? "correct",
      correctness,
      measurements,
      cache_key: key,
    });
  };
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
  let records = 0, failed = 0;
  const odd = new Set<string>();
  yield `${head.slice(0, -1)},"results":[\n`;
  for (const record of space.records) {
    for (const { name, value } of record.measurements) if (isOutsideSchema(value)) odd.add(name);
    if (record.failure !== null) failed++;
    yield (records++ === 0 ? "" : ",\n") + resultOf(record);
  }
  yield `\n]}\n`;
  const names = [...odd];
  const shown = names.slice(0, 5).join(", ") + (names.length > 5 ? ` and ${names.length - 5} more` : "");
  const outside =
    `measurements that are neither numbers, texts nor lists, which T4's schema does not foresee: ${shown}`;
  return { records, failed, notCarried: names.length === 0 ? [] : [outside] };
}

/** Whether T4's schema has no such value: its readers may refuse it. */
function isOutsideSchema(value: JsonValue): boolean {
  return value === null || typeof value === "boolean" || (typeof value === "object" && !Array.isArray(value));
}
