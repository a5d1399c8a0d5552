/**
 * Random equations of the whole language give the oracle's results on every target: bit for bit on the CPU, and on the
 * GPU where all values are whole numbers, elsewhere within the error bound. Every run takes those that meet what
 * traversals claim to do, --thorough all fifty.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { needsOf, refusalOf } from "../../kernels/capability.ts";
import { NativeLoops } from "../../bench/native_loops.ts";
import { hashBits, isPlainLoop } from "../../bench/write_c.ts";
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { layOut } from "../../kernels/layout.ts";
import { runReference } from "../../kernels/reference.ts";
import type { Boundaries, Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { combine } from "../../kernels/traversals/combine.ts";
import { planesOf, reachOf, readsPrevious } from "../../kernels/update.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { gatherCells } from "../devices/cells.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { assertExact, assertWithinBound, initialCells } from "./oracle_case.ts";
import { type Kind, randomEquation, randomNumbers } from "./random_equation.ts";

const COUNT = 50;
const STEPS = 3;

const BOUNDARIES_3D: readonly Boundaries[] = ["zero", "zero", "periodic", "insulated", [
  "zero",
  "periodic",
  "insulated",
]];
const BOUNDARIES_1D: readonly Boundaries[] = ["periodic", "insulated"];

const KINDS: readonly Kind[] = Array.from({ length: COUNT }, (_, seed) => ({
  seed,
  isWhole: seed % 2 === 0,
  dimensions: seed % 5 === 4 ? 1 : 3,
}));

function problemOf(kind: Kind): Problem {
  const { seed, dimensions } = kind, stencil = randomEquation(kind);
  const boundaries = dimensions === 1 ? BOUNDARIES_1D : BOUNDARIES_3D;
  const grid: Grid = dimensions === 1 ? [1, 1, 64] : [5, 6, 9];
  return { stencil, grid, boundary: boundaries[seed % boundaries.length]!, steps: STEPS };
}

Deno.test("random equations survive JSON, and workers compute them bit for bit like the oracle", async () => {
  const pool = await CpuPool.create({ workers: 2 });
  for (const kind of KINDS.slice(0, THOROUGH ? COUNT : 24)) {
    const problem = problemOf(kind), { stencil, grid, boundary } = problem, { update } = stencil;
    const again = stencilOf(JSON.parse(JSON.stringify(definitionOf(stencil))));
    assertEquals(again.update, update);
    assertEquals(hashOf(again.update), hashOf(update));
    const start = initialCells(grid, "noise", 1, stencil);
    const oracle = runReference({ current: start, previous: start }, {
      update,
      grid,
      boundary,
      steps: STEPS,
    });
    const { x, y, z } = reachOf(update), layout = layOut(grid, { pad: [x, y, z], planes: planesOf(update) });
    // one after the other, unless there is time
    const ways = CPU_TRAVERSALS.flatMap((traversal) => {
      const [parameters] = traversal.candidates(problem, 2, { fuses: false });
      return parameters === undefined ? [] : [{ traversal, parameters }];
    });
    for (const { traversal, parameters } of THOROUGH ? ways : [ways[kind.seed % ways.length]!]) {
      const field = await pool.load({ update, layout, boundary, shape: traversal.shape(parameters) });
      await field.initialise({ kind: "noise", seed: 1 });
      await field.run({ steps: STEPS });
      const what = `${stencil.title}, ${boundary}, ${traversal.name}`;
      for (const level of readsPrevious(update) ? ["current", "previous"] as const : ["current"] as const) {
        const found = gatherCells(field[level], layout), wanted = oracle[level];
        const wrong = found.findIndex((value, i) => value !== wanted[i]);
        assertEquals(wrong, -1, `${what}: ${level}[${wrong}] is ${found[wrong]}, should be ${wanted[wrong]}`);
      }
      await field.dispose();
    }
  }
  pool.dispose();
});

const HAS_GCC = await new Deno.Command("gcc", { args: ["--version"] }).output().then(() => true, () => false);

Deno.test({
  name: "random equations of one field in C equal the oracle bit for bit",
  ignore: !HAS_GCC,
  async fn() {
    let compared = 0;
    for (const kind of KINDS.slice(0, THOROUGH ? COUNT : 24)) {
      const { stencil, grid } = problemOf(kind), { update } = stencil, { x, y, z } = reachOf(update);
      if (!isPlainLoop(update)) continue;
      const start = initialCells(grid, "noise", 0, stencil);
      const run = { update, grid, boundary: "zero", steps: STEPS } as const;
      const { current } = runReference({ current: start, previous: start }, run);
      if (!current.every(Number.isFinite)) continue;
      const layout = layOut(grid, { pad: [x, y, z] });
      const loops = await NativeLoops.create({ update, layout });
      await loops!.run(STEPS);
      const found = await loops!.hash();
      await loops!.dispose();
      const wanted = hashBits(current, layOut(grid, { pad: [0, 0, 0], align: 1 }));
      assertEquals(found, wanted, stencil.title);
      compared++;
    }
    assert(compared >= 4, `${compared} compared`);
  },
});

/** A traversal of the GPU with a need that it claims and this equation has, for each. */
function metBy(kind: Kind): string[] {
  const problem = problemOf(kind), needs = needsOf(problem);
  return TRAVERSALS.filter((one) => refusalOf(one, problem) === undefined)
    .flatMap(({ name, capabilities: { can } }) =>
      can.filter((need) => needs.has(need)).map((need) => `${name}: ${need}`)
    );
}

