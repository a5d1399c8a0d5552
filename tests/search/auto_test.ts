import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { replayOnce } from "../../tuner/replay/replay.ts";
import type { ReplayCandidate } from "../../tuner/replay/replay_space.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { auto, pricesOf } from "../../tuner/search/auto.ts";
import { shuffled } from "../../tuner/search/baselines.ts";
import { Lattice } from "../../tuner/search/lattice.ts";
import { THOROUGH } from "../thorough.ts";
import { syntheticSpace } from "./synthetic_space.ts";

/** Spaces, and searches of each: fewer still fail when the search gets worse. */
const SPACES = THOROUGH ? [1, 2, 3, 4] : [2, 3], RUNS = THOROUGH ? [1, 2, 3, 4, 5] : [1, 2, 3];

/** Best rate of a space. */
function bestOf(space: readonly ReplayCandidate[]): number {
  return Math.max(...space.map(({ recorded }) => recorded.rate ?? 0));
}

Deno.test("auto begins with the best predicted of each traversal", () => {
  const space = syntheticSpace(200, { seed: 1 });
  const search = auto.begin(space, { seed: 1 });
  const first = [search.next()!, search.next()!, search.next()!];
  assertEquals(first.map(({ traversal }) => traversal.name).sort(), [
    "diamond-torre",
    "marching",
    "stepwise",
  ]);
  for (const { traversal, predicted } of first) {
    const kin = space.filter((one) => one.traversal.name === traversal.name);
    assertEquals(predicted, Math.max(...kin.map((one) => one.predicted!)));
  }
  assertEquals(first[0]!.predicted, Math.max(...space.map((one) => one.predicted!)));
});

Deno.test("where kernels compile slowly auto begins with what compiles soonest", () => {
  const space = syntheticSpace(200, { seed: 1 }).map((one) => ({
    ...one,
    demand: { ...one.demand!, loopInstructions: one.traversal.name === "stepwise" ? 10 : 1000 },
  }));
  const firstOf = (compilesSlowly: boolean) => auto.begin(space, { seed: 1, compilesSlowly }).next()!;
  assertEquals(firstOf(true).traversal.name, "stepwise");
  assertNotEquals(firstOf(false).traversal.name, "stepwise");
});

Deno.test("auto of an empty space, as without a GPU, ends at once", () => {
  assertEquals(auto.begin([], { seed: 1 }).next(), undefined);
});

Deno.test("auto is within 1% of the optimum after 5% of a space whose models err", () => {
  for (const seed of SPACES) {
    const space = syntheticSpace(1000, { seed, failures: seed > 2 });
    const optimum = bestOf(space);
    const regrets = RUNS.map((run) =>
      optimum / replayOnce(space, auto, { seed: run, most: 50 }).best.at(-1)! - 1
    ).sort((a, b) => a - b);
    assert(regrets[RUNS.length >> 1]! <= 0.01, `space ${seed}: ${regrets}`);
  }
});

Deno.test("with eight evaluations under way auto is as near as with one after seven more", () => {
  for (const seed of SPACES) {
    const space = syntheticSpace(1000, { seed, failures: seed > 2 });
    const optimum = bestOf(space);
    const regrets = RUNS.map((run) =>
      optimum / replayOnce(space, auto, { seed: run, most: 57, workers: 8 }).best.at(-1)! - 1
    ).sort((a, b) => a - b);
    assert(regrets[RUNS.length >> 1]! <= 0.01, `space ${seed}: ${regrets}`);
  }
});

Deno.test("what auto asks for ahead is not all alike: two in a row tell more than one", () => {
  const space = syntheticSpace(1000, { seed: 1 });
  const lattice = new Lattice(space);
  /** Steps between candidates of one traversal, the least of all pairs and on average. */
  const stepsBetween = (points: readonly ReplayCandidate[]) => {
    const steps = points.flatMap((a, i) =>
      points.slice(0, i).filter((b) => b.traversal === a.traversal).map((b) => {
        const [one, other] = [a, b].map((point) => lattice.places[space.indexOf(point)]!);
        return one!.reduce((sum, at, k) => sum + Math.abs(at - other![k]!), 0);
      })
    );
    return { least: Math.min(...steps), mean: steps.reduce((a, b) => a + b, 0) / steps.length };
  };
  for (const seed of RUNS) {
    const search = auto.begin(space, { seed });
    const ahead = stepsBetween(Array.from({ length: 12 }, () => search.next()!));
    assert(ahead.least >= 2 && ahead.mean > 5, `${seed}: ${JSON.stringify(ahead)}`);
  }
});

Deno.test("what fails is awaited no longer: auto goes on as if it had never asked for it", () => {
  for (const seed of SPACES) {
    const space = syntheticSpace(400, { seed });
    /** What is asked for after the first candidate has failed, asked for in this run or known before. */
    const asked = (isAskedFor: boolean): string[] => {
      const search = auto.begin(space, { seed: 1 });
      const failed = auto.begin(space, { seed: 1 }).next()!;
      if (isAskedFor) assertEquals(search.next(), failed);
      search.tell(failed, { rate: undefined, spentNs: 1e9 });
      return Array.from({ length: 15 }, () => {
        const next = search.next()!;
        search.tell(next, { rate: next.recorded.rate, spentNs: 1e9 });
        return JSON.stringify([next.traversal.name, next.parameters]);
      });
    };
    assertEquals(asked(true), asked(false));
  }
});

