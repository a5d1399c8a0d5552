import type { Configuration, FailureReason } from "../configuration.ts";
import { formatPlural } from "../format.ts";
import { kernelNameOf } from "../profile/describe.ts";
import type { DatedFailure, DatedMeasurement, EntryRecords } from "../profile/entry_records.ts";
import type { Profile, ProfileEntry, ProfileProblem } from "../profile/schema.ts";
import type {
  JsonObject,
  JsonValue,
  ParameterValue,
  RecordedSpace,
  SpaceFailure,
  SpaceRecord,
} from "./recorded_space.ts";

/** Version of the `facet` block. */
export const FACET_BLOCK_VERSION = 1;

/** Parameters of a configuration that say how the slices are shared. */
export const SHARE_PARAMETERS = ["cpuSlices", "gpuSlices", "exchangeEvery", "cpuWorkers"] as const;

/** What begins the name of a parameter that says how the CPU traverses its slices beside the GPU. */
export const BESIDE_GPU = "cpu_";

/** Facet's reasons in T4's words. */
export const FAILURE_OF: Readonly<Record<FailureReason, SpaceFailure>> = {
  compile: "compile",
  limits: "constraints",
  incorrect: "correctness",
  timeout: "timeout",
  "device-lost": "runtime",
  "out-of-memory": "runtime",
};

/** Nanoseconds that a run of the problem takes at a rate in cells/s. */
export function runTimeNs({ grid, steps }: ProfileProblem, cellsPerSecond: number): number {
  return grid[0] * grid[1] * grid[2] * steps / cellsPerSecond * 1e9;
}

/**
 * An entry of a profile as a recorded space. The parameters are those of all traversals, preceded by the traversal and
 * followed by the share; one that a traversal does not have is null there. What the formats have no place for stands in
 * the space's `facet` block, for `facet_import.ts` to find again.
 *
 * @param records the entry's evaluations, from `entryRecords`
 * @returns the space, and what of the profile and the journal is not in it, one line each
 */
export function spaceOfEntry(
  profile: Profile,
  entry: ProfileEntry,
  records: EntryRecords,
): { space: RecordedSpace & { readonly records: readonly SpaceRecord[] }; notCarried: string[] } {
  const { measured, failed, repeated, outdated, kernelSource } = records;
  const { problem } = entry;
  const configurations = [...measured.map(({ measurement }) => measurement), ...failed]
    .map(({ configuration }) => configuration);
  const own = new Set(configurations.flatMap(({ parameters }) => Object.keys(parameters)));
  const besideGpu = new Set(configurations.flatMap(({ share }) => Object.keys(valuesBesideGpu(share))));
  const names = ["traversal", ...own, ...SHARE_PARAMETERS, ...besideGpu];
  const valuesOf = ({ traversal, parameters, share }: Configuration): ParameterValue[] => [
    traversal,
    ...[...own].map((name) => parameters[name] ?? null),
    ...SHARE_PARAMETERS.map((name) => share[name]),
    ...[...besideGpu].map((name) => valuesBesideGpu(share)[name] ?? null),
  ];
  const rows = configurations.map(valuesOf);
  return {
    space: {
      kernel: kernelNameOf(problem),
      device: profile.device.gpu?.description || profile.device.cpu.model,
      problemSize: [...problem.grid],
      objectives: ["time"],
      parameters: names.map((name, i) => ({ name, values: sortedValues(rows.map((row) => row[i]!)) })),
      records: [
        ...measured.map((record) => measuredRecord(record, problem, valuesOf)),
        ...failed.map((record) => failedRecord(record, valuesOf)),
      ],
      facet: {
        version: FACET_BLOCK_VERSION,
        tool: profile.tool,
        createdAt: profile.createdAt,
        device: profile.device as unknown as JsonObject,
        kernelSource,
        entry: entry as unknown as JsonObject,
      },
      other: { cacheHeader: {}, t4Metadata: {} },
    },
    notCarried: [
      ...(repeated > 0
        ? [`${formatPlural(repeated, "repeated evaluation")} of the same configurations`]
        : []),
      ...(outdated > 0 ? [`${formatPlural(outdated, "evaluation")} of kernels that have changed since`] : []),
      "the parameters' lists of values: those that were evaluated are written",
      "which run an evaluation belongs to, and nanoseconds of compiling beyond 12 digits",
    ],
  };
}

/** How the CPU traverses its slices beside the GPU, by name. */
function valuesBesideGpu({ cpu }: Configuration["share"]): Readonly<Record<string, ParameterValue>> {
  const { traversal, parameters } = cpu ?? {};
  const named = traversal === undefined ? [] : Object.entries({ traversal, ...parameters });
  return Object.fromEntries(named.map(([name, value]) => [BESIDE_GPU + name, value]));
}

function measuredRecord(
  { measurement, at }: DatedMeasurement,
  problem: ProfileProblem,
  valuesOf: (configuration: Configuration) => ParameterValue[],
): SpaceRecord {
  const { configuration, cellsPerSecond, confidence95, samples, verification, compileNs } = measurement;
  const timeMs = runTimeNs(problem, cellsPerSecond) / 1e6;
  const timesMs = samples.map((rate) => runTimeNs(problem, rate) / 1e6);
  return {
    values: valuesOf(configuration),
    failure: null,
    timeMs,
    timesMs,
    overheadMs: {
      ...(compileNs === 0 ? {} : { compile: compileNs / 1e6 }),
      benchmark: timesMs.reduce((sum, time) => sum + time, 0),
    },
    measurements: [
      { name: "time", value: timeMs, unit: "ms" },
      { name: "cells_per_second", value: cellsPerSecond, unit: "cells/s" },
      { name: "confidence95", value: [...confidence95], unit: "cells/s" },
      { name: "samples", value: [...samples], unit: "cells/s" },
      { name: "max_error", value: verification.maxError, unit: "" },
      { name: "error_bound", value: verification.bound, unit: "" },
      { name: "verified_against", value: verification.against, unit: "" },
    ],
    timestamp: at,
    correctness: 1,
  };
}

function failedRecord(
  { configuration, failure, at }: DatedFailure,
  valuesOf: (configuration: Configuration) => ParameterValue[],
): SpaceRecord {
  return {
    values: valuesOf(configuration),
    failure: FAILURE_OF[failure.reason],
    timeMs: null,
    timesMs: [],
    overheadMs: {},
    measurements: [
      { name: "failure_reason", value: failure.reason, unit: "" },
      { name: "failure_message", value: failure.message, unit: "" },
    ],
    timestamp: at,
    correctness: failure.reason === "incorrect" ? 0 : 1,
  };
}

/** Different values, numbers by size, null last. */
function sortedValues(values: readonly ParameterValue[]): ParameterValue[] {
  const rank = (value: ParameterValue): number => value === null ? 1 : 0;
  return [...new Set(values)].sort((a, b) =>
    rank(a) - rank(b) ||
    (typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1)
  );
}

/** A measurement's value by name; undefined where there is none. */
export function measured({ measurements }: SpaceRecord, name: string): JsonValue | undefined {
  return measurements.find((measurement) => measurement.name === name)?.value;
}
