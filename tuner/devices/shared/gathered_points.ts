import { type FloatArray, type Precision, precisionOf } from "../../../kernels/precision.ts";
import { type Point, samplesIn } from "../../../kernels/points.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { partOfRank, type RankPlan } from "../../../models/rank_part.ts";
import { pointsIn, pointsOfParts, type WatchedPoints } from "../points.ts";
import type { World } from "../world.ts";
import type { PartField } from "./part_field.ts";

/** Tag of values of points. */
const POINTS = 7;

/**
 * The points of a grid in parts: each part adds in its ghost zones too and records its own cells. Of several ranks each
 * keeps what it recorded until rank 0 collects it, so that sums over cells of several ranks are the same on any number of
 * ranks.
 */
export class GatheredPoints {
  #points: WatchedPoints | undefined;
  #kept: FloatArray<ArrayBuffer>[] = [];
  /** The step from which on it was kept. */
  #start = 0;

  constructor(
    readonly world: World,
    readonly problem: Problem,
    readonly plan: RankPlan,
    readonly parts: readonly PartField[],
  ) {}

  get #Values(): Precision["Values"] {
    return precisionOf(this.problem.stencil.update).Values;
  }

  get #step(): number {
    return this.parts[0]!.field.step;
  }

  /** Makes the parts add and record from now on; what was not collected is forgotten. */
  async watch(points: WatchedPoints | undefined): Promise<void> {
    const { world, parts } = this, places = parts.map(({ place }) => place);
    if (world.size === 1 && parts.length === 1) return await parts[0]!.field.watch(points);
    [this.#points, this.#kept, this.#start] = [points, [], this.#step];
    const isKept = world.size > 1, its = points && this.#rowsOf(points.recorded, world.rank);
    const each = points && pointsOfParts(
      !isKept ? points : {
        ...points,
        recorded: its!.map((row) => points.recorded[row]!),
        take: (_, values) => void this.#kept.push(values.slice()),
      },
      places,
      this.problem.stencil.update,
    );
    for (const [i, part] of parts.entries()) await part.field.watch(each?.[i]);
  }

  /** Forgets what was recorded before the field began anew. */
  restart(): void {
    [this.#kept, this.#start] = [[], this.#step];
  }

  /** Hands over on rank 0 what all ranks have recorded. */
  async collect(): Promise<void> {
    if (this.#points === undefined || this.world.size === 1) return;
    const { recorded, every } = this.#points, start = this.#start;
    const own = new this.#Values(await new Blob(this.#kept.splice(0)).arrayBuffer());
    const all = await this.#gather(recorded, own, samplesIn(start, this.#step - start, every));
    this.#start = this.#step;
    if (all !== undefined && all.length > 0) this.#points.take(Math.floor(start / every) + 1, all);
  }

  /** The values that cells have now, on every rank. */
  async sample(cells: readonly Point[]): Promise<FloatArray> {
    const { world } = this, values = new this.#Values(cells.length);
    if (world.size === 1 && this.parts.length === 1) return await this.parts[0]!.sample(cells);
    for (const part of this.parts) {
      const { points, rows } = pointsIn(cells, part.place, true);
      const found = points.length === 0 ? [] : await part.sample(points);
      rows.forEach((row, i) => values[row] = found[i]!);
    }
    if (world.size === 1 || cells.length === 0) return values;
    const own = this.#rowsOf(cells, world.rank).map((row) => values[row]!);
    const all = await this.#gather(cells, this.#Values.from(own), 1);
    if (all === undefined) {
      await world.finish([world.receive(0, POINTS, values)]);
      return values;
    }
    const others = [...Array(world.size).keys()].slice(1);
    await world.finish(others.map((rank) => world.send(rank, POINTS, all)));
    return all;
  }

  /** The rows of points whose cells a rank computes. */
  #rowsOf(points: readonly Point[], rank: number): number[] {
    const { problem, plan } = this;
    return pointsIn(points, { part: partOfRank(problem, plan, rank), whole: problem.grid }, true).rows;
  }

  /** Values of points, a row a sample, from those of each rank's own cells: all of them on rank 0. */
  async #gather(points: readonly Point[], own: FloatArray<ArrayBuffer>, samples: number) {
    const { world } = this;
    if (world.rank > 0) {
      if (own.length > 0) await world.finish([world.send(0, POINTS, own)]);
      return undefined;
    }
    const all = new this.#Values(samples * points.length);
    for (let rank = 0; rank < world.size; rank++) {
      const rows = this.#rowsOf(points, rank);
      const values = rank === 0 ? own : new this.#Values(samples * rows.length);
      if (rank > 0 && values.length > 0) await world.finish([world.receive(rank, POINTS, values)]);
      values.forEach((value, i) => {
        all[Math.floor(i / rows.length) * points.length + rows[i % rows.length]!] = value;
      });
    }
    return all;
  }
}
