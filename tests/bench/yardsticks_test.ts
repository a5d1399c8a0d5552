import { assert, assertEquals } from "@std/assert";
import { annealing, genetic } from "../../bench/yardsticks.ts";
import { replayOnce } from "../../tuner/replay/replay.ts";
import type { ReplayCandidate } from "../../tuner/replay/replay_space.ts";
import { random } from "../../tuner/search/baselines.ts";

/** A hill over three parameters with holes in it: a seventh of the places does not exist, a ninth fails. */
const HILL = Array.from({ length: 10 ** 3 }, (_, i): ReplayCandidate => {
  const parameters = { a: i % 10, b: Math.floor(i / 10) % 10, c: Math.floor(i / 100) };
  const rate = i % 9 === 0
    ? undefined
    : 1 / (1 + (parameters.a - 7) ** 2 + (parameters.b - 2) ** 2 + (parameters.c - 5) ** 2);
  return { traversal: { name: "hill" }, parameters, recorded: { traversal: "hill", parameters, rate } };
}).filter((_, i) => i % 7 > 0);

Deno.test("the yardsticks climb a hill that random search does not", () => {
  const [annealed, bred, drawn] = [annealing(150), genetic, random].map((strategy) => {
    const reached = Array.from(
      { length: 9 },
      (_, i) => replayOnce(HILL, strategy, { seed: i + 1, most: 150 }).best.at(-1)!,
    );
    return reached.sort((a, b) => a - b)[4]!;
  }) as [number, number, number];
  assert(annealed > drawn && bred > drawn, `${[annealed, bred, drawn]}`);
});

Deno.test("a yardstick asks for nothing twice, and ends where nothing is left", () => {
  const few = HILL.slice(0, 20);
  for (const strategy of [annealing(20), genetic]) {
    const search = strategy.begin(few, { seed: 1 }), asked = new Set<ReplayCandidate>();
    for (let next = search.next(); next !== undefined; next = search.next()) {
      assert(!asked.has(next), strategy.name);
      asked.add(next);
      search.tell(next, { rate: next.recorded.rate, spentNs: 0 });
    }
    if (strategy !== genetic) assertEquals(asked.size, few.length);
  }
});
