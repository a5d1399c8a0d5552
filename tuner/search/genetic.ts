import { batchSearch, type Steps } from "./batch_search.ts";
import { Lattice, type Place } from "./lattice.ts";
import { seededRandom } from "../measuring/seeded_random.ts";
import type { Point, Strategy } from "./strategy.ts";

/** Candidates of a generation. */
const POPULATION = 16;

/** Of so many drawn at random, the fastest becomes a parent. */
const TOURNAMENT = 3;

/** Parents of another traversal mix nothing: this often a parent is drawn from the same. */
const SAME_TRAVERSAL = 0.8;

/**
 * A genetic algorithm on the lattice of the parameters (Goldberg, "Genetic Algorithms in Search, Optimization and
 * Machine Learning", 1989): parents win tournaments, a child takes each parameter from either (uniform
 * crossover), one parameter in two children or so mutates, and what does not exist is repaired to the nearest
 * candidate. The fastest of parents and children live on.
 */
export const genetic: Strategy = {
  name: "genetic",
  title: "a population that crosses and mutates",
  begin(candidates, { seed }) {
    const draw = seededRandom(seed);
    return batchSearch(candidates, draw, evolve(candidates, draw));
  },
};

/** A candidate with its rate. */
interface Individual<P> {
  readonly point: P;
  readonly rate: number;
}

function* evolve<P extends Point>(candidates: readonly P[], draw: () => number): Steps<P> {
  if (candidates.length === 0) return;
  const lattice = new Lattice(candidates);
  const any = (): P => candidates[Math.floor(draw() * candidates.length)];
  let generation = Array.from({ length: POPULATION }, any);
  let population: Individual<P>[] = [], late: readonly P[] = [];
  while (true) {
    // whose rate comes late is born into a later generation
    const points = [...late, ...generation];
    const rates = yield { points, until: population.length > 0 ? "asked" : "all" };
    late = points.filter((_, i) => rates[i] === undefined);
    const all = new Map(population.map((one) => [one.point, one]));
    points.forEach((point, i) => {
      if (rates[i] !== undefined) all.set(point, { point, rate: rates[i] });
    });
    population = [...all.values()].sort((a, b) => b.rate - a.rate).slice(0, POPULATION);
    generation = Array.from({ length: POPULATION }, (_, i) =>
      // one newcomer a generation: a population that is all alike would never leave its place
      i === 0 ? any() : child(population, lattice, draw));
  }
}

function child<P extends Point>(
  population: readonly Individual<P>[],
  lattice: Lattice<P>,
  draw: () => number,
): P {
  const mother = tournament(population, draw);
  const traversal = mother.traversal.name;
  const kin = population.filter(({ point }) => point.traversal.name === traversal);
  const father = tournament(draw() < SAME_TRAVERSAL ? kin : population, draw);
  const one = lattice.placeOf(mother);
  const other: Place = father.traversal.name === traversal ? lattice.placeOf(father) : one;
  const sizes = lattice.sizes(traversal);
  const place = one.map((index, i) => draw() < 0.5 ? index : other[i]);
  const mutations = sizes.map(() => draw() < 1 / sizes.length);
  // a child like its mother would tell nothing
  if (!mutations.includes(true) && place.every((index, i) => index === one[i])) {
    mutations[Math.floor(draw() * sizes.length)] = true;
  }
  const mutated = place.map((index, i) => {
    if (!mutations[i]) return index;
    if (draw() < 0.5) return Math.floor(draw() * sizes[i]);
    return Math.min(Math.max(index + (draw() < 0.5 ? -1 : 1), 0), sizes[i] - 1);
  });
  return lattice.nearest(traversal, mutated)!;
}

function tournament<P>(population: readonly Individual<P>[], draw: () => number): P {
  let best: Individual<P> | undefined;
  for (let i = 0; i < TOURNAMENT; i++) {
    const one = population[Math.floor(draw() * population.length)];
    if (best === undefined || one.rate > best.rate) best = one;
  }
  return best!.point;
}
