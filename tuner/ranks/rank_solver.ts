import { profilesOf } from "../../kernels/axis_profiles.ts";
import type { FieldStart } from "../../kernels/initial_field.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { placed } from "../../kernels/update.ts";
import { type Axis, type Extent, gridOf } from "../../models/decomposition.ts";
import {
  type Box,
  type Exchange,
  exchangesOf,
  partOfRank,
  problemOfRank,
  type RankPart,
  type RankPlan,
} from "../../models/rank_part.ts";
import type { Configuration } from "../configuration.ts";
import { stateLevels } from "../devices/reference.ts";
import { Survey } from "../devices/survey.ts";
import { RequestError } from "../problem/request_error.ts";
import { checkSignals } from "../problem/resolve_problem.ts";
import { type CellRange, checked, checkStart, checkSteps, profileOf, rangeOf } from "../solver/cells.ts";
import { brokenError, findBroken, type HeldCells, isDue, misfitIn } from "../solver/finite.ts";
import type { CellsOptions, Solver } from "../solver/solver.ts";
import { piecesOf } from "../devices/shared/boxes.ts";
import { type PartField, readBox, writeBox, writeSlices } from "../devices/shared/part_field.ts";
import { makeParts } from "../devices/shared/shares.ts";
import type { RankDevice } from "./open_rank_device.ts";
import { RankPoints } from "./rank_points.ts";
import type { World } from "./world.ts";

/** What a run took. */
export interface RankRun {
  /** Time steps. */
  readonly steps: number;
  /** By the host's clock, of this rank. */
  readonly wallNs: number;
  /** Of it, the device's computing. */
  readonly computeNs: number;
  /** The rest: packing, waiting, sending and receiving. */
  readonly exchangeNs: number;
}

/** A field or material, and the level. */
export interface RankCells {
  /** The name of a field, the first unless given. */
  readonly name?: string;
  /** 0: F(t), 1: F(t−1). @default {0} */
  readonly ago?: 0 | 1;
}

/** A rank's part of a grid, its neighbours, and the steps and exchanges between them. */
export class RankSolver implements Disposable {
  /** What all ranks compute. */
  readonly problem: Problem;
  /** The ranks. */
  readonly world: World;
  /** How they share the grid. */
  readonly plan: RankPlan;
  /** @internal */
  readonly part: RankPart;
  /** How this rank computes. */
  readonly configuration: Configuration;
  readonly #field: PartField;
  readonly #survey: Survey;
  readonly #points: RankPoints;
  /** Whether the field knows the sources and receivers, and what materials make of them. */
  #isSurveyed = true;
  /** Whether the materials, as they are, make sense together. */
  #isFit = false;
  #step = 0;
  /** The last step at which all values of all ranks were finite. */
  #looked = 0;
  /** Steps that the ghost zones are still good for. */
  #fresh = 0;
  #axes: Side[][] | undefined;

  private constructor(
    parts: Pick<RankSolver, "problem" | "world" | "plan" | "part" | "configuration">,
    field: PartField,
  ) {
    ({ problem: this.problem, world: this.world, plan: this.plan, part: this.part } = parts);
    this.configuration = parts.configuration;
    this.#field = field;
    this.#survey = new Survey(this.problem);
    this.#points = new RankPoints(this.world, this.problem, this.plan, field);
  }

  /**
   * Takes the memory of this rank's part of a plan and compiles its kernels.
   *
   * @throws {RunFailure} if the device does not allow it
   */
  static async create(
    world: World,
    device: RankDevice,
    problem: Problem,
    { plan, choose }: { readonly plan: RankPlan; readonly choose: (part: Problem) => Configuration },
  ): Promise<RankSolver> {
    const part = partOfRank(problem, plan, world.rank);
    // checkpoints hold all cells of a field
    const local = { ...problemOfRank(problem, plan, part), isPart: true };
    const configuration = choose(local), place = { part, whole: problem.grid };
    const [field] = await makeParts(local, { ...device, configuration }, place);
    return new RankSolver({ problem, world, plan, part, configuration }, field!);
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.#step;
  }

  /** Sets both levels, materials and ghost zones too, and the time step. */
  async initialise(start: FieldStart): Promise<void> {
    checkStart(start);
    this.#survey.restart();
    await this.#points.watch(undefined);
    this.#isSurveyed = false;
    await this.#field.initialise(start);
    this.#step = this.#looked = start.step ?? 0;
    const { stencil: { update }, grid } = this.problem;
    for (const material of [...update.materials, ...profilesOf(update)]) {
      const values = placed(material, grid);
      if (values !== undefined) await this.#write({ name: material.name }, values);
    }
    this.#fresh = this.plan.exchangeEvery;
  }

