import type { Parameters } from "./traversal.ts";

/** Every combination of the lists' values, the last list's changing first. */
export function* combine(lists: Readonly<Record<string, readonly number[]>>): Generator<Parameters> {
  const names = Object.keys(lists), places = names.map(() => 0);
  if (Object.values(lists).some(({ length }) => length === 0)) return;
  for (let last = names.length; last >= 0;) {
    const chosen: Record<string, number> = {};
    for (let i = 0; i < names.length; i++) chosen[names[i]!] = lists[names[i]!]![places[i]!]!;
    yield chosen;
    for (last = names.length - 1; last >= 0 && ++places[last]! === lists[names[last]!]!.length; last--) {
      places[last] = 0;
    }
  }
}
