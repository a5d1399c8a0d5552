/**
 * What each leg of an exchange between the GPUs of two ranks takes that goes through the host: the tick of a wait, mapping,
 * reading, sending and receiving, writing; and what is saved where messages go from mapped memory and into it.
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
const { MAP_READ, MAP_WRITE, COPY_SRC, COPY_DST, STORAGE } = GPUBufferUsage;

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
async function map(source: GPUBuffer, target: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(source, 0, target, 0, bytes);
  queue.submit([encoder.finish()]);
  await target.mapAsync(GPUMapMode.READ, 0, bytes);
  return target.getMappedRange(0, bytes);
}

if (world.rank === 0) console.log(`${opened.name}, both ranks at the same time`);
for (const mib of sizes) {
  const bytes = mib * 2 ** 20, cells = bytes / 4;
  if (world.rank === 0) console.log(`${mib} MiB each way`);
  const storage = device.createBuffer({ size: bytes, usage: STORAGE | COPY_SRC | COPY_DST });
  const readable = device.createBuffer({ size: bytes, usage: MAP_READ | COPY_DST });
  const own = new Float32Array(cells).fill(world.rank), theirs = new Float32Array(cells);
  const read = new Float32Array(cells);
  await timed("a wait for nothing", 0, async () => {
    queue.submit([]);
    await queue.onSubmittedWorkDone();
  });
  await timed("copy on the device, and map", bytes, async () => {
    await map(storage, readable, bytes);
    readable.unmap();
  });
  const mapped = await map(storage, readable, bytes);
  for (const piece of [1, 4, 16].filter((one) => one <= mib)) {
    await timed(`read a mapped range, ${piece} MiB at once`, bytes, () => {
      const length = piece * 2 ** 18;
      for (let at = 0; at < cells; at += length) {
        const count = Math.min(length, cells - at);
        read.set(new Float32Array(mapped, 4 * at, count), at);
      }
      return Promise.resolve();
    });
  }
  const exchange = async (sent: Float32Array<ArrayBuffer>, received: Float32Array<ArrayBuffer>) => {
    await world.finish([world.receive(other, 0, received), world.send(other, 0, sent)]);
  };
  await timed("send and receive, ordinary memory", bytes, () => exchange(own, theirs));
  await timed(
    "send from a mapped range, and receive",
    bytes,
    () => exchange(new Float32Array(mapped), theirs),
  );
  readable.unmap();
  await timed("write by the queue, and wait", bytes, async () => {
    queue.writeBuffer(storage, 0, theirs);
    await queue.onSubmittedWorkDone();
  });
  await timed("receive into a buffer mapped at its creation, and copy", bytes, async () => {
    const usage = MAP_WRITE | COPY_SRC,
      target = device.createBuffer({ size: bytes, usage, mappedAtCreation: true });
    await exchange(own, new Float32Array(target.getMappedRange()));
    target.unmap();
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(target, 0, storage, 0, bytes);
    queue.submit([encoder.finish()]);
    await queue.onSubmittedWorkDone();
    target.destroy();
  });
  // that it has come
  const [value] = new Float32Array(await map(storage, readable, bytes));
  if (value !== other) throw new Error(`${other} wanted: found ${value}`);
  for (const buffer of [storage, readable]) buffer.destroy();
}
await world.close();
Deno.exit(0);
