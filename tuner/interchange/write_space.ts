import { ProfileError } from "../profile/profile_error.ts";
import { ERROR_CONFIGS, pythonKey, RECORD_FIELDS, TIMING_FIELDS } from "./kernel_tuner.ts";
import { Remarks } from "./read_json.ts";
import type { SpaceFormat } from "./read_space.ts";
import {
  describeRecord,
  type JsonObject,
  type JsonValue,
  type RecordedSpace,
  type SpaceFailure,
  type SpaceRecord,
} from "./recorded_space.ts";
import { T4_VERSION, TIMES_FIELDS } from "./t4.ts";

/** What was written. */
export interface SpaceWriting {
  /** Records of the space, and how many of them failed. */
  readonly records: number;
  readonly failed: number;
  /** What of the space is not in the text, one line each; empty where everything could be carried over. */
  readonly notCarried: readonly string[];
}

/** A file's text, piece by piece. */
export type SpaceText = AsyncGenerator<string, SpaceWriting>;

/** Writes a space in a format. */
export function writeSpace(space: RecordedSpace, format: SpaceFormat): SpaceText {
  return format === "t4" ? writeT4(space) : writeKernelTuner(space);
}

/**
 * Writes T4 results, a result a line. What T4 has no place for (kernel, device, problem size, values to try)
 * goes under `metadata.recorded_space`, where {@linkcode T4Reader} finds it again and other readers pass it over.
 */
export async function* writeT4(space: RecordedSpace): SpaceText {
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
  for await (const record of space.records) {
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
export async function* writeKernelTuner(space: RecordedSpace): SpaceText {
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
  // a later record takes the place of an earlier one with its key
  const last = new Map<string, { readonly identity: string; readonly index: number }>();
  const keyOf = ({ key, values }: SpaceRecord): string => key ?? pythonKey(values);
  let records = 0, failed = 0;
  for await (const record of space.records) {
    const key = keyOf(record), identity = JSON.stringify(record.values);
    const earlier = last.get(key);
    if (earlier !== undefined) {
      const isSame = earlier.identity === identity;
      lost.count("record", isSame ? "whose configuration occurs again" : "whose key another one has", key);
    }
    last.set(key, { identity, index: records++ });
    if (record.failure !== null) failed++;
  }
  const unknown = (["device", "kernel"] as const).filter((what) => space[what] === null);
  const header = {
    ...space.other.cacheHeader,
    device_name: space.device ?? "unknown",
    kernel_name: space.kernel ?? "unknown",
    ...(space.problemSize === null ? {} : { problem_size: space.problemSize }),
    tune_params_keys: parameters.map(({ name }) => name),
    tune_params: Object.fromEntries(parameters.map(({ name, values }) => [name, values])),
    objective: objectives.length === 1 ? objectives[0] : objectives,
    ...(space.facet === null ? {} : { facet: space.facet }),
    ...(Object.keys(space.other.t4Metadata).length === 0 ? {} : { t4_metadata: space.other.t4Metadata }),
  };
  yield `${JSON.stringify(header).slice(0, -1)},\n"cache": {\n`;
  let index = 0, isFirst = true;
  for await (const record of space.records) {
    const key = keyOf(record);
    if (last.get(key)?.index !== index++) continue;
    const fields = cacheRecord(record, { space, names, lost });
    yield `${isFirst ? "" : ",\n"}${JSON.stringify(key)}: ${JSON.stringify(fields)}`;
    isFirst = false;
  }
  yield "}\n}\n";
  const missing = unknown.map((what) => `that the ${what}'s name is not known: it is written as "unknown"`);
  return { records, failed, notCarried: [...missing, ...lost.lines()] };
}

/** A record's fields, in Kernel Tuner's order. */
function cacheRecord(
  record: SpaceRecord,
  { space, names, lost }: Readonly<{ space: RecordedSpace; names: ReadonlySet<string>; lost: Remarks }>,
): JsonObject {
  const { values, failure, timesMs, overheadMs, measurements, timestamp, correctness } = record;
  const fields = new Map<string, JsonValue>(space.parameters.map(({ name }, i) => [name, values[i] ?? null]));
  const lose = (what: string): void => lost.count("record", what, describeRecord(space, record));
  for (const { name, value, unit } of measurements) {
    if (names.has(name) || RECORD_FIELDS.has(name)) {
      lose(`with a measurement named ${name}, as Kernel Tuner names a field itself`);
      continue;
    }
    const unitHere = name.startsWith("time") ? "ms" : "";
    if (unit !== unitHere && !(unit === "" && value === "")) {
      lose(`with the unit ${unit || "(none)"} of ${name}`);
    }
    fields.set(name, value);
  }
  const marksFailure = measurements.some(({ value }) => ERROR_CONFIGS.has(value));
  if (failure !== null) {
    if (!marksFailure) fields.set(space.objectives[0]!, ERROR_OF[failure]);
    if (failure === "timeout" || failure === "correctness") {
      lose(`with the reason ${failure}, written as ${ERROR_OF[failure]}`);
    }
  }
  if (correctness !== 1) lose(`with the correctness ${correctness}`);
  // an empty list is as good as none
  if (timesMs.length > 0) fields.set("times", timesMs);
  for (const [field, part] of TIMING_FIELDS) fields.set(field, overheadMs[part] ?? 0);
  if (TIMING_FIELDS.some(([, part]) => overheadMs[part] === undefined)) {
    lose("of which some costs (compiling, verifying, …) were not kept: they are written as 0");
  }
  if (timestamp !== null) fields.set("timestamp", timestamp);
  return Object.fromEntries(fields);
}
