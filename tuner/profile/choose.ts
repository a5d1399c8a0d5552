import { checkOptions } from "../../kernels/check_options.ts";
import { describeGrid, fieldBytes, type OpenProblem, type Problem } from "../../kernels/stencils/stencil.ts";
import { usersProblem } from "../../kernels/planned_problem.ts";
import { refusalOf } from "../../kernels/capability.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { hashOf } from "../../kernels/definition.ts";
import type { Constants } from "../../models/gpu_record.ts";
import { CostModel, kindOf, type Sample } from "../../models/cost_model.ts";
import type { DeviceModel } from "../../models/roofline.ts";
import { adapterInfoOf, deviceLimitsOf } from "../devices/device.ts";
import { deviceModelOf, USUAL_BANDWIDTH } from "../devices/device_model.ts";
import { defaultSteps, withSuitedSteps } from "../problem/default_problem.ts";
import { checkProblem, misfitOf } from "../problem/resolve_problem.ts";
import { refuserOf } from "../problem/request_error.ts";
import { type Configuration, configurationKey } from "../configuration.ts";
import {
  describeValue,
  formatBandwidth,
  formatBytes,
  formatMeasured,
  formatPlural,
  formatRate,
} from "../format.ts";
import { countCores, isPage } from "../platform.ts";
import { adaptConfiguration, describeChanges } from "./adapt.ts";
import { bestPredicted, type Expected, MOST_RUNNERS_UP, type PredictionTarget } from "./best_predicted.ts";
import { type Asked, keep, keyOf, numberOf } from "./kept_choices.ts";
import { DEVICE_GRADES, gradeDevice, type TargetDevice } from "./match_device.ts";
import { learn } from "./learn.ts";
import { describeProblem, problemOf } from "./profile_problem.ts";
import { devicesOf } from "./merge.ts";
import { type NearEntry, nearestEntries, stepsDistance } from "./profile_index.ts";
import type { Profile, ProfileDevice, ProfileEntry, ProfileProblem } from "./profile_types.ts";
import { isShipped, shippedEntries } from "./shipped.ts";
import { isShared, uses } from "../shares.ts";

export type { AdapterIdentity, TargetDevice } from "./match_device.ts";

/**
 * How well a profile's entry matches, the best first. `exact`: this configuration was measured for this problem on this
 * device. `same-device`: predicted from what was measured on this device, or changed so that it can run.
 * `same-architecture`, `same-vendor`: the same on a device of that kind, or measured there. `default`: no entry matches,
 * and the best prediction is used.
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
  /** The profile's device that this entry belongs to. */
  readonly device?: ProfileDevice;
  /** The rate it should reach: as measured on the device that matches, or predicted from that; undefined if nothing is. */
  readonly cellsPerSecond?: number;
  /** The 95% interval of that: of a prediction, by how far off predictions were where it was measured. */
  readonly interval95?: readonly [low: number, high: number];
  /** What differs from what was measured, in words. */
  readonly changes: readonly string[];
  /** The first few entries of the profiles, the nearest first, that cannot run here, up to one that can. */
  readonly passedOver: readonly PassedOver[];
  /** What should be almost as fast, the best first: for `refine` of {@linkcode createSolver}. */
  readonly runnersUp: readonly Configuration[];
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
   * @default {one per core; 0 in a page with a GPU, as workers may need a module of their own}
   */
  readonly cpuWorkers?: number;
  /** Bytes per second of a plain copy on the device, where you know it. @default {that of the most alike profile} */
  readonly copyBytesPerSecond?: number;
  /** What else {@linkcode measureDevice} found of a GPU that nobody measured. @default {those of the most alike profile} */
  readonly constants?: Constants;
  /** Which of the recordings that come with Facet to learn from, by their problem. @default {all} */
  readonly shipped?: (problem: ProfileProblem) => boolean;
}

/** Entries that are looked at: those after them are too far away to be of use. */
const MOST_ENTRIES = 64;

/** Passed over configurations that a choice lists. */
const MOST_LISTED = 8;

