/**
 * A recorded space: what every configuration came to when it was measured, so that strategies can be tried
 * without the device. Recorded by Facet or by another tuner.
 *
 * @module
 */
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { describeStencil } from "../profile/describe.ts";
import type { ProfileDevice, ProfileProblem } from "../profile/schema.ts";

/** What a configuration came to. */
export interface RecordedConfiguration {
  /** Its traversal; of another tuner's space, the kernel's name. */
  readonly traversal: string;
  /** Values by name. What is no number in another tuner's file is a place in the list of its values. */
  readonly parameters: Parameters;
  /**
   * Larger is better, above 0; undefined where it failed. Cells per second, or 1 over the time that another tuner
   * found.
   */
  readonly rate: number | undefined;
  /** 95% interval of the rate. */
  readonly interval95?: readonly [low: number, high: number];
  /** Host time from source text to pipelines. */
  readonly compileNs?: number;
  /** Host time of the whole evaluation, compiling included. */
  readonly evaluationNs?: number;
  /** Why it has no rate, as `timeout`. */
  readonly failure?: string;
}

/** Every configuration that was measured. */
export interface ReplaySpace {
  /** One line for people: the problem and the device. */
  readonly title: string;
  /** Each configuration once. */
  readonly configurations: readonly RecordedConfiguration[];
  /** The problem and the device, where Facet measured: the models can then predict. */
  readonly facet?: { readonly problem: ProfileProblem; readonly device: ProfileDevice };
}

/** A configuration's identity: its traversal and its parameters, in whatever order they stand. */
export function keyOf(
  { traversal, parameters }: Pick<RecordedConfiguration, "traversal" | "parameters">,
): string {
  const values = Object.keys(parameters).sort().map((name) => `${name}=${parameters[name]}`);
  return [traversal, ...values].join(" ");
}

/** The fastest rate of a space; 0 where nothing has one. */
export function bestRate({ configurations }: Pick<ReplaySpace, "configurations">): number {
  return configurations.reduce((best, { rate = 0 }) => Math.max(best, rate), 0);
}

/** A problem on a device, in one line. */
export function titleOf(problem: ProfileProblem, device: ProfileDevice): string {
  const { grid, steps } = problem;
  const name = device.gpu?.description ?? device.cpu.model;
  return `${describeStencil(problem)}, ${grid.join("x")}, ${steps} steps, ${name}`;
}
