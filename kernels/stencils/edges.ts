/**
 * Absorbing edges: at the ends of the axes waves are damped at a rate that grows with the square of the depth, in axis
 * profiles, so that no cell has memory for it.
 *
 * **Matched edges of one field of second order.** Damping alone reflects, since it changes the impedance. With
 *
 *     p_tt/v² + 2 (e/v) p_t + (a e² − b e′) p = Δp,    e′ along the way out,
 *
 * a = b = 1 would take waves that go straight in without any reflection, since e^(−ikx − ∫e) solves it. With b above 1 those
 * that come in at an angle are reflected less. Nothing grows in any medium while a is at least b²: ∫ (∂p)² + (a e² − b e′) p²
 * is ∫ (∂p + b e p)² and more, along every axis. The differences keep that: their b e lies at the faces between cells, each
 * divided by its own density, and ends at the outermost centres, whatever the boundary. A step, d = e Δt/h and m = (Δt/h)²
 * (b e′ − (b² − 1) e²) being sums over the axes, e by cell:
 *
 *     p(t+1) = D (2p + v² ((Δt/h)² Δ_h p + m p) − D p(t−1)),    D = 1 − v d
 *
 * D holds (v d)² p as a mean of three levels, which moves no limit of the time step: it covers what m has below 0. Of densities
 * more than a factor of 3 apart b is less, for the same reason.
 *
 * @module
 */
import { along, type AlongAxis } from "../equation.ts";
import type { Expression } from "../expression.ts";
import { add, divide, maximum, minimum, multiply, subtract, type Value } from "../operations.ts";
import type { Layer } from "../update.ts";
import { axesOf, type EndCells, ownAxes, type OwnGrid, requireValue, type Stencil } from "./stencil.ts";

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
  const all = widthsOf(name, widths, dimensions), axes = ownAxes(dimensions);
  const places = [["d", 0], ...(stagger === undefined ? [] : [["h", stagger] as const])] as const;
  return Object.fromEntries(axes.flatMap((axis, i) => {
    const width = all[i]!, peak = peakOf(width), isOneSided = isFree && axis === axes.at(-1);
    return width === 0 ? [] : places.map(([letter, shift]) => {
      const damping = depthSquared({ width, peak, shift, isOneSided });
      return [letter + axis, along(axis, (i, n) => as?.(damping(i, n)) ?? damping(i, n))];
    });
  }));
}

/** Cells of the edges along each axis, checked. */
function widthsOf(name: string, widths: EdgeWidths, dimensions: 2 | 3): readonly number[] {
  const all: readonly number[] = typeof widths === "number" ? ownAxes(dimensions).map(() => widths) : widths;
  const areWhole = all.length === dimensions && all.every((cells) => Number.isInteger(cells) && cells >= 0);
  const wanted = `edges must be whole numbers of cells, one or ${dimensions === 2 ? "two" : "three"}`;
  requireValue(areWhole, name, wanted, `${widths}`);
  return all;
}

/** Of which medium, and how fast it is computed, matched edges are. */
export interface Matched extends Pick<Damping, "isFree" | "dimensions"> {
  /** Δt/h in s/m. */
  readonly ratio: number;
  /** The highest v in m/s. */
  readonly most: number;
  /** Where densities weigh each face apart: the weight of the nearest difference, and how far apart densities are. */
  readonly faces?: { readonly weight: number; readonly apart: number } | undefined;
}

/**
 * The profiles of matched edges: `ex` … hold d, and `mx` … m; or, where each face counts apart, `lowx` … and `highx` … what p
 * counts in the difference over it, 1 within.
 */
