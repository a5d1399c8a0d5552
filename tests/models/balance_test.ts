import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type BalanceIteration, type NextShare, nextShare, type ShareLimits } from "../../models/balance.ts";

const RUNS = { numRuns: 300, seed: 2 };

/** A device whose time is a line over its slices. */
interface Device {
  nsPerSlice: number;
  offsetNs?: number;
}

type MeasureShare = (cpuSlices: number, gpuSlices: number) => { cpuTimeNs: number; gpuTimeNs: number };

function devices(cpu: Device, gpu: Device): MeasureShare {
  const time = ({ nsPerSlice, offsetNs = 0 }: Device, slices: number) =>
    slices === 0 ? 0 : offsetNs + nsPerSlice * slices;
  return (cpuSlices, gpuSlices) => ({ cpuTimeNs: time(cpu, cpuSlices), gpuTimeNs: time(gpu, gpuSlices) });
}

/** Repeats the same list of relative deviations. */
function noisy(measure: MeasureShare, noise: readonly number[]): MeasureShare {
  let i = 0;
  return (cpuSlices, gpuSlices) => {
    const { cpuTimeNs, gpuTimeNs } = measure(cpuSlices, gpuSlices);
    return {
      cpuTimeNs: cpuTimeNs * (1 + noise[i++ % noise.length]!),
      gpuTimeNs: gpuTimeNs * (1 + noise[i++ % noise.length]!),
    };
  };
}

/** Measures shares until Eq. 8 has come to its end. */
function balance(
  options: ShareLimits,
  measure: MeasureShare,
): NextShare & { gpuSlices: number; end: string; iterations: BalanceIteration[] } {
  const iterations: BalanceIteration[] = [];
  while (true) {
    const next = nextShare(iterations, options);
    const { cpuSlices, end } = next;
    const gpuSlices = options.slices - cpuSlices;
    if (end !== undefined) return { ...next, gpuSlices, end, iterations };
    iterations.push({ cpuSlices, gpuSlices, ...measure(cpuSlices, gpuSlices) });
  }
}

function checkShare(
  { cpuSlices, gpuSlices }: ReturnType<typeof balance>,
  { slices, ghost }: ShareLimits,
): void {
  const thinnest = Math.max(1, ghost);
  assertEquals(cpuSlices + gpuSlices, slices);
  for (const share of [cpuSlices, gpuSlices]) {
    assert(
      Number.isInteger(share) && (share === 0 || share === slices || share >= thinnest),
      `share ${share}, ghost ${ghost}`,
    );
  }
}

/** The share after one measurement. */
function after(slices: number, cpuSlices: number, times: [cpuTimeNs: number, gpuTimeNs: number], ghost = 1) {
  const [cpuTimeNs, gpuTimeNs] = times;
  const one = { cpuSlices, gpuSlices: slices - cpuSlices, cpuTimeNs, gpuTimeNs };
  return nextShare([one], { slices, ghost }).cpuSlices;
}

Deno.test("Eq. 8: the next share makes both times equal", () => {
  assertEquals(after(120, 60, [600, 300]), 40);
});

Deno.test("Eq. 8: the next share is rounded to the shorter of both longer times", () => {
  // exact: 10.6 of 100; the 11th slice would cost the CPU more than it saves the GPU
  assertEquals(after(100, 20, [1686.8, 800]), 10);
});

Deno.test("Eq. 8: a share thinner than a ghost zone or than one slice is 0", () => {
  assertEquals(after(100, 10, [250, 90], 3), 3);
  assertEquals(after(100, 10, [250, 90], 4), 0);
  assertEquals(after(100, 10, [10_000, 90], 0), 0);
  assertEquals(after(100, 90, [90, 10_000], 0), 100);
});

Deno.test("balance settles in five iterations where times are lines", () => {
  const property = fc.property(
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
    ({ slices, ghost, startShare, speed, cpuOffset, gpuOffset }) => {
      const options = { slices, ghost, startShare };
      const cpu = { nsPerSlice: 1000 * 10 ** speed, offsetNs: 1000 * slices * cpuOffset * 0.2 };
      const gpu = { nsPerSlice: 1000, offsetNs: 1000 * slices * gpuOffset * 0.2 };
      const result = balance(options, devices(cpu, gpu));
      checkShare(result, options);
      assert(result.isSettled, result.end);
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
        `${result.cpuSlices} CPU slices take ${time(result.cpuSlices)}, the best ${best}: ${result.end}`,
      );
    },
  );
  fc.assert(property, RUNS);
});

