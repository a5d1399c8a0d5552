/**
 * Strategies on the recorded spaces of `fixtures/`: the same seeds give the same searches, so that nothing here
 * depends on a clock.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { readReplaySpaces } from "../../tuner/replay/read_replay_space.ts";
import { replay, replayOnce } from "../../tuner/replay/replay.ts";
import { type ReplayCandidate, replayCandidates } from "../../tuner/replay/replay_candidates.ts";
import { bestRate } from "../../tuner/replay/replay_space.ts";
import { STRATEGIES } from "../../tuner/search/all.ts";
import { auto } from "../../tuner/search/auto.ts";
import { exhaustive } from "../../tuner/search/exhaustive.ts";
import { local } from "../../tuner/search/local.ts";
import { random } from "../../tuner/search/random.ts";

/** All recorded spaces. */
const FIXTURES = ["h100", "llvmpipe"].flatMap((device) =>
  [...Deno.readDirSync(`fixtures/${device}`)].map(({ name }) => `fixtures/${device}/${name}`)
).filter((path) => path.endsWith(".json.gz"));

for (const path of FIXTURES) {
  Deno.test(`${path}: auto is within 1% after 5% of the space, and beats random and local search`, async () => {
    const { spaces: [space] } = await readReplaySpaces(path);
    const { results } = replay(space, { strategies: [auto, local, random], seeds: 20 });
    const [found, climbing, drawn] = results;
    assert(
      found.within1Percent.median <= 0.05 * space.configurations.length,
      `${found.within1Percent.median}`,
    );
    assert(found.score >= 0.7, `${found.score}`);
    assert(found.score > climbing.score && found.score > drawn.score, `${climbing.score}, ${drawn.score}`);
  });

  Deno.test(`${path}: the best fifth by prediction holds a configuration within 1% of the optimum`, async () => {
    const { spaces: [space] } = await readReplaySpaces(path);
    const kept = replayCandidates(space).toSorted((a, b) => b.predicted! - a.predicted!)
      .slice(0, Math.floor(0.2 * space.configurations.length));
    const best = Math.max(...kept.map(({ recorded }) => recorded.rate ?? 0));
    assert(best >= bestRate(space) / 1.01, `${best} of ${bestRate(space)}`);
  });
}

/** A space of one parameter whose rate is the parameter; 3 fails. */
const LINE: readonly ReplayCandidate[] = [1, 2, 3, 4].map((x) => {
  const rate = x === 3 ? undefined : x;
  const recorded = { traversal: "line", parameters: { x }, rate, evaluationNs: 1e9 };
  return { traversal: { name: "line" }, parameters: { x }, recorded };
});

Deno.test("a run tells the best so far, failures included, until its budget is spent", () => {
  const run = (budget?: { evaluations: number } | { timeNs: number }) =>
    replayOnce(LINE.toReversed(), exhaustive, { seed: 1, budget });
  assertEquals(run(), { best: [4, 4, 4, 4], verdict: undefined, spentNs: 4e9 });
  assertEquals(run({ evaluations: 2 }), { best: [4, 4], verdict: undefined, spentNs: 2e9 });
  assertEquals(run({ timeNs: 2.5e9 }).best.length, 3);
  assertEquals(replayOnce(LINE.slice(1, 3).toReversed(), exhaustive, { seed: 1 }).best, [undefined, 2]);
});

Deno.test("a report counts regret and evaluations as they are", () => {
  const space = { title: "line", configurations: LINE.map(({ recorded }) => recorded) };
  const { results: [{ regrets, within1Percent, finalRegret }], failed, bestRate } = replay(space, {
    strategies: [exhaustive],
    seeds: 3,
    budget: { evaluations: 3 },
  });
  // in the order 1, 2, 3 (fails): 4 / 2 − 1 = 1 behind
  assertEquals([failed, bestRate, finalRegret.median, within1Percent.median], [1, 4, 1, Infinity]);
  assertEquals(regrets[0], { evaluations: 1, regret: { low: 3, median: 3, high: 3 } });
});

Deno.test("every strategy replays a journal", async () => {
  const { spaces } = await readReplaySpaces("fixtures/h100/heat.json.journal.jsonl");
  for (const space of spaces) {
    const { results } = replay(space, { strategies: STRATEGIES, seeds: 2 });
    assertEquals(results.length, STRATEGIES.length);
    for (const { score } of results) assert(Number.isFinite(score) && score <= 1);
  }
});
