import { type FloatArray, zeros } from "../../../kernels/precision.ts";
import { profilesOf, type ProfileValues } from "../../../kernels/axis_profiles.ts";
import type { FieldStart } from "../../../kernels/initial_field.ts";
import type { Point } from "../../../kernels/points.ts";
import { cellsOf, type Problem } from "../../../kernels/stencils/stencil.ts";
import { AXES, type Axis, type Extent, gridOf } from "../../../models/decomposition.ts";
import {
  type Box,
  firstOf,
  ownerOf,
  partOfRank,
  partsOfRank,
  planAlongX,
  planForPairs,
  problemOfRank,
  type RankPlan,
  turnsOf,
} from "../../../models/rank_part.ts";
import { configurationOf, isShared, sharesOf } from "../../shares.ts";
import { type Comparison, joinComparisons } from "../comparison.ts";
import type { Submission } from "../gpu/gpu_device.ts";
import type { GpuField } from "../gpu/gpu_field.ts";
import type { HeldProfiles } from "../held_profiles.ts";
import type { WatchedPoints } from "../points.ts";
import type { Reference } from "../reference.ts";
import { RunFailure } from "../run_failure.ts";
import { aloneWorld, type World } from "../world.ts";
import { Exchanges, type PartTimes, type Steps } from "./exchange.ts";
import { GatheredPoints } from "./gathered_points.ts";
import { type GridSlices, type PartField, readBox, writeBox, writeSlices } from "./part_field.ts";
import { makeParts, planOfShare, type ShareOptions } from "./shares.ts";

/** How long a run took, on this rank. */
export interface SharedTimes {
  /** By the host's clock, from beginning to end. */
  readonly wallNs: number;
  /** By the clock of a device that computes alone; else the host's. */
  readonly timeNs: number;
  /** The workers' computing. */
  readonly computeNs: number;
  /** The GPU's part: computing and packing by the device's clock, where it has one. */
  readonly gpuNs: number;
  /** The host's copies: from the GPU to the CPU's memory, and from the CPU to the GPU. */
  readonly unpackNs: number;
  readonly packNs: number;
}

/** Cells of a slice along y and z, from its first on; round the ring, where it is one. */
export interface Rows {
  readonly low: readonly [y: number, z: number];
  readonly size: readonly [ny: number, nz: number];
}

/** Ranks that share a grid, and how. */
export interface Sharing {
  readonly world: World;
  /** A part for each rank. */
  readonly plan: RankPlan;
}

/** Tag of cells that rank 0 gathers: those below are the exchange's. */
const GATHER = 6;

/** What this rank computes of a grid, as a problem of its own. */
export function problemHere(problem: Problem, { world, plan }: Sharing): Problem {
  const fine = turnsOf(problem, plan) ?? plan, [first] = partsOfRank(fine, world.rank);
  return problemOfPart(problem, fine, first!).local;
}

/** A part of a plan, and what is computed there. */
function problemOfPart(problem: Problem, plan: RankPlan, number: number) {
  const part = partOfRank(problem, plan, number);
  // checkpoints hold all cells of a field
  return { part, local: { ...problemOfRank(problem, plan, part), isPart: true } };
}

/**
 * A grid in parts: on one device alone, on the GPU and the CPU together (B2R, §3.2–3.5), or on the devices of several ranks
 * (§3.1), all at the same time. With the CPU, that computes slices x < `cpuSlices`, the GPU the others.
 *
 * **Ghost zones.** Where two parts meet, each carries R·S cells of the other's: S is the reach of a full step along that
 * axis, R the number of steps between two exchanges. Every step makes S of these cells invalid, from the outside in, so that
 * after R steps a part's own cells are still right. The CPU leaves the invalid ones out along x (Eq. 2); the GPU runs an
 * unmodified plan over its own cells and the ghost zones, with zeros beyond, and what it computes in the ghost zone is
 * thrown away (Eq. 3). Along a periodic axis parts meet at the ends of the grid too. What is exchanged after R steps, and
 * what hides behind what: `exchange.ts`.
 *
 * Every rank calls the same methods with the same arguments; those that return cells return them on rank 0.
 */
