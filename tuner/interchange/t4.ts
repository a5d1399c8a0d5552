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
import * as z from "zod";
import { checkRecord } from "../profile/check_record.ts";
import type { Place } from "../profile/json_fault.ts";
import { ProfileError } from "../profile/profile_error.ts";
import type { ListFile } from "./list_scanner.ts";
import {
  fault,
  fieldOf,
  type Fields,
  isObject,
  nameSchema,
  parameterValueSchema,
  parsePython,
  Remarks,
} from "./read_json.ts";
import type {
  JsonObject,
  JsonValue,
  ParameterValue,
  RecordReader,
  SpaceReading,
  SpaceRecord,
} from "./recorded_space.ts";
import { readResult, unitMs, UNITS } from "./t4_result.ts";

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
    const factor = unit === undefined
      ? 1
      : unitMs(checkRecord(nameSchema, unit, `${source}: metadata.timeunit`));
    if (factor === undefined) throw fault(`${source}: metadata.timeunit`, `one of ${UNITS}`, unit);
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
    const { configuration, objectives, record } = readResult(parsePython(text, where, this.#remarks, start), {
      where,
      timesUnitMs: this.#timesUnitMs,
      remarks: this.#remarks,
      strays: this.#strays,
    });
    this.#objectives ??= objectives;
    if (objectives !== undefined && objectives.join() !== this.#objectives!.join()) {
      const wanted = `${JSON.stringify(this.#objectives)} as in the results before`;
      throw fault(`${where}.objectives`, wanted, objectives);
    }
    this.#hasTimes ||= record.timesMs.length > 0 || Object.values(record.overheadMs).some((time) => time > 0);
    for (const [name, value] of configuration) this.#place(name, value);
    return { ...record, values: this.parameters.map(({ name }) => configuration.get(name) ?? null) };
  }

  /** Notes a value of a parameter. */
  #place(name: string, value: ParameterValue): void {
    const index = this.#indices.get(name) ?? this.parameters.push({ name, places: new Map() }) - 1;
    this.#indices.set(name, index);
    const { places } = this.parameters[index]!;
    if (!places.has(value)) places.set(value, places.size);
  }

  end(records: SpaceRecord[]): SpaceReading {
    const lined = records.map((record) => {
      // a parameter that a later result was the first to have
      const values = this.parameters.map(({ name }, i): ParameterValue => {
        const value = record.values[i] ?? null;
        if (value === null) this.#place(name, null);
        return value;
      });
      return { ...record, values };
    });
    const { timeunit, recorded_space: _, facet, ...others } = this.#metadata;
    const strays = [...this.#strays];
    return {
      space: {
        kernel: this.#carried?.kernel_name ?? null,
        device: this.#carried?.device_name ?? null,
        problemSize: (this.#carried?.problem_size ?? null) as JsonValue,
        objectives: this.#objectives ?? ["time"],
        parameters: this.parameters.map(({ name, places }) => ({ name, values: [...places.keys()] })),
        records: lined,
        facet: (facet ?? null) as JsonValue,
        other: {
          cacheHeader: (this.#carried?.cache_header ?? {}) as JsonObject,
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