Deno.test("balance settles in five iterations under noise of 2%", () => {
  const property = fc.property(
    fc.record({
      slices: fc.integer({ min: 20, max: 1000 }),
      ghost: fc.integer({ min: 1, max: 8 }),
      speed: fc.double({ min: -2, max: 2, noNaN: true }),
      offset: fc.double({ min: 0, max: 0.3, noNaN: true }),
      noise: fc.array(fc.double({ min: -0.02, max: 0.02, noNaN: true }), { minLength: 10, maxLength: 10 }),
    }),
    ({ slices, ghost, speed, offset, noise }) => {
      const options = { slices, ghost };
      const cpu = { nsPerSlice: 1000 * 10 ** speed, offsetNs: 1000 * slices * offset };
      const result = balance(options, noisy(devices(cpu, { nsPerSlice: 1000 }), noise));
      checkShare(result, options);
      assert(result.isSettled, result.end);
    },
  );
  fc.assert(property, RUNS);
});

Deno.test("balance starts from a tenth and ends when the times agree", () => {
  const result = balance({ slices: 200, ghost: 4 }, devices({ nsPerSlice: 300 }, { nsPerSlice: 100 }));
  assertEquals(result.iterations, [
    { cpuSlices: 20, gpuSlices: 180, cpuTimeNs: 6000, gpuTimeNs: 18000 },
    { cpuSlices: 50, gpuSlices: 150, cpuTimeNs: 15000, gpuTimeNs: 15000 },
  ]);
  assertEquals(result.end, "times agree within 0.0%");
});

Deno.test("balance gives everything to a device 10,000 times faster", () => {
  const gpu = balance({ slices: 100, ghost: 2 }, devices({ nsPerSlice: 1e6 }, { nsPerSlice: 100 }));
  assertEquals([gpu.cpuSlices, gpu.gpuSlices, gpu.end], [0, 100, "the CPU is too slow for 2 of 100 slices"]);
  assertEquals(gpu.iterations.at(-1), { cpuSlices: 0, gpuSlices: 100, cpuTimeNs: 0, gpuTimeNs: 10000 });
  const cpu = balance({ slices: 100, ghost: 2 }, devices({ nsPerSlice: 100 }, { nsPerSlice: 1e6 }));
  assertEquals([cpu.cpuSlices, cpu.gpuSlices, cpu.end], [100, 0, "the GPU is too slow for 2 of 100 slices"]);
  assert(gpu.iterations.length <= 5 && cpu.iterations.length <= 5);
});

Deno.test("balance keeps a start share of zero or one", () => {
  const measure = devices({ nsPerSlice: 1 }, { nsPerSlice: 1 });
  const zero = balance({ slices: 10, ghost: 1, startShare: 0 }, measure);
  assertEquals([zero.cpuSlices, zero.end, zero.iterations.length], [
    0,
    "the CPU was given no slices to start with",
    1,
  ]);
  const one = balance({ slices: 10, ghost: 1, startShare: 1 }, measure);
  assertEquals([one.cpuSlices, one.gpuSlices, one.iterations.length], [10, 0, 1]);
});

Deno.test("balance leaves a grid alone that is too thin for two ghost zones", () => {
  const result = balance({ slices: 9, ghost: 5 }, devices({ nsPerSlice: 1 }, { nsPerSlice: 1 }));
  assertEquals([result.cpuSlices, result.end], [0, "9 slices cannot hold two shares of at least 5"]);
});

Deno.test("balance settles on the better of two shares that point at each other", () => {
  // at 50 the CPU looks slow, at 49 the GPU does: a step in both devices' times
  const steps: MeasureShare = (cpu, gpu) => ({
    cpuTimeNs: cpu >= 50 ? 140 : 80,
    gpuTimeNs: gpu > 50 ? 130 : 90,
  });
  const result = balance({ slices: 100, ghost: 1, startShare: 0.5 }, steps);
  assert(result.isSettled, result.end);
  const longer = result.iterations.map((i) => Math.max(i.cpuTimeNs, i.gpuTimeNs));
  const chosen = result.iterations.find((i) => i.cpuSlices === result.cpuSlices)!;
  assertEquals(Math.max(chosen.cpuTimeNs, chosen.gpuTimeNs), Math.min(...longer));
  // the earlier one was the better
  const few: MeasureShare = (cpu) =>
    cpu >= 3 ? { cpuTimeNs: 120, gpuTimeNs: 90 } : { cpuTimeNs: 80, gpuTimeNs: 150 };
  const early = balance({ slices: 6, ghost: 1, startShare: 0.5 }, few);
  assertEquals(early.iterations.map(({ cpuSlices }) => cpuSlices), [3, 2]);
  assertEquals(early.cpuSlices, 3);
});

Deno.test("balance that runs out of iterations is not settled, and keeps the best share", () => {
  const options = { slices: 1000, ghost: 1, maxIterations: 1 };
  const { isSettled, cpuSlices, end } = balance(options, devices({ nsPerSlice: 9 }, { nsPerSlice: 5 }));
  assertEquals([isSettled, cpuSlices], [false, 100]);
  assert(end.startsWith("times still differ by 80% after 1 iterations"), end);
});
