import type { FieldStart } from "../../../kernels/initial_field.ts";
import { type Layout, planeIn } from "../../../kernels/layout.ts";
import type { Point } from "../../../kernels/points.ts";
import type { FloatArray } from "../../../kernels/precision.ts";
import { linearWorkgroups } from "../../../kernels/wgsl/declare.ts";
import { type OwnValues, packShader } from "../../../kernels/wgsl/pack_box.ts";
import { bindingsOf } from "../../../kernels/wgsl/shader.ts";
import { type Box, firstOf, type PartPlace } from "../../../models/rank_part.ts";
import type { Comparison } from "../comparison.ts";
import { BufferPool } from "../gpu/buffer_pool.ts";
import type { ArrayRange } from "../gpu/field_memory.ts";
import type { Copying, GpuField, Recorded } from "../gpu/gpu_field.ts";
import { compile, type Pipeline } from "../gpu/gpu_pipelines.ts";
import { Uniforms } from "../gpu/gpu_uniforms.ts";
import { type Reference, stateLevels } from "../reference.ts";
import { RunFailure } from "../run_failure.ts";
import { type Piece, piecesOf } from "./boxes.ts";
import {
  type Arrival,
  type Coming,
  ownSlices,
  type PartField,
  type Round,
  type RoundOptions,
} from "./part_field.ts";

/** Cells that were handed to the device and may be kept on the host, 64 MiB. */
const MOST_ON_HOST = 2 ** 24;

/** A part on a GPU: a kernel packs boxes in the submission of the steps before, another unpacks them. */
export class GpuPartField implements PartField {
  /** Memory that the device alone uses, by its name. */
  readonly #scratch = new Map<string, GPUBuffer>();
  /** Memory that the host reads pieces from, and that of pieces which stay or come. */
  readonly #readable = new BufferPool((bytes) => this.onGpu.device.readable(bytes, "cells for the host"));
  readonly #staying = new BufferPool((bytes) => this.#storage(bytes, "cells for the part beside"));
  #uniforms: Uniforms | undefined;
  /** Unpacks what has come, before anything else is done. */
  #arriving: Copying | undefined;
  /** Cells that the device may not have taken yet. */
  #onHost = 0;

  constructor(readonly onGpu: GpuField, readonly place: PartPlace) {}

  get field(): GpuField {
    return this.onGpu;
  }

  async initialise(start: FieldStart): Promise<void> {
    this.#arriving = undefined;
    await this.onGpu.initialise({ ...start, first: firstOf(this.place), whole: this.place.whole });
  }

  async clear(): Promise<void> {
    this.#arriving = undefined;
    await this.onGpu.clear();
  }

  async sample(cells: readonly Point[]): Promise<FloatArray> {
    await this.settle();
    return await this.onGpu.sample(cells);
  }

