import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { type Balance, balance, type BalanceOptions, type MeasureShare } from "../../models/balance.ts";
import { nextShare } from "../../models/slice_share.ts";

const RUNS = { numRuns: 500, seed: 2 };

/** A device whose time is a line over its slices. */
interface Device {
  nsPerSlice: number;
  offsetNs?: number;
}

function devices(cpu: Device, gpu: Device): MeasureShare {
  const time = ({ nsPerSlice, offsetNs = 0 }: Device, slices: number) =>
    slices === 0 ? 0 : offsetNs + nsPerSlice * slices;
  return (cpuSlices, gpuSlices) =>
    Promise.resolve({ cpuTimeNs: time(cpu, cpuSlices), gpuTimeNs: time(gpu, gpuSlices) });
}

/** Repeats the same list of relative deviations. */
function noisy(measure: MeasureShare, noise: readonly number[]): MeasureShare {
  let i = 0;
  return async (cpuSlices, gpuSlices) => {
    const { cpuTimeNs, gpuTimeNs } = await measure(cpuSlices, gpuSlices);
    return {
      cpuTimeNs: cpuTimeNs * (1 + noise[i++ % noise.length]),
      gpuTimeNs: gpuTimeNs * (1 + noise[i++ % noise.length]),
    };
  };
}

function checkShare({ cpuSlices, gpuSlices }: Balance, { slices, ghost }: BalanceOptions): void {
  const thinnest = Math.max(1, ghost);
  assertEquals(cpuSlices + gpuSlices, slices);
  for (const share of [cpuSlices, gpuSlices]) {
    assert(
      Number.isInteger(share) && (share === 0 || share === slices || share >= thinnest),
      `share ${share}, ghost ${ghost}`,
    );
  }
}

Deno.test("Eq. 8: the next share makes both times equal", () => {
  const input = { slices: 120, cpu: { slices: 60, timeNs: 600 }, gpu: { slices: 60, timeNs: 300 }, ghost: 1 };
  assertEquals(nextShare(input), { cpuSlices: 40, gpuSlices: 80 });
});

Deno.test("Eq. 8: the next share is rounded to the shorter of both longer times", () => {
  // exact: 10.6 of 100; the 11th slice would cost the CPU more than it saves the GPU
  const input = {
    slices: 100,
    cpu: { slices: 10, timeNs: 843.4 },
    gpu: { slices: 90, timeNs: 900 },
    ghost: 1,
  };
  assertEquals(nextShare(input), { cpuSlices: 10, gpuSlices: 90 });
});

Deno.test("Eq. 8: a share under the ghost width or under one slice is 0", () => {
  const fast = { slices: 90, timeNs: 90 };
  const timings = { slices: 100, cpu: { slices: 10, timeNs: 250 }, gpu: fast };
  assertEquals(nextShare({ ...timings, ghost: 3 }), { cpuSlices: 3, gpuSlices: 97 });
  assertEquals(nextShare({ ...timings, ghost: 4 }), { cpuSlices: 0, gpuSlices: 100 });
  const slow = { slices: 10, timeNs: 10_000 };
  assertEquals(nextShare({ slices: 100, cpu: slow, gpu: fast, ghost: 0 }), { cpuSlices: 0, gpuSlices: 100 });
  assertEquals(nextShare({ slices: 100, cpu: fast, gpu: slow, ghost: 0 }), { cpuSlices: 100, gpuSlices: 0 });
});

Deno.test("Eq. 8: a device that computed nothing leaves the share as it is", () => {
  const idle = { slices: 0, timeNs: NaN }, busy = { slices: 50, timeNs: 10 };
  assertEquals(nextShare({ slices: 50, cpu: idle, gpu: busy, ghost: 1 }), { cpuSlices: 0, gpuSlices: 50 });
  assertEquals(nextShare({ slices: 50, cpu: busy, gpu: idle, ghost: 1 }), { cpuSlices: 50, gpuSlices: 0 });
});

