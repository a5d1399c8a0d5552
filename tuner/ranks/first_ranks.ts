import type { Reduction, World } from "./world.ts";

/** Tags of reductions: apart from those of the world whose messages these are. */
const UP = 100, DOWN = 101;

/** The first ranks of a world as a world of their own; the others leave it alone. */
export function firstRanks(world: World, size: number): World {
  const { rank } = world;
  const bits = (values: Float64Array<ArrayBuffer>) => new Float32Array(values.buffer);
  const receive = async (from: number, tag: number, length: number) => {
    const values = new Float64Array(length);
    await world.finish([world.receive(from, tag, bits(values))]);
    return values;
  };
  return {
    rank,
    size,
    send: (to, tag, values) => world.send(to, tag, values),
    receive: (from, tag, values) => world.receive(from, tag, values),
    finish: (messages) => world.finish(messages),
    async reduce(values: Float64Array<ArrayBuffer>, how: Reduction) {
      if (values.length === 0 || size === 1) return values.slice();
      if (rank > 0) {
        await world.finish([world.send(0, UP, bits(values))]);
        return await receive(0, DOWN, values.length);
      }
      let all = values.slice();
      for (let from = 1; from < size; from++) {
        const other = await receive(from, UP, values.length);
        all = all.map((value, i) => how === "sum" ? value + other[i]! : Math.max(value, other[i]!));
      }
      const others = Array.from({ length: size - 1 }, (_, i) => i + 1);
      await world.finish(others.map((to) => world.send(to, DOWN, bits(all))));
      return all;
    },
    abort: (exitCode) => world.abort(exitCode),
    close: () => Promise.resolve(),
  };
}
