import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { life } from "../../kernels/stencils/life.ts";
import { traversalNamed } from "../../kernels/traversals/all.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { ANY_DEVICE, oddValue } from "../../tuner/profile/prediction.ts";

const PROBLEM: Problem = { stencil: life(), grid: [64, 64, 64], boundary: "zero", steps: 96 };
const TORRE = traversalNamed("diamond-torre");

Deno.test("what a search tries is not odd, what is far beyond is, whatever it would take to count", () => {
  const lists = TORRE.parameterLists(PROBLEM, ANY_DEVICE);
  const usual = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list[0]!]));
  for (const [name, list] of Object.entries(lists)) {
    for (const value of list) assertEquals(oddValue(TORRE, PROBLEM, { ...usual, [name]: value }), undefined);
    const wanted = ["rest", "loads"].includes(name) ? "one of" : "a whole";
    for (const value of [-1, 1.3, 1e308, 5e-324, 1e6, "tier"]) {
      assertStringIncludes(
        oddValue(TORRE, PROBLEM, { ...usual, [name]: value })!,
        `${name} must be ${wanted}`,
      );
    }
  }
  assertMatch(
    oddValue(TORRE, PROBLEM, { ...usual, dts: 0 })!,
    /^dts must be a whole number from 1 to \d+, 1.5, 2.5, 3.5 or 4.5: found 0$/,
  );
  assertEquals(oddValue(TORRE, PROBLEM, { ...usual, unknown: -1 }), undefined);
});
