/**
 * What an equation's file provides: a {@linkcode Stencil}. It knows no traversal and no target.
 *
 * @module
 */
import type { Axis, Expression } from "../expression.ts";
import type { InitialField } from "../initial_field.ts";
import type { Value } from "../operations.ts";
import type { PointCounts } from "../points.ts";
import { type Precise, precisionOf } from "../precision.ts";
import { planesOf, type Update } from "../update.ts";

/** Cells along x (slowest in memory), y, and z (fastest). Of a line they are 1 × 1 × N, in two dimensions x × 1 × y. */
export type Grid = readonly [x: number, y: number, z: number];

/** Cells along an equation's own axes: in two dimensions x and y, of which y is the fastest. */
export type OwnGrid = Grid | readonly [x: number, y: number];

/** How many axes an equation has. */
export type Dimensions = 1 | 2 | 3;

/** What is said to an equation that is made for both. */
export interface InSpace {
  /** 2 for two dimensions. @default {3} */
  readonly dimensions?: 2 | 3 | undefined;
}

/** The axes that the equation's own are in a plan: a line lies along z, and y of two dimensions does. */
export function axesOf({ dimensions = 3 }: Pick<Stencil, "dimensions">): readonly Axis[] {
  return dimensions === 3 ? [0, 1, 2] : dimensions === 2 ? [0, 2] : [2];
}

/** The names of an equation's own axes. */
export function ownAxes(dimensions: 2 | 3): readonly ("x" | "y" | "z")[] {
  return (["x", "y", "z"] as const).slice(0, dimensions);
}

/** What `at` takes for the cell `cells` away along one of the own axes. */
export function alongAxis(axis: number, cells: number, dimensions: 2 | 3): OwnGrid {
  return ownAxes(dimensions).map((_, i) => i === axis ? cells : 0) as readonly number[] as OwnGrid;
}

/** What says how a stencil's axes lie in a plan. */
type Axes = Pick<Stencil, "dimensions" | "original">;

/** The names of a plan's axes, one letter each: what lies between x and y has none. */
export function axisNames({ dimensions, original }: Axes): string {
  return dimensions === 2 ? "x y" : original ? "xzy" : "xyz";
}

/** What a user gives along the own axes, as plans have it; along two, with what lies between. */
export function planned<T>({ original }: Axes, own: readonly T[], between: T): readonly [T, T, T] {
  const [x, y, z] = own.length === 2 ? [own[0], between, own[1]] : original ? [own[0], own[2], own[1]] : own;
  return [x!, y!, z!];
}

/** What a plan has along x, y, z as users see it: in two dimensions along x and y. */
export function ownOf<T>({ dimensions, original }: Axes, [x, y, z]: readonly [T, T, T]) {
  return dimensions === 2 ? [x, z] as const : original ? [x, z, y] as const : [x, y, z] as const;
}

type OfAStencil<T extends keyof Problem> = Pick<Problem, T> & { readonly stencil: Axes };

/** A problem's grid in words: `64x32x16`, in two dimensions `64x32`. */
export function describeGrid({ stencil, grid }: OfAStencil<"grid">): string {
  return ownOf(stencil, grid).join("x");
}

/**
 * What lies beyond both ends of an axis. `zero`: cells fixed at zero that are not the grid's own (the frame).
 * `periodic`: the grid itself again. `insulated`: the grid mirrored about its outermost cells, so that cell −k has
 * the value of cell k, and n − 1 + k that of n − 1 − k: every field alike, staggered ones too, without a change of
 * sign.
 */
export type Boundary = "zero" | "periodic" | "insulated";

/** A boundary for each axis. Where two meet, at edges and corners, zero wins over the others. */
export type AxisBoundaries = readonly [x: Boundary, y: Boundary, z: Boundary];

/** What lies around the grid: one word for all axes, or one for each. */
export type Boundaries = Boundary | AxisBoundaries;

/** The same along an equation's own axes. */
export type OwnBoundaries = Boundaries | readonly [x: Boundary, y: Boundary];