Deno.test("Eq. 8: unusable times are data, wrong slices are errors", () => {
  for (const timeNs of [0, -1, NaN, Infinity]) {
    const cpu = { slices: 5, timeNs }, gpu = { slices: 5, timeNs: 7 };
    const failure = `cannot balance: the CPU's time for 5 slices is ${timeNs} ns`;
    assertEquals(nextShare({ slices: 10, cpu, gpu, ghost: 1 }), { failure });
  }
  const device = { slices: 5, timeNs: 7 };
  assertThrows(() => nextShare({ slices: 0, cpu: device, gpu: device, ghost: 1 }), RangeError);
  assertThrows(() => nextShare({ slices: 10, cpu: device, gpu: device, ghost: -1 }), RangeError);
});

Deno.test("balance settles in five iterations where times are lines", async () => {
  const property = fc.asyncProperty(
    fc.record({
      slices: fc.integer({ min: 1, max: 2000 }),
      ghost: fc.integer({ min: 0, max: 40 }),
      startShare: fc.oneof(
        fc.constantFrom(0.01, 0.1, 0.5, 0.9),
        fc.double({ min: 0.001, max: 0.999, noNaN: true }),
      ),
      speed: fc.double({ min: -4, max: 4, noNaN: true }),
      cpuOffset: fc.double({ min: 0, max: 2, noNaN: true }),
      gpuOffset: fc.double({ min: 0, max: 2, noNaN: true }),
    }),
    async ({ slices, ghost, startShare, speed, cpuOffset, gpuOffset }) => {
      const options = { slices, ghost, startShare };
      const cpu = { nsPerSlice: 1000 * 10 ** speed, offsetNs: 1000 * slices * cpuOffset * 0.2 };
      const gpu = { nsPerSlice: 1000, offsetNs: 1000 * slices * gpuOffset * 0.2 };
      const result = await balance(options, devices(cpu, gpu));
      checkShare(result, options);
      assert(result.settled, result.message);
      assert(result.iterations.length <= 5);
      if (slices < 2 * Math.max(1, ghost)) return;
      // no share of whole slices beats the one found by more than the tolerance; a zero only by what is measured
      const time = (share: number) =>
        Math.max(
          share === 0 ? 0 : cpu.offsetNs + cpu.nsPerSlice * share,
          share === slices ? 0 : gpu.offsetNs + gpu.nsPerSlice * (slices - share),
        );
      const thinnest = Math.max(1, ghost);
      let best = Infinity;
      for (let share = thinnest; share <= slices - thinnest; share++) best = Math.min(best, time(share));
      assert(
        time(result.cpuSlices) <= best * 1.06,
        `${result.cpuSlices} CPU slices take ${time(result.cpuSlices)}, the best ${best}: ${result.message}`,
      );
    },
  );
  await fc.assert(property, RUNS);
});

Deno.test("balance settles in five iterations under noise of 2%", async () => {
  const property = fc.asyncProperty(
    fc.record({
      slices: fc.integer({ min: 20, max: 1000 }),
      ghost: fc.integer({ min: 1, max: 8 }),
      speed: fc.double({ min: -2, max: 2, noNaN: true }),
      offset: fc.double({ min: 0, max: 0.3, noNaN: true }),
      noise: fc.array(fc.double({ min: -0.02, max: 0.02, noNaN: true }), { minLength: 10, maxLength: 10 }),
    }),
    async ({ slices, ghost, speed, offset, noise }) => {
      const options = { slices, ghost };
      const cpu = { nsPerSlice: 1000 * 10 ** speed, offsetNs: 1000 * slices * offset };
      const result = await balance(options, noisy(devices(cpu, { nsPerSlice: 1000 }), noise));
      checkShare(result, options);
      assert(result.settled, result.message);
    },
  );
  await fc.assert(property, RUNS);
});

Deno.test("balance records every iteration and starts from a tenth", async () => {
  const result = await balance({ slices: 200, ghost: 4 }, devices({ nsPerSlice: 300 }, { nsPerSlice: 100 }));
  assertEquals(result.iterations, [
    { cpuSlices: 20, gpuSlices: 180, cpuTimeNs: 6000, gpuTimeNs: 18000 },
    { cpuSlices: 50, gpuSlices: 150, cpuTimeNs: 15000, gpuTimeNs: 15000 },
  ]);
  assertEquals(result.reason, "times agree");
});

