import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { planesOf } from "../../kernels/update.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import type { DeviceModel } from "../../models/roofline.ts";
import { adapterInfoOf } from "../devices/device.ts";
import { checkProblem } from "../problem/resolve_problem.ts";
import { RequestError } from "../problem/request_error.ts";
import type { Configuration } from "../configuration.ts";
import { describeValue, formatRate } from "../format.ts";
import { countCores, isPage } from "../platform.ts";
import { cpuCandidates } from "../search/cpu_space.ts";
import { deviceModelOf } from "../search/device_model.ts";
import { onGpuAlone } from "../search/space.ts";
import { adaptConfiguration, type Adapted, type AdaptTarget, type Fitted } from "./adapt.ts";
import { DEVICE_GRADES, type DeviceGrade, gradeDevice, type TargetDevice } from "./match_device.ts";
import { describeProblem } from "./profile_problem.ts";
import { mergeByDistance, type NearEntry, ProfileIndex } from "./profile_index.ts";
import type { Profile, ProfileEntry } from "./profile_types.ts";

export type { AdapterIdentity, TargetDevice } from "./match_device.ts";

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
  /** The rate it should reach on the device that matches: as measured, or predicted from that; without a match undefined. */
  readonly cellsPerSecond?: number;
  /** What differs from what was measured, in words. */
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
   * @default {one per core; 0 in a page, where workers may need a module of their own}
   */
  readonly cpuWorkers?: number;
}

/** Entries tried of each grade: those after them are too far away to be better than a default. */
const MOST_ENTRIES = 64;

/** Passed over configurations that a choice lists. */
const MOST_LISTED = 8;

/** Copy bandwidth assumed where it is unknown; it hardly changes the order of predictions. */
const USUAL_BANDWIDTH = 200e9;

/** Bytes of a field, both levels, that any GPU's cache holds, and a core's own under a driver in software. */
const CACHED_BYTES = 2 ** 20;

/** The workgroup of stepwise from which the best one for a grid is looked for. */
const PLAIN = { threadsZ: 64, threadsY: 4, threadsX: 1 };

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
  const list = [profiles].flat() as readonly Profile[];
  const refuse = (wanted: string, found: unknown): never => {
    throw new RequestError(`Cannot choose a configuration: ${wanted}: found ${describeValue(found)}`);
  };
  const odd = list.findIndex((profile) => !Array.isArray(profile?.entries));
  if (odd >= 0) refuse("profiles are wanted, as readProfile returns them", list[odd]);
  if (device !== null && typeof device?.limits !== "object") refuse("a GPUDevice or null is wanted", device);
  const wanted = describeProblem(problem);
  const identity = device && adapterInfoOf(device);
  const graded = Map.groupBy(list, (profile) => gradeDevice(identity, profile.device.gpu));
  const alike = DEVICE_GRADES.map((grade) => graded.get(grade)?.[0]).find((profile) => profile !== undefined);
  const target: AdaptTarget = {
    problem,
    limits: device?.limits,
    cpuWorkers,
    refused: new Map(),
    device: modelOf(device, alike?.device),
  };
  const passedOver: PassedOver[] = [];
  for (const grade of DEVICE_GRADES) {
    const indexes = (graded.get(grade) ?? []).map(ProfileIndex.of);
    const entries = mergeByDistance(indexes.map((index) => index.entriesFor(wanted)));
    let tried = 0;
    for (const near of entries) {
      if (tried++ === MOST_ENTRIES) break;
      const fitted = fromEntry(near, target, passedOver);
      if (fitted === undefined) continue;
      const { correction: _, ...found } = fitted;
      const match: MatchGrade = near.distance === 0 && grade === "same-device" ? "exact" : grade;
      const choice = { ...found, match, entry: near.entry, passedOver };
      return { ...choice, message: explain(choice, { grade, near }) };
    }
  }
  const configuration = defaultConfiguration(target);
  const choice = { configuration, match: "default" as const, changes: [], passedOver };
  return { ...choice, message: explain(choice) };
}

/** One worker per core, but in a page: not every bundle has their module. */
function usualWorkers(): number {
  return isPage() ? 0 : countCores();
}

/** What the models know of the device at hand; what it does not tell itself is that of a profile's device like it. */
function modelOf(device: TargetDevice | null, alike: Profile["device"] | undefined): DeviceModel {
  const isFallback = (device && adapterInfoOf(device))?.isFallbackAdapter ?? false;
  const cpu = alike?.cpu ?? { cores: countCores() };
  return deviceModelOf({ gpu: { isFallback }, cpu }, alike?.measured.copyBytesPerSecond ?? USUAL_BANDWIDTH);
}

/**
 * What an entry's measurements suggest. For its own problem, the fastest of its configurations that runs unchanged. Else
 * its best of each kind with the parameters near its own that should be fastest here, or stepwise if none should be
 * faster than that. Undefined if none of its configurations can run.
 */
