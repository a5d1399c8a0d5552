import type { PartStart } from "../../../kernels/initial_field.ts";
import { type Layout, layOut } from "../../../kernels/layout.ts";
import { samplesIn } from "../../../kernels/points.ts";
import { type FloatArray, precisionOf } from "../../../kernels/precision.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { isInPlace, planesOf, reachOf, signalAt, stepReach } from "../../../kernels/update.ts";
import {
  type Comparison,
  type FieldSlices,
  joinComparisons,
  type RunOptions,
  type SliceCells,
  type SliceOf,
} from "../comparison.ts";
import { HeldProfiles } from "../held_profiles.ts";
import { shareable } from "../../platform.ts";
import type { CpuMemory } from "./cpu_memory.ts";
import type { WatchedPoints } from "../points.ts";
import type { FieldFacts } from "../device_field.ts";
import type { ArrayPair, Command, Done, LoadCommand } from "./cpu_commands.ts";
import type { PointSeries } from "./row_points.ts";

/** What a field needs of the pool. */
interface FieldHost {
  /** Where the field lies. */
  readonly memory: CpuMemory;
  /** Tells all workers once they have done what came before. */
  send(commandOf: () => Command): Promise<readonly Done[]>;
  dispose(): Promise<void>;
}

/** Where the cells of a problem lie on the CPU. */
export function cpuLayoutOf({ stencil: { update }, grid }: Pick<Problem, "stencil" | "grid">): Layout {
  const { x, y, z } = reachOf(update);
  return layOut(grid, {
    pad: [x, y, z],
    planes: planesOf(update),
    fields: update.fields.length,
    precision: update.precision,
  });
}

/** A field loaded into the pool's memory. Views of it become stale when the pool's memory grows: ask again. */
export class CpuField {
  readonly facts: FieldFacts;
  readonly layout: Layout;
  /** The update's axis profiles: they lie behind both arrays. */
  readonly profiles: HeldProfiles;
  #arrays: ArrayPair;
  #points: WatchedPoints | undefined;
  #step = 0;

  /** @param load the command that has loaded it: where it lies, and its name among the workers */
  constructor(private readonly load: LoadCommand, private readonly host: FieldHost, compileNs = 0) {
    // the workers' clock is as good as a device's
    this.facts = { device: "cpu", compileNs, clock: "device", isWarm: false };
    this.layout = load.layout;
    this.#arrays = load.arrays;
    const { update, layout, layout: { grid, length }, boundaries: boundary } = load;
    const { bytes } = precisionOf(layout);
    this.profiles = new HeldProfiles({ stencil: { update }, grid, boundary }, (packed) => {
      for (const array of load.arrays) {
        host.memory.view(array + bytes * length, packed.length, layout).set(packed);
      }
    });
  }