  async begin(
    steps: number,
    { pack: groups = [], stay = [], repetitions = 1, turn }: RoundOptions = {},
  ): Promise<Round> {
    const { onGpu: field } = this, { device } = field, packed = groups.map(piecesOf), pieces = packed.flat();
    const left = stay.map(piecesOf), leaving = left.flat();
    if (pieces.length + leaving.length === 0) {
      await turn?.();
      await this.settle();
      const submission = steps === 0 ? undefined : await field.begin(steps, repetitions);
      const finish = async (): Promise<number> => await submission?.finish() ?? 0;
      return { finish, pieces: () => packed.map(() => []), release() {} };
    }
    const { bytes, Values } = this.onGpu.precision;
    const readable = await this.#readable.take(pieces.map(({ cells }) => bytes * cells));
    const staying = await this.#staying.take(leaving.map(({ cells }) => bytes * cells));
    const isOwn = this.#areOwn([...groups, ...stay].flat()),
      runs = { direction: "pack", isOwn, steps } as const;
    const records = [
      await this.#packInto(readable, pieces, runs),
      await this.#recordRuns(leaving, (i) => staying[i]!, runs),
    ];
    const pack = { records, isOwn };
    const options = { unpack: this.#arriving, outgoing: readable, pack, turn };
    const submission = await field.exchange(steps, options);
    this.#arriving = undefined;
    this.#onHost = 0; // taken by the end of the round
    return {
      finish: () => submission.finish(),
      pieces() {
        return packed.map(function* (group) {
          for (const piece of group) {
            yield new Values(device.mapped(readable[pieces.indexOf(piece)]!, 0, bytes * piece.cells));
          }
        });
      },
      release: () => {
        for (const buffer of readable) device.unmap(buffer);
        this.#readable.give(readable);
      },
      staying: left.map((group) => {
        const buffers = staying.splice(0, group.length);
        return { pieces: [], buffers, taken: () => this.#staying.give(buffers) };
      }),
    };
  }

  async coming(boxes: readonly Box[]): Promise<Coming> {
    const { bytes } = this.onGpu.precision;
    const buffers = await this.#staying.take(piecesOf(boxes).map(({ cells }) => bytes * cells));
    const set = (piece: number, cells: FloatArray<ArrayBuffer>): void => this.#write(buffers[piece]!, cells);
    return { buffers, set, taken: () => this.#staying.give(buffers) };
  }

  #write(buffer: GPUBuffer, cells: FloatArray<ArrayBuffer>): void {
    this.onGpu.device.write(buffer, 0, cells);
    this.#onHost += cells.length;
  }

  async unpack(arrived: readonly Arrival[]): Promise<void> {
    await this.settle();
    const [hosted, placed] = [false, true].map((isPlaced) =>
      arrived.filter(({ buffers }) => isPlaced === (buffers !== undefined))
    );
    const arriving = hosted!.flatMap((one) => piecesOf(one.boxes)),
      there = placed!.flatMap((one) => one.buffers!);
    if (arriving.length + there.length === 0) return;
    const buffers = await Promise.all(arriving.map(({ cells }, i) => this.#staging(`arriving ${i}`, cells)));
    hosted!.flatMap((one) => one.pieces).forEach((cells, i) => this.#write(buffers[i]!, cells));
    const isOwn = this.#areOwn(arrived.flatMap(({ boxes }) => boxes));
    const runs = { direction: "unpack", isOwn, steps: 0 } as const;
    const records = [
      await this.#recordRuns(arriving, (i) => buffers[i]!, runs),
      await this.#recordRuns(placed!.flatMap((one) => piecesOf(one.boxes)), (i) => there[i]!, runs),
    ];
    this.#arriving = { records, isOwn };
  }

  #areOwn(boxes: readonly Box[]): boolean {
    return boxes.every((box) => this.onGpu.isOwn(box));
  }

  async settle(): Promise<void> {
    const { onGpu: { device }, onGpu: field } = this, arriving = this.#arriving;
    if (arriving === undefined) return;
    this.#arriving = undefined;
    await field.take(arriving);
    if (this.#onHost < MOST_ON_HOST) return;
    await device.within(() => device.device.queue.onSubmittedWorkDone(), "writing cells");
    this.#onHost = 0;
  }

  async look(): Promise<() => Promise<boolean>> {
    await this.settle();
    return await this.onGpu.look();
  }

  async compare(reference: Reference): Promise<Comparison> {
    const { onGpu, problem } = reference;
    if (onGpu === undefined) throw new RunFailure("limits", "the reference is not on this GPU");
    return await this.onGpu.compare(onGpu, { levels: stateLevels(problem), ...ownSlices(this.place) });
  }

  [Symbol.dispose](): void {
    for (const buffer of this.#scratch.values()) buffer.destroy();
    for (const pool of [this.#readable, this.#staying]) pool.destroy();
    this.#uniforms?.destroy();
    this.onGpu[Symbol.dispose]();
  }

  /** Packs pieces, and copies them to where they are read. */
  async #packInto(
    readable: readonly GPUBuffer[],
    pieces: readonly Piece[],
    runs: RunOptions,
  ): Promise<Recorded> {
    const leaving = await Promise.all(pieces.map(({ cells }, i) => this.#staging(`leaving ${i}`, cells)));
    const record = await this.#recordRuns(pieces, (i) => leaving[i]!, runs);
    return (encoder) => {
      record(encoder);
      leaving.forEach((piece, i) =>
        encoder.copyBufferToBuffer(piece, 0, readable[i]!, 0, this.onGpu.precision.bytes * pieces[i]!.cells)
      );
    };
  }

  /** Memory that is kept, and larger when more is needed. */
  async #staging(name: string, cells: number): Promise<GPUBuffer> {
    const kept = this.#scratch.get(name), bytes = this.onGpu.precision.bytes * cells;
    if (kept !== undefined && kept.size >= bytes) return kept;
    kept?.destroy();
    this.#scratch.delete(name);
    const made = await this.#storage(bytes, name);
    this.#scratch.set(name, made);
    return made;
  }

  #storage(bytes: number, name: string): Promise<GPUBuffer> {
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    return this.onGpu.device.buffer(bytes, STORAGE | COPY_SRC | COPY_DST, name);
  }

  /** What copies the runs of pieces, each piece in its buffer. */
  async #recordRuns(
    pieces: readonly Piece[],
    bufferOf: (piece: number) => GPUBuffer,
    options: RunOptions,
  ): Promise<Recorded> {
    if (pieces.length === 0) return () => {};
    const { onGpu: field, onGpu: { device } } = this, { direction } = options;
    const uniforms = this.#uniforms ??= await Uniforms.create(device);
    const runs = pieces.flatMap((piece, i) =>
      piece.runs.flatMap((run) => partsOf(field, run.box, options).map((part) => ({ ...run, ...part, i })))
    );
    const slots = await uniforms.place(
      runs.map(({ box: { low: [x, y, z], size, plane, ago }, part, first, count, at }) => {
        const level = planeIn(part.layout, plane);
        return [x - part.x, y, z, ...size, level, first, count, at, part.begin, part.end, ago];
      }),
    );
    const shaders = new Map<Layout, Pipeline>();
    for (const { part: { layout, values } } of runs) {
      if (shaders.has(layout)) continue;
      const shader = packShader(layout, direction, values);
      shaders.set(layout, await compile(device, shader.code, direction, bindingsOf(shader)));
    }
    // bound at once: what was placed may lie in another buffer later
    const groups = runs.map(({ part: { layout, array, buffers }, i }) =>
      uniforms.bind(shaders.get(layout)!, [array, bufferOf(i), ...buffers])
    );
    return (encoder) => {
      const pass = encoder.beginComputePass();
      runs.forEach(({ part: { layout }, count }, run) => {
        pass.setPipeline(shaders.get(layout)!.pipeline);
        pass.setBindGroup(0, groups[run]!, slots[run]!, 0, 1);
        pass.dispatchWorkgroups(...linearWorkgroups(count));
      });
      pass.end();
    };
  }
}

interface RunOptions {
  readonly direction: "pack" | "unpack";
  /** Whether all boxes lie in an order of the plan's own. */
  readonly isOwn: boolean;
  /** Steps after which the levels are meant. */
  readonly steps: number;
}

/** A part of a level, and which of its slices count, each in one part if it is read; in an order of the plan's own its values. */
interface CountedPart {
  readonly array: ArrayRange;
  readonly layout: Layout;
  readonly x: number;
  readonly begin: number;
  readonly end: number;
  readonly values?: OwnValues;
  /** Those that the texts of `values` declare. */
  readonly buffers: readonly GPUBuffer[];
}

/** Where a box lies in the parts of its level; of a field in layers in those. */
function partsOf(
  field: GpuField,
  box: Box,
  { direction, isOwn, steps }: RunOptions,
): { readonly box: Box; readonly part: CountedPart }[] {
  if (isOwn) {
    const { layout } = field.plan.storage;
    return field.ownParts(box, steps).map((part) => ({ box, part: { ...part, layout, x: 0 } }));
  }
  const layers = field.layersAt(box, steps), buffers: GPUBuffer[] = [];
  if (layers) {
    return [{ ...layers, part: { ...layers.part, begin: 0, end: layers.part.layout.grid[0], buffers } }];
  }
  let read = 0;
  return field.level((box.ago + steps) % 2 as 0 | 1).map((part) => {
    const { x, layout: { grid: [end] } } = part, begin = direction === "pack" ? Math.max(0, read - x) : 0;
    read = x + end;
    return { box, part: { ...part, begin, end, buffers } };
  });
}
