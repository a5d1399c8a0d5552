import type { Parameters } from "./traversal.ts";

/** Every combination of the lists' values. */
export function* combine(lists: Readonly<Record<string, readonly number[]>>): Generator<Parameters> {
  function* choose(
    [first, ...rest]: readonly [string, readonly number[]][],
    chosen: Parameters,
  ): Generator<Parameters> {
    if (first === undefined) return void (yield chosen);
    const [name, values] = first;
    for (const value of values) yield* choose(rest, { ...chosen, [name]: value });
  }
  yield* choose(Object.entries(lists), {});
}
