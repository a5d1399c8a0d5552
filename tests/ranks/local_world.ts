import type { FloatArray } from "../../kernels/precision.ts";
import type { OpenProblem } from "../../kernels/stencils/stencil.ts";
import { type Message, type RankDevice, RankError, type World } from "../../tuner/devices/world.ts";
import { checkProblem } from "../../tuner/problem/resolve_problem.ts";
import type { Profile } from "../../tuner/profile/profile_types.ts";
import type { FieldSolver } from "../../tuner/solver/field_solver.ts";
import { openOnRanks, type RankSolverOptions } from "../../tuner/solver/open_on_ranks.ts";
import { Dice } from "../random/dice.ts";

/** Opens a rank's part on a device that is open already. */
export async function openRank(
  world: World,
  device: RankDevice,
  problem: OpenProblem,
  profiles: readonly Profile[],
  options: RankSolverOptions = {},
): Promise<FieldSolver> {
  return await openOnRanks(checkProblem("share the grid", problem), { ...options, world, device, profiles });
}

/** A half of a message that waits for the other. */
interface Half {
  readonly rank: number;
  readonly values: FloatArray<ArrayBuffer>;
  /** What is sent, as it was when that began; undefined of a receive. */
  readonly sent: FloatArray<ArrayBuffer> | undefined;
  /** Whether its send ends without the other: MPI copies what is short. */
  readonly isEager: boolean;
  readonly done: PromiseWithResolvers<void>;
}

/** A world within this process. */
export interface LocalWorld extends World {
  /** Messages of all ranks that were begun and not finished. */
  readonly left: () => number;
}

/** What is by chance in a world. */
interface Chance {
  /** By which sends end late and receives arrive late, on ranks that are not equally slow. @default {nothing is late} */
  readonly seed?: number | undefined;
  /** Milliseconds that a message is waited for. @default {20,000} */
  readonly limitMs?: number;
}

/** Milliseconds by which something may be late, and how much slower a rank may be than others. */
const LATE_MS = [0, 0, 1, 3], SLOWNESS = [0, 1, 1, 4];

/**
 * Ranks within this process, with the same rules as MPI's: of the messages from one rank to another with one tag, the first
 * that is sent arrives in the first receive. With a seed, memory that is received into is NaN until it has come, and what is
 * sent must stay as it is until that has ended.
 */
export function localWorlds(size: number, { seed, limitMs = 20_000 }: Chance = {}): LocalWorld[] {
  const halves = new Map<string, Half[]>(), underWay = new Map<number, Promise<void>>();
  const dice = seed === undefined ? undefined : new Dice(seed);
  const slowness = Array.from({ length: size }, () => dice?.oneOf(SLOWNESS) ?? 0);
  let messages = 0, arrived = 0, gathering = Promise.withResolvers<unknown[]>(), values: unknown[] = [];
  const late = async (rank: number): Promise<void> => {
    if (dice === undefined || dice.chance(0.4)) return;
    const ms = slowness[rank]! * dice.oneOf(LATE_MS);
    await new Promise((resolve) => setTimeout(resolve, ms));
  };
  /** The last rank that arrives gives all ranks all values. */
  const shareAll = async <T>(rank: number, own: T): Promise<T[]> => {
    await late(rank);
    const { promise, resolve } = gathering;
    values[rank] = own;
    if (++arrived === size) {
      resolve(values);
      [arrived, gathering, values] = [0, Promise.withResolvers(), []];
    }
    await promise;
    await late(rank);
    return await promise as T[];
  };
  const endSend = async ({ rank, values, sent, done }: Half): Promise<void> => {
    await late(rank);
    const isSame = values.length === sent!.length && values.every((value, i) => Object.is(value, sent![i]));
    if (isSame) done.resolve();
    else done.reject(new Error(`rank ${rank} changed what it sends before that had ended`));
  };
  const endReceive = async ({ rank, values, done }: Half, sent: FloatArray): Promise<void> => {
    if (dice !== undefined) await late(rank);
    if (values.length === sent.length) {
      values.set(sent);
      done.resolve();
    } else done.reject(new RankError(`rank ${rank} wanted ${values.length} values: found ${sent.length}`));
  };
  const begin = (key: string, one: Half): Message => {
    const id = messages++, waiting = halves.get(key) ?? [], [first] = waiting;
    halves.set(key, waiting);
    underWay.set(id, one.done.promise);
    one.done.promise.catch(() => {}); // thrown by `finish`
    if (one.isEager) void endSend(one);
    if (first === undefined || (first.sent === undefined) === (one.sent === undefined)) {
      waiting.push(one);
    } else {
      waiting.shift();
      const [send, receive] = one.sent === undefined ? [first, one] : [one, first];
      if (!send.isEager) void endSend(send);
      void endReceive(receive, send.sent!);
    }
    return { id };
  };
  return Array.from({ length: size }, (_, rank): LocalWorld => ({
    rank,
    size,
    send(to, tag, values) {
      const isEager = dice?.chance(0.3) ?? false, done = Promise.withResolvers<void>();
      return begin(`${rank} ${to} ${tag}`, { rank, values, sent: values.slice(), isEager, done });
    },
    receive(from, tag, values) {
      if (dice !== undefined) values.fill(NaN);
      const done = Promise.withResolvers<void>();
      return begin(`${from} ${rank} ${tag}`, { rank, values, sent: undefined, isEager: false, done });
    },
    async finish(list) {
      const { promise: never, reject } = Promise.withResolvers<never>();
      const giveUp = () => reject(new RankError(`rank ${rank} has waited for ${limitMs} ms`));
      const timer = setTimeout(giveUp, limitMs);
      try {
        await Promise.race([Promise.all(list.map(({ id }) => underWay.get(id))), never]);
      } finally {
        clearTimeout(timer);
      }
      for (const { id } of list) underWay.delete(id);
    },
    most: async (value) => Math.max(...await shareAll(rank, value)),
    shareAll: (own) => shareAll(rank, own),
    meet: async () => void await shareAll(rank, undefined),
    async first(ranks) {
      const [worlds] = await shareAll(rank, rank === 0 ? localWorlds(ranks, { seed, limitMs }) : undefined);
      return worlds![rank];
    },
    abort: Deno.exit,
    close: () => Promise.resolve(),
    left: () => underWay.size,
  }));
}
