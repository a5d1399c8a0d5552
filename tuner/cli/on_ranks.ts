import config from "../../deno.json" with { type: "json" };
import { DeviceError, deviceFailed } from "../devices/device_error.ts";
import { RequestError } from "../problem/request_error.ts";
import { openWorld, startedRanks } from "../ranks/mpi_world.ts";
import { type DeviceWishes, type OpenedDevice, openRankDevice } from "../ranks/open_rank_device.ts";
import { RankError, type World } from "../devices/world.ts";
import { SolverError } from "../solver/solver_error.ts";
import { VERSION } from "../version.ts";
import type { Options, Values } from "./options.ts";
import { parseCommand, type Usage } from "./parse_options.ts";
import { EXIT, reportError } from "./report_error.ts";
import { say } from "./terminal.ts";

/** Set for the process that computes, by the one that watches it. */
const WATCHED = "FACET_RANK";

/** Ends this process when the one that watches it is gone: nothing else would. */
const ORPHAN_WATCH = new URL("../measuring/process/orphan_watch.ts", import.meta.url);

/** Time that `mpirun` needs at most to forward a line. */
const FORWARD_MS = 200;

/** A command that runs on ranks. */
type RankTask = "solve" | "scaling" | "shot";

/** The rank of this process, as `mpirun` says. */
function ownRank(): number {
  return startedRanks()?.rank ?? 0;
}

/** What a rank was asked for: everything that must be the same on all, by name. */
export type Request = Readonly<Record<string, string>>;

/** What every command on ranks may be given. */
interface RankWishes extends DeviceWishes {
  /** Seconds that a rank waits for another one at most. */
  readonly rankTimeout?: number | undefined;
}

export interface RankCommand<S extends Options, T extends RankWishes> extends Usage<S> {
  /** Reads further: what all ranks must agree on, what rank 0 then checks of the file to write, and what the work needs. */
  readonly read: (options: Values<S>, world: World) => Promise<
    { readonly request: Request; readonly check?: (() => Promise<void>) | undefined; readonly values: T }
  >;
  /** Does the work, together with the other ranks. */
  readonly work: (world: World, device: OpenedDevice, values: T) => Promise<number>;
}

/**
 * Runs a command on every rank that `mpirun` started, or alone. A wrong request is reported once. A rank that fails says
 * why in a line with its number, and ends all the others: exit code 3.
 *
 * Under `mpirun` the work is done in a child, so that one that is killed still ends with that line and that code.
 */
export async function onRanks<const S extends Options, T extends RankWishes>(
  task: RankTask,
  args: readonly string[],
  { read, work, ...usage }: RankCommand<S, T>,
): Promise<number> {
  const isWatched = Deno.env.get(WATCHED) !== undefined;
  if (startedRanks() !== undefined && !isWatched) return await watch(task, args);
  if (isWatched) new Worker(ORPHAN_WATCH, { type: "module" });
  const late = (message: string) => say(`facet: rank ${ownRank()}: ${message}`);
  const patience: { onLate: typeof late; limitMs?: number } = { onLate: late };
  const world = await openWorld(patience).catch((error): never => {
    throw error instanceof RankError && ownRank() > 0
      ? new RankError(`rank ${ownRank()}: ${error.message}`)
      : error;
  });
  try {
    const asked = await together(world, async () => {
      const options = await parseCommand(usage, args, world.rank === 0);
      return options && await read(options, world);
    });
    let exitCode: number = EXIT.done;
    if (asked !== undefined) {
      const { check, values } = asked;
      if (values.rankTimeout !== undefined) patience.limitMs = 1000 * values.rankTimeout;
      await together(world, async () => world.rank === 0 ? await check?.() : undefined, 1);
      using device = await together(world, () => openRankDevice(world, values));
      const { place, note } = device, places = await world.shareAll(place);
      const { length } = places.filter((other) => other === place);
      const shared = length > 1 && `${device.name} (one GPU, which ${length} ranks share and use by turns)`;
      for (const line of [note, shared]) if (line) say(`facet: rank ${world.rank}: ${line}`);
      exitCode = await work(world, { ...device, name: shared || device.name }, values).catch(failed);
    }
    await world.close();
    return exitCode;
  } catch (error) {
    if (error instanceof Refused) {
      if (world.rank === 0) say(`facet: ${error.message}`);
      await world.close();
      return error.exitCode;
    }
    if (world.size === 1) throw error;
    const { text } = reportError(error);
    say(`facet: rank ${world.rank}: ${text}`);
    // MPICH's mpirun forwards nothing more once a rank has ended all
    await new Promise((resolve) => setTimeout(resolve, FORWARD_MS));
    return world.abort(EXIT.deviceFailed);
  }
}

/** Why the ranks cannot begin: all of them know. */
class Refused extends Error {
  constructor(message: string, readonly exitCode: number) {
    super(message);
  }
}

/**
 * Does something on every rank before its steps; all throw unless it succeeds on all and they agree.
 *
 * @param ranks how many of them count, where the others cannot know whether it succeeds
 */
export async function together<T>(world: World, act: () => Promise<T>, ranks = world.size): Promise<T> {
  const own = await act().catch(failed).then(
    (value) => ({ value }),
    (error) => ({ fault: reportError(error) }),
  );
  const { value, fault } = own as { value?: T & { request?: Request }; fault?: Asked["fault"] };
  const all = await world.shareAll({ fault, request: { version: VERSION, ...value?.request } });
  const refusal = judge(all.slice(0, ranks));
  if (refusal === undefined) return value!;
  throw new Refused(refusal.text, refusal.exitCode);
}

/** Turns what a device, or a part that no device can hold, throws into the end of the command. */
function failed(error: unknown): never {
  if (error instanceof SolverError) throw new DeviceError(error.message);
  if (error instanceof RangeError) throw new RequestError(error.message, { cause: error });
  return deviceFailed("the device failed")(error);
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
      const text = `all ranks must have the same ${name}: found ${request[name]}, rank 0 has ${wanted}`;
      return { text: `rank ${rank}: ${text}`, exitCode: EXIT.deviceFailed };
    }
  }
  return undefined;
}

/** Starts this command once more, to do the work, and says how it ended if it was killed. */
async function watch(task: RankTask, args: readonly string[]): Promise<number> {
  const flags = config.tasks[task].command.split(" ").slice(1, -2);
  const child = new Deno.Command(Deno.execPath(), {
    args: [...flags, Deno.mainModule, task, ...args],
    env: { [WATCHED]: "1" },
  }).spawn();
  // mpirun ends this process, not the child, which may be stopped
  let isEnded = false;
  Deno.addSignalListener("SIGTERM", () => {
    isEnded = true;
    child.kill("SIGKILL");
  });
  const { code, signal } = await child.status;
  if (signal === null) return code;
  // mpirun ends the ranks of one that failed before: that one has said why
  if (signal !== "SIGTERM" && !isEnded) say(`facet: rank ${ownRank()}: its process was ended by ${signal}`);
  return EXIT.deviceFailed;
}
