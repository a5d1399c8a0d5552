import type { FloatArray } from "../../kernels/precision.ts";
import {
  fillProfile,
  initialProfiles,
  packProfiles,
  type ProfilePlace,
  profilesOf,
  type ProfileValues,
} from "../../kernels/axis_profiles.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import type { Update } from "../../kernels/update.ts";

/** The axis profiles of a field, which may be a part of a grid: what they become is carried to where kernels read them. */
export class HeldProfiles {
  /** Each profile's values, at the field's own cells. */
  values: ProfileValues = [];
  #place: ProfilePlace = {};

  /** @param carry takes them packed as `kernels/axis_profiles.ts` says */
  constructor(
    readonly problem: Pick<Problem, "grid" | "boundary"> & { readonly stencil: Pick<Stencil, "update"> },
    readonly carry: (packed: FloatArray<ArrayBuffer>) => void,
  ) {
    this.start({});
  }

  get update(): Update {
    return this.problem.stencil.update;
  }

  /** Sets all to what they start from, where the field lies in the whole grid. */
  start(place: ProfilePlace): void {
    this.#place = place;
    this.take(initialProfiles(this.update, this.problem.grid, place));
  }

  /** Sets one to a function of the index along its axis in the whole grid, which gets it for x, y and z. */
  set(profile: number, valueAt: (x: number, y: number, z: number) => number): void {
    const { update, problem: { grid } } = this, place = { ...this.#place, ...update };
    const { axis } = profilesOf(update)[profile]!;
    this.take(this.values.with(profile, fillProfile(axis, grid, place, (i) => valueAt(i, i, i))));
  }

  /** Sets all to those of another field of the same cells. */
  take(values: ProfileValues): void {
    this.values = values;
    if (values.length > 0) this.carry(packProfiles(this.update, this.problem, values));
  }
}
