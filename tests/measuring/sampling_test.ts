import { assert, assertEquals, assertRejects } from "@std/assert";
import { HOST_BATCH_NS } from "../../tuner/devices/gpu/gpu_clock.ts";
import { steadySampler } from "../../tuner/measuring/steady_sampler.ts";
import { repetitionsFor, sampleUntilStable, type SamplingLimits } from "../../tuner/measuring/sampling.ts";

/** Samples until it is stable, unless other limits are given. */
function sampled(
  sample: () => Promise<number>,
  limits: Pick<SamplingLimits, "now"> & Partial<SamplingLimits>,
) {
  const none = { minSamples: 3, maxSamples: 30, budgetNs: Infinity, hopelessNs: Infinity };
  return sampleUntilStable(sample, { ...none, ...limits });
}

/** Plays back times, on a clock that they move. */
function playBack(timesNs: readonly number[]) {
  let clockNs = 0, calls = 0;
  return {
    now: () => clockNs,
    calls: () => calls,
    sample: () => {
      const timeNs = timesNs[Math.min(calls++, timesNs.length - 1)]!;
      clockNs += timeNs;
      return Promise.resolve(timeNs);
    },
  };
}

Deno.test("sampling ends with three equal samples", async () => {
  const { sample, now } = playBack([100, 100.2, 99.9]);
  assertEquals(await sampled(sample, { now }), [100, 100.2, 99.9]);
});

Deno.test("sampling goes on while the interval is wide", async () => {
  // a cold first sample, 40% off
  const { sample, now } = playBack([140, 100, 101, 100, 99, 100]);
  const samplesNs = await sampled(sample, { now });
  // the second smallest and second largest of nine leave it out
  assertEquals(samplesNs.length, 9);
});

Deno.test("what is surely slower than something else is not sampled to the end, what may be faster is", async () => {
  const noisy = [100, 110, 105, 95, 104, 99, 111, 96, 108, 102, 94, 107];
  const samplesFor = async (hopelessNs: number): Promise<number> => {
    const { sample, now } = playBack(noisy);
    return (await sampled(sample, { now, hopelessNs, maxSamples: 12 })).length;
  };
  assertEquals(await samplesFor(50), 3); // three samples say at least 92
  assertEquals(await samplesFor(94), 5); // five samples say at least 95
  assertEquals([await samplesFor(103), await samplesFor(200), await samplesFor(Infinity)], [12, 12, 12]);
});

Deno.test("samples that were taken before count, but not their time", async () => {
  const { sample, now, calls } = playBack([100, 100]);
  assertEquals(await sampled(sample, { now, taken: [100], budgetNs: 220 }), [100, 100, 100]);
  assertEquals(calls(), 2);
  assertEquals(await sampled(sample, { now, taken: [100], budgetNs: 90 }), [100]); // another would end too late
  assertEquals(await sampled(sample, { now, taken: [100], maxSamples: 1 }), [100]);
});

Deno.test("sampling stops at the most samples", async () => {
  const { sample, now } = playBack([100, 150, 90, 160, 80, 170, 70]);
  assertEquals((await sampled(sample, { now, maxSamples: 5 })).length, 5);
});

Deno.test("sampling takes one sample of any length, and none that would end after the budget", async () => {
  const long = playBack([100]);
  assertEquals(await sampled(long.sample, { now: long.now, budgetNs: 50 }), [100]);
  const short = playBack([100, 150]);
  assertEquals(await sampled(short.sample, { now: short.now, budgetNs: 290 }), [100, 150]);
});

Deno.test("sampling passes on what a sample throws, and refuses no time at all", async () => {
  const now = () => 0;
  await assertRejects(
    () => sampled(() => Promise.reject(new Error("lost")), { now }),
    Error,
    "lost",
  );
  for (const timeNs of [0, -1, NaN, Infinity]) {
    await assertRejects(
      () => sampled(() => Promise.resolve(timeNs), { now }),
      RangeError,
      `${timeNs}`,
    );
  }
});

Deno.test("repetitions make a batch long enough, at least one, at most the most", () => {
  assertEquals(repetitionsFor(2e6), 1);
  assertEquals(repetitionsFor(1.9e6), 2);
  assertEquals(repetitionsFor(5e9), 1);
  assertEquals(repetitionsFor(1), 10_000);
  for (const unknown of [0, NaN, -3]) assertEquals(repetitionsFor(unknown), 10_000);
});

Deno.test("a host batch keeps the 11 ms poll tick to 2%", () => {
  assert(11e6 / HOST_BATCH_NS <= 0.02);
});

/** Samples of batches that are waited for. */
function batchesOf(
  run: (repetitions: number) => Promise<number>,
  options: { firstNs: number; minBatchNs: number },
): () => Promise<number> {
  const begin = async (repetitions: number) => {
    const timeNs = await run(repetitions);
    return { finish: () => Promise.resolve({ timeNs, clock: 1 }) };
  };
  const sampler = steadySampler(begin, { ...options, isKeptBusy: false, now: () => 0 });
  return () => sampler.sample(true);
}

Deno.test("batches grow until they are long enough, and only then are samples", async () => {
  const batches: number[] = [];
  const run = (repetitions: number): Promise<number> => {
    batches.push(repetitions);
    return Promise.resolve(11e6 + 1e5 * repetitions); // a tick, and the work
  };
  const sample = batchesOf(run, { firstNs: await run(1), minBatchNs: HOST_BATCH_NS });
  const timeNs = await sample();
  assert(timeNs >= 1e5 && timeNs < 1.025e5, `${timeNs}`);
  const grown = batches.at(-1)!;
  await sample();
  assertEquals(batches.at(-1), grown);
  assert(batches.length <= 7, batches.join());
});

Deno.test("batches of a clock that stands still end at the most repetitions", async () => {
  const sample = batchesOf(() => Promise.resolve(0), { firstNs: 5, minBatchNs: 100 });
  assertEquals(await sample(), 0);
});

Deno.test("a long first run is one repetition", async () => {
  const batches: number[] = [];
  const sample = batchesOf((count) => Promise.resolve(batches.push(count) && 95 * count), {
    firstNs: 100,
    minBatchNs: 100,
  });
  assertEquals([await sample(), await sample(), batches], [95, 95, [1, 1]]);
});
