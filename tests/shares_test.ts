import { assertEquals } from "@std/assert";
import type { Configuration } from "../tuner/configuration.ts";
import { configurationOf, deviceOf, isShared, sharesOf, uses } from "../tuner/shares.ts";

const torre = { traversal: "diamond-torre", parameters: { dts: 4 } };
const diamonds = { traversal: "diamond-wavefront", parameters: { tiles: 2, levels: 3, block: 2 } };
const gpu = { cpuSlices: 0, gpuSlices: 30, exchangeEvery: 8, cpuWorkers: 0 };
const cpu = { cpuSlices: 30, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 3 };
const both = { cpuSlices: 10, gpuSlices: 20, exchangeEvery: 8, cpuWorkers: 3 };

Deno.test("a configuration is a list of shares, and comes back from it as it was", () => {
  const configurations: Configuration[] = [
    { ...torre, share: gpu },
    { ...torre, share: { ...gpu, deviceMemory: 4096 } },
    { ...diamonds, share: cpu },
    { ...torre, share: both },
    { ...torre, share: { ...both, cpu: diamonds } },
  ];
  const lists = configurations.map(sharesOf);
  assertEquals(
    lists.map((shares) => shares.map(({ device, slices }) => `${device} ${slices}`)),
    [["gpu 30"], ["gpu 30"], ["cpu 30"], ["cpu 10", "gpu 20"], ["cpu 10", "gpu 20"]],
  );
  assertEquals(lists[1]![0]!.memory, 4096);
  assertEquals(lists[2], [{ device: "cpu", slices: 30, ...diamonds, workers: 3 }]);
  // beside a GPU the CPU computes stepwise unless its share says otherwise
  assertEquals(lists.slice(3).map(([cpu]) => cpu!.traversal), ["stepwise", "diamond-wavefront"]);
  configurations.forEach((configuration, i) =>
    assertEquals(configurationOf(lists[i]!, configuration.share.exchangeEvery), configuration)
  );
});

Deno.test("a device without slices takes no part", () => {
  const shares = [{ device: "cpu", slices: 0, ...diamonds, workers: 3 }, {
    device: "gpu",
    slices: 30,
    ...torre,
  }] as const;
  assertEquals(configurationOf(shares, 8), { ...torre, share: gpu });
  assertEquals([gpu, cpu, both].map((share) => [uses(share, "cpu"), uses(share, "gpu"), isShared(share)]), [
    [false, true, false],
    [true, false, false],
    [true, true, true],
  ]);
  assertEquals([gpu, cpu, both].map((share) => deviceOf({ ...torre, share })), ["gpu", "cpu", "gpu"]);
});
