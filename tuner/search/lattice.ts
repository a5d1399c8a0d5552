import { coordinatesOf } from "../../kernels/traversals/all.ts";
import type { SearchPoint } from "./strategy.ts";

/** Steps over which correlation should fall to 1/e: along a parameter, and along how often its values can be halved. */
const EXPECTED_LENGTH = 5, EXPECTED_HALVINGS = 20;

/**
 * The space as a lattice: a candidate's place along each axis of its traversal is the place of its value among the values
 * that occur. Not every place of the lattice holds a candidate.
 */
export class Lattice<P extends SearchPoint> {
  /** Each candidate's traversal, as a number, and its place among those of its traversal. */
  readonly groups: number[] = [];
  readonly places: (readonly number[])[] = [];
  /**
   * Each candidate's place and, for parameters where that says something new, how often the value can be halved:
   * multiples of 32 or 64 fit caches and memory.
   */
  readonly coordinates: (readonly number[])[] = [];
  /** For each traversal, the steps along each coordinate over which correlation should fall to 1/e. */
  readonly expectedLengths: (readonly number[])[] = [];

  constructor(private readonly candidates: readonly P[]) {
    const byTraversal = Map.groupBy(candidates.keys(), (i) => candidates[i]!.traversal.name);
    for (const members of byTraversal.values()) {
      const points = members.map((i) => {
        const { traversal, parameters } = candidates[i]!;
        return coordinatesOf(traversal.name, parameters);
      });
      const columns = [...new Set(points.flatMap(Object.keys))].map((name) => {
        const values = points.map((place) => place[name] ?? -Infinity);
        const sorted = [...new Set(values)].sort((a, b) => a - b);
        const placeOf = new Map(sorted.map((value, index) => [value, index]));
        return { values, sorted, places: values.map((value) => placeOf.get(value)!) };
      });
      const halvings = columns.flatMap(({ values, sorted }) => {
        const kinds = new Set(sorted.map(halvingsOf)).size;
        return sorted[0]! > 0 && kinds > 1 && kinds < sorted.length ? [values.map(halvingsOf)] : [];
      });
      members.forEach((index, i) => {
        this.groups[index] = this.expectedLengths.length;
        this.places[index] = columns.map(({ places }) => places[i]!);
        this.coordinates[index] = [...this.places[index], ...halvings.map((counts) => counts[i]!)];
      });
      const lengths = [...columns.map(() => EXPECTED_LENGTH), ...halvings.map(() => EXPECTED_HALVINGS)];
      this.expectedLengths.push(lengths);
    }
  }

  /** Candidates one after another, each the first whose values occur least often among those before it. */
  spread(count: number): P[] {
    const uses = new Map<string, number>();
    const valuesOf = (i: number) => this.places[i]!.map((at, k) => `${this.groups[i]} ${k} ${at}`);
    const rest = new Map(this.candidates.map((point, i) => [point, valuesOf(i)]));
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

/** How often a number above 0 can be halved. */
function halvingsOf(value: number): number {
  let count = 0;
  for (let rest = value; rest > 0 && rest % 2 === 0; rest /= 2) count++;
  return count;
}
