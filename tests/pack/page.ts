/**
 * What runs in the browser: profile, choice and solver through the package, on the page's own device. Every result is
 * compared with the oracle or the exact plane wave, and posted to the server that the page came from.
 *
 * @module
 */
import {
  chooseConfiguration,
  type Configuration,
  createSolver,
  elastic,
  life,
  openDevice,
  type Problem,
  readProfile,
  runReference,
  solverLayout,
  type Stencil,
  wave,
} from "../../mod.ts";

/** What the page found out. */
export interface PageReport {
  /** Where anything failed. */
  readonly error?: string;
  readonly vendor?: string;
  /** Largest error against the exact plane wave, by what ran. */
  readonly planeWaves?: Record<string, number>;
  /** Cells that differ from the oracle, by what ran. */
  readonly wrongCells?: Record<string, number>;
  /** Message of a request that makes no sense. */
  readonly refused?: string;
  /** Why a solver took what it did, of which nothing but its problem was said. */
  readonly chosen?: string;
  /** Whether the page may share memory with workers. */
  readonly isolated?: boolean;
}

/** Browsers share memory with workers only on isolated pages. */
const { crossOriginIsolated = false } = globalThis as { crossOriginIsolated?: boolean };

const GRID = [14, 9, 11] as const;
const STEPWISE = { threadsZ: 8, threadsY: 2, threadsX: 1 };
const MARCHING = { zPerThread: 1, threadsZ: 16, threadsY: 8, pieces: 2, tile: 1, ahead: 1 };
const TORRE = {
  dts: 2,
  nt: 8,
  bands: 1,
  zPerThread: 1,
  threads: 11,
  chunk: 4,
  unroll: 2,
  loads: "tier start",
};

function configurationOf(
  traversal: string,
  parameters: Configuration["parameters"],
  cpuSlices = 0,
): Configuration {
  const share = { cpuSlices, gpuSlices: GRID[0] - cpuSlices, exchangeEvery: 2 };
  return { traversal, parameters, share: { ...share, cpuWorkers: cpuSlices > 0 ? 2 : 0 } };
}

/** Largest error of a periodic wave after 40 steps. */
async function planeWave(device: GPUDevice | null, profile: string): Promise<number> {
  const problem: Problem = { stencil: wave(4), grid: [20, 24, 28], boundary: "periodic", steps: 10 };
  const exact = problem.stencil.planeWave!(problem.grid, [1, 2, 1]);
  const { configuration } = chooseConfiguration(await readProfile(profile), problem, device);
  await using solver = await createSolver(device, problem, configuration);
  await solver.write("F", (...cell) => exact.at(cell, 0));
  await solver.write("F", (...cell) => exact.at(cell, -1), { ago: 1 });
  await solver.run(40);
  const [nx, ny, nz] = problem.grid;
  const cells = await solver.read();
  let largest = 0;
  for (let x = 0; x < nx; x++) {
    for (let y = 0; y < ny; y++) {
      for (let z = 0; z < nz; z++) {
        const error = Math.abs(cells[(x * ny + y) * nz + z]! - exact.at([x, y, z], 40));
        largest = Math.max(largest, error);
      }
    }
  }
  return largest;
}

/** Cells of a run from small whole numbers that differ from the oracle by more than rounding. */
async function wrongCells(
  device: GPUDevice | null,
  stencil: Stencil,
  configuration: Configuration,
): Promise<number> {
  const problem: Problem = { stencil, grid: GRID, boundary: "zero", steps: 8 };
  await using solver = await createSolver(device, problem, configuration);
  const { update } = stencil;
  const names = [...update.fields, ...update.materials.map(({ name }) => name)];
  const [nx, ny, nz] = GRID, planes = names.length;
  const start = new Float32Array(nx * planes * ny * nz);
  for (const [plane, name] of names.entries()) {
    const isRock = stencil.name === "elastic" && plane >= update.fields.length;
    const value = (x: number, y: number, z: number): number => {
      const isOne = (x * 7 + y * 3 + z * 5 + plane * 11) % 8 === 0;
      return isRock ? update.materials[plane - update.fields.length]!.values[isOne ? 1 : 0]! : isOne ? 1 : 0;
    };
    for (let row = 0; row < nx * ny; row++) {
      const x = Math.floor(row / ny), y = row % ny;
      for (let z = 0; z < nz; z++) start[((x * planes + plane) * ny + y) * nz + z] = value(x, y, z);
    }
    await solver.write(name, value);
    if (stencil.name === "wave") await solver.write(name, value, { ago: 1 });
  }
  await solver.run(7);
  const levels = { current: start, previous: start };
  const { current } = runReference(levels, { update, grid: GRID, boundary: "zero", steps: 7 });
  let wrong = 0;
  for (const [plane, name] of update.fields.entries()) {
    const cells = await solver.read(name);
    for (let i = 0; i < cells.length; i++) {
      const x = Math.floor(i / ny / nz), inSlice = i % (ny * nz);
      const expected = current[(x * planes + plane) * ny * nz + inSlice];
      if (!(Math.abs(cells[i]! - expected!) <= 1e-4 * Math.max(1, Math.abs(expected!)))) wrong++;
    }
  }
  return wrong;
}

async function run(): Promise<PageReport> {
  const profile = await (await fetch("profile.json")).text();
  const full = await openDevice();
  if (full === null) return { error: "openDevice found no adapter" };
  // the page's own device, with no more than every browser promises
  const adapter = await navigator.gpu.requestAdapter();
  const least = await adapter!.requestDevice();
  const planeWaves = {
    "all limits": await planeWave(full, profile),
    "least limits": await planeWave(least, profile),
  };
  const cases: [name: string, stencil: Stencil, configuration: Configuration][] = [
    ["stepwise", wave(2), configurationOf("stepwise", STEPWISE)],
    ["marching", wave(4), configurationOf("marching", MARCHING)],
    ["diamond-torre", wave(2), configurationOf("diamond-torre", TORRE)],
    ["life", life(), configurationOf("marching", { ...MARCHING, tile: 0 })],
    ["elastic", elastic({ edges: 0 }), configurationOf("stepwise", STEPWISE)],
    ["shared with the CPU", wave(2), configurationOf("diamond-torre", TORRE, 5)],
    ["the CPU alone", wave(2), configurationOf("stepwise", {}, GRID[0])],
  ];
  const wrong: Record<string, number> = {};
  for (const [name, stencil, configuration] of cases) {
    const needsWorkers = configuration.share.cpuWorkers > 0;
    if (needsWorkers && !crossOriginIsolated) continue;
    wrong[name] = await wrongCells(least, stencil, configuration);
  }
  const problem: Problem = { stencil: wave(2), grid: GRID, boundary: "zero", steps: 8 };
  const stepwise = configurationOf("stepwise", STEPWISE);
  const buffer = least.createBuffer({
    size: 4 * solverLayout(problem, stepwise).length - 4,
    usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
  });
  const other = least.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE });
  const refused = await createSolver(least, problem, stepwise, { buffers: [buffer, other] })
    .then(() => "", (error: Error) => error.message);
  await using alone = await createSolver(problem);
  await alone.run(1);
  const { vendor } = least.adapterInfo, chosen = alone.choice!.message;
  return { vendor, planeWaves, wrongCells: wrong, refused, chosen, isolated: crossOriginIsolated };
}

const report = await run().catch((error: Error): PageReport => ({ error: `${error.stack ?? error}` }));
await fetch("report", { method: "POST", body: JSON.stringify(report) });
