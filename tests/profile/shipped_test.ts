import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertGreater,
  assertLess,
  assertNotEquals,
} from "@std/assert";
import { renderShipped, shippedOf } from "../../bench/write_shipped.ts";
import { hashOf } from "../../kernels/definition.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import { mostPromising } from "../../tuner/profile/best_predicted.ts";
import { CostModel } from "../../models/cost_model.ts";
import { MOST_LEARNT } from "../../tuner/profile/learn.ts";
import { deviceModelOf } from "../../tuner/devices/device_model.ts";
import { predictionOf } from "../../tuner/profile/prediction.ts";
import { type Choice, chooseConfiguration } from "../../tuner/profile/choose.ts";
import { leaveOneOut, type MeasuredProblem } from "../../tuner/profile/leave_one_out.ts";
import { learn } from "../../tuner/profile/learn.ts";
import { nearestEntries } from "../../tuner/profile/profile_index.ts";
import { describeProblem, problemOf } from "../../tuner/profile/profile_problem.ts";
import type { Profile, ProfileProblem } from "../../tuner/profile/profile_types.ts";
import { readProfile } from "../../tuner/profile/read_profile.ts";
import { entriesOf, shippedEntries } from "../../tuner/profile/shipped.ts";
import { readReplaySpaces } from "../../tuner/replay/read_replay_space.ts";
import { H100_LIMITS } from "../h100_limits.ts";

const RECORDINGS = [
  ...["grids", "tunes"].map((name) => `h100/${name}.jsonl.gz`),
  ...["wave", "heat", "life_elastic", "maxwell_pml"].map((name) => `h100/${name}.json.journal.jsonl`),
  ...["grids", "tunes"].map((name) => `h200/${name}.jsonl.gz`),
  "h200/maxwell_2d.json.journal.jsonl",
  ...["volume", "volume_tunes", "wave_512", "part_tunes", "sound_tunes"].map((name) =>
    `h200/${name}.jsonl.gz`
  ),
];
const DEVICE = { copyBytesPerSecond: 3e12 };
const [H100] = shippedEntries();

/** What came with Facet as measured problems. */
function measured(): MeasuredProblem[] {
  return H100!.entries.flatMap(({ problem, calibration = [] }) => {
    const of = problemOf(problem);
    if (of === undefined) return []; // an equation of before
    const samples = calibration.flatMap(({ cellsPerSecond, ...point }) => {
      const prediction = predictionOf(point, of, DEVICE);
      return "reason" in prediction ? [] : [{ ...prediction, problem: of, cellsPerSecond }];
    });
    return samples.length > 9 ? [{ problem: of, samples }] : [];
  });
}

const lossesOf = (all: readonly { readonly loss: number }[]) =>
  all.map(({ loss }) => loss).sort((a, b) => a - b);
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

Deno.test("what comes with Facet is what was recorded, and small", async () => {
  const spaces = await Promise.all(RECORDINGS.map((name) => readReplaySpaces(`fixtures/${name}`)));
  const text = await Deno.readTextFile("tuner/profile/shipped_rates.ts");
  const devices = shippedOf(spaces.flatMap(({ spaces }) => spaces));
  assertEquals(text, renderShipped(devices));
  assertLess(text.length, 300_000);
  const isOf =
    (order: number, edge: number) => ({ problem }: { readonly problem: ProfileProblem }): boolean =>
      problem.order === order && problem.grid.every((cells) => cells === edge);
  const [, H200] = shippedEntries();
  // sound's is feasible within limits that the GPU's first recordings do not have
  for (
    const [known, recording] of [
      [H100!.entries.find(isOf(2, 512))!, 0],
      [H200!.entries.find(isOf(4, 572))!, RECORDINGS.length - 1],
    ] as const
  ) {
    const space = spaces[recording]!.spaces.find(({ facet }) =>
      describeKey(facet!.problem) === describeKey(known.problem)
    )!;
    const best = space.configurations.reduce((a, b) => (b.rate ?? 0) > (a.rate ?? 0) ? b : a);
    assertEquals(known.configuration.parameters, best.parameters);
    assertLess(Math.abs(known.result.cellsPerSecond / best.rate! - 1), 2e-3);
  }
});

function describeKey({ stencil, order, grid }: ReturnType<typeof describeProblem>): string {
  return JSON.stringify([stencil, order, grid]);
}

