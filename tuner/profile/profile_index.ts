import { familyKey, problemKey, stencilKey } from "./profile_problem.ts";
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
  const boundary = `${a.boundary}` === `${b.boundary}` ? 0 : OTHER_BOUNDARY;
  const coefficients = stencilKey(a) === stencilKey(b) ? 0 : OTHER_COEFFICIENTS;
  return Math.abs(sum) + shape + boundary + coefficients +
    STEPS_WEIGHT * Math.abs(Math.log2(a.steps / b.steps));
}

/**
 * Finds a profile's entries for a problem: those of exactly this problem, then those of equations alike but for constants,
 * the nearest first. Distances are computed only if the first do not do.
 */
export class ProfileIndex {
  readonly #exact: ReadonlyMap<string, readonly ProfileEntry[]>;
  readonly #ofFamily: ReadonlyMap<string, readonly ProfileEntry[]>;
  readonly #device: Profile["device"];

  constructor({ entries, device }: Pick<Profile, "entries" | "device">) {
    this.#device = device;
    const fastestFirst = entries.toSorted((a, b) => b.result.cellsPerSecond - a.result.cellsPerSecond);
    this.#exact = Map.groupBy(fastestFirst, ({ problem }) => problemKey(problem));
    this.#ofFamily = Map.groupBy(fastestFirst, ({ problem }) => familyKey(problem));
  }

  /** The index of a profile, built at the first call. */
  static of(profile: Profile): ProfileIndex {
    const known = indexes.get(profile) ?? new ProfileIndex(profile);
    indexes.set(profile, known);
    return known;
  }

  /** Entries of the problem itself, then those of others, the nearest first; of equals the fastest. */
  *entriesFor(problem: ProfileProblem): Generator<NearEntry> {
    const own = this.#exact.get(problemKey(problem)) ?? [], device = this.#device;
    for (const entry of own) yield { entry, device, distance: 0 };
    const others = (this.#ofFamily.get(familyKey(problem)) ?? [])
      .map((entry) => ({ entry, device, distance: problemDistance(entry.problem, problem) }))
      .filter(({ distance }) => distance > 0);
    yield* others.sort((a, b) => a.distance - b.distance);
  }
}

const indexes = new WeakMap<Profile, ProfileIndex>();

/** The entries of several profiles as one list, the nearest first. */
export function* mergeByDistance(lists: readonly Generator<NearEntry>[]): Generator<NearEntry> {
  const heads = lists.map((list) => ({ list, next: list.next() }));
  for (;;) {
    const open = heads.filter(({ next }) => !next.done);
    if (open.length === 0) return;
    const nearest = open.reduce((a, b) => b.next.value.distance < a.next.value.distance ? b : a);
    yield nearest.next.value;
    nearest.next = nearest.list.next();
  }
}
