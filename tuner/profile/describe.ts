import type { PointCounts } from "../../kernels/points.ts";
import { cellsOf } from "../../kernels/stencils/stencil.ts";
import type { Configuration } from "../configuration.ts";
import type { CpuDescription, GpuDescription } from "../devices/device.ts";
import { gpuName } from "../devices/vendors.ts";
import { formatBytes, formatPeriod, formatPlural } from "../format.ts";
import { DISTINCT } from "../measuring/tie_set.ts";
import type { ProfileEntry, ProfileProblem, ProfileRated } from "./profile_types.ts";
import { isShared, isStepwise, uses } from "../shares.ts";

const VARIANT_WORDS: readonly (readonly [name: keyof ProfileProblem, words: (value: unknown) => string])[] = [
  ["order", (order) => `order ${order}`],
  ["delta", (delta) => `δ ${delta}`],
  ["rule", (rule) => `rule ${rule}`],
  ["medium", (medium) => `${medium} medium`],
  ["points", (points) => `${points} points`],
  ["edges", (edges) => `edges ${edges}`],
];

/** What distinguishes stencils that a profile stores by name. */
export const VARIANTS: readonly string[] = VARIANT_WORDS.map(([name]) => name);

/** What distinguishes a stencil: its variant, of one with a definition the first digits of its hash, and f64. */
function variantOf(problem: ProfileProblem): (readonly [name: string, value: unknown])[] {
  const named = VARIANT_WORDS.flatMap(([name]) =>
    problem[name] === undefined ? [] : [[name, problem[name]] as const]
  );
  const { definition, hash, precision } = problem,
    precise = precision === "f64" ? [["precision", precision]] as const : [];
  if (definition === undefined) return [...named, ...precise];
  const own = named.length === 0 ? Object.entries(definition.variant) : named;
  return [...own, ["hash", hash?.slice(0, 8)], ...precise];
}

/** A profile's stencil with its variant: `wave, order 4`. */
export function describeStencil(problem: ProfileProblem): string {
  const words = new Map<string, (value: unknown) => string>(VARIANT_WORDS);
  const variant = variantOf(problem).map(([name, value]) => words.get(name)?.(value) ?? `${name} ${value}`);
  return [problem.stencil, ...variant].join(", ");
}

/** A profile's problem in one line: `wave, order 4, grid 64x32x16, zero boundary, 96 steps`. */
export function describeProfileProblem(problem: ProfileProblem): string {
  const { grid, boundary, steps, survey } = problem;
  const cells = `grid ${grid.join("x")}, ${boundary} boundary`;
  return `${describeStencil(problem)}, ${cells}${describeSurvey(survey)}, ${formatPlural(steps, "step")}`;
}

/** Sources and receivers in words, to follow others; nothing where there are none. */
export function describeSurvey({ sources, receivers }: PointCounts = { sources: 0, receivers: 0 }): string {
  return sources + receivers === 0
    ? ""
    : `, ${formatPlural(sources, "source")}, ${formatPlural(receivers, "receiver")}`;
}

/** As people count: order 2 before order 10. */
const inOrder = new Intl.Collator("en", { numeric: true }).compare;

/** By equation, variant and size. */
export function compareProblems(a: ProfileProblem, b: ProfileProblem): number {
  return inOrder(describeStencil(a), describeStencil(b)) || cellsOf(a.grid) - cellsOf(b.grid) ||
    inOrder(describeProfileProblem(a), describeProfileProblem(b));
}

/** A profile's stencil as a kernel's name in other tools' files: `wave-order-4`. */
export function kernelNameOf(problem: ProfileProblem): string {
  const variant = variantOf(problem).map(([name, value]) => `${name}-${value}`.replace(/[^\w.-]/g, "_"));
  return [problem.stencil, ...variant].join("-");
}

export function describeTraversal(
  { traversal, parameters }: Pick<Configuration, "traversal" | "parameters">,
): string {
  return [traversal, ...Object.entries(parameters).map(([name, value]) => `${name}=${value}`)].join(" ");
}

/** A configuration in words; in brief without the parameters of the CPU's traversals, which say little. */
export function describeConfiguration(configuration: Configuration, { isBrief = false } = {}): string {
  const order = describeTraversal(configuration);
  const onCpu = (kernel: Pick<Configuration, "traversal" | "parameters">): string =>
    isBrief ? kernel.traversal : describeTraversal(kernel);
  const { cpuSlices, gpuSlices, exchangeEvery, cpuWorkers, cpu, deviceMemory } = configuration.share;
  const workers = `CPU, ${formatPlural(cpuWorkers, "worker")}`;
  if (!uses(configuration.share, "gpu")) return `${workers}, ${onCpu(configuration)}`;
  if (!isShared(configuration.share)) {
    return deviceMemory === undefined ? order : `${order}, through a window of ${formatBytes(deviceMemory)}`;
  }
  const there = cpu === undefined ? workers : `${workers}, ${onCpu(cpu)}`;
  const [mine, others] = [gpuSlices, cpuSlices].map((count) => formatPlural(count, "slice"));
  return `${order}, ${mine}; ${there}, ${others}; exchange every ${formatPeriod(exchangeEvery)}`;
}

/** What an entry's choice is called: "chosen" where others are equally fast or another rate reads higher. */
export function describeChoice({ tieSet, result }: ProfileEntry, highest: number): string {
  return tieSet.length > 1 || highest > result.cellsPerSecond ? "chosen" : "fastest";
}

/** What counts as no difference, in words. */
export const EQUAL = "equally fast";

/**
 * What a tie is beside the choice: as fast, or within the noise, where the intervals meet; undefined where it is neither:
 * a tie set leaves out only what is slower beyond any doubt, which two blocks hardly say of a fifth.
 */
export function alike(
  { cellsPerSecond, confidence95 }: ProfileRated,
  { result }: ProfileEntry,
): string | undefined {
  const [low, high] = confidence95 ?? [0, Infinity], [least, most] = result.confidence95 ?? [0, Infinity];
  if (Math.abs(cellsPerSecond / result.cellsPerSecond - 1) <= DISTINCT) return EQUAL;
  return low <= most && high >= least ? "within the noise" : undefined;
}

/** Whether the best stepwise is as fast as another choice: a factor between the two says nothing. */
export function tiesWithStepwise(entry: ProfileEntry): boolean {
  const isTie = (tie: ProfileRated): boolean =>
    isStepwise(tie.configuration) && alike(tie, entry) !== undefined;
  return !isStepwise(entry.configuration) && entry.tieSet.some(isTie);
}

/** A GPU in words, or that there is none; one in software is said to be. */
export function describeGpu(
  gpu: Pick<GpuDescription, "description" | "vendor" | "device" | "isFallback"> | null,
): string {
  return gpu === null ? "no GPU" : `${gpuName(gpu)}${gpu.isFallback ? " (software)" : ""}`;
}

/** A CPU in words: `Intel(R) Xeon(R) Processor (16 cores)`. */
export function describeCpu({ model, cores }: Pick<CpuDescription, "model" | "cores">): string {
  return `${model} (${formatPlural(cores, "core")})`;
}
