import type { PrecisionName } from "../../kernels/precision.ts";
import type { PointCounts } from "../../kernels/points.ts";
import type { OpenProblem, OwnBoundaries, OwnGrid, Stencil, Walls } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { DeviceSession } from "../devices/session.ts";
import { RequestError } from "../problem/request_error.ts";
import { resolveProblem } from "../problem/resolve_problem.ts";
import type { Configuration, Failure, Measurement } from "../configuration.ts";
import { detectDevice, type DeviceDescription } from "../devices/device.ts";
import { JSON_SCHEMA_NAME, SCHEMA_VERSION } from "../profile/schema.ts";
import { knownOf } from "../profile/merge.ts";
import type { Profile, ProfileDevice } from "../profile/profile_types.ts";
import { STRATEGIES } from "../search/all.ts";
import { runTuning, type TuneOutcome, type TuneProgress, type TuneRequest, type TuneStart } from "./tune.ts";
import { TOOL } from "../version.ts";

export type { TuneProgress };

/** What to tune, and how; the defaults are those of `deno task tune`. */
export interface TuneOptions {
  /** The equation. @default {wave(2)} */
  readonly stencil?: Stencil;
  /** Cells along x, y, z; in two dimensions along x and y. @default {one that fits the device} */
  readonly grid?: OwnGrid;
  /** What lies around the grid. @default {the first of the stencil's} */
  readonly boundary?: OwnBoundaries | Walls;
  /** Where edges that absorb lie. @default {"within"} */
  readonly edges?: OpenProblem["edges"];
  /** How many sources and receivers to tune with, wherever they are. @default {none} */
  readonly survey?: PointCounts;
  /** Time steps of a run. @default {96; of a line 2048} */
  readonly steps?: number;
  /** Names of the only traversals to try. @default {all} */
  readonly traversals?: readonly string[];
  /** How to search, by name. @default {"auto"} */
  readonly strategy?: string;
  /** Milliseconds for the whole run, roughly. @default {60000} unless `evaluations` is given */
  readonly budgetMs?: number;
  /** Configurations to evaluate in the search, instead of a time; beside a GPU one or two of them are the CPU's. @default {undefined} */
  readonly evaluations?: number;
  /** Workers on the CPU; 0: the GPU alone. @default {one a core, one fewer beside a GPU} */
  readonly cpuWorkers?: number;
  /** Precision of all values. @default {the stencil's} */
  readonly precision?: PrecisionName | undefined;
  /** Whether the GPU takes part. @default {true} */
  readonly gpu?: boolean;
  /** Makes random choices repeatable. @default {1} */
  readonly seed?: number;
  /** The CPU's share of the slices when balancing begins, 0 to 1. @default {by the rates of both alone} */
  readonly startShare?: number;
  /** An earlier profile: what it has for this problem on this device stays unless another configuration is significantly faster. */
  readonly profile?: Profile;
  /** Ends the run after the evaluation under way; what is known by then is returned. */
  readonly signal?: AbortSignal;
  /** Called as the run goes on. */
  readonly onProgress?: (progress: TuneProgress) => void;
  /** Called with every configuration as it is evaluated: its measurement, or why there is none. */
  readonly onEvaluation?: (evaluation: TuneEvaluation) => void | Promise<void>;
}

/** What became of a configuration: either a measurement or a failure. */
export interface TuneEvaluation {
  /** What was evaluated. */
  readonly configuration: Configuration;
  /** Its verified rate. */
  readonly measurement?: Measurement;
  /** Why it has none. */
  readonly failure?: Failure;
  /** Cells per second that memory bandwidth permits for what it moves; where it was known. */
  readonly roof?: number;
}

/** What a run found. */
export interface TuneResult {
  /** A profile with one entry; undefined where no configuration verified. */
  readonly profile: Profile | undefined;
  /** Fastest verified measurement of the GPU alone. */
  readonly gpuAlone: Measurement | undefined;
  /** The best measurement of the CPU alone. */
  readonly cpuAlone: Measurement | undefined;
  /** The best measurement of both together. */
  readonly together: Measurement | undefined;
  /** Fastest verified measurement of each traversal on the GPU, by name. */
  readonly bestOfEach: ReadonlyMap<string, Measurement>;
  /** What the earlier profile had for this problem and what became of it, in one line; undefined where it had nothing. */
  readonly earlierMessage: string | undefined;
  /** Configurations that were evaluated. */
  readonly evaluated: number;
  /** How many of them failed, by reason. */
  readonly failed: Readonly<Record<string, number>>;
  /** Whether `signal` ended the run. */
  readonly interrupted: boolean;
  /** Milliseconds that it took. */
  readonly elapsedMs: number;
}

