import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import type { Box } from "../../models/rank_part.ts";
import type { Configuration } from "../configuration.ts";
import type { CpuField } from "../devices/cpu/cpu_field.ts";
import type { CpuPool } from "../devices/cpu/wasm_workers.ts";
import type { GpuDevice } from "../devices/gpu/gpu_device.ts";
import type { Start } from "../devices/reference.ts";
import { SharedField } from "../devices/shared/shared_field.ts";
import { levelOf } from "../devices/shared/slice_exchange.ts";
import { copyPiece, piecesOf } from "./boxes.ts";
import { GpuRankField } from "./gpu_rank_field.ts";

/** What a run starts from, and at which time step. */
export interface RankStart extends Start {
  /** Time steps before it. @default {0} */
  readonly step?: number;
}

/** A rank's cells on its device, ghost zones included, and how boxes of them come and go. */
export interface RankField extends Disposable {
  /** Sets both levels and the time step; `first` is where cell (0, 0, 0) lies in the whole grid. */
  initialise(start: RankStart, first: Grid, whole: Grid): Promise<void>;
  /**
   * Advances all cells, then hands out groups of boxes, piece by piece, each as soon as it is on the host. A piece stays
   * as it is until the next call, which may take it back in.
   *
   * @param open whether x has a ghost zone at its low and its high end: the CPU leaves out what becomes invalid there
   * @returns nanoseconds that the device took
   */
  advance(
    steps: number,
    open: readonly [low: boolean, high: boolean],
    groups?: readonly (readonly Box[])[],
    onPiece?: (group: number, cells: Float32Array<ArrayBuffer>) => void,
  ): Promise<number>;
  /** Sets boxes from their pieces, as `advance` hands them out. */
  unpack(boxes: readonly Box[], pieces: readonly Float32Array<ArrayBuffer>[]): Promise<void>;
}

/** What a rank computes with: a GPU, or workers of its CPU. */
export interface RankDevice {
  /** @internal */
  readonly gpu: GpuDevice | undefined;
  /** @internal */
  readonly cpuPool: CpuPool | undefined;
}

/**
 * Takes the memory of a rank's part and compiles its kernels. A configuration for one device alone.
 *
 * @throws {RunFailure} if the device does not allow it
 */
export async function makeRankField(
  problem: Problem,
  device: RankDevice,
  configuration: Configuration,
): Promise<RankField> {
  const shared = await SharedField.create(problem, { ...device, configuration });
  const { gpuShare } = shared;
  return gpuShare === undefined ? new CpuRankField(shared) : new GpuRankField(shared, gpuShare.field);
}

class CpuRankField implements RankField {
  readonly #shared: SharedField;
  readonly #field: CpuField;

  constructor(shared: SharedField) {
    this.#shared = shared;
    this.#field = shared.cpuShare!.field;
  }

  async initialise({ kind, ...start }: RankStart, first: Grid, whole: Grid): Promise<void> {
    await this.#field.setInitial(kind, { ...start, first, whole });
  }

  async advance(...[steps, [low, high], groups = [], onPiece]: Parameters<RankField["advance"]>) {
    const timeNs = steps === 0 ? 0 : await this.#field.run({ steps, ghost: { low, high } });
    groups.forEach((boxes, group) => {
      for (const piece of piecesOf(boxes)) {
        const cells = new Float32Array(piece.cells);
        copyPiece(piece, this.#memory, cells, "pack");
        onPiece?.(group, cells);
      }
    });
    return timeNs;
  }

  unpack(boxes: readonly Box[], pieces: readonly Float32Array<ArrayBuffer>[]): Promise<void> {
    piecesOf(boxes).forEach((piece, i) => copyPiece(piece, this.#memory, pieces[i]!, "unpack"));
    return Promise.resolve();
  }

  get #memory() {
    const levels = [levelOf(this.#field, 0).cells, levelOf(this.#field, 1).cells] as const;
    return { levels, layout: this.#field.layout };
  }

  [Symbol.dispose](): void {
    this.#shared[Symbol.dispose]();
  }
}
