/**
 * What f64 keeps and costs beside f32, on the CPU: `deno run -A bench/precisions.ts [--rates]` prints what is wrong after
 * long runs in both, or, by turns, their rates where memory limits them (docs/accuracy.md).
 *
 * @module
 */
import { createSolver, elastic, heat, maxwell, MAXWELL_FIELDS, type OpenProblem, wave } from "../mod.ts";
import type { PrecisionName } from "../kernels/precision.ts";
import { formatTable } from "../tuner/format.ts";

type Solver = Awaited<ReturnType<typeof createSolver>>;

const NAMES = ["f32", "f64"] as const;

async function solved<T>(
  problem: OpenProblem,
  precision: PrecisionName,
  work: (solver: Solver) => Promise<T>,
): Promise<T> {
  using solver = await createSolver({ ...problem, precision }, { device: null });
  return await work(solver);
}

const largest = (values: ArrayLike<number>): number => Math.max(...Array.from(values, Math.abs));

/** The largest error of a wave of `n` cells after two periods, whose steps are taken as they are. */
function waveError(n: number, precision: PrecisionName): Promise<number> {
  const courant = 0.25,
    k = 2 * Math.PI / n,
    steps = 2 * n / courant,
    omega = Math.acos(1 - (courant * k) ** 2 / 2);
  const exact = (z: number, step: number) => Math.cos(k * z - omega * step);
  return solved(
    { stencil: wave(8, { courant }), grid: [2, 2, n], boundary: "periodic" },
    precision,
    async (solver) => {
      for (const ago of [0, 1] as const) await solver.write("F", (_x, _y, z) => exact(z, -ago), { ago });
      await solver.run(steps);
      return largest((await solver.read("F")).map((value, i) => value - exact(i % n, steps)));
    },
  );
}

/** By how much the energy of a closed cavity in vacuum is another after the steps, relative. */
function energyDrift(steps: number, precision: PrecisionName): Promise<number> {
  const problem = { stencil: maxwell({ permittivity: 1 }), grid: [8, 9, 10], boundary: "zero" } as const;
  return solved(problem, precision, async (solver) => {
    for (const name of MAXWELL_FIELDS) {
      await solver.write(name, (x, y, z) => Math.sin(7 * x + 11 * y + 13 * z + name.length));
    }
    await solver.run(1);
    const energy = async () => {
      const read = () => Promise.all(MAXWELL_FIELDS.map((name) => solver.read(name))), before = await read();
      await solver.run(1);
      const after = await read();
      return before.reduce(
        (sum, values, field) =>
          values.reduce((all, one, i) => all + one * (field < 3 ? one : after[field]![i]!), sum),
        0,
      );
    };
    const first = await energy();
    await solver.run(steps);
    return Math.abs(await energy() / first - 1);
  });
}

/** The error of slow diffusion on a long wave, relative to what should have gone. */
function diffusionError(steps: number, precision: PrecisionName): Promise<number> {
  const n = 64, fourier = 1e-5, stencil = heat(1, { fourier }), k = 2 * Math.PI / n;
  const left = (1 - 2 * fourier * (1 - Math.cos(k))) ** steps;
  return solved({ stencil, grid: [2, 2, n], boundary: "periodic" }, precision, async (solver) => {
    await solver.write("F", (_x, _y, z) => 20 + Math.cos(k * z));
    await solver.run(steps);
    const found = await solver.read("F");
    return Math.abs((Math.max(...found) - 20 - left) / (1 - left));
  });
}

/** What an elastic wave of stress 1 lacks on top of a stress at rest, relative. */
function stressError(atRest: number, precision: PrecisionName): Promise<number> {
  const problem = {
    stencil: elastic({ edges: 0 }),
    grid: [4, 4, 64],
    boundary: "periodic",
  } as const;
  const run = (base: number, of: PrecisionName) =>
    solved(problem, of, async (solver) => {
      await solver.write("szz", (_x, _y, z) => base + Math.cos(2 * Math.PI * z / 64));
      await solver.run(200);
      return (await solver.read("szz")).map((value) => value - base);
    });
  return Promise.all([run(atRest, precision), run(0, "f64")]).then(([found, wanted]) =>
    largest(wanted.map((value, i) => value - found[i]!)) / largest(wanted)
  );
}

async function errors(): Promise<void> {
  const rows: [string, (precision: PrecisionName) => Promise<number>][] = [
    ["wave, order 8, 32 cells a wavelength, 2 periods", (precision) => waveError(32, precision)],
    ["the same, 64 cells", (precision) => waveError(64, precision)],
    ["energy of a cavity (Yee), 50,000 steps", (precision) => energyDrift(50_000, precision)],
    ["heat, Fo 10⁻⁵, 100,000 steps at 20 ± 1", (precision) => diffusionError(100_000, precision)],
    ["elastic wave of 1 Pa on a stress of 1 MPa, 200 steps", (precision) => stressError(1e6, precision)],
  ];
  const table = [["", ...NAMES]];
  for (const [what, find] of rows) {
    const found: string[] = [];
    for (const precision of NAMES) found.push((await find(precision)).toExponential(1));
    table.push([what, ...found]);
  }
  console.log(formatTable(table));
}

/** Rates in f64 as parts of those in f32: the medians of many short runs, by turns. */
async function rates(): Promise<void> {
  const cells = Number(Deno.args[1] ?? 192), turns = 21, table = [["", ...NAMES, "f64/f32"]];
  const grid = [cells, cells, cells] as const, workers = navigator.hardwareConcurrency;
  const share = { cpuSlices: cells, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: workers };
  for (const stencil of [wave(2), wave(4), heat(1), maxwell({ permittivity: 1 })]) {
    for (
      const [traversal, parameters] of [
        ["stepwise", { strip: 16, fused: 1 }],
        ["diamond-wavefront", { tiles: 4 * workers, levels: 4, block: 4, fused: 1 }],
      ] as const
    ) {
      const configuration = { traversal, parameters, share };
      const open = (precision: PrecisionName) => {
        const problem: OpenProblem = { stencil, grid, boundary: "zero", steps: 4, precision };
        return createSolver(problem, { device: null, configuration });
      };
      using f32 = await open("f32");
      using f64 = await open("f64");
      const solvers = { f32, f64 }, found = { f32: [] as number[], f64: [] as number[] };
      for (const name of NAMES) await solvers[name].initialise();
      for (let turn = 0; turn < turns; turn++) {
        for (const name of NAMES) {
          found[name].push((await solvers[name].run(4)).cellsPerSecond);
        }
      }
      const middle = (values: number[]) => values.toSorted((a, b) => a - b)[turns >> 1]!;
      const ratio = middle(found.f64.map((rate, i) => rate / found.f32[i]!)).toFixed(2);
      const shown = NAMES.map((name) => `${(middle(found[name]) / 1e9).toFixed(3)} Gcells/s`);
      table.push([`${stencil.title}, ${traversal}`, ...shown, ratio]);
    }
  }
  console.log(formatTable(table));
}

await (Deno.args[0] === "--rates" ? rates() : errors());
