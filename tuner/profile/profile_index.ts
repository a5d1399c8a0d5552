import { remembered } from "../../kernels/remembered.ts";
import { type Boundaries, shortBoundary, type Stencil } from "../../kernels/stencils/stencil.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { referenceShape } from "../devices/reference.ts";
import { familyKey, problemOf, stencilKey } from "./profile_problem.ts";
import type { DeviceEntries, ProfileEntry, ProfileProblem } from "./profile_types.ts";
import { type Likeness, recorded } from "./shipped.ts";

/** An entry, and how far its problem is from the wanted one. */
export interface NearEntry {
  readonly entry: ProfileEntry;
  /** What it was measured on. */
  readonly device: DeviceEntries["device"];
  /** 0: the same problem. */
  readonly distance: number;
  /** Whether its equation is the same but for constants. */
  readonly isAlike: boolean;
}

/** Distance of another boundary: that of a grid with 16 times the cells, since other traversals suit it. */
const OTHER_BOUNDARY = 4;

/** Distance of other coefficients, on which no rate depends. */
const OTHER_COEFFICIENTS = 0.1;

/** Distance of equations of which one needs twice the bytes, or twice the instructions; and of any two at least. */
const OTHER_WORK = 3, OTHER_EQUATION = 0.5;

/** Distance of twice the steps; that of twice the cells is 1. */
const STEPS_WEIGHT = 0.5;

/**
 * How far two problems of one family are from each other: the ratio of their cells and of their steps, the
 * difference in shape, each in powers of two, the boundary, and the coefficients.
 */
export function problemDistance(a: ProfileProblem, b: ProfileProblem): number {
  const ratios = a.grid.map((cells, axis) => Math.log2(cells / b.grid[axis]!));
  const sum = ratios.reduce((sum, ratio) => sum + ratio, 0);
  const shape = Math.hypot(...ratios.map((ratio) => ratio - sum / ratios.length));
  const [of, other] = [a, b].map(({ boundary }) => `${shortBoundary(boundary as Boundaries)}`);
  const boundary = of === other ? 0 : OTHER_BOUNDARY;
  const coefficients = stencilKey(a) === stencilKey(b) ? 0 : OTHER_COEFFICIENTS;
  return Math.abs(sum) + shape + boundary + coefficients + stepsDistance(a, b);
}

/** How far two problems are from each other that differ in their steps alone. */
export function stepsDistance(a: Pick<ProfileProblem, "steps">, b: Pick<ProfileProblem, "steps">): number {
  return STEPS_WEIGHT * Math.abs(Math.log2(a.steps / b.steps));
}

/** How far two equations are from each other, by what stepwise asks of a device; what is of no use for another is infinitely far. */
export function equationDistance(a: Likeness["work"], b: Likeness["work"]): number {
  if (a === null || b === null || a[0] !== b[0]) return Infinity;
  const ratio = (i: 1 | 2) => Math.abs(Math.log2(a[i] / b[i]));
  return OTHER_EQUATION + OTHER_WORK * (ratio(1) + ratio(2));
}

/** What an update takes by stepwise; null where that says nothing of other equations. */
const workOf = remembered((stencil: Stencil): Likeness["work"] => {
  const { dimensions = 3 } = stencil;
  if (dimensions === 1) return null;
  const problem = { stencil, grid: [64, 64, 64], boundary: "zero", steps: 1 } as const;
  const { bytesPerUpdate, rounds } = stepwise.demand(problem, referenceShape(problem));
  return [dimensions, bytesPerUpdate, rounds.instructions];
});

/** The same of a problem's equation. */
export const workIn: (problem: ProfileProblem) => Likeness["work"] = remembered((problem: ProfileProblem) => {
  const known = recorded.get(problem), { stencil } = known ? {} : problemOf(problem) ?? {};
  return stencil === undefined ? known?.work ?? null : workOf(stencil);
});

/** Entries of the very equation for which a device's entries of others, whose kernels take long to compare, are left out. */
const ENOUGH = 16;

/** The entries for a problem's equation and others like it, on any of these devices: the nearest first, of equals the fastest. */
export function nearestEntries(
  devices: readonly Pick<DeviceEntries, "device" | "entries">[],
  problem: ProfileProblem,
  stencil: Stencil,
  most: number,
): NearEntry[] {
  const family = familyKey(problem),
    key = stencilKey(problem),
    isNamesake = ({ stencil, order, delta, definition }: ProfileProblem) =>
      stencil === problem.stencil && order === problem.order && delta === problem.delta &&
      (definition ?? problem.definition) === undefined;
  return devices.flatMap(({ device, entries }) => {
    const namesakes = entries.filter((entry) => isNamesake(entry.problem));
    return (namesakes.length >= ENOUGH ? namesakes : entries).flatMap((entry) => {
      const isAlike = familyKey(entry.problem) === family;
      const isSame = isAlike || stencilKey(entry.problem) === key;
      const apart = isSame ? 0 : equationDistance(workIn(entry.problem), workOf(stencil));
      if (apart === Infinity) return [];
      return [{ entry, device, isAlike, distance: apart + problemDistance(entry.problem, problem) }];
    });
  }).sort((a, b) => a.distance - b.distance || b.entry.result.cellsPerSecond - a.entry.result.cellsPerSecond)
    .slice(0, most);
}
