/**
 * A solver that goes on from what another has saved ends with the bits of an undisturbed run.
 *
 * @module
 */
import process from "node:process";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { wholeFields } from "../../kernels/layers.ts";
import { combine } from "../../kernels/traversals/traversal.ts";
import { planeTorre } from "../../kernels/traversals/plane_torre/plane_torre.ts";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { readsPrevious } from "../../kernels/update.ts";
import {
  add,
  along,
  type Configuration,
  createSolver,
  equation,
  maxwell,
  multiply,
  type Problem,
  sine,
  type Solver,
  subtract,
} from "../../mod.ts";
import { crc32 } from "../../tuner/platform.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import "../own_thread.ts";

/** A wave with a signal, materials, edges that damp, and sources. */
const driven = equation({
  name: "driven",
  fields: { p: [-1, 1] },
  materials: { c: [0.05, 0.15], loss: along("x", (i) => multiply(0.001, i)) },
  sources: { s: [-1, 1] },
  signal: (n) => sine(multiply(0.2, n)),
  step({ p, s, c, loss }, signal) {
    const around = add(p.at(1), p.at(-1), p.at(0, 1), p.at(0, -1), p.at(0, 0, 1), p.at(0, 0, -1));
    const moved = multiply(c, subtract(around, multiply(6, p)));
    const kept = subtract(multiply(2, p), multiply(subtract(1, loss), p.before()));
    return { p: add(add(kept, moved, multiply(0.001, signal)), multiply(c, s)) };
  },
});

const share = { cpuSlices: 0, gpuSlices: 16, exchangeEvery: 2, cpuWorkers: 0 };
const onCpu = { ...share, cpuSlices: 16, gpuSlices: 0, cpuWorkers: 1 };
const threads = { threadsZ: 8, threadsY: 4, threadsX: 1 };
const IN_SPACE: Readonly<Record<string, Configuration>> = {
  CPU: { traversal: "diamond-wavefront", parameters: { tiles: 1, levels: 4, block: 4 }, share: onCpu },
  GPU: { traversal: "stepwise", parameters: threads, share },
  "GPU and CPU": {
    traversal: "stepwise",
    parameters: threads,
    share: { cpuSlices: 6, gpuSlices: 10, exchangeEvery: 2, cpuWorkers: 1 },
  },
};

type Write = (solver: Solver) => Promise<void>;

/** Runs, saves, and goes on: once undisturbed, once in another solver, which must end alike. */
async function assertGoesOn(
  device: GPUDevice | null,
  problem: Problem,
  configuration: Configuration,
  write: Write,
  other: { readonly device: GPUDevice | null; readonly configuration: Configuration } = {
    device,
    configuration,
  },
): Promise<void> {
  await using solver = await createSolver(device, problem, configuration);
  await write(solver);
  await solver.run(7);
  const saved = await solver.save(), { step } = solver, before = await stateOf(solver);
  await solver.run(12);
  // from a file
  const from = new Uint8Array(await saved.arrayBuffer());
  await using next = await createSolver(other.device, problem, other.configuration, { from });
  assertEquals(next.step, step);
  assertEquals(await stateOf(next), before);
  assertEquals(new Uint8Array(await (await next.save()).arrayBuffer()), from);
  await next.run(12);
  const [expected, found] = [await stateOf(solver), await stateOf(next)];
  const { cpuSlices, gpuSlices } = configuration.share;
  if (other.configuration === configuration && Math.min(cpuSlices, gpuSlices) === 0) {
    return assertEquals(found, expected);
  }
  // another device rounds otherwise, in ghost zones of two devices too
  expected.forEach((values, i) => {
    const most = Math.max(...values.map(Math.abs));
    const off = Math.max(...values.map((value, j) => Math.abs(value - found[i]![j]!)));
    assert(off <= 1e-5 * most, `${off} of ${most} in ${i}`);
  });
}

async function stateOf(solver: Solver): Promise<Float32Array[]> {
  const { update } = solver.problem.stencil, all: Float32Array[] = [];
  for (const name of wholeFields(update)) {
    for (const ago of readsPrevious(update) ? [0, 1] as const : [0] as const) {
      all.push(await solver.read(name, { ago }));
    }
  }
  for (const { name } of [...update.materials, ...update.profiles ?? []]) all.push(await solver.read(name));
  assert(all[0]!.some((value) => value !== 0));
  const spectra = (await solver.spectra()).map((one) => Float32Array.from(one));
  return [...all, ...await solver.traces(), ...spectra];
}

/** Own values, two groups of sources, traces and sums of receivers, all between cells. */
async function writeDriven(solver: Solver): Promise<void> {
  const mixed = (...cell: number[]) => cell.reduce((sum, i) => 3 * sum + i, 1) % 7 / 7;
  for (const ago of [0, 1] as const) await solver.write("p", mixed, { ago });
  await solver.write("c", (...cell) => 0.05 + 0.1 * mixed(...cell));
  await solver.write("loss", (x) => 0.002 * x);
  const wavelet = Array.from({ length: 16 }, (_, i) => Math.sin(i));
  await solver.addSources("s", [[3.2, 4.5, 5.1], [8, 2, 7]], wavelet, { interpolation: "sinc" });
  await solver.addSources("s", [[9.5, 6.5, 3]], [[1, 2, 3, 4, 5, 6, 7, 8, 9]], { weight: (x) => x / 10 });
  await solver.addReceivers("p", [[2.5, 3.5, 4.5], [12, 7, 9]], { every: 3, interpolation: "sinc" });
  await solver.addReceivers("p", [[5.5, 3, 2]], { every: 3, weight: (_, y) => y });
  await solver.addReceivers("p", [[4, 4, 4]], { every: 3, frequencies: [0.05, 0.1] });
}

