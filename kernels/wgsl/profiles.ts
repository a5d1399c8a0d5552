/**
 * Axis profiles on a GPU: a scratch buffer holds them packed, and shaders read them by indices of the cell.
 *
 * @module
 */
import { layProfiles } from "../axis_profiles.ts";
import type { Algebra, ProfileTap } from "../expression.ts";
import type { Grid, Problem } from "../stencils/stencil.ts";
import { profileTapsOf, type Substep, type Update } from "../update.ts";
import { lanesOf, plus } from "./declare.ts";
import { declareBuffer } from "./shader.ts";
import type { Scratch } from "../traversals/storage.ts";

/** The scratch buffer of an update's axis profiles; none for an update without. */
export function profileBuffers({ stencil: { update }, grid }: Pick<Problem, "stencil" | "grid">): Scratch[] {
  const { length } = layProfiles(update, grid);
  return length === 0 ? [] : [{ name: "profiles", length, lives: "profiles" }];
}

/** Values of a uniform that every device binds: 64 KiB. */
const UNIFORM_VALUES = 2 ** 14;

/** How a shader finds axis profiles. */
export type ProfileAccess = ReturnType<typeof profileAccess>;

/**
 * What of axis profiles a shader declares, and how it reads them.
 *
 * @param grid the whole of what a plan computes; `of`: what the shader computes; `width`: cells of a thread along z, from the
 *   index on; `still`: by axis, the index that a thread keeps while it moves; `hasAlike`: of x and y values are alike for all
 *   threads, and come from a uniform that takes no registers, where one holds them
 */
export function profileAccess(
  update: Update,
  grid: Grid,
  { of = update, width = 1, still = [], hasAlike = false }: {
    readonly of?: Update | Substep;
    readonly width?: number;
    readonly still?: readonly (string | undefined)[];
    readonly hasAlike?: boolean;
  } = {},
) {
  const { starts, length } = layProfiles(update, grid), taps = profileTapsOf(of);
  const isAlike = hasAlike && length <= UNIFORM_VALUES && taps.some(({ axis }) => axis < 2);
  const alike = { space: "uniform", as: "alike" };
  const element = ({ profile, axis, offset }: ProfileTap, index: string): string => {
    const at = (lane: number) => plus(index, starts[profile]! + offset + lane);
    if (axis === 2) return lanesOf("f32", width, (lane) => `profiles[${at(lane)}]`);
    return isAlike ? `alike[(${at(0)}) >> 2][(${at(0)}) & 3]` : `profiles[${at(0)}]`;
  };
  const nameOf = ({ profile, offset }: ProfileTap) => `q${profile}_${offset < 0 ? `m${-offset}` : offset}`;
  return {
    declarations: [
      ...taps.length > 0 ? [declareBuffer("profiles", "array<f32>", { space: "storage, read" })] : [],
      ...isAlike ? [declareBuffer("profiles", `array<vec4f, ${length / 4}>`, alike)] : [],
    ].join("\n"),
    /** Lines that read once what a thread needs along axes where it stays. */
    start: taps.filter(({ axis }) => still[axis] !== undefined)
      .map((tap) => `let ${nameOf(tap)} = ${element(tap, still[tap.axis]!)};`),
    /** Texts of profiles in the cell of these indices; those after the last along which a thread moves may be left out. */
    read: (cell: readonly string[]): NonNullable<Algebra<string>["profile"]> => (tap) =>
      still[tap.axis] === undefined ? element(tap, cell[tap.axis]!) : nameOf(tap),
  };
}
