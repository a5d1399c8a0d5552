import { assertEquals, assertRejects } from "@std/assert";
import { PRECISIONS } from "../../../kernels/precision.ts";
import { layOut } from "../../../kernels/layout.ts";
import type { Box, PartPlace } from "../../../models/rank_part.ts";
import {
  type Arrival,
  type PartField,
  readBox,
  writeSlices,
} from "../../../tuner/devices/shared/part_field.ts";
import type { GpuField } from "../../../tuner/devices/gpu/gpu_field.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import { piecesOf } from "../../../tuner/devices/shared/boxes.ts";
import { GpuPartField } from "../../../tuner/devices/shared/gpu_part_field.ts";

/** Slices of 24 MiB: two cross at once. */
const GRID = [6, 3 * 1024, 2 * 1024] as const, IN_SLICE = GRID[1] * GRID[2];

/** A part whose slices hold one value each, and the boxes that it was asked for. */
function fakePart(values: number[]) {
  const boxes: Box[] = [];
  const part = {
    place: { part: { grid: GRID } },
    begin(_: number, { pack }: { readonly pack: readonly (readonly Box[])[] }) {
      const [box] = pack.flat();
      boxes.push(box!);
      const { low: [x], size: [slices] } = box!;
      const cells = new Float32Array(slices * IN_SLICE);
      for (let i = 0; i < slices; i++) cells.fill(values[x + i]!, i * IN_SLICE, (i + 1) * IN_SLICE);
      let at = 0;
      const pieces = piecesOf([box!]).map((piece) => cells.slice(at, at += piece.cells));
      return Promise.resolve({ finish: () => Promise.resolve(0), pieces: () => [pieces], release() {} });
    },
    unpack([arrived]: readonly Arrival[]) {
      const { boxes: [box], pieces } = arrived!;
      boxes.push(box!);
      const { low: [x], size: [slices] } = box!;
      const [first, last] = [pieces[0]![0]!, pieces.at(-1)!.at(-1)!];
      values[x] = first;
      values[x + slices - 1] = last;
      return Promise.resolve();
    },
    settle: () => Promise.resolve(),
    profiles: { update: {} },
  };
  return { part: part as unknown as PartField, boxes };
}

const placed = (boxes: readonly Box[]) => boxes.map(({ low: [x], size: [slices] }) => [x, slices]);

Deno.test("slices are written some at a time, and those that stay are left out", async () => {
  const values = [0, 0, 0, 0, 0, 0], { part, boxes } = fakePart(values);
  const cells = (slice: number) => new Float32Array(IN_SLICE).fill(slice + 1);
  await writeSlices(part, { ago: 0, plane: 0 }, (slice) => slice === 3 ? undefined : cells(slice));
  assertEquals(placed(boxes), [[0, 2], [2, 1], [4, 2]]);
  assertEquals(values, [1, 2, 3, 0, 5, 6]);
});

Deno.test("a large box is read some slices at a time", async () => {
  const { part, boxes } = fakePart([1, 2, 3, 4, 5, 6]), cells = new Float32Array(5 * IN_SLICE);
  await readBox(part, { ago: 0, plane: 0, planes: 1, low: [1, 0, 0], size: [5, GRID[1], GRID[2]] }, cells);
  assertEquals(placed(boxes), [[1, 2], [3, 2], [5, 1]]);
  assertEquals([0, 1, 2, 3, 4].map((i) => [cells[i * IN_SLICE], cells[(i + 1) * IN_SLICE - 1]]), [
    [2, 2],
    [3, 3],
    [4, 4],
    [5, 5],
    [6, 6],
  ]);
});

/** A part of slices of 4 cells on a GPU in software, whose slices are copied: no kernel is compiled. */
function gpuPart(device: object) {
  const layout = layOut([2 ** 22, 2, 2], { pad: [1, 1, 1] });
  const field = {
    device: { isSoftware: true, write() {}, ...device },
    plan: { storage: { layout } },
    precision: PRECISIONS.f32,
    level: () => [{ array: {} }],
    renewPads: () => Promise.resolve(),
    exchange: () => Promise.resolve({ finish: () => Promise.resolve(0) }),
  };
  const part = new GpuPartField(field as unknown as GpuField, undefined as unknown as PartPlace);
  const boxOf = (slices: number): Box => {
    return { ago: 0, plane: 0, planes: 1, low: [0, 0, 0], size: [slices, 2, 2] };
  };
  return {
    async write(slices: number): Promise<void> {
      const pieces = piecesOf([boxOf(slices)]).map(({ cells }) => new Float32Array(cells));
      await part.unpack([{ boxes: [boxOf(slices)], pieces }]);
    },
    async step(): Promise<void> {
      const round = await part.begin(1, { pack: [[boxOf(1)]] });
      await round.finish();
    },
  };
}

Deno.test("a GPU's memory that could not be had larger is not used after it was given back", async () => {
  const made: { isGone: boolean }[] = [];
  let isFull = false;
  const { write } = gpuPart({
    buffer(size: number) {
      if (isFull) return Promise.reject(new RunFailure("out-of-memory", "full"));
      const one = { size, isGone: false, destroy: () => void (one.isGone = true) };
      made.push(one);
      return Promise.resolve(one);
    },
    write: ({ isGone }: { isGone: boolean }) => assertEquals(isGone, false),
  });
  await write(1);
  isFull = true;
  await assertRejects(() => write(2), RunFailure);
  isFull = false;
  await write(1);
  assertEquals(made.map(({ isGone }) => isGone), [true, false]);
});

Deno.test("cells that a GPU has taken by the end of a round are not waited for", async () => {
  let waits = 0;
  const { write, step } = gpuPart({
    buffer: (size: number) => Promise.resolve({ size, destroy() {} }),
    readable: (size: number) => Promise.resolve({ size, destroy() {} }),
    within: () => Promise.resolve(waits++),
  });
  for (let i = 0; i < 2; i++) {
    await write(2 ** 20);
    await step();
  }
  await write(1);
  await write(1);
  assertEquals(waits, 0);
  await write(2 ** 20);
  await write(1);
  assertEquals(waits, 1);
});
