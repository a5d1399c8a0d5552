import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { CPU_TRAVERSALS, cpuTraversalNamed } from "../../kernels/cpu/cpu_traversals.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { cellsOf, fieldBytes, type Grid, type Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { Parameters } from "../../kernels/traversals/traversal.ts";
import { predictCpuRate, usualCpuBandwidth } from "../../models/cpu_roofline.ts";
import { roofOf } from "../../models/roofline.ts";

const CUBE: Grid = [512, 512, 512];

function problemOf(stencil: Stencil, grid = CUBE) {
  return { stencil, grid, boundary: "zero", steps: 96 } as const;
}

function demandOf(
  name: string,
  stencil: Stencil,
  parameters: Parameters,
  { workers = 16, grid = CUBE } = {},
) {
  return cpuTraversalNamed(name)!.demand(problemOf(stencil, grid), parameters, workers);
}

Deno.test("a pass for every step moves what it reads and writes; diamonds move the levels once for many steps", () => {
  const bytes = (name: string, stencil: Stencil, parameters: Parameters) =>
    demandOf(name, stencil, parameters).bytesPerUpdate;
  assertAlmostEquals(bytes("stepwise", wave(2), {}), 12);
  assertAlmostEquals(bytes("stepwise", heat(1), {}), 8);
  const tiles = { tiles: 16, levels: 16, block: 4 };
  assertAlmostEquals(bytes("diamond-wavefront", wave(2), tiles), 1);
  assertAlmostEquals(bytes("diamond-wavefront", heat(1), { ...tiles, levels: 8 }), 2);
  // two sub-steps a step: half as many steps in as many levels, of which new ones replace old ones in one array
  const planes = 9 + 9 + elastic().update.materials.length;
  assertAlmostEquals(bytes("diamond-wavefront", elastic(), { ...tiles, levels: 4 }), 4 * planes / 2);
});

Deno.test("no prediction lies above its roof, whatever the equation, the workers and the bandwidth", () => {
  let compared = 0;
  for (const stencil of [wave(2), wave(14), heat(1), elastic()]) {
    for (const workers of [1, 2, 16]) {
      for (const copyBytesPerSecond of [1e9, 3e10, 1e12]) {
        for (const traversal of CPU_TRAVERSALS) {
          const problem = problemOf(stencil, [128, 256, 64]);
          for (const parameters of traversal.candidates(problem, workers, { fuses: true })) {
            const demand = traversal.demand(problem, parameters, workers);
            const device = { copyBytesPerSecond, workers };
            const predicted = predictCpuRate(demand, device, { cells: cellsOf(problem.grid) });
            assert(predicted > 0 && predicted <= roofOf(demand, copyBytesPerSecond));
            compared++;
          }
        }
      }
    }
  }
  assert(compared > 500, `${compared}`);
});

Deno.test("predictions order what was measured on 16 cores: diamonds before strips before one strip", () => {
  const cells = cellsOf(CUBE), device = { copyBytesPerSecond: 1e11, workers: 16 };
  for (const stencil of [wave(2), heat(1)]) {
    const rate = (name: string, parameters: Parameters) =>
      predictCpuRate(demandOf(name, stencil, parameters), device, { cells });
    const rates = [
      rate("diamond-wavefront", { tiles: 16, levels: 16, block: 4 }),
      rate("stepwise", { strip: 32 }),
      rate("stepwise", { strip: 0 }),
    ];
    assert(rates[0]! > 1.5 * rates[1]! && rates[1]! > rates[2]!, `${rates}`);
  }
});

Deno.test("work that cannot be shared evenly, and operations that are not fused, cost time", () => {
  const cells = cellsOf(CUBE), device = { copyBytesPerSecond: 1e12, workers: 16 };
  const rate = (parameters: Parameters) =>
    predictCpuRate(demandOf("diamond-wavefront", wave(8), parameters), device, { cells });
  const even = { tiles: 32, levels: 2, block: 4 };
  assert(rate(even) > 1.5 * rate({ ...even, tiles: 17 }));
  assert(rate({ ...even, fused: 1 }) > rate(even));
});

Deno.test("plain steps are predicted to be fastest where caches hold the field, diamonds where they do not, as measured", () => {
  // two cores of an AMD EPYC (Zen 4), 2026-11-22: all of a grid's candidates in turns
  const cached: Grid[] = [[16, 16, 16], [64, 64, 64], [40, 64, 128], [100, 30, 300], [96, 96, 96], [
    128,
    128,
    128,
  ]];
  const beyond: Grid[] = [[192, 192, 192], [256, 256, 256]];
  for (const workers of [1, 2]) {
    for (const stencil of [wave(2), wave(4), heat(1)]) {
      for (const grid of [...cached, ...beyond]) {
        const problem = problemOf(stencil, grid);
        const device = { copyBytesPerSecond: usualCpuBandwidth(fieldBytes(problem), workers), workers };
        const [stepwise, diamonds] = CPU_TRAVERSALS.map((traversal) =>
          Math.max(
            ...traversal.candidates(problem, workers, { fuses: false }).map((parameters) =>
              predictCpuRate(traversal.demand(problem, parameters, workers), device, { cells: cellsOf(grid) })
            ),
          )
        );
        const ratio = diamonds! / stepwise!;
        assert(
          cached.includes(grid) ? ratio < 1 : ratio > 1,
          `${stencil.title}, ${grid}, ${workers}: ${ratio}`,
        );
      }
    }
  }
});

Deno.test("of diamonds those are predicted to be fastest whose wave fits the cache that the cores share, as measured", () => {
  // a core of an AMD EPYC (Zen 4), 2026-11-27: 0.121 Gcells/s with 4 tiles, 0.117 with 6, 0.111 with 2
  const problem = problemOf(elastic(), [192, 192, 192]), diamonds = cpuTraversalNamed("diamond-wavefront")!;
  const device = { copyBytesPerSecond: usualCpuBandwidth(fieldBytes(problem), 1), workers: 1 };
  const [first] = diamonds.candidates(problem, 1, { fuses: false }).map((parameters) => {
    const demand = diamonds.demand(problem, parameters, 1);
    return { parameters, rate: predictCpuRate(demand, device, { cells: cellsOf(problem.grid) }) };
  }).sort((a, b) => b.rate - a.rate);
  assertEquals([first!.parameters.tiles, first!.parameters.levels], [4, 12]);
});

Deno.test("of a field a little larger than the cache most stays there: its bandwidth falls by degrees", () => {
  const [fits, little, twice, far] = [16, 17, 32, 512].map((mib) => usualCpuBandwidth(mib * 2 ** 20, 2));
  assert(little! > 0.5 * fits! && little! < fits!);
  assert(twice! < 0.3 * fits! && twice! > far!);
  assertAlmostEquals(far! / usualCpuBandwidth(2 ** 40, 2), 1, 0.01);
});
