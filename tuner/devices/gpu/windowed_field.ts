import type { Layout } from "../../../kernels/layout.ts";
import { type Section, WINDOW_SECTIONS } from "../../../kernels/sections.ts";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { traversalNamed } from "../../../kernels/traversals/all.ts";
import type { Dispatch, GpuPlan, Parameters } from "../../../kernels/traversals/traversal.ts";
import { fillWorkgroups } from "../../../kernels/wgsl/fields.ts";
import { compareSlices, type Comparison, joinComparisons } from "../comparison.ts";
import { withoutPadX } from "../shared/slice_exchange.ts";
import type { Start } from "../reference.ts";
import { RunFailure } from "../run_failure.ts";
import { ownMemory, type SectionArrays } from "./field_memory.ts";
import type { GpuDevice, Recorder, Submission } from "./gpu_device.ts";
import { Dispatcher } from "./gpu_dispatcher.ts";
import { compile, compileFill, type Pipeline } from "./gpu_pipelines.ts";
import { Uniforms } from "./gpu_uniforms.ts";

/** What the host hands over in the 10 ms of a wait, roughly. */
const TICK_BYTES = 2 ** 25;

/** Slices of a section, counted from its first. */
interface Moved {
  readonly section: number;
  readonly first: number;
  readonly slices: number;
}

/**
 * A field whose levels the host holds; the device holds a window of them (DiamondTorre, §5): two sections by turns. A
 * sweep goes from the last section to the first. While the device computes one, the host takes the final slices of the
 * one before it from a mapped buffer, and hands over the slices of the next. What two sections have in common is
 * copied on the device. So each slice goes up and comes back once a sweep, however many steps that has.
 */
export class WindowedField implements Disposable {
  /** Host time from shader text to pipelines. */
  readonly compileNs: number;
  readonly plan: GpuPlan;
  readonly #gpu: GpuDevice;
  readonly #problem: Problem;
  readonly #sections: readonly Section[];
  /** Even and odd levels: every slice with its pads, those of x too. */
  readonly #levels: readonly [readonly Float32Array<ArrayBuffer>[], readonly Float32Array<ArrayBuffer>[]];
  readonly #slots: SectionArrays;
  readonly #staged: readonly GPUBuffer[];
  readonly #uniforms: Uniforms;
  readonly #dispatcher: Dispatcher;
  #step = 0;

  private constructor(
    gpu: GpuDevice,
    problem: Problem,
    plan: GpuPlan,
    made: {
      readonly slots: SectionArrays;
      readonly staged: readonly GPUBuffer[];
      readonly uniforms: Uniforms;
      readonly pipelines: readonly Pipeline[];
      readonly compileNs: number;
    },
  ) {
    const { slots, uniforms, pipelines } = made, { layout: { slice, grid: [nx], pad: [padX] } } = plan;
    this.#gpu = gpu;
    this.#problem = problem;
    this.plan = plan;
    this.compileNs = made.compileNs;
    this.#sections = plan.sections!;
    this.#slots = slots;
    this.#staged = made.staged;
    this.#uniforms = uniforms;
    const level = () => Array.from({ length: nx + 2 * padX }, () => new Float32Array(slice));
    this.#levels = [level(), level()];
    const arrays = this.#sections.map((_, section) => this.#slotOf(section));
    this.#dispatcher = new Dispatcher(gpu, { arrays, pipelines, uniforms });
  }

  /**
   * Compiles a plan of sweeps and takes the window's memory.
   *
   * @throws {RunFailure} as `GpuField.create` does
   */
  static async create(
    gpu: GpuDevice,
    problem: Problem,
    plan: GpuPlan,
    onCompiled?: () => Promise<void>,
  ): Promise<WindowedField> {
    const started = performance.now();
    const pipelines = await Promise.all(
      plan.shaders.map(({ code, label }) => compile(gpu, code, `${plan.label}: ${label}`, [0, 1])),
    );
    const compileNs = (performance.now() - started) * 1e6;
    await onCompiled?.();
    const sections = plan.sections!, count = Math.min(WINDOW_SECTIONS, sections.length);
    const bytes = 4 * Math.max(...sections.map(({ layout }) => layout.length));
    const slots = await ownMemory(gpu).take(Array<number>(count).fill(bytes), plan.label);
    const made: Disposable[] = slots.flat().map(disposing);
    try {
      const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
      const staged: GPUBuffer[] = [];
      for (let i = 0; i < count; i++) {
        staged.push(await gpu.buffer(2 * bytes, usage, "slices that come back"));
        made.push(disposing(staged.at(-1)!));
      }
      const uniforms = await Uniforms.create(gpu);
      return new WindowedField(gpu, problem, plan, { slots, staged, uniforms, pipelines, compileNs });
    } catch (error) {
      for (const one of made) one[Symbol.dispose]();
      throw error;
    }
  }

