import { type OwnGrid, ownOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { CostModel, type Sample } from "../../models/cost_model.ts";
import type { DeviceModel } from "../../models/roofline.ts";
import { formatPercent } from "../format.ts";
import { mostPromising } from "./best_predicted.ts";
import { MOST_LEARNT, mostElsewhere } from "./learn.ts";
import { equationDistance, problemDistance, workIn } from "./profile_index.ts";
import { describeProblem, stencilKey } from "./profile_problem.ts";
import { pointsOf } from "./samples.ts";

/** Rates repeat to within this part of each other. */
const SURELY = 0.99;

export interface MeasuredProblem {
  readonly problem: Problem;
  readonly samples: readonly Sample[];
}

/** Sizes of an equation from which a loss on others can be estimated: of two each would be chosen from one. */
export const LEAST_SIZES = 3;

/** What a choice comes to for a problem that its profile has not seen, of all that was measured for it. */
export interface UnseenProblem {
  readonly grid: OwnGrid;
  /** Measurements that the choice was predicted from. */
  readonly known: number;
  readonly chosen: Sample;
  /** Cells per second that were expected of it. */
  readonly expected: number;
  /** Standard deviation of its logarithm. */
  readonly deviation: number;
  readonly best: number;
  /** The best of stepwise; 0 if none was measured. */
  readonly plain: number;
  /** How much slower the choice is than the best, as a part of it. */
  readonly loss: number;
}

/**
 * Chooses a configuration for each problem from what was measured for others, as {@linkcode chooseConfiguration} does, among
 * those that were measured for it.
 *
 * @param isKnown whether what was measured for another problem may be used @default {if its grid is another}
 */
export function leaveOneOut(
  measured: readonly MeasuredProblem[],
  device: DeviceModel,
  isKnown = (other: Problem, { grid }: Problem): boolean => other.grid.join() !== grid.join(),
): UnseenProblem[] {
  const points = new Map(measured.map((problem) => {
    const fastestFirst = problem.samples.toSorted((a, b) => b.cellsPerSecond - a.cellsPerSecond);
    return [
      problem,
      pointsOf(fastestFirst.map((sample) => ({ ...sample, traversal: sample.traversal.name, sample }))),
    ];
  }));
  const described = new Map(measured.map((problem) => [problem, describeProblem(problem.problem)]));
  return measured.flatMap((unseen): UnseenProblem[] => {
    const nearest = measured.filter(({ problem }) => isKnown(problem, unseen.problem))
      .map((other) => {
        const [here, there] = [described.get(unseen)!, described.get(other)!];
        const isSame = stencilKey(here) === stencilKey(there);
        const apart = isSame ? 0 : equationDistance(workIn(here), workIn(there));
        const far = apart + problemDistance(here, there);
        const samples = points.get(other)!.map(({ sample }) => ({ ...sample, isForeign: apart > 0 }));
        return { apart, far, samples };
      })
      .filter(({ apart }) => apart < Infinity).sort((a, b) => a.far - b.far)
      .flatMap(({ apart, samples }) =>
        samples.filter(({ cpuWorkers = 0 }) => apart === 0 || cpuWorkers === 0)
      );
    const here = nearest.filter(({ device }) => !device).slice(0, MOST_LEARNT);
    const elsewhere = nearest.filter(({ device }) => device).slice(0, mostElsewhere(here.length));
    const known = [...here, ...elsewhere];
    if (known.length === 0) return [];
    const ways = unseen.samples.map((candidate) => ({ candidate, on: unseen.problem }));
    const first = mostPromising(ways, new CostModel(device, known));
    // where one thing was measured, no choice could lose
    if (first === undefined || ways.length < 2) return [];
    const chosen = first.way.candidate;
    const fastest = (some: readonly Sample[]): number =>
      Math.max(0, ...some.map(({ cellsPerSecond }) => cellsPerSecond));
    const best = fastest(unseen.samples);
    return [{
      grid: ownOf(unseen.problem.stencil, unseen.problem.grid),
      known: known.length,
      chosen,
      expected: Math.exp(first.mean),
      deviation: first.deviation,
      best,
      plain: fastest(unseen.samples.filter(({ traversal: { name } }) => name === stepwise.name)),
      loss: 1 - chosen.cellsPerSecond / best,
    }];
  });
}

/** Losses in one line: `Loss on unseen sizes: median 1.0%, largest 15%; none is slower than stepwise`. */
export function describeLoss(problems: readonly UnseenProblem[]): string {
  if (problems.length === 0) return "Too little was measured to estimate the loss on unseen sizes";
  const losses = problems.map(({ loss }) => loss).sort((a, b) => a - b);
  const slower = problems.filter(({ chosen, plain }) => chosen.cellsPerSecond < SURELY * plain).length;
  return `Loss on unseen sizes: median ${formatPercent(losses[losses.length >> 1]!)}, largest ` +
    `${formatPercent(losses.at(-1)!)}; ${
      slower === 0 ? "none is" : `${slower} of them are`
    } slower than stepwise`;
}
