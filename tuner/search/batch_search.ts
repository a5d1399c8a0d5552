/**
 * Strategies written as loops: a generator yields candidates that it wants to know and gets their rates.
 *
 * @module
 */
import type { Point, Search } from "./strategy.ts";

/** What a loop wants to know before it goes on. */
export interface Wanted<P> {
  /** Candidates in the order in which they are asked for. What was measured before costs nothing. */
  readonly points: readonly P[];
  /**
   * - `all`: the rates of all
   * - `asked`: that all have been asked for: what is not known yet may be wanted again
   * - a function: a rate that it is true of, or the rates of all
   *
   * @default {"all"}
   */
  readonly until?: "all" | "asked" | ((rate: number) => boolean);
}

/** Yields what it wants, gets a rate for each: 0 for one that failed, undefined for one that is not known yet. */
export type Steps<P> = Generator<Wanted<P>, void, readonly (number | undefined)[]>;

/** Batches without a new candidate before one is drawn at random: a loop that found nothing new must not hang. */
const MOST_IDLE = 500;

/**
 * A search that follows a generator. When it ends, idles, or waits for outcomes, candidates are drawn at random
 * from those that are left, so that all are tried in the end.
 *
 * @param candidates the space
 * @param draw random numbers in [0, 1)
 * @param steps what the strategy wants to know
 */
export function batchSearch<P extends Point>(
  candidates: readonly P[],
  draw: () => number,
  steps: Steps<P>,
): Search<P> {
  const rates = new Map<P, number>();
  const asked = new Set<P>();
  const left = [...candidates];
  let batch: Wanted<P> | undefined;
  let answer = steps.next([]);

  /** What the generator wants next; undefined where it wants nothing new yet. */
  const wanted = (): P | undefined => {
    for (let idle = 0; idle < MOST_IDLE && !answer.done; idle++) {
      batch ??= answer.value;
      const { points, until = "all" } = batch;
      const known = points.map((point) => rates.get(point));
      const isFound = typeof until === "function" && known.some((rate) => rate !== undefined && until(rate));
      const found = isFound ? undefined : points.find((point) => !asked.has(point));
      if (found !== undefined) return found;
      if (!isFound && until !== "asked" && known.includes(undefined)) return undefined;
      answer = steps.next(known);
      batch = undefined;
    }
  };
  const drawn = (): P | undefined => {
    while (left.length > 0) {
      const index = Math.floor(draw() * left.length);
      const point = left[index], last = left.pop()!;
      if (index < left.length) left[index] = last;
      if (!asked.has(point)) return point;
    }
  };
  return {
    next() {
      const point = asked.size < candidates.length ? wanted() ?? drawn() : undefined;
      if (point !== undefined) asked.add(point);
      return point;
    },
    tell(point, { rate }) {
      asked.add(point);
      rates.set(point, rate ?? 0);
    },
  };
}
