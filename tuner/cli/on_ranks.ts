import config from "../../deno.json" with { type: "json" };
import { startedRanks } from "../ranks/mpi_library.ts";
import { openWorld } from "../ranks/mpi_world.ts";
import { RankError, type World } from "../ranks/world.ts";
import { VERSION } from "../version.ts";
import { EXIT, reportError } from "./report_error.ts";
import { say } from "./terminal.ts";

/** Set for the process that computes, by the one that watches it. */
const WATCHED = "FACET_RANK";

/** Time that `mpirun` needs at most to forward a line. */
const FORWARD_MS = 200;

/** The rank of this process, as `mpirun` says. */
function ownRank(): number {
  return Number(Deno.env.get("OMPI_COMM_WORLD_RANK") ?? Deno.env.get("PMI_RANK") ?? 0);
}

/** What a rank was asked for: everything that must be the same on all, by name. */
export type Request = Readonly<Record<string, string>>;

/** A command on every rank. */
export interface RankCommand<T> {
  /** Reads the options; what all ranks must agree on, and what the work needs. Undefined after `--help`. */
  readonly read: (world: World) => Promise<{ readonly request: Request; readonly values: T } | undefined>;
  /** Does the work, together with the other ranks. */
  readonly work: (world: World, values: T) => Promise<number>;
}

/**
 * Runs a command on every rank that `mpirun` started, or alone. A wrong request is reported once. A rank that fails says
 * why in a line with its number, and ends all the others: exit code 3.
 *
 * Under `mpirun` the work is done in a child, so that one that is killed still ends with that line and that code.
 */
export async function onRanks<T>(
  task: "solve" | "scaling",
  args: readonly string[],
  { read, work }: RankCommand<T>,
): Promise<number> {
  if (startedRanks() !== undefined && Deno.env.get(WATCHED) === undefined) return await watch(task, args);
  endWithParent();
  const world = await openWorld().catch((error): never => {
    throw error instanceof RankError && ownRank() > 0
      ? new RankError(`rank ${ownRank()}: ${error.message}`)
      : error;
  });
  try {
    let asked: Awaited<ReturnType<typeof read>>, fault: ReturnType<typeof reportError> | undefined;
    try {
      asked = await read(world);
    } catch (error) {
      fault = reportError(error);
    }
    const all = await world.shareAll({ fault, request: { version: VERSION, ...asked?.request } });
    const disagreement = judge(all);
    if (disagreement !== undefined) {
      if (world.rank === 0) say(`facet: ${disagreement.text}`);
      await world.close();
      return disagreement.exitCode;
    }
    const exitCode = asked === undefined ? EXIT.done : await work(world, asked.values);
    await world.close();
    return exitCode;
  } catch (error) {
    if (world.size === 1) throw error;
    const { text } = reportError(error);
    say(`facet: rank ${world.rank}: ${text}`);
    // MPICH's mpirun forwards nothing more once a rank has ended all
    await new Promise((resolve) => setTimeout(resolve, FORWARD_MS));
    return world.abort(EXIT.deviceFailed);
  }
}

/** What each rank says of its request. */
interface Asked {
  readonly fault?: ReturnType<typeof reportError> | undefined;
  readonly request: Request;
}

/** Why the ranks cannot begin; undefined where they can. */
export function judge(all: readonly Asked[]): ReturnType<typeof reportError> | undefined {
  const [first] = all;
  const odd = all.findIndex(({ fault }) => fault?.text !== first!.fault?.text);
  if (odd < 0 && first!.fault !== undefined) return first!.fault;
  const failed = first!.fault === undefined ? odd : 0;
  if (odd >= 0) return { text: `rank ${failed}: ${all[failed]!.fault!.text}`, exitCode: EXIT.deviceFailed };
  for (const [rank, { request }] of all.entries()) {
    for (const [name, wanted] of Object.entries(first!.request)) {
      if (request[name] === wanted) continue;
      const text = `rank ${rank}: all ranks must have the same ${name}: found ${
        request[name]
      }, rank 0 has ${wanted}`;
      return { text, exitCode: EXIT.deviceFailed };
    }
  }
  return undefined;
}

/** Starts this command once more, to do the work, and says how it ended if it was killed. */
async function watch(task: "solve" | "scaling", args: readonly string[]): Promise<number> {
  const flags = config.tasks[task].command.split(" ").slice(1, -2);
  const child = new Deno.Command(Deno.execPath(), {
    args: [...flags, Deno.mainModule, task, ...args],
    env: { [WATCHED]: "1" },
  }).spawn();
  const { code, signal } = await child.status;
  if (signal === null) return code;
  // mpirun ends the ranks of one that failed before: that one has said why
  if (signal !== "SIGTERM") say(`facet: rank ${ownRank()}: its process was ended by ${signal}`);
  return EXIT.deviceFailed;
}

/** Ends this process when the one that watches it is gone: nothing else would end it then. */
function endWithParent(): void {
  if (Deno.env.get(WATCHED) === undefined) return;
  const parent = Deno.ppid;
  const timer = setInterval(() => {
    if (Deno.ppid !== parent) Deno.exit(EXIT.deviceFailed);
  }, 500);
  Deno.unrefTimer(timer);
}
