import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { wrongParameters } from "../../kernels/capability.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { marching } from "../../kernels/traversals/marching/marching.ts";
import { volumeTorre } from "../../kernels/traversals/volume_torre/volume_torre.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import type { Traversal } from "../../kernels/traversals/traversal.ts";
import { bestPredicted, mostPromising } from "../../tuner/profile/best_predicted.ts";
import { CostModel, kindOf, type Sample } from "../../models/cost_model.ts";
import { pointsOf } from "../../tuner/profile/samples.ts";
import type { Prediction } from "../../models/cost_model.ts";
import { problemOf } from "../../tuner/profile/profile_problem.ts";
import { readReplaySpaces } from "../../tuner/replay/read_replay_space.ts";
import { replayCandidates } from "../../tuner/replay/replay_space.ts";
import { cpuCandidates } from "../../tuner/search/cpu_space.ts";
import { deviceModelOf } from "../../tuner/devices/device_model.ts";
import { enumerateSpace } from "../../tuner/search/space.ts";
import { H100_LIMITS } from "../h100_limits.ts";

for (const name of ["wave_order_2", "wave_order_4", "heat_delta_1"]) {
  Deno.test(`on the software GPU the choice is not slower than stepwise: ${name}`, async () => {
    const { spaces: [space] } = await readReplaySpaces(`fixtures/llvmpipe/${name}.jsonl.gz`);
    const { device, problem: described } = space!.facet!, problem = problemOf(described)!;
    const model = deviceModelOf(device, device.measured.copyBytesPerSecond!);
    const samples = replayCandidates(space!).flatMap((one): Sample[] => {
      const { traversal, parameters, demand, predicted, recorded: { rate } } = one;
      const { loopInstructions = 0, workgroupBytes = 0 } = demand!;
      const isTried = loopInstructions <= model.record!.mostLoopInstructions! &&
        workgroupBytes <= model.record!.mostWorkgroupBytes!;
      if (rate === undefined || !isTried) return [];
      return [{
        traversal,
        parameters,
        demand: demand!,
        predicted: predicted!,
        problem,
        cellsPerSecond: rate,
      }];
    }).sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
    const plain = samples.find((sample) => kindOf(sample) === "stepwise")!;
    const ways = samples.map((candidate) => ({ candidate, on: problem }));
    const points = pointsOf(
      samples.map((sample) => ({ ...sample, traversal: sample.traversal.name, sample })),
    );
    // without a profile, and from one
    for (const known of [[], points.map(({ sample }) => sample)]) {
      const { candidate } = mostPromising(ways, new CostModel(model, known))!.way;
      const part = candidate.cellsPerSecond / plain.cellsPerSecond;
      assert(part >= (known.length === 0 ? 0.95 : 1), `${known.length} known: ${part} of stepwise`);
    }
  });
}

Deno.test("on the CPU nothing that should be slower than stepwise is chosen, however sure its rate is", () => {
  const problemOn = (...grid: Grid): Problem => ({ stencil: wave(2), grid, boundary: "zero", steps: 96 });
  const here = problemOn(96, 96, 96), there = problemOn(24, 700, 300);
  const ways = (problem: Problem): (Prediction & { readonly cpuWorkers: number })[] =>
    cpuCandidates(problem, 2).map((one) => ({ ...one, cpuWorkers: one.configuration.share.cpuWorkers }));
  const kind = (problem: Problem, wanted: string) => ways(problem).filter((one) => kindOf(one) === wanted);
  // stepwise is known of another grid only, and promises a little more
  const plain = kind(there, "cpu stepwise").map((one) => ({
    ...one,
    problem: there,
    cellsPerSecond: 2 * one.predicted,
  }));
  const fastest = new CostModel({ copyBytesPerSecond: 3e10 }, plain);
  const expected = Math.max(...kind(here, "cpu stepwise").map((one) => Math.exp(fastest.mean(one, here))));
  const others = kind(here, "cpu diamond-wavefront").map((one) => ({
    ...one,
    problem: here,
    cellsPerSecond: 0.97 * expected,
  }));
  assert(others.length > 0);
  const model = new CostModel({ copyBytesPerSecond: 3e10 }, [...plain, ...others]);
  const best = mostPromising(ways(here).map((candidate) => ({ candidate, on: here })), model);
  assertEquals(kindOf(best!.way.candidate), "cpu stepwise");
});

