import { type Grid, type OwnGrid, planned } from "../../kernels/stencils/stencil.ts";
import { refuserOf } from "../problem/request_error.ts";
import { checkEach, type NumberArray, rangeOf, type ValueRange } from "../files/npy.ts";

/** A number in every cell, such as the speed of sound in m/s. */
export interface VelocityModel extends ValueRange {
  /** Along x, y and z; in two dimensions 1 along y. */
  readonly grid: Grid;
  readonly dimensions: 2 | 3;
  readonly at: (x: number, y: number, z: number) => number;
}

/** Layers, of which the second ends at a dipping plane and the third has a lens in it. */
export function layeredModel(own: OwnGrid): VelocityModel {
  const grid = planned({}, own, 1);
  return {
    grid,
    dimensions: own.length,
    least: 1800,
    most: 3200,
    at(x, y, z) {
      const u = (x + 0.5) / grid[0], v = (y + 0.5) / grid[1], depth = (z + 0.5) / grid[2];
      const lens = ((u - 0.62) / 0.2) ** 2 + ((v - 0.5) / 0.25) ** 2 + ((depth - 0.57) / 0.05) ** 2;
      if (lens < 1) return 3000;
      return depth < 0.25 ? 1800 : depth < 0.35 + 0.18 * u - 0.08 * v ? 2200 : depth < 0.75 ? 2600 : 3200;
    },
  };
}

/** The model that a file holds: an array over x, y, z, or x and z, of numbers above 0; `orZero`: or 0. */
export function modelOf(
  { shape, values }: NumberArray,
  path: string,
  wanted = "velocities above 0 are wanted, in m/s",
  orZero = false,
): VelocityModel {
  const { length } = shape, refuse = refuserOf(`use ${path}`);
  if ((length !== 2 && length !== 3) || values.length === 0) {
    return refuse("cells along x, y, z or x, z are wanted", `the shape (${shape})`);
  }
  const isRight = (value: number) => (value > 0 || (orZero && value === 0)) && value < Infinity;
  checkEach({ shape, values }, isRight, (found) => refuse(wanted, found));
  const grid = planned({}, shape, 1), [, ny, nz] = grid;
  return { grid, dimensions: length, ...rangeOf(values), at: (x, y, z) => values[(x * ny + y) * nz + z]! };
}
