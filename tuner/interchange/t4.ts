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
  wantText,
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
  /** Values of every parameter, in the order in which they first occur. */
  readonly #tried: Map<string, Set<ParameterValue>>;
  readonly #records: (SpaceRecord & { readonly values: ParameterValue[] })[] = [];
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
    const factor = unit === undefined ? 1 : unitMs(wantText(unit, `${source}: metadata.timeunit`));
    if (factor === undefined) throw fault(`${source}: metadata.timeunit`, `one of ${UNITS}`, unit);
    this.#timesUnitMs = factor;
    const carried = fieldOf(metadata, "recorded_space");
    this.#carried = carried === undefined
      ? undefined
      : checkRecord(carriedSchema, carried, `${source}: metadata.recorded_space`);
    this.#tried = new Map(
      (this.#carried?.parameters ?? []).map(({ name, values }) => [name, new Set(values)]),
    );
  }

  add(text: string): void {
    const where = `${this.#source}: results[${this.#records.length}]`;
    const { configuration, objectives, record } = readResult(parsePython(text, where, this.#remarks), {
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
    for (const [name, value] of configuration) {
      const values = this.#tried.get(name) ?? new Set();
      this.#tried.set(name, values.add(value));
    }
    const values = [...this.#tried.keys()].map((name) => configuration.get(name) ?? null);
    this.#records.push({ ...record, values });
  }

  end(): SpaceReading {
    const names = [...this.#tried.keys()];
    for (const { values } of this.#records) {
      // a parameter that a later result was the first to have
      while (values.length < names.length) values.push(null);
      values.forEach((value, i) => value === null && this.#tried.get(names[i]!)!.add(null));
    }
    const { timeunit, recorded_space: _, facet, ...others } = this.#metadata;
    const hasTimes = this.#records.some(({ overheadMs, timesMs }) =>
      timesMs.length > 0 || Object.values(overheadMs).some((time) => time > 0)
    );
    const strays = [...this.#strays];
    return {
      space: {
        kernel: this.#carried?.kernel_name ?? null,
        device: this.#carried?.device_name ?? null,
        problemSize: (this.#carried?.problem_size ?? null) as JsonValue,
        objectives: this.#objectives ?? ["time"],
        parameters: [...this.#tried].map(([name, values]) => ({ name, values: [...values] })),
        records: this.#records,
        facet: (facet ?? null) as JsonValue,
        other: {
          cacheHeader: (this.#carried?.cache_header ?? {}) as JsonObject,
          t4Metadata: others as JsonObject,
        },
      },
      notes: [
        ...(strays.length > 0 ? [`fields that T4 does not define: ${strays.slice(0, 10).join(", ")}`] : []),
        ...(timeunit === undefined && hasTimes
          ? ["the unit of times, which the file does not say: read as milliseconds"]
          : []),
        ...(this.#timesUnitMs === 1 ? [] : [`times in ${timeunit} were read as milliseconds`]),
        ...this.#remarks.lines(),
      ],
    };
  }
}