/** The boundaries that an axis of a problem in three dimensions can be given, the default first. */
export const BOUNDARIES: readonly Boundary[] = ["zero", "periodic", "insulated"];

/**
 * Where a wall lies. `face`: half a cell beyond the centre of the outermost cell. `centre`: at that centre; a fixed value
 * is then kept by the cell itself. `beyond`: all cells beyond the end have the value.
 */
export type WallPlace = "face" | "centre" | "beyond";

/** A number, or a function of the time step, called once with the variable `step`, that returns an expression. */
export type WallValue = number | ((step: Expression) => Value);

/**
 * What a wall's g is multiplied by along the side: for some of the other axes a function of the place, from 0 at one end of
 * the grid to 1 at the other, called once with a variable, that returns an expression.
 */
export type WallShape = Readonly<Partial<Record<"x" | "y" | "z", (place: Expression) => Value>>>;

/** What lies beyond an end: a u + b ∂u/∂n = g, n outwards, in units of a cell. */
export interface Wall {
  /** What u counts. */
  readonly a: number;
  /** What the slope counts. */
  readonly b: number;
  /** What both come to. */
  readonly g: WallValue;
  /** Where. */
  readonly at: WallPlace;
  /** What g counts along the side. @default {1} */
  readonly shape?: WallShape | undefined;
  /** Cells before the end in which waves are damped, dΔt/2 at the end itself, and cells that waves go in a step. @default {none} */
  readonly damping?: Readonly<Record<"cells" | "peak" | "courant", number>>;
}

/** A wall at both ends of an axis, or one at each. */
export type AxisEnds = Wall | readonly [low: Wall, high: Wall];

/** The walls of an axis: a word, walls of all fields, or of each by name. */
export type AxisWalls = Boundary | AxisEnds | Readonly<Record<string, AxisEnds>>;

/** What lies around the grid, by the equation's own axes; an axis that is left out has the equation's default boundary. */
export interface Walls {
  /** In every equation. */
  readonly x?: AxisWalls | undefined;
  /** In two and three dimensions. */
  readonly y?: AxisWalls | undefined;
  /** In three dimensions. */
  readonly z?: AxisWalls | undefined;
}

export function alongAxes(boundary: Boundaries): AxisBoundaries {
  return typeof boundary === "string" ? [boundary, boundary, boundary] : boundary;
}

/** One word where all axes have the same: what lies around a grid in only one way of writing. */
export function shortBoundary<const Words extends string | readonly string[]>(
  boundary: Words,
): Words | Extract<Words, string> {
  if (typeof boundary === "string") return boundary;
  const [first, ...others] = boundary;
  return others.every((word) => word === first) ? first as Extract<Words, string> : boundary;
}

/** The boundary as users see it: `periodic`, or `zero,periodic,insulated` along x, y, z. */
export function ownBoundary({ stencil, boundary }: OfAStencil<"boundary">): OwnBoundaries {
  return shortBoundary(ownOf(stencil, alongAxes(boundary)));
}

/** Whether there is nothing but zeros around the grid. */
export function isAllZero(boundary: Boundaries): boolean {
  return shortBoundary(boundary) === "zero";
}

/** The cell 0 ≤ i < n that cell i of an axis is an image of; undefined where zeros lie. */
export function imageOf(i: number, n: number, boundary: Boundary): number | undefined {
  if (boundary === "zero") return i >= 0 && i < n ? i : undefined;
  const period = boundary === "periodic" ? n : Math.max(1, 2 * (n - 1));
  const folded = ((i % period) + period) % period;
  return boundary === "periodic" ? folded : Math.min(folded, period - folded) % n;
}

/** A plane wave (periodic boundary) or standing mode whose discrete time evolution is known exactly. */
export interface ExactSolution {
  /** Value of the cell at time step `step`. */
  at(cell: readonly number[], step: number): number;
}

