import { assert, assertAlmostEquals, assertEquals, assertNotEquals } from "@std/assert";
import type { Measurement } from "../../tuner/configuration.ts";
import {
  type Finalist,
  finalRound,
  type FinalRoundOptions,
  LEAST_BLOCKS,
  MOST_BLOCKS,
  tieSetOf,
} from "../../tuner/measuring/final_round.ts";
import { isComparable } from "../../tuner/measuring/statistics.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { type Behaviour, FakeRunner, measurementNamed, PROBLEM, workbench } from "./fake_runner.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";

const FINALISTS = ["a", "b", "c", "d"].map((name, place) => measurementNamed(name, 1.04e9 - 1e7 * place));

/** A final round of fakes, all equally fast unless told otherwise. */
async function race(
  behaviours: Readonly<Record<string, Behaviour>> = {},
  options: Partial<FinalRoundOptions> = {},
) {
  const time = { nowNs: 0 };
  const order: string[] = [], told: number[] = [], runners: FakeRunner[] = [];
  const results = await finalRound(FINALISTS, {
    problem: PROBLEM,
    session: workbench(time, (configuration) => {
      order.push(configuration.traversal);
      const runner = new FakeRunner(configuration, behaviours[configuration.traversal], time);
      runners.push(runner);
      return runner;
    }),
    seed: 1,
    deadlineNs: Infinity,
    signal: new AbortController().signal,
    onEvaluation: (_evaluation, done: number, total: number) => {
      assert(done <= total);
      told.push(done);
    },
    ...options,
  });
  assert(runners.every(({ disposals }) => disposals === 1));
  return { results, order, told };
}

/** A final round of fakes of a GPU that is kept busy. */
async function raceBusy(runNs: number, options: Partial<FinalRoundOptions> = {}) {
  const time = { nowNs: 0 };
  return await race({}, {
    session: workbench(time, (configuration) => {
      const fake = new FakeRunner(configuration, { batchNs: (count) => runNs * count }, time);
      const begin = (runs: number) =>
        Promise.resolve({
          finish: () => Promise.resolve({ timeNs: (time.nowNs += runNs * runs, runNs * runs), clock: 1 }),
        });
      return Object.assign(fake, { begin });
    }),
    ...options,
  });
}

const blocksOf = (order: readonly string[]): string[] =>
  Array.from({ length: order.length / 4 }, (_, i) => order.slice(4 * i, 4 * i + 4).join(""));
const namesOf = (measurements: readonly Measurement[]): string =>
  measurements.map(({ configuration }) => configuration.traversal).join("");
const runNames = (results: readonly Finalist[]): string =>
  namesOf(results.map(({ measurement }) => measurement));
const slower = (part: number): Behaviour => ({ batchNs: (count) => 1e6 * count / (1 - part) });
/** By name, backwards. */
const backwards = (ties: readonly Measurement[]): readonly Measurement[] =>
  ties.toSorted((a, b) => a.configuration.traversal < b.configuration.traversal ? 1 : -1);

Deno.test("in a block each finalist has a turn, in an order that the seed repeats", async () => {
  const { order, told } = await race();
  assertEquals(order.length, 4 * LEAST_BLOCKS);
  for (const block of blocksOf(order)) assertEquals([...block].sort().join(""), "abcd");
  assertNotEquals(new Set(blocksOf(order)).size, 1); // not always the same one first
  assertEquals(told, Array.from({ length: order.length }, (_, i) => i + 1));
  assertEquals((await race()).order, order);
  assertNotEquals((await race({}, { seed: 2 })).order, order);
});

Deno.test("the samples of all turns count, the fastest comes first", async () => {
  const { results } = await race({ c: { batchNs: (count) => 1e6 / 1.5 * count } });
  const [first, second] = results;
  const { measurement, blocks } = first!;
  assertEquals(measurement.configuration.traversal, "c");
  assertAlmostEquals(measurement.cellsPerSecond, 1.5e9, 1);
  assertEquals(measurement.samples, blocks.flatMap((samples) => samples ?? []));
  assertEquals(measurement.verification, FINALISTS[2]!.verification);
  // the search found 1.02e9: the round goes on until the interval says something all the same
  assert(measurement.confidence95[1] > 1.05 * 1.5e9);
  assert(blocks.length > LEAST_BLOCKS && blocks.length < MOST_BLOCKS && isComparable(measurement));
  assertEquals(second!.measurement.cellsPerSecond, 1e9);
});

Deno.test("of a GPU that is kept busy only the turns count, whose batches are longer than the search's", async () => {
  const { results } = await raceBusy(0.5e6);
  for (const { measurement } of results) {
    const [low, high] = measurement.confidence95;
    assert(low >= 0.9899 * 2e9 && high <= 1.0101 * 2e9, `${measurement.confidence95}`);
  }
});

