import type { PartStart, Pattern } from "../../../kernels/initial_field.ts";
import { blockOf, blocksOf } from "../../../kernels/layers.ts";
import { type FloatArray, type Precision, precisionOf } from "../../../kernels/precision.ts";
import { cellsOf, type Grid, type Problem } from "../../../kernels/stencils/stencil.ts";
import type { Dispatch, GpuPlan, Parameters } from "../../../kernels/traversals/traversal.ts";
import { finiteShader, finiteWorkgroups } from "../../../kernels/wgsl/fields.ts";
import { readsSignal } from "../../../kernels/update.ts";
import type { Box } from "../../../models/rank_part.ts";
import {
  type ArrayRange,
  type FieldMemory,
  type LevelPart,
  ownMemory,
  type SectionArrays,
  takeLevels,
} from "./field_memory.ts";
import type { Comparison, SliceCells } from "../comparison.ts";
import { compareLevels, copyLevel } from "./gpu_comparison.ts";
import type { HeldProfiles } from "../held_profiles.ts";
import type { GpuDevice, Submission, TimedWork } from "./gpu_device.ts";
import { Waits } from "./gpu_dispatcher.ts";
import { compile, compileCompare, compileFill, compilePlan } from "./gpu_pipelines.ts";
import type { WatchedPoints } from "../points.ts";
import type { DeviceField, FieldFacts } from "../device_field.ts";
import type { Point } from "../../../kernels/points.ts";
import { GpuPoints } from "./gpu_points.ts";
import { RunFailure } from "../run_failure.ts";
import { OwnOrder } from "./own_order.ts";
import { PlanOnGpu } from "./plan_on_gpu.ts";
import { shareable } from "../../platform.ts";

/** Cell updates whose dispatches are listed at once, some 0.2 s of an H100, and steps at most; lists that are kept. */
const LONG_UPDATES = 120e9, LONG_STEPS = 10_000, MOST_LISTS = 8;

/** Largest piece of a level that is read at once: a large field is never on the host as a whole. */
const PIECE_BYTES = 2 ** 26;

/** Something recorded for a submission. */
export type Recorded = (encoder: GPUCommandEncoder) => void;

/** What copies boxes of cells; `isOwn`: in an order of the plan's own, as {@linkcode GpuField.ownParts} says, else canonical ones. */
export interface Copying {
  readonly records: readonly Recorded[];
  readonly isOwn: boolean;
}

/** What an exchange does beside the steps. */
interface Exchange {
  /** Sets cells before them; pads follow. */
  readonly unpack: Copying | undefined;
  /** Copies cells of the new levels into buffers of usage MAP_READ, which the submission's end maps. */
  readonly pack: Copying;
  readonly outgoing: readonly GPUBuffer[];
  readonly turn?: TimedWork["turn"];
}

/** What a field has on its device besides. */
interface Made {
  readonly arrays: readonly (readonly ArrayRange[])[];
  readonly memory: FieldMemory;
  /** Of this memory. */
  readonly taken: SectionArrays;
  /** The canonical copies of levels in an order of the plan's own. */
  readonly copies: Awaited<ReturnType<typeof takeLevels>> | undefined;
  readonly order: OwnOrder | undefined;
  /** In which order to run fewer steps than the problem's: see the plan's dispatches. */
  readonly orderOf?: ((steps: number) => Parameters | undefined) | undefined;
}

/** The two time levels of a problem's field in a plan's storage, and what runs on them. */
export class GpuField implements DeviceField {
  readonly #lists = new Map<number, readonly Dispatch[]>();
  #step = 0;

  private constructor(
    readonly problem: Problem,
    readonly plan: GpuPlan,
    private readonly on: PlanOnGpu,
    private readonly made: Made,
  ) {}

