import { cpuTraversalNamed } from "../../kernels/cpu/cpu_traversals.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { stepReach } from "../../kernels/update.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { DeviceLimits, Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import { cpuLayoutOf, cpuPartOf, gpuPartOf, refuseCpuPart } from "../devices/shared/shares.ts";
import type { Configuration, Share } from "../configuration.ts";
import type { ProfileProblem } from "./profile_types.ts";

/** What there is to run on. */
export interface AdaptTarget {
  readonly problem: Problem;
  /** The GPU's limits; undefined where there is no GPU. */
  readonly limits: DeviceLimits | undefined;
  /** Workers that the CPU can have. */
  readonly cpuWorkers: number;
  /** Whether other values of the parameters may be tried. */
  readonly mayChange: boolean;
  /** What was refused before, and why: of thousands of entries many are alike. @default {nothing} */
  readonly refused?: Map<string, string>;
}

/** A configuration that can run, and what was changed; or why there is none. */
type Adapted =
  | { readonly configuration: Configuration; readonly changes: readonly string[] }
  | { readonly reason: string };

/** Bytes that a WebAssembly memory can hold. */
const WASM_BYTES = 2 ** 32;

/** No parameter of any traversal is larger; what is, was not written by Facet. */
const LARGEST_VALUE = 65_536;

/**
 * Fits a configuration that was measured for one problem to a target that may have another problem and device. What
 * cannot be fitted says why.
 */
export function adaptConfiguration(
  configuration: Configuration,
  measured: Pick<ProfileProblem, "grid">,
  target: AdaptTarget,
): Adapted {
  const { problem, limits, mayChange } = target;
  const fitted = adaptShare(configuration.share, target);
  if ("reason" in fitted) return fitted;
  const { share, changes } = fitCpuPart(fitted, configuration, problem);
  if (share.cpuSlices > 0) {
    const bytes = 2 * 4 * cpuLayoutOf(cpuPartOf(problem, share)).length;
    if (bytes > WASM_BYTES) return { reason: `${bytes} bytes on the CPU: WebAssembly has ${WASM_BYTES}` };
  }
  if (share.gpuSlices === 0) {
    return { configuration: adaptCpu(configuration, share, problem), changes };
  }
  if (limits === undefined) return { reason: "there is no GPU for its slices" };
  const traversal = TRAVERSALS.find(({ name }) => name === configuration.traversal);
  if (traversal === undefined) return { reason: `there is no traversal ${configuration.traversal}` };
  const part = gpuPartOf(problem, share);
  const refused = traversal.refuse(part);
  if (refused !== undefined) return { reason: refused };

  const lists = traversal.parameterLists(part, limits);
  const given = rescale(configuration.parameters, lists, { from: measured.grid, to: part.grid });
  const key = JSON.stringify([traversal.name, given, share, mayChange]);
  const known = target.refused?.get(key);
  if (known !== undefined) return { reason: known };
  let parameters: Parameters | undefined = given;
  const reason = whyNot(traversal, part, given, limits);
  if (reason !== undefined) {
    parameters = mayChange ? nearestFeasible(traversal, part, given, { lists, limits }) : undefined;
    if (parameters === undefined) {
      target.refused?.set(key, reason);
      return { reason };
    }
  }
  return {
    configuration: { traversal: traversal.name, parameters, share },
    changes: [...changes, ...describeChanges(configuration.parameters, parameters)],
  };
}

/** The CPU alone: its own order if the grid allows it, else stepwise. */
function adaptCpu({ traversal, parameters }: Configuration, share: Share, problem: Problem): Configuration {
  const order = problem.stencil.dimensions === 1 ? undefined : cpuTraversalNamed(traversal);
  return order !== undefined && order.infeasible(problem, parameters) === undefined
    ? { traversal, parameters, share }
    : { traversal: "stepwise", parameters: {}, share };
}

/** The share of as large a part of the slices; ghost zones that no longer fit exchange more often, or end it. */
function adaptShare(
  share: Share,
  { problem, cpuWorkers, limits }: AdaptTarget,
): { share: Share; changes: string[] } | { reason: string } {
  const { grid: [slices], steps, stencil } = problem;
  const gpuAlone: Share = { cpuSlices: 0, gpuSlices: slices, exchangeEvery: steps, cpuWorkers: 0 };
  if (share.cpuSlices === 0) return { share: share.gpuSlices === slices ? share : gpuAlone, changes: [] };
  if (share.gpuSlices === 0) {
    if (cpuWorkers === 0) return { reason: "there are no workers for the CPU's slices" };
    const workers = Math.min(share.cpuWorkers, cpuWorkers);
    const changes = workers === share.cpuWorkers ? [] : [`${share.cpuWorkers} → ${workers} CPU workers`];
    return { share: { cpuSlices: slices, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: workers }, changes };
  }
  if (limits === undefined) return { reason: "there is no GPU for its slices" };
  const alone = (why: string) => ({ share: gpuAlone, changes: [`the GPU alone: ${why}`] });
  if (cpuWorkers < share.cpuWorkers) {
    return alone(`${share.cpuWorkers} CPU workers wanted, ${cpuWorkers} had`);
  }
  const before = share.cpuSlices + share.gpuSlices;
  const cpuSlices = before === slices ? share.cpuSlices : Math.round(slices * share.cpuSlices / before);
  const gpuSlices = slices - cpuSlices;
  const reach = Math.max(1, stepReach(stencil.update).x);
  const room = Math.floor(Math.min(cpuSlices, gpuSlices) / reach);
  const wanted = Math.min(share.exchangeEvery, steps);
  const exchangeEvery = Math.min(wanted, room);
  // an exchange costs a fixed time: with less than half the steps between two, the share no longer pays
  if (exchangeEvery < Math.max(1, wanted / 2)) {
    return alone(`ghost zones of ${wanted} steps do not fit ${cpuSlices} and ${gpuSlices} slices`);
  }
  const changes = [
    ...(before === slices ? [] : [`${share.cpuSlices} → ${cpuSlices} slices on the CPU`]),
    ...(exchangeEvery === share.exchangeEvery
      ? []
      : [`exchange every ${share.exchangeEvery} → ${exchangeEvery} steps`]),
  ];
  return { share: { ...share, cpuSlices, gpuSlices, exchangeEvery }, changes };
}

/** Leaves out a traversal that the CPU's slices do not allow. */
function fitCpuPart(
  { share, changes }: { readonly share: Share; readonly changes: readonly string[] },
  configuration: Configuration,
  problem: Problem,
): { readonly share: Share; readonly changes: readonly string[] } {
  const { cpu, ...stepwise } = share;
  const reason = cpu && refuseCpuPart(problem, { ...configuration, share });
  return reason === undefined
    ? { share, changes }
    : { share: stepwise, changes: [...changes, `stepwise on the CPU: ${reason}`] };
}

/** Parameters that the traversal knows; those that count workgroups follow the grid, so that as many run at once. */
function rescale(
  parameters: Parameters,
  lists: Readonly<Record<string, readonly number[]>>,
  { from, to }: { from: Grid; to: Grid },
): Parameters {
  const known = Object.entries(parameters).filter(([name]) => Object.hasOwn(lists, name));
  const { pieces } = lists;
  const isSameGrid = from.every((cells, axis) => cells === to[axis]);
  return Object.fromEntries(known.map(([name, value]): [string, number] => {
    if (name !== "pieces" || pieces === undefined || isSameGrid) return [name, value];
    const wanted = value * (from[1] * from[2]) / (to[1] * to[2]);
    return [name, pieces.reduce((a, b) => farness(b, wanted) < farness(a, wanted) ? b : a, pieces[0]!)];
  }));
}

/** How far two values of a parameter are from each other, in powers of two. */
function farness(a: number, b: number): number {
  return Math.abs(Math.log2((a + 1) / (b + 1)));
}

/** Why these parameters cannot run on a device with these limits; undefined where they can. */
export function whyNot(
  traversal: Traversal,
  problem: Problem,
  parameters: Parameters,
  limits: DeviceLimits,
): string | undefined {
  for (const [name, value] of Object.entries(parameters)) {
    if (!(Number.isInteger(value) && value >= 0 && value <= LARGEST_VALUE)) {
      return `${name} must be a whole number from 0 to ${LARGEST_VALUE}, it is ${value}`;
    }
  }
  const reason = traversal.infeasible(problem, parameters, limits);
  if (reason !== undefined) return reason;
  const missing = Object.keys(traversal.parameterLists(problem, limits)).filter((name) =>
    parameters[name] === undefined
  );
  if (missing.length === 0 || hasDefaults(traversal, problem, parameters)) return undefined;
  return `the profile has no value of ${missing.join(", ")}, and ${traversal.name} has no default`;
}

/** Whether the traversal makes sense of parameters of which some are missing: no number of its plan is undefined. */
function hasDefaults(traversal: Traversal, problem: Problem, parameters: Parameters): boolean {
  const demand = Object.values(traversal.demand(problem, parameters));
  if (demand.some((value) => typeof value === "number" && !Number.isFinite(value))) return false;
  const { shaders, layout, dispatches } = traversal.plan(problem, parameters);
  const isWhole = (value: number): boolean => Number.isInteger(value) && value >= 1;
  return isWhole(layout.length) &&
    shaders.every(({ code }) => !/\b(?:NaN|undefined|Infinity)\b/.test(code)) &&
    dispatches(Math.min(problem.steps, 8), 0).every(({ workgroups }) => workgroups.every(isWhole));
}

/** The feasible parameters that differ in one or two values, and in these the least; undefined where there are none. */
function nearestFeasible(
  traversal: Traversal,
  problem: Problem,
  parameters: Parameters,
  { lists, limits }: { lists: Readonly<Record<string, readonly number[]>>; limits: DeviceLimits },
): Parameters | undefined {
  const moves = Object.entries(lists).flatMap(([name, values]) => {
    const own = parameters[name];
    if (own === undefined) return [];
    return values.filter((value) => value !== own)
      .map((value) => ({ changed: { [name]: value }, name, cost: farness(value, own) }));
  });
  const pairs = moves.flatMap((a, i) =>
    moves.slice(i + 1).filter((b) => a.name !== b.name)
      .map((b) => ({ changed: { ...a.changed, ...b.changed }, cost: a.cost + b.cost }))
  );
  const tries = [...moves, ...pairs].sort((a, b) => a.cost - b.cost);
  const found = tries.find(({ changed }) =>
    whyNot(traversal, problem, { ...parameters, ...changed }, limits) === undefined
  );
  return found && { ...parameters, ...found.changed };
}

function describeChanges(before: Parameters, after: Parameters): string[] {
  return [
    ...Object.entries(after).filter(([name, value]) => before[name] !== value)
      .map(([name, value]) => `${name} ${before[name]} → ${value}`),
    ...Object.keys(before).filter((name) => after[name] === undefined)
      .map((name) => `without ${name}, which this version does not know`),
  ];
}
