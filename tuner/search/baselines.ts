import { seededRandom } from "../measuring/seeded_random.ts";
import type { Search, SearchPoint, Strategy } from "./strategy.ts";

/** Every candidate in the order of the space: with a budget, the best predicted ones. */
export const exhaustive: Strategy = {
  name: "exhaustive",
  title: "every configuration, best prediction first",
  begin: inOrder,
};

/** Candidates drawn at random: the baseline that any other strategy has to beat. */
export const random: Strategy = {
  name: "random",
  title: "configurations at random, none twice",
  begin: (candidates, { seed }) => inOrder(shuffled(candidates, seededRandom(seed))),
};

function inOrder<P extends SearchPoint>(candidates: readonly P[]): Search<P> {
  let next = 0;
  return { next: () => candidates[next++], tell: () => {} };
}

/** The items in random order (Fisher and Yates), as a new list; `draw` gives random numbers in [0, 1). */
export function shuffled<T>(items: readonly T[], draw: () => number): T[] {
  const order = [...items];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(draw() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
