/**
 * Random equations of the whole language survive JSON and give the oracle's results bit for bit, by the CPU's workers and in C.
 * On GPUs, and on all devices by a solver's calls: `tests/random/`.
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
import type { Traversal } from "../../kernels/traversals/traversal.ts";
import { planesOf, reachOf, readsPrevious } from "../../kernels/update.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { gatherCells } from "../devices/cells.ts";
import { THOROUGH } from "../thorough.ts";
import { initialCells } from "./oracle_case.ts";
import { type Kind, randomEquation } from "./random_equation.ts";

const COUNT = 50;
const STEPS = 3;

const BOUNDARIES_3D: readonly Boundaries[] = ["zero", "zero", "periodic", "insulated", [
  "zero",
  "periodic",
  "insulated",
]];
const BOUNDARIES_1D: readonly Boundaries[] = ["periodic", "insulated"];

/** An equation and, where it is not the usual one, its grid. */
interface GriddedKind extends Kind {
  readonly grid?: Grid;
}

/** Fifty as chance makes them, and some for what it makes too rarely. */
const KINDS: readonly GriddedKind[] = [
  ...Array.from({ length: COUNT }, (_, seed): Kind => ({
    seed,
    isWhole: seed % 2 === 0,
    dimensions: seed % 5 === 4 ? 1 : 3,
  })),
  ...Array.from({ length: THOROUGH ? 24 : 4 }, (_, i): GriddedKind => ({
    seed: 605 + i,
    isWhole: i % 2 === 0,
    dimensions: 2,
    grid: [7, 1, 11],
  })),
  { seed: 50, isWhole: true, dimensions: 1, like: "rows" },
  { seed: 51, isWhole: false, dimensions: 1, like: "rows" },
  { seed: 51, isWhole: false, dimensions: 3, like: "slanted" },
  { seed: 54, isWhole: true, dimensions: 3, like: "slanted" },
  { seed: 50, isWhole: true, dimensions: 3, like: "flat", grid: [5, 6, 1] },
  { seed: 52, isWhole: true, dimensions: 3, like: "flat", grid: [1, 1, 1] },
  { seed: 62, isWhole: false, dimensions: 3, like: "layered" },
  { seed: 75, isWhole: false, dimensions: 3, like: "layered" },
  { seed: 77, isWhole: true, dimensions: 3, like: "layered" },
  { seed: 85, isWhole: true, dimensions: 3, like: "layered" },
  { seed: 4, isWhole: true, dimensions: 2, like: "coupled", grid: [17, 1, 43] },
  { seed: 402, isWhole: true, dimensions: 3, like: "coupled" },
  { seed: 405, isWhole: false, dimensions: 3, like: "coupled" },
  { seed: 407, isWhole: true, dimensions: 3, like: "coupled" },
  { seed: 126, isWhole: true, dimensions: 3 },
  { seed: 144, isWhole: true, dimensions: 3 },
  { seed: 151, isWhole: false, dimensions: 3 },
];

function problemOf(kind: GriddedKind): Problem {
  const { seed, dimensions, like } = kind, stencil = randomEquation(kind);
  const boundaries = dimensions === 1 ? BOUNDARIES_1D : BOUNDARIES_3D;
  const grid: Grid = kind.grid ?? (dimensions === 1 ? [1, 1, 64] : [5, 6, 9]);
  const boundary = like !== undefined && like !== "rows" ? "zero" : boundaries[seed % boundaries.length]!;
  return { stencil, grid, boundary, steps: STEPS };
}

/** How workers can compute a problem: each traversal with its first parameters. */
function cpuWays(problem: Problem) {
  return CPU_TRAVERSALS.flatMap((traversal) => {
    if (refusalOf(traversal, problem) !== undefined) return [];
    const [parameters = {}] = traversal.candidates(problem, 2, { fuses: false });
    return traversal.infeasible(problem, parameters) === undefined ? [{ traversal, parameters }] : [];
  });
}

/** Something that has capabilities. */
type Able = Pick<Traversal, "name" | "capabilities">;

/** Which traversals compute a problem. */
type Willing = (problem: Problem) => readonly Able[];

const onCpu: Willing = (problem) => cpuWays(problem).map(({ traversal }) => traversal);

/** A traversal with a need that it claims to serve and this equation has, for each. */
function metBy(kind: GriddedKind, willing: Willing): string[] {
  const problem = problemOf(kind), needs = needsOf(problem);
  return willing(problem).flatMap(({ name, capabilities: { can } }) =>
    can.filter((need) => needs.has(need)).map((need) => `${name}: ${need}`)
  );
}

/** The fewest equations, roughly, that meet all that all of them meet. */
function chosenKinds(willing: Willing): Set<GriddedKind> {
  const met = new Map(KINDS.map((kind) => [kind, metBy(kind, willing)]));
  const chosen = new Set<GriddedKind>(), missing = new Set([...met.values()].flat());
  while (missing.size > 0) {
    const gain = (kind: GriddedKind): number => met.get(kind)!.filter((one) => missing.has(one)).length;
    const best = KINDS.reduce((a, b) => gain(b) > gain(a) ? b : a);
    chosen.add(best);
    for (const one of met.get(best)!) missing.delete(one);
  }
  return chosen;
}

const CHOSEN_ON_CPU = chosenKinds(onCpu);

Deno.test("random equations survive JSON, and workers compute them bit for bit like the oracle", async () => {
  const pool = await CpuPool.create({ workers: 2 });
  for (
    const kind of KINDS.filter((one) =>
      THOROUGH || one.seed < 24 || one.dimensions === 2 || CHOSEN_ON_CPU.has(one)
    )
  ) {
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
    const ways = cpuWays(problem);
    for (
      const { traversal, parameters } of THOROUGH || CHOSEN_ON_CPU.has(kind)
        ? ways
        : [ways[kind.seed % ways.length]!]
    ) {
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
