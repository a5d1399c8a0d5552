import { assertEquals } from "@std/assert";
import type { Problem } from "../../../../kernels/stencils/stencil.ts";
import { wave } from "../../../../kernels/stencils/wave.ts";
import { diamondTorre } from "../../../../kernels/traversals/torre/diamond_torre.ts";
import { H100_LIMITS } from "../../../h100_limits.ts";

Deno.test("torres over long rows exchange no more cells at once than workgroup memory holds", () => {
  const chunksOf = (nz: number) =>
    diamondTorre.parameterLists(
      { stencil: wave(2), grid: [150, 170, nz], boundary: "zero", steps: 96 },
      H100_LIMITS,
    ).chunk!;
  assertEquals(chunksOf(128), [8, 4, 16, 2]);
  assertEquals(chunksOf(768), [8, 4, 2]);
  assertEquals(chunksOf(1100), [4, 2]);
});

Deno.test("tiles have an even W: DTS go by halves where the slope is even, and another is refused", () => {
  const problemOf = (order: number): Problem => {
    return { stencil: wave(order), grid: [150, 170, 32], boundary: "zero", steps: 96 };
  };
  const sizesOf = (order: number) => diamondTorre.parameterLists(problemOf(order), H100_LIMITS).dts!;
  assertEquals(sizesOf(2).slice(0, 3), [1, 2, 3]);
  assertEquals(sizesOf(4).slice(0, 4), [1, 1.5, 2, 2.5]);
  const whyNot = (order: number) => {
    const parameters = {
      nt: 8,
      bands: 1,
      zPerThread: 1,
      threads: 32,
      chunk: 4,
      unroll: 1,
      loads: "tier start",
    };
    return diamondTorre.infeasible(problemOf(order), { dts: 1.5, ...parameters }, H100_LIMITS)?.message;
  };
  assertEquals(whyNot(4), undefined);
  assertEquals(whyNot(2), "DTS 1.5 makes tiles of 3 cells: W must be even");
});
