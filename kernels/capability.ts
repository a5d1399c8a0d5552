/**
 * What an update on a grid needs, what a traversal can do, and why one cannot do what the other needs: compared here, as
 * data, for the traversals of the GPU and of the CPU alike.
 *
 * A traversal names every need, as one of those that it can serve or with the reason why not: a need that is new does not
 * compile before every traversal has said what becomes of it.
 *
 * @module
 */
import { tapsIn } from "./expression.ts";
import {
  alongAxes,
  BOUNDARIES,
  type Boundary,
  ownBoundary,
  ownOf,
  type Problem,
  type Stencil,
} from "./stencils/stencil.ts";
import { remembered } from "./remembered.ts";
import { isKept } from "./partial_sums.ts";
import { strayTaps } from "./partial_sums.ts";
import {
  expressionsOf,
  isMirrored,
  reachOf,
  readsPrevious,
  readsSignal,
  tapsOf,
  type Update,
} from "./update.ts";

/** What a problem may need beyond one field that each step makes of the step before; in the order of refusals. */
export const NEEDS = [
  /** Both levels pass through a window of the device's memory. */
  "window",
  /** A grid of more than one row of cells. */
  "dimensions",
  /** A grid of more than one row along y. */
  "volume",
  /** A row no longer than its taps reach. */
  "grid",
  /** Several fields. */
  "fields",
  /** Several fields beside those in layers. */
  "whole-fields",
  /** Several sub-steps in a step. */
  "sub-steps",
  "materials",
  /** Materials that are functions of one axis. */
  "profiles",
  "signal",
  /** A neighbour at t − 1. */
  "previous-neighbours",
  /** Any value at t − 1. */
  "previous",
  /** Taps off the z axis, of an equation of one field, that lie in no sum of their own column. */
  "diagonal-taps",
  /** Taps off the x axis that lie in no sum of their own slice. */
  "slanted-taps",
  /** Taps off the line along z. */
  "sideways-taps",
  /** No tap along x or y. */
  "reach",
  /** Sub-steps that make several fields, or fields that are not made exactly once. */
  "shared-sub-steps",
  /** A field that is read from the step before, but not made last. */
  "early-fields",
  /** Sources or receivers. */
  "points",
  /** A source of a field that a later sub-step reads. */
  "early-sources",
] as const;

export type Need = typeof NEEDS[number];

/** What a refusal is about: a need, the boundary, parameters, or what the device offers. */
export type RefusalKind = Need | "boundary" | "parameters" | "limits";

/** Why something cannot run. Whoever decides reads the kind; the message is for people. */
export interface Refusal {
  readonly kind: RefusalKind;
  readonly message: string;
}

type AxesBoundaries = readonly [x: readonly Boundary[], y: readonly Boundary[], z: readonly Boundary[]];

/** What cannot be served, and why not. */
export interface Limitation {
  /** What may lie around the grid, by axis. @default {anything} */
  readonly boundaries?: AxesBoundaries;
  readonly cannot: Readonly<Partial<Record<Need | "boundary", string>>>;
}

/** What a traversal can do. */
export interface Capabilities extends Limitation {
  readonly can: readonly Need[];
  /** What it cannot do where a problem has this need. */
  readonly where?: Readonly<Partial<Record<Need, Limitation>>>;
}

/** The words of a text. */
type WordsOf<Text extends string> = Text extends `${infer Word} ${infer Rest}` ? Word | WordsOf<Rest> : Text;

/** Capabilities that leave out no need: those that can be served, as words of texts, and of all others why not. */
export function capabilities<Can extends string>(
  can: readonly Can[],
  cannot: Readonly<Record<Exclude<Need, WordsOf<Can>>, string>> & { readonly boundary?: string },
  others: Pick<Capabilities, "boundaries" | "where"> = {},
): Capabilities {
  return { can: can.join(" ").split(" ") as Need[], cannot, ...others };
}

/** The capabilities of what visits cells step by step. */
export const EVERYTHING: Capabilities = { can: NEEDS, cannot: {} };

/** Zeros around the whole grid. */
export const AMONG_ZEROS: AxesBoundaries = [["zero"], ["zero"], ["zero"]];

/** What a torre cannot serve whose tile holds one field. */
export const A_FIELD_IN_A_TILE = {
  window: "a level must lie in one buffer",
  fields: "a tile holds one field",
  "whole-fields": "a tile holds one field",
  "sub-steps": "a tile holds one field",
  "shared-sub-steps": "a tile holds one field",
  "early-fields": "a tile holds one field",
  "early-sources": "a tile holds one field",
  "previous-neighbours": "a torre keeps that level of the cell itself only",
  reach: "there is nothing to tile",
} as const;

/** The same where it holds nothing else. */
export const ALONE_IN_A_TILE = {
  ...A_FIELD_IN_A_TILE,
  materials: "a tile holds no materials",
  profiles: "a tile holds no profiles",
  signal: "a tier knows no time",
  points: "a tile has neither sources nor receivers",
} as const;

/** Around the grid nothing but zeros, or the grid again. */
export const EXCEPT_INSULATED = ["zero", "periodic"] as const;
export const WITHOUT_INSULATED: AxesBoundaries = [EXCEPT_INSULATED, EXCEPT_INSULATED, EXCEPT_INSULATED];

/** Rows whose ends are images of the row. */
export const WITHOUT_ZERO_ENDS: AxesBoundaries = [BOUNDARIES, BOUNDARIES, ["insulated", "periodic"]];

/** A problem, as far as needs go. */
export type NeedyProblem = Pick<Problem, "grid" | "boundary" | "survey"> & {
  readonly stencil: Pick<Stencil, "update" | "dimensions">;
};

