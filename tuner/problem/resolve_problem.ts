import { refusalOf } from "../../kernels/capability.ts";
import { MAX_WORKERS } from "../configuration.ts";
import {
  alongAxes,
  axisNames,
  boundariesOf,
  describeGrid,
  edgesAlong,
  isBoundaryOf,
  type OpenProblem,
  type OwnGrid,
  ownOf,
  type Problem,
  type Stencil,
} from "../../kernels/stencils/stencil.ts";
import { checkOptions } from "../../kernels/check_options.ts";
import { checkStencil } from "../../kernels/check_definition.ts";
import { inPrecision, plannedProblem, withEquation } from "../../kernels/planned_problem.ts";
import { type PrecisionName, precisionOf, PRECISIONS } from "../../kernels/precision.ts";
import type { PointCounts } from "../../kernels/points.ts";
import { isFinite32 } from "../../kernels/check_expression.ts";
import { remembered } from "../../kernels/remembered.ts";
import { reachOf, signalAt, type Update } from "../../kernels/update.ts";
import { traversalNamed, TRAVERSALS } from "../../kernels/traversals/all.ts";
import { combine, type DeviceLimits, type Traversal } from "../../kernels/traversals/traversal.ts";
import { whyUncut } from "../../kernels/sections.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { stepwiseLayout } from "../../kernels/traversals/step_shader.ts";
import { stepNeeds } from "../../kernels/traversals/window_passage.ts";
import { freeMemory } from "../platform.ts";
import { type DeviceDescription, whyNoPrecision, withWindow } from "../devices/device.ts";
import { gpuName } from "../devices/vendors.ts";
import { describeValue, formatBytes } from "../format.ts";
import { defaultGrid, defaultSteps, defaultWorkers } from "./default_problem.ts";
import { canRun, describeCut } from "./left_out.ts";
import { refuserOf, RequestError } from "./request_error.ts";

/** Time steps of a run at most: every evaluation takes several runs, and longer ones no longer change the rate. */
export const MAX_STEPS = 10_000;
/** Cells along an axis at most: shaders count them with i32. What the device's memory holds is less. */
const MAX_EXTENT = 2 ** 31 - 1;
/** Bytes that a WebAssembly memory can hold. */
const WASM_BYTES = 2 ** 32;

const KEYS = [
  ...["stencil", "grid", "boundary", "edges", "steps", "survey", "precision"] as const,
  ...["inner", "isPart"] as const,
] as const;

/** How a boundary for each axis is written. */
export const THREE_BOUNDARIES = ["zero", "periodic", "insulated"] as const;

/** What is asked for; what is left out is filled in. */
export interface ProblemWish {
  readonly stencil: Stencil;
  /** @default {one that suits the device} */
  readonly grid?: OwnGrid | undefined;
  /** @default {the first of the stencil's} */
  readonly boundary?: OpenProblem["boundary"] | undefined;
  /** Where edges that absorb lie. @default {"within"} */
  readonly edges?: OpenProblem["edges"];
  /** Of all values. @default {the stencil's} */
  readonly precision?: PrecisionName | undefined;
  /** Sources and receivers. @default {none} */
  readonly survey?: PointCounts | undefined;
  /** Time steps of a run. @default {defaultSteps(stencil, gpu)} */
  readonly steps?: number | undefined;
  /** Names of the only traversals of the GPU to try. @default {[]} all */
  readonly traversals?: readonly string[] | undefined;
  /** Workers on the CPU; 0: the GPU alone. @default {defaultWorkers(device)} */
  readonly cpuWorkers?: number | undefined;
  /**
   * Bytes that the GPU may be given. Where a result and its reference take more, the host holds them, the GPU a window.
   * @default {all}
   */
  readonly deviceMemory?: number | undefined;
  /** Whether the GPU takes part. @default {true} */
  readonly gpu?: boolean | undefined;
}

/** What was asked for, on this machine. */
export interface ResolvedProblem {
  readonly problem: Problem;
  /** Whether the grid was left to Facet, which may take a smaller one where memory runs short. */
  readonly isDefaultGrid: boolean;
  /** Whether the steps were, which may be more where a run is short. */
  readonly isDefaultSteps: boolean;
  readonly traversals: readonly Traversal[];
  /** The devices that take part; a GPU that is left out is null. */
  readonly device: DeviceDescription;
  readonly cpuWorkers: number;
  /** Why the GPU that was found does not take part, where it cannot. */
  readonly note: string | undefined;
}

