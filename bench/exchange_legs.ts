/**
 * What each leg of an exchange between the GPUs of two ranks takes that goes through the host: the tick of a wait, mapping
 * without it, reading in pieces that are kept or given back, sending and receiving, writing; and all of it in pieces.
 *
 *     mpirun -n 2 deno run -A bench/exchange_legs.ts [MIB…]
 *
 * @module
 */
import { median } from "../tuner/measuring/statistics.ts";
import { openWorld } from "../tuner/ranks/mpi_world.ts";
import { openRankDevice } from "../tuner/ranks/open_rank_device.ts";

const sizes = Deno.args.length > 0 ? Deno.args.map(Number) : [1, 4, 16, 64], REPEATS = 7;
const world = await openWorld(), other = 1 - world.rank;
if (world.size !== 2 || sizes.some((mib) => !(mib > 0))) {
  console.error("usage: mpirun -n 2 deno run -A bench/exchange_legs.ts [MIB…]");
  Deno.exit(2);
}
using opened = await openRankDevice(world, { gpu: Deno.env.get("FACET_GPU") });
if (opened.gpu === undefined) throw new Error("a GPU is wanted");
const { device } = opened.gpu, { queue } = device;
const { MAP_READ, COPY_SRC, COPY_DST, STORAGE } = GPUBufferUsage;

/** Milliseconds of what both ranks do at the same time: the slower one's, the median of some. */
async function timed(what: string, bytes: number, act: () => Promise<void>): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i <= REPEATS; i++) {
    await world.meet();
    const began = performance.now();
    await act();
    const ms = await world.most(performance.now() - began);
    if (i > 0) times.push(ms); // the first takes new memory
  }
  const ms = median(times), rate = bytes > 0 ? `${(bytes / ms / 1e6).toFixed(2)} GB/s` : "";
  if (world.rank === 0) console.log(`  ${what.padEnd(64)}${ms.toFixed(2).padStart(9)} ms  ${rate}`);
}

/** Copies on the device, and maps. */
async function map(source: GPUBuffer, target: GPUBuffer, bytes: number): Promise<void> {
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(source, 0, target, 0, bytes);
  queue.submit([encoder.finish()]);
  const settled = target.mapAsync(GPUMapMode.READ, 0, bytes);
  settled.catch(() => {});
  // Deno has mapped it by now, but aborts where it is the first time
  if (!known.has(target)) await settled;
  known.add(target);
}
const known = new Set<GPUBuffer>();

if (world.rank === 0) console.log(`${opened.name}, both ranks at the same time`);
for (const mib of sizes) {
  const bytes = mib * 2 ** 20, cells = bytes / 4;
  if (world.rank === 0) console.log(`${mib} MiB each way`);
  const storage = device.createBuffer({ size: bytes, usage: STORAGE | COPY_SRC | COPY_DST });
  const readable = device.createBuffer({ size: bytes, usage: MAP_READ | COPY_DST });
  const own = new Float32Array(cells).fill(world.rank), theirs = new Float32Array(cells);
  queue.writeBuffer(storage, 0, own);
  await timed("a wait for nothing", 0, async () => {
    queue.submit([]);
    await queue.onSubmittedWorkDone();
  });
  await timed("copy on the device, and map", bytes, async () => {
    await map(storage, readable, bytes);
    readable.unmap();
  });
  await map(storage, readable, bytes);
  const pieces = [1, 4, 16].filter((one) => one <= mib);
  /** Hands over what is mapped, a piece at a time. */
  const inPieces = async (
    mib: number,
    use: (cells: Float32Array<ArrayBuffer>, at: number) => Promise<void> | void,
    isKept = false,
  ) => {
    for (let at = 0; at < bytes; at += mib * 2 ** 20) {
      const range = readable.getMappedRange(at, Math.min(mib * 2 ** 20, bytes - at));
      await use(new Float32Array(range), at / 4);
      if (!isKept) range.transfer(0);
    }
  };
  for (const piece of pieces) {
    for (const isKept of [true, false]) {
      await timed(
        `read a mapped range, ${piece} MiB at once${isKept ? "" : ", given back"}`,
        bytes,
        async () => {
          await inPieces(piece, (cells) => void cells[0], isKept);
        },
      );
    }
  }
  const exchange = async (sent: Float32Array<ArrayBuffer>, received: Float32Array<ArrayBuffer>) => {
    await world.finish([world.receive(other, 0, received), world.send(other, 0, sent)]);
  };
  await timed("send and receive, ordinary memory", bytes, () => exchange(own, theirs));
  for (const piece of pieces) {
    await timed(`read, send and receive, ${piece} MiB at once`, bytes, async () => {
      const length = piece * 2 ** 18, receives: ReturnType<typeof world.receive>[] = [];
      for (let at = 0; at < cells; at += length) {
        receives.push(world.receive(other, 0, theirs.subarray(at, at + length)));
      }
      await inPieces(piece, (cells) => world.finish([world.send(other, 0, cells)]));
      await world.finish(receives);
    });
  }
  readable.unmap();
  await timed("write by the queue, and wait", bytes, async () => {
    queue.writeBuffer(storage, 0, theirs);
    await queue.onSubmittedWorkDone();
  });
  for (const piece of pieces) {
    await timed(`the same, ${piece} MiB at once`, bytes, async () => {
      const length = piece * 2 ** 18;
      for (let at = 0; at < cells; at += length) {
        queue.writeBuffer(storage, 4 * at, theirs.subarray(at, at + length));
      }
      await map(storage, readable, 4);
      readable.unmap();
    });
  }
  // that it has come
  await map(storage, readable, bytes);
  const [value] = new Float32Array(readable.getMappedRange(0, bytes));
  if (value !== other) throw new Error(`${other} wanted: found ${value}`);
  for (const buffer of [storage, readable]) buffer.destroy();
}
await world.close();
Deno.exit(0);
