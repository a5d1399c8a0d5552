import { cellsOf, type OwnGrid } from "../../kernels/stencils/stencil.ts";
import type { Configuration, FailureReason, Measurement } from "../configuration.ts";
import { everyLimit } from "../devices/device.ts";
import { measurementOf } from "../measuring/evaluate.ts";
import { overlappingTies, ratedOf } from "../measuring/tie_set.ts";
import { formatPlural } from "../format.ts";
import type { JournalRecord } from "../profile/journal_format.ts";
import { ProfileError } from "../profile/profile_error.ts";
import {
  checkProfile,
  type ProfileDevice,
  type ProfileEntry,
  type ProfileProblem,
} from "../profile/schema.ts";
import {
  type FacetImport,
  fieldsBeside,
  type ImportOptions,
  journalOf,
  profileOfEntry,
} from "./facet_space.ts";
import {
  placesOf,
  type RecordedSpace,
  type SpaceFailure,
  type SpaceParameter,
  type SpaceRecord,
} from "./recorded_space.ts";
import { configurationOf } from "../shares.ts";

/** What a foreign file does not say. */
export interface ForeignOptions extends ImportOptions {
  /** Cells along x, y, z; @default {undefined} the file's problem size */
  readonly grid?: OwnGrid | undefined;
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

/** Most updates of cells in a run: with the times that are read, all rates are numbers that a journal takes. */
const MOST_CELLS = 1e18;

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
  const { readConfiguration, notes } = carryParameters(space.parameters, {
    kernel,
    slices: problem.grid[0],
    source,
  });
  const cells = cellsOf(problem.grid) * steps;
  if (cells > MOST_CELLS) throw refused(source, `at most 1e18 cells in all steps, found ${cells}`);
  const evaluationOf = (record: SpaceRecord): JournalRecord | undefined => {
    const configuration = readConfiguration(record), made = { run, at: timeOf(record, now) };
    if (record.failure === null) {
      if (record.timeMs === null) return undefined;
      return { kind: "measurement", ...made, measurement: rated(record, configuration, cells) };
    }
    const failure = { reason: REASON_OF[record.failure], message: `${record.failure}, as ${source} says` };
    return { kind: "failure", ...made, configuration, failure };
  };
  const { ranked, count, failed, timeless, losses } = survey(space, evaluationOf);
  const [best] = ranked;
  if (best === undefined) throw refused(source, "a configuration with a time, found none");
  const { verification, samples } = best, { configuration, ...rate } = ratedOf(best);
  const entry: ProfileEntry = {
    problem,
    configuration,
    result: { ...rate, samples, roofFraction: null, speedupOverStepwise: null },
    tieSet: ranked.map(ratedOf),
    balance: [],
    verification,
    search: { strategy: "imported", seed: 0, spaceSize: count, evaluated: count, failed, elapsedMs: 0 },
  };
  return {
    profile: checkProfile(profileOfEntry({ tool, createdAt: now, device }, entry), source),
    journal: journalOf(
      { run, startedAt: now, tool, device, problem, kernelSource: "" },
      space.records,
      evaluationOf,
    ),
    records: count - timeless,
    notCarried: [...notes, ...losses],
  };
}

/** Measurements that are kept at least before those that cannot tie with the fastest are dropped. */
const KEPT = 1000;

/**
 * What all records together say: the fastest and others that may tie with it, the fastest first; how many there are, how
 * many failed, by reason, and how many have no time; and what cannot be carried over.
 */
function survey(
  { records, objectives, ...space }: RecordedSpace,
  evaluationOf: (record: SpaceRecord) => JournalRecord | undefined,
): {
  ranked: Measurement[];
  count: number;
  failed: Readonly<Record<string, number>>;
  timeless: number;
  losses: string[];
} {
  const found = { parts: new Set<string>(), names: new Set<string>() }, failed: Record<string, number> = {};
  let ranked: Measurement[] = [], kept = KEPT;
  const drop = (): void => {
    ranked.sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
    // too few samples for an interval say nothing of ties
    const rated = ranked.filter((point) => ratedOf(point).confidence95 !== null);
    ranked = rated[0] === ranked[0] ? [...overlappingTies(rated)] : ranked.slice(0, 1);
  };
  let count = 0, timeless = 0, wrong = 0, differs = false;
  for (const record of records) {
    const made = evaluationOf(record);
    count++;
    const { failure, timeMs, timesMs, correctness, overheadMs, measurements } = record;
    if (failure !== null) failed[failure] = (failed[failure] ?? 0) + 1;
    else if (timeMs === null) timeless++;
    if (failure === null && correctness !== 1) wrong++;
    differs ||= timeMs !== null && timesMs.length > 0;
    for (const part of Object.keys(overheadMs)) found.parts.add(part);
    for (const { name } of measurements) found.names.add(name);
    if (made?.kind !== "measurement") continue;
    if (ranked.push(made.measurement) < kept) continue;
    drop();
    kept = Math.max(KEPT, 2 * ranked.length);
  }
  drop();
  const fields = fieldsBeside(space), firstOf = (some: readonly string[]) => some.slice(0, 8).join(", ");
  const names = [...found.names].filter((name) => name !== "time");
  const parts = [...found.parts].filter((part) => part !== "compile");
  const losses: readonly (string | false)[] = [
    "the verification: Facet did not compare these results with anything",
    "the device but for its name: its limits stand as 0, its bandwidth as not measured",
    "boundary and precision of the problem: they stand as unknown and f32",
    "the parameters' lists of values: those that were evaluated are carried",
    differs &&
    "the time that the tool took as the result (often the mean): the profile has the median of the runs",
    failed.runtime !== undefined && "failures at run time: the journal has them as device-lost",
    timeless > 0 && `${formatPlural(timeless, "record")} without a time`,
    wrong > 0 && `the correctness of ${formatPlural(wrong, "record")}, which is not 1`,
    names.length > 0 && `other measurements: ${firstOf(names)}`,
    parts.length > 0 && `what else an evaluation cost: ${parts.join(", ")}`,
    fields.length > 0 && `fields beside the records: ${firstOf(fields)}`,
    `${objectives}` !== "time" && `the objective ${objectives.join(", ")}: the profile's is time`,
  ];
  return { ranked, count, failed, timeless, losses: losses.filter((line) => line !== false) };
}