export class SharedField implements Disposable {
  readonly #exchanges: Exchanges;
  readonly #points: GatheredPoints;
  #running: Promise<unknown> | undefined;
  /** Nanoseconds that the slowest device of this process took in the run that ended last. */
  deviceNs = 0;
  /** Nanoseconds from the ends of its rounds until what parts exchanged with others was there. */
  exchangeNs = 0;
  /** Steps that the ghost zones are still good for. */
  #fresh: number;

  /**
   * @param parts the devices' of this process, in the order of their slices
   * @param plan how all parts share the grid
   * @param ranks how the ranks do, each with as many parts along x
   */
  private constructor(
    readonly problem: Problem,
    readonly parts: readonly PartField[],
    readonly plan: RankPlan,
    readonly world: World,
    readonly ranks: RankPlan,
  ) {
    this.#fresh = plan.exchangeEvery;
    const numbered = partsOfRank(plan, world.rank).map((number, i) => ({ field: parts[i]!, number }));
    this.#exchanges = new Exchanges(problem, plan, numbered, world, (part) => ownerOf(plan, part));
    this.#points = new GatheredPoints(world, problem, ranks, parts);
  }

  /**
   * Compiles the code of all parts and takes their memory. One device alone has neither ghost zones nor exchanges.
   *
   * @param sharing if ranks share the grid, of which the configuration then computes this one's part
   * @throws {RunFailure} if the devices or the share do not allow it
   */
  static async create(problem: Problem, options: ShareOptions, sharing?: Sharing): Promise<SharedField> {
    const { world, plan: ranks } = sharing ?? {
      world: aloneWorld(),
      plan: planAlongX(problem, [problem.grid[0]], 1),
    };
    if (sharing === undefined) {
      const plan = planOfShare(problem, options.configuration.share);
      return new SharedField(problem, await makeParts(problem, options), plan, world, ranks);
    }
    const { configuration, configuration: { share } } = options;
    const plan = await finePlan(
      problem,
      sharing,
      isShared(share) ? share.cpuSlices / (share.cpuSlices + share.gpuSlices) : 0,
    );
    const shares = sharesOf(configuration), its = ranks.inTurns ? [...shares, ...shares] : shares;
    const parts: PartField[] = [], numbers = partsOfRank(plan, world.rank);
    try {
      for (const [i, one] of its.entries()) {
        const { part, local } = problemOfPart(problem, plan, numbers[i]!);
        const alone = its.length === 1 ? configuration : configurationOf([{ ...one, slices: local.grid[0] }]);
        parts.push(
          ...await makeParts(local, { ...options, configuration: alone }, { part, whole: problem.grid }),
        );
      }
      return new SharedField(problem, parts, plan, world, ranks);
    } catch (error) {
      for (const part of parts) part[Symbol.dispose]();
      throw error;
    }
  }

