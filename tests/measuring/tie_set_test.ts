import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import type { Demand } from "../../kernels/traversals/traversal.ts";
import { orderTies, overlappingTies, standingsOf, type Turns } from "../../tuner/measuring/tie_set.ts";
import { measurementNamed } from "./fake_runner.ts";

const tiedOf = (finalists: readonly Turns[]): boolean[] =>
  standingsOf(finalists)!.map(({ isTied }) => isTied);
const coreOf = (finalists: readonly Turns[]): boolean[] =>
  standingsOf(finalists)!.map(({ isCore }) => isCore);

/** Three blocks without noise. */
const steady = (rate: number): Turns => [rate, rate, rate];

/** Rates of a device: finalists within some percent, with noise in every turn. */
const race = fc.record({
  rates: fc.array(fc.double({ min: 90, max: 110, noNaN: true }), { minLength: 2, maxLength: 6 }),
  noise: fc.array(fc.double({ min: 0.97, max: 1.03, noNaN: true }), { minLength: 48, maxLength: 48 }),
  blocks: fc.integer({ min: 2, max: 8 }),
}).map(({ rates, noise, blocks }) =>
  rates.map((rate, i) => Array.from({ length: blocks }, (_, block) => rate * noise[8 * i + block]!))
);

Deno.test("without noise, what is slower by more than 1% is told apart, and by less than 0.5% does not matter", () => {
  const finalists = [100, 99.6, 99.4, 99.1, 98.9].map(steady);
  assertEquals(tiedOf(finalists), [true, true, true, true, false]);
  assertEquals(coreOf(finalists), [true, true, false, false, false]);
  const [first, , , , last] = standingsOf(finalists)!;
  assertEquals([first!.slowdown, last!.slowdown.toFixed(6)], [0, "0.011000"]);
});

Deno.test("a block in which all are slow tells nothing", () => {
  const property = fc.property(
    race,
    fc.array(fc.double({ min: 0.1, max: 10, noNaN: true }), { minLength: 8, maxLength: 8 }),
    (finalists, factors) => {
      const scaled = finalists.map((turns) => turns.map((rate, block) => rate * factors[block]!));
      const wanted = standingsOf(finalists)!, found = standingsOf(scaled)!;
      found.forEach(({ interval95: [low, high] }, i) => {
        assert(Math.abs(low - wanted[i]!.interval95[0]) < 1e-9);
        assert(Math.abs(high - wanted[i]!.interval95[1]) < 1e-9);
      });
    },
  );
  fc.assert(property, { seed: 1 });
});

Deno.test("the order of the finalists and of the blocks tells nothing", () => {
  const property = fc.property(race, (finalists) => {
    const wanted = standingsOf(finalists)!;
    const turned = standingsOf(finalists.map((turns) => turns.toReversed()).toReversed())!.toReversed();
    assertEquals(
      turned.map(({ isTied, isCore }) => [isTied, isCore]),
      wanted.map((one) => [one.isTied, one.isCore]),
    );
  });
  fc.assert(property, { seed: 1 });
});

Deno.test("what looks fastest is of the core, the core ties, and slowdowns lie in their intervals", () => {
  const property = fc.property(race, (finalists) => {
    const standings = standingsOf(finalists)!;
    const fastest = standings.filter(({ slowdown }) => slowdown === 0);
    assert(fastest.length >= 1 && fastest.some(({ isCore }) => isCore));
    for (const { slowdown, interval95: [low, high], isTied, isCore } of standings) {
      assert(isTied || !isCore);
      assert(low <= slowdown && (slowdown === 0 || slowdown <= high));
    }
  });
  fc.assert(property, { seed: 1 });
});

Deno.test("one that is faster than any other never makes another tie that did not", () => {
  const property = fc.property(race, (finalists) => {
    const fastest = finalists[0]!.map((_, block) =>
      1.2 * Math.max(...finalists.map((turns) => turns[block]!))
    );
    const standings = standingsOf([...finalists, fastest])!;
    assertEquals(standings.at(-1)!.slowdown, 0);
    assert(standings.at(-1)!.isCore);
  });
  fc.assert(property, { seed: 1 });
});

Deno.test("noise ties: what differs by 5% in turns that differ by 10% is not told apart", () => {
  const noisy = [[100, 90, 110, 95], [95, 99, 92, 104]];
  assertEquals(tiedOf(noisy), [true, true]);
  assertEquals(coreOf(noisy), [true, false]);
});

Deno.test("the noise of the others counts where an own difference is small by chance", () => {
  // two turns each; the second keeps its distance to the first to the last digit, others do not
  const others = [[97, 101], [101, 96], [98, 103]];
  assertEquals(tiedOf([[100, 100], [98, 98]]), [true, false]);
  assertEquals(tiedOf([[100, 100], [98, 98], ...others])[1], true);
});

