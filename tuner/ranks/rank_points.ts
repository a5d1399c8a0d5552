import { profilesOf } from "../../kernels/axis_profiles.ts";
import { type Point, samplesIn } from "../../kernels/points.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { firstOf, partOfRank, type Place, type RankPlan } from "../../models/rank_part.ts";
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
  readonly #world: World;
  readonly #problem: Problem;
  /** Where the ranks' parts lie. */
  readonly #places: readonly Place[];
  #points: WatchedPoints | undefined;
  /** The step from which on this rank has kept what its cells recorded. */
  #start = 0;
  #kept: Float32Array[] = [];

  constructor(world: World, problem: Problem, plan: RankPlan) {
    this.#world = world;
    this.#problem = problem;
    this.#places = plan.extents.map((_, rank) => {
      return { part: partOfRank(problem, plan, rank), whole: problem.grid };
    });
  }

  /** Makes this rank's field add and record, after what it recorded before was collected. */
  async watch(field: PartField, points: WatchedPoints | undefined): Promise<void> {
    this.#points = points;
    this.#start = field.step;
    this.#kept = [];
    const [mine] = points === undefined ? [] : pointsOfParts(points, [field.place]);
    await field.watch(mine && { ...mine, take: (_, values) => void this.#kept.push(values.slice()) });
  }

  /** Hands over on rank 0 what all ranks have recorded up to a step. */
  async collect(step: number): Promise<void> {
    const points = this.#points, kept = this.#kept;
    if (points === undefined) return;
    const { recorded, every } = points, start = this.#start, samples = samplesIn(start, step - start, every);
    const own = new Float32Array(kept.reduce((sum, { length }) => sum + length, 0));
    for (let at = 0; kept.length > 0; at += kept.shift()!.length) own.set(kept[0]!, at);
    this.#start = step;
    const all = await this.#gather(recorded, own, samples);
    if (all !== undefined && all.length > 0) points.take(Math.floor(start / every) + 1, all);
  }

  /** The values that cells have now: on rank 0 of all, on others of those in their own parts and, of materials, around. */
  async sample(field: PartField, cells: readonly Point[]): Promise<Float32Array> {
    const { points, rows } = pointsIn(cells, field.place, false), values = new Float32Array(cells.length);
    const found = points.length === 0 ? [] : await field.sample(points);
    rows.forEach((row, i) => values[row] = found[i]!);
    const own = pointsIn(cells, field.place, true).rows.map((row) => values[row]!);
    return await this.#gather(cells, Float32Array.from(own), 1) ?? values;
  }

  /** The values of an axis profile in the whole grid, as far as this rank has them. */
  readProfile({ profiles, place }: PartField, profile: number): Float32Array {
    const { stencil: { update }, grid } = this.#problem, { axis } = profilesOf(update)[profile]!;
    const all = new Float32Array(grid[axis]), first = firstOf(place)[axis];
    profiles.values[profile]!.forEach((value, i) => all[(first + i + all.length) % all.length] = value);
    return all;
  }

  /** Values of points, a row a sample, from those of each rank's own cells: all of them on rank 0. */
  async #gather(
    points: readonly Point[],
    own: Float32Array<ArrayBuffer>,
    samples: number,
  ): Promise<Float32Array | undefined> {
    const world = this.#world;
    if (world.rank > 0) {
      if (own.length > 0) await world.finish([world.send(0, POINTS, own)]);
      return undefined;
    }
    const all = new Float32Array(samples * points.length);
    for (const [rank, place] of this.#places.entries()) {
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
