import { DeviceError } from "../devices/device_error.ts";

/** The ranks cannot go on together: one of them failed, or they were not asked for the same. */
export class RankError extends DeviceError {
  override name = "RankError";
}

/** What a reduction makes of the ranks' values. */
export type Reduction = "sum" | "max";

/** A message under way; {@linkcode World.finish} waits for it. */
export interface Message {
  /** Tells messages apart that someone waits for; the world that made it knows what it is. */
  readonly id: number;
}

/**
 * The ranks that compute one grid together: MPI's, or one alone. A rank sends to and receives from any other, also
 * itself; messages from one rank to another with one tag arrive in order.
 */
export interface World {
  /** This rank, from 0 up. */
  readonly rank: number;
  /** Ranks. */
  readonly size: number;
  /** Sends values, which must stay as they are until the message is finished. */
  send(to: number, tag: number, values: Float32Array<ArrayBuffer>): Message;
  /** Receives values into an array of the same length. */
  receive(from: number, tag: number, values: Float32Array<ArrayBuffer>): Message;
  /** Waits until these messages have arrived, or may be written over. Other work of this process goes on meanwhile. */
  finish(messages: readonly Message[]): Promise<void>;
  /** Ends all ranks with this exit code. */
  abort(exitCode: number): never;
  /** Ends the world: every rank calls it, after its last message. */
  close(): Promise<void>;
}

/** Tags of reductions: apart from those of all other messages. */
const UP = 100, DOWN = 101;

/**
 * Joins the values of all ranks, position by position, up a binary tree to rank 0 and down again: also of the first
 * ranks of a world, which MPI's own reductions do not know. Every rank calls it equally often, in the same order.
 *
 * @returns the same on all ranks
 */
export async function reduce(
  { rank, size, send, receive, finish }: World,
  values: Float64Array<ArrayBuffer>,
  how: Reduction,
): Promise<Float64Array<ArrayBuffer>> {
  const all = values.slice(), other = new Float64Array(values.length);
  const bits = (values: Float64Array<ArrayBuffer>) => new Float32Array(values.buffer);
  let step = 1;
  for (; step < size && rank % (2 * step) === 0; step *= 2) {
    if (rank + step >= size) continue;
    await finish([receive(rank + step, UP, bits(other))]);
    other.forEach((value, i) => all[i] = how === "sum" ? all[i]! + value : Math.max(all[i]!, value));
  }
  if (rank > 0) {
    await finish([send(rank - step, UP, bits(all))]);
    await finish([receive(rank - step, DOWN, bits(all))]);
  }
  for (step /= 2; step >= 1; step /= 2) {
    if (rank + step < size) await finish([send(rank + step, DOWN, bits(all))]);
  }
  return all;
}

/** What every rank says, in the order of the ranks; anything that JSON can hold. */
export async function shareAll<T>(world: World, own: T): Promise<T[]> {
  const { rank, size } = world;
  const bytes = new TextEncoder().encode(JSON.stringify(own));
  const [longest = 0] = await reduce(world, Float64Array.of(bytes.length), "max");
  // each rank fills its own row, the sum is all rows
  const rows = new Float64Array(size * longest);
  rows.set(bytes, rank * longest);
  const all = Uint8Array.from(await reduce(world, rows, "sum"));
  return Array.from({ length: size }, (_, one) => {
    const row = new TextDecoder().decode(all.subarray(one * longest, (one + 1) * longest));
    return JSON.parse(row.replace(/\0+$/, ""));
  });
}

/** Waits until every rank has come here. */
export async function meet(world: World): Promise<void> {
  await reduce(world, Float64Array.of(0), "max");
}