Deno.test("what was measured of other equations is better than the models alone for one that nobody measured", () => {
  const all = measured();
  const unseen = leaveOneOut(
    all,
    DEVICE,
    (other, one) =>
      `${other.grid}` !== `${one.grid}` && hashOf(other.stencil.update) !== hashOf(one.stencil.update),
  );
  assertGreater(unseen.length, 130);
  const alone = all.map(({ samples }) => {
    const [first] = samples.toSorted((a, b) => b.predicted - a.predicted);
    return {
      loss: 1 - first!.cellsPerSecond / Math.max(...samples.map(({ cellsPerSecond }) => cellsPerSecond)),
    };
  });
  const [with_, without] = [unseen, alone].map(lossesOf);
  assertLess(mean(with_!), mean(without!));
  assertLess(with_![with_!.length >> 1]!, without![without!.length >> 1]!);
  const within = unseen.filter(({ chosen: { cellsPerSecond: rate }, expected, deviation }) =>
    Math.abs(Math.log(rate / expected)) < 1.96 * deviation
  );
  assertGreater(within.length / unseen.length, 0.9);
});

const asked = (grid: Grid, stencil = wave(2)): Problem => ({ stencil, grid, boundary: "zero", steps: 96 });
const { vendor, architecture, device, description } = H100!.device.gpu!;
const adapterInfo = { vendor, architecture, device, description };

Deno.test("without a profile a choice learns from what comes with Facet: measured on its device, scaled on others", () => {
  const target = { limits: H100_LIMITS, adapterInfo };
  const here = chooseConfiguration([], asked([512, 512, 512], wave(8)), target, { cpuWorkers: 0 });
  assertEquals([here.match, here.cellsPerSecond! > 1.9e11], ["exact", true]);
  // a traversal that was recorded elsewhere alone, and should be faster than all that was recorded here
  const later = chooseConfiguration([], asked([512, 512, 512]), target, { cpuWorkers: 0 });
  assertEquals([later.match, later.configuration.traversal], ["default", "volume-torre"]);
  const near = chooseConfiguration([], asked([500, 3000, 128]), target, { cpuWorkers: 0 });
  assertEquals([near.match, near.configuration.traversal], ["same-device", "diamond-torre"]);
  assert(near.interval95![0] > 7e11 && near.interval95![1] < 1.1e12, near.message);
  // the nearest recorded configuration has too many threads for rows of 300 cells, but is no entry of a profile
  assertEquals(near.passedOver, []);
  const other = {
    limits: H100_LIMITS,
    adapterInfo: { ...adapterInfo, vendor: "4098", description: "another" },
  };
  const [slow, fast] = [5e11, 2e12].map((copyBytesPerSecond) =>
    chooseConfiguration([], asked([500, 3000, 128]), other, { cpuWorkers: 0, copyBytesPerSecond })
  );
  assertEquals([slow!.match, fast!.match], ["default", "default"]);
  assertLess(Math.abs(fast!.cellsPerSecond! / slow!.cellsPerSecond! - 4), 0.5);
  const none = chooseConfiguration([], asked([500, 3000, 128]), other, {
    cpuWorkers: 0,
    shipped: () => false,
  });
  assertEquals(none.cellsPerSecond, undefined);
});

Deno.test("a user's profile corrects what comes with Facet", async () => {
  const profile = await readProfile("fixtures/h100/wave.json"),
    entry = profile.entries.find(({ problem: { order } }) => order === 8);
  // the same GPU's sibling, which is as fast as predicted but in marches
  const gpu = { ...profile.device.gpu!, description: "a sibling" };
  const halve = <T extends { readonly traversal: string; readonly cellsPerSecond: number }>(one: T): T => ({
    ...one,
    cellsPerSecond: one.cellsPerSecond * (one.traversal === "marching" ? 0.2 : 1),
  });
  const calibration = entry!.calibration!.map(halve);
  const result = { ...entry!.result, cellsPerSecond: 0.2 * entry!.result.cellsPerSecond };
  const own: Profile = {
    ...profile,
    device: { ...profile.device, gpu },
    entries: [{ ...entry!, calibration, result, tieSet: [], bestOfEach: [] }],
  };
  const target = { limits: H100_LIMITS, adapterInfo: { ...adapterInfo, description: "a sibling" } };
  const choose = (profiles: Profile[]) =>
    chooseConfiguration(profiles, asked([500, 400, 300], wave(8)), target, { cpuWorkers: 0 });
  const [without, corrected] = [choose([]), choose([own])];
  assertEquals([without.match, without.configuration.traversal], ["same-vendor", "marching"]);
  assertNotEquals(corrected.configuration.traversal, "marching");
  // a sibling's rates are off by a few percent more
  const itself = chooseConfiguration([], asked([500, 400, 300], wave(8)), { ...target, adapterInfo }, {
    cpuWorkers: 0,
  });
  const widthOf = ({ interval95: [low, high] = [0, 0] }: Choice): number => Math.log(high / low) / 2 / 1.96;
  assertAlmostEquals(widthOf(without), Math.hypot(widthOf(itself), 0.05), 1e-3);
  assertLess(corrected.cellsPerSecond!, 0.8 * without.cellsPerSecond!);
});

