import { assertEquals } from "@std/assert";
import { nextTurn } from "../../tuner/devices/next_turn.ts";

Deno.test("who asks first for a turn goes on first, also where that waits for timers and the next one does not", async () => {
  const { setTimeout } = globalThis, timers: (() => void)[] = [], order: string[] = [];
  const stored = ((then: () => void) => timers.push(then)) as unknown as typeof setTimeout;
  const ask = (name: string) => nextTurn().then(() => void order.push(name));
  // timers are looked at every 100 ms
  await new Promise((resolve) => setTimeout(resolve, 101));
  globalThis.setTimeout = stored;
  try {
    const asked = [ask("first"), ask("second")];
    timers[1]!();
    asked.push(ask("third"));
    await new Promise((resolve) => setTimeout(resolve, 5));
    assertEquals([timers.length, order], [2, []]);
    timers[0]!();
    await Promise.all(asked);
    assertEquals(order, ["first", "second", "third"]);
  } finally {
    globalThis.setTimeout = setTimeout;
  }
});