/**
 * Standard deviation of the logarithm by which rates are off that were predicted from a GPU of the same kind, beside what the
 * prediction itself is: of 210 problems on an H100 or an H200, from the other one's recordings.
 */
export const ELSEWHERE = 0.05;

/** Bytes of a field, both levels, that any GPU's cache holds, and a core's own under a driver in software. */
const CACHED_BYTES = 2 ** 20;

/**
 * Chooses how to compute a problem on a device. For a problem that was measured there it is the measured configuration;
 * else, of all that can run, the one whose rate should be highest, by the models' predictions and how far off they were
 * where the profile measured; never one that should be slower than stepwise. What it returns has passed every check that
 * needs no compiling: those of the traversal, of the device's limits, of ghost zones and of memory. It is kept with the
 * profile: to ask the same again costs next to nothing.
 *
 * @param profiles one profile or several, of any devices; an empty list gives the default
 * @param asks what to compute; without `steps`, in long runs
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
  asks: OpenProblem,
  device: TargetDevice | null,
  options: ChooseOptions = {},
): Choice {
  checkOptions("choose a configuration", options, [
    "cpuWorkers",
    "copyBytesPerSecond",
    "constants",
    "shipped",
  ]);
  const { cpuWorkers = usualWorkers(device !== null) } = options;
  const problem = withKnownStencil(checkProblem("choose a configuration", asks));
  const isOpen = asks.steps === undefined;
  const given = [profiles].flat() as readonly Profile[];
  const { copyBytesPerSecond, constants = {} } = options, refuse = refuserOf("choose a configuration");
  const odd = given.findIndex((profile) => !Array.isArray(profile?.entries));
  if (odd >= 0) refuse("profiles are wanted, as readProfile returns them", describeValue(given[odd]));
  if (device !== null && typeof device?.limits !== "object") {
    refuse("a GPUDevice or null is wanted", describeValue(device));
  }
  if (!(Number.isInteger(cpuWorkers) && cpuWorkers >= 0)) {
    refuse("cpuWorkers must be a whole number", describeValue(cpuWorkers));
  }
  if (!((copyBytesPerSecond ?? 1) > 0)) {
    refuse("copyBytesPerSecond must be above 0", describeValue(copyBytesPerSecond));
  }
  const wrong = Object.entries(constants).find(([, ns]) => !(ns > 0));
  if (wrong !== undefined) refuse(`${wrong[0]} must be above 0`, describeValue(wrong[1]));
  const asked: Asked = { ...options, profiles: given, problem, isOpen, device, cpuWorkers };
  const choice = keep(asked, keyOf(asked), () => chooseAnew(asked));
  // what a caller makes of the configuration is its own
  return { ...choice, configuration: structuredClone(choice.configuration) };
}

/** The same problem: an equation that comes with Facet is one object, however often it is made, so that what is found is kept. */
function withKnownStencil(problem: Problem): Problem {
  const described = describeProblem(problem), isKnown = described.definition === undefined;
  return isKnown && problem.stencil.surface === undefined ? problemOf(described) ?? problem : problem;
}

