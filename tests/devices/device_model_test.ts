import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { deviceModelOf } from "../../tuner/devices/device_model.ts";
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import { life } from "../../kernels/stencils/life.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { marching } from "../../kernels/traversals/marching/marching.ts";
import { volumeTorre } from "../../kernels/traversals/volume_torre/volume_torre.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { operationsOf } from "../../kernels/update.ts";
import { H100, MEASURED, measuredRecord } from "../../models/gpu_record.ts";
import { predictRate } from "../../models/roofline.ts";
import { mostPromising } from "../../tuner/profile/best_predicted.ts";
import { CostModel } from "../../models/cost_model.ts";
import { MOST_LEARNT } from "../../tuner/profile/learn.ts";
import { samplesOf } from "../../tuner/profile/samples.ts";
import { problemOf } from "../../tuner/profile/profile_problem.ts";
import { shippedEntries } from "../../tuner/profile/shipped.ts";
import { PROFILE } from "../profile/sample_profile.ts";
import { SMALL_TORRE } from "../kernels/small_torre.ts";

const { gpu, cpu } = PROFILE.device;

Deno.test("a GPU keeps the models' own constants; so does a machine without one", () => {
  assertEquals(deviceModelOf({ gpu: { ...gpu!, isFallback: false }, cpu }, 1e12), {
    copyBytesPerSecond: 1e12,
  });
  assertEquals(deviceModelOf({ gpu: null, cpu }, 1e9), { copyBytesPerSecond: 1e9 });
});

Deno.test("in software a march has few pieces and no tiles: cores are few, and barriers dear", () => {
  const problem = { stencil: life(), grid: [48, 48, 64], boundary: "zero", steps: 24 } as const;
  const rate = (isFallback: boolean, { pieces, tile }: { pieces: number; tile: number }): number => {
    const device = deviceModelOf({ gpu: { ...gpu!, isFallback }, cpu: { ...cpu, cores: 2 } }, 6e9);
    const parameters = { zPerThread: 4, threadsZ: 16, threadsY: 8, pieces, tile, ahead: 0 };
    return predictRate(marching.demand(problem, parameters), device, { cells: 48 * 48 * 64 });
  };
  assert(rate(true, { pieces: 1, tile: 0 }) > 1.1 * rate(true, { pieces: 16, tile: 0 }));
  assert(rate(true, { pieces: 1, tile: 0 }) > 2 * rate(true, { pieces: 1, tile: 1 }));
  // what has many multiprocessors wants many pieces
  assert(rate(false, { pieces: 16, tile: 0 }) > 4 * rate(false, { pieces: 1, tile: 0 }));
});

Deno.test("in software, vectors are short, few workgroups are enough, and nothing spills", () => {
  const software = deviceModelOf({ gpu: { ...gpu!, isFallback: true }, cpu: { ...cpu, cores: 2 } }, 1e10);
  const problem = { stencil: wave(2), grid: [48, 48, 64], boundary: "zero", steps: 24 } as const;
  const parameters = { ...SMALL_TORRE, dts: 2, zPerThread: 4, threads: 16, chunk: 4, unroll: 1 };
  const torre = { ...diamondTorre.demand(problem, parameters), registers: { plain: 600 } };
  const rate = (threadsPerWorkgroup: number, device = software): number =>
    predictRate({ ...torre, threadsPerWorkgroup }, device, { cells: 1e6 });
  const small = { ...torre, registers: { plain: 1 } };
  assertEquals(predictRate(small, software, { cells: 1e6 }), predictRate(torre, software, { cells: 1e6 }));
  assert(rate(16) > 0.9 * rate(32)); // half a vector of a GPU, two whole ones here
  assert(rate(16, { copyBytesPerSecond: 1e10 }) < 0.2 * rate(16));
});

const REFERENCE = Object.fromEntries(Object.entries(MEASURED).map(([name, [ns]]) => [name, ns]));

Deno.test("a GPU without a record has an H100's prices, as many times higher as what was measured of it", () => {
  assertEquals(measuredRecord(H100.copyBytesPerSecond, REFERENCE).prices, H100.prices);
  const named = (description: string, measured: Record<string, number>) =>
    deviceModelOf({ gpu: { ...gpu!, isFallback: false, description }, cpu, measured }, 1e12).record?.prices;
  assertEquals(named("another", { copyBytesPerSecond: 1e12 }), undefined);
  const [one, four] = [1, 4].map((factor) =>
    named("another", { ...REFERENCE, barrierNs: factor * REFERENCE.barrierNs!, copyBytesPerSecond: 1e12 })!
  );
  assertAlmostEquals(four!.barrierNs / one!.barrierNs, 4);
  assertEquals([four!.groupNs, four!.dispatchNs], [one!.groupNs, one!.dispatchNs]);
  assertAlmostEquals(measuredRecord(1.5e12, {}).prices.nearRatio, 2 * H100.prices.nearRatio);
  const slow = { ...REFERENCE, barrierNs: 1e6 };
  for (const description of ["NVIDIA H100 80GB HBM3", "NVIDIA H200"]) {
    assertEquals(named(description, slow), named(description, {}), "what a record knows is not measured");
  }
  assert(named("GH1000", slow)!.barrierNs > 1e5);
});

