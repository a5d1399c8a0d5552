/**
 * Texts that two problems of profiles share exactly if they are the same.
 *
 * @module
 */
import type { ProfileProblem } from "./profile_types.ts";

/** The stencil with its variant, and the precision. */
export function stencilKey({ stencil, order, delta, rule, medium, precision }: ProfileProblem): string {
  return JSON.stringify([stencil, order ?? 0, delta ?? 0, rule ?? "", medium ?? "", precision]);
}

/** Everything: stencil, variant, precision, grid, boundary and steps. */
export function problemKey(problem: ProfileProblem): string {
  const { grid, boundary, steps } = problem;
  return JSON.stringify([stencilKey(problem), ...grid, boundary, steps]);
}
