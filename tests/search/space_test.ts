import { CostModel } from "../../models/cost_model.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { refusalOf } from "../../kernels/capability.ts";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import { wave, WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { diamondTorre } from "../../kernels/traversals/torre/diamond_torre.ts";
import { stepwise } from "../../kernels/traversals/stepwise/stepwise.ts";
import { combine, type Parameters, type Traversal } from "../../kernels/traversals/traversal.ts";
import { defaultGrid, defaultSteps } from "../../tuner/problem/default_problem.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";
import type { Candidate } from "../../tuner/search/enumeration.ts";
import { enumerateSpace } from "../../tuner/search/space.ts";
import { THOROUGH } from "../thorough.ts";
import { H100_LIMITS } from "../h100_limits.ts";

function problemOf(order: number, change: Partial<Problem> = {}): Problem {
  const stencil = wave(order);
  const grid = defaultGrid(stencil, { limits: H100_LIMITS, isFallback: false });
  return { stencil, grid, boundary: "zero", steps: 96, ...change };
}

/** Those that are offered for grids in three dimensions. */
const IN_SPACE: readonly Traversal[] = TRAVERSALS.filter(({ dimensions = 3 }) => dimensions === 3);

const spaceOf = (problem: Problem, traversals = IN_SPACE) =>
  enumerateSpace(problem, {
    traversals,
    limits: H100_LIMITS,
    model: new CostModel({ copyBytesPerSecond: 2995e9 }),
  });

const nameOf = ({ traversal, parameters }: Pick<Candidate, "traversal" | "parameters">): string =>
  `${traversal.name} ${JSON.stringify(parameters)}`;

Deno.test("combine gives every combination once, the last list fastest", () => {
  assertEquals([...combine({ a: [1, 2], b: [3, 4] })], [{ a: 1, b: 3 }, { a: 1, b: 4 }, { a: 2, b: 3 }, {
    a: 2,
    b: 4,
  }]);
  assertEquals([...combine({})], [{}]);
  assertEquals([...combine({ a: [1, 2], b: [] })], []);
});

/** The space of the default problem, which takes a second. */
const WHOLE = spaceOf(problemOf(2));

Deno.test("every candidate is feasible, and none comes twice", () => {
  const problem = problemOf(2);
  const { candidates, combinations, infeasible, refused } = WHOLE;
  assertEquals(new Set(candidates.map(nameOf)).size, candidates.length);
  for (const [i, { traversal, parameters, demand, predicted, roof }] of candidates.entries()) {
    if (THOROUGH || i % 20 === 0) {
      assertEquals(traversal.infeasible(problem, parameters, H100_LIMITS), undefined);
      assertEquals(demand, traversal.demand(problem, parameters));
    }
    assert(predicted > 0 && predicted <= roof * (1 + 1e-9) && Number.isFinite(roof));
  }
  assertEquals(refused, []);
  const left = infeasible.reduce((sum, { count }) => sum + count, 0);
  assertEquals(candidates.length + left, combinations);
  for (const { count, example } of infeasible) assert(count > 0 && example.length > 0);
});

Deno.test("the best predicted of every traversal come first, then all by prediction", () => {
  for (const order of THOROUGH ? [2, 6] : [6]) {
    const { candidates } = spaceOf(problemOf(order, { grid: [512, 512, 512] }));
    const first = candidates.slice(0, 4 * IN_SPACE.length);
    const names = first.map(({ traversal }) => traversal.name);
    assertEquals(names.slice(0, IN_SPACE.length), IN_SPACE.map(({ name }) => name));
    for (const { name } of IN_SPACE) {
      const best = (from: readonly Candidate[]): number =>
        Math.max(...from.filter((one) => one.traversal.name === name).map(({ predicted }) => predicted));
      assertEquals(names.filter((one) => one === name).length, 4);
      assertEquals(best(first), best(candidates));
      assertEquals(best(first), first.find(({ traversal }) => traversal.name === name)!.predicted);
    }
    // ways to write one shape take turns, so that the order is not strict: compare tenths
    const rest = candidates.slice(first.length), tenth = Math.floor(rest.length / 10);
    const means = Array.from(
      { length: 10 },
      (_, i) =>
        rest.slice(i * tenth, (i + 1) * tenth).reduce((sum, { predicted }) => sum + predicted, 0) / tenth,
    );
    assert(means[0]! > 1.2 * means[5]!, means.join());
  }
});

Deno.test("a traversal that refuses is told with its reason, and has no candidates", () => {
  const { candidates, refused } = spaceOf(problemOf(2, { boundary: "periodic", grid: [64, 64, 64] }));
  assertEquals(refused.map(({ traversal }) => traversal), ["diamond-torre"]);
  assertStringIncludes(refused[0]!.reason, "periodic");
  assertEquals(
    new Set(candidates.map(({ traversal }) => traversal.name)),
    new Set(["stepwise", "marching", "volume-torre"]),
  );
});

Deno.test("what the limits forbid is counted, with an example", () => {
  const problem = problemOf(2, { grid: [64, 64, 64] });
  const limits = { ...H100_LIMITS, maxComputeInvocationsPerWorkgroup: 64 };
  const { candidates, infeasible } = enumerateSpace(problem, {
    traversals: [stepwise],
    limits,
    model: new CostModel({ copyBytesPerSecond: 1e12 }),
  });
  for (const { demand } of candidates) assert(demand.threadsPerWorkgroup <= 64);
  assertEquals(infeasible.length, 1);
  assertStringIncludes(infeasible[0]!.example, "maxComputeInvocationsPerWorkgroup is 64");
  const none = enumerateSpace(problem, {
    traversals: [stepwise, diamondTorre],
    limits: { ...H100_LIMITS, maxStorageBufferBindingSize: 1024 },
    model: new CostModel({ copyBytesPerSecond: 1e12 }),
  });
  assertEquals(none.candidates, []);
  assertEquals(none.infeasible.map(({ traversal }) => traversal), ["stepwise", "diamond-torre"]);
});

