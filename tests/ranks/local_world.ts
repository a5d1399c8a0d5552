import type { FloatArray } from "../../kernels/precision.ts";
import type { OpenProblem } from "../../kernels/stencils/stencil.ts";
import type { Message, RankDevice, World } from "../../tuner/devices/world.ts";
import { checkProblem } from "../../tuner/problem/resolve_problem.ts";
import type { Profile } from "../../tuner/profile/profile_types.ts";
import type { FieldSolver } from "../../tuner/solver/field_solver.ts";
import { openOnRanks, type RankSolverOptions } from "../../tuner/solver/open_on_ranks.ts";

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
  readonly values: FloatArray<ArrayBuffer>;
  readonly isSent: boolean;
  readonly resolve: () => void;
}

/** Ranks within this process, with the same rules as MPI's. */
export function localWorlds(size: number): World[] {
  const halves = new Map<string, Half[]>(), underWay = new Map<number, Promise<void>>();
  let messages = 0, arrived = 0, gathering = Promise.withResolvers<unknown[]>(), values: unknown[] = [];
  /** The last rank that arrives gives all ranks all values. */
  const shareAll = async <T>(rank: number, own: T): Promise<T[]> => {
    const { promise, resolve } = gathering;
    values[rank] = own;
    if (++arrived === size) {
      resolve(values);
      [arrived, gathering, values] = [0, Promise.withResolvers(), []];
    }
    return await promise as T[];
  };
  const begin = (key: string, values: FloatArray<ArrayBuffer>, isSent: boolean): Message => {
    const { promise, resolve } = Promise.withResolvers<void>(), id = messages++;
    const waiting = halves.get(key) ?? [], [first] = waiting;
    halves.set(key, waiting);
    underWay.set(id, promise);
    if (first === undefined || first.isSent === isSent) {
      waiting.push({ values, isSent, resolve });
    } else {
      waiting.shift();
      if (isSent) first.values.set(values);
      else values.set(first.values);
      first.resolve();
      resolve();
    }
    return { id };
  };
  return Array.from({ length: size }, (_, rank): World => ({
    rank,
    size,
    send: (to, tag, values) => begin(`${rank} ${to} ${tag}`, values, true),
    receive: (from, tag, values) => begin(`${from} ${rank} ${tag}`, values, false),
    async finish(list) {
      await Promise.all(list.map(({ id }) => underWay.get(id)));
      for (const { id } of list) underWay.delete(id);
    },
    most: async (value) => Math.max(...await shareAll(rank, value)),
    shareAll: (own) => shareAll(rank, own),
    meet: async () => void await shareAll(rank, undefined),
    async first(ranks) {
      const [worlds] = await shareAll(rank, rank === 0 ? localWorlds(ranks) : undefined);
      return worlds![rank];
    },
    abort: Deno.exit,
    close: () => Promise.resolve(),
  }));
}