/** The fewest equations, roughly, that meet all that the fifty meet. */
function chosenKinds(): Set<Kind> {
  const chosen = new Set<Kind>(), missing = new Set(KINDS.flatMap(metBy));
  while (missing.size > 0) {
    const gain = (kind: Kind): number => metBy(kind).filter((one) => missing.has(one)).length;
    const best = KINDS.reduce((a, b) => gain(b) > gain(a) ? b : a);
    chosen.add(best);
    for (const one of metBy(best)) missing.delete(one);
  }
  return chosen;
}

const CHOSEN = chosenKinds();

for (const kind of KINDS) {
  const problem = problemOf(kind), { stencil, grid, boundary } = problem;
  const willing = TRAVERSALS.filter((traversal) => refusalOf(traversal, problem) === undefined);
  const names = willing.map(({ name }) => name).join(", ");
  testOnGpu(`${stencil.title}, ${boundary}: ${names}`, async (gpu) => {
    const random = randomNumbers(kind.seed);
    for (const traversal of willing) {
      const feasible = [...combine(traversal.parameterLists(problem, gpu.limits))]
        .filter((parameters) => traversal.infeasible(problem, parameters, gpu.limits) === undefined);
      if (feasible.length === 0) continue;
      const parameters = feasible[Math.floor(random() * feasible.length)]!;
      const oracleCase = { traversal, stencil, grid, boundary, parameters, runs: [2, STEPS - 2] };
      await (kind.isWhole ? assertExact : assertWithinBound)(gpu, oracleCase);
    }
    assert(willing.length > 0);
  }, { ignore: !THOROUGH && !CHOSEN.has(kind) });
}

/** Claims that no random equation meets; other tests do, or on a line there is no such thing. */
const MET_ELSEWHERE: readonly string[] = [
  "stepwise: window",
  "stepwise: grid",
  "stepwise: previous-neighbours",
  "marching: grid",
  "diamond-torre: window",
  "diamond-torre: grid",
  "diamond-torre: slanted-taps",
  "diamond-torre: shared-sub-steps",
  "diamond-torre: early-fields",
  "classic: previous-neighbours",
  "classic: diagonal-taps",
  "classic: slanted-taps",
  "swept: fields",
  "swept: sub-steps",
  "swept: diagonal-taps",
  "swept: slanted-taps",
  "swept-register: fields",
  "swept-register: sub-steps",
  "swept-register: diagonal-taps",
  "swept-register: slanted-taps",
];

Deno.test("each claim of a traversal of the GPU is met by a random equation at every run, or elsewhere", () => {
  const met = new Set([...CHOSEN].flatMap(metBy));
  const claims = TRAVERSALS.flatMap(({ name, capabilities: { can } }) =>
    can.map((need) => `${name}: ${need}`)
  );
  assertEquals(claims.filter((claim) => !met.has(claim)), MET_ELSEWHERE);
  for (const name of ["stepwise", "marching", "classic"]) {
    assert(met.has(`${name}: signal`) && met.has(`${name}: materials`));
  }
});
