/**
 * Absorbing edges: at the ends of the axes waves are damped at a rate that grows with the square of the depth, in axis
 * profiles, so that no cell has memory for it.
 *
 * @module
 */
import { along, type AlongAxis } from "../equation.ts";
import type { Expression } from "../expression.ts";
import { add, divide, maximum, multiply, subtract } from "../operations.ts";
import type { Layer } from "../update.ts";
import { axesOf, ownAxes, type OwnGrid, requireValue, type Stencil } from "./stencil.ts";

/** Cells of the edges at each end of every axis, or of x, y and z, in two dimensions of x and y. */
export type EdgeWidths = number | OwnGrid;

/** How edges damp. */
export interface Damping {
  /** The value at the outer end of an edge, whose width in cells is given. */
  readonly peakOf: (width: number) => number;
  /** Whether the low end of the last axis has none. */
  readonly isFree: boolean;
  /** @default {3} */
  readonly dimensions?: 2 | 3;
  /** Cells from the cells' own places to those of staggered fields. @default {no field is staggered} */
  readonly stagger?: number | undefined;
  /** What a profile holds instead of the damping itself. */
  readonly as?: (damping: Expression) => Expression;
}

/** The damping along each axis that has edges, by name: `dx`, `dy`, `dz`; and at staggered places `hx`, `hy`, `hz`. */
export function edgesOf(
  name: string,
  widths: EdgeWidths,
  { peakOf, isFree, stagger, as, dimensions = 3 }: Damping,
): Readonly<Record<string, AlongAxis>> {
  const axes = ownAxes(dimensions);
  const all: readonly number[] = typeof widths === "number" ? axes.map(() => widths) : widths;
  const areWhole = all.length === dimensions && all.every((cells) => Number.isInteger(cells) && cells >= 0);
  const wanted = `edges must be whole numbers of cells, one or ${dimensions === 2 ? "two" : "three"}`;
  requireValue(areWhole, name, wanted, `${widths}`);
  const places = [["d", 0], ...(stagger === undefined ? [] : [["h", stagger] as const])] as const;
  return Object.fromEntries(axes.flatMap((axis, i) => {
    const width = all[i]!, peak = peakOf(width), isOneSided = isFree && axis === axes.at(-1);
    return width === 0 ? [] : places.map(([letter, shift]) => {
      const damping = depthSquared({ width, peak, shift, isOneSided });
      return [letter + axis, along(axis, (i, n) => as?.(damping(i, n)) ?? damping(i, n))];
    });
  }));
}

/** Quadratic in the `width` outer cells at both ends, or at the high one alone, 0 between. */
function depthSquared({ width, peak, shift, isOneSided }: {
  width: number;
  peak: number;
  shift: number;
  isOneSided: boolean;
}): (i: Expression, n: Expression) => Expression {
  return (i, n) => {
    const low = isOneSided ? 0 : subtract(width - 0.5 - shift, i);
    const high = subtract(i, subtract(n, width + 0.5 + shift));
    const depth = divide(maximum(0, low, high), width);
    return multiply(peak, depth, depth);
  };
}

/** How a PML absorbs. */
export interface Pml {
  /** The rate at its outer end, in v/h of the fastest wave. */
  readonly rate: number;
  /** The power of the depth that it grows with. @default {4} */
  readonly degree?: 2 | 4;
  /** What its memory keeps of itself in a step, lest static fields stay in it or waves of guides grow. */
  readonly kept: number;
}

/**
 * A PML's profiles, q of a memory ψ that becomes kept · ψ − q (ψ + D).
 *
 * @param courant cells that the fastest wave goes in a step
 */
export function pmlOf({ rate, degree = 4 }: Pml, courant: number): Pick<Damping, "peakOf" | "as"> {
  const as = (square: Expression): Expression => {
    const half = multiply(rate / 2 * courant, square, ...degree === 4 ? [square] : []);
    return divide(multiply(2, half), add(1, half));
  };
  return { peakOf: () => 1, as };
}

/** What a PML's memory becomes, which a difference along its axis counts with; `part`: its profile there. */
export function remembered(
  { kept }: Pml,
  memory: Expression,
  part: Expression,
  difference: Expression,
): Expression {
  return subtract(multiply(kept, memory), multiply(part, add(memory, difference)));
}

/** A stencil whose last fields, one for each of these axes of its own, are the memory of edges. */
export function inLayers(stencil: Stencil, axes: readonly number[], edges: EdgeWidths): Stencil {
  const own = axesOf(stencil);
  const layers = axes.map((i): Layer => ({
    axis: own[i]!,
    cells: typeof edges === "number" ? edges : edges[i]!,
  }));
  return layers.length === 0 ? stencil : { ...stencil, update: { ...stencil.update, layers } };
}

/** The sum of one or more. */
export function sumOf([first, ...others]: readonly Expression[]): Expression {
  return add(first!, ...others);
}
