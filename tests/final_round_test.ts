import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { RunFailure } from "../tuner/backends/gpu_device.ts";
import type { Configuration } from "../tuner/configuration.ts";
import type { Evaluation } from "../tuner/evaluate.ts";
import { finalRound, type FinalRoundOptions, tieSetOf } from "../tuner/final_round.ts";
import { type Behaviour, FakeRunner, measurementNamed, PROBLEM } from "./fake_runner.ts";

const FINALISTS = ["a", "b", "c", "d"].map((name, place) => measurementNamed(name, 5e9 - 1e9 * place));

/** A final round of fakes. */
async function race(
  behaviours: Readonly<Record<string, Behaviour>> = {},
  options: Partial<FinalRoundOptions> = {},
) {
  const time = { nowNs: 0 };
  const order: string[] = [], told: number[] = [], runners: FakeRunner[] = [];
  const results = await finalRound(FINALISTS, {
    problem: PROBLEM,
    prepare: (configuration: Configuration) => {
      order.push(configuration.traversal);
      const runner = new FakeRunner(configuration, behaviours[configuration.traversal], time);
      runners.push(runner);
      return Promise.resolve(runner);
    },
    seed: 1,
    deadlineNs: Infinity,
    now: () => time.nowNs,
    signal: new AbortController().signal,
    onEvaluation: (_evaluation: Evaluation, done: number, total: number) => {
      assertEquals(total, 12);
      told.push(done);
    },
    ...options,
  });
  assert(runners.every(({ disposals }) => disposals === 1));
  return { results, order, told };
}

const turnsOf = (order: readonly string[]): string[] => [0, 4, 8].map((i) => order.slice(i, i + 4).join(""));

Deno.test("finalists take turns, in an order that the seed repeats", async () => {
  const { order, told } = await race();
  for (const turn of turnsOf(order)) assertEquals([...turn].sort().join(""), "abcd");
  assertNotEquals(new Set(turnsOf(order)).size, 1); // not always the same one first
  assertEquals(told, Array.from({ length: 12 }, (_, i) => i + 1));
  assertEquals((await race()).order, order);
  assertNotEquals((await race({}, { seed: 2 })).order, order);
});

Deno.test("the samples of all turns count, the fastest comes first", async () => {
  const { results } = await race({ c: { batchNs: (count) => 0.5e6 * count } });
  const [first, second] = results;
  assertEquals([first.configuration.traversal, first.cellsPerSecond], ["c", 2e9]);
  assertEquals([second.cellsPerSecond, second.samples.length], [1e9, 9]); // three turns of three
  assertEquals(first.verification, FINALISTS[2].verification);
});

Deno.test("without time the finalists stay as they were", async () => {
  const { results, order } = await race({}, { deadlineNs: 0 });
  assertEquals(order, []);
  assertEquals(results, FINALISTS);
});

Deno.test("a turn that has begun is ended, another is not begun", async () => {
  const { order } = await race({}, { deadlineNs: 1 });
  assertEquals(order.length, 4);
});

Deno.test("an interrupted round keeps what was not measured again", async () => {
  const stop = new AbortController();
  const { results, order } = await race({}, { signal: stop.signal, onEvaluation: () => stop.abort() });
  assertEquals(order.length, 1);
  const again = results.filter((result) => !FINALISTS.includes(result));
  assertEquals(again.map(({ configuration }) => configuration.traversal), order);
  assertEquals(results.length, 4);
});

Deno.test("a finalist that is wrong or fails now is left out, and has no further turn", async () => {
  const { results, order } = await race({
    a: { verification: { maxError: 1 } },
    b: { fails: { at: "run", with: new RunFailure("timeout", "too long") } },
  });
  assertEquals(results.map(({ configuration }) => configuration.traversal).sort(), ["c", "d"]);
  assertEquals(order.length, 4 + 2 + 2);
});

Deno.test("no finalist is left where all fail", async () => {
  const broken = { verification: { maxError: NaN } };
  assertEquals((await race({ a: broken, b: broken, c: broken, d: broken })).results, []);
});

Deno.test("the tie set holds those whose interval reaches the fastest one's", () => {
  assertEquals(tieSetOf([]), []);
  const first = measurementNamed("first", 100, [90, 110]);
  assertEquals(tieSetOf([first]), [first]);
  const touches = measurementNamed("touches", 85, [80, 90]);
  const below = measurementNamed("below", 85, [80, 89.9]);
  const wide = measurementNamed("wide", 50, [0, 100]);
  assertEquals(tieSetOf([first, touches, below, wide]), [first, touches, wide]);
});