Deno.test("of long lists every second value is looked at first, and what only the others allow is found all the same", () => {
  const problem: Problem = { stencil: wave(2), grid: [100, 300, 500], boundary: "zero", steps: 96 };
  const device = { copyBytesPerSecond: 3e12 }, limits = H100_LIMITS;
  const model = new CostModel(device);
  const choose = (traversals: readonly Traversal[]) =>
    bestPredicted({ problem, limits, cpuWorkers: 0, traversals }, model);
  for (const traversal of [diamondTorre, marching, stepwise]) {
    const { best: chosen } = choose([traversal]);
    const all = enumerateSpace(problem, { traversals: [traversal], limits, model }).candidates;
    const most = Math.max(...all.map((one) => Math.exp(model.mean(one, problem))));
    assert(chosen!.cellsPerSecond >= 0.9 * most, `${traversal.name}: ${chosen!.cellsPerSecond} of ${most}`);
  }
  const odd: Traversal = {
    ...stepwise,
    parameterLists: () => ({ threadsZ: [4, 8, 16, 32, 64, 128], threadsY: [1], threadsX: [1] }),
    infeasible: (_, { threadsZ }) => threadsZ === 32 ? undefined : wrongParameters(`${threadsZ} is not 32`),
  };
  assertEquals(choose([odd]).best!.configuration.parameters.threadsZ, 32);
  const none = choose([{ ...odd, infeasible: () => wrongParameters("never") }]);
  assertEquals([none.best, none.runnersUp, none.reasons[0]], [undefined, [], "GPU: never"]);
});

Deno.test("what was the fastest of a problem alike can be chosen, however little the models promise of it", () => {
  const problemOn = (...grid: Grid): Problem => ({ stencil: wave(2), grid, boundary: "zero", steps: 96 });
  const problem = problemOn(100, 300, 500), there = problemOn(100, 310, 510);
  const device = { copyBytesPerSecond: 3e12 }, limits = H100_LIMITS, traversals = [marching];
  const { candidates } = enumerateSpace(there, { traversals, limits, model: new CostModel(device) });
  const ordered = candidates.toSorted((a, b) => b.predicted - a.predicted), slow = ordered.at(-1)!;
  const known = ordered.slice(0, 20).map((one) => ({
    ...one,
    problem: there,
    cellsPerSecond: one.predicted,
  }));
  const fast = { ...slow, problem: there, cellsPerSecond: 2 * ordered[0]!.predicted };
  const choose = (isForeign: boolean) =>
    bestPredicted(
      { problem, limits, cpuWorkers: 0, traversals },
      new CostModel(device, [...known, { ...fast, isForeign }]),
    ).best!.configuration.parameters;
  assertEquals(choose(false), slow.parameters);
  assertNotEquals(choose(true), slow.parameters); // of another equation it says too little
});

Deno.test("of what was never measured few combinations are looked at, so that a choice takes no longer for it", () => {
  const problem: Problem = { stencil: wave(2), grid: [100, 300, 500], boundary: "zero", steps: 96 };
  const device = { copyBytesPerSecond: 3e12 }, limits = H100_LIMITS;
  const { candidates } = enumerateSpace(problem, {
    traversals: [marching],
    limits,
    model: new CostModel(device),
  });
  const samples = candidates.slice(0, 20).map((one) => ({ ...one, problem, cellsPerSecond: one.predicted }));
  const looked = [[], samples].map((known) => {
    let count = 0;
    const counted: Traversal = {
      ...volumeTorre,
      infeasible: (...args) => {
        count++;
        return volumeTorre.infeasible(...args);
      },
    };
    const target = { problem, limits, cpuWorkers: 0, traversals: [counted] };
    const { best } = bestPredicted(target, new CostModel(device, known));
    assert(best !== undefined);
    return count;
  });
  assert(looked[1]! < 0.2 * looked[0]!, `${looked}`);
});
