import { EQUATIONS } from "../../kernels/stencils/all.ts";
import {
  type Boundaries,
  isBoundaryOf,
  type Problem,
  shortBoundary,
} from "../../kernels/stencils/stencil.ts";
import { firstIssue } from "./check_record.ts";
import { VARIANTS } from "./describe.ts";
import { problemSchema, type ProfileProblem } from "./schema.ts";

/** A problem as profiles name it, whether or not one can store it. */
export function describeProblem({ stencil, grid, boundary, steps }: Problem): ProfileProblem {
  const { name, variant } = stencil;
  return {
    stencil: name,
    ...variant,
    grid: [...grid],
    boundary: shortBoundary(boundary),
    precision: "f32",
    steps,
  };
}

/** Why a profile cannot store results of this problem, reported before a search begins; undefined if it can. */
export function whyNotStorable(problem: Problem): string | undefined {
  const unknown = Object.keys(problem.stencil.variant).find((name) => !VARIANTS.includes(name));
  if (unknown !== undefined) {
    return `a profile stores only these variants of a stencil: ${VARIANTS.join(", ")}: found ${unknown}`;
  }
  const record = describeProblem(problem);
  const { error } = problemSchema.safeParse(record);
  return error && `a profile cannot store the problem: ${firstIssue(error, record)}`;
}

/**
 * The problem that a profile names, with the default time step (no rate depends on it); undefined if this Facet has no
 * such stencil, variant or boundary.
 */
export function problemOf({ stencil, boundary, grid, steps, ...rest }: ProfileProblem): Problem | undefined {
  const equation = EQUATIONS.find(({ name }) => name === stencil);
  if (equation === undefined) return undefined;
  const { variant: choice } = equation;
  const given = choice && rest[choice.name];
  const variant = given === undefined ? choice?.default : choice?.read(`${given}`);
  if (choice !== undefined && variant === undefined) return undefined;
  const made = equation.create(variant);
  const problem = { stencil: made, grid, boundary: boundary as Boundaries, steps };
  return isBoundaryOf(made, problem.boundary) ? problem : undefined;
}

/** A text that two problems share exactly if their stencil, its variant and the precision are the same. */
export function stencilKey(problem: ProfileProblem): string {
  const { stencil, precision, grid: _grid, boundary: _boundary, steps: _steps, ...variant } = problem;
  const values = Object.entries(variant).filter(([, value]) => value !== undefined);
  return JSON.stringify([stencil, precision, values.sort(([a], [b]) => a < b ? -1 : 1)]);
}

/** A text that two problems share exactly if they are the same. */
export function problemKey(problem: ProfileProblem): string {
  const { grid, boundary, steps } = problem;
  return JSON.stringify([stencilKey(problem), ...grid, shortBoundary(boundary), steps]);
}

/** Whether both are the same problem: stencil and its variant, grid, boundary, precision and steps. */
export function isSameProblem(one: ProfileProblem, other: ProfileProblem): boolean {
  return problemKey(one) === problemKey(other);
}
