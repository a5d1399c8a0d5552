import type { Layout } from "../../kernels/layout.ts";
import type { Grid } from "../../kernels/stencils/stencil.ts";
import { packShader, packWorkgroups } from "../../kernels/wgsl/pack_box.ts";
import type { Box } from "../../models/rank_part.ts";
import type { GpuField, LevelPart } from "../devices/gpu/gpu_field.ts";
import { compile, type Pipeline } from "../devices/gpu/gpu_pipelines.ts";
import { UNIFORM_STRIDE } from "../devices/gpu/gpu_uniforms.ts";
import type { SharedField } from "../devices/shared/shared_field.ts";
import { type Piece, piecesOf } from "./boxes.ts";
import type { RankField, RankStart } from "./rank_field.ts";

/** Memory that grows when more is needed. */
class Growing {
  #buffer: GPUBuffer | undefined;

  constructor(
    private readonly field: GpuField,
    private readonly usage: number,
    private readonly label: string,
  ) {}

  async atLeast(bytes: number): Promise<GPUBuffer> {
    if (this.#buffer === undefined || this.#buffer.size < bytes) {
      this.#buffer?.destroy();
      this.#buffer = await this.field.device.buffer(bytes, this.usage, this.label);
    }
    return this.#buffer;
  }

  destroy(): void {
    this.#buffer?.destroy();
  }
}

/** A rank's cells on a GPU: a kernel packs boxes in the submission of the steps before, another unpacks them. */
export class GpuRankField implements RankField {
  readonly #shared: SharedField;
  readonly #field: GpuField;
  readonly #pieces: Growing[] = [];
  readonly #readable: Growing[] = [];
  readonly #uniforms: Growing;
  /** Pieces that were handed out. */
  #mapped: readonly GPUBuffer[] = [];

  constructor(shared: SharedField, field: GpuField) {
    this.#shared = shared;
    this.#field = field;
    this.#uniforms = new Growing(field, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST, "boxes");
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
      piece: await this.#piece(i, 4 * piece.cells),
      readable: await this.#readableOf(i, 4 * piece.cells),
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
      const staged = await this.#piece(i, 4 * piece.cells);
      device.write(staged, 0, pieces[i]!);
      await device.enqueue(await this.#recordRuns([piece], () => staged, "unpack"));
    }
    this.#takeBack();
    await this.#field.renewPads();
  }

  [Symbol.dispose](): void {
    for (const memory of [...this.#pieces, ...this.#readable, this.#uniforms]) memory.destroy();
    this.#shared[Symbol.dispose]();
  }

  #takeBack(): void {
    for (const buffer of this.#mapped) this.#field.device.unmap(buffer);
    this.#mapped = [];
  }

  #piece(i: number, bytes: number): Promise<GPUBuffer> {
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    const memory = this.#pieces[i] ??= new Growing(this.#field, STORAGE | COPY_SRC | COPY_DST, "piece");
    return memory.atLeast(bytes);
  }

  #readableOf(i: number, bytes: number): Promise<GPUBuffer> {
    const { MAP_READ, COPY_DST } = GPUBufferUsage;
    const memory = this.#readable[i] ??= new Growing(this.#field, MAP_READ | COPY_DST, "piece to read");
    return memory.atLeast(bytes);
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
    const uniforms = await this.#uniforms.atLeast(runs.length * UNIFORM_STRIDE);
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
        pass.dispatchWorkgroups(...packWorkgroups(count));
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