/** One explicit update: equation, order and coefficients. */
export interface Stencil {
  /** The name that `--stencil` takes, as `wave`. */
  readonly name: string;
  /** What distinguishes stencils of one name, as `{ order: 4 }`; part of a profile's `problem`. */
  readonly variant: Readonly<Record<string, number | string>>;
  /** One line for people. */
  readonly title: string;
  /** A full step of all fields. */
  readonly update: Update;
  /**
   * Axes that it is made for: an equation in one dimension lives on grids of 1×1×N cells, one in two on x×y cells.
   * @default {3}
   */
  readonly dimensions?: Dimensions;
  /**
   * Boundaries that an axis of its grids can be given, the default first.
   * @default {BOUNDARIES}
   */
  readonly boundaries?: readonly Boundary[];
  /**
   * What a run starts from when it is tuned.
   * @default {"noise"}
   */
  readonly initialField?: InitialField;
  /**
   * `free`: beyond the low end of z every field is its mirror image about that end's face, of opposite sign; or the fields
   * of which that is true, where others keep their sign. Sources and receivers between cells see it there. The boundary
   * along z is zero.
   * @default {what the boundary says}
   */
  readonly surface?: "free" | readonly string[];
  /** Cells of the edges that absorb, at both ends of each of the own axes. @default {none} */
  readonly edges?: readonly EndCells[];
  /** Of fields that do not lie where the cells do: how far from there, in cells along the axes. @default {none} */
  readonly stagger?: Readonly<Record<string, readonly number[]>>;
  /** What is wrong with a cell's materials that make sense only together; undefined where nothing is. */
  misfit?(materials: Readonly<Record<string, number>>): string | undefined;
  /** What users see instead of a stencil whose y and z have changed places in plans. */
  readonly original?: Stencil;
  /** The exact discrete solution with wave numbers `modes` (whole periods along each own axis), periodic grid. */
  planeWave?(grid: readonly number[], modes: readonly number[]): ExactSolution;
}

/** Cells at both ends of an axis. */
export type EndCells = readonly [low: number, high: number];

/** Cells of a stencil's edges along the axes of a plan. */
export function edgesAlong({ edges = [], ...axes }: Axes & Pick<Stencil, "edges">) {
  const none: EndCells = [0, 0], own = edges.length < 2 ? [none, none, edges[0] ?? none] : edges;
  return planned(axes, own, none);
}

/** What may lie around the grid along an axis, the default first. */
export function boundariesOf({ boundaries = BOUNDARIES }: Stencil): readonly Boundary[] {
  return boundaries;
}

/** Whether a boundary is a word, or one for each axis, that the stencil can be given; whatever it is. */
export function isBoundaryOf(stencil: Stencil, boundary: unknown): boundary is OwnBoundaries {
  const along = Array.isArray(boundary) ? boundary : [boundary, boundary, boundary];
  // three may be a plan's
  const fits = along.length === 3 || (along.length === 2 && stencil.dimensions === 2);
  return fits && along.every((kind) => boundariesOf(stencil).includes(kind));
}

/** What tells the stencils of one equation apart. */
export type VariantValue = number | string;

/** A built-in equation with the choices that make a stencil of it. */
export interface Equation {
  /** The name that `--stencil` takes. */
  readonly name: string;
  readonly title: string;
  /** Axes that its grids can have, the default first. @default {[3]} */
  readonly dimensions?: readonly Dimensions[];
  /** What distinguishes its stencils; undefined where there is only one. */
  readonly variant?: {
    /** What `--set` calls it. */
    readonly name: string;
    /** What it takes, in a word. */
    readonly placeholder: string;
    readonly title: string;
    /** The values there are, for people. */
    readonly wanted: string;
    readonly default: VariantValue;
    /** The default in two dimensions. @default {the same} */
    readonly planar?: VariantValue;
    /** Reads a value; undefined where the text is none. */
    read(text: string, dimensions?: 2 | 3): VariantValue | undefined;
  };
  /** What `--set mode` takes in two dimensions, the default first. @default {there is one form only} */
  readonly modes?: readonly [string, ...string[]];
  /** Its time step, without dimensions; undefined where it has none to choose. */
  readonly timeStep?: {
    readonly name: string;
    /** What it is made of, as `cΔt/h`. */
    readonly formula: string;
    /** Largest stable value. */
    limit(variant: VariantValue | undefined, dimensions?: 2 | 3): number;
  };
  /** The stencil of a variant; the time step is 0.9 of its limit where none is given. */
  create(variant: VariantValue | undefined, timeStep?: number, dimensions?: 2 | 3, mode?: string): Stencil;
}

