/**
 * A profile's problem as one that can be computed.
 *
 * @module
 */
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { BOUNDARIES, type Problem } from "../../kernels/stencils/stencil.ts";
import type { ProfileProblem } from "./schema.ts";

/**
 * The problem that a profile names; its time step, which no rate depends on, is the default one.
 *
 * @returns undefined where this Facet has no such stencil, variant or boundary
 */
export function problemOf(
  { stencil, boundary, grid, steps, ...rest }: ProfileProblem,
): Problem | undefined {
  const equation = EQUATIONS.find(({ name }) => name === stencil);
  if (equation === undefined) return undefined;
  const { variant: choice } = equation;
  const given = choice && rest[choice.name];
  const variant = given === undefined ? choice?.default : choice?.read(`${given}`);
  if (choice !== undefined && variant === undefined) return undefined;
  const made = equation.create(variant);
  const known = (made.boundaries ?? BOUNDARIES).find((name) => name === boundary);
  return known && { stencil: made, grid: [...grid], boundary: known, steps };
}
