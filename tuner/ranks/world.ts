import { DeviceError } from "../devices/device_error.ts";

/** The ranks cannot go on together: one of them failed, or they were not asked for the same. */
export class RankError extends DeviceError {
  override name = "RankError";
}

/** A message under way; {@linkcode World.finish} waits for it. */
export interface Message {
  /** Tells messages apart that someone waits for; the world that made it knows what it is. */
  readonly id: number;
}

/**
 * The ranks that compute one grid together: MPI's, or one alone. A rank sends to and receives from any
 * other; messages from one rank to another with one tag arrive in order.
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
  /** The largest of all ranks' values. Every rank calls this and the three that follow equally often, in one order. */
  most(value: number): Promise<number>;
  /** What every rank says, in the order of the ranks; anything that JSON can hold. */
  shareAll<T>(own: T): Promise<T[]>;
  /** Waits until every rank has come here. */
  meet(): Promise<void>;
  /** The first ranks as a world of their own, which each of them closes; undefined on the others. */
  first(ranks: number): Promise<World | undefined>;
  /** Ends all ranks with this exit code. */
  abort(exitCode: number): never;
  /** Ends the world: every rank calls it, after its last message. */
  close(): Promise<void>;
}

/** A rank that has nobody to send to. */
export function aloneWorld(): World {
  const nobody = (): never => {
    throw new RankError("Cannot send: this rank is alone");
  };
  return {
    rank: 0,
    size: 1,
    send: nobody,
    receive: nobody,
    finish: () => Promise.resolve(),
    most: (value) => Promise.resolve(value),
    shareAll: (own) => Promise.resolve([own]),
    meet: () => Promise.resolve(),
    first: () => Promise.resolve(aloneWorld()),
    abort: Deno.exit,
    close: () => Promise.resolve(),
  };
}
