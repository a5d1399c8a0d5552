/**
 * Finds a profile's entries for a problem: those of exactly this problem, then those of the same stencil and
 * variant, the nearest first. Entries of one stencil lie in the order of their grids' cells, so that of many thousand
 * entries only those near the grid asked for are looked at.
 *
 * @module
 */
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { problemKey, stencilKey } from "./profile_problem.ts";
import type { Profile, ProfileEntry, ProfileProblem } from "./profile_types.ts";

/** An entry, and how far its problem is from the one asked for. */
export interface NearEntry {
  readonly entry: ProfileEntry;
  /** 0: the same problem. */
  readonly distance: number;
}

/** An entry of one stencil, by its grid. */
interface Placed {
  readonly entry: ProfileEntry;
  readonly logCells: number;
}

/** What another boundary counts for: as much as a grid of 16 times the cells, since the traversals differ. */
const OTHER_BOUNDARY = 4;

/** What twice the steps count for, beside twice the cells. */
const STEPS_WEIGHT = 0.5;

/**
 * How far two problems of one stencil are from each other: the ratio of their cells and of their steps, the
 * difference in shape, each in powers of two, and the boundary.
 */
export function problemDistance(a: ProfileProblem, b: ProfileProblem): number {
  const ratios = a.grid.map((cells, axis) => Math.log2(cells / b.grid[axis]!));
  const sum = ratios.reduce((sum, ratio) => sum + ratio, 0);
  const shape = Math.hypot(...ratios.map((ratio) => ratio - sum / 3));
  const boundary = a.boundary === b.boundary ? 0 : OTHER_BOUNDARY;
  return Math.abs(sum) + shape + boundary + STEPS_WEIGHT * Math.abs(Math.log2(a.steps / b.steps));
}

/** A profile's entries, in the order in which they are asked for. */
export class ProfileIndex {
  /** Entries looked at since the index was built. */
  looked = 0;
  readonly #exact = new Map<string, ProfileEntry[]>();
  readonly #ofStencil = new Map<string, Placed[]>();

  constructor({ entries }: Pick<Profile, "entries">) {
    for (const entry of entries) {
      const { problem } = entry;
      const placed = { entry, logCells: Math.log2(cellsOf(problem.grid)) };
      put(this.#exact, problemKey(problem), entry);
      put(this.#ofStencil, stencilKey(problem), placed);
    }
    for (const list of this.#ofStencil.values()) list.sort((a, b) => a.logCells - b.logCells);
    for (const list of this.#exact.values()) list.sort((a, b) => rateOf(b) - rateOf(a));
  }

  /** The index of a profile, built when it is asked for first. */
  static of(profile: Profile): ProfileIndex {
    const known = indexes.get(profile) ?? new ProfileIndex(profile);
    indexes.set(profile, known);
    return known;
  }

  /** Entries of the problem itself, the fastest first, then those of others, the nearest first. */
  *entriesFor(problem: ProfileProblem): Generator<NearEntry> {
    for (const entry of this.#exact.get(problemKey(problem)) ?? []) {
      this.looked++;
      yield { entry, distance: 0 };
    }
    yield* this.#nearest(problem);
  }

  /** All but the problem's own, by distance. No entry is nearer than its cells' ratio says. */
  *#nearest(problem: ProfileProblem): Generator<NearEntry> {
    const list = this.#ofStencil.get(stencilKey(problem)) ?? [];
    const own = problemKey(problem);
    const target = Math.log2(cellsOf(problem.grid));
    let low = firstAtLeast(list, target), high = low;
    let waiting: NearEntry[] = [];
    const look = ({ entry }: Placed): void => {
      this.looked++;
      if (problemKey(entry.problem) === own) return;
      waiting.push({ entry, distance: problemDistance(entry.problem, problem) });
    };
    for (let within = 0.25; low > 0 || high < list.length || waiting.length > 0; within *= 2) {
      while (low > 0 && target - list[low - 1]!.logCells <= within) look(list[--low]!);
      while (high < list.length && list[high]!.logCells - target <= within) look(list[high++]!);
      waiting.sort((a, b) => a.distance - b.distance || rateOf(b.entry) - rateOf(a.entry));
      const isComplete = low === 0 && high === list.length;
      const known = isComplete ? waiting : waiting.filter(({ distance }) => distance <= within);
      waiting = waiting.slice(known.length);
      yield* known;
    }
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

/** The first place whose grid has at least so many cells. */
function firstAtLeast(list: readonly Placed[], logCells: number): number {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]!.logCells < logCells) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rateOf({ result }: ProfileEntry): number {
  return result.cellsPerSecond;
}

function put<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
