/**
 * Writes a recorded space in either format, with the list of what the format has no place for.
 *
 * @module
 */
import { formatPlural } from "../format.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { ERROR_CONFIGS, RECORD_FIELDS, TIMING_FIELDS } from "./kernel_tuner.ts";
import { pythonKey } from "./python_text.ts";
import type { SpaceFormat } from "./read_space.ts";
import {
  describeRecord,
  type JsonObject,
  type JsonValue,
  type RecordedSpace,
  recordIdentity,
  type SpaceFailure,
  type SpaceRecord,
} from "./recorded_space.ts";
import { T4_VERSION } from "./t4.ts";
import { TIMES_FIELDS } from "./t4_result.ts";

/** A file's text, and what of the space is not in it. */
export interface SpaceWriting {
  readonly text: string;
  /** One line each; empty where everything could be carried over. */
  readonly notCarried: readonly string[];
}

/**
 * Writes a space in a format.
 *
 * @returns the file's text, and what could not be carried over
 */
export function writeSpace(space: RecordedSpace, format: SpaceFormat): SpaceWriting {
  return format === "t4" ? writeT4(space) : writeKernelTuner(space);
}

/**
 * Writes T4 results, a result a line. What T4 has no place for (kernel, device, problem size, values to try)
 * goes under `metadata.recorded_space`, where {@linkcode readT4} finds it again and other readers pass it over.
 */
export function writeT4(space: RecordedSpace): SpaceWriting {
  const { parameters, records, objectives } = space;
  const results = records.map((record) => {
    const { values, failure, timesMs, overheadMs, measurements, timestamp, correctness, key } = record;
    const times: [string, number][] = TIMES_FIELDS.flatMap(([field, part]) => {
      const value = field === "compilation_time" ? undefined : overheadMs[part];
      return value === undefined ? [] : [[field, value]];
    });
    return JSON.stringify({
      ...(timestamp === null ? {} : { timestamp }),
      configuration: fromEntries(
        parameters.map(({ name }, i) => [name, values[i] ?? null] as const).filter(([, value]) =>
          value !== null
        ),
      ),
      objectives,
      times: { ...fromEntries(times), runtimes: timesMs },
      invalidity: failure ?? "correct",
      correctness,
      measurements,
      ...(key === undefined ? {} : { cache_key: key }),
    });
  });
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
  const text = `${head.slice(0, -1)},"results":[\n${results.join(",\n")}\n]}\n`;
  return { text, notCarried: outsideSchema(space) };
}