Deno.test("of one dimension nothing is learnt from three", () => {
  const line: Problem = { ...asked([1, 1, 4096]), stencil: heat1d() };
  assertEquals(nearestEntries(shippedEntries(), describeProblem(line), line.stencil, 9), []);
  const cube = asked([500, 4000, 128], heat(3));
  const nears = nearestEntries(shippedEntries(), describeProblem(cube), cube.stencil, 64);
  assertEquals([nears[0]!.isAlike, nears.length], [true, 64]);
  // where many grids of the very equation are known, others would only take time
  const own = nearestEntries(shippedEntries(), describeProblem(asked([512, 512, 512])), wave(2), 64);
  assertEquals([own.length > 40, own.every(({ isAlike }) => isAlike)], [true, true]);
  const learnt = [...learn(nears, cube.stencil, { isHere: true }).values()].flat();
  assertEquals(learnt.length, MOST_LEARNT);
  assert(
    learnt.every(({ traversal, parameters, problem }) =>
      traversalNamed(traversal.name).infeasible(problem, parameters, H100_LIMITS) === undefined
    ),
  );
});

Deno.test("an entry of what comes with Facet has its points in order", () => {
  const { entries: [entry] } = entriesOf({
    device: H100!.device,
    traversals: [["stepwise", ["threadsZ", "depth"]]],
    equations: [[{ stencil: "wave", order: 2 }, { hash: "", family: "", work: null }]],
    problems: [[0, [8, 8, 8], 4, [[0, 1, 64, null], [0, 2, 32, 1]]]],
  });
  assertEquals(entry!.calibration, [
    { traversal: "stepwise", parameters: { threadsZ: 64 }, cellsPerSecond: 1e9 },
    { traversal: "stepwise", parameters: { threadsZ: 32, depth: 1 }, cellsPerSecond: 2e9 },
  ]);
  assertEquals(entry!.configuration.parameters, { threadsZ: 32, depth: 1 });
});

/** What choices among recorded configurations of an H200 lose, and by how much they are off, with what an H100 recorded. */
async function onH200(
  file: string,
  isAsked: (index: number) => boolean,
  isKnown: (known: string, asked: string) => boolean,
): Promise<{ losses: readonly number[]; off: readonly number[] }> {
  const { spaces } = await readReplaySpaces(file);
  const found = spaces.filter((_, i) => isAsked(i)).map(({ facet, configurations }) => {
    const problem = problemOf(facet!.problem)!, { stencil, grid } = problem;
    const copyBytesPerSecond = facet!.device.measured.copyBytesPerSecond!;
    const model = deviceModelOf(facet!.device, copyBytesPerSecond);
    const ways = configurations.flatMap(({ traversal, parameters, rate }) => {
      const prediction = predictionOf({ traversal, parameters, cpuWorkers: undefined }, problem, model);
      return rate === undefined || "reason" in prediction
        ? []
        : [{ candidate: { ...prediction, rate }, on: problem }];
    });
    const known = shippedEntries((other) => isKnown(`${other.grid}`, `${grid}`)).filter(({ device }) =>
      device === H100!.device
    );
    const nears = nearestEntries(known, describeProblem(problem), stencil, 64);
    const costs = new CostModel(model, [...learn(nears, stencil, { isHere: true }).values()].flat());
    const { way, mean: expected } = mostPromising(ways, costs)!;
    const { rate } = way.candidate, best = Math.max(...ways.map(({ candidate }) => candidate.rate));
    return { loss: 1 - rate / best, off: Math.abs(Math.log(rate) - expected) };
  });
  return { losses: lossesOf(found), off: found.map(({ off }) => off).sort((a, b) => a - b) };
}

Deno.test("what an H100 recorded finds what is fast on an H200, and how fast: of other grids, in short runs", async () => {
  const { losses, off } = await onH200("fixtures/h200/grids.jsonl.gz", (i) => i % 3 === 0, (a, b) => a !== b);
  assertEquals(losses.length, 25);
  assert(losses[12]! < 0.05 && losses[22]! < 0.2 && losses.at(-1)! < 0.3, `${losses}`);
  assertLess(off[12]!, 0.1);
});

Deno.test("what an H100 recorded finds what is fast on an H200, and how fast: of the same grids, in long runs", async () => {
  const { losses, off } = await onH200("fixtures/h200/tunes.jsonl.gz", () => true, () => true);
  assertEquals(losses.length, 12);
  assert(losses[6]! < 0.05 && losses.at(-1)! < 0.2, `${losses}`);
  assertLess(off[6]!, 0.1);
});
