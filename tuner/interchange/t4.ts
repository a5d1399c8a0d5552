/**
 * T4 results, read: the format of the auto-tuning community (Open Autotuning Results Schema 1.0.0,
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
import { checkRecord } from "../profile/check_record.ts";
import type { Place } from "../profile/json_fault.ts";
import { ProfileError } from "../profile/profile_error.ts";
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
} from "./read_json.ts";
import {
  type JsonObject,
  type JsonValue,
  type Overhead,
  type ParameterValue,
  type RecordReader,
  SPACE_FAILURES,
  type SpaceMeasurement,
  type SpaceRecord,
} from "./recorded_space.ts";

/** Version of the schema that is read and written. */
export const T4_VERSION = "1.0.0";

const fileSchema = z.looseObject({
  schema_version: z.string("a version as 1.0.0").regex(/^1\.\d+\.\d+$/, "version 1, as 1.0.0").optional(),
  metadata: z.custom<Fields>(isObject, "an object").optional(),
  results: z.array(z.unknown(), "a list of results"),
});

/** What Facet keeps under `metadata.recorded_space`: a cache file's header, for which T4 has no place. */
const carriedSchema = z.strictObject({
  device_name: nameSchema.nullable(),
  kernel_name: nameSchema.nullable(),
  problem_size: z.unknown(),
  parameters: z.array(z.strictObject({ name: nameSchema, values: z.array(parameterValueSchema) })),
  cache_header: z.custom<Fields>(isObject, "an object"),
});

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

/** Reads the results of a T4 file. */
export class T4Reader implements RecordReader {
  readonly #source: string;
  readonly #metadata: Fields;
  readonly #timesUnitMs: number;
  readonly #carried: z.infer<typeof carriedSchema> | undefined;
  /** In the order in which they first occur, their values too. */
  readonly parameters: { readonly name: string; readonly places: Map<ParameterValue, number> }[] = [];
  /** Indices of the parameters. */
  readonly #indices = new Map<string, number>();
  /** How many results have each of them. */
  readonly #having = new Map<string, number>();
  #count = 0;
  #hasTimes = false;
  #objectives: readonly string[] | undefined;
  readonly #strays: Set<string>;
  readonly #remarks = new Remarks();

  /** @throws {ProfileError} in one line: where in the file, what was wanted, what was found */
  constructor({ head, isOpen }: ListFile, source: string) {
    if (isOpen) {
      throw new ProfileError(`Cannot read ${source}: wanted a whole file, found one that was cut off`);
    }
    this.#source = source;
    const data = checkRecord(fileSchema, parsePython(head, source, this.#remarks), source);
    const { metadata = {}, results: _, schema_version: __, ...rest } = data;
    this.#metadata = metadata;
    this.#strays = new Set(Object.keys(rest));
    const unit = fieldOf(metadata, "timeunit");
    const place = `${source}: metadata.timeunit`;
    const factor = unit === undefined ? 1 : UNIT_MS.get(checkRecord(nameSchema, unit, place).toLowerCase());
    if (factor === undefined) throw fault(place, `one of ${[...UNIT_MS.keys()].join(", ")}`, unit);
    this.#timesUnitMs = factor;
    const carried = fieldOf(metadata, "recorded_space");
    this.#carried = carried === undefined
      ? undefined
      : checkRecord(carriedSchema, carried, `${source}: metadata.recorded_space`);
    for (const { name, values } of this.#carried?.parameters ?? []) {
      for (const value of values) this.#place(name, value);
    }
  }

  read(text: string, start: Place): SpaceRecord {
    const where = `${this.#source}: results[${this.#count++}]`;
    const result = checkRecord(resultSchema, parsePython(text, where, this.#remarks, start), where);
    const { objectives, times, invalidity, timestamp, correctness, cache_key: key } = result;
    this.#noteStrays(result, RESULT, "results[].");
    this.#noteStrays(times, TIMES, "results[].times.");
    const configuration = new Map(Object.entries(result.configuration));
    if ([...configuration.values()].includes(null)) {
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
    const timeMs = isTimed ? wantTime(time, `${where}: measurements: the time`) : null;
    this.#objectives ??= objectives;
    if (objectives !== undefined && objectives.join() !== this.#objectives!.join()) {
      const wanted = `${JSON.stringify(this.#objectives)} as in the results before`;
      throw fault(`${where}.objectives`, wanted, objectives);
    }
    const timesMs = times.runtimes.map((time) => time * this.#timesUnitMs);
    const overheadMs = costsOf(times, TIMES_FIELDS, this.#timesUnitMs);
    this.#hasTimes ||= timesMs.length > 0 || Object.values(overheadMs).some((time) => time > 0);
    for (const [name, value] of configuration) {
      this.#place(name, value);
      this.#having.set(name, (this.#having.get(name) ?? 0) + 1);
    }
    return {
      values: this.parameters.map(({ name }) => configuration.get(name) ?? null),
      failure,
      timeMs,
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
      const at = `${where}: measurements[${i}]`, unit = given ?? "";
      if (list.findIndex((other) => other.name === name) < i) {
        throw fault(`${at}.name`, "a name of its own", name);
      }
      const measured = wantFinite(value, `${at}.value`);
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

  /** Notes a value of a parameter. */
  #place(name: string, value: ParameterValue): void {
    const index = this.#indices.get(name) ?? this.parameters.push({ name, places: new Map() }) - 1;
    this.#indices.set(name, index);
    const { places } = this.parameters[index]!;
    if (!places.has(value)) places.set(value, places.size);
  }

  end(): ReturnType<RecordReader["end"]> {
    for (const { name } of this.parameters) {
      if ((this.#having.get(name) ?? 0) < this.#count) this.#place(name, null);
    }
    const { timeunit, recorded_space: _, facet, ...others } = this.#metadata;
    const strays = [...this.#strays];
    const carried = this.#carried;
    return {
      space: {
        kernel: carried?.kernel_name ?? null,
        device: carried?.device_name ?? null,
        problemSize: (carried?.problem_size ?? null) as JsonValue,
        objectives: this.#objectives ?? ["time"],
        parameters: this.parameters.map(({ name, places }) => ({ name, values: [...places.keys()] })),
        facet: (facet ?? null) as JsonValue,
        other: {
          cacheHeader: (carried?.cache_header ?? {}) as JsonObject,
          t4Metadata: others as JsonObject,
        },
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
