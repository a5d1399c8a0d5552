import type { Layout } from "../../kernels/layout.ts";
import type { Grid } from "../../kernels/stencils/stencil.ts";
import { linearWorkgroups } from "../../kernels/wgsl/declare.ts";
import { packShader } from "../../kernels/wgsl/pack_box.ts";
import type { Box } from "../../models/rank_part.ts";
import type { GpuField, LevelPart } from "../devices/gpu/gpu_field.ts";
import { compile, type Pipeline } from "../devices/gpu/gpu_pipelines.ts";
import { UNIFORM_STRIDE } from "../devices/gpu/gpu_uniforms.ts";
import type { SharedField } from "../devices/shared/shared_field.ts";
import { type Piece, piecesOf } from "./boxes.ts";
import type { RankField, RankStart } from "./rank_field.ts";

/** What each kind of memory is for, by its name. */
const { STORAGE, COPY_SRC, COPY_DST, MAP_READ, UNIFORM } = GPUBufferUsage;
const USAGES = {
  piece: STORAGE | COPY_SRC | COPY_DST,
  readable: MAP_READ | COPY_DST,
  boxes: UNIFORM | COPY_DST,
} as const;

/** A rank's cells on a GPU: a kernel packs boxes in the submission of the steps before, another unpacks them. */
export class GpuRankField implements RankField {
  readonly #shared: SharedField;
  readonly #field: GpuField;
  readonly #buffers = new Map<string, GPUBuffer>();
  /** Pieces that were handed out. */
  #mapped: readonly GPUBuffer[] = [];

  constructor(shared: SharedField, field: GpuField) {
    this.#shared = shared;
    this.#field = field;
  }

  async initialise(start: RankStart, first: Grid, whole: Grid): Promise<void> {
    await this.#field.initialise({ ...start, first, whole });
  }

  async advance(...[steps, _open, groups = [], onPiece]: Parameters<RankField["advance"]>): Promise<number> {
    this.#takeBack();
    const field = this.#field, { device } = field;
    const pieces = groups.flatMap((boxes, group) => piecesOf(boxes).map((piece) => ({ ...piece, group })));
    if (pieces.length === 0) return steps === 0 ? 0 : await field.run(steps);
    const copies = await Promise.all(pieces.map(async (piece, i) => ({
      piece: await this.#memory("piece", i, 4 * piece.cells),
      readable: await this.#memory("readable", i, 4 * piece.cells),
    })));
    const record = await this.#recordRuns(pieces, (i) => copies[i]!.piece, "pack");
    const submission = await field.exchange(steps, {
      packing: {
        readable: copies.map(({ readable }) => readable),
        record(encoder) {
          record(encoder);
          copies.forEach(({ piece, readable }, i) =>
            encoder.copyBufferToBuffer(piece, 0, readable, 0, 4 * pieces[i]!.cells)
          );
        },
      },
    });
    const timeNs = await submission.finish();
    this.#mapped = copies.map(({ readable }) => readable);
    pieces.forEach(({ group, cells }, i) => {
      onPiece?.(group, new Float32Array(device.mapped(this.#mapped[i]!, 0, 4 * cells)));
    });
    return timeNs;
  }

  async unpack(boxes: readonly Box[], pieces: readonly Float32Array<ArrayBuffer>[]): Promise<void> {
    const { device } = this.#field;
    for (const [i, piece] of piecesOf(boxes).entries()) {
      const staged = await this.#memory("piece", i, 4 * piece.cells);
      device.write(staged, 0, pieces[i]!);
      await device.enqueue(await this.#recordRuns([piece], () => staged, "unpack"));
    }
    this.#takeBack();
    await this.#field.renewPads();
  }

  [Symbol.dispose](): void {
    for (const buffer of this.#buffers.values()) buffer.destroy();
    this.#shared[Symbol.dispose]();
  }

  #takeBack(): void {
    for (const buffer of this.#mapped) this.#field.device.unmap(buffer);
    this.#mapped = [];
  }

  /** Memory that is kept, and larger when more is needed. */
  async #memory(kind: keyof typeof USAGES, i: number, bytes: number): Promise<GPUBuffer> {
    const name = `${kind} ${i}`, kept = this.#buffers.get(name);
    if (kept !== undefined && kept.size >= bytes) return kept;
    kept?.destroy();
    const made = await this.#field.device.buffer(bytes, USAGES[kind], name);
    this.#buffers.set(name, made);
    return made;
  }

  /** What copies the runs of pieces, each piece in its buffer. */
  async #recordRuns(
    pieces: readonly Piece[],
    bufferOf: (piece: number) => GPUBuffer,
    direction: "pack" | "unpack",
  ): Promise<(encoder: GPUCommandEncoder) => void> {
    const field = this.#field,
      { device } = field,
      runs = pieces.flatMap((piece, i) =>
        piece.runs.flatMap((run) =>
          partsOf(field, run.box.ago, direction).map((part) => ({ ...run, part, i }))
        )
      );
    const uniforms = await this.#memory("boxes", 0, runs.length * UNIFORM_STRIDE);
    const words = new Int32Array(runs.length * UNIFORM_STRIDE / 4);
    runs.forEach(({ box: { low: [x, y, z], size, plane }, part, first, count, at }, i) => {
      const place = [x - part.x, y, z, ...size, plane, first, count, at, part.first, part.end];
      words.set(place, i * UNIFORM_STRIDE / 4);
    });
    device.write(uniforms, 0, words);
    const pipelines = new Map<Layout, Pipeline>();
    for (const { part: { layout } } of runs) {
      if (pipelines.has(layout)) continue;
      pipelines.set(layout, await compile(device, packShader(layout, direction), direction, [0, 1]));
    }
    return (encoder) => {
      const pass = encoder.beginComputePass();
      runs.forEach(({ box: { ago }, part, count, i }, run) => {
        const { pipeline, bindings } = pipelines.get(part.layout)!;
        // F(t) is known only when the steps before are recorded
        const { array } = partsOf(field, ago, direction).find(({ x }) => x === part.x)!;
        const resources = [{ buffer: array }, { buffer: bufferOf(i) }, {
          buffer: uniforms,
          size: UNIFORM_STRIDE,
        }];
        const entries = resources.map((resource, binding) => ({ binding, resource }));
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, device.device.createBindGroup({ layout: bindings, entries }), [
          run * UNIFORM_STRIDE,
        ]);
        pass.dispatchWorkgroups(...linearWorkgroups(count));
      });
      pass.end();
    };
  }
}

/** Which slices of a part of a level count, counted from the part's first: to be read, each slice in one part only. */
type CountedPart = LevelPart & { readonly first: number; readonly end: number };

function partsOf(field: GpuField, ago: 0 | 1, direction: "pack" | "unpack"): CountedPart[] {
  let read = 0;
  return field.level(ago).map((part) => {
    const { x, layout: { grid: [end] } } = part, first = direction === "pack" ? Math.max(0, read - x) : 0;
    read = x + end;
    return { ...part, first, end };
  });
}