function fromEntry(
  { entry, distance }: NearEntry,
  target: AdaptTarget,
  passedOver: PassedOver[],
): Fitted | undefined {
  const { stencil } = target.problem;
  const { grid, steps, boundary } = entry.problem;
  const problem: Problem = { stencil, grid, steps, boundary: boundary as Problem["boundary"] };
  const ties = entry.tieSet.toSorted((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  const { cellsPerSecond, speedupOverStepwise } = entry.result;
  const measured = [{ configuration: entry.configuration, cellsPerSecond }, ...ties];
  for (const one of distance === 0 ? measured : []) {
    const fitted = adaptConfiguration({ ...one, problem }, target, false);
    if (!("reason" in fitted)) return fitted;
  }
  const kinds = new Map<string, Adapted>();
  for (const one of [...measured, ...entry.bestOfEach ?? []]) {
    const { traversal, share: { cpuSlices, gpuSlices } } = one.configuration;
    const kind = `${traversal} ${cpuSlices > 0} ${gpuSlices > 0}`;
    if (kinds.has(kind)) continue;
    const adapted = adaptConfiguration({ ...one, problem }, target, true);
    kinds.set(kind, adapted);
    if ("reason" in adapted && passedOver.length < MOST_LISTED) {
      passedOver.push({ configuration: one.configuration, reason: adapted.reason });
    }
  }
  const [first, ...others] = [...kinds.values()].filter((one) => "configuration" in one);
  if (first === undefined) return undefined;
  if (!kinds.has("stepwise false true")) {
    // of earlier profiles the speedup says how fast stepwise was; else the models are as far off as for the entry itself
    const known = entry.bestOfEach === undefined && speedupOverStepwise;
    const configuration = onGpuAlone({ traversal: stepwise, parameters: PLAIN }, problem);
    const rate = known ? cellsPerSecond / known : NaN;
    const plain = adaptConfiguration({ configuration, cellsPerSecond: rate, problem }, target, true);
    if ("configuration" in plain) {
      const expected = (known ? 1 : first.correction) * plain.cellsPerSecond;
      others.push({ ...plain, cellsPerSecond: expected, changes: ["stepwise, which should be faster here"] });
    }
  }
  return others.reduce((a, b) => b.cellsPerSecond > a.cellsPerSecond ? b : a, first);
}

/**
 * The best prediction found of the GPU alone; the CPU alone where there is none. A field that caches hold gains nothing
 * from a kernel that saves traffic, and pays for its compilation: there it is stepwise, but on a line.
 */
function defaultConfiguration(target: AdaptTarget): Configuration {
  const { problem, limits, cpuWorkers } = target;
  const bytes = 2 * 4 * planesOf(problem.stencil.update) * cellsOf(problem.grid);
  const isSmall = bytes <= CACHED_BYTES && problem.stencil.dimensions !== 1;
  const alone = (configuration: Configuration): Adapted =>
    adaptConfiguration({ configuration, cellsPerSecond: NaN, problem }, target, true);
  const traversals = isSmall ? [stepwise] : TRAVERSALS;
  const found = (limits === undefined ? [] : traversals).flatMap((traversal) => {
    if (traversal.refuse(problem) !== undefined) return [];
    const lists = Object.entries(traversal.parameterLists(problem, limits!));
    const plain: Parameters = traversal === stepwise ? PLAIN : {};
    const parameters = Object.fromEntries(
      lists.map(([name, values]) => [name, values.findLast((value) => value <= plain[name]!) ?? values[0]!]),
    );
    return [alone(onGpuAlone({ traversal, parameters }, problem))];
  });
  const [best] = found.filter((one) => "configuration" in one)
    .sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  if (best !== undefined) return best.configuration;
  const { stencil: { title }, grid } = problem;
  const onCpu = alone(cpuCandidates(problem, Math.max(1, cpuWorkers))[0]!.configuration);
  if ("configuration" in onCpu) return onCpu.configuration;
  const [first] = found.filter((one) => "reason" in one);
  const gpu = first?.reason ?? "there is no GPU";
  throw new RangeError(
    `Cannot choose a configuration for ${title} on ${grid.join("x")}: GPU: ${gpu}; CPU: ${onCpu.reason}`,
  );
}

function explain(
  { changes, passedOver, configuration, cellsPerSecond }: Omit<Choice, "message">,
  from?: { grade: DeviceGrade; near: NearEntry },
): string {
  let what = "nothing in the profile fits: the best prediction";
  if (from !== undefined) {
    const { grade, near: { distance, entry: { problem: { grid, boundary, steps } } } } = from;
    const on = grade === "same-device" ? "this device" : `a device of the ${grade.replace("-", " ")}`;
    what = distance === 0
      ? `measured for this problem on ${on}`
      : `measured on ${on} for ${grid.join("x")}, ${boundary} boundary, ${steps} steps`;
    if (cellsPerSecond !== undefined && distance > 0) what += `, should reach ${formatRate(cellsPerSecond)}`;
  }
  const { cpuSlices, gpuSlices } = configuration.share;
  const shared = cpuSlices === 0 ? "" : ", shared with the CPU";
  const where = gpuSlices === 0 ? "the CPU alone" : configuration.traversal + shared;
  const changed = changes.length === 0 ? "" : `; changed: ${changes.join(", ")}`;
  const [first] = passedOver;
  const passed = first === undefined ? "" : `; passed over: ${first.reason}`;
  return `${where}: ${what}${changed}${passed}`;
}
