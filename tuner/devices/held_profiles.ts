import {
  initialProfiles,
  inWhole,
  packProfiles,
  profilesOf,
  type ProfileValues,
} from "../../kernels/axis_profiles.ts";
import type { PartStart } from "../../kernels/initial_field.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";

/** What profiles are of: an update on the grid of a field, which may be a part of another. */
interface Whole extends Pick<Problem, "grid" | "boundary"> {
  readonly stencil: Pick<Problem["stencil"], "update">;
}

/** A field's axis profiles on the host; what they become is carried to where kernels read them. */
export class HeldProfiles {
  readonly #problem: Whole;
  readonly #carry: (packed: Float32Array<ArrayBuffer>) => void;
  #values: ProfileValues;
  #place: Pick<PartStart, "first" | "whole"> = {};

  /** @param carry takes them packed as `kernels/axis_profiles.ts` says */
  constructor(problem: Whole, carry: (packed: Float32Array<ArrayBuffer>) => void) {
    this.#problem = problem;
    this.#carry = carry;
    this.#values = initialProfiles(problem.stencil.update, problem.grid);
    this.#changed();
  }

  /** Sets all to what they start from, where the field lies in the whole grid. */
  start({ first, whole }: Pick<PartStart, "first" | "whole">): void {
    const place = { ...(first && { first }), ...(whole && { whole }) };
    this.#place = place;
    this.#values = initialProfiles(this.#problem.stencil.update, this.#problem.grid, place);
    this.#changed();
  }

  /** The values of a profile at the field's own cells. */
  values(profile: number): Float32Array<ArrayBuffer> {
    return this.#values[profile]!;
  }

  /** Sets a profile to values by the index along its axis in the whole grid. */
  set(profile: number, valueAt: (i: number) => number): void {
    const { stencil: { update }, grid } = this.#problem, { axis } = profilesOf(update)[profile]!;
    const { first = [0, 0, 0] as Grid, whole = grid } = this.#place, index = inWhole(axis, first, whole);
    const values = Float32Array.from({ length: grid[axis] }, (_, i) => valueAt(index(i)));
    this.#values = this.#values.with(profile, values);
    this.#changed();
  }

  /** Takes over all values of another field of the same problem. */
  copyFrom(other: HeldProfiles): void {
    this.#values = other.#values;
    this.#changed();
  }

  #changed(): void {
    if (this.#values.length === 0) return;
    this.#carry(packProfiles(this.#problem.stencil.update, this.#problem, this.#values));
  }
}
