import { assertEquals } from "@std/assert";
import { elastic } from "../../kernels/stencils/elastic.ts";
import type { Grid, Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { processesFor } from "../../tuner/cli/tune.ts";

const problemOf = (stencil: Stencil, grid: Grid) => ({ stencil, grid, boundary: "zero", steps: 96 }) as const;

Deno.test("as many processes search as the memory and the cores allow, two at least, eight at most", () => {
  const small = problemOf(wave(2), [64, 64, 64]);
  const memory = 128e9;
  assertEquals([1, 2, 4, 9, 16, 64].map((cores) => processesFor(small, { cores, memory })), [
    2,
    2,
    3,
    8,
    8,
    8,
  ]);
  // 3.2 GB a field: eight references and eight fields are 51 GB
  const large = problemOf(wave(2), [584, 5280, 128]);
  assertEquals([2, 4, 16].map((cores) => processesFor(large, { cores, memory })), [2, 3, 8]);
  assertEquals([64e9, 48e9, 16e9].map((memory) => processesFor(large, { cores: 16, memory })), [5, 3, 2]);
  // fields and materials are planes of a slice
  assertEquals(processesFor(problemOf(elastic(), [256, 1024, 128]), { cores: 16, memory }), 7);
});
