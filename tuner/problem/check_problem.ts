import { BOUNDARIES, type Problem } from "../../kernels/stencils/stencil.ts";
import { reachOf } from "../../kernels/update.ts";

/**
 * Refuses a problem of another program's making that makes no sense on any device.
 *
 * @param action what cannot be done, as `create the solver`
 * @throws {RangeError} saying what is wanted and what was found
 */
export function checkProblem(action: string, { stencil, grid, steps, boundary }: Problem): void {
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;
  const refuse = (what: string, found: unknown): never => {
    throw new RangeError(`Cannot ${action}: ${what}: found ${found}`);
  };
  if (grid.length !== 3 || !grid.every(isCount)) {
    refuse("a grid of three whole numbers from 1 up is wanted", grid.join("x"));
  }
  if (!isCount(steps)) refuse("steps must be a whole number from 1 up", steps);
  const { boundaries = BOUNDARIES, dimensions, title, update } = stencil;
  if (!boundaries.includes(boundary)) {
    refuse(`the boundary must be one of ${boundaries.join(", ")}`, boundary);
  }
  if (dimensions !== 1) return;
  const { z: reach } = reachOf(update);
  if (grid[0] !== 1 || grid[1] !== 1 || grid[2] <= reach) {
    refuse(`${title} wants a grid of 1x1xN with N of ${reach + 1} or more`, grid.join("x"));
  }
}
