/**
 * Images of a grid in cells that a traversal has beyond its ends.
 *
 * @module
 */
import type { Refusal } from "../capability.ts";
import { alongAxes, type Boundary, ownBoundary, type Problem } from "../stencils/stencil.ts";
import { isMirrored } from "../update.ts";
import { plus } from "../wgsl/declare.ts";

/** Text of the cell that one of an axis of n cells, `beyond` more on either side, is an image of. */
export function imageText(name: string, n: number, beyond: number, boundary: Boundary): string {
  if (boundary === "zero") return name;
  const period = boundary === "periodic" ? n : Math.max(1, 2 * (n - 1));
  const folded = `(${plus(name, Math.ceil(beyond / period) * period - beyond)}) % ${period}`;
  return plus(boundary === "periodic" ? folded : `min(${folded}, ${period} - ${folded}) % ${n}`, beyond);
}

/** Refuses insulated ends for an equation that is unlike its mirror image there; undefined where it is like it. */
export function refuseUnlike(problem: Problem): Refusal | undefined {
  const along = alongAxes(problem.boundary), { stencil: { update } } = problem;
  if (([0, 1, 2] as const).every((axis) => along[axis] !== "insulated" || isMirrored(update, axis))) {
    return undefined;
  }
  const message = "a torre computes beyond insulated ends, and the equation is not its own mirror image";
  return { kind: "boundary", message: `the boundary is ${ownBoundary(problem)}: ${message}` };
}
