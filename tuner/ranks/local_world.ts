import type { Message, Reduction, World } from "./world.ts";

/** A message that waits for its counterpart, or the other way round. */
interface Waiting {
  readonly values: Float32Array<ArrayBuffer>;
  readonly resolve: () => void;
}

/** A reduction that not all ranks have joined. */
interface Joining {
  readonly parts: Float64Array<ArrayBuffer>[];
  readonly done: PromiseWithResolvers<Float64Array<ArrayBuffer>>;
}

/**
 * Ranks within this process, with the same rules as MPI's: a rank alone needs no MPI, and tests run several.
 *
 * @param size ranks
 * @param onAbort what happens when a rank ends all; it must not return
 */
export function localWorlds(size: number, onAbort: (exitCode: number) => never = Deno.exit): World[] {
  const sent = new Map<string, Waiting[]>(), wanted = new Map<string, Waiting[]>();
  const joinings: Joining[] = [];
  let messages = 0;
  /** Meets the first counterpart of a key, or waits for one. */
  const meetAt = (
    { key, mine, others, values }: {
      key: string;
      mine: Map<string, Waiting[]>;
      others: Map<string, Waiting[]>;
      values: Float32Array<ArrayBuffer>;
    },
    copy: (other: Float32Array<ArrayBuffer>) => void,
  ): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const other = others.get(key)?.shift();
    if (other === undefined) {
      mine.set(key, [...mine.get(key) ?? [], { values, resolve }]);
    } else {
      copy(other.values);
      other.resolve();
      resolve();
    }
    return promise;
  };
  return Array.from({ length: size }, (_, rank): World => {
    const underWay = new Map<number, Promise<void>>();
    let joined = 0;
    const begin = (promise: Promise<void>): Message => {
      const id = messages++;
      underWay.set(id, promise);
      return { id };
    };
    return {
      rank,
      size,
      send(to, tag, values) {
        const key = `${rank} ${to} ${tag}`;
        return begin(meetAt({ key, mine: sent, others: wanted, values }, (other) => other.set(values)));
      },
      receive(from, tag, values) {
        const key = `${from} ${rank} ${tag}`;
        return begin(meetAt({ key, mine: wanted, others: sent, values }, (other) => values.set(other)));
      },
      async finish(list) {
        await Promise.all(list.map(({ id }) => underWay.get(id)));
        for (const { id } of list) underWay.delete(id);
      },
      async reduce(values, how) {
        const joining = joinings[joined++] ??= { parts: [], done: Promise.withResolvers() };
        joining.parts[rank] = values;
        if (joining.parts.filter(Boolean).length === size) joining.done.resolve(join(joining.parts, how));
        return (await joining.done.promise).slice();
      },
      abort: onAbort,
      close: () => Promise.resolve(),
    };
  });
}

function join(parts: readonly Float64Array<ArrayBuffer>[], how: Reduction): Float64Array<ArrayBuffer> {
  return parts[0]!.map((_, i) => {
    const values = parts.map((part) => part[i]!);
    return how === "max" ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0);
  });
}
