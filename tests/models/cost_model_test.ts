import { H100 } from "../../models/gpu_record.ts";
import { registerPressure } from "../../models/roofline.ts";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { heat } from "../../kernels/stencils/heat.ts";
import { remembered } from "../../kernels/remembered.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Grid, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { mostPromising } from "../../tuner/profile/best_predicted.ts";
import { CostModel, kindOf, likenessOf, type Sample } from "../../models/cost_model.ts";
import { pointsOf } from "../../tuner/profile/samples.ts";
import { readReplaySpaces } from "../../tuner/replay/read_replay_space.ts";
import { replayCandidates } from "../../tuner/replay/replay_space.ts";
import { problemOf } from "../../tuner/profile/profile_problem.ts";
import { deviceModelOf } from "../../tuner/devices/device_model.ts";
import { enumerateSpace } from "../../tuner/search/space.ts";
import { H100_LIMITS } from "../h100_limits.ts";

const DEVICE = { copyBytesPerSecond: 3e12 };
const WAVE = wave(4);
const problemOn = (...grid: [number, number, number]): Problem => ({
  stencil: WAVE,
  grid,
  boundary: "zero",
  steps: 96,
});
const enumerated = remembered((stencil: Stencil, grid: Grid) =>
  enumerateSpace({ ...problemOn(...grid), stencil }, {
    traversals: TRAVERSALS,
    limits: H100_LIMITS,
    model: new CostModel(DEVICE),
  })
);
const spaceOn = ({ stencil, grid }: Problem) => enumerated(stencil, grid);

/** Every so many candidates of a problem, each as much faster than predicted as its kind. */
function samplesOn(problem: Problem, factors: Readonly<Record<string, number>>, every = 80): Sample[] {
  return spaceOn(problem).candidates.filter((_, i) => i % every === 0).flatMap((one) => {
    const factor = factors[one.traversal.name];
    return factor === undefined ? [] : [{ ...one, problem, cellsPerSecond: factor * one.predicted }];
  });
}

Deno.test("what was measured of a traversal corrects it on another grid, and its place in the search", () => {
  const there = problemOn(128, 512, 128), here = problemOn(96, 700, 160);
  const model = new CostModel(DEVICE, samplesOn(there, { stepwise: 1.2, marching: 3, "diamond-torre": 0.2 }));
  const space = spaceOn(here),
    corrected = enumerateSpace(here, { traversals: TRAVERSALS, limits: H100_LIMITS, model });
  assertEquals(corrected.candidates.length, space.candidates.length);
  const best = Map.groupBy(space.candidates, ({ traversal }) => traversal.name);
  const [plain] = best.get("stepwise")!;
  assertAlmostEquals(Math.exp(model.mean(plain!, here)) / plain!.predicted, 1.2, 0.05);
  const first = corrected.candidates.toSorted((a, b) => b.predicted - a.predicted)[0]!;
  assertEquals(first.traversal.name, "marching");
});

Deno.test("what was not measured, and what needs more registers than anything fast, must promise much more", () => {
  const problem = problemOn(128, 512, 128);
  const samples = samplesOn(problem, { stepwise: 1, "diamond-torre": 1 }, 30);
  const few = samples.filter(({ parameters: { dts = 1, zPerThread = 1 } }) => dts === 1 && zPerThread === 1);
  const { candidates } = spaceOn(problem);
  const torre = (dts: number) =>
    candidates.find(({ parameters }) => parameters.dts === dts && parameters.zPerThread === 1)!;
  const errorOf = (known: Sample[], candidate: typeof candidates[number]): number =>
    new CostModel(DEVICE, known).mean(candidate, problem) - Math.log(candidate.predicted);
  assert(Math.abs(errorOf(samples, torre(3))) < 0.2);
  assert(errorOf(few, torre(3)) < -0.25, `${errorOf(few, torre(3))}`);
  const march = candidates.find(({ traversal }) => traversal.name === "marching")!;
  assert(errorOf(samples, march) < -1);
  const chosen = mostPromising(
    candidates.map((candidate) => ({ candidate, on: problem })),
    new CostModel(DEVICE, few),
  );
  assert(["stepwise", "diamond-torre"].includes(kindOf(chosen!.way.candidate)));
});

Deno.test("of what was measured the fastest with each value of each parameter is kept, then the fastest", () => {
  const point = (threadsZ: number, threadsY: number) => ({
    traversal: "stepwise",
    parameters: { threadsZ, threadsY },
  });
  const all = [point(64, 4), point(64, 2), point(32, 4), point(32, 2), { ...point(64, 4), cpuWorkers: 2 }];
  assertEquals(pointsOf(all), [all[0], all[1], all[2], all[4], all[3]]);
  assertEquals(pointsOf([all[0]!, all[0]!]), [all[0]]);
  const many = Array.from({ length: 100 }, (_, i) => point(i % 10, Math.floor(i / 10)));
  assertEquals(pointsOf(many).length, 60);
  assert(pointsOf(many).includes(many[90]!), "the only one with this value");
});