Deno.test("of a GPU that is kept busy the search's shorter runs never count, however early the round ends", async () => {
  const controller = new AbortController();
  const { results } = await raceBusy(150e6, {
    signal: controller.signal,
    onEvaluation: () => controller.abort(), // after the first turn, whose batches are 150 ms
  });
  const { measurement: { samples } } = results.find(({ blocks }) => blocks.length > 0)!;
  assert(samples.length >= 2 && samples.every((rate) => rate < 2e7), samples.join());
});

Deno.test("one that is surely slower has no further turn, one that is hardly slower has all", async () => {
  const { results, order } = await race({ b: slower(0.4), c: slower(0.007) });
  const turns = (name: string): number => order.filter((one) => one === name).length;
  assertEquals([turns("a"), turns("b"), turns("c")], [LEAST_BLOCKS, 2, LEAST_BLOCKS]);
  assertEquals(results.at(-1)!.measurement.configuration.traversal, "b");
  assertEquals(results.map(({ standing }) => standing!.isTied), [true, true, true, false]);
});

Deno.test("turns that vary are repeated, up to a number", async () => {
  const draw = seededRandom(3);
  const wild: Behaviour = { batchNs: (count) => count * 1e6 * (1 + 0.3 * draw()) };
  const { order } = await race({ a: wild, b: wild, c: wild, d: wild });
  assertEquals(order.length, 4 * MOST_BLOCKS);
});

Deno.test("what is interrupted before stays as it was, but nobody vouches for a single turn", async () => {
  const { results, order } = await race({}, { signal: AbortSignal.abort() });
  assertEquals(order, []);
  assertEquals(results.map(({ measurement: { cellsPerSecond } }) => cellsPerSecond), [
    1.04e9,
    1.03e9,
    1.02e9,
    1.01e9,
  ]);
  assertEquals(results[0]!.measurement.confidence95, [0, 2.08e9]);
  assert(results.every(({ standing }) => standing === undefined));
});

Deno.test("one block says nothing of the noise: two are made, and no third when time is over", async () => {
  const { order, results } = await race({}, { deadlineNs: 1 });
  assertEquals(order.length, 2 * 4);
  assertEquals((await race({}, { deadlineNs: 0 })).order, order);
  assert(results.every(({ standing }) => standing !== undefined));
});

Deno.test("a block that would end too late is not begun", async () => {
  const blockNs = 4 * 5e6; // of four finalists: a run to verify, two samples of two runs
  const blocks = async (deadlineNs: number): Promise<number> =>
    (await race({}, { deadlineNs })).order.length / 4;
  assertEquals([await blocks(3 * blockNs - 1), await blocks(3 * blockNs)], [2, 3]);
  assertEquals(await blocks(LEAST_BLOCKS * blockNs), LEAST_BLOCKS);
});

Deno.test("a round that is interrupted in its first block keeps the rates of the rest, and names no order", async () => {
  const stop = new AbortController();
  const { results, order } = await race({}, { signal: stop.signal, onEvaluation: () => stop.abort() });
  assertEquals(order.length, 1);
  const again = results.filter(({ before, measurement }) =>
    before.cellsPerSecond !== measurement.cellsPerSecond
  );
  assertEquals(runNames(again), order.join(""));
  assertEquals(results.length, 4);
  assert(results.every(({ standing }) => standing === undefined));
  // all that is known are single turns, and two turns at most: their intervals overlap, the fastest is chosen
  const ties = tieSetOf(results, backwards);
  assertEquals(ties.length, 4);
  assertEquals(ties[0]!.cellsPerSecond, Math.max(...ties.map(({ cellsPerSecond }) => cellsPerSecond)));
});

Deno.test("a round that is interrupted later says what whole blocks say", async () => {
  const stop = new AbortController();
  const { results } = await race({ d: slower(0.2) }, {
    signal: stop.signal,
    onEvaluation: (_, done) => done === 9 ? stop.abort() : undefined, // two blocks and a turn
  });
  const apart = results.filter(({ standing }) => !standing!.isTied);
  assertEquals(runNames(apart), "d");
});

Deno.test("a finalist that is wrong or fails now is left out, and has no further turn", async () => {
  const { results, order } = await race({
    a: { verification: { maxError: 1 } },
    b: { fails: { at: "run", with: new RunFailure("timeout", "too long") } },
  });
  assertEquals(runNames(results).split("").sort(), ["c", "d"]);
  assertEquals(order.length, 4 + 2 * (LEAST_BLOCKS - 1));
});

Deno.test("one that fails in a later block leaves the others comparable", async () => {
  let turns = 0;
  const { results } = await race({
    a: { batchNs: (count) => ++turns > 8 ? NaN : 1e6 * count },
    d: slower(0.3),
  });
  assertEquals(runNames(results).split("").sort().join(""), "bcd");
  assertEquals(results.map(({ standing }) => standing!.isTied), [true, true, false]);
});

