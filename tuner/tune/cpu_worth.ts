/**
 * What of a limited time the CPU is worth, by its probed rate.
 *
 * @module
 */
import { DISTINCT } from "../measuring/tie_set.ts";

/** Rates in cells per second. */
export interface ProbedRates {
  /** The CPU alone, probed; undefined where it was not. */
  readonly cpu: number | undefined;
  /** The best of the GPU so far; undefined where there is none. */
  readonly gpu: number | undefined;
}

/** A CPU slower than this part of the GPU will not win. */
const FAR_BEHIND = 0.5;

/** Whether the CPU alone will not win: it is measured only where time is left. */
export function isFarBehind({ cpu, gpu }: ProbedRates): boolean {
  return cpu !== undefined && gpu !== undefined && cpu < FAR_BEHIND * gpu;
}

/**
 * Why sharing the grid is not worth a limited time; undefined where it may be.
 *
 * @param rates of both alone: together they come to their sum at most
 * @param isFallback whether the GPU is software
 *
 * @example
 * ```ts
 * import { whySharingIsFutile } from "./cpu_worth.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(whySharingIsFutile({ cpu: 20e9, gpu: 100e9 }, { isFallback: false }), undefined);
 * assertEquals(whySharingIsFutile({ cpu: 5e9, gpu: 800e9 }, { isFallback: false }), "the CPU could add 0.6% at most");
 * ```
 */
export function whySharingIsFutile(
  { cpu, gpu }: ProbedRates,
  { isFallback }: { readonly isFallback: boolean },
): string | undefined {
  if (cpu === undefined) return undefined;
  if (isFallback && cpu >= (gpu ?? 0)) {
    return "the GPU is software, and the same cores are faster without it";
  }
  // what no rates would tell apart is no gain
  if (gpu === undefined || cpu >= DISTINCT * gpu) return undefined;
  return `the CPU could add ${(100 * cpu / gpu).toPrecision(1)}% at most`;
}