/** Six feasible combinations of a traversal's parameters, where they are not too rare to be found. */
function drawFeasible(traversal: Traversal, problem: Problem, draw: () => number): Parameters[] {
  if (refusalOf(traversal, problem) !== undefined) return [];
  const lists = Object.entries(traversal.parameterLists(problem, H100_LIMITS));
  const found: Parameters[] = [];
  for (let tries = 0; tries < 4000 && found.length < 6; tries++) {
    const parameters = Object.fromEntries(
      lists.map(([name, values]) => [name, values[Math.floor(draw() * values.length)]!]),
    );
    if (traversal.infeasible(problem, parameters, H100_LIMITS) === undefined) found.push(parameters);
  }
  return found;
}

// what orders share is shown by three of them
for (const order of WAVE_ORDERS.filter((order) => THOROUGH || [2, 6, 14].includes(order))) {
  Deno.test(`order ${order}: what is feasible can be planned within the limits`, () => {
    const problems = [
      problemOf(order),
      problemOf(order, { boundary: "periodic" }),
      problemOf(order, { grid: [37, 211, 61], steps: 29 }),
      problemOf(order, { grid: [5, 3, 2], steps: 29 }),
      problemOf(order, { grid: [9, 70_001, 10], steps: 29 }),
      problemOf(order, { grid: [70_001, 9, 10], steps: 29 }),
      problemOf(order, { grid: [9, 10, 70_001], steps: 29, boundary: "periodic" }),
    ].filter((_, i) => THOROUGH || (i + order / 2) % 3 === 0); // other problems at other orders
    const draw = seededRandom(order);
    for (const problem of problems) {
      const { grid } = problem;
      const sample = IN_SPACE.flatMap((traversal) =>
        drawFeasible(traversal, problem, draw).map((parameters) => ({ traversal, parameters }))
      );
      assert(sample.length >= 6);
      for (const candidate of sample) {
        const { traversal, parameters } = candidate;
        const plan = traversal.plan(problem, parameters, H100_LIMITS);
        const name = `${nameOf(candidate)} on ${grid.join("x")}`;
        for (const { layout } of plan.storage.sections ?? [plan.storage]) {
          assert(layout.length * 4 <= H100_LIMITS.maxStorageBufferBindingSize, name);
        }
        assert(plan.storage.layout.length >= cellsOf(grid), name);
        for (const start of [0, 1]) {
          const dispatches = plan.dispatches(problem.steps, start);
          assert(dispatches.length > 0, name);
          for (const { shader, workgroups, uniforms } of dispatches) {
            assert(plan.shaders[shader] !== undefined, name);
            const isRight = (count: number): boolean =>
              Number.isInteger(count) && count >= 1 && count <= H100_LIMITS.maxComputeWorkgroupsPerDimension;
            assert(workgroups.every(isRight), `${name}: ${workgroups.join("x")} workgroups`);
            assert(uniforms.length <= 64, `${name}: ${uniforms.length} uniforms`);
            assert(uniforms.every((value) => Number.isInteger(value) && Math.abs(value) < 2 ** 31), name);
          }
        }
      }
    }
  });
}

Deno.test("ways to write one shape take turns with the next best shapes", () => {
  const torres = WHOLE.candidates.filter(({ traversal }) => traversal === diamondTorre).slice(0, 16);
  const shapes = new Set(
    torres.map(({ parameters: { dts, nt, bands, zPerThread, threads } }) =>
      [dts, nt, bands, zPerThread, threads].join()
    ),
  );
  assert(shapes.size >= 4, `${shapes.size} shapes among the first 16`);
});

Deno.test("a line's space has every way to sweep it, all feasible, and names what no node fits", () => {
  for (const [stencil, points] of [[heat1d(), 2048], [ks(5), 3 * 2048], [ks(3), 2 ** 20]] as const) {
    const problem: Problem = {
      stencil,
      grid: [1, 1, points],
      boundary: stencil.boundaries![0]!,
      steps: defaultSteps(stencil),
    };
    const { candidates, infeasible } = spaceOf(problem, TRAVERSALS);
    for (const name of ["classic", "swept", "swept-register"]) {
      const own = candidates.filter(({ traversal }) => traversal.name === name);
      assert(own.length > 0, `${stencil.title}: ${name}`);
      for (const { traversal, parameters, predicted } of own) {
        assertEquals(traversal.infeasible(problem, parameters, H100_LIMITS), undefined);
        assert(predicted > 0 && Number.isFinite(predicted));
      }
    }
    assert(infeasible.some(({ traversal, count }) => traversal === "swept" && count > 0));
  }
  const odd: Problem = { stencil: heat1d(), grid: [1, 1, 1009], boundary: "insulated", steps: 10 };
  const names = new Set(spaceOf(odd, TRAVERSALS).candidates.map(({ traversal }) => traversal.name));
  assert(names.has("classic") && !names.has("swept") && !names.has("swept-register"));
  assertEquals(defaultGrid(heat1d(), { limits: H100_LIMITS, isFallback: false }), [1, 1, 2 ** 20]);
  assertEquals(defaultGrid(ks(5), null), [1, 1, 2 ** 14]);
});
