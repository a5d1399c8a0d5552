import { type FloatArray, zeros } from "../../kernels/precision.ts";
import { checkOptions } from "../../kernels/check_options.ts";
import { wholeFields } from "../../kernels/layers.ts";
import {
  type Grid,
  innerOf,
  type OwnGrid,
  ownOf,
  planned,
  type Problem,
} from "../../kernels/stencils/stencil.ts";
import { gridOf } from "../../models/decomposition.ts";
import { slicesAtOnce } from "../devices/shared/part_field.ts";
import type { SharedField } from "../devices/shared/shared_field.ts";
import type { CellBox } from "../devices/survey.ts";
import { describeValue } from "../format.ts";
import { refuserOf } from "../problem/request_error.ts";
import { agree } from "./agree.ts";
import { areFinite } from "./finite.ts";

/** A field at one time. */
export interface Snapshot {
  /** t: steps since the initial state. */
  readonly step: number;
  /** Values along x, y, z, in two dimensions along x, y. */
  readonly size: OwnGrid;
  /** Dense: x slowest, the last axis fastest. */
  readonly values: FloatArray<ArrayBuffer>;
}

/** Which snapshots are taken. */
export interface SnapshotOptions {
  /** Steps from one to the next; the first is at a multiple of it. */
  readonly every: number;
  /** Its cells. @default {the whole grid} */
  readonly box?: CellBox;
  /** Of the box's cells every `stride`-th along each axis. @default {1} */
  readonly stride?: number;
  /** Takes one; the run goes on when it has ended. It must not wait for the solver, whose calls come after the run. */
  onSnapshot(snapshot: Snapshot): void | Promise<void>;
}

/** The snapshots of a solver. */
export class Snapshots {
  readonly #wanted: (Required<SnapshotOptions> & { readonly plane: number; due: number })[] = [];

  /** @throws {RangeError} saying what is wrong */
  add(problem: Problem, name: string, options: SnapshotOptions, step: number): void {
    const { stencil, stencil: { update } } = problem, grid = ownOf(stencil, innerOf(problem).size);
    checkOptions("add the snapshots", options, ["every", "box", "stride", "onSnapshot"]);
    const { every, onSnapshot, stride = 1, box = { low: ownOf(stencil, [0, 0, 0]), size: grid } } = options;
    const refuse = refuserOf("add the snapshots"), fields = wholeFields(update), plane = fields.indexOf(name);
    if (plane < 0) refuse(`the name must be one of ${fields.join(", ")}`, describeValue(name));
    for (const [what, value] of Object.entries({ every, stride })) {
      if (!(Number.isSafeInteger(value) && value >= 1)) {
        refuse(`${what} must be a whole number from 1 up`, describeValue(value));
      }
    }
    const isInside = (box.low?.length ?? 0) === grid.length && [...grid].every((cells, axis) => {
      const low = box.low?.[axis], size = box.size?.[axis];
      const areWhole = Number.isInteger(low) && Number.isInteger(size);
      return areWhole && low! >= 0 && size! >= 1 && low! + size! <= cells;
    });
    if (!isInside) refuse(`the box must lie within the ${grid.join(" × ")} cells`, describeValue(box));
    if (typeof onSnapshot !== "function") refuse("onSnapshot must be a function", describeValue(onSnapshot));
    this.#wanted.push({ every, stride, onSnapshot, box, plane, due: Math.ceil(step / every) * every });
  }

  /** The step of the next one. */
  get due(): number {
    return Math.min(Infinity, ...this.#wanted.map(({ due }) => due));
  }

  /** Begins anew at t = 0. */
  restart(): void {
    for (const wanted of this.#wanted) wanted.due = 0;
  }

  clear(): void {
    this.#wanted.length = 0;
  }

  /** Hands over those of a field's step; `require` throws where they are not finite. */
  async take(
    field: SharedField,
    require: (areFinite: boolean) => Promise<void>,
  ): Promise<void> {
    const { step, problem, problem: { stencil }, world: { rank } } = field, first = innerOf(problem).low;
    for (const wanted of this.#wanted) {
      if (wanted.due > step) continue;
      wanted.due = step + wanted.every;
      const named = planned<number>(stencil, wanted.box.low, 0),
        all = planned<number>(stencil, wanted.box.size, 1);
      const low = gridOf((axis) => first[axis] + named[axis]);
      const { stride, plane } = wanted;
      const size = all.map((cells) => Math.ceil(cells / stride)) as readonly number[] as Grid;
      const values = zeros(stencil.update, size[0] * size[1] * size[2]), [nx, ny, nz] = all;
      const atOnce = stride * slicesAtOnce([nx, stride * ny, nz]);
      for (let x = 0, i = 0; x < nx; x += atOnce) {
        const slices = Math.min(atOnce, nx - x), cells = zeros(stencil.update, slices * ny * nz);
        const box = { low: [low[0] + x, low[1], low[2]], size: [slices, ny, nz] } as const;
        await field.readBox({ ...box, ago: 0, plane, planes: 1 }, cells);
        for (let slice = 0; slice < slices; slice += stride) {
          for (let y = 0; y < ny; y += stride) {
            for (let z = 0; z < nz; z += stride) values[i++] = cells[(slice * ny + y) * nz + z]!;
          }
        }
      }
      await require(areFinite(values));
      // other ranks have none of them
      await agree(field.world, async () => {
        if (rank === 0) await wanted.onSnapshot({ step, size: ownOf(stencil, size), values });
      });
    }
  }
}