export function matchedEdgesOf(
  name: string,
  widths: EdgeWidths,
  { isFree, dimensions = 3, ratio, most, faces }: Matched,
): Readonly<Record<string, AlongAxis>> {
  const all = widthsOf(name, widths, dimensions), axes = ownAxes(dimensions);
  // D is above 0 in a corner, too, as cells lie before the faces that have the peak
  const highest = 1 / (most * ratio) / all.filter((width) => width > 0).length;
  return Object.fromEntries(axes.flatMap((axis, i): (readonly [string, AlongAxis])[] => {
    const width = all[i]!, isOneSided = isFree && axis === axes.at(-1), wide = Math.log(width);
    if (width === 0) return [];
    // b, ∫e over an edge and where b e begins to end: what reflects least at all angles, and moves no limit
    const b = Math.min(1.4, 0.02 + 0.41 * wide) * (faces && faces.apart > 3 ? 0.8 : 1);
    const peak = Math.min(3 / width * (1.75 + 0.24 * wide), highest),
      last = Math.max(faces ? 2.5 : 2, width / (faces ? 4 : 8));
    const squared = (depth: Value): Expression => multiply(peak / width ** 2, depth, depth);
    const e = (i: Expression, n: Expression) => squared(maximum(0, ...endsOf({ width, isOneSided }, i, n)));
    const d = [`e${axis}`, along(axis, (i, n) => multiply(ratio, e(i, n)))] as const;
    /** What a face adds to (a e² − b e′) p, at the low or the high end of a cell. */
    const part = (side: -1 | 1) => (i: Expression, n: Expression): Expression => {
      const place = add(i, side / 2),
        ending = divide(minimum(last, place, subtract(subtract(n, 1), place)), last);
      const [low, high] = endsOf({ width, isOneSided, shift: side / 2 }, i, n).map((depth) =>
        squared(maximum(0, depth))
      );
      const out = multiply(b, ending, subtract(high!, low!));
      return subtract(multiply(side, out), multiply(0.5, out, out));
    };
    const low = part(-1), high = part(1);
    if (faces === undefined) {
      const m = (i: Expression, n: Expression) =>
        multiply(ratio ** 2, add(low(i, n), high(i, n), multiply(e(i, n), e(i, n))));
      return [d, [`m${axis}`, along(axis, m)]];
    }
    const counted = (of: typeof low) => along(axis, (i, n) => subtract(1, divide(of(i, n), faces.weight)));
    return [d, [`low${axis}`, counted(low)], [`high${axis}`, counted(high)]];
  }));
}

interface EdgePlace {
  readonly width: number;
  readonly isOneSided: boolean;
  /** Cells from the cell's own place. @default {0} */
  readonly shift?: number;
}

/** How deep a place lies in the edge at the low end and at the high one, in cells; below 0 outside. */
function endsOf({ width, isOneSided, shift = 0 }: EdgePlace, i: Expression, n: Expression) {
  const low = isOneSided ? 0 : subtract(width - 0.5 - shift, i);
  return [low, subtract(i, subtract(n, width + 0.5 + shift))] as const;
}

/** Quadratic in the `width` outer cells at both ends, or at the high one alone, 0 between. */
function depthSquared(
  { peak, ...place }: EdgePlace & { readonly peak: number },
): (i: Expression, n: Expression) => Expression {
  return (i, n) => {
    const depth = divide(maximum(0, ...endsOf(place, i, n)), place.width);
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

/** A stencil with edges, of which its last fields, one for each of these axes of its own, are the memory. */
export function withEdges(stencil: Stencil, axes: readonly number[], widths: EdgeWidths): Stencil {
  const own = axesOf(stencil), { surface, update } = stencil;
  const cellsOf = (i: number): number => typeof widths === "number" ? widths : widths[i]!;
  const layers = axes.map((i): Layer => ({ axis: own[i]!, cells: cellsOf(i) }));
  const edges = own.map((_, i): EndCells => {
    return [surface !== undefined && i === own.length - 1 ? 0 : cellsOf(i), cellsOf(i)];
  });
  return {
    ...stencil,
    ...(edges.flat().some((cells) => cells > 0) && { edges }),
    ...(layers.length > 0 && { update: { ...update, layers } }),
  };
}

/** The sum of one or more. */
export function sumOf([first, ...others]: readonly Expression[]): Expression {
  return add(first!, ...others);
}
