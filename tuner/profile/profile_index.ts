import { hashOf } from "../../kernels/definition.ts";
import { remembered } from "../../kernels/remembered.ts";
import { type Boundaries, shortBoundary, type Stencil } from "../../kernels/stencils/stencil.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import { referenceShape } from "../devices/reference.ts";
import { familyKey, problemOf, stencilKey } from "./profile_problem.ts";
import type { DeviceEntries, ProfileEntry, ProfileProblem } from "./profile_types.ts";

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
  return Math.abs(sum) + shape + boundary + coefficients +
    STEPS_WEIGHT * Math.abs(Math.log2(a.steps / b.steps));
}

/** How far two equations are from each other, by what stepwise asks of a device; what is of no use for another is infinitely far. */
export function equationDistance(a: Stencil, b: Stencil): number {
  if (hashOf(a.update) === hashOf(b.update)) return 0;
  if ((a.dimensions ?? 3) !== (b.dimensions ?? 3) || a.dimensions === 1) return Infinity;
  const [one, other] = [a, b].map((each) => workOf(each)),
    ratio = (i: number) => Math.abs(Math.log2(one![i]! / other![i]!));
  return OTHER_EQUATION + OTHER_WORK * (ratio(0) + ratio(1));
}

/** Bytes and instructions of an update. */
const workOf = remembered((stencil: Stencil): readonly number[] => {
  const problem = { stencil, grid: [64, 64, 64], boundary: "zero", steps: 1 } as const;
  const { bytesPerUpdate, rounds } = stepwise.demand(problem, referenceShape(problem));
  return [bytesPerUpdate, rounds.instructions];
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
    isNamesake = ({ stencil, order, delta, definition }: ProfileProblem) =>
      stencil === problem.stencil && order === problem.order && delta === problem.delta &&
      (definition ?? problem.definition) === undefined;
  return devices.flatMap(({ device, entries }) => {
    const namesakes = entries.filter((entry) => isNamesake(entry.problem));
    return [...familiesOf(namesakes.length >= ENOUGH ? namesakes : entries)].flatMap(([key, some]) => {
      const isAlike = key === family, other = isAlike ? stencil : stencilOf(some[0]!.problem);
      const apart = isAlike ? 0 : other === undefined ? Infinity : equationDistance(stencil, other);
      if (apart === Infinity) return [];
      return some.map((entry) => {
        return { entry, device, isAlike, distance: apart + problemDistance(entry.problem, problem) };
      });
    });
  }).sort((a, b) => a.distance - b.distance || b.entry.result.cellsPerSecond - a.entry.result.cellsPerSecond)
    .slice(0, most);
}

const stencilOf = remembered((problem: ProfileProblem) => problemOf(problem)?.stencil);

/** A device's entries by the family of their equations, found at the first call. */
const familiesOf = remembered((
  entries: readonly ProfileEntry[],
): ReadonlyMap<string, readonly ProfileEntry[]> => Map.groupBy(entries, ({ problem }) => familyKey(problem)));
