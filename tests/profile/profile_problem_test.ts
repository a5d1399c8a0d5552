import { assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { life } from "../../kernels/stencils/life.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import {
  describeProblem,
  isSameProblem,
  problemKey,
  problemOf,
  stencilKey,
  whyNotStorable,
} from "../../tuner/profile/profile_problem.ts";
import { mergeProfiles } from "../../tuner/profile/store.ts";
import { ENTRY, PROFILE } from "./sample_profile.ts";

const problemOn = (stencil: Stencil, changed: Partial<Problem> = {}): Problem => ({
  stencil,
  grid: [100, 90, 80],
  boundary: "zero",
  steps: 96,
  ...changed,
});

Deno.test("problems differ by everything that a profile says of them", () => {
  const stencils = [wave(2), wave(4), heat(1), heat(2), life("5/2-7"), life("4/2-7"), elastic()];
  const all = [...stencils, elastic({ medium: "uniform" })].map((stencil) => problemOn(stencil));
  assertEquals(new Set(all.map(describeProblem).map(stencilKey)).size, all.length);
  const first = all[0]!;
  for (
    const changed of [{ grid: [100, 80, 90] as const }, { boundary: "periodic" as const }, { steps: 95 }]
  ) {
    assertNotEquals(
      problemKey(describeProblem({ ...first, ...changed })),
      problemKey(describeProblem(first)),
    );
  }
  // as the profile names it, in whatever order
  for (const problem of all) {
    const named = describeProblem(problem);
    const turned = Object.fromEntries(Object.entries(named).toReversed()) as typeof named;
    assertEquals(
      [problemKey(named), problemKey(turned)],
      Array(2).fill(problemKey(describeProblem(problem))),
    );
  }
});

Deno.test("a boundary is one word where all axes have the same, else three, and comes back as it was", () => {
  const along = (boundary: Problem["boundary"]) => describeProblem(problemOn(wave(2), { boundary }));
  const mixed = ["zero", "periodic", "insulated"] as const;
  assertEquals(along(["zero", "zero", "zero"]), along("zero"));
  assertEquals(along(mixed).boundary, mixed);
  assertEquals(problemOf(along(mixed))?.boundary, mixed);
  assertNotEquals(problemKey(along(mixed)), problemKey(along(["zero", "insulated", "periodic"])));
  assertEquals(whyNotStorable(problemOn(wave(2), { boundary: mixed })), undefined);
  for (const boundary of ["open", ["zero", "zero", "open"] as const]) {
    assertEquals(problemOf({ ...along("zero"), boundary }), undefined);
  }
});

Deno.test("a profile keeps entries of different rules and media", () => {
  const entries = [life("5/2-7"), life("4/2-7"), elastic(), elastic({ medium: "uniform" })]
    .map((stencil) => ({ ...ENTRY, problem: describeProblem(problemOn(stencil)) }));
  assertEquals(isSameProblem(entries[0]!.problem, entries[1]!.problem), false);
  const merged = entries.reduce(
    (profile, entry) => mergeProfiles(profile, { ...PROFILE, entries: [entry] }),
    {
      ...PROFILE,
      entries: [] as typeof PROFILE.entries,
    },
  );
  assertEquals(merged.entries.length, 4);
});

Deno.test("a stencil's problem as a profile names it, and back", () => {
  const problem = problemOn(wave(4), { grid: [5, 6, 7], boundary: "periodic", steps: 9 });
  const record = describeProblem(problem);
  assertEquals(record, {
    stencil: "wave",
    order: 4,
    grid: [5, 6, 7],
    boundary: "periodic",
    precision: "f32",
    steps: 9,
  });
  assertEquals(describeProblem(problemOf(record)!), record);
  assertEquals(problemOf({ ...record, order: 3 }), undefined);
  assertEquals(problemOf({ ...record, stencil: "maxwell" }), undefined);
  assertEquals(problemOf({ ...record, boundary: "open" }), undefined);
});

Deno.test("a problem that no profile can store is refused with a reason, in one line", () => {
  for (const { create, variant } of EQUATIONS) {
    assertEquals(whyNotStorable(problemOn(create(variant?.default))), undefined);
  }
  const own = wave(2);
  const reasonOf = (change: Partial<Stencil>): string | undefined =>
    whyNotStorable(problemOn({ ...own, ...change }));
  assertEquals(
    reasonOf({ name: "MyWave" }),
    'a profile cannot store the problem: stencil: wanted a name of small letters, digits and dashes, found "MyWave"',
  );
  assertEquals(
    reasonOf({ name: "mine", variant: { speed: 3 } }),
    "a profile stores only these variants of a stencil: order, delta, rule, medium, points: found speed",
  );
  assertEquals(
    reasonOf({ name: "mine", variant: { order: 2.5 } }),
    "a profile cannot store the problem: order: wanted a whole number, found 2.5",
  );
  assertStringIncludes(reasonOf({ variant: {} })!, "wanted an order with the wave equation");
  assertEquals(reasonOf({ name: "mine", variant: { order: 3 } }), undefined);
});