/** What is written although T4's schema has no such value: its readers may refuse it. */
function outsideSchema({ records }: RecordedSpace): string[] {
  const odd = new Set<string>();
  for (const { measurements } of records) {
    for (const { name, value } of measurements) {
      if (
        value === null || typeof value === "boolean" || (typeof value === "object" && !Array.isArray(value))
      ) {
        odd.add(name);
      }
    }
  }
  if (odd.size === 0) return [];
  const names = list([...odd]);
  return [
    `measurements that are neither numbers, texts nor lists, which T4's schema does not foresee: ${names}`,
  ];
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
export function writeKernelTuner(space: RecordedSpace): SpaceWriting {
  const { parameters, records, objectives } = space;
  const lost = new Losses();
  const names = new Set(parameters.map(({ name }) => name));
  const taken = [...RECORD_FIELDS, ...objectives, "time"].find((name) => names.has(name));
  if (taken !== undefined || names.size === 0) {
    const found = taken === undefined ? "no parameter" : `one named "${taken}"`;
    throw new ProfileError(
      `Cannot write a Kernel Tuner cache: wanted parameters, named unlike its own fields, found ${found}`,
    );
  }
  const lines = new Map<string, string>();
  const identities = new Map<string, string>();
  for (const record of records) {
    const key = record.key ?? pythonKey(record.values);
    if (lines.has(key)) {
      const isSame = identities.get(key) === recordIdentity(record);
      lost.count(
        isSame
          ? "earlier results of a configuration that occurs again"
          : `keys that two configurations share`,
        key,
      );
      // the later one takes the earlier one's place
      lines.delete(key);
    }
    identities.set(key, recordIdentity(record));
    lines.set(key, `${JSON.stringify(key)}: ${JSON.stringify(cacheRecord(record, { space, names, lost }))}`);
  }
  const header = {
    ...space.other.cacheHeader,
    device_name: space.device ?? lost.missing("device's name", "unknown"),
    kernel_name: space.kernel ?? lost.missing("kernel's name", "unknown"),
    ...(space.problemSize === null ? {} : { problem_size: space.problemSize }),
    tune_params_keys: parameters.map(({ name }) => name),
    tune_params: fromEntries(parameters.map(({ name, values }) => [name, values])),
    objective: objectives.length === 1 ? objectives[0] : objectives,
    ...(space.facet === null ? {} : { facet: space.facet }),
    ...(Object.keys(space.other.t4Metadata).length === 0 ? {} : { t4_metadata: space.other.t4Metadata }),
  };
  const head = JSON.stringify(header, null, 0);
  const text = `${head.slice(0, -1)},\n"cache": {\n${[...lines.values()].join(",\n")}}\n}\n`;
  return { text, notCarried: lost.lines() };
}

interface CacheContext {
  readonly space: RecordedSpace;
  readonly names: ReadonlySet<string>;
  readonly lost: Losses;
}

/** A record's fields, in Kernel Tuner's order. */
function cacheRecord(record: SpaceRecord, { space, names, lost }: CacheContext): JsonObject {
  const { values, failure, timesMs, overheadMs, measurements, timestamp, correctness } = record;
  const fields: [string, JsonValue][] = space.parameters.map(({ name }, i) => [name, values[i] ?? null]);
  const told = describeRecord(space, record);
  for (const { name, value, unit } of measurements) {
    if (names.has(name) || RECORD_FIELDS.has(name)) {
      lost.count(`the measurement ${name}, whose name Kernel Tuner uses itself`, told);
      continue;
    }
    const unitHere = name.startsWith("time") ? "ms" : "";
    if (unit !== unitHere && !(unit === "" && value === "")) {
      lost.count(`the unit ${unit === "" ? "(none)" : unit} of ${name}`, told);
    }
    fields.push([name, value]);
  }
  const marksFailure = measurements.some(({ value }) =>
    typeof value === "string" && Object.hasOwn(ERROR_CONFIGS, value)
  );
  if (failure !== null) {
    if (!marksFailure) setField(fields, space.objectives[0]!, ERROR_OF[failure]);
    if (failure === "timeout" || failure === "correctness") {
      lost.count(`the reason ${failure}, written as ${ERROR_OF[failure]}`, told);
    }
  }
  if (correctness !== 1) lost.count(`the correctness ${correctness}`, told);
  // an empty list is as good as none
  if (timesMs.length > 0) fields.push(["times", timesMs]);
  for (const [field, part] of TIMING_FIELDS) fields.push([field, overheadMs[part] ?? 0]);
  if (TIMING_FIELDS.some(([, part]) => overheadMs[part] === undefined)) {
    lost.count("that some costs (compiling, verifying, …) were not kept: they are written as 0", told);
  }
  if (timestamp !== null) fields.push(["timestamp", timestamp]);
  return fromEntries(fields);
}

/** Sets a field, in place where it is there. */
function setField(fields: [string, JsonValue][], name: string, value: JsonValue): void {
  const found = fields.find(([other]) => other === name);
  if (found === undefined) fields.push([name, value]);
  else found[1] = value;
}

/** An object of these fields, whatever their names are. */
function fromEntries<T extends JsonValue>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  return Object.fromEntries(entries);
}

/** What is lost, how often, and where first. */
class Losses {
  #counts = new Map<string, { count: number; first: string }>();
  #missing: string[] = [];

  count(what: string, where: string): void {
    const known = this.#counts.get(what);
    if (known === undefined) this.#counts.set(what, { count: 1, first: where });
    else known.count++;
  }

  /** What the format has to have, and the space has not. */
  missing(what: string, written: string): string {
    this.#missing.push(`that the ${what} is not known: it is written as "${written}"`);
    return written;
  }

  lines(): string[] {
    const counted = [...this.#counts].map(([what, { count, first }]) =>
      `${what} (${formatPlural(count, "record")}, first: ${first.slice(0, 120)})`
    );
    return [...this.#missing, ...counted];
  }
}

/** A few names, and how many more there are. */
function list(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
