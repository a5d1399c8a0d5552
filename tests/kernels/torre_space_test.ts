import { assertEquals } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../kernels/traversals/diamond_torre.ts";
import { H100_LIMITS } from "../h100_limits.ts";

Deno.test("torres over long rows exchange no more cells at once than workgroup memory holds", () => {
  const chunksOf = (nz: number): readonly number[] =>
    diamondTorre.parameterLists(
      { stencil: wave(2), grid: [150, 170, nz], boundary: "zero", steps: 96 },
      H100_LIMITS,
    ).chunk!;
  assertEquals(chunksOf(128), [8, 4, 16, 2]);
  assertEquals(chunksOf(768), [8, 4, 2]);
  assertEquals(chunksOf(1100), [4, 2]);
});
