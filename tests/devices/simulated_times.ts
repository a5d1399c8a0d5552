/**
 * Times of shared configurations that follow the cost model exactly.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { predictRound, workOf } from "../../models/round.ts";
import { partCosts, planOfPair, type SharedCosts } from "../../models/shared_fit.ts";
import type { Share } from "../../tuner/configuration.ts";
import type { SharedTimes } from "../../tuner/devices/shared/shared_field.ts";

/** A wait of 10 ms a round, and devices of about the same speed. */
export const COSTS: SharedCosts = {
  cpu: { updateNs: 0.5, stepNs: 10e3 },
  gpu: { updateNs: 0.4, stepNs: 10e3, passNs: 0, byteNs: 0.05 },
  unpack: { a: 0.5, b: 50e3 },
  pack: { a: 0.5, b: 100e3 },
  schedule: { waitNs: 10e6, starvation: 0.5 },
};

/** Times of so many steps, so often. */
export function simulatedTimes(
  problem: Problem,
  share: Share,
  costs: SharedCosts,
): (steps: number, repetitions: number) => SharedTimes {
  return (steps, repetitions) => {
    const whole = Math.floor(steps / share.exchangeEvery), rest = steps % share.exchangeEvery;
    const once = [...new Array<number>(whole).fill(share.exchangeEvery), ...(rest > 0 ? [rest] : [])];
    const rounds = new Array<number[]>(repetitions).fill(once).flat().map((count) => {
      const plan = planOfPair(problem, share),
        { exchange: [, bytes] } = workOf(problem, plan, { number: 1, shrinks: false });
      const unpackNs = costs.unpack.a * bytes + costs.unpack.b;
      const packNs = costs.pack.a * bytes + costs.pack.b;
      const [cpu, gpu] = predictRound(problem, plan, partCosts(costs), count),
        { computeNs, exchangeNs } = cpu!;
      const cpuNs = computeNs + exchangeNs, gpuNs = gpu!.roundNs;
      return { cpuNs, gpuNs, roundNs: Math.max(cpu!.roundNs, gpuNs), unpackNs, packNs, computeNs };
    });
    const sum = (of: (times: typeof rounds[number]) => number) =>
      rounds.reduce((total, one) => total + of(one), 0);
    const wallNs = sum(({ roundNs }) => roundNs), isShared = share.cpuSlices > 0 && share.gpuSlices > 0;
    const computeNs = sum(({ computeNs, cpuNs }) => isShared ? computeNs : share.cpuSlices > 0 ? cpuNs : 0);
    return {
      wallNs,
      timeNs: wallNs,
      computeNs,
      gpuNs: share.gpuSlices > 0 ? sum(({ gpuNs }) => gpuNs) : 0,
      unpackNs: isShared ? sum(({ unpackNs }) => unpackNs) : 0,
      packNs: isShared ? sum(({ packNs }) => packNs) : 0,
    };
  };
}
