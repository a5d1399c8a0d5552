/**
 * Why traversals have no configuration for a problem; of a line that they cannot cut, which lengths nearest to it
 * they can.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import type { DeviceLimits, Traversal } from "../../kernels/traversals/traversal.ts";
import { combine } from "../../kernels/traversals/combine.ts";
import type { Space } from "../search/space.ts";

/** How far from the wanted number of points to look for numbers that work. */
const FURTHEST = 8192;

/** A traversal without a configuration, and why. */
export interface LeftOut {
  readonly traversal: string;
  readonly reason: string;
}

/** Whether any of the traversals has a configuration for a problem. */
export function canRun(problem: Problem, traversals: readonly Traversal[], limits: DeviceLimits): boolean {
  return traversals.some((traversal) => {
    if (traversal.refuse(problem) !== undefined) return false;
    for (const parameters of combine(traversal.parameterLists(problem, limits))) {
      if (traversal.infeasible(problem, parameters, limits) === undefined) return true;
    }
    return false;
  });
}

/**
 * Why none of these traversals, which sweep lines, can cut this one: `cannot cut 1000 points into nodes: the nearest that
 * work: 992 and 1008`.
 */
export function describeCut(
  problem: Problem,
  traversals: readonly Traversal[],
  limits: DeviceLimits,
): string {
  const points = problem.grid[2];
  const near = [-1, 1].flatMap((side) => {
    for (let distance = 1; distance <= FURTHEST; distance++) {
      const other = points + side * distance;
      if (other < 1) break;
      if (canRun({ ...problem, grid: [1, 1, other] }, traversals, limits)) return [other];
    }
    return [];
  });
  const nearest = near.length === 0 ? `none within ${FURTHEST} points` : near.join(" and ");
  return `cannot cut ${points} points into nodes: the nearest that work: ${nearest}`;
}

/** The traversals of a space that have no candidate in it: refused, or without feasible parameters. */
export function leftOut(
  problem: Problem,
  { candidates, refused, infeasible }: Pick<Space, "candidates" | "refused" | "infeasible">,
  limits: DeviceLimits,
): LeftOut[] {
  const tried = new Set(candidates.map(({ traversal }) => traversal.name));
  return [
    ...refused,
    ...infeasible.filter(({ traversal }) => !tried.has(traversal)).map(({ traversal, example }) => ({
      traversal,
      reason: problem.stencil.dimensions === 1
        ? describeCut(problem, [traversalNamed(traversal)], limits)
        : example,
    })),
  ];
}
