import type { Configuration, FailureReason, Measurement } from "../configuration.ts";
import { overlappingTies } from "../measuring/tie_set.ts";
import { summarize } from "../measuring/statistics.ts";
import { checkRecord } from "../profile/check_record.ts";
import { configurationKey } from "../configuration_key.ts";
import { formatPlural } from "../format.ts";
import { JOURNAL_VERSION, type JournalRecord, recordSchema } from "../profile/journal_format.ts";
import { everyLimit } from "../profile/odd_value.ts";
import { ProfileError } from "../profile/profile_error.ts";
import type { ProfileDevice, ProfileEntry, ProfileProblem } from "../profile/schema.ts";
import { beside, type FacetImport, type ImportOptions, profileOfEntry, timeOf } from "./facet_import.ts";
import type { RecordedSpace, SpaceFailure, SpaceRecord } from "./recorded_space.ts";
import { carryParameters, slug } from "./foreign_parameters.ts";

/** What a foreign file does not say. */
export interface ForeignOptions extends ImportOptions {
  /** Cells along x, y, z; @default {undefined} the file's problem size */
  readonly grid?: readonly [number, number, number] | undefined;
  /** Steps of a run. @default {1} */
  readonly steps?: number | undefined;
  /** The kernel's name. @default {undefined} the file's */
  readonly kernel?: string | undefined;
  /** The device's name. @default {undefined} the file's */
  readonly device?: string | undefined;
  /** Who imports, and when. */
  readonly tool: { readonly name: string; readonly version: string };
  readonly now: string;
}

/** T4's reasons in Facet's words; Facet has none for a kernel that fails while it runs, but a lost device. */
const REASON_OF: Readonly<Record<SpaceFailure, FailureReason>> = {
  compile: "compile",
  constraints: "limits",
  correctness: "incorrect",
  timeout: "timeout",
  runtime: "device-lost",
};

/** What stands for a verification that Facet did not do. */
const AGAINST = "nothing by Facet: the file says that the result is correct";

/**
 * Makes a profile and a journal of another tool's space: so that its best configuration can be read as Facet's are, and
 * `report` can draw it. Facet cannot run such a kernel, and did not verify it; both stand in the list of what could not
 * be carried over, and in the profile itself.
 *
 * @throws {ProfileError} in one line, if the file does not say enough, or no configuration has a time
 */
export function importForeignSpace(space: RecordedSpace, options: ForeignOptions): FacetImport {
  const { source, run, now, tool, steps = 1 } = options;
  const kernel = slug(options.kernel ?? space.kernel ?? "", source);
  const problem: ProfileProblem = {
    stencil: kernel,
    grid: options.grid ?? gridOf(space, source),
    boundary: "unknown",
    precision: "f32",
    steps,
  };
  const device = deviceNamed(options.device ?? space.device, source);
  const { configurations, notes } = carryParameters(space, { kernel, slices: problem.grid[0], source });
  const cells = problem.grid[0] * problem.grid[1] * problem.grid[2] * steps;
  const measured = new Map<string, Measurement>();
  const timeless: SpaceRecord[] = [];
  const journal: JournalRecord[] = [
    { kind: "run", version: JOURNAL_VERSION, run, startedAt: now, tool, device, problem, kernelSource: "" },
  ];
  space.records.forEach((record, i) => {
    const configuration = configurations[i]!;
    const at = timeOf(record, now);
    if (record.failure !== null) {
      const failure = { reason: REASON_OF[record.failure], message: `${record.failure}, as ${source} says` };
      journal.push({ kind: "failure", run, at, configuration, failure });
    } else if (record.timeMs === null) timeless.push(record);
    else {
      const measurement = measurementOf(record, configuration, cells);
      journal.push({ kind: "measurement", run, at, measurement });
      measured.set(configurationKey(configuration), measurement);
    }
  });
  const ranked = [...measured.values()].sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  const [best] = ranked;
  if (best === undefined) {
    throw new ProfileError(`Cannot import ${source}: wanted a configuration with a time, found none`);
  }
  const failed: Record<string, number> = {};
  for (const { failure } of space.records) {
    if (failure !== null) failed[failure] = (failed[failure] ?? 0) + 1;
  }
  const { configuration, verification, cellsPerSecond, confidence95, samples } = best;
  const count = space.records.length;
  const entry: ProfileEntry = {
    problem,
    configuration,
    result: { cellsPerSecond, confidence95, samples, roofFraction: null, speedupOverStepwise: null },
    tieSet: overlappingTies(ranked)
      .map(({ configuration, cellsPerSecond, confidence95 }) => ({
        configuration,
        cellsPerSecond,
        confidence95,
      })),
    balance: [],
    verification,
    search: { strategy: "imported", seed: 0, spaceSize: count, evaluated: count, failed, elapsedMs: 0 },
  };
  const { profile } = profileOfEntry({ tool, createdAt: now, device, entry }, source);
  for (const record of journal) checkRecord(recordSchema, record, source);
  return { profile, journal, notCarried: [...notes, ...lossesOf(space, timeless.length)] };
}

