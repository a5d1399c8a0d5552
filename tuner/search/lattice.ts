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
  readonly names: readonly string[];
  /** Values of each parameter, growing. */
  readonly values: readonly (readonly number[])[];
  readonly points: readonly P[];
  readonly places: readonly Place[];
  readonly at: ReadonlyMap<string, P>;
}

/** The candidates of a space by their places. */
export class Lattice<P extends Point> {
  readonly #groups = new Map<string, Group<P>>();
  readonly #places = new Map<P, Place>();

  constructor(candidates: readonly P[]) {
    for (const [traversal, points] of Map.groupBy(candidates, ({ traversal }) => traversal.name)) {
      const names = [...new Set(points.flatMap(({ parameters }) => Object.keys(parameters)))];
      const values = names.map((name) =>
        [...new Set(points.map(({ parameters }) => parameters[name] ?? -Infinity))].sort((a, b) => a - b)
      );
      const indices = values.map((list) => new Map(list.map((value, index) => [value, index])));
      const places = points.map(({ parameters }) =>
        names.map((name, i) => indices[i].get(parameters[name] ?? -Infinity)!)
      );
      const at = new Map(places.map((place, i) => [place.join(), points[i]]));
      this.#groups.set(traversal, { names, values, points, places, at });
      points.forEach((point, i) => this.#places.set(point, places[i]));
    }
  }

  /** Traversals, in the order in which candidates have them. */
  get traversals(): string[] {
    return [...this.#groups.keys()];
  }

  /** How many values each parameter of a traversal has. */
  sizes(traversal: string): number[] {
    return this.#groups.get(traversal)!.values.map(({ length }) => length);
  }

  /** A candidate's place among those of its traversal. */
  placeOf(point: P): Place {
    return this.#places.get(point)!;
  }

  /**
   * The candidate at a place, or the nearest there is, by the steps between them; of several as near the one
   * that comes first.
   *
   * @param fixed a parameter along which the candidate must have that very place
   * @returns undefined only where no candidate has the fixed place
   */
  nearest(traversal: string, place: Place, fixed?: number): P | undefined {
    const { at, points, places } = this.#groups.get(traversal)!;
    const exact = at.get(place.join());
    if (exact !== undefined) return exact;
    let found: P | undefined, least = Infinity;
    for (let i = 0; i < points.length; i++) {
      const there = places[i];
      if (fixed !== undefined && there[fixed] !== place[fixed]) continue;
      let steps = 0;
      for (let k = 0; k < place.length && steps < least; k++) steps += Math.abs(place[k] - there[k]);
      if (steps < least) [found, least] = [points[i], steps];
    }
    return found;
  }

  /**
   * Candidates with one parameter at an adjacent value: all others the same, or, where no such candidate exists,
   * as near as they come.
   */
  neighbours(point: P): P[] {
    const place = this.placeOf(point), traversal = point.traversal.name;
    const found = this.sizes(traversal).flatMap((size, i) =>
      [place[i] - 1, place[i] + 1].filter((index) => index >= 0 && index < size)
        .flatMap((index) => this.nearest(traversal, place.with(i, index), i) ?? [])
    );
    return [...new Set(found)];
  }
}
