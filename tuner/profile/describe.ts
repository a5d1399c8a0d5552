import type { ProfileProblem } from "./schema.ts";

/** A profile's problem in one line: `wave, order 4, grid 64x32x16, zero boundary, 96 steps`. */
export function describeProfileProblem(
  { stencil, order, delta, grid, boundary, steps }: ProfileProblem,
): string {
  const variant = order !== undefined ? `, order ${order}` : delta !== undefined ? `, δ ${delta}` : "";
  return `${stencil}${variant}, grid ${grid.join("x")}, ${boundary} boundary, ${steps} ${
    steps === 1 ? "step" : "steps"
  }`;
}
