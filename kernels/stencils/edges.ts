/**
 * Absorbing edges: at the ends of the axes waves are damped at a rate that grows with the square of the depth, in axis
 * profiles, so that no cell has memory for it.
 *
 * @module
 */
import { along, type AlongAxis } from "../equation.ts";
import type { Expression } from "../expression.ts";
import { add, divide, maximum, multiply, subtract } from "../operations.ts";
import { requireValue } from "./stencil.ts";

/** Cells of the edges at each end of every axis, or of x, y and z. */
export type EdgeWidths = number | readonly [x: number, y: number, z: number];

/** How edges damp. */
export interface Damping {
  /** The value at the outer end of an edge of so many cells. */
  readonly peakOf: (width: number) => number;
  /** Whether the low end of z has none. */
  readonly isFree: boolean;
  /** Cells from the cells' own places to those of staggered fields. @default {no field is staggered} */
  readonly stagger?: number;
  /** What a profile holds instead of the damping itself. */
  readonly as?: (damping: Expression) => Expression;
}

/** The damping along each axis that has edges, by name: `dx`, `dy`, `dz`; and at staggered places `hx`, `hy`, `hz`. */
export function edgesOf(
  name: string,
  widths: EdgeWidths,
  { peakOf, isFree, stagger, as }: Damping,
): Readonly<Record<string, AlongAxis>> {
  const three = typeof widths === "number" ? [widths, widths, widths] : widths;
  const areWhole = three.length === 3 && three.every((cells) => Number.isInteger(cells) && cells >= 0);
  requireValue(areWhole, name, "edges must be whole numbers of cells, one or three", `${widths}`);
  const places = [["d", 0], ...(stagger === undefined ? [] : [["h", stagger] as const])] as const;
  return Object.fromEntries((["x", "y", "z"] as const).flatMap((axis, i) => {
    const width = three[i]!, peak = peakOf(width), isOneSided = isFree && axis === "z";
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

/** The sum of one or more. */
export function sumOf([first, ...others]: readonly Expression[]): Expression {
  return add(first!, ...others);
}
