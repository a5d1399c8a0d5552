import { assertEquals, assertRejects } from "@std/assert";
import { wave } from "../../../kernels/stencils/wave.ts";
import type { Box } from "../../../models/rank_part.ts";
import {
  type Arrival,
  type PartField,
  readBox,
  writeSlices,
} from "../../../tuner/devices/shared/part_field.ts";
import type { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { RunFailure } from "../../../tuner/devices/run_failure.ts";
import { piecesOf } from "../../../tuner/devices/shared/boxes.ts";
import { makeParts } from "../../../tuner/devices/shared/shares.ts";
import { testOnGpu } from "../../test_on_gpu.ts";

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
    field: { profiles: { update: {} } },
  };
  return { part: part as unknown as PartField, boxes };
}

const placed = (boxes: readonly Box[]) => boxes.map(({ low: [x], size: [slices] }) => [x, slices]);

Deno.test("slices are written some at a time, and those that stay are left out", async () => {
  const values = [0, 0, 0, 0, 0, 0], { part, boxes } = fakePart(values);
  const cells = (slice: number) => new Float32Array(IN_SLICE).fill(slice + 1);
  await writeSlices(part, [{ ago: 0, plane: 0 }], (slice) => slice === 3 ? undefined : cells(slice));
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

/** A part of 64 slices of 16,384 cells, and what writes some of them, and ends a round. */
async function gpuPart(gpu: GpuDevice) {
  const grid = [64, 128, 128] as const,
    problem = { stencil: wave(2), grid, boundary: "zero", steps: 1 } as const;
  const share = { cpuSlices: 0, gpuSlices: 64, exchangeEvery: 1, cpuWorkers: 0 };
  const parameters = { threadsZ: 64, threadsY: 1, threadsX: 1 };
  const [part] = await makeParts(problem, {
    gpu,
    configuration: { traversal: "stepwise", parameters, share },
  });
  const boxOf = (slices: number): Box => {
    return { ago: 0, plane: 0, planes: 1, low: [0, 0, 0], size: [slices, 128, 128] };
  };
  return {
    async write(slices: number): Promise<void> {
      const pieces = piecesOf([boxOf(slices)]).map(({ cells }) => new Float32Array(cells));
      await part!.unpack([{ boxes: [boxOf(slices)], pieces }]);
    },
    async step(): Promise<void> {
      const round = await part!.begin(0, { pack: [[boxOf(1)]] });
      await round.finish();
      round.release();
    },
    [Symbol.dispose]: () => part![Symbol.dispose](),
  };
}

testOnGpu("a GPU's memory that could not be had larger is not used after it was given back", async (gpu) => {
  using part = await gpuPart(gpu);
  const made: GPUBuffer[] = [], buffer = gpu.buffer.bind(gpu), write = gpu.write.bind(gpu);
  let isFull = false;
  gpu.buffer = async (...request) => {
    if (isFull) throw new RunFailure("out-of-memory", "full");
    const one = await buffer(...request);
    if (request[2].startsWith("arriving")) made.push(one);
    return one;
  };
  const written: GPUBuffer[] = [];
  gpu.write = (buffer, ...values) => {
    if (made.includes(buffer)) written.push(buffer);
    write(buffer, ...values);
  };
  await part.write(1);
  isFull = true;
  await assertRejects(() => part.write(2), RunFailure);
  isFull = false;
  await part.write(1);
  assertEquals(written.map((one) => made.indexOf(one)), [0, 1]);
});

testOnGpu("cells that a GPU has taken by the end of a round are not waited for", async (gpu) => {
  using part = await gpuPart(gpu);
  const within = gpu.within.bind(gpu);
  let waits = 0;
  gpu.within = (begin, what, spentMs) => {
    if (what === "writing cells") waits++;
    return within(begin, what, spentMs);
  };
  // 16 times 64 slices are the most
  const writes = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await part.write(64);
  };
  for (let i = 0; i < 2; i++) {
    await writes(9);
    await part.step();
  }
  await writes(1);
  await part.write(1);
  assertEquals(waits, 0);
  await writes(15);
  await part.write(1);
  assertEquals(waits, 1);
});
