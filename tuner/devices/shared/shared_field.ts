import { profilesOf, type ProfileValues } from "../../../kernels/axis_profiles.ts";
import type { FieldStart } from "../../../kernels/initial_field.ts";
import type { Point } from "../../../kernels/points.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { firstOf } from "../../../models/rank_part.ts";
import type { Share } from "../../configuration.ts";
import { type Comparison, joinComparisons } from "../comparison.ts";
import type { Submission } from "../gpu/gpu_device.ts";
import type { GpuField } from "../gpu/gpu_field.ts";
import type { HeldProfiles } from "../held_profiles.ts";
import type { Box } from "../../../models/rank_part.ts";
import { pointsIn, pointsOfParts, type WatchedPoints } from "../points.ts";
import type { Reference } from "../reference.ts";
import { type GridSlices, type PartField, readBox, writeBox, writeSlices } from "./part_field.ts";
import { type RoundTimes, runRounds, wayBetween } from "./shared_rounds.ts";
import { makeParts, planOfShare, type ShareOptions } from "./shares.ts";

/** How long a run took. */
export interface SharedTimes extends RoundTimes {
  /** By the host's clock, from beginning to end. */
  readonly wallNs: number;
  /** By the clock of a device that computes alone; else the host's. */
  readonly timeNs: number;
}

/**
 * A grid in parts: on one device alone, or on the GPU and the CPU together (B2R, §3.2–3.5), both at the same time. The
 * CPU then computes slices x < `cpuSlices`, the GPU the others.
 *
 * **Ghost zones.** Where the shares meet, each carries R·S slices of the other's: S is the reach of a full step
 * along x, R the number of steps between two exchanges. Every step makes S of these slices invalid, from the outside
 * in, so that after R steps a share's own slices are still right. The CPU leaves the invalid ones out (Eq. 2); the
 * GPU runs an unmodified plan over its own slices and the ghost zone, with zeros beyond, and what it computes in
 * the ghost zone is thrown away (Eq. 3). The shares meet once, at x = `cpuSlices`. Where x is periodic they meet at the
 * ends of the grid too: each share then has a ghost zone at both ends. What the shares exchange after R steps, and what
 * hides behind what: `shared_rounds.ts`.
 */
export class SharedField implements Disposable {
  readonly #share: Share;
  #running: Promise<unknown> | undefined;

  /** @param parts the devices', in the order of their slices */
  private constructor(readonly problem: Problem, readonly parts: readonly PartField[], share: Share) {
    this.#share = share;
  }

  /**
   * Compiles the code of all parts and takes their memory. One device alone has neither ghost zones nor exchanges.
   *
   * @throws {RunFailure} if the devices or the share do not allow it
   */
  static async create(problem: Problem, options: ShareOptions): Promise<SharedField> {
    return new SharedField(problem, await makeParts(problem, options), options.configuration.share);
  }

  /** Host time from the configuration to the code of all devices. */
  get compileNs(): number {
    return this.parts.reduce((total, { facts }) => total + facts.compileNs, 0);
  }

  /** The part of a device that computes all slices; undefined where several share them. */
  get alone(): PartField | undefined {
    return this.parts.length === 1 ? this.parts[0] : undefined;
  }

  /** The GPU's field, alone or not, where it lies there as a whole. */
  get onGpu(): GpuField | undefined {
    return this.parts.find(({ onGpu }) => onGpu !== undefined)?.onGpu;
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.parts[0]!.step;
  }

  /** Sets both levels of all parts, ghost zones too, and the time step. */
  async initialise(start: FieldStart): Promise<void> {
    for (const part of this.parts) await part.initialise(start);
  }

  /** Sets all fields to zero, and the time step to 0; materials stay. */
  async clear(): Promise<void> {
    for (const part of this.parts) await part.clear();
  }

  /**
   * From now on adds to these points of the grid and records them. What is added lies in ghost zones too; each part records
   * its own cells.
   */
  async watch(points: WatchedPoints | undefined): Promise<void> {
    if (this.alone !== undefined) return await this.alone.watch(points);
    const each = points && pointsOfParts(points, this.parts.map(({ place }) => place));
    for (const [i, part] of this.parts.entries()) await part.watch(each?.[i]);
  }

  /** The values that cells have now. */
  async sample(cells: readonly Point[]): Promise<Float32Array> {
    const values = new Float32Array(cells.length);
    for (const part of this.parts) {
      const { points, rows } = pointsIn(cells, part.place, true);
      const found = points.length === 0 ? [] : await part.sample(points);
      rows.forEach((row, i) => values[row] = found[i]!);
    }
    return values;
  }

  /**
   * Advances the field. Shared, it does so in rounds of R steps, each ended by an exchange; where the steps are no
   * multiple of R the last round is shorter. One device alone has a single round.
   *
   * @param steps time steps of one run
   * @param repetitions runs, one after another in one batch
   */
  async run(steps: number, repetitions = 1): Promise<SharedTimes> {
    const started = performance.now(), { alone } = this;
    const times = alone === undefined
      ? await this.#runRounds(steps, repetitions)
      : timesAlone(alone, await (await alone.begin(steps, { repetitions })).finish());
    const wallNs = (performance.now() - started) * 1e6;
    return { wallNs, timeNs: alone === undefined ? wallNs : times.computeNs + times.gpuNs, ...times };
  }

