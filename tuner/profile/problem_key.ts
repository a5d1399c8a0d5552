/**
 * Texts that two problems of profiles share exactly if they are the same.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { ProfileProblem } from "./profile_types.ts";

/** The stencil with its variant (order, delta, rule, medium), and the precision. */
export function stencilKey(problem: ProfileProblem): string {
  const { stencil, precision, grid: _grid, boundary: _boundary, steps: _steps, ...variant } = problem;
  const values = Object.entries(variant).filter(([, value]) => value !== undefined);
  return JSON.stringify([stencil, precision, values.sort(([a], [b]) => a < b ? -1 : 1)]);
}

/** Everything: stencil, variant, precision, grid, boundary and steps. */
export function problemKey(problem: ProfileProblem): string {
  const { grid, boundary, steps } = problem;
  return JSON.stringify([stencilKey(problem), ...grid, boundary, steps]);
}

/** A problem as profiles name it, whether or not its stencil is one of those that profiles know. */
export function nameProblem({ stencil: { name, variant }, grid, boundary, steps }: Problem): ProfileProblem {
  return { ...variant, stencil: name, grid, boundary, precision: "f32", steps };
}