  /** Time steps since the initial state. */
  get step(): number {
    return this.#step;
  }

  /** Sets both levels, pads too, and time step 0. */
  async initialise({ kind, seed }: Start): Promise<void> {
    this.#step = 0;
    for (const [section, { layout, x, slices: [from, to] }] of this.#sections.entries()) {
      const fill = await compileFill(this.#gpu, this.#problem, layout, kind);
      const [slot] = await this.#uniforms.place([[seed, x, 0, 0, ...this.#problem.grid]]);
      const record: Recorder = (encoder, timestamps) => {
        const pass = encoder.beginComputePass(timestamps());
        pass.setPipeline(fill.pipeline);
        for (const array of this.#slotOf(section)) {
          pass.setBindGroup(0, this.#uniforms.bind(fill.bindings, [[0, array]]), slot!, 0, 1);
          pass.dispatchWorkgroups(...fillWorkgroups(layout));
        }
        pass.end();
      };
      const all = { section, first: 0, slices: to - from };
      await (await this.#submit([record], 1, all)).finish();
      this.#unload(all);
    }
  }

  /** Advances the field, as many steps a sweep as the plan can; returns nanoseconds by the host's clock. */
  async run(steps: number): Promise<number> {
    const started = performance.now();
    for (let done = 0; done < steps;) {
      const count = Math.min(this.plan.sweepSteps!, steps - done);
      await this.#sweep(this.plan.dispatches(count, this.#step));
      this.#step += count;
      done += count;
    }
    return (performance.now() - started) * 1e6;
  }

  /** The cells of a slice with its pads, of F(t) (`ago` = 0) or F(t−1). */
  slice(ago: 0 | 1, x: number): Float32Array<ArrayBuffer> {
    return this.#levels[((this.#step + ago) % 2) as 0 | 1][x + this.plan.layout.pad[0]]!;
  }

  /** The layout of {@linkcode slice}. */
  get sliceLayout(): Layout {
    return withoutPadX(this.plan.layout);
  }

  /** Compares levels with a reference's at the same time step, on the host. */
  compare(reference: WindowedField, levels: readonly (0 | 1)[]): Comparison {
    const [nx] = this.#problem.grid;
    const sliceOf = (field: WindowedField, ago: 0 | 1, x: number) => ({
      cells: field.slice(ago, x),
      layout: field.sliceLayout,
      slice: 0,
    });
    return joinComparisons(
      levels.flatMap((ago) =>
        Array.from(
          { length: nx },
          (_, x) => compareSlices(sliceOf(this, ago, x), sliceOf(reference, ago, x), 1),
        )
      ),
    );
  }

  [Symbol.dispose](): void {
    for (const buffer of [...this.#slots.flat(), ...this.#staged]) buffer.destroy();
    this.#uniforms.destroy();
  }

  #slotOf(section: number): SectionArrays[number] {
    return this.#slots[section % this.#slots.length]!;
  }

  async #sweep(dispatches: readonly Dispatch[]): Promise<void> {
    const last = this.#sections.length - 1;
    const bySection = Map.groupBy(dispatches, ({ section = 0 }) => section);
    this.#load(last);
    for (let section = last; section >= 0; section--) {
      const { passes, record } = await this.#dispatcher.record(bySection.get(section) ?? []);
      const finals = this.#finalsOf(section);
      const shared: Recorder = (encoder) => this.#copyCommon(encoder, section);
      const submission = await this.#submit([shared, ...record], passes, finals);
      // all of this while the device computes
      if (section < last) this.#unload(this.#finalsOf(section + 1));
      const left = section > 0 ? this.#load(section - 1, true) : undefined;
      // a wait takes Deno 10 ms, in which the rest is handed over
      const finished = submission.finish();
      finished.catch(() => {}); // awaited below
      left?.();
      await finished;
    }
    this.#unload(this.#finalsOf(0));
  }

  /** Slices that no earlier section touches: they are final once this one is computed. */
  #finalsOf(section: number): Moved {
    const { slices: [from, to] } = this.#sections[section]!;
    const first = section === 0 ? from : this.#sections[section - 1]!.slices[1];
    return { section, first: first - from, slices: to - first };
  }

  /**
   * Hands over the slices that the section after this one does not have.
   *
   * @param inTwo not the last few: what is returned hands them over
   */
  #load(section: number, inTwo = false): () => void {
    const { slices: [from, to] } = this.#sections[section]!, { layout: { slice, pad: [padX] } } = this.plan;
    const end = this.#sections[section + 1]?.slices[0] ?? to, [first, count] = this.#rows;
    const cut = inTwo ? Math.max(from, end - Math.ceil(TICK_BYTES / (8 * count))) : end;
    const handOver = (begin: number, until: number): void =>
      this.#slotOf(section).forEach((array, level) => {
        for (let x = begin; x < until; x++) {
          const rows = this.#levels[level]![x + padX]!.subarray(first, first + count);
          this.#gpu.write(array, 4 * (slice * (x - from) + first), rows);
        }
      });
    handOver(from, cut);
    return () => handOver(cut, end);
  }

  /** The cells of a slice that are moved, as first and count: without the pads of y at its ends, which stay zero. */
  get #rows(): readonly [first: number, count: number] {
    const { slice, pitch, pad: [, padY] } = this.plan.layout;
    return [padY * pitch, slice - 2 * padY * pitch];
  }

  /** Copies what the section after this one has in common with it. */
  #copyCommon(encoder: GPUCommandEncoder, section: number): void {
    const next = this.#sections[section + 1];
    if (next === undefined) return;
    const { slices: [from, to] } = this.#sections[section]!, [first] = next.slices;
    const bytes = 4 * this.plan.layout.slice, source = this.#slotOf(section + 1);
    this.#slotOf(section).forEach((array, level) =>
      encoder.copyBufferToBuffer(source[level]!, 0, array, bytes * (first - from), bytes * (to - first))
    );
  }

  /** Submits work on a section, after which some of its slices come back. */
  #submit(
    record: readonly Recorder[],
    passes: number,
    { section, first, slices }: Moved,
  ): Promise<Submission> {
    const staged = this.#stagedOf(section), bytes = 4 * this.plan.layout.slice;
    const comeBack: Recorder = (encoder) =>
      this.#slotOf(section).forEach((array, level) =>
        encoder.copyBufferToBuffer(array, bytes * first, staged, bytes * slices * level, bytes * slices)
      );
    // a section without any work has a pass as well, for its time
    const last: Recorder = (encoder, timestamps) => encoder.beginComputePass(timestamps()).end();
    return this.#gpu.submit({ passes: passes + 1, outgoing: [staged], record: [...record, last, comeBack] });
  }

  /** Takes slices that came back from their mapped buffer: one at a time, as large ranges are slow to read. */
  #unload({ section, first, slices }: Moved): void {
    const staged = this.#stagedOf(section), bytes = 4 * this.plan.layout.slice;
    const start = first + this.#sections[section]!.slices[0] + this.plan.layout.pad[0],
      [row, count] = this.#rows;
    this.#levels.forEach((level, i) => {
      for (let slice = 0; slice < slices; slice++) {
        const range = this.#gpu.mapped(staged, bytes * (slices * i + slice) + 4 * row, 4 * count);
        level[start + slice]!.set(new Float32Array(range), row);
      }
    });
    this.#gpu.unmap(staged);
  }

  #stagedOf(section: number): GPUBuffer {
    return this.#staged[section % this.#staged.length]!;
  }
}

function disposing(buffer: GPUBuffer): Disposable {
  return { [Symbol.dispose]: () => buffer.destroy() };
}

/**
 * Compiles a traversal for a window of so many bytes, and takes its memory.
 *
 * @throws {RunFailure} "limits" where it cannot; as {@linkcode WindowedField.create} does
 */
export async function openWindow(
  gpu: GpuDevice,
  problem: Problem,
  { traversal: name, parameters, windowBytes, onCompiled }: {
    readonly traversal: string;
    readonly parameters: Parameters;
    readonly windowBytes: number;
    readonly onCompiled?: (() => Promise<void>) | undefined;
  },
): Promise<WindowedField> {
  const traversal = traversalNamed(name), limits = { ...gpu.limits, windowBytes };
  const reason = traversal.refuse(problem) ?? traversal.infeasible(problem, parameters, limits);
  if (reason !== undefined) throw new RunFailure("limits", reason);
  return await WindowedField.create(gpu, problem, traversal.plan(problem, parameters, limits), onCompiled);
}