/** A variant that is one of a few values, the first unless given. */
export function oneOf<T extends VariantValue>(
  name: string,
  title: string,
  values: readonly [T, ...T[]],
): NonNullable<Equation["variant"]> {
  return {
    name,
    title,
    placeholder: typeof values[0] === "number" ? "N" : "NAME",
    wanted: `one of ${values.join(", ")}`,
    default: values[0],
    read: (text) => values.find((value) => `${value}` === text),
  };
}

/** A stencil on a grid: what is computed, whatever the traversal. Its precision is its equation's, unless it has one. */
export interface Problem extends Precise {
  /** The equation with its order and coefficients. */
  readonly stencil: Stencil;
  /** Cells along x, y, z. */
  readonly grid: Grid;
  /** What lies around the grid. */
  readonly boundary: Boundaries;
  /** Time steps of one run. */
  readonly steps: number;
  /** Sources and receivers. @default {none} */
  readonly survey?: PointCounts;
  /** Whether it is a part of a grid, with ends that are not the grid's own. @default {false} */
  readonly isPart?: boolean;
  /**
   * Where the edges lie that absorb: `within` the grid, in its outer cells; or `around` it, in cells that are computed beside
   * those of the grid, and that have no numbers. @default {"within"}
   */
  readonly edges?: "within" | "around" | undefined;
  /** As Facet has it, of a grid with edges around it: those of its cells that users name. @default {all} */
  readonly inner?: InnerCells;
}

/** Cells of a grid without the edges around them. */
export type InnerCells = Readonly<Record<"low" | "size", Grid>>;

/** The cells of a problem that users name. */
export function innerOf({ grid, inner }: Pick<Problem, "grid" | "inner">): InnerCells {
  return inner ?? { low: [0, 0, 0], size: grid };
}

/** The numbers of a cell along the own axes, below 0 and beyond the grid in edges around it. */
export function namedCell({ stencil, ...problem }: OfAStencil<"grid" | "inner">, cell: Grid) {
  const { low } = innerOf(problem);
  return ownOf(stencil, [cell[0] - low[0], cell[1] - low[1], cell[2] - low[2]]);
}

/** A problem as it is given, along the equation's own axes; where it names no `steps`, long runs are meant. */
export interface OpenProblem extends Omit<Problem, "grid" | "boundary" | "steps"> {
  /** Cells along x, y, z; in two dimensions along x and y. */
  readonly grid: OwnGrid;
  /** What lies around the grid: words, or walls by axis. */
  readonly boundary: OwnBoundaries | Walls;
  /** Time steps of a run, of any length. */
  readonly steps?: number | undefined;
}

/** Refuses a value that does not hold; `wanted` says what is. */
export function requireValue(holds: boolean, name: string, wanted: string, value: number | string): void {
  if (!holds) throw new RangeError(`Cannot build the ${name} stencil: ${wanted}: current value is ${value}`);
}

/** Refuses a value that is none of a few. */
export function requireOneOf(name: string, what: string, values: readonly number[], value: number): void {
  requireValue(values.includes(value), name, `${what} must be ${values.join(", ")}`, value);
}

/** Refuses a number that is not above 0 and at most the stability limit; `what` names it. */
export function requireStable(name: string, what: string, value: number, limit: number, of = ""): void {
  const wanted = `${what} must be above 0 and at most ${limit.toPrecision(6)}, the stability limit${of}`;
  requireValue(value > 0 && value <= limit, name, wanted, value);
}

/** The grid's own cells, the unit of every rate. */
export function cellsOf([x, y, z = 1]: OwnGrid): number {
  return x * y * z;
}

/** Bytes of both time levels, materials included, without pads. */
export function fieldBytes({ grid, stencil: { update } }: Pick<Problem, "grid" | "stencil">): number {
  return 2 * precisionOf(update).bytes * planesOf(update) * cellsOf(grid);
}
