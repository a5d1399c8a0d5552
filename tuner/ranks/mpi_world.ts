import { setImmediate } from "node:timers";
import { localWorlds } from "./local_world.ts";
import { type MpiLibrary, openMpiLibrary, startedRanks } from "./mpi_library.ts";
import { RankError } from "./rank_error.ts";
import type { Message, Reduction, World } from "./world.ts";

/** MPI_THREAD_FUNNELED: only this thread calls MPI. */
const FUNNELED = 1;

/**
 * A wait looks for SPIN_MS, gives the event loop a turn, and so on; after BUSY_MS, and BUSY_MS_PER_BYTE, it naps in
 * between. MPI moves data only while someone looks: with naps, 16 MB through shared memory took half a second
 * (2026-11-22). So there are none for as long as a slow transport takes.
 */
const SPIN_MS = 0.1, BUSY_MS = 2, BUSY_MS_PER_BYTE = 5e-6, NAP_MS = 1;

/** The ranks that `mpirun` started; without it, this process alone. */
export async function openWorld(): Promise<World> {
  const started = startedRanks();
  if (started === undefined) return localWorlds(1)[0]!;
  const library = openMpiLibrary(started.variable);
  const world = new MpiWorld(library);
  if (world.size !== started.size) {
    await world.close();
    throw new RankError(
      `Cannot find the ranks: mpirun started ${started.size}, and ${library.path} (${library.kind}) finds ` +
        `${world.size}: name the library that belongs to this mpirun in FACET_MPI`,
    );
  }
  return world;
}

/** A request under way, with the arrays that MPI reads or writes, which must stay. */
interface UnderWay {
  readonly request: Uint8Array;
  readonly bytes: number;
  readonly kept: readonly ArrayBufferView[];
}

/**
 * MPI's world. No call waits inside MPI: everything is begun, and asked after until it is done, so that workers,
 * devices and signals are served meanwhile.
 */
class MpiWorld implements World {
  readonly rank: number;
  readonly size: number;
  readonly #library: MpiLibrary;
  readonly #mpi: ReturnType<typeof bind>;
  readonly #underWay = new Map<number, UnderWay>();
  #messages = 0;

  constructor(library: MpiLibrary) {
    this.#library = library;
    this.#mpi = bind(library);
    const { world, errorsReturn } = library.constants;
    this.#check(this.#mpi.init(null, null, FUNNELED, new Int32Array(1)));
    this.#check(this.#mpi.setErrorHandler(world, errorsReturn));
    const numbers = [this.#mpi.rank, this.#mpi.size].map((ask) => {
      const number = new Int32Array(1);
      this.#check(ask(world, number));
      return number[0]!;
    });
    [this.rank, this.size] = [numbers[0]!, numbers[1]!];
  }

  send(to: number, tag: number, values: Float32Array<ArrayBuffer>): Message {
    const { float, world } = this.#library.constants;
    return this.#begin(
      [values],
      (request) => this.#mpi.isend(values, values.length, float, to, tag, world, request),
    );
  }

  receive(from: number, tag: number, values: Float32Array<ArrayBuffer>): Message {
    const { float, world } = this.#library.constants;
    return this.#begin(
      [values],
      (request) => this.#mpi.irecv(values, values.length, float, from, tag, world, request),
    );
  }

  async finish(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    const { requestBytes, constants: { noStatuses } } = this.#library;
    const requests = new Uint8Array(messages.length * requestBytes), isDone = new Int32Array(1);
    messages.forEach(({ id }, i) => requests.set(this.#underWay.get(id)!.request, i * requestBytes));
    const bytes = messages.reduce((sum, { id }) => sum + this.#underWay.get(id)!.bytes, 0);
    let nowMs = performance.now();
    const busyEnd = nowMs + BUSY_MS + bytes * BUSY_MS_PER_BYTE;
    while (true) {
      const spinEnd = nowMs + SPIN_MS;
      do {
        this.#check(this.#mpi.testall(messages.length, requests, isDone, noStatuses));
        nowMs = performance.now();
      } while (isDone[0] === 0 && nowMs < spinEnd);
      if (isDone[0] !== 0) break;
      await new Promise<void>((resolve) => {
        if (nowMs < busyEnd) setImmediate(resolve);
        else setTimeout(resolve, NAP_MS);
      });
    }
    for (const { id } of messages) this.#underWay.delete(id);
  }

  async reduce(values: Float64Array<ArrayBuffer>, how: Reduction): Promise<Float64Array<ArrayBuffer>> {
    const { double, world, [how]: operation } = this.#library.constants;
    const result = new Float64Array(values.length);
    const message = this.#begin(
      [values, result],
      (request) => this.#mpi.iallreduce(values, result, values.length, double, operation, world, request),
    );
    await this.finish([message]);
    return result;
  }

  abort(exitCode: number): never {
    this.#mpi.abort(this.#library.constants.world, exitCode);
    return Deno.exit(exitCode);
  }

  close(): Promise<void> {
    this.#check(this.#mpi.finalize());
    return Promise.resolve();
  }

  #begin(kept: readonly ArrayBufferView[], call: (request: Uint8Array) => number): Message {
    const request = new Uint8Array(this.#library.requestBytes), id = this.#messages++;
    this.#check(call(request));
    this.#underWay.set(id, { request, bytes: kept[0]!.byteLength, kept });
    return { id };
  }

  #check(code: number): void {
    if (code === 0) return;
    const text = new Uint8Array(1024), length = new Int32Array(1);
    this.#mpi.errorString(code, text, length);
    throw new RankError(`MPI failed: ${new TextDecoder().decode(text.subarray(0, length[0]))}`);
  }
}

/** The functions of MPI that are used, and nothing else. */
function bind(library: MpiLibrary) {
  const { handle } = library, b = "buffer", i = "i32", p = "pointer";
  return {
    init: library.function("MPI_Init_thread", [p, p, i, b]),
    setErrorHandler: library.function("MPI_Comm_set_errhandler", [handle, handle]),
    rank: library.function("MPI_Comm_rank", [handle, b]),
    size: library.function("MPI_Comm_size", [handle, b]),
    isend: library.function("MPI_Isend", [b, i, handle, i, i, handle, b]),
    irecv: library.function("MPI_Irecv", [b, i, handle, i, i, handle, b]),
    testall: library.function("MPI_Testall", [i, b, b, p]),
    iallreduce: library.function("MPI_Iallreduce", [b, b, i, handle, handle, handle, b]),
    errorString: library.function("MPI_Error_string", [i, b, b]),
    abort: library.function("MPI_Abort", [handle, i]),
    finalize: library.function("MPI_Finalize", []),
  };
}
