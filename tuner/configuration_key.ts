/**
 * When two configurations are the same, and when one is the baseline of speedups.
 *
 * @module
 */
import type { Configuration } from "./configuration.ts";
import { isShared } from "./shares.ts";

/** A text that is equal for equal configurations only. */
export function configurationKey({ traversal, parameters, share }: Configuration): string {
  return orderless([traversal, parameters, share]);
}

/** A text that is equal for equal traversals with equal parameters only. */
export function traversalKey(
  { traversal, parameters }: Pick<Configuration, "traversal" | "parameters">,
): string {
  return orderless([traversal, parameters]);
}

/** Whether one device computes alone and stepwise, which on a line is called classic. */
export function isStepwise({ traversal, share }: Configuration): boolean {
  return (traversal === "stepwise" || traversal === "classic") && !isShared(share);
}

/** JSON in which the order of names makes no difference, nor does one without a value. */
function orderless(value: unknown): string {
  return JSON.stringify(value, (_, one) => {
    if (typeof one !== "object" || Array.isArray(one)) return one;
    return Object.entries(one).filter(([, part]) => part !== undefined).sort(([a], [b]) => a < b ? -1 : 1);
  });
}