Deno.test("where the fastest fails, those that it had left behind take part again", async () => {
  let turns = 0;
  // three batches a turn: one that is verified, two samples; the third turn fails
  const failing: Behaviour = { batchNs: (count) => ++turns > 7 ? NaN : 0.5e6 * count };
  const { results, order } = await race({ a: failing, c: slower(0.3) });
  assertEquals(order.filter((one) => one === "a").length, 3);
  assertEquals(runNames(results), "bdc");
  for (const { blocks, standing } of results) {
    assertEquals(
      blocks.filter((samples) => samples !== undefined).length,
      standing!.isTied ? LEAST_BLOCKS - 1 : 2,
    );
  }
});

Deno.test("no finalist is left where all fail", async () => {
  const broken = { verification: { maxError: NaN } };
  assertEquals((await race({ a: broken, b: broken, c: broken, d: broken })).results, []);
  assertEquals(tieSetOf([], backwards), []);
});

Deno.test("of the core the first in order is chosen, not the fastest, nor one of the others that tie", async () => {
  const { results } = await race({ a: slower(0), b: slower(0.003), c: slower(0.008), d: slower(0.02) });
  assertEquals(namesOf(tieSetOf(results, backwards)), "bac");
});

/** A configuration of the CPU alone. */
function onCpu(name: string, rate: number): Measurement {
  const share = { cpuSlices: 100, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 2 };
  return { ...measurementNamed(name, rate), configuration: { traversal: name, parameters: {}, share } };
}

Deno.test("turns of the CPU come in parts, the others' between, where its runs are short", async () => {
  const time = { nowNs: 0 };
  const orderOf = async (rate: number): Promise<string[]> => {
    const order: string[] = [];
    await finalRound([...["a", "b", "c"].map((name) => onCpu(name, rate)), FINALISTS[3]!], {
      problem: PROBLEM,
      session: workbench(time, (configuration) => {
        order.push(configuration.traversal);
        return new FakeRunner(configuration, { batchNs: (count) => 1e15 * count / rate }, time);
      }),
      seed: 1,
      deadlineNs: 0,
      signal: new AbortController().signal,
      onEvaluation: (_, done, total) => assert(done <= total),
    });
    return order;
  };
  const order = await orderOf(1e9), perBlock = 3 * 4 + 1;
  assertEquals(order.length, 2 * perBlock);
  for (const block of [order.slice(0, perBlock), order.slice(perBlock)]) {
    const cpu = block.filter((name) => name !== "d");
    for (let part = 0; part < 4; part++) {
      assertEquals(cpu.slice(3 * part, 3 * part + 3).sort().join(""), "abc");
    }
  }
  // a run of 0.1 s, of which a turn has time for four
  assertEquals((await orderOf(1e7)).length, 2 * 4);
});

Deno.test("what disturbs the machine for a while meets all finalists of the CPU, so that none is rejected for it", async () => {
  let rejected = 0, apart = 0;
  for (let seed = 0; seed < 20; seed++) {
    const time = { nowNs: 0 }, draw = seededRandom(seed);
    // for 0.8 s in each 2 s everything takes twice as long; runs vary so much that no turn ends early
    const slowdown = (): number => (time.nowNs % 2e9 < 0.8e9 ? 2 : 1) * (1 + 0.3 * draw());
    const results = await finalRound(["a", "b", "c"].map((name) => onCpu(name, 7e7)), {
      problem: PROBLEM,
      session: workbench(
        time,
        (configuration) =>
          new FakeRunner(configuration, { batchNs: (count) => 14e6 * count * slowdown() }, time),
      ),
      seed,
      deadlineNs: Infinity,
      signal: new AbortController().signal,
      onEvaluation: () => {},
    });
    rejected += results.filter(({ standing }) => !standing!.isTied).length;
    apart += results.filter(({ standing }) => standing!.slowdown > 0.05).length;
  }
  assert(rejected === 0 && apart <= 20, `${rejected} rejected, ${apart} seem slower by a twentieth, of 60`);
});

Deno.test("of a finalist that fails in a part of its turn the other parts are not run", async () => {
  const time = { nowNs: 0 };
  let prepared = 0;
  const results = await finalRound([onCpu("a", 1e9), onCpu("b", 1e9)], {
    problem: PROBLEM,
    session: workbench(time, (configuration) => {
      const isWrong = configuration.traversal === "a" && prepared++ >= 0;
      return new FakeRunner(configuration, isWrong ? { verification: { maxError: 1 } } : {}, time);
    }),
    seed: 1,
    deadlineNs: 0,
    signal: new AbortController().signal,
    onEvaluation: () => {},
  });
  assertEquals([runNames(results), prepared], ["b", 1]);
});
