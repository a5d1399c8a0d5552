import type { Parameters } from "./traversal.ts";

/** Every combination of the lists' values. */
export function* combine(lists: Readonly<Record<string, readonly number[]>>): Generator<Parameters> {
  const names = Object.keys(lists);
  const values: Record<string, number> = {};
  function* choose(depth: number): Generator<Parameters> {
    if (depth === names.length) {
      yield { ...values };
      return;
    }
    for (const value of lists[names[depth]]) {
      values[names[depth]] = value;
      yield* choose(depth + 1);
    }
  }
  yield* choose(0);
}