  #zeros(count: number): FloatArray<ArrayBuffer> {
    return zeros(this.problem.stencil.update, count);
  }

  get #isAmongRanks(): boolean {
    return this.world.size > 1;
  }

  /** Host time from the configuration to the code of all devices. */
  get compileNs(): number {
    return this.parts.reduce((total, { field }) => total + field.facts.compileNs, 0);
  }

  /** The part of a device that computes all cells; undefined where several share them. */
  get alone(): PartField | undefined {
    return this.plan.extents.length === 1 ? this.parts[0] : undefined;
  }

  /** The GPU's field, alone or not, where it lies there as a whole. */
  get onGpu(): GpuField | undefined {
    return this.parts.find(({ onGpu }) => onGpu !== undefined)?.onGpu;
  }

  /** The cells of the whole grid that this process computes. */
  get own(): Extent {
    return this.#isAmongRanks
      ? this.ranks.extents[this.world.rank]!
      : { low: [0, 0, 0], size: this.problem.grid };
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.parts[0]!.field.step;
  }

  /** Sets both levels of all parts, ghost zones too, and the time step. */
  async initialise(start: FieldStart): Promise<void> {
    for (const part of this.parts) await part.initialise(start);
    this.#fresh = this.plan.exchangeEvery;
    this.#points.restart();
  }

  /** Sets all fields to zero, and the time step to 0; materials stay. */
  async clear(): Promise<void> {
    for (const part of this.parts) await part.clear();
    this.#fresh = this.plan.exchangeEvery;
    this.#points.restart();
  }

  /**
   * From now on adds to these points of the grid and records them. What is added lies in ghost zones too; each part records
   * its own cells. Of several ranks each keeps that until {@linkcode collect}.
   */
  async watch(points: WatchedPoints | undefined): Promise<void> {
    await this.#points.watch(points);
  }

  /** Hands over on rank 0 what all ranks have recorded. */
  async collect(): Promise<void> {
    await this.#points.collect();
  }

  /** The values that cells have now, on every rank. */
  async sample(cells: readonly Point[]): Promise<FloatArray> {
    return await this.#points.sample(cells);
  }

  /**
   * Advances the field. Shared, it does so in rounds of R steps, each ended by an exchange; the ghost zones that a last,
   * shorter one leaves are used by the next run. One device alone has a single round.
   *
   * @param steps time steps of one run
   * @param repetitions runs, one after another in one batch
   */
  async run(steps: number, repetitions = 1): Promise<SharedTimes> {
    const started = performance.now(), { alone } = this;
    const its = alone === undefined
      ? await this.#exchanges.run(this.#roundsOf(steps * repetitions))
      : [{ ...NO_TIMES, deviceNs: await (await alone.begin(steps, { repetitions })).finish() }];
    const times = timesOf(this.parts, its);
    const wallNs = (performance.now() - started) * 1e6;
    this.deviceNs = Math.max(times.computeNs, times.gpuNs);
    this.exchangeNs = its.reduce((sum, part) => sum + part.exchangeNs, 0);
    return { wallNs, timeNs: alone === undefined ? wallNs : times.computeNs + times.gpuNs, ...times };
  }

  /** The same without waiting for its end, though a device alone has all of it: see {@linkcode PartField.begin}. */
  async begin(steps: number, repetitions = 1): Promise<Submission> {
    if (this.alone !== undefined) return await this.alone.begin(steps, { repetitions });
    const run = this.#running = this.run(steps, repetitions);
    run.catch(() => {}); // thrown by `finish`
    return { finish: async () => (await run).timeNs };
  }

  /** Looks, behind what was begun, whether all cells of this process are finite: see {@linkcode PartField.look}. */
  async look(): Promise<() => Promise<boolean>> {
    await this.#running?.catch(() => {}); // thrown where it is awaited
    const looks = await Promise.all(this.parts.map((part) => part.look()));
    return async () => (await Promise.all(looks.map((look) => look()))).every(Boolean);
  }

  /**
   * Reads a box of one plane, wherever its cells lie, into an array that is just as long: x, y, z.
   *
   * @param target on rank 0; nothing is written into those of others
   */
  async readBox(box: Box, target: FloatArray): Promise<void> {
    if (!this.#isAmongRanks) return await this.readOwn(box, target);
    const { world, ranks: { extents } } = this;
    for (const [rank, extent] of extents.entries()) {
      const common = commonOf(box, extent);
      if (common === undefined || (world.rank !== 0 && world.rank !== rank)) continue;
      const cells = this.#zeros(cellsOf(common.size));
      if (world.rank === rank) await this.readOwn({ ...box, ...common }, cells);
      if (rank !== 0 && world.rank === rank) await world.finish([world.send(0, GATHER, cells)]);
      if (rank !== 0 && world.rank === 0) await world.finish([world.receive(rank, GATHER, cells)]);
      if (world.rank === 0) copyBox(cells, common, target, box);
    }
  }

  /** The same of cells that this process computes. */
  async readOwn(box: Box, target: FloatArray): Promise<void> {
    for (const part of this.parts) {
      const { own, before } = part.place.part, common = commonOf(box, own);
      if (common === undefined) continue;
      const low = gridOf((axis) => before[axis] + common.low[axis] - own.low[axis]);
      const isWhole = ([1, 2] as const).every((axis) => common.size[axis] === box.size[axis]);
      const first = (common.low[0] - box.low[0]) * box.size[1] * box.size[2];
      const cells = isWhole
        ? target.subarray(first, first + cellsOf(common.size))
        : this.#zeros(cellsOf(common.size));
      await readBox(part, { ...box, ...common, low }, cells);
      if (!isWhole) copyBox(cells, common, target, box);
    }
  }

  /** Sets a box of one plane from its cells, wherever they lie in this process, in ghost zones too. */
  async writeBox(box: Box, cells: FloatArray<ArrayBuffer>): Promise<void> {
    const { problem: { grid }, plan: { parts: cut } } = this;
    // round the ring, where it is one
    const around = (axis: Axis): number[] => cut[axis] === 1 ? [0] : [-grid[axis], 0, grid[axis]];
    for (const part of this.parts) {
      const first = firstOf(part.place), { grid: size } = part.place.part;
      for (const x of around(0)) {
        for (const y of around(1)) {
          for (const z of around(2)) {
            const moved = { ...box, low: gridOf((axis) => box.low[axis] + [x, y, z][axis]!) };
            const common = commonOf(moved, { low: first, size });
            if (common === undefined) continue;
            const its = this.#zeros(cellsOf(common.size));
            copyBox(cells, moved, its, common);
            const low = gridOf((axis) => common.low[axis] - first[axis]);
            await writeBox(part, { ...box, ...common, low }, its);
          }
        }
      }
    }
  }

  /** Brings the ghost zones of all ranks up to date, materials too, where each has set its own cells. */
  async renew(): Promise<void> {
    if (!this.#isAmongRanks) return;
    const { problem, plan, world } = this, { parts, rankOf } = this.#exchanges;
    await new Exchanges(problem, plan, parts, world, rankOf, true).run([{ steps: 0, renews: true }]);
    this.#fresh = plan.exchangeEvery;
  }

  /**
   * Writes cells, on all devices and in ghost zones.
   *
   * @param source gives the cells of a slice, dense: y, z; all of it, or some rows
   * @param agos the levels that they are for
   */
  async write(
    { x, slices, ago, plane }: GridSlices,
    source: (slice: number, rows?: Rows) => FloatArray,
    agos: readonly (0 | 1)[] = [ago],
  ): Promise<void> {
    const [nx, ...whole] = this.problem.grid;
    for (const part of this.parts) {
      const [first, ...low] = firstOf(part.place), [, ...size] = part.place.part.grid;
      const isWhole = `${low}` === "0,0" && `${size}` === `${whole}`,
        rows = isWhole ? undefined : { low, size };
      await writeSlices(part, agos.map((ago) => ({ ago, plane })), (slice) => {
        // round the ring, where it is one
        const inGrid = (first + slice + nx) % nx;
        return inGrid >= x && inGrid < x + slices ? source(inGrid, rows) : undefined;
      });
    }
  }

  /** The axis profiles of the whole grid, as far as this process has them. */
  get profiles(): { readonly values: ProfileValues } {
    const { stencil: { update }, grid } = this.problem;
    const values = profilesOf(update).map(({ axis }, profile) => {
      const all = this.#zeros(grid[axis]);
      for (const { field: { profiles }, place } of this.parts) {
        const first = firstOf(place)[axis] + grid[axis];
        profiles.values[profile]!.forEach((value, i) => all[(first + i) % grid[axis]] = value);
      }
      return all;
    });
    return { values };
  }

  /** An axis profile of the whole grid, on every rank. */
  async readProfile(profile: number): Promise<FloatArray<ArrayBuffer>> {
    const values = this.profiles.values[profile]!,
      { axis } = profilesOf(this.problem.stencil.update)[profile]!;
    if (!this.#isAmongRanks) return values;
    const { low, size } = this.own, own = values.subarray(low[axis], low[axis] + size[axis]);
    for (const [first, its] of await this.world.shareAll([low[axis], [...own]] as const)) {
      values.set(its, first);
    }
    return values;
  }

  /** Sets an axis profile, on all devices and in ghost zones: see {@linkcode HeldProfiles.set}. */
  writeProfile(profile: number, valueAt: Parameters<HeldProfiles["set"]>[1]): void {
    for (const { field } of this.parts) field.profiles.set(profile, valueAt);
  }

  /** Compares all own cells of all parts, every level of the state, with the reference at the same time step. */
  async compare(reference: Reference): Promise<Comparison> {
    const compared: Comparison[] = [];
    for (const part of this.parts) compared.push(await part.compare(reference));
    return joinComparisons(compared);
  }

  [Symbol.dispose](): void {
    for (const part of this.parts) part[Symbol.dispose]();
  }

  /** Rounds of as many steps as ghost zones are good for; they are renewed at once, behind the last of these. */
  #roundsOf(steps: number): Steps[] {
    const rounds: Steps[] = [];
    for (let left = steps; left > 0;) {
      const count = Math.min(left, this.#fresh), renews = count === this.#fresh;
      rounds.push({ steps: count, renews });
      this.#fresh = renews ? this.plan.exchangeEvery : this.#fresh - count;
      left -= count;
    }
    return rounds;
  }
}

/** How all parts share the grid, if this rank's CPU computes a fraction of what it does. Every rank calls it. */
async function finePlan(problem: Problem, { world, plan }: Sharing, fraction: number): Promise<RankPlan> {
  const fractions = await world.shareAll(fraction), shared = fractions.filter((one) => one > 0).length;
  const fine = shared === 0
    ? turnsOf(problem, plan)
    : shared < world.size || plan.inTurns
    ? undefined
    : planForPairs(problem, plan, fractions);
  if (fine !== undefined) return fine;
  const why = plan.inTurns && shared > 0
    ? "parts that take turns are each computed on a GPU alone"
    : shared > 0 && shared < world.size
    ? `${shared} of ${world.size} ranks share their part with the CPU: wanted all or none`
    : "the devices' parts are thinner than their ghost zones";
  throw new RunFailure("limits", why);
}

/** Of a device that exchanges nothing. */
const NO_TIMES: PartTimes = { deviceNs: 0, packNs: 0, unpackNs: 0, exchangeNs: 0 };

/** The times of all parts of this process. */
function timesOf(
  parts: readonly PartField[],
  times: readonly PartTimes[],
): Omit<SharedTimes, "wallNs" | "timeNs"> {
  const sum = { computeNs: 0, gpuNs: 0, unpackNs: 0, packNs: 0 };
  for (const [i, { deviceNs, packNs, unpackNs }] of times.entries()) {
    const isCpu = parts[i]!.field.facts.device === "cpu";
    sum[isCpu ? "computeNs" : "gpuNs"] += deviceNs;
    sum.unpackNs += isCpu ? unpackNs : packNs;
    sum.packNs += isCpu ? packNs : unpackNs;
  }
  return sum;
}

/** The cells that two boxes have in common; undefined where there are none. */
function commonOf(one: Extent, other: Extent): Extent | undefined {
  const low = gridOf((axis) => Math.max(one.low[axis], other.low[axis]));
  const size = gridOf((axis) => {
    return Math.min(one.low[axis] + one.size[axis], other.low[axis] + other.size[axis]) - low[axis];
  });
  return AXES.every((axis) => size[axis] > 0) ? { low, size } : undefined;
}

/** Copies the cells that two boxes have in common, row by row. */
function copyBox(source: FloatArray, from: Extent, target: FloatArray, to: Extent): void {
  const { low: [x, y, z], size: [nx, ny, nz] } = commonOf(from, to)!;
  const indexIn = ({ low, size }: Extent, x: number, y: number): number =>
    ((x - low[0]) * size[1] + y - low[1]) * size[2] + z - low[2];
  for (let slice = x; slice < x + nx; slice++) {
    for (let row = y; row < y + ny; row++) {
      const at = indexIn(from, slice, row);
      target.set(source.subarray(at, at + nz), indexIn(to, slice, row));
    }
  }
}