  /** The values that cells have now, of a problem that has points. */
  async sample(cells: readonly Point[]): Promise<FloatArray> {
    const { plan, precision: { Values } } = this, values = new Values(cells.length);
    const only = { added: [], recorded: cells, every: 1 };
    const amplitudes = () => new Values(0), take = (_: number, found: FloatArray) => values.set(found);
    using points = await GpuPoints.create(this.device, this, { ...only, amplitudes, take }, 1);
    points.prepare(0, 1);
    const sampling = plan.points!.sample(points.table, this.#step);
    await (await this.on.dispatcherWith(points).begin([sampling])).finish();
    await points.settle(0, 1);
    return values;
  }

  /** The update's axis profiles. */
  get profiles(): HeldProfiles {
    return this.on.profiles;
  }

  get device(): GpuDevice {
    return this.on.gpu;
  }

  /** That of its values. */
  get precision(): Precision {
    return precisionOf(this.plan.storage.layout);
  }

  /** From now on adds to these points and records them, of a problem that has points. */
  async watch(watched: WatchedPoints | undefined): Promise<void> {
    this.#lists.clear();
    await this.on.watch(watched);
  }

  get facts(): FieldFacts {
    const { on: { gpu: { hasTimestamps, isSoftware: isWarm }, given: { compileNs } } } = this;
    const clock = hasTimestamps ? "device" : "host", longRun = longRunOf(this.problem);
    return { device: "gpu", compileNs, clock, isWarm, longRun };
  }

  /**
   * Compiles the plan and takes the memory.
   *
   * @throws {RunFailure} "compile", "out-of-memory" or "device-lost"; what `onCompiled` throws
   */
  static async create(
    gpu: GpuDevice,
    problem: Problem,
    plan: GpuPlan,
    { memory = ownMemory(gpu), onCompiled, orderOf }: Pick<Made, "orderOf"> & {
      /** Where the arrays come from. @default {memory of the field's own} */
      readonly memory?: FieldMemory | undefined;
      /** Called when the plan is compiled, before memory is taken. */
      readonly onCompiled?: () => Promise<void>;
    } = {},
  ): Promise<GpuField> {
    const compiled = await compilePlan(gpu, plan);
    await onCompiled?.();
    const { order, ...canonical } = plan.storage, { taken, arrays } = await takeLevels(memory, plan);
    let copies: Made["copies"];
    try {
      if (order !== undefined) {
        copies = await takeLevels(ownMemory(gpu), { label: `${plan.label}, canonical`, storage: canonical });
      }
      const mostSteps = longRunOf(problem) * problem.steps;
      const on = await PlanOnGpu.create(gpu, problem, plan, { ...compiled, arrays, mostSteps });
      const own = copies && new OwnOrder(on, arrays, copies.arrays);
      return new GpuField(problem, plan, on, { arrays, taken, copies, order: own, memory, orderOf });
    } catch (error) {
      memory.giveBack(taken);
      for (const buffer of copies?.taken.flat() ?? []) buffer.destroy();
      throw error;
    }
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.#step;
  }

  /**
   * Where F(t) (`ago` = 0) or F(t−1) (`ago` = 1) lies: parts in order of x, which may have slices in common. Of a plan with
   * an order of its own it is a canonical copy, as it is now; who writes into it calls {@linkcode renewPads}.
   */
  level(ago: 0 | 1): readonly LevelPart[] {
    const arrays = this.made.order?.copies(this.#step % 2) ?? this.made.arrays;
    return this.#sections.map(({ layout, x }, i) => {
      return { layout, x, array: arrays[i]![(this.#step + ago) % 2]! };
    });
  }

  /** Whether a plan with an order of its own has all values of a box there: of materials others know where they lie. */
  isOwn({ plane, planes }: Box): boolean {
    return this.made.order !== undefined && plane + planes <= this.problem.stencil.update.fields.length;
  }

  /** Where such a plan has the level of a box after `steps` steps. */
  ownParts({ ago }: Box, steps: number): ReturnType<OwnOrder["parts"]> {
    return this.made.order!.parts((this.#step + steps + ago) % 2);
  }

  get #sections(): readonly Omit<LevelPart, "array">[] {
    const { sections, layout } = this.plan.storage;
    return sections ?? [{ layout, x: 0 }];
  }

  /**
   * Compiles what will fill a field of this problem and plan and compare it with this one, so that neither takes time
   * when it is measured.
   */
  async compileComparison(
    kind: Pattern,
    problem: Problem,
    { storage: { layout, sections } }: GpuPlan,
  ): Promise<void> {
    for (const each of sections ?? [{ layout }]) await compileFill(this.device, problem, each.layout, kind);
    const own = this.plan.storage;
    if ((sections ?? own.sections) === undefined) await compileCompare(this.device, layout, own.layout);
  }

  /** Sets both time levels, pads too, and the time step. Whatever uses the field next waits for it. */
  async initialise({ step = 0, ...start }: PartStart): Promise<void> {
    this.#step = step;
    this.profiles.start(start);
    const arrays = this.made.order?.copies() ?? this.made.arrays;
    for (const [i, section] of this.#sections.entries()) {
      const fill = await this.on.filling(start, section, arrays[i]!);
      await this.device.enqueue((encoder) => fill(encoder, () => ({})));
    }
    await this.renewPads((encoder) => this.#layers.forEach((buffer) => encoder.clearBuffer(buffer)));
  }

  /** What holds the layers of even and of odd levels, where the plan stores any. */
  get #layers(): readonly GPUBuffer[] {
    const { scratch = [] } = this.plan.storage;
    return this.on.scratch.filter((_, i) => scratch[i]!.lives === "layers");
  }

  /**
   * The same of a box at one end of a field that lies in layers, and the box within them; undefined of any other.
   *
   * @param steps after which the level is meant
   */
  layersAt(box: Box, steps = 0): { readonly part: LevelPart; readonly box: Box } | undefined {
    const { stencil: { update: { fields, layers = [] } }, grid } = this.problem, [even, odd] = this.#layers;
    const layer = box.plane - fields.length + layers.length;
    if (even === undefined || layer < 0 || box.plane >= fields.length) return undefined;
    const { axis, cells, plane, layout } = blockOf(blocksOf(this.problem), layer);
    const buffer = (this.#step + steps + box.ago) % 2 === 0 ? even : odd!;
    const left = box.low[axis] < cells ? 0 : grid[axis] - layout.grid[axis];
    const low = box.low.with(axis, box.low[axis] - left) as unknown as Grid;
    const part = { layout, x: 0, array: { buffer, offset: 0, size: buffer.size } };
    return { part, box: { ...box, plane, low } };
  }

  /** Sets all fields to zero, and the time step to 0; materials stay. */
  async clear(): Promise<void> {
    this.#step = 0;
    const arrays = this.made.order?.copies() ?? this.made.arrays, { layout } = this.plan.storage;
    const { bytes } = this.precision;
    const made = layout.fields ?? layout.planes;
    await this.renewPads((encoder) => {
      for (const buffer of this.#layers) encoder.clearBuffer(buffer);
      this.#sections.forEach(({ layout: { slice, plane } }, i) => {
        for (const { buffer, offset, size } of arrays[i]!) {
          // the pads of a section are not alike
          for (let at = 0; at + bytes * slice <= size; at += bytes * slice) {
            encoder.clearBuffer(buffer, offset + at, bytes * made * plane);
          }
        }
      });
    });
  }

  /**
   * Advances the field by `repetitions` runs of `steps` time steps, one after another in one batch.
   *
   * @returns nanoseconds of device time for the whole batch (host time where the device has no clock)
   */
  async run(steps: number, repetitions = 1): Promise<number> {
    return await (await this.begin(steps, repetitions)).finish();
  }

  /** The same, without waiting for its end: the device goes on with it once it is done with what it was given before. */
  async begin(steps: number, repetitions = 1): Promise<Submission> {
    const points = await this.on.points();
    if (points !== undefined) return await this.#beginWith(points, steps * repetitions);
    const submission = await this.on.dispatcher.begin(this.#listsOf(steps, repetitions));
    // only now: who asked for copies meanwhile had those of before
    this.made.order?.advance();
    this.#step += steps * repetitions;
    return submission;
  }

  /** The same with points: what is added goes up before each list of dispatches, and what is recorded comes back after it. */
  async #beginWith(points: GpuPoints, steps: number): Promise<Submission> {
    const waits = new Waits();
    let timeNs = 0;
    for (let done = 0; done < steps;) {
      const count = Math.min(points.mostSteps, steps - done), start = this.#step;
      points.prepare(start, count);
      const submission = await this.on.dispatcher.begin([this.#dispatches(count, start, points)]);
      const { copy, buffer, take } = await points.leave(start, count);
      await this.device.enqueue(copy);
      this.made.order?.advance();
      this.#step += count;
      done += count;
      await waits.add(async () => {
        const [listNs] = await Promise.all([
          submission.finish(),
          this.device.map(buffer ? [buffer] : [], "what was recorded"),
        ]);
        timeNs += listNs;
        take();
      });
    }
    return {
      finish: async () => {
        await waits.end();
        return timeNs;
      },
    };
  }

  /** The dispatches of `repetitions` runs, a list at a time: no run of the problem's own length is cut. */
  *#listsOf(steps: number, repetitions: number): Generator<readonly Dispatch[]> {
    const long = longRunOf(this.problem) * this.problem.steps;
    let start = this.#step;
    for (let i = 0; i < repetitions; i++) {
      for (let left = steps; left > 0;) {
        const count = Math.min(long, left);
        yield this.#dispatches(count, start);
        start += count;
        left -= count;
      }
    }
  }

  /** The plan's dispatches; lists are kept where all that counts of the start is whether it is even. */
  #dispatches(steps: number, start: number, points?: GpuPoints): readonly Dispatch[] {
    const { problem, plan } = this, table = points?.table;
    const order = steps < problem.steps ? this.made.orderOf?.(steps) : undefined;
    if (readsSignal(problem.stencil.update)) return plan.dispatches(steps, start, table, order);
    const key = 2 * steps + start % 2;
    const list = this.#lists.get(key) ?? plan.dispatches(steps, start % 2, table, order);
    if (this.#lists.size > MOST_LISTS) this.#lists.clear();
    this.#lists.set(key, list);
    return list;
  }

  /**
   * Advances the field between two exchanges, all in one submission, but for steps that points leave no memory for. What is
   * submitted next need not wait for its end: the device takes them in turn.
   *
   * @returns the submission; its time includes the copies
   */
  async exchange(steps: number, { unpack, outgoing, pack, turn }: Exchange): Promise<Submission> {
    const points = await this.on.points(), { mostSteps = Infinity } = points ?? {};
    if (steps > mostSteps) {
      await turn?.();
      if (unpack) await this.take(unpack);
      const before = await this.begin(steps - mostSteps);
      const last = await this.exchange(mostSteps, { unpack: undefined, outgoing, pack });
      return { finish: async () => await before.finish() + await last.finish() };
    }
    const begin = unpack ? await this.#setting(unpack) : [];
    points?.prepare(this.#step, steps);
    const left = await points?.leave(this.#step, steps);
    const { passes, record } = await this.on.dispatcher.record(this.#dispatches(steps, this.#step, points));
    this.#step += steps;
    if (steps > 0) this.made.order?.advance();
    const submission = await this.device.submit({
      passes: passes + 2,
      countGaps: true,
      turn,
      outgoing: [...outgoing, ...(left?.buffer ? [left.buffer] : [])],
      record: (encoder, timestamps) => {
        encoder.beginComputePass(timestamps()).end();
        for (const record of begin) record(encoder);
        for (const piece of record) piece(encoder, timestamps);
        left?.copy(encoder);
        if (!pack.isOwn) this.made.order?.leave(encoder, this.#step % 2);
        for (const record of pack.records) record(encoder);
        encoder.beginComputePass(timestamps()).end();
      },
    });
    return {
      async finish() {
        const timeNs = await submission.finish();
        left?.take();
        return timeNs;
      },
    };
  }

  /**
   * What follows after `write` has set canonical cells: pads of both levels receive their images, unless they hold zeros;
   * values enter an order of the plan's own.
   */
  async renewPads(...write: Recorded[]): Promise<void> {
    await this.device.enqueue(...write, ...await this.#afterWriting());
  }

  /** Sets boxes before whatever follows. */
  async take(unpack: Copying): Promise<void> {
    await this.device.enqueue(...await this.#setting(unpack));
  }

  /** What sets boxes, and all that follows from it. */
  async #setting({ records, isOwn }: Copying): Promise<readonly Recorded[]> {
    if (!isOwn) return [...records, ...await this.#afterWriting()];
    this.made.order!.advance();
    return records;
  }

  async #afterWriting(): Promise<Recorded[]> {
    const { storage: { scratch = [] }, pads = [] } = this.plan, order = this.made.order;
    const kept = this.on.scratch.filter((_, i) => scratch[i]!.lives === "field");
    const renewed: Recorded[] = kept.map((buffer) => (encoder) => encoder.clearBuffer(buffer));
    const now = this.#step % 2;
    if (order !== undefined) return [...renewed, (encoder) => order.enter(encoder, now)];
    if (pads.length === 0) return renewed;
    const { record } = await this.on.dispatcher.record(pads);
    return [...renewed, (encoder) => record.forEach((piece) => piece(encoder, () => ({})))];
  }

  /** Takes over all cells and the time step of a field of the same problem, if this one's pads are still zeros. */
  async copyFrom(other: GpuField): Promise<void> {
    if (this.#layers.length !== other.#layers.length) {
      throw new RunFailure("limits", "what lies in layers is carried over only to where it does, too");
    }
    this.#step = other.step;
    this.profiles.take(other.profiles.values);
    for (const ago of [0, 1] as const) await copyLevel(other.level(ago), this.level(ago), this.on);
    await this.renewPads((encoder) =>
      this.#layers.forEach((buffer, i) =>
        encoder.copyBufferToBuffer(other.#layers[i]!, 0, buffer, 0, buffer.size)
      )
    );
  }

  /** Compares levels of this field with a reference field's at the same time step, on the device. */
  async compare(
    reference: GpuField,
    { levels, slices, referenceSlice = 0, slice = 0 }: {
      /** 0: the newest level, 1: the one before. */
      levels: readonly (0 | 1)[];
      /** Slices to compare. @default {all of this field's} */
      slices?: number;
      /** First slice in this field. */
      slice?: number;
      referenceSlice?: number;
    },
  ): Promise<Comparison> {
    return await compareLevels(
      { levels: levels.map((ago) => this.level(ago)), slice },
      { levels: levels.map((ago) => reference.level(ago)), slice: referenceSlice },
      slices ?? this.plan.storage.layout.grid[0],
      this.on,
    );
  }

  /**
   * Looks, behind what was begun, whether all values of F(t) are finite, in whatever order they lie; what lies around the
   * cells counts, too.
   *
   * @returns what waits for the answer; once for it and for what was begun, if both are awaited together
   */
  async look(): Promise<() => Promise<boolean>> {
    const { precision, on: { gpu, uniforms } } = this;
    const levels = this.made.arrays.map((pair) => pair[this.#step % 2]!);
    const { STORAGE, COPY_SRC } = GPUBufferUsage;
    const shader = await compile(gpu, finiteShader(precision), "finite", [0, 3]);
    const found = await gpu.buffer(4, STORAGE | COPY_SRC, "whether values are not finite");
    const readable = await gpu.readable(4, "the same, read back");
    const submission = await gpu.submit({
      passes: levels.length,
      outgoing: [readable],
      record(encoder, timestamps) {
        for (const level of levels) {
          const workgroups = finiteWorkgroups(level.size / precision.bytes);
          uniforms.dispatch(encoder, shader, { on: [[level, found]], workgroups, pass: timestamps() });
        }
        encoder.copyBufferToBuffer(found, 0, readable, 0, 4);
      },
    });
    return async () => {
      try {
        await submission.finish();
        return new Uint32Array(gpu.mapped(readable))[0] === 0;
      } finally {
        found.destroy();
        readable.destroy();
      }
    };
  }

  /**
   * Slices of a level with all their planes, a piece at a time, in memory that workers share: cells that begin with slice
   * x of the grid.
   */
  async *readSlices(
    ago: 0 | 1,
    first: number,
    slices: number,
  ): AsyncGenerator<SliceCells & { readonly x: number; readonly slices: number }> {
    let x = first;
    for (const { array, layout, x: start } of this.level(ago)) {
      const { bytes: each, Values } = this.precision, bytes = each * layout.slice;
      const perPiece = Math.max(1, Math.floor(PIECE_BYTES / bytes));
      const end = Math.min(first + slices, start + layout.grid[0]);
      while (x < end) {
        const count = Math.min(perPiece, end - x);
        const read = await this.device.read(
          array.buffer,
          array.offset + (layout.pad[0] + x - start) * bytes,
          count * bytes,
        );
        const cells = new Values(shareable(count * bytes));
        cells.set(new Values(read));
        // the same layout with nothing before its first slice
        const [padX, padY, padZ] = layout.pad, origin = layout.origin - padX * layout.slice;
        yield { cells, layout: { ...layout, pad: [0, padY, padZ], origin }, slice: 0, x, slices: count };
        x += count;
      }
    }
  }

  [Symbol.dispose](): void {
    const { memory, taken, copies } = this.made;
    memory.giveBack(taken);
    for (const buffer of copies?.taken.flat() ?? []) buffer.destroy();
    this.on[Symbol.dispose]();
  }
}

/** Runs of the problem's length that a long run makes of one list: their first and last steps count once. */
function longRunOf({ grid, steps }: Problem): number {
  return Math.max(1, Math.floor(Math.min(LONG_UPDATES / (cellsOf(grid) * steps), LONG_STEPS / steps)));
}
