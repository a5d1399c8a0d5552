import { refusalOf } from "../../kernels/capability.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import { combine, type DeviceLimits, feasible, type Traversal } from "../../kernels/traversals/traversal.ts";
import type { Space } from "../search/space.ts";

/** Whether any of the traversals has a configuration for a problem. */
export function canRun(problem: Problem, traversals: readonly Traversal[], limits: DeviceLimits): boolean {
  return traversals.some((traversal) =>
    refusalOf(traversal, problem, limits) === undefined && !feasible(traversal, problem, limits).next().done
  );
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
  /** The lengths that work, of those below or above that are the nearest for some parameters. */
  const lengths = (round: (nodes: number) => number): number[] =>
    traversals.flatMap((traversal) =>
      [...combine(traversal.parameterLists(problem, limits))].flatMap((parameters) => {
        const pitch = traversal.pitch?.(problem, parameters) ?? 1;
        const length = round(points / pitch) * pitch;
        const other: Problem = { ...problem, grid: [1, 1, length] };
        const works = length > 0 && refusalOf(traversal, other, limits) === undefined &&
          traversal.infeasible(other, parameters, limits) === undefined;
        return works ? [length] : [];
      })
    );
  const near = [Math.max(...lengths(Math.floor)), Math.min(...lengths(Math.ceil))].filter(Number.isFinite);
  const nearest = near.length === 0 ? "none" : near.join(" and ");
  return `cannot cut ${points} points into nodes: the nearest that work: ${nearest}`;
}

/** The traversals of a space that have no candidate in it: refused, or without feasible parameters; and why. */
export function leftOut(
  problem: Problem,
  { candidates, refused, infeasible }: Pick<Space, "candidates" | "refused" | "infeasible">,
  limits: DeviceLimits,
): Space["refused"] {
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