/** The choice, found by looking at all that can run. */
function chooseAnew(asked: Asked): Choice {
  const { profiles, problem, isOpen, device, cpuWorkers, shipped } = asked;
  const list = [...profiles.flatMap(devicesOf), ...device === null ? [] : shippedEntries(shipped)];
  const wanted = describeProblem(problem), { stencil } = usersProblem(problem);
  const identity = device && adapterInfoOf(device), { windowBytes } = device?.limits ?? {};
  // a device's own take long to read
  const limits = device && { ...deviceLimitsOf(device), ...(windowBytes && { windowBytes }) };
  const isSoftware = identity?.isFallbackAdapter ?? false;
  // it computes on the CPU's cores, more slowly than the CPU's own kernels
  const avoidsGpu = isSoftware && cpuWorkers > 0 && misfitOf(problem, undefined) === undefined;
  // of a device like none of them, those of the same kind show how far off predictions are
  const ofKind = list.filter(({ device: { gpu } }) => device === null || gpu?.isFallback === isSoftware);
  const graded = Map.groupBy(ofKind, (profile) => gradeDevice(identity, profile.device.gpu) ?? "default");
  const grades = [...DEVICE_GRADES, "default"] as const;
  const alike = grades.flatMap((grade) => graded.get(grade) ?? [])[0]?.device;
  const target: PredictionTarget = { problem, limits: limits ?? undefined, cpuWorkers };
  const deviceModel = modelOf(device, alike, asked);
  const passedOver: PassedOver[] = [];
  for (const grade of grades) {
    const here = graded.get(grade) ?? [], nears = nearestEntries(here, wanted, stencil, MOST_ENTRIES);
    if (nears.length === 0) continue;
    const elsewhere = ofKind.filter((entry) => !here.includes(entry));
    const others = nearestEntries(elsewhere, wanted, stencil, MOST_ENTRIES);
    // what comes with Facet was measured on another specimen; of a device like this one it only says what to expect
    const isLonger = ({ entry }: NearEntry): boolean => isOpen || problem.steps >= entry.problem.steps;
    const same = nears.filter((near) => near.distance === 0 || (isLonger(near) && isLongRun(near, problem)))
      .filter(({ device }) => grade === "same-device" || !isShipped(device))
      .toSorted((a, b) => Number(isShipped(a.device)) - Number(isShipped(b.device)));
    const beside = grade === "same-device" ? 0 : ELSEWHERE;
    const recorded = grade === "default" ? undefined : measuredHere(same, target);
    const unrecorded = recorded && unrecordedOf(recorded.near, problem);
    const expected = unrecorded?.length === 0
      ? undefined
      : predicted(nears, learntFrom(asked, [nears, others], deviceModel), { ...target, beside }, passedOver);
    const isSurpassed = unrecorded?.includes(expected?.configuration.traversal ?? "") &&
      expected!.interval95![0] > recorded!.cellsPerSecond!;
    const found = isSurpassed ? expected : recorded ?? expected;
    if (found === undefined) continue;
    if (avoidsGpu && found === expected && uses(found.configuration.share, "gpu")) break;
    const { near, baseline, known, isMeasured, ...rest } = found;
    const isExact = known === undefined && rest.changes.length === 0 && grade === "same-device";
    const match: MatchGrade = !isMeasured ? "default" : isExact ? "exact" : grade;
    const choice = {
      ...rest,
      match,
      ...(match !== "default" && { entry: near.entry, device: near.device }),
      passedOver,
    };
    const { gpu, cpu } = near.device;
    const on = device === null
      ? cpu.model
      : grade === "same-device"
      ? "this device"
      : grade === "default"
      ? `another device, ${gpu?.description || gpu?.vendor}`
      : `a device of the ${grade.replace("-", " ")}`;
    const isScaled = device !== null && grade !== "same-device" && known !== undefined;
    const scaled = isScaled ? `, scaled to copies at ${formatBandwidth(deviceModel.copyBytesPerSecond)}` : "";
    return { ...choice, message: explain(choice, { on: on + scaled, near, baseline, known }) };
  }
  if (avoidsGpu) return chooseAnew({ ...asked, device: null });
  // a field that caches hold gains nothing from a kernel that saves traffic, and pays for its compilation
  const isSmall = fieldBytes(problem) <= CACHED_BYTES && problem.stencil.dimensions !== 1;
  const traversals = isSmall ? { traversals: [stepwise] } : {};
  const { best, runnersUp, reasons } = bestPredicted(
    { ...target, ...traversals },
    new CostModel(deviceModel),
  );
  if (best === undefined) {
    const on = `${problem.stencil.title} on ${describeGrid(problem)}`;
    throw new RangeError(`Cannot choose a configuration for ${on}: ${reasons.join("; ")}`);
  }
  const choice = {
    configuration: best.configuration,
    runnersUp,
    match: "default" as const,
    changes: [],
    passedOver,
  };
  return { ...choice, message: explain(choice) };
}

