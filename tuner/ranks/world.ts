/** What a reduction makes of the ranks' values. */
export type Reduction = "sum" | "max";

/** A message under way; {@linkcode World.finish} waits for it. */
export interface Message {
  /** Tells messages apart that someone waits for; the world that made it knows what it is. */
  readonly id: number;
}

/**
 * The ranks that compute one grid together: MPI's, or one alone. A rank sends to and receives from any other, also
 * itself; messages from one rank to another with one tag arrive in order. Every rank must call {@linkcode World.reduce}
 * equally often, in the same order.
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
  /** Joins the values of all ranks, position by position; all ranks get the result. */
  reduce(values: Float64Array<ArrayBuffer>, how: Reduction): Promise<Float64Array<ArrayBuffer>>;
  /** Ends all ranks with this exit code. */
  abort(exitCode: number): never;
  /** Ends the world: every rank calls it, after its last message. */
  close(): Promise<void>;
}

/** What every rank says, in the order of the ranks; anything that JSON can hold. */
export async function shareAll<T>(world: World, own: T): Promise<T[]> {
  const { rank, size } = world;
  const bytes = new TextEncoder().encode(JSON.stringify(own));
  const [longest = 0] = await world.reduce(Float64Array.of(bytes.length), "max");
  // each rank fills its own row, the sum is all rows
  const rows = new Float64Array(size * longest);
  rows.set(bytes, rank * longest);
  const all = Uint8Array.from(await world.reduce(rows, "sum"));
  return Array.from({ length: size }, (_, one) => {
    const row = new TextDecoder().decode(all.subarray(one * longest, (one + 1) * longest));
    return JSON.parse(row.replace(/\0+$/, ""));
  });
}

/** Waits until every rank has come here. */
export async function meet(world: World): Promise<void> {
  await world.reduce(Float64Array.of(0), "max");
}
