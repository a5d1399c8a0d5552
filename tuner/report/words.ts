import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { Parameter, ParameterWords } from "../../kernels/traversals/parameter.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { formatCount, formatPlural, formatRate } from "../format.ts";

/** What is not a traversal's but says how a grid is shared. */
const OF_SHARES: ParameterWords = {
  cpuSlices: ["Slices of the CPU", "y–z planes that the CPU computes; the GPU has the others", {
    unit: "slice",
  }],
  exchangeEvery: ["Exchange (R)", "steps between two exchanges of ghost zones", { unit: "step" }],
  cpuWorkers: ["CPU workers", "threads that compute side by side", { unit: "worker" }],
};

/** The parameters of each series; what both devices compute has those of the GPU's traversals. */
const PARAMETERS = new Map<string, ParameterWords>([
  ...TRAVERSALS.map(({ name, parameters }) => [name, parameters] as const),
  ...CPU_TRAVERSALS.map(({ name, parameters }) => [`CPU ${name}`, parameters] as const),
]);

const FAILURES: Readonly<Record<string, string>> = {
  compile: "did not compile",
  limits: "exceeded the device's limits",
  incorrect: "gave a wrong result",
  timeout: "took too long",
  "device-lost": "lost the device",
  "out-of-memory": "ran out of memory",
  // of other tools
  constraints: "were not allowed",
  correctness: "gave a wrong result",
  runtime: "failed while running",
};

/** A value of a parameter. */
type Setting = Parameters[string];

/** A parameter of a series for people; by its own name and without a meaning where it is another tool's. */
export function parameterWords(name: string, series: string) {
  const known = [PARAMETERS.get(series), OF_SHARES, ...PARAMETERS.values()]
    .find((all) => all !== undefined && Object.hasOwn(all, name));
  const [title, meaning, { unit, values } = {}]: Parameter | readonly [string] = known?.[name] ?? [name];
  return {
    title,
    meaning,
    /** Where a value comes in their order. */
    placeOf: (value: Setting): number =>
      typeof value === "number" ? value : Object.keys(values ?? {}).indexOf(value),
    /** A value with its unit, as `96 steps`; without one among other counts in a table. */
    valueOf(value: Setting, { hasUnit = true } = {}): string {
      const isBare = unit === undefined || (!hasUnit && values === undefined);
      return values?.[value] ??
        (isBare || typeof value === "string" ? `${value}` : formatPlural(value, unit));
    },
  };
}

/** Parameters in one line, as `Bands: 2 bands, Chunk: 8 cells`. */
export function parameterList(parameters: Parameters, series: string): string {
  return Object.entries(parameters).map(([name, value]) => {
    const { title, valueOf } = parameterWords(name, series);
    return `${title}: ${valueOf(value)}`;
  }).join(", ");
}

/** A rate without its unit, which is Gcells/s, or that of another rate. */
export function gcells(cellsPerSecond: number, { like = 1e9 }: { like?: number } = {}): string {
  return formatRate(cellsPerSecond, { like }).split(" ")[0]!;
}

/** A 95% interval, as `802–804`, in Gcells/s or another rate's unit; nothing where there is none. */
export function intervalWords(
  interval: readonly [low: number, high: number] | null,
  { to = "–", like = 1e9 }: { to?: string; like?: number } = {},
): string {
  return [...new Set(interval?.map((end) => gcells(end, { like })))].join(to);
}

/** Bytes per cell update, as `2.9` or `12`. */
export function bytesWords(bytes: number): string {
  return bytes >= 9.95 ? bytes.toFixed(0) : String(Number(bytes.toPrecision(2)));
}

/** Why a rate may be above its roof. */
export const ABOVE_ROOF =
  "part of the data stays in the caches, which are faster than the memory that the roof counts";

/** What a failure means, as `did not compile`. */
export function failureWords(reason: string): string {
  return Object.hasOwn(FAILURES, reason) ? FAILURES[reason]! : reason;
}

/** How many failed in which way, as `1 did not compile, 2 lost the device`. */
export function failureCounts(failed: Readonly<Record<string, number>>): string {
  return Object.entries(failed).map(([reason, count]) => `${formatCount(count)} ${failureWords(reason)}`)
    .join(", ");
}
