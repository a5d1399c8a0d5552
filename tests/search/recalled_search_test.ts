import { assert, assertEquals } from "@std/assert";
import { STRATEGIES } from "../../tuner/search/all.ts";
import { auto } from "../../tuner/search/auto.ts";
import { exhaustive } from "../../tuner/search/baselines.ts";
import { beginRecalling } from "../../tuner/search/recalled_search.ts";
import type { Outcome, Search, SearchPoint } from "../../tuner/search/strategy.ts";
import { syntheticSpace } from "./synthetic_space.ts";
import { THOROUGH } from "../thorough.ts";

const SPACE = syntheticSpace(150, { seed: 3, failures: true });

type Candidate = typeof SPACE[number];

const outcomeOf = ({ recorded: { rate } }: Candidate): Outcome => ({ rate, spentNs: 1e9 });

/** What a search asks for, at most so many. */
function ask(search: Search<Candidate>, most = Infinity): Candidate[] {
  const asked: Candidate[] = [];
  while (asked.length < most) {
    const next = search.next();
    if (next === undefined) break;
    asked.push(next);
    search.tell(next, outcomeOf(next));
  }
  return asked;
}

Deno.test("no strategy asks again for what is known, and all ask for everything else", () => {
  for (const strategy of STRATEGIES) {
    for (const stride of THOROUGH ? [1, 2, 7] : [1, 2]) {
      const known = new Set(SPACE.filter((_, i) => i % stride === 0));
      const recall = (candidate: Candidate) => known.has(candidate) ? outcomeOf(candidate) : undefined;
      const asked = ask(beginRecalling(strategy, SPACE, { seed: 1, recall }));
      assert(asked.every((candidate) => !known.has(candidate)), strategy.name);
      assertEquals(new Set(asked).size, asked.length, strategy.name);
      // auto ends when another 1% is unlikely
      if (strategy !== auto) assertEquals(asked.length, SPACE.length - known.size, strategy.name);
    }
  }
});

Deno.test("what is known is told before the first question, once, in the space's order", () => {
  const told: SearchPoint[] = [];
  const recall = (candidate: Candidate) => SPACE.indexOf(candidate) < 3 ? outcomeOf(candidate) : undefined;
  const search = beginRecalling(
    {
      ...exhaustive,
      begin(candidates, options) {
        const inner = exhaustive.begin(candidates, options);
        return { next: () => (assertEquals(told.length, 3), inner.next()), tell: (one) => told.push(one) };
      },
    },
    SPACE,
    { seed: 1, recall },
  );
  assertEquals(search.next(), SPACE[3]);
  assertEquals(told, SPACE.slice(0, 3));
});

Deno.test("auto learns from what is known: told the best, it does not search for long", () => {
  const rates = SPACE.map(({ recorded }) => recorded.rate ?? 0);
  const best = Math.max(...rates);
  const fresh = ask(auto.begin(SPACE, { seed: 1 }), 300);
  const known = new Set(fresh);
  const recall = (candidate: Candidate) => known.has(candidate) ? outcomeOf(candidate) : undefined;
  const again = beginRecalling(auto, SPACE, { seed: 1, recall });
  const more = ask(again, 300);
  assert(Math.max(...fresh.map(({ recorded }) => recorded.rate ?? 0)) > 0.95 * best);
  assert(more.length < 0.7 * fresh.length, `${more.length} after ${fresh.length}`);
  if (more.length + fresh.length < SPACE.length) assert(again.verdict !== undefined);
});
