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
import {
  countOf,
  fault,
  fieldOf,
  type Fields,
  isObject,
  parameterValueSchema,
  parseJson,
  wantText,
} from "./read_json.ts";
import type { JsonObject, JsonValue, ParameterValue, RecordedSpace, SpaceReading } from "./recorded_space.ts";
import { readResult, type ResultReading, type T4Notes, unitMs, UNITS } from "./t4_result.ts";

/** Version of the schema that is read and written. */
export const T4_VERSION = "1.0.0";

const text = z.string("a text").max(4000, "a text of at most 4000 characters");

const fileSchema = z.looseObject({
  schema_version: z.string("a version as 1.0.0").regex(/^1\.\d+\.\d+$/, "version 1, as 1.0.0").optional(),
  metadata: z.custom<Fields>(isObject, "an object").optional(),
  results: z.array(z.unknown(), "a list of results"),
});

/** What Facet keeps under `metadata.recorded_space`: a cache file's header, for which T4 has no place. */
const carriedSchema = z.strictObject({
  device_name: text.nullable(),
  kernel_name: text.nullable(),
  problem_size: z.unknown(),
  parameters: z.array(z.strictObject({ name: text, values: z.array(parameterValueSchema) })),
  cache_header: z.custom<Fields>(isObject, "an object"),
});

/**
 * Reads T4 results.
 *
 * @param content the file's text
 * @param source what to call it in errors
 * @returns the space, and what of the file has no place in it
 * @throws {ProfileError} in one line: where in the file, what was wanted, what was found
 */
export function readT4(content: string, source: string): SpaceReading {
  const parsed = parseJson(content, source);
  const { metadata = {}, results, schema_version: _, ...rest } = checkRecord(fileSchema, parsed.data, source);
  const unit = fieldOf(metadata, "timeunit");
  const timesUnitMs = unit === undefined ? 1 : unitMs(wantText(unit, `${source}: metadata.timeunit`));
  if (timesUnitMs === undefined) {
    throw fault(`${source}: metadata.timeunit`, `one of ${UNITS}`, unit);
  }
  const notes: T4Notes = { unknownFields: new Set(), dropped: new Map() };
  const readings = results.map((result, i) =>
    readResult(result, { where: `${source}: results[${i}]`, timesUnitMs, notes })
  );
  const space = assemble(readings, metadata, source);
  const strays = [...Object.keys(rest), ...[...notes.unknownFields].map((name) => `results[].${name}`)];
  return {
    space,
    notes: [
      ...parsed.notes,
      ...(strays.length > 0 ? [`fields that T4 does not define: ${strays.slice(0, 10).join(", ")}`] : []),
      ...(timesUnitMs === 1 ? [] : [`times in ${unit} were read as milliseconds`]),
      ...[...notes.dropped].map(([what, count]) => `${what} (${countOf(count, "time")})`),
    ],
  };
}

/** Lines up the values of all results, and takes in what Facet's files carry beside them. */
function assemble(readings: readonly ResultReading[], metadata: Fields, source: string): RecordedSpace {
  const objectives = readings.find((reading) => reading.objectives !== undefined)?.objectives ?? ["time"];
  readings.forEach((reading, i) => {
    if (reading.objectives !== undefined && reading.objectives.join() !== objectives.join()) {
      const wanted = `${JSON.stringify(objectives)} as in the results before`;
      throw fault(`${source}: results[${i}].objectives`, wanted, reading.objectives);
    }
  });
  const { timeunit: _, recorded_space, facet, ...others } = metadata;
  const carried = recorded_space === undefined
    ? undefined
    : checkRecord(carriedSchema, recorded_space, `${source}: metadata.recorded_space`);
  /** Values of every parameter, in the order in which they first occur. */
  const tried = new Map<string, Set<ParameterValue>>(
    (carried?.parameters ?? []).map(({ name, values }) => [name, new Set(values)]),
  );
  for (const { configuration } of readings) {
    for (const [name, value] of configuration) {
      if (!tried.has(name)) tried.set(name, new Set());
      tried.get(name)!.add(value);
    }
  }
  const names = [...tried.keys()];
  const records = readings.map(({ configuration, record }) => {
    if (configuration.size < names.length) {
      names.forEach((name) => configuration.has(name) || tried.get(name)!.add(null));
    }
    return { ...record, values: names.map((name) => configuration.get(name) ?? null) };
  });
  return {
    kernel: carried?.kernel_name ?? null,
    device: carried?.device_name ?? null,
    problemSize: (carried?.problem_size ?? null) as JsonValue,
    objectives,
    parameters: [...tried].map(([name, values]) => ({ name, values: [...values] })),
    records,
    facet: (facet ?? null) as JsonValue,
    other: {
      cacheHeader: (carried?.cache_header ?? {}) as JsonObject,
      t4Metadata: others as JsonObject,
    },
  };
}
