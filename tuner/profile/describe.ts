import type { Configuration } from "../configuration.ts";
import { formatPlural } from "../format.ts";
import type { ProfileProblem } from "./schema.ts";

/** What distinguishes stencils of one name, in words. */
const VARIANT_WORDS: readonly (readonly [name: keyof ProfileProblem, words: (value: unknown) => string])[] = [
  ["order", (order) => `order ${order}`],
  ["delta", (delta) => `δ ${delta}`],
  ["rule", (rule) => `rule ${rule}`],
  ["medium", (medium) => `${medium} medium`],
  ["points", (points) => `${points} points`],
];

/** What may distinguish stencils of one name in a profile. */
export const VARIANTS: readonly string[] = VARIANT_WORDS.map(([name]) => name);

function variantOf(problem: ProfileProblem): typeof VARIANT_WORDS {
  return VARIANT_WORDS.filter(([name]) => problem[name] !== undefined);
}

/** A profile's stencil with its variant: `wave, order 4`. */
export function describeStencil(problem: ProfileProblem): string {
  return [problem.stencil, ...variantOf(problem).map(([name, words]) => words(problem[name]))].join(", ");
}

/** A profile's problem in one line: `wave, order 4, grid 64x32x16, zero boundary, 96 steps`. */
export function describeProfileProblem(problem: ProfileProblem): string {
  const { grid, boundary, steps } = problem;
  const cells = `grid ${grid.join("x")}, ${boundary} boundary`;
  return `${describeStencil(problem)}, ${cells}, ${formatPlural(steps, "step")}`;
}

/** A profile's stencil as a kernel's name in other tools' files: `wave-order-4`. */
export function kernelNameOf(problem: ProfileProblem): string {
  const variant = variantOf(problem).map(([name]) => `${name}-${problem[name]}`.replace("/", "_"));
  return [problem.stencil, ...variant].join("-");
}

/** A traversal with its parameters. */
function describeTraversal(
  { traversal, parameters }: Pick<Configuration, "traversal" | "parameters">,
): string {
  return [traversal, ...Object.entries(parameters).map(([name, value]) => `${name}=${value}`)].join(" ");
}

/** A configuration in one line. */
export function describeConfiguration(configuration: Configuration): string {
  const order = describeTraversal(configuration);
  const { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers, cpu } = configuration.share;
  const workers = `CPU, ${formatPlural(cpuWorkers, "worker")}`;
  if (gpuSlices === 0) return `${workers}, ${order}`;
  if (cpuSlices === 0) return order;
  const onCpu = cpu === undefined ? workers : `${workers}, ${describeTraversal(cpu)}`;
  const [here, there] = [gpuSlices, cpuSlices].map((count) => formatPlural(count, "slice"));
  const period = exchangeEvery === 1 ? "step" : `${exchangeEvery} steps`;
  return `${order}, ${here}; ${onCpu}, ${there}; exchange every ${period}`;
}
