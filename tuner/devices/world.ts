import type { FloatArray, Precise } from "../../kernels/precision.ts";
import type { CpuPool } from "./cpu/wasm_workers.ts";
import { DeviceError } from "./device_error.ts";
import type { GpuDevice } from "./gpu/gpu_device.ts";

/** The ranks cannot go on together: one of them failed, or they were not asked for the same. */
export class RankError extends DeviceError {
  override name = "RankError";
}

/** What a rank computes with: a GPU, or workers of its CPU. */
export interface RankDevice {
  /** @internal */
  readonly gpu: GpuDevice | undefined;
  /** @internal */
  readonly cpuPool: CpuPool | undefined;
  /** Bytes of the GPU's memory that levels may take; more pass through a window. @default {all there is} */
  readonly deviceMemory?: number | undefined;
}

/** Which device. */
export interface DeviceWishes extends Precise {
  /** A GPU's index, name or PCI address. @default {FACET_GPU; without it the ranks of a machine take its GPUs in turn} */
  readonly gpu?: string | undefined;
  /** Computes with CPU workers. */
  readonly noGpu?: boolean;
  /** Bytes of the GPU's memory that levels may take; more pass through a window. @default {all there is} */
  readonly deviceMemory?: number | undefined;
  /** Workers, instead of a GPU. @default {this rank's share of the cores, where there is no GPU} */
  readonly cpuWorkers?: number | undefined;
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
  send(to: number, tag: number, values: FloatArray<ArrayBuffer>): Message;
  /** Receives values into an array of the same length. */
  receive(from: number, tag: number, values: FloatArray<ArrayBuffer>): Message;
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
  /** Opens this rank's device, which is no other rank's if there are enough. @default {the one that WebGPU offers} */
  openDevice?(wishes: DeviceWishes): Promise<RankDevice & Disposable>;
  /** Ends all ranks with this exit code. */
  abort(exitCode: number): never;
  /** Ends the world: every rank calls it, after its last message. @throws {RankError} if one is under way */
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
    abort: (exitCode) => Deno.exit(exitCode), // not read before: pages and Node.js have no Deno
    close: () => Promise.resolve(),
  };
}
