import { assertEquals } from "@std/assert";
import type { Configuration } from "../../tuner/configuration.ts";
import { atFullClock } from "../../tuner/solver/refined.ts";

const share = { cpuSlices: 0, gpuSlices: 8, exchangeEvery: 1, cpuWorkers: 0 };
const configuration: Configuration = { traversal: "stepwise", parameters: {}, share };

for (
  const [what, clocks, kept] of [
    ["under one clock all", [100, 99, 101], [0, 1, 2]],
    ["under a lower one none", [50, 60, 100, 101], [2, 3]],
    ["one piece that was too fast says nothing of the others", [100, 115, 99, 50], [0, 1, 2]],
    ["without a clock all", [Infinity, Infinity], [0, 1]],
    ["of two that differ the faster one", [100, 110], [1]],
    ["of none none", [], []],
  ] as const
) {
  Deno.test(`rates that count: ${what}`, () => {
    const samples = clocks.map((_, i) => i);
    assertEquals(atFullClock([{ configuration, samples, clocks }]), [{ configuration, samples: [...kept] }]);
  });
}
