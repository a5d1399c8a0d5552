import { remembered } from "../../kernels/remembered.ts";
import { type Boundaries, shortBoundary } from "../../kernels/stencils/stencil.ts";
import { familyKey, stencilKey } from "./profile_problem.ts";
import type { Profile, ProfileEntry, ProfileProblem } from "./profile_types.ts";

/** An entry, and how far its problem is from the wanted one. */
export interface NearEntry {
  readonly entry: ProfileEntry;
  /** What it was measured on. */
  readonly device: Profile["device"];
  /** 0: the same problem. */
  readonly distance: number;
}

/** Distance of another boundary: that of a grid with 16 times the cells, since other traversals suit it. */
const OTHER_BOUNDARY = 4;

/** Distance of other coefficients, on which no rate depends. */
const OTHER_COEFFICIENTS = 0.1;

/** Distance of twice the steps; that of twice the cells is 1. */
const STEPS_WEIGHT = 0.5;

/**
 * How far two problems of one family are from each other: the ratio of their cells and of their steps, the
 * difference in shape, each in powers of two, the boundary, and the coefficients.
 */
export function problemDistance(a: ProfileProblem, b: ProfileProblem): number {
  const ratios = a.grid.map((cells, axis) => Math.log2(cells / b.grid[axis]!));
  const sum = ratios.reduce((sum, ratio) => sum + ratio, 0);
  const shape = Math.hypot(...ratios.map((ratio) => ratio - sum / 3));
  const [of, other] = [a, b].map(({ boundary }) => `${shortBoundary(boundary as Boundaries)}`);
  const boundary = of === other ? 0 : OTHER_BOUNDARY;
  const coefficients = stencilKey(a) === stencilKey(b) ? 0 : OTHER_COEFFICIENTS;
  return Math.abs(sum) + shape + boundary + coefficients +
    STEPS_WEIGHT * Math.abs(Math.log2(a.steps / b.steps));
}

/** The entries of equations like a problem's, on any of these devices: the nearest first, of equals the fastest. */
export function nearestEntries(
  profiles: readonly Profile[],
  problem: ProfileProblem,
  most: number,
): NearEntry[] {
  const family = familyKey(problem);
  return profiles.flatMap((profile) =>
    (familiesOf(profile.entries).get(family) ?? []).map((entry) => ({
      entry,
      device: profile.device,
      distance: problemDistance(entry.problem, problem),
    }))
  ).sort((a, b) => a.distance - b.distance || b.entry.result.cellsPerSecond - a.entry.result.cellsPerSecond)
    .slice(0, most);
}

/** A device's entries by the family of their equations, found at the first call. */
const familiesOf = remembered((
  entries: readonly ProfileEntry[],
): ReadonlyMap<string, readonly ProfileEntry[]> => Map.groupBy(entries, ({ problem }) => familyKey(problem)));
