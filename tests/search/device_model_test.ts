import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { deviceModelOf } from "../../tuner/search/device_model.ts";
import { life } from "../../kernels/stencils/life.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/diamond_torre.ts";
import { marching } from "../../kernels/traversals/marching.ts";
import { H100, isRecorded, measuredRecord } from "../../models/gpu_record.ts";
import { type DeviceModel, predictRate } from "../../models/roofline.ts";
import { mostPromising } from "../../tuner/profile/best_predicted.ts";
import { Calibration } from "../../tuner/profile/calibration.ts";
import { predictionOf } from "../../tuner/profile/prediction.ts";
import { problemOf } from "../../tuner/profile/profile_problem.ts";
import { shippedEntries } from "../../tuner/profile/shipped.ts";
import { PROFILE } from "../profile/sample_profile.ts";

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
  const parameters = {
    dts: 2,
    nt: 8,
    bands: 1,
    zPerThread: 4,
    threads: 16,
    chunk: 4,
    unroll: 1,
    lookahead: 99,
  };
  const torre = { ...diamondTorre.demand(problem, parameters), registers: { plain: 600 } };
  const rate = (threadsPerWorkgroup: number, device = software): number =>
    predictRate({ ...torre, threadsPerWorkgroup }, device, { cells: 1e6 });
  const small = { ...torre, registers: { plain: 1 } };
  assertEquals(predictRate(small, software, { cells: 1e6 }), predictRate(torre, software, { cells: 1e6 }));
  assert(rate(16) > 0.9 * rate(32)); // half a vector of a GPU, two whole ones here
  assert(rate(16, { copyBytesPerSecond: 1e10 }) < 0.2 * rate(16));
});

const CONSTANTS = { arithmeticNs: 1, exchangeNs: 1, cacheNs: 1, barrierNs: 1, dispatchNs: 1 };

Deno.test("a GPU without a record has an H100's prices, as many times higher as what was measured of it", () => {
  const usual = measuredRecord(H100.copyBytesPerSecond, {});
  assertEquals(usual.prices, H100.prices);
  const model = (measured: Record<string, number>) =>
    deviceModelOf({ gpu: { ...gpu!, isFallback: false }, cpu, measured }, 1e12).record?.prices;
  assertEquals(model({ copyBytesPerSecond: 1e12 }), undefined);
  const [one, four] = [1, 4].map((factor) =>
    model({ ...CONSTANTS, barrierNs: factor, copyBytesPerSecond: 1e12 })!
  );
  assertAlmostEquals(four!.barrierNs / one!.barrierNs, 4);
  assertEquals([four!.groupNs, four!.dispatchNs], [one!.groupNs, one!.dispatchNs]);
  assertAlmostEquals(measuredRecord(1.5e12, {}).prices.nearRatio, 2 * H100.prices.nearRatio);
  assertEquals([isRecorded("NVIDIA H100 80GB HBM3"), isRecorded("NVIDIA H200"), isRecorded("GH1000")], [
    true,
    true,
    false,
  ]);
});

Deno.test("choices for simulated GPUs lose less where their constants are known, a factor of 4 in either direction", () => {
  const known = shippedEntries().flatMap(({ entries }) => entries).filter((
    { problem: { steps, order, grid } },
  ) => steps === 96 && order === 2 && grid[2]! <= 512).slice(0, 12);
  const h100 = { copyBytesPerSecond: H100.copyBytesPerSecond };
  const problems = known.map(({ problem, calibration = [] }) => ({
    problem: problemOf(problem)!,
    calibration,
  }));
  const losses = { known: 0, unknown: 0 };
  for (const name of Object.keys(CONSTANTS)) {
    for (const factor of [4, 1 / 4]) {
      const own = {
        ...h100,
        record: measuredRecord(h100.copyBytesPerSecond, { [name]: factor * referenceNs(name) }),
      };
      for (const one of problems) {
        // what is off on an H100 is off there, too
        const samplesOf = (device: DeviceModel, others: typeof problems) =>
          others.flatMap(({ problem, calibration }) =>
            calibration.flatMap(({ cellsPerSecond, ...point }) => {
              const [here, there] = [device, h100].map((on) => predictionOf(point, problem, on));
              if ("reason" in here! || "reason" in there!) return [];
              return [{ ...here!, problem, cellsPerSecond, onH100: there!.predicted }];
            })
          );
        const elsewhere = samplesOf(h100, problems.filter((other) => other !== one)).map((each) => ({
          ...each,
          device: 1,
        }));
        for (const [which, model] of [["known", own], ["unknown", h100]] as const) {
          const here = samplesOf(model, [one]);
          const ways = here.map((candidate) => ({ candidate, on: one.problem }));
          const [chosen] = mostPromising(ways, new Calibration(elsewhere, model));
          const rates = samplesOf(own, [one]).map(({ cellsPerSecond, predicted, onH100 }) =>
            cellsPerSecond * predicted / onH100
          );
          losses[which] += 1 -
            rates[here.indexOf(chosen!.way.candidate as typeof here[number])]! / Math.max(...rates);
        }
      }
    }
  }
  const count = problems.length * 2 * Object.keys(CONSTANTS).length;
  assert(
    losses.known < 0.8 * losses.unknown && losses.known / count < 0.05,
    `${losses.known / count}, ${losses.unknown / count}`,
  );
});

/** The factor that a constant has over the reference's shows in the prices. */
function referenceNs(name: string): number {
  const price = name === "cacheNs" ? "hitNs" : name === "arithmeticNs" ? "groupNs" : name as "barrierNs";
  return H100.prices[price] / measuredRecord(H100.copyBytesPerSecond, { [name]: 1 }).prices[price];
}
