import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import { OPTIONS, renderSweep, run, sweepExchange } from "../../bench/sweep_exchange.ts";
import { COSTS } from "../devices/simulated_times.ts";
import { parseOptions } from "../../tuner/cli/parse_options.ts";
import { fitLines } from "../../tuner/cli/terminal.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { capture } from "../cli/run_task.ts";
import { DEVICE } from "../profile/sample_profile.ts";
import { THOROUGH } from "../thorough.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { PROBLEM, simulate } from "../sharing/simulated_devices.ts";

const SMALL = ["--grid", "16x8x16", "--steps", "4", "--cpu-workers", "1", "--quiet"];

const PERIODS = Array.from({ length: 20 }, (_, i) => i + 1);

Deno.test(
  "a sweep measures every R that fits, and says what the choice costs",
  { ignore: !THOROUGH },
  async () => {
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
  },
);

Deno.test("the model of a sweep is fitted to a few R, also where the CPU is too slow", async () => {
  const options = simulate({ costs: { ...COSTS, cpu: { ...COSTS.cpu, updateNs: 20 } } });
  const sweep = await sweepExchange({ ...options, periods: [1, 9, 25, 32], passes: 1 });
  const periods = [...new Set(sweep!.samples.map(({ exchangeEvery }) => exchangeEvery))];
  assertEquals(periods.slice(0, 3), [4, 16, 64]);
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

Deno.test("a sweep is printed as a table over R, with what the choice costs", async () => {
  const sweep = await sweepExchange({ ...simulate(), periods: [1, 16], passes: 1 });
  const lines = fitLines(renderSweep(sweep!, { problem: PROBLEM, device: DEVICE }), Infinity).split("\n");
  assertEquals(lines.slice(7, 10).map((line) => line.trim().split(/ {2,}/)[0]), ["R", "1", "16"]);
  assertMatch(lines.at(-1)!, /^Picked R = 16, .* a step\. Fastest R = 16, .* the choice costs 0%$/);
});

testOnGpu("a sweep measures every R that fits", async () => {
  const args = [...SMALL, "--stencil", "heat", "--delta", "2", "--periods", "2..5", "--passes", "1"];
  const { codes, stdout, stderr } = await capture([() => run([...args, "--json"])]);
  assertEquals(codes, [0], stderr);
  const { points, failed, medianError, picked, fastest, regret } = JSON.parse(stdout);
  assertEquals(failed, []);
  // two ghost zones of 2R slices in 16, and no more than 4 steps
  const periods = points.map((point: { exchangeEvery: number }) => point.exchangeEvery);
  assertEquals(periods, [2, 3, 4]);
  assert(periods.includes(picked) && periods.includes(fastest) && regret >= 0 && medianError >= 0);
}, { ignore: !THOROUGH });

Deno.test("the R to measure are a range, and each is measured at least once", async () => {
  const { periods, passes } = (await parseOptions(["--periods", "2..4", "--passes", "3"], OPTIONS))!;
  assertEquals([periods, passes], [[2, 3, 4], 3]);
  for (
    const [args, message] of [
      ["--periods 5", "such as 1..32"],
      ["--periods 5..2", "the smaller first"],
      ["--periods 0..2", "--periods"],
      ["--passes 0", "--passes"],
      ["--start-share 0.2", "Unknown option --start-share"],
    ] as const
  ) {
    await assertRejects(() => parseOptions(args.split(" "), OPTIONS), RequestError, message);
  }
});

testOnGpu("a grid without room for two ghost zones is refused", async () => {
  const thin = ["--grid", "3x20x16", "--order", "4", "--periods", "1..4", "--quiet"];
  await assertRejects(() => run(thin), RequestError, "Cannot use --periods: no R fits: ");
});