  /** The same without waiting for its end, though a device alone has all of it: see {@linkcode PartField.begin}. */
  async begin(steps: number, repetitions = 1): Promise<Submission> {
    if (this.alone !== undefined) return await this.alone.begin(steps, { repetitions });
    const run = this.#running = this.run(steps, repetitions);
    run.catch(() => {}); // thrown by `finish`
    return { finish: async () => (await run).timeNs };
  }

  /** Looks, behind what was begun, whether all its cells are finite: see {@linkcode PartField.look}. */
  async look(): Promise<() => Promise<boolean>> {
    await this.#running?.catch(() => {}); // thrown where it is awaited
    const looks = await Promise.all(this.parts.map((part) => part.look()));
    return async () => (await Promise.all(looks.map((look) => look()))).every(Boolean);
  }

  /** Reads cells of the whole grid, wherever they lie, into an array that is just as long: x, y, z. */
  async read({ x, slices, ...level }: GridSlices, target: Float32Array): Promise<void> {
    const [, ny, nz] = this.problem.grid;
    await this.readBox({ ...level, planes: 1, low: [x, 0, 0], size: [slices, ny, nz] }, target);
  }

  /** The same of a box of one plane. */
  async readBox(
    { low: [x, y, z], size: [slices, ny, nz], ...level }: Box,
    target: Float32Array,
  ): Promise<void> {
    for (const part of this.parts) {
      const { own: { low: [low], size: [size] }, before: [before] } = part.place.part;
      const from = Math.max(x, low), end = Math.min(x + slices, low + size);
      if (from >= end) continue;
      const box = { low: [before + from - low, y, z], size: [end - from, ny, nz] } as const;
      await readBox(part, { ...level, ...box }, target.subarray((from - x) * ny * nz));
    }
  }

  /** Sets a box of one plane from its cells, on all devices and in ghost zones. */
  async writeBox(
    { low: [x, y, z], size: [slices, ny, nz], ...level }: Box,
    cells: Float32Array<ArrayBuffer>,
  ): Promise<void> {
    const [nx] = this.problem.grid;
    for (const part of this.parts) {
      const first = firstOf(part.place)[0], { grid: [most] } = part.place.part;
      // round the ring, where it is one
      for (const around of this.alone === undefined ? [x - nx, x, x + nx] : [x]) {
        const from = Math.max(around, first), count = Math.min(around + slices, first + most) - from;
        if (count <= 0) continue;
        const box = { ...level, low: [from - first, y, z], size: [count, ny, nz] } as const;
        const begin = (from - around) * ny * nz;
        await writeBox(part, box, cells.subarray(begin, begin + count * ny * nz));
      }
    }
  }

  /** Writes cells, on all devices and in ghost zones. @param source gives the cells of a slice, dense: y, z */
  async write({ x, slices, ...level }: GridSlices, source: (slice: number) => Float32Array): Promise<void> {
    const [nx] = this.problem.grid;
    for (const part of this.parts) {
      const first = firstOf(part.place)[0];
      await writeSlices(part, level, (slice) => {
        // round the ring, where it is one
        const inGrid = (first + slice + nx) % nx;
        return inGrid >= x && inGrid < x + slices ? source(inGrid) : undefined;
      });
    }
  }

  /** The axis profiles of the whole grid. */
  get profiles(): { readonly values: ProfileValues } {
    const { stencil: { update }, grid } = this.problem;
    const values = profilesOf(update).map(({ axis }, profile) => {
      const all = new Float32Array(grid[axis]);
      for (const { profiles, place: { part: { own: { low, size }, before } } } of this.parts) {
        const first = before[axis];
        all.set(profiles.values[profile]!.subarray(first, first + size[axis]), low[axis]);
      }
      return all;
    });
    return { values };
  }

  /** Sets an axis profile, on all devices and in ghost zones: see {@linkcode HeldProfiles.set}. */
  writeProfile(profile: number, valueAt: Parameters<HeldProfiles["set"]>[1]): void {
    for (const { profiles } of this.parts) profiles.set(profile, valueAt);
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

  #runRounds(steps: number, repetitions: number): Promise<RoundTimes> {
    const { problem, parts: [near, far] } = this, plan = planOfShare(problem, this.#share);
    const toNear = wayBetween(problem, plan, far!, near!), toFar = wayBetween(problem, plan, near!, far!);
    const rounds = roundsOf(steps, this.#share.exchangeEvery, repetitions);
    return runRounds({ cpu: near!, gpu: far!, toCpu: toNear, toGpu: toFar }, rounds);
  }
}

/** The times of a device that computes alone. */
function timesAlone({ facts: { device } }: PartField, timeNs: number): RoundTimes {
  const none = { computeNs: 0, gpuNs: 0, unpackNs: 0, packNs: 0 };
  return { ...none, ...(device === "cpu" ? { computeNs: timeNs } : { gpuNs: timeNs }) };
}

function roundsOf(steps: number, exchangeEvery: number, repetitions: number): number[] {
  const whole = Math.floor(steps / exchangeEvery), rest = steps % exchangeEvery;
  const once = [...new Array<number>(whole).fill(exchangeEvery), ...(rest > 0 ? [rest] : [])];
  return new Array<number[]>(repetitions).fill(once).flat();
}
