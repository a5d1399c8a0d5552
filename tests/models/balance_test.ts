import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { heat } from "../../kernels/stencils/heat.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { nextShare } from "../../models/balance.ts";
import type { SharedIteration } from "../../models/shared_fit.ts";

const RUNS = { numRuns: 150, seed: 2 };

/** A device whose time is a line over its slices. */
interface Device {
  readonly nsPerSlice: number;
  readonly offsetNs?: number;
}

type MeasureShare = (cpuSlices: number, gpuSlices: number) => { cpuTimeNs: number; gpuTimeNs: number };

function devices(cpu: Device, gpu: Device): MeasureShare {
  const time = ({ nsPerSlice, offsetNs = 0 }: Device, slices: number) => offsetNs + nsPerSlice * slices;
  return (cpuSlices, gpuSlices) => ({ cpuTimeNs: time(cpu, cpuSlices), gpuTimeNs: time(gpu, gpuSlices) });
}

/** A grid with this number of slices, and the times of its shares; copies take almost no time. */
function shared(slices: number, exchangeEvery: number, measure: MeasureShare) {
  const problem: Problem = { stencil: heat(1), grid: [slices, 8, 8], boundary: "zero", steps: 96 };
  const iterationOf = (cpuSlices: number): SharedIteration => {
    const gpuSlices = slices - cpuSlices, times = measure(cpuSlices, gpuSlices);
    const roundNs = Math.max(times.cpuTimeNs, times.gpuTimeNs);
    return { exchangeEvery, cpuSlices, gpuSlices, ...times, unpackNs: 1e-6, packNs: 1e-6, roundNs };
  };
  return { problem, iterationOf };
}

/** Measures shares until Eq. 8 has come to its end. */
function balance(
  { slices, R = 1, start = 0.1 }: { slices: number; R?: number; start?: number },
  measure: MeasureShare,
) {
  const { problem, iterationOf } = shared(slices, R, measure);
  const iterations = [iterationOf(Math.min(Math.max(Math.round(start * slices), R), slices - R))];
  while (true) {
    const { cpuSlices, end, isSettled } = nextShare(problem, iterations);
    if (end !== undefined) return { iterations, end, isSettled };
    assert(
      Number.isInteger(cpuSlices) && cpuSlices! >= R && slices - cpuSlices! >= R,
      `share ${cpuSlices}, R ${R}`,
    );
    iterations.push(iterationOf(cpuSlices!));
  }
}

/** Time until the slower device is done. */
function longest({ cpuTimeNs, gpuTimeNs }: ReturnType<MeasureShare>): number {
  return Math.max(cpuTimeNs, gpuTimeNs);
}

Deno.test("Eq. 8: the next share makes both times equal, ghost zones included", () => {
  const { problem, iterationOf } = shared(
    120,
    1,
    (cpu, gpu) => ({ cpuTimeNs: 10 * (cpu + 0), gpuTimeNs: 5 * (gpu + 1) }),
  );
  // 10 x = 5 (121 − x)
  assertEquals(nextShare(problem, [iterationOf(60)]).cpuSlices, 40);
});

Deno.test("where times are lines five iterations find a share within 6% of the best", () => {
  const cases = fc.record({
    slices: fc.integer({ min: 2, max: 1000 }),
    R: fc.integer({ min: 1, max: 40 }),
    start: fc.oneof(fc.constantFrom(0, 0.1, 0.5, 1), fc.double({ min: 0.001, max: 0.999, noNaN: true })),
    speed: fc.double({ min: -4, max: 4, noNaN: true }),
    cpuOffset: fc.double({ min: 0, max: 2, noNaN: true }),
    gpuOffset: fc.double({ min: 0, max: 2, noNaN: true }),
  });
  fc.assert(
    fc.property(cases, ({ slices, R, start, speed, cpuOffset, gpuOffset }) => {
      fc.pre(slices >= 2 * R);
      const measure = devices(
        { nsPerSlice: 1000 * 10 ** speed, offsetNs: 1000 * slices * cpuOffset * 0.2 },
        { nsPerSlice: 1000, offsetNs: 1000 * slices * gpuOffset * 0.2 },
      );
      const { iterations, end, isSettled } = balance({ slices, R, start }, measure);
      assert(isSettled && iterations.length <= 5, end);
      let best = Infinity;
      for (let share = R; share <= slices - R; share++) {
        best = Math.min(best, longest(measure(share, slices - share)));
      }
      const found = Math.min(...iterations.map(longest));
      assert(found <= best * 1.06, `${found}, the best ${best}: ${end}`);
    }),
    RUNS,
  );
});

Deno.test("five iterations settle under noise of 2%", () => {
  const cases = fc.record({
    slices: fc.integer({ min: 20, max: 1000 }),
    R: fc.integer({ min: 1, max: 8 }),
    speed: fc.double({ min: -2, max: 2, noNaN: true }),
    offset: fc.double({ min: 0, max: 0.3, noNaN: true }),
    noise: fc.array(fc.double({ min: -0.02, max: 0.02, noNaN: true }), { minLength: 10, maxLength: 10 }),
  });
  fc.assert(
    fc.property(cases, ({ slices, R, speed, offset, noise }) => {
      const exact = devices({ nsPerSlice: 1000 * 10 ** speed, offsetNs: 1000 * slices * offset }, {
        nsPerSlice: 1000,
      });
      let i = 0;
      const noisy: MeasureShare = (...shares) => {
        const { cpuTimeNs, gpuTimeNs } = exact(...shares), next = () => 1 + noise[i++ % noise.length]!;
        return { cpuTimeNs: cpuTimeNs * next(), gpuTimeNs: gpuTimeNs * next() };
      };
      const { end, isSettled } = balance({ slices, R }, noisy);
      assert(isSettled, end);
    }),
    RUNS,
  );
});

Deno.test("the iteration ends when the times agree, or a device has the thinnest share and is still too slow", () => {
  const even = balance({ slices: 200, R: 4 }, devices({ nsPerSlice: 300 }, { nsPerSlice: 100 }));
  assertEquals(even.iterations[0]!.cpuSlices, 20);
  assert(/^times agree within [0-4]\.\d%$/.test(even.end), even.end);
  const ends = ([[1e6, 100], [100, 1e6]] as const).map(([cpu, gpu]) =>
    balance({ slices: 100, R: 2 }, devices({ nsPerSlice: cpu }, { nsPerSlice: gpu }))
  );
  assertEquals(ends.map(({ end, iterations }) => [end, iterations.at(-1)!.cpuSlices]), [
    ["the CPU is too slow for 2 of 100 slices", 2],
    ["the GPU is too slow for 2 of 100 slices", 98],
  ]);
});

Deno.test("two shares that point at each other end it; one that cannot settle says so", () => {
  // at 50 the CPU looks slow, at 49 the GPU does: a step in both devices' times
  const steps: MeasureShare = (cpu, gpu) => ({
    cpuTimeNs: cpu >= 50 ? 140 : 80,
    gpuTimeNs: gpu > 50 ? 130 : 90,
  });
  const result = balance({ slices: 100, start: 0.5 }, steps);
  assertEquals([result.isSettled, result.end], [true, "no other share is better"]);
  let call = 0;
  const wild: MeasureShare = (cpu) => ({
    cpuTimeNs: 1000 * (++call % 2 ? cpu : 4 * cpu),
    gpuTimeNs: 1e9 / cpu,
  });
  const { isSettled, end, iterations } = balance({ slices: 1000 }, wild);
  if (!isSettled) {
    assert(/^times still differ by \d+% after 5 iterations$/.test(end) && iterations.length === 5, end);
  }
});
