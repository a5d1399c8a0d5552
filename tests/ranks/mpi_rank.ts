/**
 * What one rank does in `mpi_world_test.ts`: every kind of call there is, and what came of it as a line of JSON.
 *
 * @module
 */
import { openWorld } from "../../tuner/ranks/mpi_world.ts";
import { meet, reduce, shareAll } from "../../tuner/ranks/world.ts";

const world = await openWorld();
const { rank, size } = world;
const right = (rank + 1) % size, left = (rank + size - 1) % size;
const short = new Float32Array(3), long = new Float32Array(2 ** 20), own = new Float32Array(1);
const messages = [
  world.receive(left, 1, long),
  world.receive(left, 0, short),
  world.receive(rank, 2, own),
  world.send(right, 0, Float32Array.of(rank, rank + 0.5, -rank)),
  world.send(right, 1, new Float32Array(2 ** 20).fill(rank)),
  world.send(rank, 2, Float32Array.of(7)),
];
await world.finish(messages);
// the last rank waits for what the first sends only when a timer of the last has gone off meanwhile
const answer = new Float32Array(1), call = new Float32Array(1);
if (rank === size - 1) {
  const waiting = world.finish([world.receive(0, 3, answer)]);
  setTimeout(() => world.finish([world.send(0, 4, Float32Array.of(5))]), 5);
  await waiting;
} else if (rank === 0) {
  await world.finish([world.receive(size - 1, 4, call)]);
  await world.finish([world.send(size - 1, 3, call)]);
}
const texts = await shareAll(world, { rank, text: "é".repeat(rank) });
const sum = await reduce(world, Float64Array.of(rank, 1), "sum");
const most = await reduce(world, Float64Array.of(rank, -rank), "max");
await meet(world);
console.log(JSON.stringify({
  rank,
  size,
  short: [...short],
  long: long.every((value) => value === left),
  own: own[0],
  answer: answer[0],
  texts,
  sum: [...sum],
  most: [...most],
}));
if (Deno.args.includes("abort") && rank === size - 1) world.abort(3);
if (Deno.args.includes("abort")) await new Promise((resolve) => setTimeout(resolve, 60_000));
await world.close();