Deno.test("auto ends when another 1% is unlikely, and says so; then nothing is 1% faster", () => {
  for (const seed of THOROUGH ? [1, 2, 3, 4, 5, 6] : [1, 2]) {
    const space = syntheticSpace(600, { seed });
    const { best, verdict } = replayOnce(space, auto, { seed: 1 });
    assert(best.length < space.length / 2, `space ${seed}: ${best.length}`);
    assertMatch(
      verdict!,
      /^the chance that another configuration is 1% faster is (less than 1|1?[0-9]|20)%$/,
    );
    assert(bestOf(space) / best.at(-1)! < 1.01, `space ${seed}: ${bestOf(space) / best.at(-1)!}`);
  }
});

Deno.test("auto does not end before it knows enough", () => {
  const same = syntheticSpace(100, { seed: 1 }).map((candidate) => ({
    ...candidate,
    recorded: { ...candidate.recorded, rate: candidate.predicted },
  }));
  const { best, verdict } = replayOnce(same, auto, { seed: 1 });
  assert(best.length >= 20 && best.length < 60, `${best.length}`);
  assert(verdict !== undefined);
});

/** A space of which nothing is predicted. */
function unpredictedSpace(count: number, seed: number): ReplayCandidate[] {
  return syntheticSpace(count, { seed }).map(({ traversal: { name }, parameters, recorded }) => ({
    traversal: { name },
    parameters,
    recorded,
  }));
}

Deno.test("where nothing is predicted the order of the space does not matter to auto", () => {
  const space = unpredictedSpace(200, 3);
  const draw = seededRandom(1);
  const orders = [space, space.toReversed(), shuffled(space, draw)];
  const [one, ...others] = orders.map((order) => {
    const search = auto.begin(order, { seed: 1 });
    return Array.from({ length: 30 }, () => {
      const next = search.next()!;
      search.tell(next, { rate: next.recorded.rate, spentNs: 1e9 });
      return space.indexOf(next);
    });
  });
  for (const other of others) assertEquals(other, one);
  assertNotEquals(auto.begin(space, { seed: 2 }).next(), space[one![0]!]);
});

Deno.test("where nothing is predicted auto's first candidates spread over the values of every parameter", () => {
  const space = Array.from({ length: 8 ** 3 }, (_, i): ReplayCandidate => {
    const parameters = { a: i % 8, b: (i >> 3) % 8, c: i >> 6 };
    return { traversal: { name: "cube" }, parameters, recorded: { traversal: "cube", parameters, rate: 1 } };
  });
  const search = auto.begin(space, { seed: 1 });
  const first = Array.from({ length: 4 }, () => search.next()!.parameters);
  for (const name of ["a", "b", "c"]) assertEquals(new Set(first.map((one) => one[name])).size, 4, name);
});

/** Another tool's space of 12 × 6 × 6 × 2; a rate by places, undefined where it fails. */
function foreignSpace(
  rateOf: (places: readonly number[]) => number | undefined,
  elsewhere?: (rate: number) => number,
): ReplayCandidate[] {
  return Array.from({ length: 864 }, (_, i): ReplayCandidate => {
    const places = [i % 12, Math.floor(i / 12) % 6, Math.floor(i / 72) % 6, Math.floor(i / 432)];
    const parameters = { a: places[0]!, b: places[1]!, c: places[2]!, d: places[3]! }, rate = rateOf(places);
    const known = elsewhere && { elsewhere: elsewhere(rate ?? 1e-3) };
    return { traversal: { name: "k" }, parameters, recorded: { traversal: "k", parameters, rate }, ...known };
  });
}

/** Rates with one hill, at 7, 4, 1, 1, a kink at every value of b, and some that are 50 times slower. */
function hill([a, b, c, d]: readonly number[], tail = 0): number {
  const logRate = -Math.abs(a! - 7) / 8 - (b! % 3 === 1 ? 0 : 0.3) - Math.abs(b! - 4) / 9 -
    Math.abs(c! - 1) / 6 -
    (1 - d!) / 5;
  return Math.exp(logRate - ((5 * a! + 3 * b! + 7 * c!) % 4 === 0 && a !== 7 ? tail : 0));
}

/** Evaluations until within 1% of the fastest: the median of searches. */
function soonTo1Percent(space: readonly ReplayCandidate[]): number {
  const optimum = bestOf(space);
  const counts = [1, 2, 3].map((seed) => {
    const { best } = replayOnce(space, auto, { seed, most: 60 });
    const index = best.findIndex((rate = 0) => optimum / rate <= 1.01);
    return index < 0 ? Infinity : index + 1;
  });
  return counts.sort((a, b) => a - b)[1]!;
}

