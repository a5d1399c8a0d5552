/**
 * What files of earlier versions say otherwise, and how it is read today. The schema checks them as it checks today's:
 * what later versions added is optional there. Everything that a reader has to know of them besides stands here.
 *
 * @module
 */
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import type { Coordinates } from "../../kernels/traversals/traversal.ts";
import type { SharedCosts } from "../../models/shared_fit.ts";
import type { ProfileCosts, ProfileEntry, ProfilePoint } from "./profile_types.ts";
import type { Configuration } from "../configuration.ts";
import { uses } from "../shares.ts";

/** Traversals that are gone; profiles may list them beside their best. */
export const FORMER_TRAVERSALS: readonly string[] = ["hybrid"];

/**
 * Built-in equations whose formula has changed since entries named them without a hash: of which formula such an entry is, it
 * does not say.
 */
export const CHANGED_FORMULAS: readonly string[] = ["acoustic"];

/** A configuration with today's parameters: those that searches have as one axis were one parameter. */
export function renamed<C extends Pick<Configuration, "traversal" | "parameters">>(one: C): C {
  const axes = TRAVERSALS.find(({ name }) => name === one.traversal)?.axes;
  return axes === undefined ? one : { ...one, parameters: axes.parameters(one.parameters as Coordinates) };
}

/** What an entry that does not list the best of each traversal says about stepwise. */
export function formerPoints(
  { bestOfEach, configuration, problem: { grid }, result }: ProfileEntry,
): ProfilePoint[] {
  const { cellsPerSecond, speedupOverStepwise } = result;
  if (bestOfEach !== undefined || speedupOverStepwise === null || !uses(configuration.share, "gpu")) {
    return [];
  }
  // which workgroup it had is not known
  const parameters = { threadsZ: grid.at(-1)! < 256 ? 128 : 256, threadsY: 2, threadsX: 1 };
  return [{ traversal: stepwise.name, parameters, cellsPerSecond: cellsPerSecond / speedupOverStepwise }];
}

/** Costs as a profile records them, which has a place for what is no longer fitted. */
export function recordedCosts({ cpu, schedule, ...others }: SharedCosts): ProfileCosts {
  return {
    ...others,
    cpu: { ...cpu, missNs: 0, cachedCells: 0 },
    schedule: { submitNs: 0, timerNs: 0, ...schedule, contention: 0 },
  };
}

/**
 * Recorded costs for a CPU's part of `cpuCells` cells, ghost zones included. Earlier models had a wait of three parts, and
 * a time for cells beyond the cached ones.
 */
export function costsOf({ cpu, schedule, ...others }: ProfileCosts, cpuCells: number): SharedCosts {
  const missed = Math.max(0, 1 - cpu.cachedCells / cpuCells);
  const { submitNs, timerNs, waitNs, starvation } = schedule;
  return {
    ...others,
    cpu: { updateNs: cpu.updateNs + cpu.missNs * missed, stepNs: cpu.stepNs },
    schedule: { waitNs: submitNs + timerNs + waitNs, starvation },
  };
}
