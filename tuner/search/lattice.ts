import type { Point } from "./strategy.ts";

/**
 * The space as a lattice: a candidate's place along each parameter of its traversal is the place of its value among the
 * values that occur. Not every place of the lattice holds a candidate.
 */
export class Lattice<P extends Point> {
  /** How many values each parameter of a traversal has; traversals in the order in which candidates have them. */
  readonly sizes = new Map<string, readonly number[]>();
  /** Of each candidate its traversal, as a number, and its place among those of its traversal. */
  readonly groups: number[] = [];
  readonly places: (readonly number[])[] = [];
  readonly #candidates: readonly P[];

  constructor(candidates: readonly P[]) {
    this.#candidates = candidates;
    const byTraversal = Map.groupBy(candidates.keys(), (i) => candidates[i]!.traversal.name);
    for (const [traversal, members] of byTraversal) {
      const points = members.map((i) => candidates[i]!.parameters);
      const columns = [...new Set(points.flatMap(Object.keys))].map((name) => {
        const values = points.map((parameters) => parameters[name] ?? -Infinity);
        const sorted = [...new Set(values)].sort((a, b) => a - b);
        const placeOf = new Map(sorted.map((value, index) => [value, index]));
        return { size: sorted.length, places: values.map((value) => placeOf.get(value)!) };
      });
      members.forEach((index, i) => {
        this.groups[index] = this.sizes.size;
        this.places[index] = columns.map(({ places }) => places[i]!);
      });
      this.sizes.set(traversal, columns.map(({ size }) => size));
    }
  }

  /** Candidates one after another, each the first whose values occur least often among those before it. */
  spread(count: number): P[] {
    const uses = new Map<string, number>();
    const valuesOf = (i: number) => this.places[i]!.map((at, k) => `${this.groups[i]} ${k} ${at}`);
    const rest = new Map(this.#candidates.map((point, i) => [point, valuesOf(i)]));
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
