/**
 * Images of a grid in cells that a traversal has beyond its ends.
 *
 * @module
 */
import type { Boundary } from "../stencils/stencil.ts";
import { plus } from "../wgsl/declare.ts";

/** Text of the cell that one of an axis of n cells, `beyond` more on either side, is an image of. */
export function imageText(name: string, n: number, beyond: number, boundary: Boundary): string {
  if (boundary === "zero") return name;
  const period = boundary === "periodic" ? n : Math.max(1, 2 * (n - 1));
  const folded = `(${plus(name, Math.ceil(beyond / period) * period - beyond)}) % ${period}`;
  return plus(boundary === "periodic" ? folded : `min(${folded}, ${period} - ${folded}) % ${n}`, beyond);
}
