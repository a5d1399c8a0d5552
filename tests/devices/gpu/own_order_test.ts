/**
 * Plans that keep cells in an order of their own: everything outside has the canonical bits.
 *
 * @module
 */
import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import type { Grid, Problem } from "../../../kernels/stencils/stencil.ts";
import { TRAVERSALS } from "../../../kernels/traversals/all.ts";
import { stepwise } from "../../../kernels/traversals/stepwise/stepwise.ts";
import type { GpuPlan, Traversal } from "../../../kernels/traversals/traversal.ts";
import type { Box } from "../../../models/rank_part.ts";
import type { Configuration } from "../../../tuner/configuration.ts";
import type { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../../tuner/devices/gpu/gpu_field.ts";
import { makeReference } from "../../../tuner/devices/make_reference.ts";
import { verificationOf } from "../../../tuner/devices/reference.ts";
import { readBox, writeBox } from "../../../tuner/devices/shared/part_field.ts";
import { SharedField } from "../../../tuner/devices/shared/shared_field.ts";
import { createSolver, solverLayout } from "../../../tuner/solver/create_solver.ts";
import type { Solver } from "../../../tuner/solver/solver.ts";
import { withoutProfiles } from "../../../kernels/axis_profiles.ts";
import { wholeNumberElastic, wholeNumberStaggered, wholeNumberWave } from "../../kernels/whole_numbers.ts";
import { testOnGpu } from "../../test_on_gpu.ts";
import { gatherCells, readCells } from "../cells.ts";
import { planOf, transposed } from "./transposed.ts";

// it is no traversal of the product: here it is found by its name like those
(TRAVERSALS as Traversal[]).push(transposed);

const GRID: Grid = [11, 6, 9], SHAPE = { threadsZ: 8, threadsY: 2, threadsX: 1 };
const START = { kind: "noise", seed: 5 } as const;

/** With materials for axis profiles, which that order does not have. */
const SHAKING = { ...wholeNumberElastic(), update: withoutProfiles(wholeNumberElastic().update) };

const PROBLEMS: Readonly<Record<string, Problem>> = {
  "two levels, zero": { stencil: wholeNumberWave(4), grid: GRID, boundary: "zero", steps: 8 },
  "two levels, periodic": { stencil: wholeNumberWave(4), grid: GRID, boundary: "periodic", steps: 8 },
  "materials and a signal, zero": { stencil: SHAKING, grid: GRID, boundary: "zero", steps: 4 },
  "several fields, periodic": {
    stencil: wholeNumberStaggered(),
    grid: GRID,
    boundary: "periodic",
    steps: 4,
  },
};

const fieldOf = (gpu: GpuDevice, problem: Problem, plan: GpuPlan = planOf(problem)): Promise<GpuField> =>
  GpuField.create(gpu, problem, plan);

const bitsOf = async (field: GpuField, ago: 0 | 1): Promise<Uint32Array> =>
  new Uint32Array((await readCells(field, ago)).buffer);

async function assertSame(field: GpuField, other: GpuField, what: string): Promise<void> {
  const { stencil: { update } } = field.problem, { fields } = update;
  for (const ago of [0, 1] as const) {
    const [own, wanted] = [await bitsOf(field, ago), await bitsOf(other, ago)];
    // a field that no step reads in the level before may differ there
    if (ago === 0 || fields.length === 1) assertEquals(own, wanted, `${what}, ${ago} steps ago`);
  }
}

for (const [name, problem] of Object.entries(PROBLEMS)) {
  testOnGpu(`${name}: entering, steps, leaving and copying have stepwise's bits`, async (gpu) => {
    using plain = await fieldOf(gpu, problem, stepwise.plan(problem, SHAPE));
    using own = await fieldOf(gpu, problem);
    for (const field of [plain, own]) await field.initialise(START);
    await assertSame(own, plain, "at the start");
    for (const steps of [3, 2]) {
      for (const field of [plain, own]) await field.run(steps);
      const { maxError, notFinite } = await own.compare(plain, { levels: [0] });
      assertEquals([maxError, notFinite], [0, 0], `after ${steps} steps`);
      await assertSame(own, plain, `after ${steps} steps`);
    }
    const begun = own.begin(2);
    own.level(0); // copies of the field before the steps are not taken for those after
    await Promise.all([(await begun).finish(), plain.run(2)]);
    await assertSame(own, plain, "after copies were asked for on the way");
    assert(await (await own.look())());
    using entered = await fieldOf(gpu, problem), left = await fieldOf(gpu, problem, plain.plan);
    await entered.copyFrom(plain);
    await left.initialise({ ...START, kind: "zero" });
    await left.copyFrom(own);
    for (const field of [plain, entered, left]) await field.run(1);
    assertEquals((await entered.compare(plain, { levels: [0] })).maxError, 0);
    await assertSame(entered, plain, "entered from another field");
    await assertSame(left, plain, "left for another field");
  });

  testOnGpu(`${name}: boxes that are read and written, and a verified run`, async (gpu) => {
    const configuration = configurationOf(problem);
    using own = await SharedField.create(problem, { gpu, configuration });
    using plain = await SharedField.create(problem, {
      gpu,
      configuration: { ...configuration, traversal: "stepwise" },
    });
    const box: Box = { ago: 0, plane: 0, planes: 1, low: [2, 1, 3], size: [5, 3, 4] };
    const written = Float32Array.from({ length: 5 * 3 * 4 }, (_, i) => i % 7 - 3), read = [own, plain];
    const seen: Float32Array[] = [];
    for (const field of read) {
      await field.initialise({ kind: "integers", seed: 2 });
      await field.run(2);
      await writeBox(field.parts[0]!, box, written);
      await field.run(1);
      const cells = new Float32Array(written.length);
      await readBox(field.parts[0]!, box, cells);
      seen.push(cells);
    }
    assertEquals(seen[0], seen[1]);
    const reference = await makeReference({ gpu, problem, start: { kind: "integers", seed: 1 } });
    await own.initialise(reference.start);
    await own.run(problem.steps);
    assertEquals(verificationOf(await own.compare(reference), reference).maxError, 0);
    reference.dispose();
  });

  testOnGpu(`${name}: a wrong index where cells enter and leave is found`, async (gpu) => {
    const changes = [["(z * NY + y) * NX", "(y * NZ + z) * NX"], ["NX + x", "NX + (x ^ 1)"]] as const;
    using plain = await fieldOf(gpu, problem, stepwise.plan(problem, SHAPE));
    await plain.initialise(START);
    for (const change of changes) {
      using mutant = await fieldOf(gpu, problem, planOf(problem, change));
      await mutant.initialise(START);
      // what was filled has not left yet: a step and it does
      for (const field of [mutant, plain]) await field.run(1);
      assertGreater((await mutant.compare(plain, { levels: [0] })).maxError, 0, change[1]);
    }
  });
}

function configurationOf({ grid: [slices] }: Problem, cpuSlices = 0): Configuration {
  const share = {
    cpuSlices,
    gpuSlices: slices - cpuSlices,
    exchangeEvery: 1,
    cpuWorkers: cpuSlices > 0 ? 1 : 0,
  };
  return { traversal: "transposed", parameters: SHAPE, share };
}

/** Values, two runs with a write between them; what is read after each. */
async function use(solver: Solver): Promise<Float32Array[]> {
  const seen: Float32Array[] = [];
  await solver.write("F", (x, y, z) => (7 * x + 3 * y + 5 * z) % 5 - 2);
  seen.push(await solver.read());
  await solver.run(3);
  seen.push(await solver.read(), await solver.read("F", { ago: 1 }));
  await solver.write("F", 2, { x: 4, slices: 2 });
  await solver.run(2);
  seen.push(await solver.read("F", { x: 3, slices: 4 }), await solver.read("F", { ago: 1 }));
  return seen;
}

for (const name of ["two levels, zero", "two levels, periodic"]) {
  testOnGpu(
    `a solver, ${name}: reads, writes, shares and gives its level in canonical cells`,
    async (gpu) => {
      const problem = PROBLEMS[name]!, { device } = gpu;
      const plain = { ...configurationOf(problem), traversal: "stepwise" };
      await using wanted = await createSolver(device, problem, plain, { timeoutMs: 60_000 });
      const expected = await use(wanted);
      for (const cpuSlices of [0, 4]) {
        const configuration = configurationOf(problem, cpuSlices);
        await using solver = await createSolver(device, problem, configuration, { timeoutMs: 60_000 });
        assertEquals(await use(solver), expected, `${cpuSlices} slices on the CPU`);
        if (cpuSlices > 0) continue;
        for (let i = 0; i < 2; i++) {
          await solver.run(1);
          for (const ago of [0, 1] as const) {
            const level = new Float32Array(await gpu.read(solver.level(ago)));
            assertEquals(
              gatherCells(level, solver.layout!),
              await solver.read("F", { ago }),
              `${ago} steps ago`,
            );
          }
        }
      }
    },
  );
}

testOnGpu(
  "a caller's own buffers are canonical: a plan with an order of its own refuses them",
  async (gpu) => {
    const problem = PROBLEMS["two levels, zero"]!, configuration = configurationOf(problem);
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    const size = 4 * solverLayout(problem, configuration).length, usage = STORAGE | COPY_SRC | COPY_DST;
    const [even, odd] = [1, 2].map(() => gpu.device.createBuffer({ size, usage }));
    await assertRejects(
      () => createSolver(gpu.device, problem, configuration, { buffers: [even!, odd!] }),
      RangeError,
      "Cannot create the solver: with your own buffers the cells must lie in them in the canonical order: " +
        "transposed keeps cells in an order of its own",
    );
    for (const buffer of [even, odd]) buffer!.destroy();
  },
);
