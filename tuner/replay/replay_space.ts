import type { Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { DeviceLimits, Parameters } from "../../kernels/traversals/traversal.ts";
import { traversalKey } from "../configuration.ts";
import { formatPlural } from "../format.ts";
import { describeProfileProblem, describeStencil } from "../profile/describe.ts";
import { leaveOneOut, type MeasuredProblem, type UnseenProblem } from "../profile/leave_one_out.ts";
import { predictionOf } from "../profile/prediction.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { problemOf } from "../profile/profile_problem.ts";
import type { ProfileDevice, ProfileProblem } from "../profile/schema.ts";
import { deviceModelOf } from "../devices/device_model.ts";
import { listsOf } from "../search/enumeration.ts";
import { rankCandidates } from "../search/space.ts";
import type { SearchPoint } from "../search/strategy.ts";

export interface RecordedConfiguration {
  /** Its traversal; in another tuner's space, the kernel's name. */
  readonly traversal: string;
  /** Values by name. Another tuner's words stand as places in the list of the parameter's values. */
  readonly parameters: Parameters;
  /** Cells per second, or 1 / the time in s that another tuner found; undefined where it failed. */
  readonly rate: number | undefined;
  /** Host time from source text to pipelines. */
  readonly compileNs?: number | undefined;
  /** Host time of the whole evaluation, compiling included. */
  readonly evaluationNs?: number | undefined;
  /** Why it has no rate, as `timeout`. */
  readonly failure?: string | undefined;
}

/**
 * A recorded space: what every configuration came to when it was measured, by Facet or by another tuner, so that
 * strategies can be tried without the device.
 */
export interface ReplaySpace {
  /** One line for people: the problem and the device. */
  readonly title: string;
  /** Each configuration once. */
  readonly configurations: readonly RecordedConfiguration[];
  /** The problem and the device, where Facet measured: the models can then predict. */
  readonly facet?: { readonly problem: ProfileProblem; readonly device: ProfileDevice };
}

/** The fastest rate of a space; 0 where nothing has one. */
export function bestRate({ configurations }: Pick<ReplaySpace, "configurations">): number {
  return configurations.reduce((best, { rate = 0 }) => Math.max(best, rate), 0);
}

export function titleOf(problem: ProfileProblem, device: ProfileDevice): string {
  const { grid, steps } = problem;
  const name = device.gpu?.description ?? device.cpu.model;
  return `${describeStencil(problem)}, ${grid.join("x")}, ${formatPlural(steps, "step")}, ${name}`;
}

/** A recorded configuration to search for. */
export interface ReplayCandidate extends SearchPoint {
  readonly recorded: RecordedConfiguration;
}

/**
 * Recorded configurations as strategies see candidates: with the demand and the prediction that today's models make of
 * them, best prediction first as in `enumerateSpace`.
 *
 * @param prior of another tool's space: the same kernel on another device, whose rates are a prior. What failed
 * there or is missing counts as its slowest.
 * @throws {ProfileError} if the space is one of Facet's and its problem or a traversal is unknown here, or if the prior
 * has a rate for none of its configurations
 */
export function replayCandidates(space: ReplaySpace, prior?: ReplaySpace): ReplayCandidate[] {
  const { configurations, facet, title } = space;
  if (prior !== undefined) {
    const known = new Map(prior.configurations.map((found) => [keyOf(found), found.rate]));
    const rates = configurations.map((configuration) => known.get(keyOf(configuration)));
    const slowest = rates.reduce<number>((least, rate = Infinity) => Math.min(least, rate), Infinity);
    if (facet !== undefined || slowest === Infinity) {
      const why = facet === undefined
        ? "it has a rate for none of the configurations"
        : "the models predict it";
      throw new ProfileError(`Cannot use ${prior.title} as the prior of ${title}: ${why}`);
    }
    const candidates = replayCandidates(space);
    return candidates.map((candidate, i) => ({ ...candidate, elsewhere: rates[i] ?? slowest }));
  }
  if (facet === undefined) {
    const traversal = { name: configurations[0]?.traversal ?? "kernel" };
    return configurations.map((recorded) => ({ traversal, parameters: recorded.parameters, recorded }));
  }
  const problem = problemOf(facet.problem);
  if (problem === undefined) {
    throw new ProfileError(`Cannot replay ${title}: there is no stencil ${facet.problem.stencil}`);
  }
  const { gpu } = facet.device;
  const device = deviceModelOf(facet.device);
  const candidates = configurations.map((recorded) => {
    const { traversal } = recorded,
      { parameters, cpuWorkers = gpu === null ? 1 : undefined } = wayOf(recorded);
    const prediction = predictionOf({ traversal, parameters, cpuWorkers }, problem, device);
    if ("reason" in prediction) throw new ProfileError(`Cannot replay ${title}: ${prediction.reason}`);
    return { ...prediction, parameters: recorded.parameters, recorded };
  });
  return rankCandidates(gpu === null ? candidates : inOrderOfLists(candidates, problem, gpu.limits));
}

/** The parameters without the CPU's number of workers, which is one of them where the CPU computed alone. */
function wayOf({ parameters: { cpuWorkers, ...parameters } }: Pick<RecordedConfiguration, "parameters">) {
  return { parameters, cpuWorkers: cpuWorkers as number | undefined };
}

/** A configuration's values; the kernel may have another name in another file. */
function keyOf({ parameters }: RecordedConfiguration): string {
  return traversalKey({ traversal: "", parameters });
}

/** By traversal, then by their places among the combinations of its lists: that orders what is predicted alike. */
function inOrderOfLists<C extends ReplayCandidate>(
  candidates: readonly C[],
  problem: Problem,
  limits: DeviceLimits,
): C[] {
  const places = new Map(candidates.map((candidate) => {
    const { traversal: { name: traversal }, parameters } = candidate;
    const place = Object.entries(listsOf(problem, traversal, limits)).reduce((place, [name, list]) => {
      const index = list.indexOf(parameters[name]!);
      return place * (list.length + 1) + (index < 0 ? list.length : index);
    }, 0);
    return [candidate, [TRAVERSALS.findIndex(({ name }) => name === traversal), place]];
  }));
  const difference = (a: C, b: C, i: 0 | 1): number => places.get(a)![i]! - places.get(b)![i]!;
  return candidates.toSorted((a, b) => difference(a, b, 0) || difference(a, b, 1));
}

/**
 * What choices come to for recorded problems, each from what was recorded of the others on its device, by the device's
 * name. Spaces of other tools are left out.
 */
export function chooseUnseen(spaces: readonly ReplaySpace[]): ReadonlyMap<string, UnseenProblem[]> {
  const known = spaces.flatMap((space) => space.facet ? [{ ...space.facet, space }] : []);
  const byDevice = Map.groupBy(known, ({ device: { gpu, cpu } }) => gpu?.description ?? cpu.model);
  return new Map([...byDevice].map(([name, some]) => {
    const byProblem = Map.groupBy(some, ({ problem }) => describeProfileProblem(problem));
    const measured = [...byProblem.values()].map((recordings): MeasuredProblem => {
      const problem = problemOf(recordings[0]!.problem)!;
      const samples = recordings.flatMap(({ space }) => replayCandidates(space)).flatMap((candidate) => {
        const { predicted, recorded: { rate } } = candidate, { parameters, cpuWorkers } = wayOf(candidate);
        if (rate === undefined) return [];
        const onCpu = cpuWorkers === undefined ? {} : { cpuWorkers };
        return [{ ...candidate, ...onCpu, parameters, predicted: predicted!, problem, cellsPerSecond: rate }];
      });
      return { problem, samples };
    });
    return [name, leaveOneOut(measured, deviceModelOf(some[0]!.device))];
  }));
}
