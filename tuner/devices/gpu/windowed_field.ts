import type { PartStart } from "../../../kernels/initial_field.ts";
import type { Layout } from "../../../kernels/layout.ts";
import { type FloatArray, type Precision, precisionOf } from "../../../kernels/precision.ts";
import { type Section, WINDOW_SECTIONS } from "../../../kernels/sections.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import type { GpuPlan } from "../../../kernels/traversals/traversal.ts";
import {
  compareSlices,
  type Comparison,
  type FieldSlices,
  joinComparisons,
  type RunOptions,
  type SliceCells,
  type SliceOf,
} from "../comparison.ts";
import type { HeldProfiles } from "../held_profiles.ts";
import type { WatchedPoints } from "../points.ts";
import type { DeviceField, FieldFacts } from "../device_field.ts";
import { type LevelArrays, ownMemory, type SectionArrays } from "./field_memory.ts";
import { giveBack, type GpuDevice, type Recorder, type Submission } from "./gpu_device.ts";
import { compilePlan } from "./gpu_pipelines.ts";
import { PlanOnGpu } from "./plan_on_gpu.ts";

/** Slices of a section that come back. */
interface Moved {
  readonly section: number;
  readonly from: number;
  readonly to: number;
}

/**
 * A field whose levels the host holds; the device holds a window of them (DiamondTorre, §5): two sections by turns. A
 * passage goes from the last section to the first. While the device computes one, the host takes the final slices of the
 * one before it from a mapped buffer, and hands over the slices of the next. What two sections have in common is
 * copied on the device. So each slice goes up and comes back once a passage, however many steps that has.
 */
export class WindowedField implements DeviceField {
  readonly plan: GpuPlan;
  readonly facts: FieldFacts;
  readonly #sliceLayout: Layout;
  readonly #gpu: GpuDevice;
  /** Even and odd levels: every slice, those of the pads of x too, without the pads of y, which stay zero. */
  readonly #levels: readonly [readonly FloatArray<ArrayBuffer>[], readonly FloatArray<ArrayBuffer>[]];
  readonly #precision: Precision;
  /** The first cell of a slice that is moved. */
  readonly #first: number;
  #step = 0;

