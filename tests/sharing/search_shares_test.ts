import { assert, assertEquals } from "@std/assert";
import { fastestOf } from "../../models/round.ts";
import { SIMULATED_DEVICE, SimulatedSession } from "../devices/simulated_session.ts";
import { nextShare } from "../../models/balance.ts";
import { fastestOfEach, periodsFor, searchShares } from "../../tuner/sharing/search_shares.ts";
import { COSTS } from "../devices/simulated_times.ts";
import { PROBLEM, simulate } from "./simulated_devices.ts";

Deno.test("R = 1, 4, 16 and 64 are tried as far as their ghost zones and the run's steps allow", () => {
  assertEquals(periodsFor(simulate()), [1, 4, 16, 64]);
  assertEquals(periodsFor(simulate({ problem: { ...PROBLEM, steps: 10 } })), [1, 4]);
  assertEquals(periodsFor(simulate({ problem: { ...PROBLEM, grid: [6, 8, 8] } })), [1]);
  assertEquals(periodsFor({ ...simulate(), exchangeEvery: [5, 200] }), [5]);
});

Deno.test("each R is balanced by Eq. 8, the first from a tenth, the others from the share before", async () => {
  const options = simulate(), { tried } = await searchShares(options, periodsFor(options));
  assertEquals(tried[0], { ...tried[0]!, exchangeEvery: 4, cpuSlices: 26 });
  for (const [i, { exchangeEvery, cpuSlices, gpuSlices, roundNs, stepNs }] of tried.entries()) {
    assertEquals(cpuSlices + gpuSlices, 256);
    assertEquals(stepNs, roundNs * Math.ceil(96 / exchangeEvery) / 96);
    const isNew = i > 0 && !tried.slice(0, i).some((one) => one.exchangeEvery === exchangeEvery);
    // but where the model proposes another one
    if (isNew && [1, 16, 64].includes(exchangeEvery)) assertEquals(cpuSlices, tried[i - 1]!.cpuSlices);
  }
  for (const its of Map.groupBy(tried, ({ exchangeEvery }) => exchangeEvery).values()) {
    assert(its.length <= 5);
    assert(nextShare(PROBLEM, its).isSettled, `R = ${its[0]!.exchangeEvery}`);
  }
  assertEquals(
    new Set(fastestOfEach(tried)).size,
    new Set(tried.map(({ exchangeEvery }) => exchangeEvery)).size,
  );
});

Deno.test("the search ends where a step clearly takes longer", async () => {
  const free = { a: 0, b: 0 };
  const costs = { ...COSTS, unpack: free, pack: free, schedule: { ...COSTS.schedule, waitNs: 0 } };
  const options = simulate({ costs, problem: { ...PROBLEM, grid: [132, 64, 64] } });
  const each = fastestOfEach((await searchShares(options, [1, 4, 32, 64])).tried);
  // R = 32 takes longer than R = 4, which R = 64 would, too
  assertEquals(each.slice(0, 3).map(({ exchangeEvery }) => exchangeEvery), [4, 32, 1]);
  assert(each[1]!.stepNs > 1.2 * fastestOf(each)!.stepNs);
});

Deno.test("a CPU that is too slow for any share gets the thinnest one", async () => {
  const costs = { ...COSTS, cpu: { ...COSTS.cpu, updateNs: 4000 } };
  const options = simulate({ costs }), { tried } = await searchShares(options, [1]);
  const { end } = nextShare(PROBLEM, tried.filter(({ exchangeEvery }) => exchangeEvery === 1));
  assertEquals([end, tried.at(-1)!.cpuSlices], ["the CPU is too slow for 1 of 256 slices", 1]);
});

Deno.test("in a limited time R = 1 alone where sharing cannot pay", () => {
  const periods = (cpu: number, isFallback = false): readonly number[] => {
    const device = { ...SIMULATED_DEVICE, gpu: { ...SIMULATED_DEVICE.gpu!, isFallback } };
    const session = new SimulatedSession({ device });
    return periodsFor({ ...simulate(), session, alone: { cpu, gpu: 1e9 }, deadlineNs: 1e9 });
  };
  // the slower device adds less than a percent, or is the same cores
  for (const cpu of [0.0099e9, 101e9]) assertEquals(periods(cpu), [1]);
  assertEquals([periods(1e9, true), periods(0.9e9, true)], [[1], [1, 4, 16, 64]]);
});

Deno.test("little time: fewer R, and what was measured by then", async () => {
  const all = simulate();
  await searchShares(all, periodsFor(all));
  const some = { ...simulate(), deadlineNs: 1.4 * all.session.now() };
  const { tried } = await searchShares(some, periodsFor(some));
  assert(tried.length >= 1 && tried.length < all.session.prepared.length);
  const one = { ...simulate(), deadlineNs: 0 };
  const found = await searchShares(one, periodsFor(one));
  assertEquals(found.tried.map(({ cpuSlices }) => cpuSlices), [26]);
  const none = { ...simulate(), signal: AbortSignal.abort() };
  assertEquals(await searchShares(none, periodsFor(none)), { tried: [], failed: undefined });
  assertEquals(none.session.prepared, []);
});

Deno.test("a share that cannot run ends the search with what was measured before", async () => {
  const options = simulate({ fails: ({ share }) => share.exchangeEvery >= 16 ? "limits" : undefined });
  const { tried, failed } = await searchShares(options, periodsFor(options));
  assertEquals(failed?.failure.reason, "limits");
  assertEquals(new Set(tried.map(({ exchangeEvery }) => exchangeEvery)), new Set([4]));
});

Deno.test("a start share of 0 or 1 begins with the thinnest one of a device", async () => {
  for (const [startShare, cpuSlices] of [[0, 4], [1, 252]] as const) {
    const options = { ...simulate(), startShare };
    assertEquals((await searchShares(options, periodsFor(options))).tried[0]!.cpuSlices, cpuSlices);
  }
});
