import { assertEquals, assertNotEquals } from "@std/assert";
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { legend, lookOf, seriesOf, TOGETHER } from "../../tuner/report/series.ts";

Deno.test("every traversal of the GPU and the CPU has a look of its own", () => {
  const names = [
    ...TRAVERSALS.map(({ name }) => name),
    ...CPU_TRAVERSALS.map(({ name }) => `CPU ${name}`),
    TOGETHER,
  ];
  const looks = new Map<string, string>();
  for (const name of names) {
    const { color, mark } = lookOf(name);
    assertNotEquals(
      [color, mark],
      [lookOf("?").color, lookOf("?").mark],
      `${name} looks like an unknown kernel`,
    );
    assertEquals(looks.get(`${color} ${mark}`), undefined, `${name} looks like another`);
    looks.set(`${color} ${mark}`, name);
  }
});

Deno.test("a kernel of another tool keeps its look, whatever else is drawn", () => {
  for (const name of ["vector_add", "toString"]) assertEquals(lookOf(name), lookOf(name));
  assertEquals(legend(["stepwise", "vector_add"]).text.match(/fill="[^"]*"/g), [
    `fill="${lookOf("stepwise").color}"`,
    `fill="${lookOf("vector_add").color}"`,
  ]);
});

Deno.test("a series says who computes", () => {
  const share = { exchangeEvery: 1, cpuWorkers: 2 };
  const seriesWith = (cpuSlices: number, gpuSlices: number): string =>
    seriesOf({ traversal: "stepwise", parameters: {}, share: { ...share, cpuSlices, gpuSlices } });
  assertEquals([seriesWith(0, 4), seriesWith(4, 0), seriesWith(1, 3)], [
    "stepwise",
    "CPU stepwise",
    TOGETHER,
  ]);
});