  private constructor(
    private readonly on: PlanOnGpu,
    /** The window, and of each of its places the slices that come back, mapped. */
    private readonly slots: SectionArrays,
    private readonly staged: readonly GPUBuffer[],
  ) {
    const { gpu, plan, given: { compileNs } } = on;
    const { layout, layout: { slice, pitch, grid: [nx], pad: [padX, padY, padZ] } } = plan.storage;
    this.plan = plan;
    this.#gpu = gpu;
    this.#precision = precisionOf(layout);
    // the host moves slices while the GPU computes
    this.facts = { device: "gpu", compileNs, clock: "host", isWarm: gpu.isSoftware };
    this.#first = padY * pitch;
    const cells = slice - 2 * this.#first, origin = layout.origin - padX * slice - this.#first;
    this.#sliceLayout = { ...layout, pad: [0, 0, padZ], slice: cells, origin };
    const level = () => Array.from({ length: nx + 2 * padX }, () => new this.#precision.Values(cells));
    this.#levels = [level(), level()];
  }

  /** The update's axis profiles. */
  get profiles(): HeldProfiles {
    return this.on.profiles;
  }

  /**
   * Compiles a plan for a window, and takes its memory.
   *
   * @param onCompiled called when the plan is compiled, before memory is taken
   * @throws {RunFailure} as `GpuField.create` does
   */
  static async create(
    gpu: GpuDevice,
    problem: Problem,
    plan: GpuPlan,
    onCompiled?: () => Promise<void>,
  ): Promise<WindowedField> {
    const sections = plan.storage.sections!, compiled = await compilePlan(gpu, plan);
    await onCompiled?.();
    const bytes = Math.max(...sections.map(({ layout }) => precisionOf(layout).bytes * layout.length));
    const sizes = Array<number>(Math.min(WINDOW_SECTIONS, sections.length)).fill(bytes);
    const slots = await ownMemory(gpu).take(sizes, plan.label), staged: GPUBuffer[] = [];
    try {
      for (const size of sizes) staged.push(await gpu.readable(2 * size, "slices that come back"));
      const arrays = sections.map((_, section) => slots[section % slots.length]!);
      const given = { ...compiled, arrays, mostSteps: plan.passageSteps! };
      return new WindowedField(await PlanOnGpu.create(gpu, problem, plan, given), slots, staged);
    } catch (error) {
      for (const buffer of [...slots.flat(), ...staged]) buffer.destroy();
      throw error;
    }
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.#step;
  }

  /** Sets both levels, pads too, and the time step. */
  async initialise({ step = 0, ...start }: PartStart): Promise<void> {
    this.#step = step;
    this.profiles.start(start);
    for (const [section, each] of this.#sections.entries()) {
      const { slices: [from, to] } = each, all = { section, from, to };
      const record = await this.on.filling(start, each, this.#slotOf(section));
      await (await this.#submit([record], 1, all)).finish();
      this.#unload(all);
    }
  }

  /** Sets all fields to zero, and the time step to 0; materials stay. */
  clear(): void {
    const { problem: { stencil: { update } }, plan: { storage: { layout } } } = this.on;
    this.#step = 0;
    for (const slice of this.#levels.flat()) slice.fill(0, 0, update.fields.length * layout.plane);
  }

  /** From now on adds to these points and records them, of a problem that has points. */
  watch(watched: WatchedPoints | undefined): Promise<void> {
    return this.on.watch(watched);
  }

  /** Advances the field by runs, as many steps a passage as the plan can; returns nanoseconds by the host's clock. */
  async run({ steps, repetitions = 1 }: RunOptions): Promise<number> {
    const started = performance.now();
    const most = (await this.on.points())?.mostSteps ?? this.plan.passageSteps!;
    for (let i = 0; i < repetitions; i++) {
      for (let done = 0; done < steps;) {
        const count = Math.min(most, steps - done);
        await this.#passage(count);
        this.#step += count;
        done += count;
      }
    }
    return (performance.now() - started) * 1e6;
  }

  /** Both levels, as they lie now. */
  slices(): SliceOf {
    const { pad: [pad] } = this.plan.storage.layout, layout = this.#sliceLayout, step = this.#step;
    return (ago, x) => ({ cells: this.#levels[(step + ago) % 2 as 0 | 1][x + pad]!, layout, slice: 0 });
  }

  /** Compares slices of a level with others, on the host. */
  compare(expected: SliceCells, { ago, slice, slices }: FieldSlices): Comparison {
    const sliceOf = this.slices();
    return joinComparisons(Array.from({ length: slices }, (_, i) => {
      return compareSlices(sliceOf(ago, slice + i), { ...expected, slice: expected.slice + i }, 1);
    }));
  }

  [Symbol.dispose](): void {
    for (const buffer of [...this.slots.flat(), ...this.staged]) buffer.destroy();
    this.on[Symbol.dispose]();
  }

  get #sections(): readonly Section[] {
    return this.plan.storage.sections!;
  }

  #slotOf(section: number): LevelArrays {
    return this.slots[section % this.slots.length]!;
  }

  #stagedOf(section: number): GPUBuffer {
    return this.staged[section % this.staged.length]!;
  }

  async #passage(steps: number): Promise<void> {
    const last = this.#sections.length - 1, points = await this.on.points(), start = this.#step;
    points?.prepare(start, steps);
    const dispatches = this.plan.dispatches(steps, start, points?.table);
    const bySection = Map.groupBy(dispatches, ({ section = 0 }) => section);
    this.#load(last);
    for (let section = last; section >= 0; section--) {
      const { passes, record } = await this.on.dispatcher.record(bySection.get(section) ?? []);
      const shared: Recorder = (encoder) => this.#copyCommon(encoder, section);
      const submission = await this.#submit([shared, ...record], passes, this.#finalsOf(section));
      // all of this while the device computes
      if (section < last) this.#unload(this.#finalsOf(section + 1));
      if (section > 0) this.#load(section - 1);
      await submission.finish();
    }
    this.#unload(this.#finalsOf(0));
    await points?.settle(start, steps);
  }

  /** Slices that no earlier section touches: they are final once this one is computed. */
  #finalsOf(section: number): Moved {
    const { slices: [from, to] } = this.#sections[section]!;
    return { section, from: this.#sections[section - 1]?.slices[1] ?? from, to };
  }

  /** Hands over the slices that the section after this one does not have. */
  #load(section: number): void {
    const { layout: { slice, pad: [padX] } } = this.plan.storage;
    const { slices: [from, to] } = this.#sections[section]!, { bytes } = this.#precision;
    const end = this.#sections[section + 1]?.slices[0] ?? to;
    this.#slotOf(section).forEach((array, level) => {
      for (let x = from; x < end; x++) {
        this.#gpu.write(array, bytes * (slice * (x - from) + this.#first), this.#levels[level]![x + padX]!);
      }
    });
  }

  /** Copies what the section after this one has in common with it. */
  #copyCommon(encoder: GPUCommandEncoder, section: number): void {
    const next = this.#sections[section + 1];
    if (next === undefined) return;
    const { slices: [from, to] } = this.#sections[section]!, [first] = next.slices;
    const bytes = this.#precision.bytes * this.plan.storage.layout.slice,
      source = this.#slotOf(section + 1);
    this.#slotOf(section).forEach((array, level) =>
      encoder.copyBufferToBuffer(source[level]!, 0, array, bytes * (first - from), bytes * (to - first))
    );
  }

  /** Submits work on a section, after which some of its slices come back. */
  #submit(record: readonly Recorder[], passes: number, { section, from, to }: Moved): Promise<Submission> {
    const staged = this.#stagedOf(section), bytes = this.#precision.bytes * this.plan.storage.layout.slice;
    const first = from - this.#sections[section]!.slices[0], size = bytes * (to - from);
    const comeBack: Recorder = (encoder) =>
      this.#slotOf(section).forEach((array, level) =>
        encoder.copyBufferToBuffer(array, bytes * first, staged, size * level, size)
      );
    // a section without any work has a pass as well, for its time
    const last: Recorder = (encoder, timestamps) => encoder.beginComputePass(timestamps()).end();
    return this.#gpu.submit({ passes: passes + 1, outgoing: [staged], record: [...record, last, comeBack] });
  }

  /** Takes slices that came back from their mapped buffer: one at a time, as large ranges are slow to read. */
  #unload({ section, from, to }: Moved): void {
    const { bytes, Values } = this.#precision;
    const staged = this.#stagedOf(section), { slice, pad: [padX] } = this.plan.storage.layout;
    this.#levels.forEach((level, i) => {
      for (let x = from; x < to; x++) {
        const place = slice * ((to - from) * i + x - from) + this.#first;
        const range = this.#gpu.mapped(staged, bytes * place, bytes * this.#sliceLayout.slice);
        level[x + padX]!.set(new Values(range));
        giveBack(range);
      }
    });
    this.#gpu.unmap(staged);
  }
}
