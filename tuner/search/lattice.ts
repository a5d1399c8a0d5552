import type { Point } from "./strategy.ts";

/**
 * The space as a lattice: a candidate's place along each parameter of its traversal is the place of its value among the
 * values that occur. Not every place of the lattice holds a candidate.
 */
export class Lattice<P extends Point> {
  /** How many values each parameter of a traversal has; traversals in the order in which candidates have them. */
  readonly sizes = new Map<string, readonly number[]>();
  readonly #places = new Map<P, readonly number[]>();

  constructor(candidates: readonly P[]) {
    for (const [traversal, points] of Map.groupBy(candidates, ({ traversal }) => traversal.name)) {
      const names = [...new Set(points.flatMap(({ parameters }) => Object.keys(parameters)))];
      const columns = names.map((name) => {
        const values = points.map(({ parameters }) => parameters[name] ?? -Infinity);
        const sorted = [...new Set(values)].sort((a, b) => a - b);
        const placeOf = new Map(sorted.map((value, index) => [value, index]));
        return { size: sorted.length, places: values.map((value) => placeOf.get(value)!) };
      });
      points.forEach((point, i) => this.#places.set(point, columns.map(({ places }) => places[i]!)));
      this.sizes.set(traversal, columns.map(({ size }) => size));
    }
  }

  /** A candidate's place among those of its traversal. */
  placeOf(point: P): readonly number[] {
    return this.#places.get(point)!;
  }

  /** Candidates one after another, each the first whose values occur least often among those before it. */
  spread(count: number): P[] {
    const uses = new Map<string, number>(), rest = new Map<P, string[]>();
    for (const [point, place] of this.#places) {
      rest.set(point, place.map((at, k) => `${point.traversal.name} ${k} ${at}`));
    }
    return Array.from({ length: Math.min(count, rest.size) }, () => {
      let found: P | undefined, least = Infinity;
      for (const [point, values] of rest) {
        const used = values.reduce((sum, value) => sum + (uses.get(value) ?? 0), 0);
        if (used < least) [found, least] = [point, used];
      }
      for (const value of rest.get(found!)!) uses.set(value, (uses.get(value) ?? 0) + 1);
      rest.delete(found!);
      return found!;
    });
  }
}
