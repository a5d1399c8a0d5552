import { assert, assertEquals, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { wave } from "../../kernels/stencils/wave.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { surrogate } from "../../bench/surrogate.ts";
import { STRATEGIES as FACETS } from "../../tuner/search/all.ts";
import { exhaustive, random } from "../../tuner/search/baselines.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { type Candidate, onGpuAlone } from "../../tuner/search/enumeration.ts";
import { replayOnce } from "../../tuner/replay/replay.ts";
import { randomBaseline, scoreOf } from "../../tuner/replay/score.ts";
import { auto } from "../../tuner/search/auto.ts";
import type { ReplayCandidate } from "../../tuner/replay/replay_space.ts";
import type { Search, SearchPoint, Strategy } from "../../tuner/search/strategy.ts";
import { THOROUGH } from "../thorough.ts";
import { syntheticSpace } from "./synthetic_space.ts";

/** Facet's strategies, and the one that `bench/` compares them with. */
const STRATEGIES = [...FACETS, surrogate];

const PROBLEM = { stencil: wave(2), grid: [8, 8, 8], boundary: "zero", steps: 4 } as const;

/** Candidates that differ by a number. */
function candidates(count: number): Candidate[] {
  return Array.from({ length: count }, (_, number) => {
    const parameters = { threadsZ: 8, threadsY: 1, threadsX: 1, number };
    return {
      traversal: stepwise,
      parameters,
      configuration: onGpuAlone({ traversal: stepwise, parameters }, PROBLEM),
      demand: stepwise.demand(PROBLEM, parameters),
      predicted: 1,
      roof: 1,
    };
  });
}

/** The numbers of all candidates, as a strategy asks for them. */
function drain(strategy: Strategy, count: number, seed: number): number[] {
  return ask(strategy.begin(candidates(count), { seed }), count).map(({ parameters }) =>
    Number(parameters.number)
  );
}

/** All candidates that a search asks for; every third fails. */
function ask<P extends SearchPoint>(search: Search<P>, count: number): P[] {
  const asked: P[] = [];
  for (let next = search.next(); next !== undefined; next = search.next()) {
    assert(asked.length < count && !asked.includes(next), "a candidate came twice");
    asked.push(next);
    search.tell(next, { rate: asked.length % 3 === 0 ? undefined : asked.length, spentNs: 1e6 });
  }
  assertEquals(search.next(), undefined); // and stays so
  return asked;
}

const inOrder = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

Deno.test("every strategy has a name of its own and asks for each candidate exactly once", () => {
  assertEquals(new Set(STRATEGIES.map(({ name }) => name)).size, STRATEGIES.length);
  for (const strategy of STRATEGIES) {
    if (strategy === auto) continue; // ends when another 1% is unlikely: auto_test.ts
    for (const count of [0, 1, 2, 40]) {
      assertEquals(drain(strategy, count, 1).toSorted((a, b) => a - b), inOrder(count), strategy.name);
    }
  }
});

Deno.test("exhaustive keeps the order of the space, whatever the seed", () => {
  for (const seed of [0, 1, 2 ** 31]) assertEquals(drain(exhaustive, 50, seed), inOrder(50));
});

Deno.test("random repeats with its seed, and differs with another", () => {
  assertEquals(drain(random, 50, 7), drain(random, 50, 7));
  assertNotEquals(drain(random, 50, 7), drain(random, 50, 8));
  assertNotEquals(drain(random, 50, 7), inOrder(50));
});

Deno.test("random draws every candidate first about equally often", () => {
  const firsts = Array.from({ length: 2000 }, (_, seed) => random.begin(candidates(4), { seed }).next()!);
  for (let number = 0; number < 4; number++) {
    const count = firsts.filter(({ parameters }) => parameters.number === number).length;
    assert(count > 400 && count < 600, `${number}: ${count} of 2000`); // 500 ± 5 standard deviations
  }
});

Deno.test("a strategy leaves the space as it was", () => {
  const space = candidates(9);
  const search = random.begin(space, { seed: 1 });
  while (search.next() !== undefined);
  assertEquals(space.map(({ parameters }) => parameters.number), inOrder(9));
});

Deno.test("every strategy repeats with its seed, on a space of several traversals where some fail", () => {
  const space = syntheticSpace(100, { seed: 1, failures: true });
  assert(space.some(({ recorded }) => recorded.rate === undefined));
  for (const strategy of STRATEGIES) {
    const trace = () => replayOnce(space, strategy, { seed: 3, most: 40 });
    assertEquals(trace(), trace(), strategy.name);
  }
});

Deno.test("every strategy can be asked before earlier outcomes are known", () => {
  const space = syntheticSpace(60, { seed: 2 });
  for (const strategy of STRATEGIES) {
    const search = strategy.begin(space, { seed: 1 });
    const asked = new Set<SearchPoint>();
    const ahead: typeof space = [];
    for (let i = 0; i < 60; i++) {
      const next = search.next();
      if (next === undefined) break;
      assert(!asked.has(next), `${strategy.name}: a candidate came twice`);
      asked.add(next);
      ahead.push(next);
      if (ahead.length < 3) continue;
      const told = ahead.shift()!;
      search.tell(told, { rate: told.recorded.rate, spentNs: 1 });
    }
    assert(strategy === auto ? asked.size >= 20 : asked.size === 60, `${strategy.name}: ${asked.size}`);
  }
});

Deno.test("outcomes may come in any order, failures among them", () => {
  const space = syntheticSpace(60, { seed: 2, failures: true });
  const order = fc.array(fc.nat(), { minLength: 60, maxLength: 60 });
  for (const strategy of STRATEGIES) {
    fc.assert(
      fc.property(order, fc.integer({ min: 1, max: 9 }), (picks, workers) => {
        const search = strategy.begin(space, { seed: 1 });
        const asked = new Set<SearchPoint>(), ahead: typeof space = [];
        for (const pick of picks) {
          for (let next; ahead.length < workers && (next = search.next()) !== undefined;) {
            assert(!asked.has(next), "a candidate came twice");
            asked.add(next);
            ahead.push(next);
          }
          const [told] = ahead.splice(pick % ahead.length, 1);
          if (told !== undefined) search.tell(told, { rate: told.recorded.rate, spentNs: 1 });
        }
        assert(strategy === auto ? asked.size >= 20 : asked.size === 60, `${asked.size}`);
      }),
      { numRuns: THOROUGH ? 10 : 2 },
    );
  }
});

Deno.test("where every configuration fails, strategies still go on", () => {
  const space = syntheticSpace(40, { seed: 2 });
  for (const strategy of STRATEGIES) {
    const search = strategy.begin(space, { seed: 1 });
    for (let i = 0; i < 20; i++) search.tell(search.next()!, { rate: undefined, spentNs: 1 });
  }
});

/** The mean score of a few searches. */
function scoreOn(space: readonly ReplayCandidate[], strategy: Strategy, workers = 1): number {
  const baseline = randomBaseline(space.map(({ recorded }) => recorded.rate));
  const runs = Array.from(
    { length: THOROUGH ? 10 : 3 },
    (_, i) => replayOnce(space, strategy, { seed: i + 1, most: baseline.cutoff, workers }).best,
  );
  return scoreOf(baseline, runs);
}

Deno.test("strategies that learn beat random search on spaces whose models err", () => {
  for (const seed of THOROUGH ? [1, 2, 3] : [1]) {
    const space = syntheticSpace(600, { seed });
    for (const [strategy, least] of [[auto, 0.7], [surrogate, 0.15]] as const) {
      const score = scoreOn(space, strategy);
      assert(score > least, `${strategy.name}, space ${seed}: ${score}`);
    }
  }
});

Deno.test("strategies that learn beat random search where nothing is predicted and neighbours are alike", () => {
  // two hills over four parameters, the lower one the wider
  const values = [0, 1, 2, 3, 4];
  const places = values.flatMap((a) =>
    values.flatMap((b) => values.flatMap((c) => values.map((d) => [a, b, c, d] as const)))
  );
  const hill = (place: readonly number[], top: readonly number[], width: number): number =>
    Math.exp(-place.reduce((sum, at, i) => sum + (at - top[i]!) ** 2, 0) / width);
  const space = places.map(([a, b, c, d]): ReplayCandidate => {
    const parameters = { a, b, c, d };
    const rate = 1 + hill([a, b, c, d], [1, 4, 1, 3], 8) + 0.7 * hill([a, b, c, d], [3, 1, 4, 1], 20);
    return { traversal: { name: "hills" }, parameters, recorded: { traversal: "hills", parameters, rate } };
  });
  const scores = [scoreOn(space, auto), scoreOn(space, auto, 8), scoreOn(space, surrogate)];
  assert(scores.every((score) => score > 0.5), `auto, with eight under way, surrogate: ${scores}`);
});

Deno.test("seeded numbers lie in [0, 1), repeat, and are spread evenly", () => {
  const draw = seededRandom(3), again = seededRandom(3);
  const numbers = Array.from({ length: 10_000 }, draw);
  assertEquals(numbers.slice(0, 100), Array.from({ length: 100 }, again));
  assert(numbers.every((number) => number >= 0 && number < 1));
  const mean = numbers.reduce((a, b) => a + b) / numbers.length;
  assert(Math.abs(mean - 0.5) < 0.0145, `${mean}`); // 5 standard deviations
});
