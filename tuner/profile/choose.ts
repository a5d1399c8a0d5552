import type { Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { checkProblem } from "../problem/resolve_problem.ts";
import type { Configuration } from "../configuration.ts";
import { enumerateSpace } from "../search/space.ts";
import { adaptConfiguration, type AdaptTarget } from "./adapt.ts";
import {
  type AdapterIdentity,
  DEVICE_GRADES,
  type DeviceGrade,
  gradeDevice,
  type TargetDevice,
} from "./match_device.ts";
import { describeProblem } from "./profile_problem.ts";
import { mergeByDistance, type NearEntry, ProfileIndex } from "./profile_index.ts";
import type { Profile, ProfileEntry } from "./profile_types.ts";

export type { AdapterIdentity, TargetDevice };

/**
 * How well a profile's entry matches, the best first. `exact`: measured for this problem on this device.
 * `same-device`: on this device, for the nearest problem of the same stencil and variant. `same-architecture`,
 * `same-vendor`: on a device of that kind, for this problem or the nearest. `default`: no entry matches, and the best
 * prediction is used.
 */
export type MatchGrade = "exact" | "same-device" | "same-architecture" | "same-vendor" | "default";

/** A configuration that can run, and where it comes from. */
export interface Choice {
  /** Pass it to {@linkcode createSolver}. */
  readonly configuration: Configuration;
  /** How well it matches. */
  readonly match: MatchGrade;
  /** The profile's entry that it comes from; undefined if the match is `default`. */
  readonly entry?: ProfileEntry;
  /** What had to be changed so that it runs here, in words; empty if it runs as it was measured. */
  readonly changes: readonly string[];
  /** The first few better matches that cannot run here. */
  readonly passedOver: readonly PassedOver[];
  /** All of this in one line. */
  readonly message: string;
}

/** A better match that cannot run here. */
export interface PassedOver {
  /** The configuration in the profile. */
  readonly configuration: Configuration;
  /** Why it cannot run. */
  readonly reason: string;
}

/** Options of {@linkcode chooseConfiguration}. */
export interface ChooseOptions {
  /**
   * Number of CPU workers available; with 0 the GPU computes alone.
   * @default {one per core in Deno; 0 elsewhere, where workers need a module of their own}
   */
  readonly cpuWorkers?: number;
}

/** Entries tried of each grade: those after them are too far away to be better than a default. */
const MOST_ENTRIES = 64;

/** Passed over configurations that a choice lists. */
const MOST_LISTED = 8;

/** Copy bandwidth assumed where it is unknown; it hardly changes the order of predictions. */
const USUAL_BANDWIDTH = 200e9;

/**
 * Chooses how to compute a problem on a device. What it returns has passed every check that needs no compiling: those
 * of the traversal, of the device's limits, of ghost zones and of memory.
 *
 * @param profiles one profile or several, of any devices; an empty list gives the default
 * @param problem what to compute
 * @param device the device at hand, for example a `GPUDevice`; null if the CPU computes alone
 * @throws {RangeError} if no configuration can run the problem here; the message names the limit
 *
 * @example
 * ```ts
 * import { chooseConfiguration } from "./choose.ts";
 * import { readProfile } from "./read_profile.ts";
 * import { wave } from "../../kernels/stencils/wave.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const profile = await readProfile("fixtures/h100/wave.json");
 * const { limits, vendor, architecture, device, description } = profile.device.gpu!;
 * const h100 = { limits, adapterInfo: { vendor, architecture, device, description } };
 * const problem = { stencil: wave(2), grid: [512, 5280, 128], boundary: "zero", steps: 96 } as const;
 * const { match, configuration } = chooseConfiguration(profile, problem, h100);
 * assertEquals([match, configuration.parameters.dts], ["same-device", 6]);
 * ```
 */
export function chooseConfiguration(
  profiles: Profile | readonly Profile[],
  problem: Problem,
  device: TargetDevice | null,
  { cpuWorkers = usualWorkers() }: ChooseOptions = {},
): Choice {
  checkProblem("choose a configuration", problem);
  const list: readonly Profile[] = "schemaVersion" in profiles ? [profiles] : profiles;
  const wanted = describeProblem(problem);
  const target = { problem, limits: device?.limits, cpuWorkers, refused: new Map<string, string>() };
  const passedOver: PassedOver[] = [];
  for (const grade of DEVICE_GRADES) {
    const alike = list.filter((profile) => gradeDevice(device?.adapterInfo, profile.device.gpu) === grade);
    const entries = mergeByDistance(alike.map((profile) => ProfileIndex.of(profile).entriesFor(wanted)));
    let tried = 0;
    for (const near of entries) {
      if (tried++ === MOST_ENTRIES) break;
      const found = firstThatRuns(near, target, passedOver);
      if (found === undefined) continue;
      const match: MatchGrade = near.distance === 0 && grade === "same-device" ? "exact" : grade;
      const choice = { ...found, match, entry: near.entry, passedOver };
      return { ...choice, message: explain(choice, { grade, near }) };
    }
  }
  const bandwidth = list.find(({ device: { gpu } }) => gradeDevice(device?.adapterInfo, gpu) !== undefined)
    ?.device.measured.copyBytesPerSecond ?? USUAL_BANDWIDTH;
  const configuration = defaultConfiguration(problem, { ...target, bandwidth });
  const choice = { configuration, match: "default" as const, changes: [], passedOver };
  return { ...choice, message: explain(choice) };
}

/** One worker per core, where workers can be started without a module of their own. */
function usualWorkers(): number {
  const canShare = typeof Deno !== "undefined" && typeof SharedArrayBuffer !== "undefined";
  return canShare ? navigator.hardwareConcurrency : 0;
}

/** The fastest of an entry's configurations that runs unchanged; otherwise the fastest that runs with changes. */
function firstThatRuns(
  { entry: { problem, configuration, tieSet } }: NearEntry,
  target: Omit<AdaptTarget, "mayChange">,
  passedOver: PassedOver[],
): Pick<Choice, "configuration" | "changes"> | undefined {
  const ties = tieSet.toSorted((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  const candidates = [...new Map(
    [configuration, ...ties.map((tie) => tie.configuration)].map((one) => [JSON.stringify(one), one]),
  ).values()];
  const isSameGrid = problem.grid.every((cells, axis) => cells === target.problem.grid[axis]);
  for (const mayChange of isSameGrid ? [false, true] : [true]) {
    for (const candidate of candidates) {
      const adapted = adaptConfiguration(candidate, problem, { ...target, mayChange });
      if (!("reason" in adapted)) return adapted;
      if (mayChange && passedOver.length < MOST_LISTED) {
        passedOver.push({ configuration: candidate, reason: adapted.reason });
      }
    }
  }
  return undefined;
}

/** The best predicted configuration of the GPU alone; the CPU alone where there is none. */
function defaultConfiguration(
  problem: Problem,
  { limits, cpuWorkers, bandwidth }: Pick<AdaptTarget, "limits" | "cpuWorkers"> & { bandwidth: number },
): Configuration {
  const { grid: [slices], steps } = problem;
  let reason = "there is no GPU";
  if (limits !== undefined) {
    const device = { copyBytesPerSecond: bandwidth };
    const { candidates, infeasible } = enumerateSpace(problem, { traversals: TRAVERSALS, limits, device });
    const [first, ...others] = candidates;
    if (first !== undefined) {
      const best = others.reduce((a, b) => b.predicted > a.predicted ? b : a, first);
      const share = { cpuSlices: 0, gpuSlices: slices, exchangeEvery: steps, cpuWorkers: 0 };
      return { traversal: best.traversal.name, parameters: best.parameters, share };
    }
    reason = infeasible.find(({ traversal }) => traversal === TRAVERSALS[0]?.name)?.example ??
      "nothing runs it";
  }
  const share = { cpuSlices: slices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: Math.max(1, cpuWorkers) };
  const target = { problem, limits, cpuWorkers, mayChange: false };
  const alone = adaptConfiguration({ traversal: "stepwise", parameters: {}, share }, problem, target);
  if (!("reason" in alone)) return alone.configuration;
  const { stencil: { title }, grid } = problem;
  throw new RangeError(
    `Cannot choose a configuration for ${title} on ${grid.join("x")}: GPU: ${reason}; CPU: ${alone.reason}`,
  );
}

function explain(
  { changes, passedOver, configuration }: Omit<Choice, "message">,
  from?: { grade: DeviceGrade; near: NearEntry },
): string {
  let what = "nothing in the profile fits: the best prediction";
  if (from !== undefined) {
    const { grade, near: { distance, entry: { problem: { grid, boundary, steps } } } } = from;
    const on = grade === "same-device" ? "this device" : `a device of the ${grade.replace("-", " ")}`;
    what = distance === 0
      ? `measured for this problem on ${on}`
      : `measured on ${on} for ${grid.join("x")}, ${boundary} boundary, ${steps} steps`;
  }
  const { cpuSlices, gpuSlices } = configuration.share;
  const shared = cpuSlices === 0 ? "" : ", shared with the CPU";
  const where = gpuSlices === 0 ? "the CPU alone" : configuration.traversal + shared;
  const changed = changes.length === 0 ? "" : `; changed: ${changes.join(", ")}`;
  const [first] = passedOver;
  const passed = first === undefined ? "" : `; passed over: ${first.reason}`;
  return `${where}: ${what}${changed}${passed}`;
}