  /** Sets all fields to zero, materials to the stencil's values, and the time step to 0. */
  async clear(): Promise<void> {
    await this.initialise({ kind: "zero", seed: 1 });
  }

  /** Adds sources as a solver does, to a problem that has a `survey`; every rank adds the same. */
  readonly addSources: Solver["addSources"] = (...all) =>
    this.#changeSurvey(() => this.#survey.addSources(...all));

  /** Adds receivers as a solver does, to a problem that has a `survey`; every rank adds the same. */
  readonly addReceivers: Solver["addReceivers"] = (name, positions, options = {}) => {
    // others have a part of what rank 0 gets
    const isLeftOut = this.world.rank > 0 && typeof options.onSamples === "function";
    const wanted = isLeftOut ? { ...options, onSamples: () => {} } : options;
    return this.#changeSurvey(() => this.#survey.addReceivers(name, positions, wanted));
  };

  async #changeSurvey(change: () => void): Promise<void> {
    if (this.problem.survey === undefined) {
      throw new RangeError("Cannot add sources or receivers: a problem with a survey is wanted: found none");
    }
    await this.#points.collect();
    change();
    this.#isSurveyed = false;
  }

  /**
   * What each receiver of the whole grid has recorded, in the order in which they were added, on rank 0; undefined on the
   * others. Until then every rank keeps what its own cells recorded: `onSamples` is called here, too. Every rank calls it.
   */
  async traces(): Promise<Float32Array<ArrayBuffer>[] | undefined> {
    return await this.#recorded(() => this.#survey.traces());
  }

  /** The sums of `Solver.spectra`, as {@linkcode traces}. */
  async spectra(): Promise<Float64Array<ArrayBuffer>[] | undefined> {
    return await this.#recorded(() => this.#survey.spectra());
  }

  async #recorded<T>(give: () => T): Promise<T | undefined> {
    await this.#announce();
    await this.#points.collect();
    this.#survey.check();
    return this.world.rank === 0 ? give() : undefined;
  }

  /** Sets all fields to zero and the time step to 0, and ends all sources and receivers; materials stay. */
  async reset(): Promise<void> {
    this.#survey.clear();
    await this.#points.watch(undefined);
    await this.#field.clear();
    this.#step = this.#looked = 0;
    this.#fresh = this.plan.exchangeEvery;
  }

  /** Hands the sources and receivers to the field, if it does not know them as they are. */
  async #announce(): Promise<void> {
    if (this.#isSurveyed || this.#survey.isEmpty) return;
    await this.#points.collect();
    await this.#survey.watch(this.#points);
    this.#isSurveyed = true;
  }

  /**
   * Advances all fields; every rank calls it with the same steps. It looks whether they are finite as a solver's `run` does.
   *
   * @param renew whether ghost zones that the last step used up are renewed at once, and not when they are needed, and
   *   nobody looks: so runs are measured that are not the problem's
   * @throws {SolverError} on every rank, if a value of any rank is infinite or not a number
   */
  async run(steps: number, renew = false): Promise<RankRun> {
    checkSteps(steps);
    checkSignals("run", this.problem, this.step, this.step + steps);
    if (!this.#isFit && this.problem.stencil.misfit) {
      const wrong = (await this.world.shareAll(await misfitIn(this.#held) ?? null)).find((one) =>
        one !== null
      );
      if (wrong !== undefined) throw new RequestError(`Cannot run: ${wrong}`);
    }
    this.#isFit = true;
    await this.#announce();
    const started = performance.now();
    let computeNs = 0, areFinite = true;
    const isLooked = !renew && isDue(this.#step + steps, { looked: this.#looked, steps });
    for (let left = steps; left > 0;) {
      if (this.#fresh === 0) computeNs += await this.#exchange(0);
      const count = Math.min(left, this.#fresh);
      left -= count;
      this.#fresh -= count;
      this.#step += count;
      if ((left > 0 || renew) && this.#fresh === 0) computeNs += await this.#exchange(count);
      else {
        const round = await this.#field.begin(count);
        const look = left === 0 && isLooked ? await this.#field.look() : undefined;
        const [timeNs, found = true] = await Promise.all([round.finish(), look?.()]);
        computeNs += timeNs;
        areFinite = found;
      }
    }
    const wallNs = (performance.now() - started) * 1e6;
    if (isLooked) await this.#require(steps > 0 ? areFinite : await (await this.#field.look())());
    return { steps, wallNs, computeNs, exchangeNs: wallNs - computeNs };
  }

  /** Throws on every rank if some rank's values are not finite. */
  async #require(areFinite: boolean): Promise<void> {
    const { world, step } = this;
    if (await world.most(areFinite ? 0 : 1) > 0) {
      const all = await world.shareAll(await findBroken(this.#held) ?? null);
      // of ghost zones it may be only what is thrown away
      if (all.some((one) => one !== null)) throw brokenError(all, step, this.#looked);
    }
    this.#looked = step;
  }

  get #held(): HeldCells {
    const { problem, part: { own } } = this;
    const readCells = (plane: number, cells: Extent) => this.readBox({ ago: 0, plane, planes: 1, ...cells });
    return { problem, own, readCells };
  }

  /** This rank's own cells of a field or material: x, y, z, the last fastest; of an axis profile its values there. */
  async read(cells: RankCells = {}): Promise<Float32Array<ArrayBuffer>> {
    const profile = profileOf(this.problem, cells.name ?? ""), { own: { size }, before } = this.part;
    if (profile !== undefined) {
      const first = before[profile.axis], end = first + size[profile.axis];
      return this.#field.profiles.values[profile.index]!.slice(first, end);
    }
    const { plane, ago } = this.#rangeOf(cells);
    return await this.readBox({ plane, ago, planes: 1, ...this.part.own });
  }

  /**
   * Sets cells, of the level or material that is named, to a function of the cell in the whole grid; ghost zones follow.
   * A material belongs to both levels. Of an axis profile the function gets the index along its axis, three times.
   */
  async write(cells: RankCells, value: (x: number, y: number, z: number) => number): Promise<void> {
    await this.#write(cells, checked(this.problem, cells.name ?? "cells", value));
  }

  async #write(cells: RankCells, valueAt: (x: number, y: number, z: number) => number): Promise<void> {
    const profile = profileOf(this.problem, cells.name ?? "");
    this.#isSurveyed &&= profile === undefined;
    if (profile !== undefined) return this.#field.profiles.set(profile.index, profile.source(valueAt));
    const { own: { low }, before, grid } = this.part, whole = this.problem.grid;
    const [, ny, nz] = grid;
    const at = (axis: Axis, i: number): number => (low[axis] - before[axis] + i + whole[axis]) % whole[axis];
    const { plane, ago, isMaterial, stored } = this.#rangeOf(cells);
    this.#isSurveyed &&= !isMaterial;
    this.#isFit &&= !isMaterial;
    for (const level of isMaterial ? [0, 1] as const : [ago]) {
      await writeSlices(
        this.#field,
        { plane, ago: level },
        (x) =>
          Float32Array.from({ length: ny * nz }, (_, i) => {
            const cell = [at(0, x), at(1, Math.floor(i / nz)), at(2, i % nz)] as const;
            return stored(valueAt(...cell), cell[0], cell[1] * whole[2] + cell[2]);
          }),
      );
    }
  }

  /**
   * Own cells of a plane of a level, by their place in the whole grid.
   *
   * @internal
   */
  async readBox(box: Box): Promise<Float32Array<ArrayBuffer>> {
    const all = new Float32Array(cellsOf(box.size));
    await readBox(this.#field, this.#within(box), all);
    return all;
  }

  /**
   * Sets own cells of a plane of a level; after all of them {@linkcode restored}.
   *
   * @internal
   */
  async writeBox(box: Box, cells: Float32Array<ArrayBuffer>): Promise<void> {
    await writeBox(this.#field, this.#within(box), cells);
  }

  /** A box in the part's own coordinates. */
  #within({ low, ...box }: Box): Box {
    const { own, before } = this.part;
    return { ...box, low: gridOf((axis) => low[axis] - own.low[axis] + before[axis]) };
  }

  /**
   * The sources and receivers, with what all ranks have recorded on rank 0. Every rank calls it.
   *
   * @internal
   */
  async survey(): Promise<Survey> {
    await this.#points.collect();
    return this.#survey;
  }

  /** Brings the ghost zones up to date after `restore`, materials too. */
  async restored(): Promise<void> {
    this.#isSurveyed = this.#isFit = false;
    await this.#exchange(0, this.#sides(true));
  }

  /** Slices of the whole grid on rank 0; undefined on the others. Every rank calls it. */
  async gather(
    cells: RankCells,
    which: { readonly x: number; readonly slices: number },
  ): Promise<Float32Array<ArrayBuffer> | undefined> {
    const { plane, ago, x, slices } = this.#rangeOf({ ...cells, ...which });
    const { world, plan: { extents }, part: { own } } = this, [, ny, nz] = this.problem.grid;
    /** The slices of a rank that are meant. */
    const meant = ({ low: [low], size: [size] }: Extent) => {
      const from = Math.max(x, low);
      return { from, count: Math.max(0, Math.min(x + slices, low + size) - from) };
    };
    const { from, count } = meant(own);
    const { low: [, y, z], size: [, sizeY, sizeZ] } = own;
    const box: Box = { plane, ago, planes: 1, low: [from, y, z], size: [count, sizeY, sizeZ] };
    const values = await this.readBox(box);
    if (world.rank > 0) {
      if (count > 0) await world.finish([world.send(0, GATHER, values)]);
      return undefined;
    }
    const result = new Float32Array(slices * ny * nz);
    for (const [rank, extent] of extents.entries()) {
      const { from, count } = meant(extent), { low: [, firstY, firstZ], size: [, sizeY, sizeZ] } = extent;
      if (count === 0) continue;
      const cells = rank === 0 ? values : new Float32Array(count * sizeY * sizeZ);
      if (rank > 0) await world.finish([world.receive(rank, GATHER, cells)]);
      for (let row = 0; row < count * sizeY; row++) {
        const to = (from - x + Math.floor(row / sizeY)) * ny + firstY + row % sizeY;
        result.set(cells.subarray(row * sizeZ, (row + 1) * sizeZ), to * nz + firstZ);
      }
    }
    return result;
  }

  /** Gives the device's memory back. */
  [Symbol.dispose](): void {
    this.#field[Symbol.dispose]();
  }

  #rangeOf({ name = this.problem.stencil.update.fields[0]!, ...cells }: RankCells & CellsOptions): CellRange {
    return rangeOf({ ...this.problem, isPart: true }, name, cells);
  }

  /**
   * Advances, then renews the ghost zones along x, y and z in turn: what the second and third axis send contains the
   * ghost zones of those before, so that edges and corners arrive without messages of their own (B2R, Table 1).
   *
   * @returns nanoseconds that the device took
   */
  async #exchange(steps: number, axes = this.#axes ??= this.#sides()): Promise<number> {
    const { world } = this;
    let computeNs = 0, left = steps;
    for (const sides of axes) {
      // what the neighbour at the low end sends goes to its high end
      const messages = sides.flatMap(({ rank, axis, side, arriving }) =>
        arriving.map((piece) => world.receive(rank, 2 * axis + 1 - side, piece))
      );
      const round = await this.#field.begin(left, { pack: sides.map(({ send }) => send) });
      computeNs += await round.finish();
      round.pieces().forEach((pieces, i) => {
        const { rank, axis, side } = sides[i]!;
        messages.push(...pieces.map((cells) => world.send(rank, 2 * axis + side, cells)));
      });
      left = 0;
      await world.finish(messages);
      round.release();
      for (const { receive, arriving } of sides) await this.#field.unpack(receive, arriving);
    }
    if (left > 0) computeNs += await (await this.#field.begin(left)).finish();
    this.#fresh = this.plan.exchangeEvery;
    return computeNs;
  }

  #sides(isWhole = false): Side[][] {
    return exchangesOf(this.problem, this.plan, this.part, isWhole).map((sides) =>
      sides.map((one) => ({
        ...one,
        arriving: piecesOf(one.receive).map(({ cells }) => new Float32Array(cells)),
      }))
    );
  }
}

/** Every field in every level that the next step needs. */
export function stateOf(problem: Problem): Required<RankCells>[] {
  const { fields } = problem.stencil.update;
  return stateLevels(problem).flatMap((ago) => fields.map((name) => ({ name, ago })));
}

interface Side extends Exchange {
  /** Pieces of what is received: kept, since new memory of this size costs as much time as the message. */
  readonly arriving: readonly Float32Array<ArrayBuffer>[];
}

/** Tag of gathered cells: those below are the exchange's, two for each axis. */
const GATHER = 6;
