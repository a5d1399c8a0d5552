/**
 * Cells that stand for a place between cells, and their weights.
 *
 * @module
 */
import type { Offset } from "./expression.ts";
import { alongAxes, type Boundaries, type Grid, imageOf } from "./stencils/stencil.ts";

/**
 * How a value between cells is made of theirs. `linear`: of the 8 around it; half a cell away from a cell that loses 4% of the
 * amplitude of a wave with 13 points per wavelength. `sinc`: of those within 4 cells along each axis, by a sinc with a
 * Kaiser window (Hicks, Geophysics 67, 2002: b = 6.31).
 */
export type Interpolation = "linear" | "sinc";

export const INTERPOLATIONS: readonly Interpolation[] = ["linear", "sinc"];

const RADIUS = 4, KAISER_B = 6.31;

/** Cells of an axis, and what each counts. */
interface WeightedAxis {
  readonly cells: readonly number[];
  readonly weights: readonly number[];
}

/** What stands for a place: of a sinc's 512 cells the 8 along each axis. */
export interface WeightedPlace {
  readonly along: readonly [x: WeightedAxis, y: WeightedAxis, z: WeightedAxis];
  /** What all of it counts. */
  readonly factor: number;
}

/** How many cells stand for a place. */
export function countCells({ along: [x, y, z] }: WeightedPlace): number {
  return x.cells.length * y.cells.length * z.cells.length;
}

/** Visits the cells that stand for a place, x slowest. */
export function visitCells(
  { along: [xs, ys, zs], factor }: WeightedPlace,
  visit: (x: number, y: number, z: number, weight: number) => void,
): void {
  for (let i = 0; i < xs.cells.length; i++) {
    for (let j = 0; j < ys.cells.length; j++) {
      const x = xs.cells[i]!, y = ys.cells[j]!, weight = xs.weights[i]! * ys.weights[j]!;
      for (let k = 0; k < zs.cells.length; k++) visit(x, y, zs.cells[k]!, factor * (weight * zs.weights[k]!));
    }
  }
}

/** Where places lie, and what is around the grid. */
export interface Surroundings {
  readonly grid: Grid;
  readonly boundary: Boundaries;
  /**
   * What cells beyond the low end of z are: cell −k − 1 that of k, or −k that of k, times 1 or −1; k may lie beyond the high
   * end. @default {what the boundary says}
   */
  readonly image?: { readonly sum: 0 | -1; readonly sign: 1 | -1 } | undefined;
  /** What all of a place counts. @default {1} */
  readonly factor?: number;
}

/**
 * What stands for a place. A cell beyond the grid counts as what it is an image of; where zeros lie it does not count.
 *
 * @param place in cells: whole numbers are the cells themselves
 */
export function weightsAround(
  place: Offset,
  interpolation: Interpolation,
  { grid, boundary, image: beyond, factor = 1 }: Surroundings,
): WeightedPlace {
  const ends = alongAxes(boundary);
  const [x, y, z] = place.map((at, axis): WeightedAxis => {
    const cells: number[] = [], weights: number[] = [];
    for (const { cell, weight } of weightsAt(at, interpolation)) {
      const mirror = axis === 2 && cell < 0 ? beyond : undefined;
      // few layers end before the mirror image of a cell
      const image = imageOf(mirror ? mirror.sum - cell : cell, grid[axis]!, ends[axis]!);
      if (image === undefined) continue;
      const known = cells.indexOf(image), i = known < 0 ? cells.push(image) - 1 : known;
      weights[i] = (weights[i] ?? 0) + (mirror?.sign ?? 1) * weight;
    }
    const counted = [...weights.keys()].filter((i) => weights[i] !== 0);
    return { cells: counted.map((i) => cells[i]!), weights: counted.map((i) => weights[i]!) };
  });
  return { along: [x!, y!, z!], factor };
}

/** Cells along an axis, and their weights. */
export function weightsAt(at: number, interpolation: Interpolation): { cell: number; weight: number }[] {
  const below = Math.floor(at), part = at - below;
  if (part === 0) return [{ cell: below, weight: 1 }];
  if (interpolation === "linear") {
    return [{ cell: below, weight: 1 - part }, { cell: below + 1, weight: part }];
  }
  return Array.from({ length: 2 * RADIUS }, (_, i) => {
    const cell = below + 1 - RADIUS + i, distance = at - cell, angle = Math.PI * distance;
    const window = bessel(KAISER_B * Math.sqrt(1 - (distance / RADIUS) ** 2)) / bessel(KAISER_B);
    return { cell, weight: window * Math.sin(angle) / angle };
  });
}

/** I₀, the modified Bessel function of the first kind, by its power series. */
function bessel(x: number): number {
  let sum = 1, term = 1;
  for (let k = 1; term > 1e-17 * sum; k++) {
    term *= (x / 2 / k) ** 2;
    sum += term;
  }
  return sum;
}
