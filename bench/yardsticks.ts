/**
 * Searches that other tuners have, as yardsticks for Facet's own: written from Kernel Tuner's documentation, with its
 * default options (T 0.5 to 0.0001 over the budget, two moves at each temperature; 30 individuals, uniform crossover,
 * one mutation in 20 children). They know a configuration's neighbours, so that they never leave the space, and
 * what was measured before costs no evaluation.
 *
 * @module
 */
import { seededRandom } from "../tuner/measuring/seeded_random.ts";
import { shuffled } from "../tuner/search/baselines.ts";
import { Lattice } from "../tuner/search/lattice.ts";
import type { Outcome, SearchOptions, SearchPoint, Strategy } from "../tuner/search/strategy.ts";

/** Proposes candidates and receives the time of each, infinite where it failed. */
type Steps<P> = Generator<P, void, number>;

/** What a yardstick walks over. */
interface Ground<P> {
  readonly candidates: readonly P[];
  readonly draw: () => number;
  /** One of several, at random. */
  readonly pick: <T>(list: readonly T[]) => T;
  /** Candidates that differ in one parameter. */
  readonly beside: (point: P) => readonly P[];
  /** Candidates all of whose parameters are at most one value away. */
  readonly around: (point: P) => readonly P[];
  /** The candidate at these places, if there is one. */
  readonly at: (place: readonly number[]) => P | undefined;
  readonly placeOf: (point: P) => readonly number[];
  /** What was evaluated, with its time. */
  readonly known: ReadonlyMap<P, number>;
}

/**
 * Accepts what is slower by a part of the time with a probability that falls from step to step.
 *
 * @param evaluations after which nothing slower is accepted any more
 */
export function annealing(evaluations: number): Strategy {
  return sequential("simulated annealing", function* (ground) {
    const [hot, cold, moves, patience] = [0.5, 1e-4, 2, 100];
    const { candidates, draw, pick, known } = ground, most = Math.min(evaluations, candidates.length);
    let here = pick(candidates), time = yield here, idle = 0;
    while (known.size < most) {
      const before = known.size, temperature = hot * cold ** (before / most);
      for (let move = 0; move < moves; move++) {
        const neighbours = draw() < 0.2 ? ground.beside(here) : ground.around(here);
        const there = pick(neighbours.length > 0 ? neighbours : candidates);
        const other = yield there;
        const isBetter = other < time || time === Infinity;
        if (isBetter || draw() < Math.exp((time - other) / time / temperature)) [here, time] = [there, other];
      }
      idle = known.size === before ? idle + 1 : 0;
      if (idle > patience) [here, idle] = [pick(candidates), 0];
    }
  });
}

/** A population of which the fastest have the most children. */
export const genetic: Strategy = sequential("genetic", function* (ground) {
  const size = Math.min(30, Math.round(ground.candidates.length / 2)), mutation = 1 / 20;
  let population = shuffled(ground.candidates, ground.draw).slice(0, size);
  while (true) {
    const ranked: { one: typeof population[number]; time: number }[] = [];
    for (const one of population) ranked.push({ one, time: yield one });
    ranked.sort((a, b) => a.time === b.time ? 0 : a.time - b.time);
    /** A rank, small ones most often: the distribution is Beta(1, 2.5). */
    const rank = (): number => Math.floor((1 - ground.draw() ** (1 / 2.5)) * ranked.length);
    const children = new Set<typeof population[number]>();
    for (let tries = 0; children.size < size && tries < 1000 * size; tries++) {
      const mother = rank();
      let father = rank();
      while (father === mother && ranked.length > 1) father = rank();
      const [a, b] = [ground.placeOf(ranked[mother]!.one), ground.placeOf(ranked[father]!.one)];
      const fromMother = a.map(() => ground.draw() < 0.5);
      for (const isFirst of [true, false]) {
        const child = ground.at(a.map((at, i) => fromMother[i] === isFirst ? at : b[i]!));
        if (child === undefined) continue;
        const mutants = ground.draw() < mutation ? ground.beside(child) : [];
        if (children.size < size) children.add(mutants.length > 0 ? ground.pick(mutants) : child);
      }
    }
    population = [...children];
  }
});

/** A search that asks for one candidate at a time. */
function sequential(name: string, walk: <P extends SearchPoint>(ground: Ground<P>) => Steps<P>): Strategy {
  return {
    name,
    title: "a yardstick",
    begin<P extends SearchPoint>(candidates: readonly P[], { seed }: SearchOptions) {
      const draw = seededRandom(seed), lattice = new Lattice(candidates);
      const places = new Map(candidates.map((point, i) => [point, lattice.places[i]!]));
      const byPlace = new Map(candidates.map((point, i) => [lattice.places[i]!.join(), point]));
      const times = new Map<P, number>();
      /** Candidates whose places differ from a point's as is asked for; found once for each point. */
      const finder = (isNear: (steps: readonly number[]) => boolean) => {
        const known = new Map<P, P[]>();
        return (point: P): P[] => {
          const place = places.get(point)!;
          let found = known.get(point);
          if (found === undefined) {
            found = candidates.filter((other) =>
              other !== point && isNear(places.get(other)!.map((at, i) => Math.abs(at - place[i]!)))
            );
            known.set(point, found);
          }
          return found;
        };
      };
      const steps = walk({
        candidates,
        draw,
        pick: (list) => list[Math.floor(draw() * list.length)]!,
        beside: finder((all) => all.filter((by) => by > 0).length === 1),
        around: finder((all) => all.every((by) => by <= 1)),
        at: (place) => byPlace.get(place.join()),
        placeOf: (point) => places.get(point)!,
        known: times,
      });
      let asked: P | undefined;
      return {
        next() {
          let step = asked === undefined ? steps.next(NaN) : steps.next(times.get(asked)!);
          // what is known is answered at once; a walk that finds nothing new for long has ended
          for (let known = 0; !step.done && times.has(step.value); known++) {
            if (known > 100_000) return undefined;
            step = steps.next(times.get(step.value)!);
          }
          return asked = step.done ? undefined : step.value;
        },
        tell(candidate: P, { rate }: Outcome) {
          times.set(candidate, rate === undefined ? Infinity : 1 / rate);
        },
      };
    },
  };
}
