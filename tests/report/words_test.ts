import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { BOUNDARIES, type Problem } from "../../kernels/stencils/stencil.ts";
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import type { FailureReason } from "../../tuner/configuration.ts";
import { failureWords, parameterMeaning, parameterTitle } from "../../tuner/report/words.ts";
import { DEVICE } from "../profile/sample_profile.ts";

/** A small problem of every equation. */
const PROBLEMS = EQUATIONS.map(({ variant, create }): Problem => {
  const stencil = create(variant?.default);
  const [boundary = "zero"] = stencil.boundaries ?? BOUNDARIES;
  return { stencil, grid: stencil.dimensions === 1 ? [1, 1, 4096] : [64, 64, 64], boundary, steps: 32 };
});

Deno.test("every parameter of every traversal has a name and a meaning in plain words", () => {
  const names = new Set<string>();
  for (const traversal of TRAVERSALS) {
    const suited = PROBLEMS.filter((problem) => traversal.refuse(problem) === undefined);
    assert(suited.length > 0, `no equation for ${traversal.name}`);
    // the first is enough: which parameters there are depends on the traversal alone
    for (const name of Object.keys(traversal.parameterLists(suited[0]!, DEVICE.gpu!.limits))) names.add(name);
  }
  for (const traversal of CPU_TRAVERSALS) {
    for (const parameters of traversal.candidates(PROBLEMS[0]!, 2, { fuses: true })) {
      Object.keys(parameters).forEach((name) => names.add(name));
    }
  }
  for (const name of names) {
    assertNotEquals(parameterMeaning(name), undefined, `words.ts lacks the parameter ${name}`);
    assert(!/[a-z][A-Z]/.test(parameterTitle(name)), `${name} has no title for people`);
  }
  assertEquals(new Set([...names].map(parameterTitle)).size, names.size, "two parameters share a title");
});

Deno.test("names of other tools' parameters stay as they are, also those that objects have", () => {
  assertEquals([parameterTitle("BLOCK_X"), parameterMeaning("BLOCK_X")], ["BLOCK_X", undefined]);
  assertEquals([parameterTitle("toString"), parameterMeaning("constructor")], ["toString", undefined]);
});

Deno.test("every failure has words", () => {
  const reasons: Record<FailureReason, true> = {
    compile: true,
    limits: true,
    incorrect: true,
    timeout: true,
    "device-lost": true,
    "out-of-memory": true,
  };
  for (const reason of Object.keys(reasons)) assertNotEquals(failureWords(reason), reason);
  assertEquals(failureWords("valueOf"), "valueOf");
});