Deno.test("auto learns what fails: it fails at most 5% more often than random", () => {
  for (
    const fails of [
      ([, b]: readonly number[]) => b! % 2 === 1,
      ([a, b]: readonly number[]) => (a! + b!) % 3 === 0,
    ]
  ) {
    const space = foreignSpace((at) => fails(at) ? undefined : hill(at));
    const failed = space.filter(({ recorded: { rate } }) => rate === undefined).length / space.length;
    let failures = 0, evaluations = 0;
    for (const seed of [1, 2, 3]) {
      const search = auto.begin(space, { seed });
      for (let i = 0; i < 60; i++) {
        const next = search.next();
        if (next === undefined) break;
        const { rate } = next.recorded;
        evaluations++;
        if (rate === undefined) failures++;
        search.tell(next, { rate, spentNs: 1e9 });
      }
    }
    assert(failures / evaluations <= failed + 0.05, `${failures} of ${evaluations}, random ${failed}`);
  }
});

Deno.test("auto does not say less than 1% before it has looked for a hundred evaluations in vain", () => {
  for (const seed of [1, 2]) {
    const space = foreignSpace((at) => at.join() === "2,0,5,0" ? 1.1 : hill(at)), optimum = bestOf(space);
    const { best, verdict } = replayOnce(space, auto, { seed, most: 160 });
    const since = best.length - best.indexOf(best.at(-1));
    if (verdict?.includes("less than 1%")) {
      assert(optimum / best.at(-1)! < 1.01 || since > 99, `${seed}: ${since}`);
    }
    if (verdict !== undefined) {
      assert(since > Math.max(30, best.length - since), `${seed}: ${best.length}, ${since}`);
    }
  }
});

Deno.test("what was fast on another device comes first, and what misleads costs little", () => {
  const rateOf = (at: readonly number[]) => hill(at, Math.log(50));
  const good = foreignSpace(rateOf, (rate) => 2 * rate ** 0.7);
  // as long as nothing else is faster: two, an unlike one, three
  const known = good.map(({ elsewhere }) => elsewhere!).sort((a, b) => b - a).slice(0, 5);
  for (const [unlike, wanted] of [[1e-3, known], [1e3, known.slice(0, 2)]] as const) {
    const search = auto.begin(good, { seed: 1 });
    const first = Array.from({ length: 6 }, () => {
      const next = search.next()!, isKnown = known.includes(next.elsewhere!);
      search.tell(next, { rate: isKnown ? next.recorded.rate : unlike, spentNs: 1 });
      return next.elsewhere!;
    });
    assertEquals(first.filter((one) => known.includes(one)), wanted);
    assertEquals([first.indexOf(known[0]!), first.indexOf(known[1]!)], [0, 1]);
  }
  const without = soonTo1Percent(foreignSpace(rateOf));
  const misled = soonTo1Percent(foreignSpace(rateOf, (rate) => 1 / rate));
  assert(without <= 50 && misled <= 1.2 * without + 10, `${misled}, without ${without}`);
});

Deno.test("auto learns without any model too", () => {
  const space = unpredictedSpace(600, 3);
  const regret = bestOf(space) / replayOnce(space, auto, { seed: 1, most: 90 }).best.at(-1)! - 1;
  assert(regret < 0.05, `${regret}`);
});

Deno.test("of two that promise the same, auto takes the one that compiles faster", () => {
  // two shapes alike in everything but the length of their loops; those with long loops have taken long
  const torre = syntheticSpace(100, { seed: 1 }).find(({ traversal }) => traversal.name === "diamond-torre")!;
  const space = Array.from({ length: 40 }, (_, i): ReplayCandidate => {
    const isLong = i % 2 === 1;
    return {
      ...torre,
      parameters: { side: Number(isLong), number: i >> 1 },
      predicted: 1e9,
      demand: { ...torre.demand!, loopInstructions: isLong ? 20_000 : 100 },
    };
  });
  const search = auto.begin(space, { seed: 1 });
  const asked = [];
  for (let i = 0; i < 20; i++) {
    const next = search.next()!;
    asked.push(next.parameters.side);
    search.tell(next, { rate: 1e9, spentNs: next.parameters.side === 1 ? 20e9 : 1e9 });
  }
  const long = asked.slice(4).filter((side) => side === 1).length;
  assert(long <= 4, `${asked}`);
});

Deno.test("the cost of an evaluation grows with the instructions, and is never below the average", () => {
  const of = (loopInstructions: number) => {
    const { demand, ...rest } = syntheticSpace(5, { seed: 1 })[0]!;
    return { ...rest, demand: { ...demand!, loopInstructions } };
  };
  assertEquals(pricesOf([])(of(5)), 1);
  assertEquals(pricesOf([[100, 1e9]])(of(9999)), 1); // one time tells nothing of the slope
  assertEquals(pricesOf([[100, 1e9], [100, 2e9]])(of(9999)), 1);
  assertEquals(pricesOf([[100, 2e9], [300, 1e9]])(of(9999)), 1);
  const priceOf = pricesOf([[100, 1e9], [300, 3e9]]);
  assert(Math.abs(priceOf(of(500)) - 2.5) < 1e-9);
  assertEquals(priceOf(of(0)), 1);
});
