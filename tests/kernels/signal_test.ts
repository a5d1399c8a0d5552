/**
 * One field with a signal: whatever traversal accepts it, on the GPU or on the CPU, equals a plain f64 loop; the others
 * refuse it with the kind "signal".
 *
 * @module
 */
import type { FloatArray } from "../../kernels/precision.ts";
import { assert, assertEquals, assertGreater, assertLess, assertNotEquals } from "@std/assert";
import { refusalOf } from "../../kernels/capability.ts";
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { equation } from "../../kernels/equation.ts";
import { layOut } from "../../kernels/layout.ts";
import { add, multiply, sine, type Value } from "../../kernels/operations.ts";
import type { Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { deepOf } from "../../kernels/traversals/marching/depth.ts";
import type { GpuPlan, Parameters } from "../../kernels/traversals/traversal.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { gatherCells, readCells } from "../devices/cells.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { initialCells } from "./oracle_case.ts";
import "../own_thread.ts";
import { SMALL_TORRE } from "./small_torre.ts";

const STEPS = 5, SEED = 7;

/** Each cell and its neighbours along some axes, and a signal. */
function driven(axes: readonly (0 | 1 | 2)[]): Stencil {
  return equation({
    name: "driven",
    ...(axes.length === 1 && { dimensions: 1 as const, boundaries: ["periodic" as const] }),
    fields: { u: [0, 1] },
    signal: (step) => sine(multiply(0.7, step)),
    step: ({ u }, signal) => {
      const neighbours = axes.flatMap((axis) =>
        [1, -1].map((d) => axes.length === 1 ? u!.at(d) : u!.at(...[0, 1, 2].map((a) => a === axis ? d : 0)))
      );
      return {
        u: add(
          multiply(0.4, u!),
          multiply(0.1, neighbours.reduce<Value>((sum, one) => add(sum, one), 0)),
          multiply(0.25, signal),
        ),
      };
    },
  });
}

const CUBE: Problem = { stencil: driven([0, 1, 2]), grid: [9, 7, 8], boundary: "zero", steps: STEPS };
const LINE: Problem = { stencil: driven([2]), grid: [1, 1, 64], boundary: "periodic", steps: STEPS };

/** The field after all steps, in f64. */
function looped({ grid, grid: [nx, ny, nz], boundary, stencil }: Problem): Float64Array {
  let now = Float64Array.from(initialCells(grid, "noise", SEED, stencil)), next = now.slice();
  const wrap = (i: number, n: number): number => boundary === "periodic" ? (i + n) % n : i;
  const at = (x: number, y: number, z: number): number =>
    x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz ? 0 : now[(x * ny + y) * nz + z]!;
  for (let t = 0; t < STEPS; t++) {
    for (let x = 0; x < nx; x++) {
      for (let y = 0; y < ny; y++) {
        for (let z = 0; z < nz; z++) {
          const across = nx === 1 ? 0 : at(x + 1, y, z) + at(x - 1, y, z) + at(x, y + 1, z) + at(x, y - 1, z);
          const along = at(x, y, wrap(z + 1, nz)) + at(x, y, wrap(z - 1, nz));
          next[(x * ny + y) * nz + z] = 0.4 * at(x, y, z) + 0.1 * (across + along) + 0.25 * Math.sin(0.7 * t);
        }
      }
    }
    [now, next] = [next, now];
  }
  return now;
}

/** The largest difference from the loop. */
function worst(problem: Problem, found: FloatArray): number {
  const wanted = looped(problem);
  assertEquals(found.length, wanted.length);
  return [...found].reduce((most, value, i) => Math.max(most, Math.abs(value - wanted[i]!)), 0);
}

async function worstOf(gpu: GpuDevice, problem: Problem, plan: GpuPlan): Promise<number> {
  using field = await GpuField.create(gpu, problem, plan);
  await field.initialise({ kind: "noise", seed: SEED });
  await field.run(STEPS);
  return worst(problem, await readCells(field, 0));
}

/** Small shapes, which compile quickly. */
const PARAMETERS: Readonly<Record<string, Parameters>> = {
  stepwise: { threadsZ: 8, threadsY: 2, threadsX: 1 },
  marching: { zPerThread: 1, threadsZ: 8, threadsY: 4, pieces: 2, tile: 0, ahead: 0, depth: 1 },
  classic: { threads: 32, points: 1 },
  "diamond-torre": { ...SMALL_TORRE, nt: 2, zPerThread: 2, threads: 4 },
  "volume-torre": { side: 2, patchA: 1, patchB: 1, patchC: 1, phases: 2, ahead: 1, nt: 2, bands: 1 },
};

for (const problem of [CUBE, LINE]) {
  const { dimensions = 3 } = problem.stencil;
  for (const traversal of TRAVERSALS.filter(({ dimensions: its = dimensions }) => its === dimensions)) {
    const { name } = traversal, refusal = refusalOf(traversal, problem);
    if (refusal !== undefined) {
      Deno.test(`${dimensions}D: ${name} refuses a signal`, () => assertEquals(refusal.kind, "signal"));
      continue;
    }
    testOnGpu(
      `${dimensions}D: a signal in ${name} equals an f64 loop, and a mutant without it does not`,
      async (gpu) => {
        const parameters = PARAMETERS[name]!;
        assert(parameters !== undefined, `${name} needs parameters here`);
        assertEquals(traversal.infeasible(problem, parameters, gpu.limits), undefined);
        const plan = traversal.plan(problem, parameters, gpu.limits);
        assertLess(await worstOf(gpu, problem, plan), 1e-5);
        const shaders = plan.shaders.map((one) => ({
          ...one,
          code: one.code.replaceAll("time.signal", "0.0f").replaceAll(
            /let signal(\d) = .*;/g,
            "let signal$1 = 0.0f;",
          ),
        }));
        assertNotEquals(shaders.map(({ code }) => code), plan.shaders.map(({ code }) => code));
        assertGreater(await worstOf(gpu, problem, { ...plan, shaders }), 1e-2);
      },
    );
  }
}

Deno.test("several steps in one pass refuse a signal", () => {
  assertEquals(refusalOf(deepOf(CUBE), CUBE)?.kind, "signal");
});

Deno.test("a signal in every traversal of the CPU that accepts it equals an f64 loop", async () => {
  const pool = await CpuPool.create({ workers: 1 }), seen: string[] = [];
  for (const problem of [CUBE, LINE]) {
    const { grid, boundary, stencil: { update } } = problem, isLine = problem === LINE;
    for (const traversal of CPU_TRAVERSALS) {
      if (refusalOf(traversal, problem) !== undefined) continue;
      const [parameters = {}] = traversal.candidates(problem, 2, { fuses: false });
      if (traversal.infeasible(problem, parameters) !== undefined) continue;
      const layout = layOut(grid, { pad: isLine ? [0, 0, 1] : [1, 1, 1] });
      const field = await pool.load({ update, layout, boundary, shape: traversal.shape(parameters) });
      await field.initialise({ kind: "noise", seed: SEED });
      await field.run({ steps: STEPS });
      assertLess(worst(problem, gatherCells(field.current, layout)), 1e-5, traversal.name);
      await field.dispose();
      seen.push(traversal.name);
    }
  }
  pool.dispose();
  for (const name of ["stepwise", "diamond-wavefront", "classic"]) assert(seen.includes(name), `no ${name}`);
});
