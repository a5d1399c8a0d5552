import { RankError } from "./world.ts";

/** An opened MPI library: its functions by name, and what its constants are called with. */
export interface MpiLibrary {
  /** `Open MPI` or `MPICH`. */
  readonly kind: "Open MPI" | "MPICH";
  readonly path: string;
  /** A constant, as its functions take it. */
  constant(name: keyof typeof CONSTANTS): Handle;
  readonly noStatuses: Deno.PointerValue;
  /** How a handle is passed. */
  readonly handle: "pointer" | "i32";
  readonly handleBytes: 8 | 4;
  /** The handle that a function has written. */
  read(written: Uint8Array<ArrayBuffer>): Handle;
  /** A function that returns MPI's error code. */
  function(name: string, parameters: readonly Deno.NativeType[]): (...values: unknown[]) => number;
}

/** A communicator, a type of values, or an operation. */
export type Handle = Deno.PointerValue | number;

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
/** MPICH's MPI_STATUSES_IGNORE is the pointer 1, Open MPI's is null. */
const NO_STATUSES = 1n;

/** Usual names, by the environment variable that each library's `mpirun` sets. */
const NAMES = {
  OMPI_COMM_WORLD_SIZE: ["libmpi.so.40", "libmpi.so.80", "libmpi.so", "libmpi.40.dylib", "libmpi.dylib"],
  PMI_SIZE: ["libmpich.so.12", "libmpi.so.12", "libmpi.so", "libmpi.12.dylib", "libmpi.dylib"],
} as const;

/** Ranks that `mpirun` has started, and under which variable it says so; undefined where it started none. */
export function startedRanks(): { readonly variable: keyof typeof NAMES; readonly size: number } | undefined {
  for (const variable of ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"] as const) {
    const size = Number(Deno.env.get(variable));
    if (size >= 1) return { variable, size };
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
export function openMpiLibrary(variable: keyof typeof NAMES): MpiLibrary {
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
    constant: (name) => isOpenMpi ? symbol(CONSTANTS[name][0]) : CONSTANTS[name][1],
    noStatuses: isOpenMpi ? null : Deno.UnsafePointer.create(NO_STATUSES),
    handle: isOpenMpi ? "pointer" : "i32",
    handleBytes: isOpenMpi ? 8 : 4,
    read: ({ buffer }) =>
      isOpenMpi ? Deno.UnsafePointer.create(new BigUint64Array(buffer)[0]!) : new Int32Array(buffer)[0]!,
    function(name, parameters) {
      const pointer = symbol(name);
      if (pointer === null) throw new RankError(`Cannot use ${path} as MPI's library: it has no ${name}`);
      const definition = { parameters, result: "i32" } as const;
      const made = new Deno.UnsafeFnPointer(pointer as Deno.PointerObject<typeof definition>, definition);
      return made.call.bind(made) as unknown as (...values: unknown[]) => number;
    },
  };
}
