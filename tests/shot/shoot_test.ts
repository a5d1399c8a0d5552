import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { resample, ricker, stepsOf } from "../../tuner/shot/shoot.ts";

Deno.test("Ricker's wavelet: 1 at its peak, 1/f, symmetric, zeros and troughs where its formula has them", () => {
  const f = 15;
  assertEquals(ricker(f, 1 / f), 1);
  for (const t of [0.003, 0.01, 0.04]) {
    assertAlmostEquals(ricker(f, 1 / f - t), ricker(f, 1 / f + t), 1e-12);
  }
  assertAlmostEquals(ricker(f, 1 / f + 1 / (Math.SQRT2 * Math.PI * f)), 0, 1e-12);
  assertAlmostEquals(ricker(f, 1 / f + Math.sqrt(1.5) / (Math.PI * f)), -2 * Math.exp(-1.5), 1e-12);
  assertAlmostEquals(ricker(f, 0), (1 - 2 * Math.PI ** 2) * Math.exp(-(Math.PI ** 2)), 1e-12);
});

Deno.test("traces are resampled to within 0.04%, and copied where nothing changes", () => {
  const step = 1.37e-3, f = 15, last = 0.4;
  const trace = Float32Array.from({ length: Math.ceil(last / step) + 5 }, (_, i) => ricker(f, i * step));
  for (const interval of [1e-3, 2e-3, 4e-3]) {
    const samples = Math.floor(last / interval) + 1;
    const [found] = resample([trace], interval / step, samples);
    assertEquals(found!.length, samples);
    // before its start the trace is 0, the wavelet is not quite
    found!.forEach((value, i) =>
      i * interval > 5 * step && assertAlmostEquals(value, ricker(f, i * interval), 4e-4)
    );
  }
  assertEquals(resample([trace], 1, 50)[0], trace.slice(0, 50));
});

Deno.test("a shot has as many steps as its last sample and resampling need", () => {
  const plan = { interval: 2e-3, samples: 101, timeStep: 1.5e-3 } as Parameters<typeof stepsOf>[0];
  const steps = stepsOf(plan), last = 100 * plan.interval / plan.timeStep;
  assert(steps >= last + 4 && steps < last + 6);
});
