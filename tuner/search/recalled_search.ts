import type { Outcome, Search, SearchOptions, SearchPoint, Strategy } from "./strategy.ts";

/**
 * Begins a search that learns at once what earlier runs found out, as if it had been measured, and never asks for
 * any of it again.
 *
 * @param candidates the space, promising candidates first
 * @param options the search's, and what earlier runs found out about a candidate; undefined where they know nothing
 */
export function beginRecalling<P extends SearchPoint>(
  strategy: Strategy,
  candidates: readonly P[],
  { recall, ...options }: SearchOptions & { readonly recall: (candidate: P) => Outcome | undefined },
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
      let candidate = search.next();
      while (candidate !== undefined && known.has(candidate)) candidate = search.next();
      return candidate;
    },
    tell: (candidate, outcome) => search.tell(candidate, outcome),
    get verdict() {
      return search.verdict;
    },
  };
}
