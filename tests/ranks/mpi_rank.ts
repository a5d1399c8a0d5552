/**
 * What one rank does in `mpi_world_test.ts`: every kind of call there is, and what came of it as a line of JSON.
 *
 * @module
 */
import { openWorld } from "../../tuner/ranks/mpi_world.ts";
import { meet, shareAll } from "../../tuner/ranks/world.ts";

const world = await openWorld();
const { rank, size } = world;
const right = (rank + 1) % size, left = (rank + size - 1) % size;
const short = new Float32Array(3), long = new Float32Array(2 ** 20), own = new Float32Array(1);
// rank 0 comes late: the other processes go on meanwhile
if (rank === 0) await new Promise((resolve) => setTimeout(resolve, 200));
const messages = [
  world.receive(left, 1, long),
  world.receive(left, 0, short),
  world.receive(rank, 2, own),
  world.send(right, 0, Float32Array.of(rank, rank + 0.5, -rank)),
  world.send(right, 1, new Float32Array(2 ** 20).fill(rank)),
  world.send(rank, 2, Float32Array.of(7)),
];
let turns = 0;
const timer = setInterval(() => turns++, 1);
await world.finish(messages);
clearInterval(timer);
const texts = await shareAll(world, { rank, text: "é".repeat(rank) });
const sum = await world.reduce(Float64Array.of(rank, 1), "sum");
const most = await world.reduce(Float64Array.of(rank, -rank), "max");
await meet(world);
console.log(JSON.stringify({
  rank,
  size,
  short: [...short],
  long: long.every((value) => value === left),
  own: own[0],
  hasTurned: rank === 0 || size === 1 || turns > 10,
  texts,
  sum: [...sum],
  most: [...most],
}));
if (Deno.args.includes("abort") && rank === size - 1) world.abort(3);
if (Deno.args.includes("abort")) await new Promise((resolve) => setTimeout(resolve, 60_000));
await world.close();