/** One worker per core, but in a page: not every bundle has their module, and threads may share no memory. */
function usualWorkers(hasGpu: boolean): number {
  if (isPage() && hasGpu) return 0;
  return typeof SharedArrayBuffer === "undefined" ? 1 : countCores();
}

/** What the models know of the device at hand; what it does not report is taken from a profile's device like it. */
function modelOf(
  device: TargetDevice | null,
  alike: Profile["device"] | undefined,
  { copyBytesPerSecond = alike?.measured.copyBytesPerSecond ?? USUAL_BANDWIDTH, constants }: Asked,
): DeviceModel {
  const { isFallbackAdapter: isFallback = false, description = "" } = (device && adapterInfoOf(device)) ?? {};
  const { cpu = { cores: countCores() }, measured } = alike ?? {};
  return deviceModelOf(
    { gpu: { isFallback, description }, cpu, measured: constants ?? measured ?? {} },
    copyBytesPerSecond,
  );
}

/** A choice before its words, and the entry that it comes from. */
type Found = Pick<Choice, "configuration" | "runnersUp" | "changes" | "cellsPerSecond" | "interval95"> & {
  readonly near: NearEntry;
  /** Whether a configuration of its traversal was measured. */
  readonly isMeasured: boolean;
  /** How many measurements a prediction comes from, and what stepwise should reach. */
  readonly known?: number;
  readonly baseline?: Expected | undefined;
};

/** Whether an entry is of this problem, in runs as long as `tune` makes them: what was best there is best in longer ones. */
function isLongRun({ entry: { problem: measured }, device, distance }: NearEntry, problem: Problem): boolean {
  if (distance > stepsDistance(measured, problem)) return false;
  const usual = { ...problem, steps: defaultSteps(problem.stencil, device.gpu) };
  const copy = device.measured.copyBytesPerSecond ?? USUAL_BANDWIDTH;
  return measured.steps >= withSuitedSteps({ problem: usual, isDefaultSteps: true, device }, copy).steps;
}

/** The fastest configuration that was measured for this very problem and can run here as it is. */
function measuredHere(same: readonly NearEntry[], target: PredictionTarget): Found | undefined {
  for (const near of same) {
    const { configuration, result, tieSet } = near.entry;
    const ties = tieSet.toSorted((a, b) => b.cellsPerSecond - a.cellsPerSecond);
    const able = [{ configuration, ...result }, ...ties].flatMap((rated) => {
      const adapted = adaptConfiguration(rated.configuration, target);
      return "reason" in adapted ? [] : [{ ...rated, ...adapted }];
    });
    const [best] = able;
    if (best === undefined) continue;
    const { cellsPerSecond, confidence95, changes } = best, own = configurationKey(best.configuration);
    const others = able.filter((other) => configurationKey(other.configuration) !== own);
    return {
      configuration: best.configuration,
      changes,
      runnersUp: others.slice(0, MOST_RUNNERS_UP).map(({ configuration }) => configuration),
      near,
      isMeasured: true,
      // what was changed was not measured
      ...(changes.length === 0 && { cellsPerSecond, ...(confidence95 && { interval95: confidence95 }) }),
    };
  }
}

/** Traversals that can run a problem, of which what came with Facet says nothing: later ones, which may be faster. */
function unrecordedOf({ device, entry: { calibration = [] } }: NearEntry, problem: Problem): string[] {
  if (!isShipped(device)) return [];
  const recorded = new Set(calibration.map(({ traversal }) => traversal));
  return TRAVERSALS.filter((one) => !recorded.has(one.name) && !refusalOf(one, problem)).map(({ name }) =>
    name
  );
}

/** What entries teach of an equation, whose constants make no difference. */
interface Learnt {
  readonly samples: ReadonlyMap<ProfileEntry, readonly Sample[]>;
  readonly model: CostModel;
}