/**
 * From a request to the problem that is computed on this machine: fills in what is left open, and rejects what can be
 * known to fail before any work. The command line and the library use it alike.
 *
 * @param action what is asked for, as `tune`: an error begins with `Cannot tune`
 * @throws {RequestError} saying what is wanted and what was found
 */
export function resolveProblem(
  action: string,
  wish: ProblemWish,
  detected: DeviceDescription,
): ResolvedProblem {
  checkDefinition(action, wish.stencil);
  const { stencil, traversals: names = [], gpu: takesGpu = true } = wish;
  const precise = { precision: wish.precision ?? stencil.update.precision };
  const lacking = takesGpu && detected.gpu ? whyNoPrecision(detected.gpu, precise) : undefined;
  const whole = takesGpu && lacking === undefined ? detected : { ...detected, gpu: null };
  const own = () => defaultGrid(inPrecision(stencil, precise.precision), whole.gpu);
  const { boundary = boundariesOf(stencil)[0]!, grid = own() } = wish;
  const { steps = defaultSteps(stencil, whole.gpu) } = wish;
  const { edges, survey } = wish;
  // nobody names cells of a problem that is measured
  const { inner: _, ...wished } = checkProblem(action, {
    ...{ stencil, grid, boundary, steps, edges, ...precise },
    ...(survey && { survey }),
  });
  // a window where a result and its reference are more than the GPU may be given
  const device = withWindow(whole, windowOf(wished, wish.deviceMemory, 2 * levelBytes(wished))),
    { gpu } = device;
  const isWindow = gpu?.limits.windowBytes !== undefined;
  // what goes up and comes back once a passage should stay for long, unless a copy costs no more than a step
  const isLong = isWindow && !gpu.isFallback;
  const passage = isLong && wish.steps === undefined ? stepwise.passageSteps!(wished, {}, gpu.limits) : 0;
  const problem: Problem = { ...wished, steps: Math.max(steps, Math.min(MAX_STEPS, passage)) };
  const { cpuWorkers = isWindow ? 0 : defaultWorkers(device) } = wish;
  const refuse = refuserOf(action);
  if (steps > MAX_STEPS) refuse(`at most ${MAX_STEPS} steps are wanted`, `${steps}`);
  if (!(Number.isInteger(cpuWorkers) && cpuWorkers >= 0 && cpuWorkers <= MAX_WORKERS)) {
    refuse(`a whole number of CPU workers from 0 to ${MAX_WORKERS} is wanted`, `${cpuWorkers}`);
  }
  const noGpu = lacking ?? (takesGpu ? "there is no WebGPU adapter" : "the GPU is left out");
  if (gpu === null && cpuWorkers === 0) {
    const found = `${noGpu}, and there are 0 workers`;
    throw new RequestError(`Cannot ${action}: a GPU or CPU workers are wanted: ${found}`);
  }
  const { dimensions: wanted = 3 } = stencil;
  const traversals = names.length === 0
    ? TRAVERSALS.filter(({ dimensions = wanted }) => dimensions === wanted)
    : names.map(traversalNamed);
  if (gpu === null && names.length > 0) {
    throw new RequestError(`Cannot ${action}: the traversal ${names[0]} runs on a GPU: ${noGpu}`);
  }
  if (isWindow && cpuWorkers > 0) {
    refuse(
      "no CPU workers are wanted beside a window: what passes through it is not shared",
      `${cpuWorkers}`,
    );
  }
  const misfit = misfitOf(problem, gpu?.limits) ??
    (isWindow || gpu?.isFallback ? whyTooLarge(problem) : undefined) ??
    (isWindow ? whyNone(problem, [stepwise], gpu.limits) : undefined) ??
    (gpu === null || names.length === 0 ? undefined : whyNone(problem, traversals, gpu.limits));
  if (misfit !== undefined) throw new RequestError(`Cannot ${action}: ${misfit}`);
  const isDefault = {
    isDefaultGrid: wish.grid === undefined,
    isDefaultSteps: wish.steps === undefined && !isLong,
  };
  return {
    problem,
    ...isDefault,
    traversals,
    device,
    cpuWorkers,
    note: lacking && `${gpuName(detected.gpu!)} is left out: ${lacking}`,
  };
}

