/**
 * What one rank does in `mpi_world_test.ts`: every kind of call there is, and what came of it as a line of JSON.
 *
 * @module
 */
import { openWorld } from "../../tuner/ranks/mpi_world.ts";

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
const texts = await world.shareAll({ rank, text: "é".repeat(rank) });
const most = [await world.most(rank + 0.1), await world.most(-rank)];
// a part of the world has messages and collectives of its own; the rank outside takes part in none
const part = await world.first(size - 1), inPart = new Float32Array(1);
if (part !== undefined) {
  const next = (rank + 1) % part.size, before = (rank + part.size - 1) % part.size;
  await part.finish([part.receive(before, 0, inPart), part.send(next, 0, Float32Array.of(rank))]);
}
const partFound = part && [part.size, inPart[0], await part.most(rank), ...await part.shareAll(rank)];
await part?.meet();
await part?.close();
// no rank is past the meeting before the last has come
const come = Date.now() + (rank === size - 1 ? 30 : 0);
while (Date.now() < come);
await world.meet();
const isEarly = Date.now() < await world.most(come);
console.log(JSON.stringify({
  rank,
  size,
  short: [...short],
  long: long.every((value) => value === left),
  own: own[0],
  answer: answer[0],
  texts,
  most,
  part: partFound,
  isEarly,
}));
if (Deno.args.includes("short")) {
  const its = rank === 0 ? world.send(1, 5, new Float32Array(3)) : world.receive(0, 5, new Float32Array(2));
  await world.finish([its]).catch(({ message }) => console.error(message));
}
if (Deno.args.includes("left") && rank === 1) world.receive(0, 6, new Float32Array(2));
if (Deno.args.includes("abort") && rank === size - 1) world.abort(3);
if (Deno.args.includes("abort")) await new Promise((resolve) => setTimeout(resolve, 60_000));
await world.close();