function refused(source: string, wanted: string): ProfileError {
  return new ProfileError(`Cannot import ${source}: wanted ${wanted}`);
}

/** The problem's size as a grid; a text or more than three numbers are none. */
function gridOf({ problemSize }: RecordedSpace, source: string): OwnGrid {
  const sizes = Array.isArray(problemSize) ? problemSize : [problemSize];
  const areWhole = sizes.every((size) => Number.isSafeInteger(size) && size >= 1);
  if (areWhole && sizes.length >= 1 && sizes.length <= 3) {
    const [x = 1, y = 1, z = 1] = sizes as number[];
    return sizes.length === 2 ? [x, y] : [x, y, z];
  }
  const found = problemSize === null
    ? "no problem size"
    : `the size ${JSON.stringify(problemSize).slice(0, 60)}`;
  throw refused(source, `one to three whole numbers, found ${found}: give --grid XxYxZ or XxY`);
}

/** A device of which nothing but the name is known; limits of 0 let nothing be taken to fit. */
function deviceNamed(name: string | null, source: string): ProfileDevice {
  if (name === null || name.trim() === "") {
    throw refused(source, "the device's name, found none: give --device NAME");
  }
  return {
    gpu: {
      vendor: "unknown",
      architecture: "unknown",
      device: "unknown",
      description: name,
      isFallback: false,
      limits: everyLimit(() => 0),
      features: [],
      timestampQuery: false,
    },
    cpu: { model: "unknown", cores: 1 },
    os: "unknown",
    deno: "unknown",
    measured: { copyBytesPerSecond: null },
  };
}

/** A record's rate: of its runs; where they were not kept, of the one time there is. */
function rated(record: SpaceRecord, configuration: Configuration, cells: number): Measurement {
  const runs = record.timesMs.filter((time) => time > 0);
  const samples = (runs.length > 0 ? runs : [record.timeMs!]).map((timeMs) => cells / timeMs * 1e3);
  return measurementOf(configuration, samples, {
    verification: { maxError: 0, bound: 0, against: AGAINST },
    compileNs: (record.overheadMs.compile ?? 0) * 1e6,
  });
}

/**
 * How records' values become configurations: names of letters and digits, values that are numbers.
 * Also which names and values are changed; two names must not become the same.
 */
function carryParameters(
  parameters: readonly SpaceParameter[],
  { kernel, slices, source }: Readonly<{ kernel: string; slices: number; source: string }>,
): { readConfiguration: (record: SpaceRecord) => Configuration; notes: readonly string[] } {
  const renamed: string[] = [], numbered: string[] = [];
  const taken = new Map<string, string>();
  const columns = parameters.map(({ name, values }) => {
    const carried = identifierOf(name);
    const other = taken.get(carried);
    if (other !== undefined) {
      throw refused(source, `parameters that differ in letters and digits, found ${other} and ${name}`);
    }
    taken.set(carried, name);
    if (carried !== name) renamed.push(`${name} is written as ${carried}`);
    const places = placesOf(values);
    if (places !== undefined) {
      const words = [...places].flatMap(([value, place]) =>
        `${place}` === value ? [] : `${place} is ${value}`
      );
      if (words.length > 0) {
        numbered.push(`${name}: ${words.slice(0, 6).join(", ")}${words.length > 6 ? ", …" : ""}`);
      }
    }
    return { carried, places };
  });
  const readConfiguration = ({ values }: SpaceRecord): Configuration => {
    const entries = columns.flatMap(({ carried, places }, i): [string, number][] => {
      const value = values[i] ?? null;
      return value === null ? [] : [[carried, places?.get(value) ?? value as number]];
    });
    const parameters = Object.fromEntries(entries);
    return configurationOf([{ device: "gpu", slices, traversal: kernel, parameters }]);
  };
  return {
    readConfiguration,
    notes: [
      ...(renamed.length > 0 ? [`names of parameters: ${renamed.join(", ")}`] : []),
      ...(numbered.length > 0 ? [`values that are no numbers: ${numbered.join("; ")}`] : []),
    ],
  };
}

/** `block_size_x` as `blockSizeX`: letters and digits, a letter first. */
function identifierOf(name: string): string {
  const plain = name.normalize("NFKD")
    .replace(/[^a-zA-Z0-9]+([a-zA-Z0-9])/g, (_, next: string) => next.toUpperCase())
    .replace(/[^a-zA-Z0-9]/g, "");
  return /^[a-zA-Z]/.test(plain) ? plain : `p${plain}`;
}

/** A kernel's name as a profile writes names: small letters, digits and dashes. */
function slug(name: string, source: string): string {
  const plain = name.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  if (plain !== "") return plain;
  throw refused(source, "the kernel's name, found none: give --kernel NAME");
}

/** When a record was made, in the journal's form. */
function timeOf({ timestamp }: SpaceRecord, otherwise: string): string {
  const time = timestamp === null ? NaN : Date.parse(timestamp);
  return Number.isNaN(time) ? otherwise : new Date(time).toISOString();
}