Deno.test("balance gives everything to a device 10,000 times faster", async () => {
  const gpu = await balance({ slices: 100, ghost: 2 }, devices({ nsPerSlice: 1e6 }, { nsPerSlice: 100 }));
  assertEquals([gpu.cpuSlices, gpu.gpuSlices, gpu.reason], [0, 100, "share is zero"]);
  assertEquals(gpu.iterations.at(-1), { cpuSlices: 0, gpuSlices: 100, cpuTimeNs: 0, gpuTimeNs: 10000 });
  const cpu = await balance({ slices: 100, ghost: 2 }, devices({ nsPerSlice: 100 }, { nsPerSlice: 1e6 }));
  assertEquals([cpu.cpuSlices, cpu.gpuSlices, cpu.reason], [100, 0, "share is zero"]);
  assert(gpu.iterations.length <= 5 && cpu.iterations.length <= 5);
});

Deno.test("balance keeps a start share of zero or one", async () => {
  const measure = devices({ nsPerSlice: 1 }, { nsPerSlice: 1 });
  const zero = await balance({ slices: 10, ghost: 1, startShare: 0 }, measure);
  assertEquals([zero.cpuSlices, zero.reason, zero.iterations.length], [0, "share is zero", 1]);
  const one = await balance({ slices: 10, ghost: 1, startShare: 1 }, measure);
  assertEquals([one.cpuSlices, one.gpuSlices, one.iterations.length], [10, 0, 1]);
});

Deno.test("balance leaves a grid alone that is too thin for two ghost zones", async () => {
  const result = await balance({ slices: 9, ghost: 5 }, devices({ nsPerSlice: 1 }, { nsPerSlice: 1 }));
  assertEquals([result.cpuSlices, result.reason, result.settled], [0, "too thin to share", true]);
});

Deno.test("balance settles a slice that bounces on the better share", async () => {
  // at 50 the CPU looks slow, at 49 the GPU does: a step in both devices' times
  const measure: MeasureShare = (cpu, gpu) =>
    Promise.resolve({ cpuTimeNs: cpu >= 50 ? 140 : 80, gpuTimeNs: gpu > 50 ? 130 : 90 });
  const result = await balance({ slices: 100, ghost: 1, startShare: 0.5 }, measure);
  assertEquals([result.settled, result.reason], [true, "no slice moves"]);
  const longer = result.iterations.map((i) => Math.max(i.cpuTimeNs, i.gpuTimeNs));
  const chosen = result.iterations.find((i) => i.cpuSlices === result.cpuSlices)!;
  assertEquals(Math.max(chosen.cpuTimeNs, chosen.gpuTimeNs), Math.min(...longer));
});

Deno.test("balance settles on an earlier share if that was the better", async () => {
  const measure: MeasureShare = (cpu) =>
    Promise.resolve(cpu >= 3 ? { cpuTimeNs: 120, gpuTimeNs: 90 } : { cpuTimeNs: 80, gpuTimeNs: 150 });
  const result = await balance({ slices: 6, ghost: 1, startShare: 0.5 }, measure);
  assertEquals(result.iterations.map(({ cpuSlices }) => cpuSlices), [3, 2]);
  assertEquals([result.cpuSlices, result.reason], [3, "no slice moves"]);
});

Deno.test("balance takes unusable times as data and keeps what it has", async () => {
  for (const bad of [0, -5, NaN, Infinity]) {
    const first = await balance(
      { slices: 50, ghost: 1 },
      () => Promise.resolve({ cpuTimeNs: bad, gpuTimeNs: 5 }),
    );
    assertEquals([first.settled, first.reason, first.cpuSlices, first.iterations.length], [
      false,
      "unusable times",
      0,
      0,
    ]);
    let calls = 0;
    const later = await balance(
      { slices: 50, ghost: 1 },
      (cpu, gpu) =>
        Promise.resolve(
          calls++ === 0 ? { cpuTimeNs: cpu, gpuTimeNs: gpu } : { cpuTimeNs: 1, gpuTimeNs: bad },
        ),
    );
    assertEquals([later.reason, later.cpuSlices, later.iterations.length], ["unusable times", 5, 1]);
  }
});

Deno.test("balance refuses a start share outside 0 to 1", async () => {
  for (const startShare of [-0.1, 1.1, NaN]) {
    let message = "";
    await balance({ slices: 10, ghost: 1, startShare }, devices({ nsPerSlice: 1 }, { nsPerSlice: 1 }))
      .catch((error: Error) => message = error.message);
    assertEquals(message, `Cannot balance: startShare must be 0 to 1: current value is ${startShare}`);
  }
});
