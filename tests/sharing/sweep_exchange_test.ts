import { assert, assertEquals } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import { sweepExchange } from "../../tuner/sharing/sweep_exchange.ts";
import { COSTS } from "../devices/simulated_times.ts";
import { PROBLEM, simulate } from "./simulated_devices.ts";

const PERIODS = Array.from({ length: 20 }, (_, i) => i + 1);

Deno.test("a sweep measures every R that fits, and says what the choice costs", async () => {
  const progress: number[] = [];
  const sweep = await sweepExchange({
    ...simulate({ problem: { ...PROBLEM, grid: [32, 64, 64], steps: 12 } }),
    periods: PERIODS,
    passes: 2,
    onProgress: (done, total) => progress.push(done / total),
  });
  assert(sweep !== undefined);
  const { points, failed, medianError, picked, fastest, regret } = sweep;
  assertEquals(failed, []);
  assertEquals(points.map(({ exchangeEvery }) => exchangeEvery), PERIODS.slice(0, 12));
  for (const { samplesNs, measuredNs, predictedNs, error } of points) {
    assertEquals(samplesNs.length, 2);
    assertEquals([measuredNs, error], [Math.min(...samplesNs), predictedNs / measuredNs - 1]);
  }
  assertEquals(fastest.measuredNs, Math.min(...points.map(({ measuredNs }) => measuredNs)));
  assertEquals(regret, picked.measuredNs / fastest.measuredNs - 1);
  assert(regret <= 0.03 && medianError <= 0.1);
  assertEquals(progress, progress.toSorted((a, b) => a - b));
});

Deno.test("the model of a sweep is fitted to every R = 1, 2, 4, … 32, also where the CPU is too slow", async () => {
  const options = simulate({ costs: { ...COSTS, cpu: { ...COSTS.cpu, updateNs: 20 } } });
  const sweep = await sweepExchange({ ...options, periods: [1, 9, 25, 32], passes: 1 });
  assertEquals([...new Set(sweep!.samples.map(({ exchangeEvery }) => exchangeEvery))], [1, 2, 4, 8, 16, 32]);
  assert(sweep!.medianError <= 0.1);
});

Deno.test("an R with a wrong result is reported and not timed", async () => {
  const isWrong = ({ share }: { share: { exchangeEvery: number } }): boolean => share.exchangeEvery === 3;
  const sweep = await sweepExchange({ ...simulate({ isWrong }), periods: [2, 3, 4], passes: 1 });
  assertEquals(sweep!.points.map(({ exchangeEvery }) => exchangeEvery), [2, 4]);
  assertEquals(sweep!.failed.map(({ exchangeEvery, failure }) => [exchangeEvery, failure.reason]), [[
    3,
    "incorrect",
  ]]);
});

Deno.test("a grid too thin, or an interruption, leaves nothing to report", async () => {
  const thin = simulate({ problem: { ...PROBLEM, stencil: wave(4), grid: [3, 8, 8] } });
  assertEquals(await sweepExchange({ ...thin, periods: [1, 2] }), undefined);
  assertEquals(await sweepExchange({ ...simulate(), periods: [1], signal: AbortSignal.abort() }), undefined);
});