Deno.test("where units compute f64 at a 64th of the rate of f32, nothing is predicted beyond what they can", () => {
  const slow = { ...REFERENCE, doubleNs: 32 * REFERENCE.doubleNs! }, grid = [512, 512, 512] as const;
  const torre = { side: 16, patchA: 4, patchB: 2, patchC: 2, phases: 2, ahead: 2, nt: 64, bands: 3 };
  const ratesOn = (constants: Record<string, number>, precision: "f32" | "f64") => {
    const problem = plannedProblem({ stencil: wave(2), grid, boundary: "zero", steps: 192, precision });
    const device = { copyBytesPerSecond: 1e12, record: measuredRecord(1e12, constants) };
    return [
      stepwise.demand(problem, { threadsZ: 64, threadsY: 4, threadsX: 1 }),
      volumeTorre.demand(problem, torre),
    ].map((demand) => predictRate(demand, device, { cells: 512 ** 3 })) as [number, number];
  };
  assertEquals(ratesOn(slow, "f32"), ratesOn(REFERENCE, "f32"));
  const [step, fast] = ratesOn(REFERENCE, "f64"), [slowStep, slowTorre] = ratesOn(slow, "f64");
  // what the units fused in the measurement, three values of each vector, and half of a wave's operations, which are added
  // to the others' results
  const most = 2048 * 256 * 3 / (slow.doubleNs * 1e-9) / (operationsOf(wave(2).update) / 2);
  assert(fast > 2 * most && slowTorre < most && slowTorre > most / 3, `${fast}, ${slowTorre} of ${most}`);
  assert(slowStep > 0.9 * step, `${slowStep} of ${step}: memory limits plain steps`);
  // four times slower in f32 as well, f64 takes as much as before
  const both = measuredRecord(1e12, { ...slow, arithmeticNs: 4 * REFERENCE.arithmeticNs! }).prices;
  assertAlmostEquals(both.groupNs * both.doubleTimes, 64 * H100.prices.groupNs);
  assertEquals(measuredRecord(1e12, { arithmeticNs: 1 }).prices.doubleTimes, H100.prices.doubleTimes);
});

Deno.test("an H200 has an H100's multiprocessors: faster memory helps what moves, not what computes", () => {
  const named = (description: string) =>
    deviceModelOf({ gpu: { ...gpu!, isFallback: false, description }, cpu }, 4.27e12);
  const problem = { stencil: wave(2), grid: [512, 512, 512], boundary: "zero", steps: 96 } as const;
  const gain = (demand: ReturnType<typeof stepwise.demand>): number => {
    const [h200, h100] = [named("NVIDIA H200"), { copyBytesPerSecond: 3e12 }]
      .map((device) => predictRate(demand, device, { cells: 512 ** 3 }));
    return h200! / h100!;
  };
  const torre = {
    ...SMALL_TORRE,
    dts: 5,
    nt: 48,
    bands: 2,
    zPerThread: 2,
    threads: 256,
    chunk: 4,
    unroll: 1,
  };
  assert(gain(stepwise.demand(problem, { threadsZ: 64, threadsY: 4, threadsX: 1 })) > 1.15);
  assert(gain(diamondTorre.demand(problem, torre)) < 1.15);
  assertEquals(named("another"), { copyBytesPerSecond: 4.27e12 });
});

Deno.test("choices for simulated GPUs whose constants differ by 4 are near the best, and nearer than by their copy alone", () => {
  const h100 = { copyBytesPerSecond: H100.copyBytesPerSecond }, random = seededRandom(7);
  const problems = shippedEntries()[0]!.entries.filter(({ problem: { steps, order, delta } }) =>
    steps === 96 && (order === 2 || delta === 1)
  ).map((entry) => {
    const problem = problemOf(entry.problem)!;
    return { problem, samples: samplesOf(entry, problem, h100) };
  });
  const names = Object.keys(REFERENCE);
  const single = names.flatMap((name) =>
    [4, 1 / 4].map((factor) => ({ ...REFERENCE, [name]: factor * REFERENCE[name]! }))
  );
  const mixed = Array.from(
    { length: 6 },
    () => Object.fromEntries(names.map((name) => [name, REFERENCE[name]! * 4 ** (random() < 0.5 ? 1 : -1)])),
  );
  const losses = { measured: [] as number[], copied: [] as number[] };
  for (const { problem, samples } of problems.filter((_, i) => i % 7 === 0)) {
    const elsewhere = problems.filter((other) =>
      other.problem.stencil.name === problem.stencil.name && `${other.problem.grid}` !== `${problem.grid}`
    ).flatMap((other) => other.samples).slice(0, MOST_LEARNT);
    const costs = new CostModel(h100, elsewhere), cells = cellsOf(problem.grid);
    for (const constants of [...single, ...mixed]) {
      const measured = { ...h100, record: measuredRecord(h100.copyBytesPerSecond, constants) };
      // what is off on an H100 is off there, too
      const rates = samples.map(({ demand, predicted, cellsPerSecond }) =>
        cellsPerSecond * predictRate(demand!, measured, { cells }) / predicted
      );
      for (const [which, model] of [["measured", measured], ["copied", h100]] as const) {
        const ways = samples.map((sample, i) => {
          const predicted = predictRate(sample.demand!, model, { cells });
          return { candidate: { ...sample, predicted, rate: rates[i]! }, on: problem };
        });
        const chosen = mostPromising(ways, costs);
        losses[which].push(1 - chosen!.way.candidate.rate / Math.max(...rates));
      }
    }
  }
  const mean = (all: readonly number[]) => all.reduce((sum, loss) => sum + loss, 0) / all.length;
  const [measured, copied] = [mean(losses.measured), mean(losses.copied)];
  assert(measured < 0.06 && measured < 0.6 * copied, `${measured} by constants, ${copied} by copies`);
  const tenth = losses.measured.sort((a, b) => b - a)[Math.floor(losses.measured.length / 10)]!;
  assert(tenth < 0.2, `${tenth} in one of ten`);
});
