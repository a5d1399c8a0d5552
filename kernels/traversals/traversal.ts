/**
 * What a traversal provides: its parameters, what makes them feasible, its traffic and its plan.
 * A traversal knows no equation: it sees an update only as taps, through the problem's stencil.
 *
 * @module
 */
import { type Capabilities, type Refusal, wrongParameters } from "../capability.ts";
import type { DeviceLimits } from "../device_limits.ts";
import type { Points } from "../points.ts";
import type { SectionLimits } from "../sections.ts";
import type { Problem } from "../stencils/stencil.ts";
import type { Parameter } from "./parameter.ts";
import type { Shader } from "../wgsl/shader.ts";
import type { PointTable, Storage } from "./storage.ts";

export type { DeviceLimits };

/** Values of a traversal's parameters, numbers or words, as `{ dts: 5, nt: 96, loads: "tier start" }`. */
export type Parameters = Readonly<Record<string, number | string>>;

/** Values to try of each parameter. */
export type ParameterLists = Readonly<Record<string, readonly (number | string)[]>>;

/** Why there are parameters that a traversal does not have; undefined where it has all of them. */
export function refuseOthers(names: readonly string[], parameters: Parameters): Refusal | undefined {
  const other = Object.keys(parameters).find((name) => !names.includes(name));
  const but = names.length === 0 ? "" : ` but ${names.join(", ")}`;
  return other === undefined ? undefined : wrongParameters(`wanted no parameters${but}: found ${other}`);
}

/** The same with a traversal's own names. */
export type ParametersOf<Name extends string> = Readonly<Record<Name, number>>;

/** Where a configuration lies along the axes of a search. */
export type Coordinates = Readonly<Record<string, number>>;

/** How coordinates follow from parameters, some of which may be missing, and parameters from coordinates. */
export interface Axes<Values extends Parameters = Parameters> {
  coordinates(parameters: Partial<Values>): Coordinates;
  parameters(coordinates: Coordinates): Parameters;
}

/** How much of some kinds of work there is; a GPU's record has a price for each (models/gpu_record.ts). */
type Counts<Kind extends string> = Readonly<Partial<Record<Kind, number>>>;

/** What a configuration asks of the device, known before anything is compiled; the models' input. */
export interface Demand {
  /** Those of a value. @default {4} */
  readonly bytesPerValue?: number;
  /** Bytes read from and written to device memory per cell update, at best (every value moved once). */
  readonly bytesPerUpdate: number;
  /**
   * Values that a thread keeps alive at once: plain ones; with two tiers in the loop's body, those that swap places and
   * those that are repeated; those that rest in workgroup memory; and 1 if steps are masked where they leave the grid.
   */
  readonly registers: Counts<"plain" | "swapped" | "repeated" | "resting" | "masks">;
  readonly threadsPerWorkgroup: number;
  readonly workgroupBytes: number;
  /** Workgroups that one dispatch can run at the same time. */
  readonly workgroupsPerDispatch: number;
  /** Instructions in the innermost loop, roughly. @default {0} */
  readonly loopInstructions?: number;
  readonly rounds: Rounds;
}

/**
 * Workgroups compute in rounds, with barriers between them: the tiers of torres, the slices of marches, the rows of swept
 * nodes. A workgroup of stepwise has one round.
 */
export interface Rounds {
  /** Instructions of a thread, and barriers, in a round. */
  readonly instructions: number;
  readonly barriers: number;
  /** Of these instructions operations of values, those of which two are fused counted twice. */
  readonly operations: number;
  /** Rows of values in the device's memory that a SIMD group reads and writes in a round, and values in workgroup memory. */
  readonly rows: number;
  readonly exchanges: number;
  /** Rows that a SIMD group reads again from the nearest cache. @default {0} */
  readonly hits?: number;
  /**
   * How many times a round waits for the device's memory: for the values of a cell or slice, for all of a tier at its
   * start, for those of a tier one by one; and how many times for the cache before it.
   */
  readonly waits: Counts<"waitNs" | "tierWaitNs" | "spreadWaitNs">;
  readonly nearWaits: number;
  /** Bytes per update between the nearest caches and the one of the whole device. */
  readonly nearBytes: number;
  /** What makes values come from further away than the nearest cache. @default {nothing} */
  readonly strays?: Counts<"sliceBytes" | "rowBytes" | "endBytes" | "thickBytes" | "threadBytes">;
  /** Cells that a workgroup updates in a round, and how many of its threads have any. */
  readonly cells: number;
  readonly busyThreads: number;
  /**
   * What several workgroups read: bytes per update, before their first cells or side by side, and after how many
   * workgroups at least, of `workgroupBytes` each.
   */
  readonly again?: {
    readonly bytesPerUpdate: Counts<"before" | "drift">;
    readonly workgroups: number;
    readonly workgroupBytes: number;
  };
  /**
   * Dispatches of a step that are alike: how many, the workgroups of each, the rounds of each of those, and before them
   * rounds that only load.
   */
  readonly dispatches: readonly {
    readonly count: number;
    readonly workgroups: number;
    readonly rounds: number;
    readonly fills?: number;
  }[];
}