/** The boundaries that a stencil can be given, in words. */
export function wantedBoundary(stencil: Stencil): string {
  const [first, ...others] = boundariesOf(stencil);
  const words = others.length === 0 ? `${first}` : `one of ${[first, ...others].join(", ")}`;
  const each = ownOf(stencil, THREE_BOUNDARIES).join();
  return stencil.dimensions === 1 ? words : `${words}, or one for each axis, such as ${each}`;
}

/**
 * Rejects a problem that makes no sense on any device.
 *
 * @param action what cannot be done, as `create the solver`
 * @param given as users have it, or as plans do already
 * @returns the problem as plans have it
 * @throws {RequestError} saying what is wanted and what was found
 */
export function checkProblem(action: string, given: OpenProblem): Problem {
  const refuse = refuserOf(action);
  if (typeof given !== "object" || given === null) refuse("a problem is wanted", describeValue(given));
  checkOptions<OpenProblem & Problem, typeof KEYS>(action, given as Problem, KEYS);
  const { stencil, grid, steps, survey, precision, edges = "within" } = given;
  checkDefinition(action, stencil);
  if (edges !== "within" && edges !== "around") refuse("edges within or around", describeValue(edges));
  if (precision !== undefined && !Object.hasOwn(PRECISIONS, precision)) {
    refuse("a precision of f32 or f64 is wanted", describeValue(precision));
  }
  if (survey !== undefined) checkSurvey(refuse, stencil, survey);
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;
  const isPlanar = stencil.dimensions === 2;
  const isGrid = Array.isArray(grid) && grid.every(isCount) &&
    (grid.length === 3 ? !isPlanar || grid[1] === 1 : grid.length === 2 && isPlanar);
  if (!isGrid) {
    const found = Array.isArray(grid) ? grid.join("x") : describeValue(grid);
    refuse(`a grid of ${isPlanar ? "two" : "three"} whole numbers, at least 1, is wanted`, found);
  }
  if (Math.max(...grid) > MAX_EXTENT) {
    refuse(`at most ${MAX_EXTENT} cells along each axis are wanted`, grid.join("x"));
  }
  if (!isCount(grid.reduce((product, n) => product * n, 1))) {
    refuse(`at most ${Number.MAX_SAFE_INTEGER} cells are wanted`, grid.join("x"));
  }
  if (steps !== undefined && !isCount(steps)) refuse("steps must be a whole number, at least 1", `${steps}`);
  const asked = madeFor(action, () => withEquation(given)), { boundary } = asked;
  // of a longer run, those that it makes are looked at when it does
  checkSignals(action, asked, 0, Math.min(steps ?? 1, MAX_STEPS));
  const isAlongAll = !Array.isArray(boundary) ||
    boundary.length === grid.length;
  if (!isAlongAll || !isBoundaryOf(asked.stencil, boundary)) {
    refuse(`the boundary must be ${wantedBoundary(stencil)}, or walls`, `${boundary}`);
  }
  if (edges === "around" && asked.stencil.edges === undefined) {
    refuse("edges of the equation, or absorbing walls, are wanted around the grid", "none");
  }
  const problem = plannedProblem(asked), [x, y, z] = problem.grid, { z: reach } = reachOf(stencil.update);
  if (stencil.dimensions === 1 && (x !== 1 || y !== 1 || z <= reach)) {
    const wanted = `a grid of 1x1xN, N at least ${reach + 1}, as its taps reach ${reach}`;
    refuse(`${stencil.title} needs ${wanted}`, grid.join("x"));
  }
  const depth = alongAxes(problem.boundary)[2];
  if (stencil.surface !== undefined && depth !== "zero") {
    refuse("the boundary along the depth must be zero below a free surface", depth);
  }
  return problem;
}

/** Rejects a grid whose edges leave nothing between them: its waves would mean nothing, though it is as fast as others. */
export function checkEdges(action: string, { stencil, grid }: Problem): void {
  edgesAlong(stencil).forEach(([low, high], axis) => {
    if (low + high <= grid[axis]!) return;
    const wanted = `at least ${low + high} cells along ${
      axisNames(stencil)[axis]
    }, those of edges, are wanted`;
    refuserOf(action)(wanted, `${grid[axis]}`);
  });
}

/** Rejects numbers of sources and receivers that make no sense. */
function checkSurvey(refuse: ReturnType<typeof refuserOf>, stencil: Stencil, survey: PointCounts): void {
  checkOptions("make the survey", survey ?? {}, ["sources", "receivers", "every"]);
  const { sources, receivers, every = 1 } = survey ?? {};
  const areNatural = [sources, receivers, every].every((count) => Number.isSafeInteger(count) && count >= 0);
  if (!areNatural || every < 1) {
    refuse(
      "a survey of whole numbers of sources, receivers and steps between samples is wanted",
      describeValue(survey),
    );
  }
  if (sources > 0 && stencil.update.sources === undefined) {
    refuse(`no sources are wanted, as ${stencil.name} declares none`, `${sources}`);
  }
}