/**
 * Finds the fastest verified configuration of a problem on this machine. It opens its own device and workers, and
 * closes them; nothing is written.
 *
 * @param options what to tune; nothing is needed
 * @returns what was found, also where it was interrupted
 * @throws {RangeError} for a request that makes no sense, before any work
 * @throws {DeviceError} where the device cannot run anything at all
 *
 * @example
 * ```ts
 * import { tune } from "./library_tune.ts";
 * import { heat } from "../../kernels/stencils/heat.ts";
 * import { assert } from "@std/assert";
 *
 * const { profile, evaluated } = await tune({
 *   stencil: heat(1),
 *   grid: [16, 16, 16],
 *   steps: 8,
 *   budgetMs: 2000,
 *   gpu: false, // the CPU alone
 *   cpuWorkers: 1,
 *   onProgress: ({ stage, done, total }) => assert(stage.length > 0 && done <= Math.max(done, total)),
 * });
 * assert(profile !== undefined && evaluated >= 1);
 * assert(profile.entries[0]!.result.cellsPerSecond > 0);
 * ```
 */
export async function tune(
  { signal, onProgress, onEvaluation, profile, ...wish }: TuneOptions = {},
  ...others: never[]
): Promise<TuneResult> {
  if (others.length > 0) throw new RequestError("Cannot tune: one object of options is wanted: found more");
  const { request, device } = await resolve(wish);
  using session = new DeviceSession({ device });
  const outcome = await runTuning({ ...request, ...(profile && knownOf(profile, device)) }, {
    session,
    signal: signal ?? new AbortController().signal,
    onProgress: onProgress ?? (() => {}),
    onEvaluation: (evaluation, roof) => onEvaluation?.({ ...evaluation, ...(roof && { roof }) }),
  });
  const { gpuAlone, cpuAlone, together, bestOfEach, evaluated, failed, interrupted, elapsedNs } = outcome;
  const { earlierMessage } = outcome;
  const found = { gpuAlone, cpuAlone, together, bestOfEach, evaluated, failed, interrupted, earlierMessage };
  return { profile: profileOfRun(outcome, device), ...found, elapsedMs: elapsedNs / 1e6 };
}

/** Checks the options and fills in what is missing. */
async function resolve(
  { budgetMs = 60_000, evaluations, seed = 1, startShare, strategy: name = STRATEGIES[0]!.name, ...wish }:
    TuneOptions,
) {
  const { stencil = wave(2), precision = stencil.update?.precision, ...others } = wish;
  const { grid, boundary, edges, survey, steps, traversals, cpuWorkers, gpu, ...unknown } = others;
  const must = (isRight: boolean, what: string, found: unknown): void => {
    if (!isRight) throw new RequestError(`Cannot tune: ${what}: found ${found}`);
  };
  const isWhole = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least;
  const [odd] = Object.keys(unknown);
  must(odd === undefined, "an option of tune is wanted", odd);
  must(isWhole(evaluations ?? 1, 1), "evaluations must be a whole number, at least 1", evaluations);
  must(budgetMs > 0, "budgetMs must be above 0", budgetMs);
  must(isWhole(seed, 0) && seed < 2 ** 32, "the seed must be a whole number from 0 to 2³² − 1", seed);
  const isPart = startShare === undefined || (startShare >= 0 && startShare <= 1);
  must(isPart, "startShare must be from 0 to 1", startShare);
  const strategies = STRATEGIES.map((strategy) => strategy.name);
  must(strategies.includes(name), `the strategy must be one of ${strategies.join(", ")}`, name);
  const strategy = STRATEGIES.find((known) => known.name === name)!;
  const budget = evaluations === undefined ? { timeNs: budgetMs * 1e6 } : { evaluations };
  const wanted = { stencil, grid, boundary, edges, survey, steps, traversals, cpuWorkers, gpu, precision };
  const { problem, device, ...resolved } = resolveProblem("tune", wanted, await detectDevice({ precision }));
  const request: TuneRequest = { ...problem, ...resolved, strategy, budget, seed, startShare };
  return { request, device };
}

/** The profile of a run; undefined where no configuration verified. */
export function profileOfRun(
  { entry, ...start }: Pick<TuneOutcome, "entry" | "copyBytesPerSecond" | "constants">,
  device: DeviceDescription,
): Profile | undefined {
  return entry && {
    $schema: JSON_SCHEMA_NAME,
    schemaVersion: SCHEMA_VERSION,
    tool: TOOL,
    createdAt: new Date().toISOString(),
    device: measuredDevice(device, start),
    entries: [entry],
  };
}

/** A device as profiles and journals have it. */
export function measuredDevice(
  device: DeviceDescription,
  { copyBytesPerSecond, constants }: Partial<TuneStart> & Pick<TuneStart, "copyBytesPerSecond">,
): ProfileDevice {
  return { ...device, measured: { copyBytesPerSecond, ...constants } };
}