  /** F(t), all planes, in the padded layout. */
  get current(): FloatArray<SharedArrayBuffer> {
    return this.host.memory.view(this.#arrays[0], this.layout.length, this.layout);
  }

  /** F(t−1) in the padded layout, where the update reads it; a step may overwrite it with F(t+1). */
  get previous(): FloatArray<SharedArrayBuffer> {
    return this.host.memory.view(this.#arrays[1], this.layout.length, this.layout);
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.#step;
  }

  /** Both levels, as they lie now. */
  slices(): SliceOf {
    const { current, previous, layout } = this, levels = [current, previous] as const;
    return (ago, slice) => ({ cells: levels[ago], layout, slice });
  }

  /** Sets both time levels to the same initial values, and the materials. */
  async initialise(given: PartStart): Promise<void> {
    const { field, layout: { grid } } = this.load;
    const start = { first: [0, 0, 0], whole: grid, step: 0, ...given } as const;
    this.#step = start.step;
    this.profiles.start(start);
    await this.host.send(() => ({ kind: "initial", field, start }));
  }

  /** Sets all fields to zero, and the time step to 0; materials stay. */
  clear(): void {
    const { current, previous, layout: { slice, plane, grid: [nx], pad: [padX] } } = this;
    const made = this.load.update.fields.length * plane;
    this.#step = 0;
    for (const level of [current, previous]) {
      for (let x = 0; x < nx + 2 * padX; x++) level.fill(0, x * slice, x * slice + made);
    }
  }

  /** From now on adds to these points and records them. */
  async watch(points: WatchedPoints | undefined): Promise<void> {
    this.#points = points;
    const { field } = this.load, { added = [], recorded = [], every = 1 } = points ?? {};
    await this.host.send(() => ({ kind: "watch", field, points: points && { added, recorded, every } }));
  }

  /**
   * Advances the field. Pads of images need not be right before; frames of zeros must be.
   *
   * @returns nanoseconds from the moment all workers had begun to the moment all had ended, workers' clock
   * @throws {RangeError} when the ghost zones are thicker than the field, or meet a periodic x
   */
  async run(
    { steps: once, repetitions = 1, ghost: { low = false, high = false } = {} }: RunOptions,
  ): Promise<number> {
    const { field, boundaries, update, work } = this.load, [slices] = this.layout.grid;
    const steps = once * repetitions;
    const must = (holds: boolean, message: string): void => {
      if (!holds) throw new RangeError(`Cannot run the CPU field: ${message}`);
    };
    must(Number.isInteger(steps) && steps >= 0, `steps must be whole and >= 0: current value is ${steps}`);
    const used = (Number(low) + Number(high)) * stepReach(update).x * steps;
    must(used <= slices, `${steps} steps use up ${used} ghost slices: the field has ${slices} slices`);
    const isOpen = !(low || high) || boundaries[0] !== "periodic";
    must(isOpen, "ghost zones need boundary zero along x: it is periodic");
    const watched = this.#points;
    let points: PointSeries | undefined;
    const done = await this.host.send(() => {
      if (watched !== undefined) points = sharedPoints(watched, this.layout, { start: this.#step, steps });
      const [current, previous] = this.#arrays, start = this.#step;
      const arrays = "tiles" in work && isInPlace(update) ? [current, current] as const : this.#arrays;
      if (steps % 2 === 1 && arrays[1] === previous) this.#arrays = [previous, current];
      this.#step += steps;
      const length = update.signal === undefined ? 0 : steps;
      const signals = precisionOf(update).Values.from({ length }, (_, i) => signalAt(update, start + i));
      return { kind: "run", field, steps, arrays, shrink: [low, high], signals, ...(points && { points }) };
    });
    if (points !== undefined && points.recorded.length > 0) {
      watched!.take(Math.floor(points.start / watched!.every) + 1, points.recorded);
    }
    return Math.max(...done.map(({ timeNs }) => timeNs));
  }

  /**
   * Compares slices of a level with others, each worker its part of them.
   *
   * @param expected cells in memory that workers can share
   */
  async compare(expected: SliceCells, { ago, slice, slices }: FieldSlices): Promise<Comparison> {
    const { field } = this.load;
    const compared = await this.host.send(() => {
      return { kind: "compare", field, array: this.#arrays[ago], slice, slices, expected };
    });
    return joinComparisons(compared.flatMap(({ comparison }) => comparison ?? []));
  }

  dispose(): Promise<void> {
    return this.host.dispose();
  }

  /** The memory is free at once; a pool that has ended needs no word. */
  [Symbol.dispose](): void {
    this.dispose().catch(() => {});
  }
}

/** What is added in a run's steps, and room for what is recorded, in memory that workers share. */
function sharedPoints(
  watched: WatchedPoints,
  layout: Layout,
  { start, steps }: { readonly start: number; readonly steps: number },
): PointSeries {
  const { Values, bytes } = precisionOf(layout),
    shared = (length: number) => new Values(shareable(bytes * length));
  const given = watched.amplitudes(start, steps), added = shared(given.length);
  added.set(given);
  return { start, added, recorded: shared(samplesIn(start, steps, watched.every) * watched.recorded.length) };
}
