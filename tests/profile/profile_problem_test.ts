import { assertEquals, assertNotEquals } from "@std/assert";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { hashOf } from "../../kernels/definition.ts";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { life } from "../../kernels/stencils/life.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import {
  describeProblem,
  familyKey,
  isOfOtherFormula,
  isSameProblem,
  problemKey,
  problemOf,
  stencilKey,
} from "../../tuner/profile/profile_problem.ts";
import { whyNotStorable } from "../../tuner/profile/storable.ts";
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
  const all = [...stencils, elastic({ surface: "free" })].map((stencil) => problemOn(stencil));
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
    assertEquals(named.hash, hashOf(problem.stencil.update));
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

Deno.test("a profile keeps entries of different rules and surfaces", () => {
  const entries = [life("5/2-7"), life("4/2-7"), elastic(), elastic({ surface: "free" })]
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
    hash: hashOf(wave(4).update),
    grid: [5, 6, 7],
    boundary: "periodic",
    precision: "f32",
    steps: 9,
  });
  assertEquals(describeProblem(problemOf(record)!), record);
  assertEquals(problemOf({ ...record, order: 3 }), undefined);
  assertEquals(problemOf({ ...record, stencil: "navier" }), undefined);
  assertEquals(problemOf({ ...record, boundary: "open" }), undefined);
});

Deno.test("a surface's fields and where fields lie come back with an equation's definition", () => {
  const problem = problemOn(elastic({ surface: "free", edges: 3 }));
  assertEquals(whyNotStorable(problem), undefined);
  const { surface, stagger } = problemOf(JSON.parse(JSON.stringify(describeProblem(problem))))!.stencil;
  assertEquals([surface, stagger], [["szz", "sxz", "syz"], problem.stencil.stagger]);
});

Deno.test("a problem that no profile can store is refused with a reason, in one line", () => {
  for (const { create, variant } of EQUATIONS) {
    assertEquals(whyNotStorable(problemOn(create(variant?.default))), undefined);
  }
  const reasonOf = (change: Partial<Stencil>): string | undefined =>
    whyNotStorable(problemOn({ ...wave(2), ...change }));
  for (const change of [{ name: "MyWave" }, { name: "mine", variant: { speed: 2.5 } }, { variant: {} }]) {
    assertEquals(reasonOf(change), undefined);
  }
  assertEquals(
    reasonOf({ name: "my wave" }),
    'a profile cannot store the problem: stencil: wanted a name of letters, digits, _ and -, found "my wave" (and 1 more)',
  );
});

Deno.test("what name and variant do not make is stored as a definition, from which any program makes it", () => {
  assertEquals("definition" in describeProblem(problemOn(wave(4))), false);
  const { update } = heat(2),
    own = { ...heat(2), name: "Mine", variant: { speed: 0.5, kind: "new" }, title: "my own" };
  for (
    const stencil of [own, wave(2, { courant: 0.1 }), { ...wave(2), update }, elastic({ timeStep: 1e-4 })]
  ) {
    const stored = describeProblem(problemOn(stencil));
    const read = problemOf(JSON.parse(JSON.stringify(stored)))!;
    assertEquals(hashOf(read.stencil.update), hashOf(stencil.update));
    const { name, variant, title } = stencil;
    assertEquals([read.stencil.name, read.stencil.variant, read.stencil.title], [name, variant, title]);
    assertEquals(describeProblem(read), stored);
  }
  // people and other programs find the order where it was
  assertEquals(describeProblem(problemOn(wave(4, { courant: 0.1 }))).order, 4);
});

Deno.test("problems are the same by what is computed", () => {
  const key = (stencil: Stencil) => problemKey(describeProblem(problemOn(stencil)));
  const family = (stencil: Stencil) => familyKey(describeProblem(problemOn(stencil)));
  const slow = wave(2, { courant: 0.1 }), other = { ...wave(2), update: wave(4).update };
  assertNotEquals(key(slow), key(wave(2)));
  assertNotEquals(key(other), key(wave(2)));
  assertEquals(key({ ...wave(2), name: "mine" }), key(wave(2)));
  assertEquals(family(slow), family(wave(2)));
  assertNotEquals(family(other), family(wave(2)));
  // profiles of before name an equation with its default coefficients, and equations that nobody knows
  assertEquals(
    problemKey({ ...ENTRY.problem, order: 2 }),
    problemKey(describeProblem(problemOf(ENTRY.problem)!)),
  );
  assertNotEquals(
    problemKey({ ...ENTRY.problem, stencil: "navier" }),
    problemKey({ ...ENTRY.problem, stencil: "navier", order: 4 }),
  );
});

Deno.test("what was measured of another formula of a name is another problem, and nothing is made of it", () => {
  const today = describeProblem(problemOn(acoustic({ order: 4 }))), { hash, ...named } = today;
  assertEquals([isOfOtherFormula(today), problemOf(today)?.stencil.name], [false, "acoustic"]);
  // earlier profiles name it without a hash: its edges were others
  for (const former of [named, { ...named, order: 2 }, { ...today, hash: hash!.replace(/^./, "g") }]) {
    assertEquals([isOfOtherFormula(former), problemOf(former)], [true, undefined]);
    assertEquals(isSameProblem(former, today), false);
    assertNotEquals(familyKey(former), familyKey(today));
    assertEquals(isSameProblem(former, { ...former }), true);
  }
  assertEquals(isSameProblem(named, { ...named, order: 2 }), false);
  // other formulas are what they were
  for (const { name, create, variant } of EQUATIONS) {
    const { hash: _, ...before } = describeProblem(problemOn(create(variant?.default)));
    const isSame = isSameProblem(before, describeProblem(problemOn(create(variant?.default))));
    assertEquals([name, isSame], [name, name !== "acoustic"]);
  }
  assertEquals(isOfOtherFormula({ ...named, stencil: "navier", hash: "0123456789abcdef" }), false);
});
