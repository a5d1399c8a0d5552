import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import { stepwise } from "../../kernels/traversals/stepwise.ts";
import { STRATEGIES } from "../../tuner/search/all.ts";
import { exhaustive } from "../../tuner/search/exhaustive.ts";
import { random } from "../../tuner/search/random.ts";
import { seededRandom } from "../../tuner/search/seeded_random.ts";
import type { Candidate } from "../../tuner/search/space.ts";
import type { Strategy } from "../../tuner/search/strategy.ts";

const PROBLEM = { stencil: wave(2), grid: [8, 8, 8], boundary: "zero", steps: 4 } as const;

/** Candidates that differ by a number. */
function candidates(count: number): Candidate[] {
  return Array.from({ length: count }, (_, number) => {
    const parameters = { threadsZ: 8, threadsY: 1, threadsX: 1, number };
    return {
      traversal: stepwise,
      parameters,
      demand: stepwise.demand(PROBLEM, parameters),
      predicted: 1,
      roof: 1,
    };
  });
}

/** The numbers of all candidates, as a strategy asks for them. */
function drain(strategy: Strategy, count: number, seed: number): number[] {
  const search = strategy.begin(candidates(count), seed);
  const numbers: number[] = [];
  for (let next = search.next(); next !== undefined; next = search.next()) {
    assert(numbers.length < count, "a candidate came twice");
    numbers.push(next.parameters.number);
    search.tell(next, numbers.length % 3 === 0 ? undefined : numbers.length);
  }
  assertEquals(search.next(), undefined); // and stays so
  return numbers;
}

const inOrder = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

Deno.test("every strategy has a name of its own and asks for each candidate exactly once", () => {
  assertEquals(new Set(STRATEGIES.map(({ name }) => name)).size, STRATEGIES.length);
  for (const strategy of STRATEGIES) {
    for (const count of [0, 1, 2, 97]) {
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
  const firsts = Array.from({ length: 2000 }, (_, seed) => random.begin(candidates(4), seed).next()!);
  for (let number = 0; number < 4; number++) {
    const count = firsts.filter(({ parameters }) => parameters.number === number).length;
    assert(count > 400 && count < 600, `${number}: ${count} of 2000`); // 500 ± 5 standard deviations
  }
});

Deno.test("a strategy leaves the space as it was", () => {
  const space = candidates(9);
  const search = random.begin(space, 1);
  while (search.next() !== undefined);
  assertEquals(space.map(({ parameters }) => parameters.number), inOrder(9));
});

Deno.test("seeded numbers lie in [0, 1), repeat, and are spread evenly", () => {
  const draw = seededRandom(3), again = seededRandom(3);
  const numbers = Array.from({ length: 10_000 }, draw);
  assertEquals(numbers.slice(0, 100), Array.from({ length: 100 }, again));
  assert(numbers.every((number) => number >= 0 && number < 1));
  const mean = numbers.reduce((a, b) => a + b) / numbers.length;
  assert(Math.abs(mean - 0.5) < 0.0145, `${mean}`); // 5 standard deviations
});
