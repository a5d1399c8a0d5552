/**
 * MPI's world. Its library is opened at run time: Open MPI, or MPICH and all that keeps to its binary interface.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import { openRankDevice } from "./open_rank_device.ts";
import { formatPlural } from "../format.ts";
import { RequestError } from "../problem/request_error.ts";
import { aloneWorld, type Message, RankError, type World } from "../devices/world.ts";

/** MPI_THREAD_FUNNELED: only this thread calls MPI. MPI_UNDEFINED: this rank is in no part of a world. */
const FUNNELED = 1, UNDEFINED = -32766;

/**
 * A wait looks for SPIN_MS, gives the event loop a turn, and so on; after BUSY_MS, and BUSY_MS_PER_BYTE, it naps in
 * between. MPI moves data only while someone looks: with naps, 16 MB through shared memory took half a second
 * (2026-11-22). So there are none for as long as a slow transport takes.
 */
const SPIN_MS = 0.1, BUSY_MS = 2, BUSY_MS_PER_BYTE = 5e-6, NAP_MS = 1;

/** What becomes of waits that take long, as for a rank that was stopped. It may change until a wait is over. */
export interface Patience {
  /** Hears once of each wait that has taken 30 seconds; the message is a line. @default {nobody does} */
  readonly onLate?: (message: string) => void;
  /** Milliseconds after which a wait ends with a {@linkcode RankError}. @default {Infinity} */
  readonly limitMs?: number;
}

/** Who waits for others, and since when; what it returns is asked now and then. @throws {RankError} beyond the limit */
export function waiting(patience: Patience, others: readonly (number | undefined)[], startMs: number) {
  const ranks = [...new Set(others)].filter((one) => one !== undefined).sort((a, b) => a - b);
  const whom = ranks.length === 0 ? "other ranks" : `rank ${ranks.join(", ")}`;
  let isSaid = false;
  return (nowMs: number): void => {
    const waitedMs = nowMs - startMs, waited = `has waited for ${whom} for ${Math.floor(waitedMs / 1000)} s`;
    if (waitedMs >= (patience.limitMs ?? Infinity)) throw new RankError(`Cannot go on: this rank ${waited}`);
    if (isSaid || waitedMs < LATE_MS) return;
    isSaid = true;
    patience.onLate?.(`${waited}: busy, stopped or unreachable`);
  };
}

/** A wait that is no usual one. */
const LATE_MS = 30_000;

