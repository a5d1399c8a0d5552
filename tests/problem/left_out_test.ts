import { CostModel } from "../../models/cost_model.ts";
import { assertEquals, assertMatch } from "@std/assert";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { traversalNamed, TRAVERSALS } from "../../kernels/traversals/all.ts";
import { canRun, describeCut, leftOut } from "../../tuner/problem/left_out.ts";
import { enumerateSpace } from "../../tuner/search/space.ts";
import { DEVICE } from "../profile/sample_profile.ts";

const { limits } = DEVICE.gpu!;

function lineOf(stencil: Stencil, points: number): Problem {
  return { stencil, grid: [1, 1, points], boundary: "periodic", steps: 100 };
}

function leftOutOf(problem: Problem, limits = DEVICE.gpu!.limits) {
  const space = enumerateSpace(problem, {
    traversals: TRAVERSALS,
    limits,
    model: new CostModel({ copyBytesPerSecond: 1e12 }),
  });
  return leftOut(problem, space, limits);
}

Deno.test("a sweep that cannot cut the line is left out with the nearest lengths that it can", () => {
  const found = leftOutOf(lineOf(heat1d(), 2047)).filter(({ traversal }) => !traversal.endsWith("-torre"));
  assertEquals(found.map(({ traversal }) => traversal), ["swept", "swept-register"]);
  assertEquals(found[0]?.reason, "cannot cut 2047 points into nodes: the nearest that work: 2032 and 2048");
  assertEquals(
    leftOutOf(lineOf(heat1d(), 2048)).map(({ traversal }) => traversal),
    ["diamond-torre", "plane-torre", "volume-torre"],
  );
});

Deno.test("the nearest lengths work, and none between them", () => {
  for (
    const [stencil, points, name] of [[heat1d(), 1013, "swept-register"], [ks(5), 1003, "swept"]] as const
  ) {
    const traversals = [traversalNamed(name)];
    const works = (n: number): boolean => canRun(lineOf(stencil, n), traversals, limits);
    const [, below, above] = / (\d+) and (\d+)$/.exec(
      describeCut(lineOf(stencil, points), traversals, limits),
    )!;
    for (let n = Number(below); n <= Number(above); n++) {
      assertEquals(works(n), n === Number(below) || n === Number(above), `${name} ${n}`);
    }
  }
});

Deno.test("of a line shorter than a node only the longer one is named", () => {
  const traversals = [traversalNamed("swept")];
  assertMatch(describeCut(lineOf(heat1d(), 5), traversals, limits), /: the nearest that work: \d+$/);
});

Deno.test("in three dimensions what is left out says why, and what has a candidate is not left out", () => {
  const problem: Problem = { stencil: wave(2), grid: [32, 32, 32], boundary: "periodic", steps: 96 };
  const found = leftOutOf(problem);
  assertEquals(found.map(({ traversal }) => traversal), [
    "diamond-torre",
    "plane-torre",
    "classic",
    "swept",
    "swept-register",
  ]);
  assertEquals(
    found[0]?.reason,
    "the boundary is periodic: torres advance from one end of x to the other through zeros",
  );
});

Deno.test("what the device does not allow is the reason, not parameters that never go together", () => {
  const problem: Problem = { stencil: wave(2), grid: [40_000, 40_000, 40], boundary: "zero", steps: 96 };
  const torre = leftOutOf(problem, { ...limits, maxStorageBufferBindingSize: 2 ** 27 })
    .find(({ traversal }) => traversal === "diamond-torre");
  assertMatch(torre!.reason, /bytes in .*, maxStorageBufferBindingSize is \d+$/);
});
