import { assertEquals, assertNotEquals } from "@std/assert";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { life } from "../../kernels/stencils/life.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { nameProblem, problemKey, stencilKey } from "../../tuner/profile/problem_key.ts";
import { describeProblem } from "../../tuner/profile/schema.ts";
import { isSameProblem, mergeProfiles } from "../../tuner/profile/store.ts";
import { ENTRY, PROFILE } from "./sample_profile.ts";

const problemOf = (stencil: Stencil, changed: Partial<Problem> = {}): Problem => ({
  stencil,
  grid: [100, 90, 80],
  boundary: "zero",
  steps: 96,
  ...changed,
});

Deno.test("problems are told apart by everything that a profile says of them", () => {
  const stencils = [wave(2), wave(4), heat(1), heat(2), life("5/2-7"), life("4/2-7"), elastic()];
  const all = [...stencils, elastic({ medium: "uniform" })].map((stencil) => problemOf(stencil));
  assertEquals(new Set(all.map(nameProblem).map(stencilKey)).size, all.length);
  const [first] = all;
  for (
    const changed of [{ grid: [100, 80, 90] as const }, { boundary: "periodic" as const }, { steps: 95 }]
  ) {
    assertNotEquals(problemKey(nameProblem({ ...first, ...changed })), problemKey(nameProblem(first)));
  }
  // as the profile names it, in whatever order
  for (const problem of all) {
    const named = describeProblem(problem);
    const turned = Object.fromEntries(Object.entries(named).toReversed()) as typeof named;
    assertEquals([problemKey(named), problemKey(turned)], Array(2).fill(problemKey(nameProblem(problem))));
  }
});

Deno.test("a profile keeps entries of different rules and media", () => {
  const entries = [life("5/2-7"), life("4/2-7"), elastic(), elastic({ medium: "uniform" })]
    .map((stencil) => ({ ...ENTRY, problem: describeProblem(problemOf(stencil)) }));
  assertEquals(isSameProblem(entries[0].problem, entries[1].problem), false);
  const merged = entries.reduce(
    (profile, entry) => mergeProfiles(profile, { ...PROFILE, entries: [entry] }),
    {
      ...PROFILE,
      entries: [] as typeof PROFILE.entries,
    },
  );
  assertEquals(merged.entries.length, 4);
});