/** The problem's size as a grid; a text or more than three numbers are none. */
function gridOf({ problemSize }: RecordedSpace, source: string): [number, number, number] {
  const sizes = Array.isArray(problemSize) ? problemSize : [problemSize];
  const areWhole = sizes.every((size) => Number.isSafeInteger(size) && size >= 1);
  if (areWhole && sizes.length >= 1 && sizes.length <= 3) {
    const [x = 1, y = 1, z = 1] = sizes as number[];
    return [x, y, z];
  }
  const found = problemSize === null
    ? "no problem size"
    : `the size ${JSON.stringify(problemSize).slice(0, 60)}`;
  throw new ProfileError(
    `Cannot import ${source}: wanted one to three whole numbers, found ${found}: give --grid XxYxZ`,
  );
}

/** A device of which nothing but the name is known; limits of 0 let nothing be taken to fit. */
function deviceNamed(name: string | null, source: string): ProfileDevice {
  if (name === null || name.trim() === "") {
    throw new ProfileError(
      `Cannot import ${source}: wanted the device's name, found none: give --device NAME`,
    );
  }
  return {
    gpu: {
      vendor: "unknown",
      architecture: "unknown",
      device: "unknown",
      description: name,
      isFallback: false,
      limits: everyLimit(0),
      features: [],
      timestampQuery: false,
    },
    cpu: { model: "unknown", cores: 1 },
    os: "unknown",
    deno: "unknown",
    measured: { copyBytesPerSecond: null },
  };
}

/** The median of the runs; where they were not kept, the one time there is. */
function measurementOf(record: SpaceRecord, configuration: Configuration, cells: number): Measurement {
  const runs = record.timesMs.filter((time) => time > 0);
  const samples = (runs.length > 0 ? runs : [record.timeMs!]).map((timeMs) => cells / timeMs * 1e3);
  const { median, interval95, spread } = summarize(samples);
  return {
    configuration,
    cellsPerSecond: median,
    confidence95: interval95,
    samples,
    spread,
    verification: { maxError: 0, bound: 0, against: AGAINST },
    compileNs: (record.overheadMs.compile ?? 0) * 1e6,
  };
}

function lossesOf(space: RecordedSpace, timeless: number): string[] {
  const { names, fields } = beside(space, ["time"]);
  const { records, objectives } = space;
  const differs = records.some(({ timeMs, timesMs }) => timeMs !== null && timesMs.length > 0);
  const wrong = records.filter(({ failure, correctness }) => failure === null && correctness !== 1).length;
  const parts = new Set(records.flatMap(({ overheadMs }) => Object.keys(overheadMs)));
  parts.delete("compile");
  return [
    "the verification: Facet did not compare these results with anything",
    "the device but for its name: its limits stand as 0, its bandwidth as not measured",
    "boundary and precision of the problem: they stand as unknown and f32",
    "the parameters' lists of values: those that were evaluated are carried",
    ...(differs
      ? ["the time that the tool took as the result (often the mean): the profile has the median of the runs"]
      : []),
    ...(records.some(({ failure }) => failure === "runtime")
      ? ["failures at run time: the journal has them as device-lost"]
      : []),
    ...(timeless > 0 ? [`${formatPlural(timeless, "record")} without a time`] : []),
    ...(wrong > 0 ? [`the correctness of ${formatPlural(wrong, "record")}, which is not 1`] : []),
    ...(names.length > 0 ? [`other measurements: ${names.slice(0, 8).join(", ")}`] : []),
    ...(parts.size > 0 ? [`what else an evaluation cost: ${[...parts].join(", ")}`] : []),
    ...(fields.length > 0 ? [`fields beside the records: ${fields.slice(0, 8).join(", ")}`] : []),
    ...(`${objectives}` === "time" ? [] : [`the objective ${objectives.join(", ")}: the profile's is time`]),
  ];
}
