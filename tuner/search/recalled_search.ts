import type { Outcome, Point, Search, SearchOptions, Strategy } from "./strategy.ts";

/** Options of {@linkcode beginRecalling}. */
export interface RecallingOptions<P extends Point> extends SearchOptions {
  /** What earlier runs found out about a candidate; undefined where they know nothing. */
  readonly recall: (candidate: P) => Outcome | undefined;
}

/**
 * Begins a search that is told at once what earlier runs found out, as if it had been measured, and never asks for
 * any of it again.
 *
 * @param strategy how to search
 * @param candidates the space, promising candidates first
 * @param options seed, budget, and what is known
 *
 * @example
 * ```ts
 * import { beginRecalling } from "./recalled_search.ts";
 * import { exhaustive } from "./exhaustive.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const points = [1, 2, 3].map((n) => ({ traversal: { name: "stepwise" }, parameters: { n } }));
 * const recall = ({ parameters: { n } }: { parameters: Record<string, number> }) =>
 *   n === 1 ? { rate: 5e9, spentNs: 0 } : undefined;
 * const search = beginRecalling(exhaustive, points, { seed: 1, recall });
 * assertEquals(search.next(), points[1]);
 * ```
 */
export function beginRecalling<P extends Point>(
  strategy: Strategy,
  candidates: readonly P[],
  { recall, ...options }: RecallingOptions<P>,
): Search<P> {
  const search = strategy.begin(candidates, options);
  const known = new Set<P>();
  for (const candidate of candidates) {
    const outcome = recall(candidate);
    if (outcome === undefined) continue;
    known.add(candidate);
    search.tell(candidate, outcome);
  }
  return {
    next() {
      while (true) {
        const candidate = search.next();
        if (candidate === undefined || !known.has(candidate)) return candidate;
      }
    },
    tell: (candidate, outcome) => search.tell(candidate, outcome),
    get verdict() {
      return search.verdict;
    },
  };
}
