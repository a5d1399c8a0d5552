import { batchSearch, type Steps } from "./batch_search.ts";
import { Lattice } from "./lattice.ts";
import { seededRandom } from "../measuring/seeded_random.ts";
import { shuffled } from "./shuffled.ts";
import type { Point, Strategy } from "./strategy.ts";

/** Starts at random; the others start a few steps away from the best. */
const FRESH_STARTS = 0.3;

/** Parameters that a kick moves. */
const KICKED = 3;

/**
 * Greedy iterated local search (Lourenço, Martin, Stützle, "Iterated Local Search", Handbook of Metaheuristics,
 * 2003): from a random candidate to the first neighbour that is faster, until none is; then again, from a few
 * steps beside the best or from somewhere else. A neighbour has one parameter at an adjacent value.
 */
export const local: Strategy = {
  name: "local",
  title: "greedy iterated local search: one parameter at a time, with restarts",
  begin(candidates, { seed }) {
    const draw = seededRandom(seed);
    return batchSearch(candidates, draw, climb(candidates, draw));
  },
};

function* climb<P extends Point>(candidates: readonly P[], draw: () => number): Steps<P> {
  if (candidates.length === 0) return;
  const lattice = new Lattice(candidates);
  let best: P | undefined, bestRate = 0;
  while (true) {
    const isFresh = best === undefined || draw() < FRESH_STARTS;
    let here = isFresh ? pick(candidates, draw) : kick(best!, lattice, draw);
    let [rate = 0] = yield { points: [here] };
    for (let isBetter = true; isBetter;) {
      const base = rate, neighbours = shuffled(lattice.neighbours(here), draw);
      // while one is measured the next is asked for, until one is faster
      const found = yield { points: neighbours, until: (one) => one > base };
      const first = found.findIndex((one) => one !== undefined && one > base);
      isBetter = first >= 0;
      if (isBetter) [here, rate] = [neighbours[first], found[first]!];
    }
    if (rate > bestRate) [best, bestRate] = [here, rate];
  }
}

/** The candidate nearest to where a few parameters have any of their values. */
function kick<P extends Point>(point: P, lattice: Lattice<P>, draw: () => number): P {
  const traversal = point.traversal.name;
  const place = [...lattice.placeOf(point)], sizes = lattice.sizes(traversal);
  for (const i of shuffled([...sizes.keys()], draw).slice(0, KICKED)) {
    place[i] = Math.floor(draw() * sizes[i]);
  }
  return lattice.nearest(traversal, place)!;
}

function pick<T>(items: readonly T[], draw: () => number): T {
  return items[Math.floor(draw() * items.length)];
}
