import { setImmediate } from "node:timers";
import { type Handle, type MpiLibrary, openMpiLibrary, startedRanks } from "./mpi_library.ts";
import { aloneWorld, type Message, RankError, type World } from "./world.ts";

/** MPI_THREAD_FUNNELED: only this thread calls MPI. MPI_UNDEFINED: this rank is in no part of a world. */
const FUNNELED = 1, UNDEFINED = -32766;

/**
 * A wait looks for SPIN_MS, gives the event loop a turn, and so on; after BUSY_MS, and BUSY_MS_PER_BYTE, it naps in
 * between. MPI moves data only while someone looks: with naps, 16 MB through shared memory took half a second
 * (2026-11-22). So there are none for as long as a slow transport takes.
 */
const SPIN_MS = 0.1, BUSY_MS = 2, BUSY_MS_PER_BYTE = 5e-6, NAP_MS = 1;

/** The ranks that `mpirun` started; without it, this process alone. */
export async function openWorld(): Promise<World> {
  const started = startedRanks();
  if (started === undefined) return aloneWorld();
  const library = openMpiLibrary(started.variable), world = mpiWorld(library);
  if (world.size === started.size) return world;
  await world.close();
  throw new RankError(
    `Cannot find the ranks: mpirun started ${started.size}, and ${library.path} (${library.kind}) finds ` +
      `${world.size}: name the library that belongs to this mpirun in FACET_MPI`,
  );
}

/**
 * MPI's world. No call waits inside MPI, but for a split that all ranks have come to: everything is begun, and asked
 * after until it is done, so that workers, devices and signals are served meanwhile.
 */
function mpiWorld(library: MpiLibrary): World {
  const { handleBytes, noStatuses, constant } = library, world = constant("world");
  const float = constant("float"),
    double = constant("double"),
    byte = constant("byte"),
    max = constant("max");
  const mpi = bind(library);
  /** Requests, with the arrays that MPI reads or writes, which must stay. */
  const underWay = new Map<number, { request: Uint8Array; arrays: readonly ArrayBufferView[] }>();
  let messages = 0;
  const check = (code: number): void => {
    if (code === 0) return;
    const text = new Uint8Array(1024), length = new Int32Array(1);
    mpi.errorString(code, text, length);
    throw new RankError(`MPI failed: ${new TextDecoder().decode(text.subarray(0, length[0]))}`);
  };
  const numberOf = (ask: (...values: unknown[]) => number, comm: Handle): number => {
    const number = new Int32Array(1);
    check(ask(comm, number));
    return number[0]!;
  };
  const begin = (arrays: readonly ArrayBufferView[], call: (request: Uint8Array) => number): Message => {
    const request = new Uint8Array(handleBytes), id = messages++;
    check(call(request));
    underWay.set(id, { request, arrays });
    return { id };
  };
  const finish = async (list: readonly Message[]): Promise<void> => {
    if (list.length === 0) return;
    const requests = new Uint8Array(list.length * handleBytes), isDone = new Int32Array(1);
    let bytes = 0, nowMs = performance.now();
    for (const [i, { id }] of list.entries()) {
      const { request, arrays } = underWay.get(id)!;
      requests.set(request, i * handleBytes);
      for (const { byteLength } of arrays) bytes += byteLength;
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
  };
  const worldOf = (comm: Handle, close: () => number): World => {
    const rank = numberOf(mpi.rank, comm), size = numberOf(mpi.size, comm);
    const most = async (value: number): Promise<number> => {
      const own = Float64Array.of(value), all = new Float64Array(1);
      await finish([begin([own, all], (request) => mpi.iallreduce(own, all, 1, double, max, comm, request))]);
      return all[0]!;
    };
    const meet = () => finish([begin([], (request) => mpi.ibarrier(comm, request))]);
    return {
      rank,
      size,
      send: (to, tag, values) =>
        begin([values], (request) => mpi.isend(values, values.length, float, to, tag, comm, request)),
      receive: (from, tag, values) =>
        begin([values], (request) => mpi.irecv(values, values.length, float, from, tag, comm, request)),
      finish,
      most,
      async shareAll<T>(value: T) {
        const text = new TextEncoder().encode(JSON.stringify(value)), length = await most(text.length);
        // rows of one length, filled with the spaces that JSON may end with
        const own = new Uint8Array(length).fill(0x20), all = new Uint8Array(size * length);
        own.set(text);
        await finish([
          begin([own, all], (request) => mpi.iallgather(own, length, byte, all, length, byte, comm, request)),
        ]);
        return Array.from(
          { length: size },
          (_, one): T => JSON.parse(new TextDecoder().decode(all.subarray(one * length, (one + 1) * length))),
        );
      },
      meet,
      async first(ranks) {
        const made = new Uint8Array(handleBytes), isOne = rank < ranks;
        await meet();
        check(mpi.split(comm, isOne ? 0 : UNDEFINED, rank, made));
        return isOne ? worldOf(library.read(made), () => mpi.free(made)) : undefined;
      },
      abort(exitCode) {
        mpi.abort(world, exitCode);
        return Deno.exit(exitCode);
      },
      close() {
        check(close());
        return Promise.resolve();
      },
    };
  };
  check(mpi.init(null, null, FUNNELED, new Int32Array(1)));
  check(mpi.setErrorHandler(world, constant("errorsReturn")));
  return worldOf(world, mpi.finalize);
}

function bind(library: MpiLibrary) {
  const { handle } = library, b = "buffer", i = "i32", p = "pointer";
  return {
    init: library.function("MPI_Init_thread", [p, p, i, b]),
    setErrorHandler: library.function("MPI_Comm_set_errhandler", [handle, handle]),
    rank: library.function("MPI_Comm_rank", [handle, b]),
    size: library.function("MPI_Comm_size", [handle, b]),
    isend: library.function("MPI_Isend", [b, i, handle, i, i, handle, b]),
    irecv: library.function("MPI_Irecv", [b, i, handle, i, i, handle, b]),
    iallreduce: library.function("MPI_Iallreduce", [b, b, i, handle, handle, handle, b]),
    iallgather: library.function("MPI_Iallgather", [b, i, handle, b, i, handle, handle, b]),
    ibarrier: library.function("MPI_Ibarrier", [handle, b]),
    split: library.function("MPI_Comm_split", [handle, i, i, b]),
    free: library.function("MPI_Comm_free", [b]),
    testall: library.function("MPI_Testall", [i, b, b, p]),
    errorString: library.function("MPI_Error_string", [i, b, b]),
    abort: library.function("MPI_Abort", [handle, i]),
    finalize: library.function("MPI_Finalize", []),
  };
}