Deno.test("without measurements, in software, the best prediction is no slower than stepwise", async () => {
  for (const name of ["wave_order_2", "wave_order_4", "heat_delta_1"]) {
    const { spaces: [space] } = await readReplaySpaces(`fixtures/llvmpipe/${name}.jsonl.gz`);
    const problem = problemOf(space!.facet!.problem)!;
    const device = deviceModelOf(space!.facet!.device, space!.facet!.device.measured.copyBytesPerSecond!);
    const recorded = replayCandidates(space!).filter(({ recorded }) => recorded.rate !== undefined);
    const rates = new Map(recorded.map((one) => [one.parameters, one.recorded.rate!]));
    const ways = recorded.map((one) => ({ candidate: { ...one, predicted: one.predicted! }, on: problem }));
    const { way } = mostPromising(ways, new CostModel(device))!;
    const plain = recorded.filter((one) => one.traversal.name === "stepwise").map((one) =>
      one.recorded.rate!
    );
    const share = rates.get(way.candidate.parameters)! / Math.max(...plain);
    assert(share > 0.95, `${name}: ${share} of stepwise: ${JSON.stringify(way.candidate.parameters)}`);
  }
});

Deno.test("of a parameter that no measurement had nothing is learnt: the prediction stands, a tenth lower and in doubt", () => {
  const problem: Problem = { ...problemOn(128, 512, 128), stencil: heat(1) };
  // as measured before marching had a depth
  const samples = samplesOn(problem, { stepwise: 1, marching: 1 }, 10).flatMap((sample) => {
    const { depth = 1, ...parameters } = sample.parameters;
    return depth === 1 ? [{ ...sample, parameters }] : [];
  });
  const model = new CostModel(DEVICE, samples);
  // those with the fewest registers, which are no risk
  const marches = spaceOn(problem).candidates.filter(({ traversal }) => traversal.name === "marching")
    .sort((one, other) => registerPressure(one.demand, DEVICE) - registerPressure(other.demand, DEVICE));
  const errorOf = (wanted: number): readonly number[] => {
    const march = marches.find(({ parameters: { depth } }) => depth === wanted)!;
    return [
      model.mean(march, problem) - Math.log(march.predicted),
      model.deviation(march, problem),
    ];
  };
  const [one, two] = [errorOf(1), errorOf(2)];
  assert(Math.abs(one[0]!) < 0.1 && one[1]! < two[1]!, `${one}`);
  assert(two[0]! <= -0.1 && two[0]! > -0.3 && two[1] === H100.corrections.variation, `${two}`);
});

Deno.test("of a kernel written in a way that was never measured nothing good is expected", () => {
  const problem = problemOn(128, 512, 128);
  const torres = samplesOn(problem, { "diamond-torre": 1 }, 1)
    .filter(({ parameters }) =>
      parameters.loads === "tier start" && parameters.rest === 0 && parameters.unroll === 1
    );
  const [one] = torres, known = torres.filter((_, i) => i % 40 === 0);
  const other = { ...one!, parameters: { ...one!.parameters, loads: "tier ahead" } };
  const expected = (samples: readonly Sample[]): number =>
    new CostModel(DEVICE, samples).mean(other, problem) - Math.log(other.predicted);
  assert(expected(known) < -1, `${expected(known)}`);
  assert(expected([...known, { ...other, cellsPerSecond: other.predicted }]) > -0.1);
});

Deno.test("a candidate's mean is that of the problem at hand", () => {
  const [here, there] = [problemOn(128, 512, 128), problemOn(900, 900, 100)];
  const samples = samplesOn(here, { stepwise: 1.2, marching: 0.7 }), [one] = samples;
  const [model, again] = [new CostModel(DEVICE, samples), new CostModel(DEVICE, samples)];
  const mean = model.mean(one!, here);
  assertEquals(model.mean(one!, there), again.mean(one!, there));
  assertEquals(model.mean(one!, here), mean);
});

Deno.test("errors of predictions are the more alike the less configurations differ, whatever the grid, and fully of one", () => {
  const { candidates } = spaceOn(problemOn(128, 512, 128));
  const torres = candidates.filter(({ traversal: { name } }) => name === "diamond-torre").slice(0, 400);
  const likeness = likenessOf(torres),
    differences = (i: number, j: number): number =>
      Object.entries(torres[i]!.parameters).filter(([name, value]) => torres[j]!.parameters[name] !== value)
        .length;
  const means = [1, 4].map((wanted) => {
    const pairs = torres.flatMap((_, j) => differences(0, j) === wanted ? [likeness(0, j)] : []);
    assert(pairs.length > 0 && pairs.every((one) => one > 0 && one < 1));
    return pairs.reduce((sum, one) => sum + one, 0) / pairs.length;
  });
  assert(means[0]! > 1.2 * means[1]!, `${means}`);
  assertAlmostEquals(likeness(3, 3), 1, 1e-12);
  assertEquals(likeness(3, 7), likeness(7, 3));
});