/** What the problem needs, each need in words; with a window where the device's limits have one. */
export function needsOf(
  { grid, stencil, stencil: { update }, survey }: NeedyProblem,
  { windowBytes }: { readonly windowBytes?: number } = {},
): ReadonlyMap<Need, string> {
  const [nx, ny, nz] = grid, { z: reach } = reachOf(update);
  const needs = new Map(needsOfUpdate(update));
  if (windowBytes !== undefined) needs.set("window", "the grid passes through a window");
  if (nx !== 1 || ny !== 1) needs.set("dimensions", `the grid is ${ownOf(stencil, grid).join("x")}`);
  if (ny !== 1) needs.set("volume", `the grid is ${ownOf(stencil, grid).join("x")}`);
  if (nz <= reach) needs.set("grid", `${nz} cells along z, as taps reach ${reach}`);
  if (survey !== undefined) needs.set("points", "there are sources or receivers");
  const early = (survey?.sources ?? 0) > 0 ? earlySource(update) : undefined;
  if (early !== undefined) needs.set("early-sources", `a later sub-step reads ${early}, which has a source`);
  return needs;
}

/** A field that has a source and is read by a later sub-step; undefined if there is none. */
function earlySource(update: Update): string | undefined {
  const { fields, sources = [] } = update, later = tapsOf(update).filter(({ ago }) => ago === -1);
  const into = sources.flatMap(({ into }) => into);
  return fields[into.find(({ field }) => later.some(({ plane }) => plane === field))?.field ?? -1];
}

const needsOfUpdate = remembered((update: Update): ReadonlyMap<Need, string> => {
  const { fields, materials, profiles, substeps, layers = [] } = update, taps = tapsOf(update);
  const expressions = expressionsOf(update);
  const made = substeps.flatMap((substep) => substep.map(({ field }) => field));
  const early = taps.find(({ plane, ago }) => ago === 0 && plane < fields.length && plane !== made.at(-1));
  const found: readonly (readonly [Need, boolean, string])[] = [
    ["fields", fields.length > 1, `the equation has ${fields.length} fields`],
    ["whole-fields", fields.length > layers.length + 1, `the equation has ${fields.length} fields`],
    ["sub-steps", made.length > 1 && substeps.length > 1, `a step has ${substeps.length} sub-steps`],
    ["materials", materials.length > 0, "the equation has materials"],
    ["profiles", profiles !== undefined, "the equation has axis profiles"],
    ["signal", readsSignal(update), "the equation has a signal"],
    [
      "previous-neighbours",
      taps.some(({ ago, offset: [x, y, z] }) => ago === 1 && (x !== 0 || y !== 0 || z !== 0)),
      "the update reads a neighbour at t − 1",
    ],
    ["previous", readsPrevious(update), "the update reads a value at t − 1"],
    [
      "diagonal-taps",
      fields.length === 1 && expressions.some((expression) => strayTaps(expression).length > 0),
      "a diagonal tap is in no column's sum",
    ],
    [
      "slanted-taps",
      tapsIn(expressions, isKept).some(({ offset: [x, y, z] }) => x !== 0 && (y !== 0 || z !== 0)),
      "a tap off the x axis is in no sum of its slice",
    ],
    ["sideways-taps", taps.some(({ offset: [x, y] }) => x !== 0 || y !== 0), "a tap is not on the line"],
    ["reach", reachOf(update).diamond === 0, "no tap reaches along x or y"],
    [
      "shared-sub-steps",
      made.length !== substeps.length || new Set(made).size !== fields.length,
      "a sub-step makes several fields, or a field is not made once",
    ],
    [
      "early-fields",
      early !== undefined,
      `field ${early && fields[early.plane]} is read from the step before, but not made last`,
    ],
  ];
  return new Map(found.filter(([, isNeeded]) => isNeeded).map(([need, , words]) => [need, words]));
});

/** Why a traversal cannot run the problem with any parameters; undefined where it can. */
export function refusalOf(
  { capabilities }: { readonly capabilities: Capabilities },
  problem: NeedyProblem,
  limits?: { readonly windowBytes?: number },
): Refusal | undefined {
  const needs = needsOf(problem, limits), { where = {} } = capabilities;
  const limitations = [capabilities, ...NEEDS.flatMap((need) => needs.has(need) ? where[need] ?? [] : [])];
  const along = alongAxes(problem.boundary);
  for (const kind of ["window", "dimensions", "volume", "grid", "boundary", ...NEEDS] as const) {
    if (kind !== "boundary" && !needs.has(kind)) continue;
    for (const { boundaries, cannot } of limitations) {
      const isServed = kind === "boundary"
        ? along.every((kind, axis) => (boundaries?.[axis] ?? BOUNDARIES).includes(kind))
        : cannot[kind] === undefined;
      if (isServed) continue;
      const found = kind === "boundary" ? `the boundary is ${ownBoundary(problem)}` : needs.get(kind);
      return { kind, message: `${found}: ${cannot[kind]}` };
    }
  }
}

/** A refusal of parameters. */
export function wrongParameters(message: string): Refusal {
  return { kind: "parameters", message };
}

/** Refuses insulated ends for an equation that is unlike its mirror image there; undefined where it is like it. */
export function refuseUnlike(problem: Problem): Refusal | undefined {
  const along = alongAxes(problem.boundary), { stencil: { update } } = problem;
  if (([0, 1, 2] as const).every((axis) => along[axis] !== "insulated" || isMirrored(update, axis))) {
    return undefined;
  }
  const message = "a torre computes beyond insulated ends, and the equation is not its own mirror image";
  return { kind: "boundary", message: `the boundary is ${ownBoundary(problem)}: ${message}` };
}