Deno.test("one that left early is compared in the blocks that it had, and its noise is its own", () => {
  const last = [50, 51];
  const [first, second, third] = standingsOf([[100, 100.1, 99.9, 100], [99.9, 99.9, 100, 100], last])!;
  assert(first!.isCore && second!.isCore);
  assert(third!.slowdown > 0.3);
  const missing = standingsOf([[100, undefined, 100, 100], [undefined, 98, 98, 98], [
    99.2,
    99.2,
    99.2,
    99.2,
  ]])!;
  assertEquals(missing.map(({ isTied }) => isTied), [true, false, true]);
});

Deno.test("half the rate never ties, however few blocks there are", () => {
  // a final round on an H100: two of the best, and stepwise, whose turns vary (order 8, 2026-11-22)
  const first = [196.1, 196.0, 196.0], stepwise = [100.6, 103.0, 102.7];
  assertEquals(tiedOf([first, [194.8, 194.8, 194.7], stepwise, [184.0, 183.9]])[2], false);
});

Deno.test("of a single block, or of turns in different blocks, nothing is said", () => {
  assertEquals(standingsOf([[100], [90]]), undefined);
  assertEquals(standingsOf([[100, 100, 100], [90]]), undefined);
  assertEquals(standingsOf([[100, 100, undefined, undefined], [undefined, 90, 90]]), undefined);
  assertEquals(standingsOf([[], [90, 90]]), undefined);
});

Deno.test("whatever turns are missing, somebody is the best or nothing is said", () => {
  const rate = fc.option(fc.double({ min: 1, max: 100, noNaN: true }), { nil: undefined });
  const turns = fc.array(rate, { minLength: 0, maxLength: 8 });
  const property = fc.property(fc.array(turns, { minLength: 1, maxLength: 6 }), (finalists) => {
    const standings = standingsOf(finalists);
    if (standings === undefined) return;
    assertEquals(standings.length, finalists.length);
    assert(standings.some(({ isCore }) => isCore));
    for (const { slowdown, interval95: [low, high], isTied, isCore } of standings) {
      assert(slowdown >= 0 && slowdown <= 1 && low <= high && high <= 1);
      assert(isTied || !isCore);
    }
  });
  fc.assert(property, { seed: 1, numRuns: 1000 });
});

Deno.test("one alone ties with itself, none with none", () => {
  assertEquals(standingsOf([]), []);
  assertEquals(standingsOf([[100]]), [{ slowdown: 0, interval95: [0, 0], isTied: true, isCore: true }]);
});

Deno.test("what is no rate is refused", () => {
  for (const wrong of [0, -1, NaN, Infinity]) {
    assertThrows(() => standingsOf([[100, wrong], [90, 90]]), RangeError, `one is ${wrong}`);
  }
});

Deno.test("without blocks those tie whose interval reaches the fastest one's", () => {
  assertEquals(overlappingTies([]), []);
  const first = measurementNamed("first", 100, [90, 110]);
  assertEquals(overlappingTies([first]), [first]);
  const touches = measurementNamed("touches", 85, [80, 90]);
  const below = measurementNamed("below", 85, [80, 89.9]);
  const wide = measurementNamed("wide", 50, [0, 100]);
  assertEquals(overlappingTies([first, touches, below, wide]), [first, touches, wide]);
});

const DEMAND: Demand = {
  bytesPerUpdate: 12,
  registers: { plain: 10 },
  threadsPerWorkgroup: 64,
  workgroupBytes: 0,
  workgroupsPerDispatch: 100,
  rounds: {
    instructions: 10,
    operations: 5,
    barriers: 0,
    rows: 3,
    exchanges: 0,
    waits: {},
    nearWaits: 0,
    nearBytes: 12,
    cells: 64,
    busyThreads: 64,
    dispatches: [{ count: 1, workgroups: 100, rounds: 1 }],
  },
};

const DEMANDS: Readonly<Record<string, Demand>> = {
  small: DEMAND,
  twin: DEMAND,
  long: { ...DEMAND, loopInstructions: 1000 },
  threads: { ...DEMAND, threadsPerWorkgroup: 128 },
  memory: { ...DEMAND, workgroupBytes: 4096 },
};

const WANTED = ["small", "twin", "long", "threads", "memory"], UNKNOWN = ["unknown", "unknown-too"];

Deno.test("of those that tie the least demanding is chosen, whatever was measured and in any order", () => {
  const property = fc.property(
    fc.shuffledSubarray([...WANTED, ...UNKNOWN], { minLength: 7 }),
    fc.array(fc.double({ min: 90, max: 110, noNaN: true }), { minLength: 7, maxLength: 7 }),
    (names, rates) => {
      const ties = names.map((name, i) => ({ ...measurementNamed(name, rates[i]!), compileNs: rates[i]! }));
      const ordered = orderTies(ties, ({ traversal }) => DEMANDS[traversal]);
      assertEquals(ordered.slice(0, 5).map(({ configuration }) => configuration.traversal), WANTED);
      assert(ordered[5]!.cellsPerSecond >= ordered[6]!.cellsPerSecond);
    },
  );
  fc.assert(property, { seed: 1 });
});
