import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type RoundCosts, type ScheduleCosts, scheduleRounds } from "../../models/shared_schedule.ts";

const FREE: ScheduleCosts = { submitNs: 0, timerNs: 0, waitNs: 0, contention: 0, starvation: 0 };

function rounds(count: number, change: Partial<RoundCosts> = {}): RoundCosts[] {
  return new Array<RoundCosts>(count).fill({
    steps: 1,
    cpuNs: 0,
    gpuNs: 0,
    unpackNs: 0,
    packNs: 0,
    ...change,
  });
}

/** Time that one more round takes, once there were many. */
function periodOf(change: Partial<RoundCosts>, costs: Partial<ScheduleCosts>): number {
  const wall = (count: number): number => scheduleRounds(rounds(count, change), { ...FREE, ...costs }).wallNs;
  return (wall(60) - wall(40)) / 20;
}

Deno.test("without waits the slower device decides, and packing in between", () => {
  assertAlmostEquals(periodOf({ cpuNs: 7, gpuNs: 3 }, {}), 7, 1e-9);
  assertAlmostEquals(periodOf({ cpuNs: 3, gpuNs: 7 }, {}), 7, 1e-9);
  assertAlmostEquals(periodOf({ cpuNs: 7, gpuNs: 3, packNs: 1, unpackNs: 2 }, { submitNs: 4 }), 14, 1e-9);
  // the GPU's next round waits for the packing, not for the unpacking
  assertAlmostEquals(periodOf({ cpuNs: 1, gpuNs: 20, packNs: 1, unpackNs: 2 }, { submitNs: 4 }), 25, 1e-9);
});

Deno.test("a short round takes one wait, whatever hides behind it", () => {
  assertAlmostEquals(periodOf({ cpuNs: 2, gpuNs: 3 }, { waitNs: 100 }), 100, 1e-9);
  assertAlmostEquals(periodOf({ cpuNs: 2, gpuNs: 3 }, { waitNs: 100, timerNs: 10 }), 110, 1e-9);
  // up to a wait of the CPU's time hides; the GPU's next round hides behind the sleep
  assertAlmostEquals(periodOf({ cpuNs: 2, gpuNs: 98 }, { waitNs: 100 }), 100, 1e-9);
  assertAlmostEquals(periodOf({ cpuNs: 2, gpuNs: 140 }, { waitNs: 100 }), 140, 1e-9);
  assertAlmostEquals(periodOf({ cpuNs: 150, gpuNs: 3 }, { waitNs: 100 }), 150, 1e-9);
});

Deno.test("where the host is starved the wait begins when the CPU is done", () => {
  assertAlmostEquals(periodOf({ cpuNs: 20, gpuNs: 3 }, { waitNs: 100, starvation: 1 }), 120, 1e-9);
  assertAlmostEquals(periodOf({ cpuNs: 20, gpuNs: 3 }, { waitNs: 100, starvation: 0.5 }), 110, 1e-9);
});

Deno.test("devices on the same cores take the sum of their times while both compute", () => {
  // both begin at once in the first round
  const { wallNs } = scheduleRounds(rounds(1, { cpuNs: 10, gpuNs: 30 }), { ...FREE, contention: 1 });
  assertEquals(wallNs, 40);
  const { cpuNs, gpuNs } = scheduleRounds(rounds(1, { cpuNs: 10, gpuNs: 30 }), { ...FREE, contention: 1 });
  assertEquals([cpuNs, gpuNs], [20, 40]);
  // the GPU begins while the host still unpacks: alone for 5, then 10 of both
  const two = rounds(2, { cpuNs: 10, gpuNs: 12, unpackNs: 5 });
  const free = scheduleRounds(two, FREE), shared = scheduleRounds(two, { ...FREE, contention: 1 });
  assertEquals([free.cpuNs, shared.cpuNs], [10, 10 + 7]);
});

Deno.test("more of anything never makes a run shorter, and one wait ends every run", () => {
  const time = fc.integer({ min: 0, max: 1000 });
  const costs = fc.record({ submitNs: time, timerNs: time, waitNs: time });
  const round = fc.record({ steps: fc.constant(1), cpuNs: time, gpuNs: time, unpackNs: time, packNs: time });
  const list = fc.array(round, { minLength: 1, maxLength: 8 });
  fc.assert(fc.property(list, costs, fc.nat(7), time, (run, schedule, which, extra) => {
    const base = scheduleRounds(run, { ...FREE, ...schedule }).wallNs;
    assert(base >= run.length * schedule.submitNs + schedule.waitNs);
    assert(base >= run.reduce((sum, { cpuNs }) => sum + cpuNs, 0));
    assert(base >= run.reduce((sum, { gpuNs }) => sum + gpuNs, 0));
    for (const part of ["cpuNs", "gpuNs", "unpackNs", "packNs"] as const) {
      const longer = run.map((one, i) =>
        i === which % run.length ? { ...one, [part]: one[part] + extra } : one
      );
      assert(scheduleRounds(longer, { ...FREE, ...schedule }).wallNs >= base);
    }
    for (const part of ["submitNs", "timerNs", "waitNs"] as const) {
      const slower = { ...FREE, ...schedule, [part]: schedule[part] + extra };
      assert(scheduleRounds(run, slower).wallNs >= base);
    }
  }));
});