export interface Dispatch {
  readonly shader: number;
  readonly workgroups: readonly [number, number, number];
  /** Swap the two arrays: binding 0 gets the odd time levels. */
  readonly flipped: boolean;
  /** i32 values of the uniforms, at most 64. */
  readonly uniforms: readonly number[];
  /** The section of both arrays that it binds: index into the plan's. @default {0} */
  readonly section?: number;
  /** It copies: binding 1 gets this section of the level that binding 0 has. */
  readonly copiesTo?: number;
  /** Sections whose array of the level that binding 1 has follows the scratch buffers. @default {[]} */
  readonly twins?: readonly number[];
  /** Sections whose arrays follow these: of each first that of the level that binding 0 has, then the other's. @default {[]} */
  readonly others?: readonly number[];
}

/** What a GPU runs for a configuration. */
export interface GpuPlan {
  readonly label: string;
  readonly storage: Storage;
  /**
   * Steps of a passage, where the device holds no more than a window of the levels: `dispatches` of this number of steps, or
   * fewer, are done with one section after the other, from the last to the first, and contain no copies.
   */
  readonly passageSteps?: number;
  /** What sets the pads of both levels, once canonical cells were set from outside. @default {[]} */
  readonly pads?: readonly Dispatch[];
  readonly shaders: readonly Shader[];
  /**
   * The dispatches that advance the field by `steps` from time step `start`. F(t) lies in the array of even
   * levels (0) if t is even, else in that of odd levels (1); F(t−1) in the other. The dispatches run one
   * after another, each seeing what those before it wrote.
   *
   * @param order other values of the parameters for `ordering` @default {the plan's own}
   * @param table where points are; they are added to and recorded @default {there are none}
   */
  dispatches(steps: number, start: number, table?: PointTable, order?: Parameters): Dispatch[];
  /** Of a plan whose shaders read series, of points or the signal: finds them, and records their values as they are at t = `start`. */
  readonly points?: {
    tabulate(points: Points): PointTable;
    sample(table: PointTable, start: number): Dispatch[];
    /** Whether what is added ends with the signal of each step. @default {false} */
    readonly hasSignal?: boolean;
  };
}

/**
 * A traversal of space and time.
 *
 * @typeParam Values its parameters by name, for its own file: `const marching: Traversal = { … } satisfies
 *   Traversal<MarchParameters>`
 */
export interface Traversal<Values extends Parameters = Parameters> {
  readonly name: string;
  readonly title: string;
  /** The dimensions of the problems that it is for, and for no others offered. @default {any} */
  readonly dimensions?: 1 | 2 | 3;
  /** What its parameters mean. */
  readonly parameters: Readonly<Record<keyof Values, Parameter>>;
  /** The axes of a search; files of earlier versions name them in place of parameters. @default {one for each parameter} */
  readonly axes?: Axes;
  /** What it can do, compared with what problems need in `../capability.ts`. */
  readonly capabilities: Capabilities;
  /** The values to try of each parameter, for this problem, on a device with these limits. */
  parameterLists(problem: Problem, limits: DeviceLimits): ParameterLists;
  /** Why these values cannot run; undefined where they can. Nothing needs compiling to know. */
  infeasible(problem: Problem, parameters: Values, limits: DeviceLimits): Refusal | undefined;
  /** Points from one node of a line to the next, of which the line must have a whole number. @default {1} */
  pitch?(problem: Problem, parameters: Values): number;
  demand(problem: Problem, parameters: Values): Demand;
  /** Steps of a passage through a window, as in the plan. @default {none: it cannot} */
  passageSteps?(problem: Problem, parameters: Values, limits: SectionLimits): number;
  /** Without limits, a level lies in one array however large it is. */
  plan(problem: Problem, parameters: Values, limits?: SectionLimits): GpuPlan;
}

/** Every combination of the lists' values, the last list's changing first. */
export function* combine(lists: ParameterLists): Generator<Parameters> {
  const names = Object.keys(lists), places = names.map(() => 0);
  if (Object.values(lists).some(({ length }) => length === 0)) return;
  const chosen = Object.fromEntries(names.map((name) => [name, lists[name]![0]!]));
  for (let last = names.length; last >= 0;) {
    yield { ...chosen };
    for (last = names.length - 1; last >= 0; last--) {
      const name = names[last]!, list = lists[name]!;
      places[last] = (places[last]! + 1) % list.length;
      chosen[name] = list[places[last]!]!;
      if (places[last] !== 0) break;
    }
  }
}

/** The combinations that can run a problem, of all of a traversal's values or of some, where it does not refuse the problem. */
export function* feasible(
  traversal: Pick<Traversal, "parameterLists" | "infeasible">,
  problem: Problem,
  limits: DeviceLimits,
  lists: ParameterLists = traversal.parameterLists(problem, limits),
): Generator<Parameters> {
  for (const parameters of combine(lists)) {
    if (traversal.infeasible(problem, parameters, limits) === undefined) yield parameters;
  }
}
