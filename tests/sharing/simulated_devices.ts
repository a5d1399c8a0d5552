/**
 * A balance on a session whose times follow the cost model exactly.
 *
 * @module
 */
import { heat } from "../../kernels/stencils/heat.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { SharedCosts } from "../../models/shared_fit.ts";
import type { Configuration, FailureReason } from "../../tuner/configuration.ts";
import type { SharingOptions } from "../../tuner/sharing/search_shares.ts";
import { failing, SimulatedSession } from "../devices/simulated_session.ts";

/** R = 16 is the fastest of the powers of two. */
export const PROBLEM: Problem = { stencil: heat(1), grid: [256, 64, 64], boundary: "zero", steps: 96 };

/** How the devices behave. */
export interface Simulation {
  readonly costs?: SharedCosts;
  readonly problem?: Problem;
  /** Why a configuration cannot run. */
  readonly fails?: (configuration: Configuration) => FailureReason | undefined;
  /** Whether a configuration computes nonsense. */
  readonly isWrong?: (configuration: Configuration) => boolean;
}

/** Options of a balance on simulated devices. */
export function simulate(
  { costs, problem = PROBLEM, fails = () => undefined, isWrong = () => false }: Simulation = {},
): SharingOptions & { readonly session: SimulatedSession } {
  const [gpuSlices] = problem.grid;
  return {
    session: new SimulatedSession({
      ...(costs && { costs }),
      behave(_, configuration) {
        const reason = fails(configuration);
        return {
          ...(reason && failing(reason, "simulated")),
          verification: { maxError: isWrong(configuration) ? 1 : 0, bound: 0.5 },
        };
      },
    }),
    problem,
    configuration: {
      traversal: "stepwise",
      parameters: { threadsZ: 64 },
      share: { cpuSlices: 0, gpuSlices, exchangeEvery: problem.steps, cpuWorkers: 0 },
    },
    cpuWorkers: 2,
  };
}
