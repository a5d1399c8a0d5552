import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { SURE_BLOCKS } from "../../tuner/measuring/final_round.ts";
import { afterDeadline, finalsDeadline, planTime } from "../../tuner/tune/time_plan.ts";
import { blocksTime } from "../../tuner/measuring/turn_time.ts";

const turns = (count: number, ns: number) => Array(count).fill({ firstNs: ns, againNs: ns });

Deno.test("stages follow each other, the least of the final round fits, and the slower the device the earlier", () => {
  const ns = fc.double({ min: 0, max: 100e9, noNaN: true });
  const property = fc.property(
    fc.double({ min: 1e9, max: 1e12, noNaN: true }),
    fc.integer({ min: 1, max: 4 }),
    ns,
    ns,
    fc.option(ns, { nil: undefined }),
    (timeNs, count, turnNs, referenceNs, cpuNs) => {
      const time = { startedNs: 5e9, timeNs };
      const plan = (slower: number) =>
        planTime(time, {
          turns: turns(count, slower * turnNs),
          referenceNs: slower * referenceNs,
          cpuNs: cpuNs === undefined ? undefined : slower * cpuNs,
          isShared: cpuNs !== undefined,
        });
      const { searchUntilNs, finalsUntilNs, endNs } = plan(1);
      assert(searchUntilNs < finalsUntilNs && finalsUntilNs <= endNs && endNs === 5e9 + timeNs);
      const leastNs = referenceNs + blocksTime(turns(Math.min(count, 2), turnNs), SURE_BLOCKS);
      assert(finalsUntilNs - searchUntilNs >= leastNs * (1 - 1e-9) - 1e3);
      assert(plan(2).searchUntilNs <= searchUntilNs);
    },
  );
  fc.assert(property, { seed: 1 });
});

Deno.test("without a budget of time no stage ends the search, and those after it last no longer than usual", () => {
  const plan = planTime({ startedNs: 0, timeNs: Infinity }, {
    turns: turns(3, 1e9),
    referenceNs: 1e9,
    cpuNs: 1e9,
    isShared: true,
  });
  assertEquals([plan.searchUntilNs, plan.finalsUntilNs], [Infinity, Infinity]);
  assertEquals(finalsDeadline(plan, { nowNs: 3e9, wantedNs: 1e9 }), 13e9);
  assertEquals(finalsDeadline(plan, { nowNs: 3e9, wantedNs: 40e9 }), 43e9);
  assertEquals(afterDeadline(plan, { nowNs: 3e9, cpuNs: 1e9 }), 18e9);
});
