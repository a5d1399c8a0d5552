/**
 * What a grid loses that passes through a window of the GPU's memory: the wave equation, order 2, in the same torres with
 * all levels on the device and with some GiB of it, after each passage, and how many of the values differ.
 *
 *     deno run -A bench/window.ts GRID GIB DTS NT BANDS [PASSAGES]
 *
 * @module
 */
import { cellsOf, type Grid, type Problem } from "../kernels/stencils/stencil.ts";
import { wave } from "../kernels/stencils/wave.ts";
import { createSolver } from "../tuner/solver/create_solver.ts";

const [size = "30000x192x192", ...numbers] = Deno.args;
const [gib = 2.67, dts = 5, nt = 192, bands = 16, passages = 2] = numbers.map(Number);
const grid = size.split("x").map(Number) as unknown as Grid, [nx, ny, nz] = grid;
const steps = nt * bands, windowBytes = Math.floor(gib * 2 ** 30), seed = 1;
const problem: Problem = { stencil: wave(2), grid, boundary: "zero", steps };
const parameters = { dts, nt, bands, zPerThread: 1, threads: nz, chunk: 8, unroll: 1, loads: "tier start" };
const torre = { traversal: "diamond-torre", parameters };

/** Slices that are compared: reading all of them would take longer than the runs. */
const COMPARED = [0, 1, Math.floor(nx / 3), Math.floor(nx / 2), nx - 2, nx - 1];

const RECEIVERS = [0, Math.floor(nx / 2), nx - 1].map((x) => [x, ny >> 1, nz >> 1] as const);

console.log(`levels ${gibOf(8 * cellsOf(grid))} GiB without pads, ${gibOf(windowBytes)} allowed`);
const expected: Float32Array[] = [], recorded: Float32Array[] = [];
let residentRate = 0;
{
  const share = { cpuSlices: 0, gpuSlices: nx, exchangeEvery: steps, cpuWorkers: 0 };
  await using solver = await createSolver(problem, { configuration: { ...torre, share } });
  await solver.initialise("noise", seed);
  await solver.addReceivers("F", RECEIVERS);
  const { timeNs } = await solver.run(steps);
  for (const x of COMPARED) expected.push(await solver.read(undefined, { x, slices: 1 }));
  recorded.push(...await solver.traces());
  residentRate = report("on the device", timeNs);
}
{
  const share = {
    cpuSlices: 0,
    gpuSlices: nx,
    exchangeEvery: steps,
    cpuWorkers: 0,
    deviceMemory: windowBytes,
  };
  await using solver = await createSolver(problem, { configuration: { ...torre, share } });
  await solver.initialise("noise", seed);
  await solver.addReceivers("F", RECEIVERS);
  for (let passage = 0; passage < passages; passage++) {
    report("through the window, by the host's clock", (await solver.run(steps)).timeNs);
    if (passage > 0) continue;
    let differing = 0;
    for (const [i, x] of COMPARED.entries()) {
      const slice = await solver.read(undefined, { x, slices: 1 });
      slice.forEach((value, cell) => differing += Number(value !== expected[i]![cell]));
    }
    const traces = await solver.traces();
    const wrong = traces.filter((trace, i) => trace.some((value, t) => value !== recorded[i]![t])).length;
    console.log(`${differing} of ${COMPARED.length * ny * nz} values and ${wrong} traces differ`);
  }
}

/** Prints and returns a rate. */
function report(name: string, timeNs: number): number {
  const rate = cellsOf(grid) * steps / timeNs;
  const part = residentRate > 0 ? `, ${(rate / residentRate).toFixed(3)} of that on the device` : "";
  console.log(`${name}: ${rate.toPrecision(4)} Gcells/s${part}, ${(timeNs / 1e9).toFixed(2)} s`);
  return rate;
}

function gibOf(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(2);
}
