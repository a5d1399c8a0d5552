/**
 * The space as a lattice: a candidate's place along each parameter of its traversal is the place of its value
 * among the values that occur. Not every place of the lattice holds a candidate.
 *
 * @module
 */
import type { Point } from "./strategy.ts";

/** Places along the parameters of a traversal. */
export type Place = readonly number[];

/** The candidates of one traversal. */
interface Group<P> {
  /** How many values each parameter has. */
  readonly sizes: readonly number[];
  readonly points: readonly P[];
}

/** The candidates of a space by their places. */
export class Lattice<P extends Point> {
  readonly #groups = new Map<string, Group<P>>();
  readonly #places = new Map<P, Place>();

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
      this.#groups.set(traversal, { sizes: columns.map(({ size }) => size), points });
    }
  }

  /** Traversals, in the order in which candidates have them. */
  get traversals(): string[] {
    return [...this.#groups.keys()];
  }

  /** How many values each parameter of a traversal has. */
  sizes(traversal: string): readonly number[] {
    return this.#groups.get(traversal)!.sizes;
  }

  /** A candidate's place among those of its traversal. */
  placeOf(point: P): Place {
    return this.#places.get(point)!;
  }

  /**
   * Candidates with one parameter at an adjacent value: all others the same, or, where no such candidate exists,
   * as near as they come.
   */
  neighbours(point: P): P[] {
    const place = this.placeOf(point), { sizes, points } = this.#groups.get(point.traversal.name)!;
    const found = sizes.flatMap((size, i) =>
      [place[i]! - 1, place[i]! + 1].filter((index) => index >= 0 && index < size)
        .flatMap((index) => this.#nearest(points, place.with(i, index), i) ?? [])
    );
    return [...new Set(found)];
  }

  /** The point nearest to a place, by the steps between them, of those that have the very place along one parameter. */
  #nearest(points: readonly P[], place: Place, fixed: number): P | undefined {
    let found: P | undefined, least = Infinity;
    for (const point of points) {
      const there = this.placeOf(point);
      if (there[fixed] !== place[fixed]) continue;
      let steps = 0;
      for (let k = 0; k < place.length && steps < least; k++) steps += Math.abs(place[k]! - there[k]!);
      if (steps < least) [found, least] = [point, steps];
    }
    return found;
  }
}
