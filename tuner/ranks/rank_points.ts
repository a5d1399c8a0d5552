import { profilesOf, type ProfileValues } from "../../kernels/axis_profiles.ts";
import { type Point, samplesIn } from "../../kernels/points.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { firstOf, partOfRank, type RankPlan } from "../../models/rank_part.ts";
import { pointsIn, pointsOfParts, type WatchedPoints } from "../devices/points.ts";
import type { PartField } from "../devices/shared/part_field.ts";
import type { World } from "./world.ts";

/** Tag of values of points. */
const POINTS = 7;

/**
 * The points of a grid that ranks share: each rank adds in its ghost zones too and records its own cells. It keeps what it
 * recorded until rank 0 collects it, so that sums over cells of several ranks are the same on any number of ranks.
 */
export class RankPoints {
  #points: WatchedPoints | undefined;
  #kept: Float32Array<ArrayBuffer>[] = [];
  /** The step from which on it was kept. */
  #start = 0;

  constructor(
    readonly world: World,
    readonly problem: Problem,
    readonly plan: RankPlan,
    readonly field: PartField,
  ) {}

  get step(): number {
    return this.field.step;
  }

  /** The axis profiles of the whole grid, as far as this rank has them. */
  get profiles(): { readonly values: ProfileValues } {
    const { problem: { stencil: { update }, grid }, field: { place, profiles } } = this;
    const values = profilesOf(update).map(({ axis }, profile) => {
      const all = new Float32Array(grid[axis]), first = firstOf(place)[axis];
      profiles.values[profile]!.forEach((value, i) => all[(first + i + all.length) % all.length] = value);
      return all;
    });
    return { values };
  }

  /** Makes this rank's field add and record from now on; what was not collected is forgotten. */
  async watch(points: WatchedPoints | undefined): Promise<void> {
    [this.#points, this.#kept, this.#start] = [points, [], this.step];
    const [mine] = points === undefined ? [] : pointsOfParts(points, [this.field.place]);
    await this.field.watch(mine && { ...mine, take: (_, values) => void this.#kept.push(values.slice()) });
  }

  /** Hands over on rank 0 what all ranks have recorded. */
  async collect(): Promise<void> {
    if (this.#points === undefined) return;
    const { recorded, every } = this.#points, start = this.#start;
    const own = new Float32Array(await new Blob(this.#kept.splice(0)).arrayBuffer());
    const all = await this.#gather(recorded, own, samplesIn(start, this.step - start, every));
    this.#start = this.step;
    if (all !== undefined && all.length > 0) this.#points.take(Math.floor(start / every) + 1, all);
  }

  /** The values that cells have now: on rank 0 of all, on others of those in their own parts and, of materials, around. */
  async sample(cells: readonly Point[]): Promise<Float32Array> {
    const { field } = this, { points, rows } = pointsIn(cells, field.place, false);
    const found = await field.sample(points), values = new Float32Array(cells.length);
    rows.forEach((row, i) => values[row] = found[i]!);
    const own = pointsIn(cells, field.place, true).rows.map((row) => values[row]!);
    return await this.#gather(cells, Float32Array.from(own), 1) ?? values;
  }

  /** Values of points, a row a sample, from those of each rank's own cells: all of them on rank 0. */
  async #gather(points: readonly Point[], own: Float32Array<ArrayBuffer>, samples: number) {
    const { world, problem, plan } = this;
    if (world.rank > 0) {
      if (own.length > 0) await world.finish([world.send(0, POINTS, own)]);
      return undefined;
    }
    const all = new Float32Array(samples * points.length);
    for (let rank = 0; rank < world.size; rank++) {
      const place = { part: partOfRank(problem, plan, rank), whole: problem.grid };
      const { rows } = pointsIn(points, place, true);
      const values = rank === 0 ? own : new Float32Array(samples * rows.length);
      if (rank > 0 && values.length > 0) await world.finish([world.receive(rank, POINTS, values)]);
      values.forEach((value, i) => {
        all[Math.floor(i / rows.length) * points.length + rows[i % rows.length]!] = value;
      });
    }
    return all;
  }
}
