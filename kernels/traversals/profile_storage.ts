/**
 * Axis profiles on a GPU: a scratch buffer holds them packed, and shaders read them by indices of the cell.
 *
 * @module
 */
import { layProfiles, profileReads } from "../axis_profiles.ts";
import type { Algebra } from "../expression.ts";
import type { Grid, Problem } from "../stencils/stencil.ts";
import { profileTapsOf, type Substep, type Update } from "../update.ts";
import { lanesOf, plus } from "../wgsl/declare.ts";
import { declareBuffer } from "../wgsl/shader.ts";
import type { Scratch } from "./storage.ts";

/** The scratch buffer of an update's axis profiles; none for an update without. */
export function profileBuffers({ stencil: { update }, grid }: Pick<Problem, "stencil" | "grid">): Scratch[] {
  const { length } = layProfiles(update, grid);
  return length === 0 ? [] : [{ name: "profiles", length, lives: "profiles" }];
}

/** The buffer in a shader that reads profiles; nothing in others. */
export function declareProfiles(of: Update | Substep): string {
  if (profileTapsOf(of).length === 0) return "";
  return declareBuffer("profiles", "array<f32>", { space: "storage, read" });
}

/** Values of a uniform that every device binds: 64 KiB. */
const UNIFORM_VALUES = 2 ** 14;

/**
 * The same buffer once more, as a uniform: values that are alike for all threads come from there
 * without taking registers. Nothing where there are none, or where a uniform does not hold the buffer.
 */
export function declareAlike(update: Update, grid: Grid): string {
  const { length } = layProfiles(update, grid), isAny = profileReads(update).some(({ axis }) => axis < 2);
  if (!isAny || length > UNIFORM_VALUES) return "";
  return declareBuffer("profiles", `array<vec4f, ${length / 4}>`, { space: "uniform", as: "alike" });
}

/** Texts that read profiles in a step's shader on slices of a grid, from the `first` on. */
export function stepProfile({ stencil: { update }, grid }: Problem, first = 0): ProfileReader {
  return profileElement(update, grid, [plus("x", first), "y", "z"]);
}

type ProfileReader = NonNullable<Algebra<string>["profile"]>;

/**
 * Texts that read profiles at the cell of these indices along x, y, z.
 *
 * @param grid the whole of what a plan computes; `width`: cells of a thread along z, from the index on; `hasAlike`: those
 *   along x and y come from {@linkcode declareAlike}'s uniform
 */
export function profileElement(
  update: Update,
  grid: Grid,
  indices: readonly [x: string, y: string, z: string],
  width = 1,
  hasAlike = false,
): ProfileReader {
  const { starts } = layProfiles(update, grid);
  return ({ profile, axis, offset }) => {
    const at = (lane: number) => plus(indices[axis], starts[profile]! + offset + lane);
    if (axis === 2) return lanesOf("f32", width, (lane) => `profiles[${at(lane)}]`);
    return hasAlike ? `alike[(${at(0)}) >> 2][(${at(0)}) & 3]` : `profiles[${at(0)}]`;
  };
}
