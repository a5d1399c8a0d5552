/**
 * A pair of devices whose times follow the cost model exactly, on a clock of their own.
 *
 * @module
 */
import { heat } from "../../kernels/stencils/heat.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import {
  roundTimes,
  type RoundWork,
  roundWork,
  type SharedCosts,
  sharedGridOf,
} from "../../models/shared_step.ts";
import type { Configuration, FailureReason } from "../../tuner/configuration.ts";
import type { SharedTimes } from "../../tuner/devices/shared/shared_field.ts";
import { RunFailure } from "../../tuner/devices/run_failure.ts";
import type { BalanceOptions } from "../../tuner/sharing/balance.ts";

export const PROBLEM: Problem = { stencil: heat(1), grid: [256, 64, 64], boundary: "zero", steps: 96 };

/** A wait of 10 ms a round, and devices of about the same speed: R = 16 is the fastest of the powers of two. */
export const COSTS: SharedCosts = {
  cpu: { updateNs: 0.5, stepNs: 10e3, missNs: 0, cachedCells: 0 },
  gpu: { updateNs: 0.4, stepNs: 10e3, passNs: 0, byteNs: 0.05 },
  unpack: { a: 0.5, b: 50e3 },
  pack: { a: 0.5, b: 100e3 },
  schedule: { submitNs: 0, timerNs: 0, waitNs: 10e6, contention: 0, starvation: 0.5 },
};

/** How the devices behave. */
export interface Simulation {
  readonly costs?: SharedCosts;
  readonly problem?: Problem;
  /** Why a configuration cannot run. */
  readonly fails?: (configuration: Configuration) => FailureReason | undefined;
  /** Whether a configuration computes nonsense. */
  readonly isWrong?: (configuration: Configuration) => boolean;
}

/** Options of a balance on simulated devices, and the configurations that were opened. */
export function simulate(
  { costs = COSTS, problem = PROBLEM, fails = () => undefined, isWrong = () => false }: Simulation = {},
): BalanceOptions & { readonly opened: Configuration[]; readonly timeNs: () => number } {
  let nowNs = 0;
  const opened: Configuration[] = [];
  const shared = sharedGridOf(problem);
  const [slices] = problem.grid;
  return {
    opened,
    timeNs: () => nowNs,
    problem,
    configuration: {
      traversal: "stepwise",
      parameters: { threadsZ: 64 },
      share: { cpuSlices: 0, gpuSlices: slices, exchangeEvery: problem.steps, cpuWorkers: 0 },
    },
    now: () => nowNs,
    devices: {
      cpuWorkers: 2,
      open(_, configuration) {
        opened.push(configuration);
        const { share } = configuration;
        const reason = fails(configuration);
        if (reason !== undefined) return Promise.reject(new RunFailure(reason, "simulated"));
        const runSteps = (steps: number, repetitions = 1): SharedTimes => {
          const whole = Math.floor(steps / share.exchangeEvery), rest = steps % share.exchangeEvery;
          const once = [...new Array<number>(whole).fill(share.exchangeEvery), ...(rest > 0 ? [rest] : [])];
          const rounds = new Array<number[]>(repetitions).fill(once).flat()
            .map((count) => timesOf(roundWork(shared, share, count), costs));
          const isShared = share.cpuSlices > 0 && share.gpuSlices > 0;
          const wallNs = rounds.reduce((sum, { roundNs }) => sum + roundNs, 0);
          nowNs += wallNs;
          const part = (of: (times: typeof rounds[number]) => number): number[] =>
            isShared ? rounds.map(of) : [rounds.reduce((sum, one) => sum + of(one), 0)];
          return {
            wallNs,
            cpuRoundsNs: share.cpuSlices > 0 ? part(({ cpuNs }) => cpuNs) : [],
            gpuRoundsNs: share.gpuSlices > 0 ? part(({ gpuNs }) => gpuNs) : [],
            computeRoundsNs: isShared ? part(({ computeNs }) => computeNs) : [],
            unpackRoundsNs: isShared ? part(({ unpackNs }) => unpackNs) : [],
            packRoundsNs: isShared ? part(({ packNs }) => packNs) : [],
          };
        };
        return Promise.resolve({
          configuration,
          compileNs: 1e6,
          clock: "host",
          initialise: () => Promise.resolve(),
          verify: () =>
            Promise.resolve({
              maxError: isWrong(configuration) ? 1 : 0,
              bound: 0.5,
              against: "a simulation",
            }),
          run: (repetitions) => Promise.resolve(runSteps(problem.steps, repetitions).wallNs),
          runSteps: (steps, repetitions) => Promise.resolve(runSteps(steps, repetitions)),
          dispose: () => {},
        });
      },
    },
  };
}

function timesOf(work: RoundWork, costs: SharedCosts) {
  const unpackNs = costs.unpack.a * work.bytes + costs.unpack.b;
  const packNs = costs.pack.a * work.bytes + costs.pack.b;
  const { cpuNs, gpuNs, roundNs } = roundTimes(work, costs);
  return { cpuNs, gpuNs, roundNs, unpackNs, packNs, computeNs: cpuNs - unpackNs - packNs };
}
