import { setImmediate } from "node:timers";
import { localWorlds } from "./local_world.ts";
import { type MpiLibrary, openMpiLibrary, startedRanks } from "./mpi_library.ts";
import { type Message, RankError, type World } from "./world.ts";

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
  const library = openMpiLibrary(started.variable), world = mpiWorld(library);
  if (world.size === started.size) return world;
  await world.close();
  throw new RankError(
    `Cannot find the ranks: mpirun started ${started.size}, and ${library.path} (${library.kind}) finds ` +
      `${world.size}: name the library that belongs to this mpirun in FACET_MPI`,
  );
}

/**
 * MPI's world. No call waits inside MPI: everything is begun, and asked after until it is done, so that workers,
 * devices and signals are served meanwhile.
 */
function mpiWorld(library: MpiLibrary): World {
  const { requestBytes, constants: { world, float, errorsReturn, noStatuses } } = library;
  const mpi = bind(library);
  /** Requests, with the arrays that MPI reads or writes, which must stay. */
  const underWay = new Map<number, { request: Uint8Array; values: Float32Array }>();
  let messages = 0;
  const check = (code: number): void => {
    if (code === 0) return;
    const text = new Uint8Array(1024), length = new Int32Array(1);
    mpi.errorString(code, text, length);
    throw new RankError(`MPI failed: ${new TextDecoder().decode(text.subarray(0, length[0]))}`);
  };
  const numberOf = (ask: (...values: unknown[]) => number): number => {
    const number = new Int32Array(1);
    check(ask(world, number));
    return number[0]!;
  };
  const begin = (
    call: (...values: unknown[]) => number,
    values: Float32Array,
    rank: number,
    tag: number,
  ): Message => {
    const request = new Uint8Array(requestBytes), id = messages++;
    check(call(values, values.length, float, rank, tag, world, request));
    underWay.set(id, { request, values });
    return { id };
  };
  check(mpi.init(null, null, FUNNELED, new Int32Array(1)));
  check(mpi.setErrorHandler(world, errorsReturn));
  return {
    rank: numberOf(mpi.rank),
    size: numberOf(mpi.size),
    send: (to, tag, values) => begin(mpi.isend, values, to, tag),
    receive: (from, tag, values) => begin(mpi.irecv, values, from, tag),
    async finish(list) {
      if (list.length === 0) return;
      const requests = new Uint8Array(list.length * requestBytes), isDone = new Int32Array(1);
      let bytes = 0, nowMs = performance.now();
      for (const [i, { id }] of list.entries()) {
        const { request, values } = underWay.get(id)!;
        requests.set(request, i * requestBytes);
        bytes += values.byteLength;
      }
      const busyEnd = nowMs + BUSY_MS + bytes * BUSY_MS_PER_BYTE;
      while (true) {
        const spinEnd = nowMs + SPIN_MS;
        do {
          check(mpi.testall(list.length, requests, isDone, noStatuses));
          nowMs = performance.now();
        } while (isDone[0] === 0 && nowMs < spinEnd);
        if (isDone[0] !== 0) break;
        await new Promise<void>((resolve) => {
          if (nowMs < busyEnd) setImmediate(resolve);
          else setTimeout(resolve, NAP_MS);
        });
      }
      for (const { id } of list) underWay.delete(id);
    },
    abort(exitCode) {
      mpi.abort(world, exitCode);
      return Deno.exit(exitCode);
    },
    close() {
      check(mpi.finalize());
      return Promise.resolve();
    },
  };
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
    errorString: library.function("MPI_Error_string", [i, b, b]),
    abort: library.function("MPI_Abort", [handle, i]),
    finalize: library.function("MPI_Finalize", []),
  };
}
