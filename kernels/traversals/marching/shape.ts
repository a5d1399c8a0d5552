/**
 * What a march's shader is written from: threads, what they cover, and what they exchange.
 *
 * @module
 */
import type { Update } from "../../update.ts";
import type { Column, MarchQueues } from "./queues.ts";

/** Threads of a workgroup and what they cover. */
export interface MarchShape {
  readonly zPerThread: number;
  readonly threadsZ: number;
  readonly threadsY: number;
  /** Threads at the low and high ends of y and z that only help their neighbours. */
  readonly haloY: Ends;
  readonly haloZ: Ends;
  /** Elements around the threads' own that are loaded into tiles, at either end of y and z. */
  readonly rimY: number;
  readonly rimZ: number;
  readonly slices: number;
  /** Whether neighbours in the slice are read from workgroup memory. */
  readonly isTiled: boolean;
  /** Slices that are loaded before they are needed. */
  readonly ahead: number;
  /** Planes that each sub-step reads neighbours of in the slice, from workgroup memory. */
  readonly tiles: readonly (readonly Tile[])[];
  readonly queues: MarchQueues;
}

/** The same with what such workgroups compute, and how many of them. */
export interface March extends MarchShape {
  readonly update: Update;
  /** Whether it makes several steps, in which there are points. */
  readonly hasPoints: boolean;
  /** Whether the threads of a row are a SIMD group, and get the cells beyond their own by shuffles. */
  readonly shuffles: boolean;
  readonly workgroups: readonly [number, number, number];
}

export type Ends = readonly [low: number, high: number];

/** What of a thread's column is put into workgroup memory: a slice of the column's queue. */
export type Tile = Pick<Column, "plane" | "ago"> & { readonly slice: number };

/** Threads that compute for themselves. */
export function ownThreads(threads: number, [low, high]: Ends): number {
  return threads - low - high;
}
