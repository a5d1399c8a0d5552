import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { problemKey, stencilKey } from "./profile_problem.ts";
import type { Profile, ProfileEntry, ProfileProblem } from "./profile_types.ts";

/** An entry, and how far its problem is from the wanted one. */
export interface NearEntry {
  readonly entry: ProfileEntry;
  /** 0: the same problem. */
  readonly distance: number;
}

interface Placed {
  readonly entry: ProfileEntry;
  readonly logCells: number;
}

/** Distance of another boundary: that of a grid with 16 times the cells, since other traversals suit it. */
const OTHER_BOUNDARY = 4;

/** Distance of twice the steps; that of twice the cells is 1. */
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

/**
 * Finds a profile's entries for a problem: those of exactly this problem, then those of the same stencil and variant,
 * the nearest first. Entries of a stencil are sorted by their number of cells, so that of many thousand only those
 * near the wanted grid are compared.
 */
export class ProfileIndex {
  /** Entries looked at since the index was built. */
  looked = 0;
  readonly #exact: ReadonlyMap<string, readonly ProfileEntry[]>;
  readonly #ofStencil: ReadonlyMap<string, readonly Placed[]>;

  constructor({ entries }: Pick<Profile, "entries">) {
    const fastestFirst = entries.toSorted((a, b) => rateOf(b) - rateOf(a));
    this.#exact = Map.groupBy(fastestFirst, ({ problem }) => problemKey(problem));
    const placed = entries.map((entry) => ({ entry, logCells: Math.log2(cellsOf(entry.problem.grid)) }))
      .sort((a, b) => a.logCells - b.logCells);
    this.#ofStencil = Map.groupBy(placed, ({ entry: { problem } }) => stencilKey(problem));
  }

  /** The index of a profile, built at the first call. */
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

  /** All but the problem's own, by distance, which is at least the ratio of the cells. */
  *#nearest(problem: ProfileProblem): Generator<NearEntry> {
    const list = this.#ofStencil.get(stencilKey(problem)) ?? [];
    const own = problemKey(problem);
    const target = Math.log2(cellsOf(problem.grid));
    const place = list.findIndex(({ logCells }) => logCells >= target);
    let low = place < 0 ? list.length : place, high = low;
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

function rateOf({ result }: ProfileEntry): number {
  return result.cellsPerSecond;
}