/** Rejects a stencil that makes no sense, wherever it was made. */
function checkDefinition(action: string, stencil: Stencil): void {
  madeFor(action, () => checkStencil(stencil));
}

/** What `make` returns; what it refuses to build cannot be done. */
export function madeFor<T>(action: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    const { message } = error as Error;
    throw new RequestError(`Cannot ${action}: ${message.replace(/^Cannot build /, "")}`);
  }
}

/** First steps of an update in which f32 is known to hold its signal. */
const signalsHeld = remembered((_: Update) => ({ steps: 0 }));

/** Rejects a run from one step to before another, in some of which f32 cannot hold the signal. */
export function checkSignals(
  action: string,
  { stencil }: Pick<Problem, "stencil">,
  start: number,
  end: number,
): void {
  const { update, update: { signal } } = stencil, held = signalsHeld(update);
  for (let step = Math.max(start, held.steps); signal !== undefined && step < end; step++) {
    const value = signalAt(update, step);
    if (!isFinite32(value)) {
      refuserOf(action)(`a signal that f32 can hold is wanted at step ${step}`, `${value}`);
    }
  }
  if (start <= held.steps) held.steps = Math.max(held.steps, end);
}

/** Why the memory for a problem cannot be had; undefined where it can. Without a GPU's limits, of the CPU alone. */
export function misfitOf(problem: Problem, limits: DeviceLimits | undefined): string | undefined {
  // the CPU stores no layers
  const layout = stepwiseLayout(limits === undefined ? { ...problem, isPart: true } : problem);
  const bytes = precisionOf(layout).bytes * layout.length, most = WASM_BYTES / 2;
  const found = `a time level of ${describeGrid(problem)} takes ${formatBytes(bytes)} with its frame`;
  if (limits === undefined) {
    return bytes > most ? `${found}: WebAssembly holds two of at most ${formatBytes(most)}` : undefined;
  }
  const why = whyUncut(layout, stepNeeds(problem), limits);
  return why && `${found}: ${why.message}`;
}

/** What a window may take of the GPU's memory, where a field is more than that; undefined where it is not. */
export function windowOf(
  problem: Problem,
  deviceMemory: number | undefined,
  bytes = levelBytes(problem),
): number | undefined {
  return deviceMemory !== undefined && bytes > deviceMemory ? deviceMemory : undefined;
}

/** Bytes of both levels of a field, pads included. */
export function levelBytes(problem: Problem): number {
  const layout = stepwiseLayout(problem);
  return 2 * precisionOf(layout).bytes * layout.length;
}

/**
 * Why the host's memory does not hold the reference and a result: where they pass through a window, or the GPU is one in
 * software.
 */
function whyTooLarge(problem: Problem): string | undefined {
  const bytes = 2 * levelBytes(problem), most = freeMemory() ?? Infinity;
  if (bytes <= most) return undefined;
  const [needs, free] = [bytes, most].map(formatBytes);
  return `a result and its reference on ${describeGrid(problem)} take ${needs}, ${free} are available`;
}

/**
 * Why none of some traversals can compute a problem; undefined where one can. Of a line that cannot be cut into nodes,
 * the nearest lengths that can.
 */
export function whyNone(
  problem: Problem,
  traversals: readonly Traversal[],
  limits: DeviceLimits,
): string | undefined {
  const willing = traversals.filter((traversal) => refusalOf(traversal, problem, limits) === undefined);
  const [first = traversals[0]!] = willing;
  const named = (willing.length > 0 ? willing : traversals).map(({ name }) => name).join(", ");
  if (willing.length === 0) return `${named}: ${refusalOf(first, problem, limits)?.message}`;
  if (canRun(problem, willing, limits)) return undefined;
  if (problem.stencil.dimensions === 1) return `${named} ${describeCut(problem, willing, limits)}`;
  const [parameters] = combine(first.parameterLists(problem, limits));
  const why = parameters === undefined
    ? "no parameters suit the grid"
    : first.infeasible(problem, parameters, limits)?.message;
  return `${first.name} on a grid of ${describeGrid(problem)}: ${why}`;
}
