import { formatPlural } from "../format.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { describeStencil } from "../profile/describe.ts";
import type { ProfileDevice, ProfileProblem } from "../profile/schema.ts";

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