/** The ranks that `mpirun` started; without it, this process alone. */
export async function openWorld(patience: Patience = {}): Promise<World> {
  const started = startedRanks();
  if (started === undefined) return aloneWorld();
  const library = openMpiLibrary(started.variable), world = mpiWorld(library, patience);
  if (world.size === started.size) {
    return { ...world, openDevice: (wishes) => openRankDevice(world, wishes) };
  }
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
function mpiWorld(
  { mpi, handleBytes, noStatus, constant, read }: ReturnType<typeof openMpiLibrary>,
  patience: Patience,
): World {
  const world = constant("world"), max = constant("max");
  const float = constant("float"), double = constant("double"), byte = constant("byte");
  const underWay = new Map<number, Request>();
  let messages = 0;
  const check = (code: number, { does = "call MPI", other }: Partial<Request> = {}): void => {
    if (code === 0) return;
    const bytes = new Uint8Array(1024), length = new Int32Array(1);
    mpi.errorString(code, bytes, length);
    const [text = ""] = new TextDecoder().decode(bytes).split("\0");
    const whom = other === undefined ? "" : ` rank ${other}`;
    throw new RankError(`Cannot ${does}${whom}: ${text.trim().replace(/\s*\n/g, " ")}`);
  };
  const numberOf = (ask: Call, comm: Handle): number => {
    const number = new Int32Array(1);
    check(ask(comm, number));
    return number[0]!;
  };
  const begin = (
    arrays: readonly ArrayBufferView[],
    call: (request: Uint8Array) => number,
    does: string,
    other?: number,
  ): Message => {
    const one: Request = { handle: new Uint8Array(handleBytes), arrays, does, other }, id = messages++;
    check(call(one.handle), one);
    underWay.set(id, one);
    return { id };
  };
  const finish = async (list: readonly Message[]): Promise<void> => {
    if (list.length === 0) return;
    const isDone = new Int32Array(1);
    const all = list.map(({ id }) => underWay.get(id)!);
    let left = list, bytes = 0, nowMs = performance.now();
    for (const { byteLength } of all.flatMap(({ arrays }) => arrays)) bytes += byteLength;
    const wait = waiting(patience, all.map(({ other }) => other), nowMs);
    const busyEnd = nowMs + BUSY_MS + bytes * BUSY_MS_PER_BYTE;
    while (true) {
      const spinEnd = nowMs + SPIN_MS;
      do {
        // each by itself: of several, MPI says that one has failed, and keeps for itself why
        left = left.filter(({ id }) => {
          const one = underWay.get(id)!, code = mpi.test(one.handle, isDone, noStatus);
          if (code !== 0 || isDone[0] !== 0) underWay.delete(id);
          check(code, one);
          return underWay.has(id);
        });
        nowMs = performance.now();
      } while (left.length > 0 && nowMs < spinEnd);
      if (left.length === 0) break;
      wait(nowMs);
      await new Promise<void>((resolve) => {
        if (nowMs < busyEnd) setImmediate(resolve);
        else setTimeout(resolve, NAP_MS);
      });
    }
  };
  const worldOf = (comm: Handle, close: () => number): World => {
    const rank = numberOf(mpi.rank, comm), size = numberOf(mpi.size, comm);
    const most = async (value: number): Promise<number> => {
      const own = Float64Array.of(value), all = new Float64Array(1);
      const call = (request: Uint8Array) => mpi.iallreduce(own, all, 1, double, max, comm, request);
      await finish([begin([own, all], call, "share a value")]);
      return all[0]!;
    };
    const pass = (call: typeof mpi.isend, what: string): World["send"] => (other, tag, values) => {
      const type = values instanceof Float64Array ? double : float;
      const begun = (request: Uint8Array) => call(values, values.length, type, other, tag, comm, request);
      return begin([values], begun, what, other);
    };
    const meet = () => finish([begin([], (request) => mpi.ibarrier(comm, request), "meet")]);
    return {
      rank,
      size,
      send: pass(mpi.isend, "send to"),
      receive: pass(mpi.irecv, "receive from"),
      finish,
      most,
      async shareAll<T>(value: T) {
        const text = new TextEncoder().encode(JSON.stringify(value)), length = await most(text.length);
        // rows of one length, filled with the spaces that JSON may end with
        const own = new Uint8Array(length).fill(0x20), all = new Uint8Array(size * length);
        own.set(text);
        const call = (request: Uint8Array) =>
          mpi.iallgather(own, length, byte, all, length, byte, comm, request);
        await finish([begin([own, all], call, "share values")]);
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
        return isOne ? worldOf(read(made), () => mpi.free(made)) : undefined;
      },
      abort(exitCode) {
        mpi.abort(world, exitCode);
        return Deno.exit(exitCode);
      },
      // deno-lint-ignore require-await -- what it throws is to reject
      async close() {
        // MPI would wait for them, and nothing could say so
        if (underWay.size > 0) {
          const left = formatPlural(underWay.size, "message");
          throw new RankError(
            `Cannot end the world: ${left} under way, as after a run that failed: abort ends it`,
          );
        }
        check(close());
      },
    };
  };
  check(mpi.init(null, null, FUNNELED, new Int32Array(1)));
  check(mpi.setErrorHandler(world, constant("errorsReturn")));
  return worldOf(world, mpi.finalize);
}

/** What MPI was asked for, with the arrays that it reads or writes, which must stay. */
interface Request {
  /** Written by MPI. */
  readonly handle: Uint8Array;
  readonly arrays: readonly ArrayBufferView[];
  /** For errors, and with whom, if with one. */
  readonly does: string;
  readonly other: number | undefined;
}

/** A communicator, a type of values, or an operation. */
type Handle = Deno.PointerValue | number;

/**
 * Open MPI's handles are the addresses of objects that it exports; MPICH's, and those of everything that keeps to its
 * binary interface (Intel MPI, MVAPICH), are numbers.
 */
const CONSTANTS = {
  world: ["ompi_mpi_comm_world", 0x44000000],
  float: ["ompi_mpi_float", 0x4c00040a],
  double: ["ompi_mpi_double", 0x4c00080b],
  byte: ["ompi_mpi_byte", 0x4c00010d],
  max: ["ompi_mpi_op_max", 0x58000001],
  errorsReturn: ["ompi_mpi_errors_return", 0x54000001],
} as const;
/** MPICH's MPI_STATUS_IGNORE is the pointer 1, Open MPI's is null. */
const NO_STATUS = 1n;

/** Usual names, by the environment variable that each library's `mpirun` sets. */
const NAMES = {
  OMPI_COMM_WORLD_SIZE: ["libmpi.so.40", "libmpi.so.80", "libmpi.so", "libmpi.40.dylib", "libmpi.dylib"],
  PMI_SIZE: ["libmpich.so.12", "libmpi.so.12", "libmpi.so", "libmpi.12.dylib", "libmpi.dylib"],
} as const;

/**
 * What `mpirun` says of a process: its rank, how many there are, and under which variable it says so; undefined where it
 * started none.
 *
 * @throws {RequestError} if it says what cannot be
 */
export function startedRanks(): { variable: keyof typeof NAMES; size: number; rank: number } | undefined {
  const numberIn = (name: string, least: number, below: number): number => {
    const text = Deno.env.get(name) ?? "0", number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (number >= least && number < below) return number;
    const wanted = `a whole number from ${least}${below < Infinity ? ` to ${below - 1}` : " up"}`;
    throw new RequestError(
      `Cannot find the ranks: ${name}, which mpirun sets, must be ${wanted}: found ${text || "nothing"}`,
    );
  };
  for (const variable of ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"] as const) {
    if (Deno.env.get(variable) === undefined) continue;
    const size = numberIn(variable, 1, Infinity);
    return { variable, size, rank: numberIn(variable.replace("SIZE", "RANK"), 0, size) };
  }
  return undefined;
}

/** What the system's loader is called with: symbols for all that is loaded later, found when they are first used. */
const RTLD_LAZY = 1, RTLD_GLOBAL = Deno.build.os === "darwin" ? 8 : 0x100;

/**
 * Opens the MPI library. By the system's loader, since Open MPI's plug-ins look for its symbols among those of all,
 * and `Deno.dlopen` keeps a library's to itself; and since only the loader gives the address of an object.
 *
 * @throws {RankError} with the command to type, if there is none
 */
function openMpiLibrary(variable: keyof typeof NAMES) {
  const loader = Deno.dlopen(Deno.build.os === "darwin" ? "libSystem.B.dylib" : "libdl.so.2", {
    dlopen: { parameters: ["buffer", "i32"], result: "pointer" },
    dlsym: { parameters: ["pointer", "buffer"], result: "pointer" },
    dlerror: { parameters: [], result: "pointer" },
  }).symbols;
  const text = (value: string) => new TextEncoder().encode(`${value}\0`);
  let path = "", library: Deno.PointerValue = null, why = "";
  const own = Deno.env.get("FACET_MPI");
  for (const name of own ? [own] : NAMES[variable]) {
    library = loader.dlopen(text(path = name), RTLD_LAZY | RTLD_GLOBAL);
    if (library !== null) break;
    const message = loader.dlerror();
    if (message !== null) why ||= new Deno.UnsafePointerView(message).getCString();
  }
  if (library === null) {
    const install = variable === "PMI_SIZE" ? "apt-get install libmpich12" : "apt-get install libopenmpi3";
    throw new RankError(`Cannot open MPI's library: ${why}: ${install}, or name it in FACET_MPI`);
  }
  const symbol = (name: string): Deno.PointerValue => loader.dlsym(library, text(name));
  const isOpenMpi = symbol(CONSTANTS.world[0]) !== null;
  return {
    kind: isOpenMpi ? "Open MPI" : "MPICH",
    path,
    /** A constant, as its functions take it. */
    constant: (name: keyof typeof CONSTANTS): Handle =>
      isOpenMpi ? symbol(CONSTANTS[name][0]) : CONSTANTS[name][1],
    noStatus: isOpenMpi ? null : Deno.UnsafePointer.create(NO_STATUS),
    handleBytes: isOpenMpi ? 8 : 4,
    /** The handle that a function has written. */
    read: ({ buffer }: Uint8Array<ArrayBuffer>): Handle =>
      isOpenMpi ? Deno.UnsafePointer.create(new BigUint64Array(buffer)[0]!) : new Int32Array(buffer)[0]!,
    mpi: bind(isOpenMpi ? "pointer" : "i32", (name, parameters) => {
      const pointer = symbol(name);
      if (pointer === null) throw new RankError(`Cannot use ${path} as MPI's library: it has no ${name}`);
      const definition = { parameters, result: "i32" } as const;
      const made = new Deno.UnsafeFnPointer(pointer as Deno.PointerObject<typeof definition>, definition);
      return made.call.bind(made) as unknown as Call;
    }),
  };
}

/** A function that returns MPI's error code. */
type Call = (...values: unknown[]) => number;

/** The functions that are used, by what finds one; `handle` is how a handle is passed. */
function bind(
  handle: "pointer" | "i32",
  find: (name: string, parameters: readonly Deno.NativeType[]) => Call,
) {
  const b = "buffer", i = "i32", p = "pointer";
  return {
    init: find("MPI_Init_thread", [p, p, i, b]),
    setErrorHandler: find("MPI_Comm_set_errhandler", [handle, handle]),
    rank: find("MPI_Comm_rank", [handle, b]),
    size: find("MPI_Comm_size", [handle, b]),
    isend: find("MPI_Isend", [b, i, handle, i, i, handle, b]),
    irecv: find("MPI_Irecv", [b, i, handle, i, i, handle, b]),
    iallreduce: find("MPI_Iallreduce", [b, b, i, handle, handle, handle, b]),
    iallgather: find("MPI_Iallgather", [b, i, handle, b, i, handle, handle, b]),
    ibarrier: find("MPI_Ibarrier", [handle, b]),
    split: find("MPI_Comm_split", [handle, i, i, b]),
    free: find("MPI_Comm_free", [b]),
    test: find("MPI_Test", [b, b, p]),
    errorString: find("MPI_Error_string", [i, b, b]),
    abort: find("MPI_Abort", [handle, i]),
    finalize: find("MPI_Finalize", []),
  };
}