/** What entries teach of the caller's problem, of the device at hand and then of others; kept for the next of its kind. */
function learntFrom(asked: Asked, entries: readonly NearEntry[][], device: DeviceModel): Learnt {
  const { stencil } = usersProblem(asked.problem), isCpu = asked.device === null;
  const key = entries.map((some) => some.map(({ entry }) => numberOf(entry)));
  return keep(asked, JSON.stringify([hashOf(stencil.update), isCpu, device, key]), () => {
    const [here, elsewhere] = entries, samples = learn(here!, stencil, { isHere: true, isCpu });
    const known = [...samples.values()].flat().length;
    for (const [entry, found] of learn(elsewhere!, stencil, { isCpu, known })) samples.set(entry, found);
    return { samples, model: new CostModel(device, [...samples.values()].flat()) };
  });
}

/** The best predicted, and the nearest entry with a measurement of its kind; undefined if there is none. */
function predicted(
  nears: readonly NearEntry[],
  { samples, model }: Learnt,
  target: PredictionTarget,
  passedOver: PassedOver[],
): Found | undefined {
  for (const { entry: { configuration }, device, isAlike } of nears) {
    // only entries of the caller's profiles are reported
    if (!isAlike || isShipped(device)) continue;
    const adapted = adaptConfiguration(configuration, target);
    // that there is no GPU is known
    if (!("reason" in adapted) || target.limits === undefined) break;
    if (passedOver.length < MOST_LISTED) passedOver.push({ configuration, reason: adapted.reason });
  }
  const known = nears.reduce((sum, { entry }) => sum + (samples.get(entry)?.length ?? 0), 0);
  if (known === 0) return undefined;
  const like = nears.find(({ isAlike }) => isAlike)?.entry.configuration;
  const { best, runnersUp, baseline } = bestPredicted(target, model, like);
  if (best === undefined) return undefined;
  const { configuration, cellsPerSecond, interval95 } = best;
  const isLike = (sample: Sample): boolean => kindOf(sample) === best.kind;
  const near = nears.find(({ entry }) => samples.get(entry)?.some(isLike)) ?? nears[0]!;
  const same = samples.get(near.entry)?.find(isLike);
  const changes = same === undefined
    ? [...best.changes, `${configuration.traversal}, which was not measured`]
    : [...best.changes, ...describeChanges(same.parameters, configuration.parameters)];
  return {
    configuration,
    runnersUp,
    changes,
    cellsPerSecond,
    interval95,
    near,
    isMeasured: same !== undefined,
    known,
    baseline,
  };
}

/** A choice in one line. */
function explain(
  { changes, passedOver, configuration, cellsPerSecond, interval95 }: Omit<Choice, "message">,
  from?: Pick<Found, "near" | "baseline"> & { readonly on: string; readonly known: number | undefined },
): string {
  let what = "predicted by the models alone: no measurement in the profile fits";
  if (from !== undefined) {
    const { on, known, baseline, near: { entry: { problem: { grid, boundary, steps } } } } = from;
    what = known === undefined
      ? `measured for this problem on ${on}`
      : `predicted from ${formatPlural(known, "measurement")} on ${on} (the nearest: ${grid.join("x")}, ` +
        `${boundary} boundary, ${formatPlural(steps, "step")})`;
    if (cellsPerSecond !== undefined && known !== undefined) {
      what += `; expected: ${formatMeasured({ cellsPerSecond, confidence95: interval95! })}`;
      if (baseline !== undefined) what += `, stepwise on the GPU ${formatRate(baseline.cellsPerSecond)}`;
    }
  }
  const { traversal, share } = configuration;
  const shared = isShared(share) ? ", shared with the CPU" : "";
  const window = share.deviceMemory ? ` through a window of ${formatBytes(share.deviceMemory)}` : "";
  const where = uses(share, "gpu") ? traversal + shared + window : "the CPU alone";
  const changed = changes.length === 0 ? "" : `; changed: ${changes.join(", ")}`;
  const [first] = passedOver;
  const passed = first === undefined ? "" : `; passed over: ${first.reason}`;
  return `${where}: ${what}${changed}${passed}`;
}
