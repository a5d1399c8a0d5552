import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { replayOnce } from "../../tuner/replay/replay.ts";
import type { ReplayCandidate } from "../../tuner/replay/replay_candidates.ts";
import { auto } from "../../tuner/search/auto.ts";
import { EvaluationCost } from "../../tuner/search/evaluation_cost.ts";
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
        const [one, other] = [lattice.placeOf(a), lattice.placeOf(b)];
        return one.reduce((sum, at, k) => sum + Math.abs(at - other[k]!), 0);
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

Deno.test("when auto ends, every neighbour of its best that comes within 5% of it was tried", () => {
  for (const seed of THOROUGH ? [1, 2, 3, 4, 5, 6] : [1, 2]) {
    for (const count of [300, 1000]) {
      const space = syntheticSpace(count, { seed });
      // with a small budget and dear evaluations it ends as soon as it may
      const search = auto.begin(space, { seed: 1, budget: { timeNs: 100e9 } });
      const tried = new Set<ReplayCandidate>();
      let best = space[0], most = 0;
      for (let next = search.next(); next !== undefined; next = search.next()) {
        const rate = next.recorded.rate!;
        tried.add(next);
        if (rate > most) [best, most] = [next, rate];
        search.tell(next, { rate, spentNs: 20e9 });
      }
      assert(search.verdict !== undefined);
      const untried = new Lattice(space).neighbours(best!).filter((point) => !tried.has(point));
      const nearest = Math.max(0, ...untried.map(({ recorded }) => recorded.rate! / most));
      assert(nearest < 0.95, `space ${seed} of ${count}: ${nearest}`);
    }
  }
});

Deno.test("auto ends when going on does not pay, and says so: the sooner, the dearer an evaluation is", () => {
  const space = syntheticSpace(600, { seed: 1 });
  const run = (timeNs: number) => replayOnce(space, auto, { seed: 1, budget: { timeNs } });
  const short = run(60e9), long = run(6000e9);
  assert(short.best.length < long.best.length, `${short.best.length}, ${long.best.length}`);
  assert(long.best.length < space.length);
  for (const { verdict } of [long]) assertStringIncludes(verdict!, "does not pay for its time");
  assert(bestOf(space) / long.best.at(-1)! < 1.01);
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

Deno.test("auto learns without any model too", () => {
  const space = syntheticSpace(600, { seed: 3 }).map(({ traversal, parameters, recorded }) => ({
    traversal: { name: traversal.name },
    parameters,
    recorded,
  }));
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
  const cost = new EvaluationCost();
  assertEquals([cost.meanNs, cost.expectNs(of(5))], [0, 0]);
  cost.observe(of(100), 1e9);
  assertEquals(cost.expectNs(of(9999)), 1e9); // one time tells nothing of the slope
  cost.observe(of(300), 3e9);
  assertEquals(cost.meanNs, 2e9);
  assert(Math.abs(cost.expectNs(of(500)) - 5e9) < 1);
  assertEquals(cost.expectNs(of(0)), 2e9);
});
