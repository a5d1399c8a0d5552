import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { heat } from "../../kernels/stencils/heat.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import { openDevice } from "../../tuner/devices/open_device.ts";
import { chooseConfiguration } from "../../tuner/profile/choose.ts";
import { parseProfile } from "../../tuner/profile/schema.ts";
import {
  tune,
  type TuneEvaluation,
  type TuneOptions,
  type TuneProgress,
} from "../../tuner/tune/library_tune.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";

const SMALL = {
  stencil: heat(1),
  grid: [24, 20, 16],
  steps: 8,
  traversals: ["stepwise", "marching"],
  evaluations: 3,
  cpuWorkers: 0,
} as const satisfies TuneOptions;

testOnGpu("tune finds a configuration that chooseConfiguration and createSolver take", async () => {
  const stages: TuneProgress[] = [], evaluations: TuneEvaluation[] = [];
  const result = await tune({
    ...SMALL,
    onProgress: (progress) => void stages.push(progress),
    onEvaluation: (evaluation) => void evaluations.push(evaluation),
  });
  assertEquals([result.evaluated, result.interrupted, result.cpuAlone], [3, false, undefined]);
  assert(stages.some(({ stage }) => stage === "GPU search"));
  assert(evaluations.length >= 3);
  for (const { measurement, failure } of evaluations) assert((measurement === undefined) !== !failure);

  // what it gives is a profile like any other
  const profile = parseProfile(JSON.stringify(result.profile), "tuned");
  const [entry] = profile.entries;
  assertEquals(entry!.configuration, result.gpuAlone!.configuration);
  const { stencil, grid, steps } = SMALL, problem: Problem = { stencil, grid, steps, boundary: "zero" };
  const device = await openDevice();
  const { match, configuration } = chooseConfiguration(profile, problem, device);
  assertEquals([match, configuration], ["exact", entry!.configuration]);
  {
    await using solver = await createSolver(device, problem, configuration);
    await solver.run(8);
  }
  device?.destroy();
});

testOnGpu("an aborted run ends, and says so", async () => {
  const before = await tune({ ...SMALL, signal: AbortSignal.abort() });
  assertEquals([before.interrupted, before.profile, before.evaluated], [true, undefined, 0]);
  const stop = new AbortController();
  const within = await tune({ ...SMALL, signal: stop.signal, onEvaluation: () => stop.abort() });
  assertEquals([within.interrupted, within.evaluated], [true, 1]);
  assert(within.profile !== undefined);
});

Deno.test("without the GPU the CPU alone is tuned", { ignore: !THOROUGH }, async () => {
  const { profile, cpuAlone, gpuAlone } = await tune({ ...SMALL, traversals: [], gpu: false, cpuWorkers: 1 });
  assertEquals([gpuAlone, profile!.device.gpu], [undefined, null]);
  assertEquals(cpuAlone!.configuration.share.cpuSlices, 24);
  // what the profile has is kept where nothing better was found
  const stopped = { ...SMALL, traversals: [], gpu: false, cpuWorkers: 1, signal: AbortSignal.abort() };
  const again = await tune({ ...stopped, profile: profile! });
  assertEquals(again.profile!.entries, profile!.entries);
  assertMatch(again.earlierMessage!, /^CPU, 1 worker, .* stays: not measured again, /);
  assertEquals((await tune(stopped)).profile, undefined);
});

Deno.test("a request that makes no sense says what was wanted and what was found", async () => {
  const wrong: [options: TuneOptions, expected: string][] = [
    [{ grid: [8, 0, 8] }, "a grid of three whole numbers, at least 1, is wanted: found 8x0x8"],
    [{ steps: 0 }, "steps must be a whole number, at least 1: found 0"],
    [{ evaluations: 1.5 }, "evaluations must be"],
    [{ budgetMs: 0 }, "budgetMs must be above 0: found 0"],
    [{ seed: -1 }, "the seed must be"],
    [{ budget: 60 } as TuneOptions, "an option of tune is wanted: found budget"],
    [{ startShare: 2 }, "startShare must be from 0 to 1: found 2"],
    [{ boundary: "endless" as never }, "the boundary must be one of zero, periodic, insulated"],
    [{ strategy: "guess" }, "the strategy must be one of auto"],
    [{ traversals: ["zigzag"] }, "name must be one of stepwise"],
    [{ cpuWorkers: -2 }, "a whole number of CPU workers"],
    [{ gpu: false, cpuWorkers: 0 }, "a GPU or CPU workers are wanted"],
  ];
  for (const [options, expected] of wrong) {
    const error = await assertRejects(() => tune(options), RangeError);
    assertStringIncludes(error.message, expected);
  }
});
