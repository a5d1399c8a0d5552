import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fastestOf } from "../../models/round.ts";
import { SIMULATED_DEVICE, SimulatedSession } from "../devices/simulated_session.ts";
import { periodsFor, searchPeriods } from "../../tuner/sharing/search_periods.ts";
import { COSTS } from "../devices/simulated_times.ts";
import { PROBLEM, simulate } from "./simulated_devices.ts";

Deno.test("R = 1, 2, 4, … 32 are tried as far as their ghost zones and the run's steps allow", () => {
  assertEquals(periodsFor(simulate()), [1, 2, 4, 8, 16, 32]);
  assertEquals(periodsFor(simulate({ problem: { ...PROBLEM, steps: 10 } })), [1, 2, 4, 8]);
  assertEquals(periodsFor(simulate({ problem: { ...PROBLEM, grid: [12, 8, 8] } })), [1, 2, 4]);
  assertEquals(periodsFor({ ...simulate(), exchangeEvery: [5, 200] }), [5]);
});

Deno.test("each R is balanced by Eq. 8, the first from a tenth, the others from the share before", async () => {
  const options = simulate();
  const tried = await searchPeriods(options, periodsFor(options));
  for (const [i, { exchangeEvery, iterations, cpuSlices, isSettled }] of tried.entries()) {
    assert(iterations.length <= 5);
    for (const one of iterations) {
      assertEquals([one.cpuSlices + one.gpuSlices, one.exchangeEvery], [256, exchangeEvery]);
    }
    const last = iterations.findLast((one) => one.cpuSlices === cpuSlices)!;
    const difference = Math.abs(last.cpuTimeNs / last.gpuTimeNs - 1);
    if (isSettled) assert(difference <= 0.06, `R = ${exchangeEvery}: ${difference}`);
    assertEquals(iterations[0]!.cpuSlices, i === 0 ? 26 : tried[i - 1]!.cpuSlices);
  }
  assert(fastestOf(tried)!.isSettled);
});

Deno.test("the search ends where a step clearly takes longer", async () => {
  const free = { a: 0, b: 0 };
  const costs = { ...COSTS, unpack: free, pack: free, schedule: { ...COSTS.schedule, waitNs: 0 } };
  const options = { ...simulate({ costs, problem: { ...PROBLEM, grid: [72, 64, 64] } }), deadlineNs: 1e12 };
  const tried = await searchPeriods(options, periodsFor(options));
  assert(tried.length < 6);
  const { stepNs } = fastestOf(tried)!;
  assert(tried.at(-1)!.stepNs > 1.2 * stepNs);
  assert(tried.slice(0, -1).every((one) => one.stepNs <= 1.2 * stepNs));
});

Deno.test("a CPU that is too slow for any share ends the search after two R", async () => {
  const costs = { ...COSTS, cpu: { ...COSTS.cpu, updateNs: 4000 } };
  const options = { ...simulate({ costs }), deadlineNs: 1e12 };
  const tried = await searchPeriods(options, periodsFor(options));
  assertEquals(tried.map(({ exchangeEvery }) => exchangeEvery), [1, 2]);
  // the shares that were measured are still known
  assertEquals(tried.map(({ leavesOut, cpuSlices }) => [leavesOut, cpuSlices > 0]), [[true, true], [
    true,
    true,
  ]]);
  assertStringIncludes(tried[0]!.message, "the CPU is too slow for 1 of 256 slices");
});

Deno.test("in a limited time R = 1 alone where sharing cannot pay, else rounds as long as the host's wait", () => {
  const periods = (cpu: number, { gpu = 1e9, isFallback = false } = {}): readonly number[] => {
    const device = { ...SIMULATED_DEVICE, gpu: { ...SIMULATED_DEVICE.gpu!, isFallback } };
    const session = new SimulatedSession({ device });
    return periodsFor({ ...simulate(), session, alone: { cpu, gpu }, deadlineNs: 1e9 });
  };
  // the slower device adds less than a percent, or is the same cores
  for (const cpu of [0.0099e9, 101e9]) assertEquals(periods(cpu), [1]);
  assertEquals(periods(1e9, { isFallback: true }), [1]);
  // 256×64×64 cells: a step of both takes 0.55 ms, then more, then less
  assertEquals(periods(0.9e9, { isFallback: true }), [4, 8, 16, 32]);
  assertEquals(periods(1e8, { gpu: 1e8 }), [1, 2, 4, 8, 16, 32]);
  assertEquals(periods(1e11, { gpu: 1e11 }), [32]);
});

Deno.test("little time: fewer R, and what was measured by then", async () => {
  const all = simulate();
  await searchPeriods(all, periodsFor(all));
  const some = { ...simulate(), deadlineNs: 1.4 * all.session.now() };
  const tried = await searchPeriods(some, periodsFor(some));
  assert(tried.length >= 1 && tried.length < 6 && fastestOf(tried) !== undefined);
  const one = { ...simulate(), deadlineNs: 0 };
  const [first, ...others] = await searchPeriods(one, periodsFor(one));
  assertEquals(others, []);
  assertEquals([first!.iterations.length, first!.message, first!.isSettled], [
    1,
    "no time left after 1 iteration",
    false,
  ]);
  assertEquals(first!.cpuSlices, 26);
  const none = { ...simulate(), signal: AbortSignal.abort() };
  const [empty] = await searchPeriods(none, periodsFor(none));
  assertEquals([empty!.iterations, empty!.stepNs, none.session.prepared], [[], Infinity, []]);
});

Deno.test("a share that cannot run ends the search with what was measured before", async () => {
  const options = simulate({ fails: ({ share }) => share.exchangeEvery >= 4 ? "limits" : undefined });
  const tried = await searchPeriods(options, periodsFor(options));
  assertEquals(tried.map(({ failed }) => failed?.failure.reason), [undefined, undefined, "limits"]);
  assertEquals(fastestOf(tried)!.exchangeEvery, 2);
});

Deno.test("a start share of 0 or 1 is measured and kept", async () => {
  for (const [startShare, cpuSlices] of [[0, 0], [1, 256]] as const) {
    const options = { ...simulate(), startShare };
    const tried = await searchPeriods(options, periodsFor(options));
    assertEquals(tried.map((one) => [one.cpuSlices, one.iterations.length]), [[cpuSlices, 1]]);
  }
});