const inSpace: Problem = { stencil: driven, grid: [16, 9, 12], boundary: "periodic", steps: 6 };

Deno.test("a run goes on from what was saved, with signal and points: CPU", () =>
  assertGoesOn(null, inSpace, IN_SPACE.CPU!, writeDriven));

for (const name of ["GPU", "GPU and CPU"]) {
  testOnGpu(
    `a run goes on from what was saved, with signal and points: ${name}`,
    ({ device }) => assertGoesOn(device, inSpace, IN_SPACE[name]!, writeDriven),
  );
}

testOnGpu("from one device on another, and in an order of a plan's own", async ({ device, limits }) => {
  await assertGoesOn(device, inSpace, IN_SPACE["GPU and CPU"]!, writeDriven, {
    device: null,
    configuration: IN_SPACE.CPU!,
  });
  const stencil = equation({
    name: "plain",
    dimensions: 2,
    fields: { p: [-1, 1] },
    step: ({ p }) => ({ p: multiply(0.25, add(p.at(1, 0), p.at(-1, 0), p.at(0, 1), p.at(0, -1))) }),
  });
  const planned: Problem = { stencil, grid: [16, 1, 20], boundary: "zero", steps: 6 };
  const parameters = [...combine(planeTorre.parameterLists(planned, limits))]
    .find((one) => planeTorre.infeasible(planned, one, limits) === undefined)!;
  const problem = { ...planned, grid: [16, 20] } as unknown as Problem;
  await assertGoesOn(
    device,
    problem,
    { traversal: "plane-torre", parameters, share },
    (solver) => solver.write("p", (x, y) => (x * 7 + y * 3) % 5 / 5),
  );
});

testOnGpu("a pml's memory, which a GPU has in layers and the CPU in all cells", async ({ device }) => {
  const medium = { permittivity: [1, 4], courant: 0.5, edges: [3, 4, 2], absorber: "pml" } as const;
  const problem: Problem = { stencil: maxwell(medium), grid: [16, 13, 9], boundary: "zero", steps: 6 };
  const write: Write = async (solver) => {
    await solver.write("permittivity", (x, y, z) => 1 + (x + y + z) % 4);
    await solver.addSources("jz", [[7, 6, 4]], [1, 2, 1]);
    await solver.run(30);
  };
  const gpu = IN_SPACE.GPU!, cpu: Configuration = { traversal: "stepwise", parameters: {}, share: onCpu };
  await assertGoesOn(device, problem, gpu, write);
  await assertGoesOn(device, problem, gpu, write, { device: null, configuration: cpu });
  await assertGoesOn(null, problem, cpu, write, { device, configuration: gpu });
  const sound = { ...problem, stencil: acoustic({ edges: [3, 4, 2], absorber: "pml" }) };
  const send: Write = async (solver) => {
    await solver.write("velocity", (x, y, z) => 1500 + 300 * ((x + y + z) % 4));
    await solver.addSources("s", [[7, 6, 4]], [1, 2, 1]);
    await solver.run(31);
  };
  await assertGoesOn(device, sound, gpu, send, { device: null, configuration: cpu });
  await assertGoesOn(null, sound, cpu, send, { device, configuration: gpu });
});

Deno.test("what is damaged, or of another problem, is refused, and what is not finite is not saved", async () => {
  const cpu = IN_SPACE.CPU!, problem: Problem = { ...inSpace, boundary: "zero" };
  await using solver = await createSolver(null, problem, cpu);
  await solver.write("p", 0.5);
  await solver.run(3);
  const bytes = new Uint8Array(await (await solver.save()).arrayBuffer());
  const refused = (from: Uint8Array<ArrayBuffer>, message: string, of = problem) =>
    assertRejects(() => createSolver(null, of, cpu, { from }), RangeError, message);
  for (const at of [20, 5000, bytes.length - 1]) {
    await refused(bytes.with(at, bytes[at]! ^ 1), "Cannot go on from what was saved");
  }
  await refused(bytes.slice(0, -4), "wanted: found ");
  await refused(new Uint8Array(3), "a checkpoint wanted: found another kind of file");
  await refused(bytes, "grid 16x9x13 wanted: found 16x9x12", {
    ...problem,
    grid: [16, 9, 13],
  });
  const halved = equation({
    name: "driven",
    fields: { p: [-1, 1] },
    step: ({ p }) => ({ p: multiply(0.5, p) }),
  });
  await refused(bytes, ", another equation's or another version's of Facet", { ...problem, stencil: halved });
  await solver.write("p", 3e38);
  await assertRejects(() => solver.run(4).then(() => solver.save()), Error, "finite values wanted");
});

Deno.test("a page sums bytes as Node.js does", () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i * 7), expected = crc32(bytes, crc32(bytes));
  const { getBuiltinModule } = process;
  try {
    process.getBuiltinModule = (() => undefined) as unknown as typeof getBuiltinModule;
    assertEquals(crc32(bytes, crc32(bytes)), expected);
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
});
