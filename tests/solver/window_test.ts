/**
 * Solvers of grids of which the GPU holds a window: the bits of the resident run, whatever is asked of them.
 *
 * @module
 */
import type { FloatArray } from "../../kernels/precision.ts";
import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { equation } from "../../kernels/equation.ts";
import { add, multiply } from "../../kernels/operations.ts";
import type { Grid, Problem } from "../../kernels/stencils/stencil.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import type { Solver, SolverOptions } from "../../tuner/solver/solver.ts";
import { SolverError } from "../../tuner/solver/solver_error.ts";
import { testOnGpu } from "../test_on_gpu.ts";

const STENCIL = equation({
  name: "driven",
  fields: { u: [-1, 1] },
  materials: { m: [0.5, 1] },
  sources: { s: [-1, 1] },
  step: ({ u, m, s }) => {
    return { u: multiply(0.25, add(u.at(1), u.at(-1), multiply(m, u.at(0, 1)), u.at(0, 0, 1), s)) };
  },
});
const GRID: Grid = [43, 7, 9], SURVEY = { sources: 1, receivers: 2 };
const PROBLEM: Problem = { stencil: STENCIL, grid: GRID, boundary: "zero", steps: 9 };
const ALONE = { cpuSlices: 0, gpuSlices: 43, exchangeEvery: 9, cpuWorkers: 0 };
const WINDOW = { ...ALONE, deviceMemory: 300_000 };
const STEPS = { threadsZ: 8, threadsY: 4, threadsX: 2 };

/** All that a solver hands out in a script. */
async function playOn(solver: Solver): Promise<unknown[]> {
  const seen: unknown[] = [];
  await solver.write("u", (x, y, z) => (x * 5 + y * 3 + z) % 3 - 1);
  await solver.write("m", (x, _, z) => 0.5 + (x + z) % 2 / 2);
  await solver.addSources("s", [[20, 3, 4]], [1, 0, -1]);
  await solver.addReceivers("u", [[21.5, 3, 4], [41, 6, 8]]);
  const onSnapshot = ({ values }: { values: FloatArray }) => void seen.push(values.slice());
  await solver.addSnapshots("u", { every: 2, box: { low: [17, 0, 0], size: [12, 7, 9] }, onSnapshot });
  for (const steps of [1, 4]) seen.push((await solver.run(steps)).steps, await solver.read());
  seen.push(await solver.read("m", { x: 9, slices: 20 }), await solver.traces());
  const saved = new Uint8Array(await (await solver.save()).arrayBuffer());
  await solver.reset();
  return [...seen, await solver.read(), solver.step, saved];
}

testOnGpu(
  "a solver whose grid passes through a window does all that a resident one does",
  async ({ device }) => {
    const found: unknown[][] = [], problem = { ...PROBLEM, survey: SURVEY };
    for (const share of [ALONE, WINDOW]) {
      const configuration = { traversal: "stepwise", parameters: STEPS, share };
      await using solver = await createSolver(problem, { device, configuration });
      assertEquals(solver.layout === undefined, share === WINDOW);
      const played = await playOn(solver), from = played.at(-1) as Uint8Array<ArrayBuffer>;
      await using next = await createSolver(problem, { device, configuration, from });
      await next.run(3);
      found.push([...played, await next.read(), await next.traces()]);
    }
    assertEquals(found[1], found[0]);
    const moving = found[0]!.filter((one) => one instanceof Float32Array && one.some((value) => value !== 0));
    assert(moving.length > 6, `${moving.length}`);
  },
);

testOnGpu("a window's solver takes points that no survey announced, and tries others", async ({ device }) => {
  const results: unknown[] = [],
    other = { traversal: "stepwise", parameters: { ...STEPS, threadsX: 1 }, share: WINDOW };
  for (const refine of [false, [other]]) {
    const configuration = { traversal: "stepwise", parameters: STEPS, share: WINDOW };
    await using solver = await createSolver(PROBLEM, { device, configuration, refine });
    await solver.initialise("noise", 3);
    // a first run shows how fast it is, a later one has time for another
    for (const steps of [9, 18, 27]) await solver.run(steps);
    if (refine) assertEquals(solver.refined!.tried.map(({ failure }) => failure), [undefined, undefined]);
    const field = await solver.read();
    await solver.addReceivers("u", [[20, 3, 4]]);
    await solver.run(2);
    results.push(field, await solver.traces());
  }
  assertEquals(results.slice(2), results.slice(0, 2));
});

testOnGpu("a window is taken where levels exceed deviceMemory, and where the GPU is full", async () => {
  const adapter = (await navigator.gpu.requestAdapter())!, device = await adapter.requestDevice();
  // one that nobody knows: a GPU in software would leave the work to the CPU
  const adapterInfo = { vendor: "", architecture: "", device: "", description: "", isFallbackAdapter: false };
  Object.defineProperty(device, "adapterInfo", { value: adapterInfo });
  const create = device.createBuffer.bind(device), { steps: _, ...open } = PROBLEM;
  const play = async (options: SolverOptions) => {
    await using solver = await createSolver(open, { device, ...options });
    await solver.initialise("noise", 3);
    await solver.run(5);
    const { configuration: { share: { deviceMemory }, traversal }, choice } = solver;
    return { deviceMemory, traversal, message: choice!.message, field: await solver.read() };
  };
  try {
    const expected = await play({ deviceMemory: 1e9 }), asked = await play({ deviceMemory: 60_000 });
    assertEquals([expected.deviceMemory, asked.deviceMemory], [undefined, 60_000]);
    const passage =
      / through a window of 5\d.* KiB: .*; the whole grid passes once in \d+ steps?, or once in a /;
    assertMatch(asked.message, passage);
    assertEquals(asked.field, expected.field);
    // a GPU that has no room for what the chosen traversal takes, but for plain steps
    device.createBuffer = (descriptor: GPUBufferDescriptor) => {
      if (descriptor.label?.includes(expected.traversal)) throw new Error("Not enough memory left.");
      return create(descriptor);
    };
    const leaner = await play({});
    assertNotEquals(expected.traversal, "stepwise");
    assertEquals([leaner.deviceMemory, leaner.field], [undefined, expected.field]);
    assertMatch(leaner.message, /^[a-z-]+: the GPU's memory is too small for /);
    // a GPU that has no room for a level
    device.createBuffer = (descriptor: GPUBufferDescriptor) => {
      if (descriptor.size > 20_000) throw new Error("Not enough memory left.");
      return create(descriptor);
    };
    const full = await play({});
    assertMatch(full.message, /^the grid does not fit the GPU's memory: .* through a window of /);
    assertEquals(full.field, expected.field);
    const error = await assertRejects(() => play({ deviceMemory: 1e9 }), SolverError);
    assertEquals(error.reason, "out-of-memory");
  } finally {
    device.destroy();
  }
});
