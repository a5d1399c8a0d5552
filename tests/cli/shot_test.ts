import { assert, assertAlmostEquals, assertEquals, assertMatch } from "@std/assert";
import { decode } from "fast-png";
import { acoustic, type AcousticOptions, acousticTimeStep } from "../../kernels/stencils/acoustic.ts";
import { elastic, elasticTimeStep, lameOf } from "../../kernels/stencils/elastic.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { chooseConfiguration } from "../../tuner/profile/choose.ts";
import { readArray } from "../../tuner/files/array.ts";
import { npyBytes, readNpy, rowsOf, transposed } from "../../tuner/files/npy.ts";
import { resample, ricker } from "../../tuner/shot/shoot.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import { mpirun, solveFlags, testUnderMpi } from "../ranks/mpirun.ts";
import { assertRefused, inDirectory, runCommand, taskCommand } from "./run_task.ts";
import "../own_thread.ts";

const nx = 16, ny = 12, nz = 14;

const velocityAt = (x: number, y: number, z: number): number => Math.fround(1500 + 40 * z + 7 * x - 5 * y);

/** Writes the model as NumPy does, in Fortran order. */
async function writeModel(path: string): Promise<void> {
  const header = `{'descr': '<f4', 'fortran_order': True, 'shape': (${nx}, ${ny}, ${nz}), }`.padEnd(117) +
    "\n";
  const start = Uint8Array.from(`\x93NUMPY\x01\x00\x76\x00${header}`, (char) => char.charCodeAt(0));
  const values = Float32Array.from(
    { length: nx * ny * nz },
    (_, i) => velocityAt(i % nx, Math.floor(i / nx) % ny, Math.floor(i / nx / ny)),
  );
  await Deno.writeFile(path, new Uint8Array([...start, ...new Uint8Array(values.buffer)]));
}

const MEDIUM = {
  order: 4,
  velocity: [velocityAt(0, ny - 1, 0), velocityAt(nx - 1, 0, nz - 1)],
  spacing: 10,
} as const;
const timeStep = 0.9 * acousticTimeStep(MEDIUM), EDGES = 5;

/** The traces of a shot in the model, by a solver called directly. */
async function directTraces(
  { surface, absorber }: Pick<AcousticOptions, "surface" | "absorber">,
  source: readonly [number, number, number],
  receivers: readonly (readonly [number, number, number])[],
  steps: number,
): Promise<Float32Array[]> {
  const top = surface === "free" ? 0 : EDGES;
  const problem: Problem = {
    stencil: acoustic({ ...MEDIUM, timeStep, edges: EDGES, surface, absorber }),
    grid: [nx + 2 * EDGES, ny + 2 * EDGES, top + nz + EDGES],
    boundary: "zero",
    steps: 10,
    survey: { sources: 1, receivers: receivers.length },
  };
  const { configuration } = chooseConfiguration([], problem, null, { cpuWorkers: 1 });
  using solver = await createSolver(null, problem, configuration);
  const cell = (at: number, cells: number): number => Math.min(cells - 1, Math.max(0, at));
  await solver.write(
    "velocity",
    (x, y, z) => velocityAt(cell(x - EDGES, nx), cell(y - EDGES, ny), cell(z - top, nz)),
  );
  const placed = ([x, y, z]: readonly [number, number, number]) =>
    [x / 10 - 0.5 + EDGES, y / 10 - 0.5 + EDGES, z / 10 - 0.5 + top] as const;
  const signature = Array.from({ length: steps }, (_, n) => ricker(20, n * timeStep));
  await solver.addSources("s", [placed(source)], signature, { interpolation: "sinc" });
  await solver.addReceivers("p", receivers.map(placed), { interpolation: "sinc" });
  await solver.run(steps);
  return await solver.traces();
}

const CPU = ["--no-gpu", "--cpu-workers", "1"];

for (const [surface, absorber] of [["absorbing", "matched"], ["free", "matched"], ["free", "pml"]] as const) {
  Deno.test(`a shot's traces are those of a solver, bit for bit, with a surface that is ${surface}, ${absorber}`, () =>
    inDirectory(async (directory) => {
      await writeModel(`${directory}/v.npy`);
      await Deno.writeTextFile(`${directory}/r.csv`, "45 55\t65\n\n 52.5 ; 61; 18 \r\n");
      const args = ["--velocity", `${directory}/v.npy`, "--surface", surface, "--edges"];
      args.push(absorber === "pml" ? `pml${EDGES}` : `${EDGES}`);
      const { code, stdout, stderr } = await runCommand("shot", [
        ...args,
        ...CPU,
        "--json",
        "--quiet",
        "--frequency",
        "20",
        "--time",
        "0.07s",
        ...["--source", "85,65,33", "--receivers", `${directory}/r.csv`, "--snapshots", "2"],
        ...["--out", `${directory}/shot.png`, "--traces", `${directory}/t.npy`],
      ]);
      assertEquals(code, 0);
      // seven cells a wavelength
      assert(
        /^facet: the scheme changes a wavelet of 20 Hz by 11% .*: order 6 halves that\n$/.test(stderr),
        stderr,
      );
      const result = JSON.parse(stdout), receivers = [[45, 55, 65], [52.5, 61, 18]] as const;
      assertAlmostEquals(result.timeStep, timeStep, 1e-12);
      assertEquals([result.samples, result.interval], [Math.floor(0.07 / timeStep) + 1, result.timeStep]);
      assertEquals([result.edges, result.absorber], [EDGES, absorber]);
      assertEquals(result.model, [nx, ny, nz]);
      assertEquals(result.grid, [nx + 10, ny + 10, nz + (surface === "free" ? 5 : 10)]);
      const direct = await directTraces({ surface, absorber }, [85, 65, 33], receivers, result.steps);
      const { shape, values } = readNpy(await Deno.readFile(`${directory}/t.npy`), "t.npy");
      assertEquals(shape, [2, result.samples]);
      assertEquals([...values], direct.flatMap((trace) => [...trace.subarray(0, result.samples)]));
      assert(values.some((value) => Math.abs(value) > 0.01));
      const rates = [result.cellsPerSecond, result.modelCellsPerSecond];
      assertAlmostEquals(
        rates[1] / rates[0],
        nx * ny * nz / result.grid.reduce((a: number, b: number) => a * b),
        1e-9,
      );
      const names = ["shot-wave-1.png", "shot-wave-2.png", "shot.png", "t.npy"];
      const [one, two, picture, traces] = names.map((name) => `${directory}/${name}`);
      assertEquals(result.files, [{ waves: [one, two], picture, traces: [traces] }]);
      for (const name of names.slice(0, 3)) {
        assertEquals(decode(await Deno.readFile(`${directory}/${name}`)).channels, 3);
      }
    }));
}

for (const sent of [["fz"], ["mxx", "myy", "mzz"]]) {
  const source = sent.length > 1 ? ["--explosion"] : [];
  Deno.test(`an elastic shot's traces${source} are a solver's velocities, a file for each component`, () =>
    inDirectory(async (directory) => {
      await writeModel(`${directory}/v.npy`);
      const [low, high] = MEDIUM.velocity,
        step = 0.9 * elasticTimeStep({ velocity: [low, high], spacing: 10 });
      const { code, stdout, stderr } = await runCommand("shot", [
        ...["--stencil", "elastic", "--velocity", `${directory}/v.npy`, "--density", "2100", "--edges", "4"],
        ...[
          "--velocity-s",
          "800",
          "--surface",
          "free",
          "--frequency",
          "8",
          "--time",
          "0.08s",
          "--json",
          "--quiet",
          "--hydrophones",
          ...source,
        ],
        ...["--source", "85,65,5", "--receivers", "line:45,55,5:105,55,25:3", "--snapshots", "1", ...CPU],
        ...["--out", `${directory}/e.png`, "--traces", `${directory}/t.npy`],
      ]);
      assertEquals(code, 0, stderr);
      assertMatch(stderr, /^facet: 4\.0 cells per shortest S wavelength are too few: 5 are wanted/);
      const { timeStep, samples, steps, files } = JSON.parse(stdout);
      assertAlmostEquals(timeStep, step, 1e-12);
      const tables = ["pressure", "vx", "vy", "vz"].map((name) => `${directory}/t-${name}.npy`);
      const [picture, wave] = [`${directory}/e.png`, `${directory}/e-wave-1.png`];
      assertEquals(files, [{ waves: [wave], picture, traces: tables }]);
      for (const path of [picture, wave]) assertEquals(decode(await Deno.readFile(path)).channels, 3);

      const grid = [nx + 8, ny + 8, nz + 4] as const;
      const stencil = elastic({ velocity: [low, high], spacing: 10, timeStep, edges: 4, surface: "free" });
      const problem: Problem = { stencil, grid, boundary: "zero", steps: 10 };
      const { configuration } = chooseConfiguration([], problem, null, { cpuWorkers: 1 });
      using solver = await createSolver(null, problem, configuration);
      const cell = (at: number, cells: number): number => Math.min(cells - 1, Math.max(0, at));
      const p = (x: number, y: number, z: number) =>
        velocityAt(cell(x - 4, nx), cell(y - 4, ny), cell(z, nz));
      await solver.write("lambda", (...at) => lameOf(p(...at as [number, number, number]), 800, 2100).lambda);
      await solver.write("mu", 2100 * 800 ** 2);
      await solver.write("density", 2100);
      const placed = (x: number, y: number, z: number) => [x / 10 + 3.5, y / 10 + 3.5, z / 10 - 0.5] as const;
      // a moment rate's value is half a step after its number
      const wavelet = Array.from(
        { length: steps },
        (_, n) => ricker(8, (n + (sent.length > 1 ? 0.5 : 0)) * timeStep),
      );
      for (const name of sent) {
        await solver.addSources(name, [placed(85, 65, 5)], wavelet, { interpolation: "sinc" });
      }
      const places = [[45, 55, 5], [75, 55, 15], [105, 55, 25]] as const;
      for (const name of ["vx", "vy", "vz", "sxx", "syy", "szz"]) {
        await solver.addReceivers(name, places.map(([x, y, z]) => placed(x, y, z)), {
          interpolation: "sinc",
        });
      }
      await solver.run(steps);
      // a velocity's sample is half a step before its number; stresses are in MPa
      const all = await solver.traces(), stresses = all.slice(9, 18);
      const pressure = [0, 1, 2].map((i) =>
        stresses[i]!.map((sxx, n) => (sxx + stresses[3 + i]![n]! + stresses[6 + i]![n]!) * -1e6 / 3)
      );
      const expected = [...resample(pressure, 1, samples), ...resample(all.slice(0, 9), 1, samples, 0.5)];
      for (const [component, path] of tables.entries()) {
        const { shape, values } = readNpy(await Deno.readFile(path), path);
        assertEquals(shape, [3, samples]);
        const wanted = expected.slice(3 * component, 3 * component + 3).flatMap((one) => [...one]);
        // sums of three are rounded otherwise
        if (component > 0) assertEquals([...values], wanted);
        const most = Math.max(...wanted.map(Math.abs));
        values.forEach((value, i) => assertAlmostEquals(value, wanted[i]!, 1e-6 * most));
        assert(values.some((value) => Math.abs(value) > 1e-15));
      }
    }));
}

Deno.test("hydrophones in water near its surface record an explosion's pressure and its image's, in Pa", () =>
  inDirectory(async (directory) => {
    const n = 24, v = 1500, f = 8, source = [85, 122, 93] as const, receiver = [142.5, 119, 6] as const;
    const values = new Float32Array(n ** 3).fill(v);
    await Deno.writeFile(`${directory}/v.npy`, npyBytes({ shape: [n, n, n], values }));
    const water = [
      "--velocity",
      `${directory}/v.npy`,
      "--velocity-s",
      "0",
      "--density",
      "1000",
      "--surface",
      "free",
    ];
    const { code, stderr, stdout } = await runCommand("shot", [
      ...["--stencil", "elastic", ...water, "--edges", "18", "--explosion", "--hydrophones", ...CPU],
      ...["--source", `${source}`, "--receivers", `${receiver}`, "--time", "0.27", "--quiet", "--json"],
      ...["--out", `${directory}/s.png`, "--traces", `${directory}/t.npy`],
    ]);
    assertEquals([code, stderr], [0, ""]);
    const { interval } = JSON.parse(stdout), path = `${directory}/t-pressure.npy`;
    const { values: found } = readNpy(await Deno.readFile(path), path);
    // ∂²p/∂t² = v² ∇²p + δ ∂M/∂t, of a moment rate M
    const rate = (t: number) => (ricker(f, t + 1e-5) - ricker(f, t - 1e-5)) / 2e-5;
    const wave = (z: number, t: number) => {
      const r = Math.hypot(receiver[0] - source[0], receiver[1] - source[1], receiver[2] - z);
      return rate(t - r / v) / (4 * Math.PI * v ** 2 * r);
    };
    const wanted = Array.from(
      found,
      (_, i) => wave(source[2], i * interval) - wave(-source[2], i * interval),
    );
    const most = Math.max(...wanted.map(Math.abs));
    const far = Math.max(...wanted.map((p, i) => Math.abs(p - found[i]!)));
    assert(far < 0.03 * most, `${far / most}`);
  }));

/** A model of two dimensions. */
const depthModel = (x: number, z: number): number => Math.fround(1600 + 45 * z + 6 * x);

for (const kind of ["acoustic", "elastic"] as const) {
  Deno.test(`an ${kind} shot in two dimensions has places X,Z, and its traces are a plane's solver's, bit for bit`, () =>
    inDirectory(async (directory) => {
      const [wide, deep, edges] = [19, 16, 4], isFree = kind === "elastic", top = isFree ? 0 : edges;
      const rows = Array.from(
        { length: wide },
        (_, x) => Float32Array.from({ length: deep }, (_, z) => depthModel(x, z)),
      );
      // one stored depth first, and with places from an origin
      const stored = isFree ? transposed(rowsOf(rows)) : rowsOf(rows), west = isFree ? 500_000 : 0;
      const also = isFree ? ["--order-of-axes", "zx", "--origin", `${west}`] : [];
      await Deno.writeFile(`${directory}/v.npy`, npyBytes(stored));
      await Deno.writeTextFile(`${directory}/shots.csv`, `${west + 85},45\n${west + 105.5},33\n`);
      const { code, stdout, stderr } = await runCommand("shot", [
        ...["--stencil", kind, "--velocity", `${directory}/v.npy`, "--edges", `${edges}`, "--frequency", "8"],
        ...["--surface", isFree ? "free" : "absorbing", "--time", "0.08s", "--json", "--quiet", ...CPU],
        ...["--shots", `${directory}/shots.csv`, "--snapshots", "1", ...also],
        ...["--receivers", `line:${west + 25},5:${west + 125},35:3`],
        ...["--out", `${directory}/s.png`, "--traces", `${directory}/t.npy`],
      ]);
      assertEquals(code, 0, stderr);
      const { model, grid, samples, steps, timeStep, files } = JSON.parse(stdout);
      assertEquals([model, grid], [[wide, deep], [wide + 2 * edges, deep + top + edges]]);
      const fields = isFree ? ["vx", "vz"] : ["p"], ends = isFree ? ["-vx", "-vz"] : [""];
      const pictures = ["s-2.png", "s-2-wave-1.png"].map((name) => `${directory}/${name}`);
      const tables = ends.map((end) => `${directory}/t-2${end}.npy`);
      assertEquals(files[1], { waves: [pictures[1]], picture: pictures[0], traces: tables });
      for (const path of pictures) assertEquals(decode(await Deno.readFile(path)).channels, 3);

      const velocity = [depthModel(0, 0), depthModel(wide - 1, deep - 1)] as const;
      const medium = { velocity, spacing: 10, dimensions: 2 } as const;
      const longest = isFree ? elasticTimeStep(medium) : acousticTimeStep({ ...medium, order: 4 });
      assertAlmostEquals(timeStep, 0.9 * longest, 1e-12);
      const made = { ...medium, timeStep, edges, surface: isFree ? "free" : "absorbing" } as const;
      const stencil = isFree ? elastic(made) : acoustic({ ...made, order: 4 });
      const problem = { stencil, grid, boundary: "zero", steps: 10 } as const;
      const { configuration } = chooseConfiguration([], problem, null, { cpuWorkers: 1 });
      using solver = await createSolver(null, problem, configuration);
      const cell = (at: number, cells: number): number => Math.min(cells - 1, Math.max(0, at));
      const p = (x: number, z: number) => depthModel(cell(x - edges, wide), cell(z - top, deep));
      const density = (v: number) => 310 * v ** 0.25;
      const materials: Record<string, (v: number) => number> = isFree
        ? {
          lambda: (v) => lameOf(v, v / Math.sqrt(3), density(v)).lambda,
          mu: (v) => lameOf(v, v / Math.sqrt(3), density(v)).mu,
          density,
        }
        : { velocity: (v) => v };
      for (const [name, of] of Object.entries(materials)) await solver.write(name, (x, z) => of(p(x, z)));
      const placed = (x: number, z: number) => [x / 10 - 0.5 + edges, z / 10 - 0.5 + top] as const;
      const wavelet = Array.from({ length: steps }, (_, n) => ricker(8, n * timeStep));
      await solver.addSources(isFree ? "fz" : "s", [placed(105.5, 33)], wavelet, { interpolation: "sinc" });
      const places = [placed(25, 5), placed(75, 20), placed(125, 35)];
      for (const name of fields) await solver.addReceivers(name, places, { interpolation: "sinc" });
      await solver.run(steps);
      const expected = resample(await solver.traces(), 1, samples, isFree ? 0.5 : 0);
      for (const [i, path] of tables.entries()) {
        const { shape, values } = readNpy(await Deno.readFile(path), path);
        assertEquals(shape, [3, samples]);
        assertEquals([...values], expected.slice(3 * i, 3 * i + 3).flatMap((one) => [...one]));
        assert(values.some((value) => Math.abs(value) > 1e-12));
      }
    }));
}

Deno.test("the built-in model of two dimensions is shot along x and the depth, into SEG-Y at y = 0", () =>
  inDirectory(async (directory) => {
    const args = ["--grid", "24x18", "--edges", "3", "--time", "30ms", "--quiet", ...CPU];
    const files = ["--traces", `${directory}/t.sgy`, "--out", `${directory}/s.png`];
    const { code, stdout, stderr } = await runCommand("shot", [...args, ...files]);
    assertEquals([code, stderr], [0, ""]);
    assertMatch(
      stdout,
      /^Model 24x18, with edges of 3 cells 30x24, 40% of it edges; \d+ steps of 1\.72 ms$/m,
    );
    const view = new DataView((await Deno.readFile(`${directory}/t.sgy`)).buffer), first = 3600;
    const longs = [40, 48, 72, 76, 80, 84].map((at) => view.getInt32(first + at));
    assertEquals(longs, [-25_000, 25_000, 125_000, 0, 5000, 0]);
    const header = (await Deno.readFile(`${directory}/t.sgy`)).subarray(0, 3200);
    assertEquals([header[3 * 80 + 4], header[4 * 80 + 4]], [0xa5, 0xa2]); // velocity, steps
  }));

Deno.test("several shots have files with their numbers, and are resampled into SEG-Y", () =>
  inDirectory(async (directory) => {
    const utm = "x,y,depth\n500045,4000045,25\n500075,4000045,25\n";
    await Deno.writeTextFile(`${directory}/shots.csv`, utm);
    const run = async (more: readonly string[], x = 0, y = 0) => {
      const args = ["--grid", "12x10x9", "--edges", "3", "--time", "50ms", ...CPU, ...more];
      const line = `line:${x + 15},${y + 45},25:${x + 95},${y + 45},25:5`;
      const { code, stdout, stderr } = await runCommand("shot", [...args, "--receivers", line]);
      assertEquals(code, 0, stderr);
      return { stdout, stderr };
    };
    const out = ["--out", `${directory}/a.b/s.png`, "--traces", `${directory}/t.sgy`, "--sample", "2ms"];
    await Deno.mkdir(`${directory}/a.b`);
    const { stdout, stderr } = await run(
      ["--shots", `${directory}/shots.csv`, "--origin", "500000,4000000", ...out],
      500_000,
      4_000_000,
    );
    const files = ["a.b/s-1.png", "t-1.sgy", "a.b/s-2.png", "t-2.sgy"].map((name) => `${directory}/${name}`);
    assertMatch(
      stdout,
      /^Model 12x10x9, with edges of 3 cells 18x16x15, 75% of it edges; \d+ steps of 1\.41 ms$/m,
    );
    assertMatch(stdout, /^\S+ [MGk]cells\/s, of the model's own cells \S+ [Mk]cells\/s$/m);
    assertEquals(stdout.split("\n").at(-2), `Wrote ${files.join(", ")}`);
    assertMatch(stderr, /^shot 1 of 2: \d+\/\d+ · .+$/m);
    for (const [shot, path] of [[1, files[1]!], [2, files[3]!]] as const) {
      const bytes = await Deno.readFile(path), view = new DataView(bytes.buffer);
      assertEquals([view.getInt16(3216), view.getInt16(3220), view.getInt16(3224)], [2000, 26, 5]);
      assertEquals(bytes.length, 3600 + 5 * (240 + 4 * 26));
      const longs = [8, 72, 76, 80, 84].map((at) => view.getInt32(3600 + at)); // in centimetres
      const source = shot === 1 ? 50_004_500 : 50_007_500;
      assertEquals(longs, [shot, source, 400_004_500, 50_001_500, 400_004_500]);
      // the same alone, sample for sample, from traces of every step
      await run([
        "--source",
        `${shot === 1 ? 45 : 75},45,25`,
        "--traces",
        `${directory}/all.npy`,
        "--out",
        `${directory}/x.png`,
      ]);
      const all = readNpy(await Deno.readFile(`${directory}/all.npy`), "all.npy"),
        [receivers = 0, steps = 0] = all.shape;
      assertEquals(receivers, 5);
      const step = 0.9 * acousticTimeStep({ order: 4, velocity: [1800, 3200], spacing: 10 });
      const [wanted] = resample([all.values.subarray(2 * steps, 3 * steps)], 2e-3 / step, 23);
      for (let i = 0; i < 23; i++) {
        assertAlmostEquals(view.getFloat32(3600 + 2 * (240 + 104) + 240 + 4 * i), wanted![i]!, 1e-7);
      }
    }
  }));

Deno.test("SEG-Y without --sample has the time step in whole microseconds, rounded down", () =>
  inDirectory(async (directory) => {
    const small = ["--grid", "8", "--edges", "2", "--time", "20ms", "--json", "--quiet", ...CPU];
    const args = [...small, "--traces", `${directory}/t.sgy`, "--out", `${directory}/s.png`];
    const { interval, timeStep, samples } = JSON.parse((await runCommand("shot", args)).stdout);
    assertAlmostEquals(interval, Math.floor(timeStep * 1e6) * 1e-6, 1e-12);
    assert(interval < timeStep);
    assertEquals(samples, Math.floor(0.02 / interval) + 1);
  }));

Deno.test("what shot cannot do is refused in a line, before any work and before any file", () =>
  inDirectory(async (directory) => {
    await writeModel(`${directory}/v.npy`);
    await Deno.writeTextFile(`${directory}/bad.csv`, "45,55,65\n45,x\n");
    await Deno.writeTextFile(`${directory}/mixed.csv`, "45,55,65\n45,55\n");
    await Deno.writeTextFile(`${directory}/empty.csv`, "\n\n");
    await Deno.writeTextFile(`${directory}/r.csv`, "45,55,65\n");
    await Deno.writeTextFile(`${directory}/hex.csv`, "45,0x10,45\n");
    await Deno.writeFile(
      `${directory}/kms.npy`,
      npyBytes(rowsOf([Float32Array.of(1.5, 3), Float32Array.of(2, 2)])),
    );
    await Deno.link(`${directory}/v.npy`, `${directory}/hard-1.npy`);
    await Deno.symlink(directory, `${directory}/link`);
    const before = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
    const file = ["--velocity", `${directory}/v.npy`],
      small = ["--grid", "8"],
      slow = [...small, "--frequency", "1"],
      sgy = ["--traces", `${directory}/t.sgy`];
    await assertRefused("shot", [
      [
        ["--stencil", "elastic", "--density", "1e-40", ...small],
        /Cannot build the equation elastic: .* density/,
      ],
      [["--velocity", `${directory}/none.npy`], `Cannot read ${directory}/none.npy: there is no such file`],
      [["--velocity", directory], "it is a folder"],
      [["--velocity", `${directory}/bad.csv`], "a NumPy file (.npy) is wanted: found another kind"],
      [[...file, "--grid", "16x12x15"], "wanted 16x12x14, the shape of"],
      ...["pml", "pml0", "1001", "1.5"].map((edges) =>
        [[...small, "--edges", edges], "a whole number from 0 to 1000, or pml and one from 1 on"] as const
      ),
      [[...small, "--source", "1,2"], 'Cannot use --source: wanted X,Y,Z in metres: found "1,2"'],
      [
        [...small, "--source", "45,45,81"],
        "wanted places from 5,5,5 to 75,75,75 m, where the outermost cells are",
      ],
      [[...small, "--source", "45,2,45"], "wanted places from 5,5,5 to 75,75,75 m"],
      [
        [...small, "--receivers", "line:15,15,15:85,15,15:4"],
        "Cannot use --receivers: wanted places from 5,5,5",
      ],
      [[...small, "--receivers", "line:15,15,15:65,15,15:1"], "a number from 2 to 1000000"],
      [
        [...small, "--receivers", "line:15,15,15:65,15,15"],
        "Cannot use --receivers: wanted line:X,Y,Z:X,Y,Z:N",
      ],
      [
        [...small, "--receivers", `${directory}/bad.csv`],
        "X,Y,Z or X,Z in metres are wanted in line 2: found 45,x",
      ],
      [
        [...small, "--receivers", `${directory}/mixed.csv`],
        'Cannot use --receivers: wanted X,Y,Z in metres: found "45,55"',
      ],
      [
        ["--grid", "9x8", "--source", "45,5,45"],
        'Cannot use --source: wanted X,Z in metres: found "45,5,45"',
      ],
      [["--grid", "9x8", "--source", "45,81"], "wanted places from 5,5 to 85,75 m"],
      [
        ["--grid", "9x8", "--origin", "5e5", "--source", "45,45"],
        "places from 500005,5 to 500085,75 m, where the outermost cells are: found",
      ],
      [["--grid", "9x8", "--origin", "1,2"], 'Cannot use --origin: wanted X in metres: found "1,2"'],
      [[...small, "--origin", "1"], 'Cannot use --origin: wanted X,Y in metres: found "1"'],
      [[...small, "--origin", "1,2,3"], 'Cannot use --origin: wanted X,Y or X in metres: found "1,2,3"'],
      [[...small, "--order-of-axes", "zyx"], "Cannot use --order-of-axes without a file of a model"],
      [[...file, "--order-of-axes", "zx"], `the axes of ${directory}/v.npy, 3: found "zx"`],
      [[...file, "--order-of-axes", "zzx"], "Cannot use --order-of-axes: wanted one of xz, zx, xyz,"],
      [["--grid", "9x8", "--density", `${directory}/v.npy`], "wanted 9x8, the shape of --velocity"],
      [
        [...small, "--shots", `${directory}/empty.csv`],
        "a line X,Y,Z or X,Z in metres for each place is wanted: found none",
      ],
      [[...small, "--shots", `${directory}/r.csv`, "--source", "5,5,5"], "the file has the sources"],
      [[...small, "--order", "3"], "Cannot use --order: wanted one of 2, 4,"],
      [
        [...small, "--time-step", "soon"],
        "Cannot use --time-step: wanted a time such as 2, 2s or 2ms, or a part of the",
      ],
      [[...small, "--time-step", "1"], "the largest stable one: found"],
      [[...small, "--time-step", "0.001%"], "Cannot build the acoustic stencil: accuracy must be at least"],
      [[...small, "--order", "8", "--stencil", "elastic"], "with --stencil elastic: its order is 4"],
      [[...small, "--velocity-s", "900"], "Cannot use --velocity-s without --stencil elastic: sound has one"],
      [
        [...small, "--stencil", "elastic", "--velocity-s", "1700"],
        "Cannot use --velocity-s: wanted at most √¾ of --velocity, 1558.8",
      ],
      [[...small, "--stencil", "elastic", "--velocity-s", "-1"], "wanted velocities from 0 on, in m/s, as a"],
      [[...small, "--density", "0"], "Cannot use --density: wanted densities above 0, in kg/m³, as a number"],
      [
        [...small, "--density", `${directory}/v.npy`],
        'Cannot use --density: wanted 8x8x8, the shape of --velocity: found "16x12x14"',
      ],
      [
        [...file, "--density", `${directory}/v.npy`, "--traces", `${directory}/v.npy`],
        "wanted another file than --velocity",
      ],
      [[...small, "--time", "1Hz"], 'wanted a time such as 2, 2s or 2ms: found "1Hz"'],
      [[...small, "--frequency", "9m"], 'wanted a number above 0, in Hz: found "9m"'],
      [
        [...small, "--spacing", "10,10,5"],
        'Cannot use --spacing: wanted a number above 0, in m, one for all axes: found "10,10,5"',
      ],
      [
        [...small, "--hydrophones"],
        "Cannot use --hydrophones without --stencil elastic: receivers of sound do",
      ],
      [[...small, "--surface", "hard"], "wanted one of absorbing, free"],
      [[...small, "--out", "s.jpg"], "wanted a name that ends in .png"],
      [[...small, "--traces", "t.csv"], "wanted a name that ends in .npy or .sgy or .segy"],
      [[...small, "--sample", "20ms"], "wanted at most 11.1 ms for 15 Hz: found"],
      [
        [...small, ...sgy, "--sample", "0.0015ms"],
        "at most 11.1 ms for 15 Hz, and in SEG-Y whole microseconds and samples, from 1 to 32767",
      ],
      [[...small, ...sgy, "--time", "60s"], 'from 1 to 32767: found "1406 µs, 42,675 samples"'],
      [[...slow, ...sgy, "--sample", "40ms"], 'samples, from 1 to 32767: found "40000 µs, 26 samples"'],
      [
        [...small, ...sgy, "--spacing", "0.001", "--frequency", "9000"],
        'Cannot use --traces: wanted a --sample, or .npy: SEG-Y has whole microseconds: found "a time step of 141 ns"',
      ],
      [
        [...small, ...sgy, "--spacing", "150000000", "--frequency", "0.000001"],
        "places up to 1000000 km are",
      ],
      [
        ["--velocity", `${directory}/kms.npy`],
        'a period; --velocity of 1.5 to 3 m/s: are these km/s?: found "15"',
      ],
      [
        [...small, "--frequency", "1500"],
        "wanted at most 118 Hz, 6 time steps of 1.41 ms a period; --frequency of 1500 Hz means waves of 1.20 m in " +
        'cells of 10 m: are these Hz and m?: found "1500"',
      ],
      [[...small, "--receivers", `${directory}/hex.csv`], "in metres are wanted in line 1: found 45,0x10,45"],
      [
        [...file, "--traces", `${directory}/link/./v.npy`],
        `Cannot use --traces: wanted another file than --velocity: found "${directory}/link/./v.npy"`,
      ],
      [
        [...file, "--shots", `${directory}/r.csv`, "--traces", `${directory}/hard.npy`],
        `wanted another file than --velocity: found "${directory}/hard-1.npy"`,
      ],
      [
        ["--stencil", "elastic", "--velocity-s", `${directory}/t-vz.npy`, "--traces", `${directory}/t.npy`],
        `wanted another file than --velocity-s: found "${directory}/t-vz.npy"`,
      ],
      [[...small, "--out", `${directory}/none/s.png`], `there is no folder ${directory}/none`],
      [[...small, "--traces", `${directory}/none/t.npy`], `there is no folder ${directory}/none`],
      [[...small, "--profile", "none.json"], "Cannot read none.json: there is no such file"],
    ]);
    assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name).sort(), before);
  }));

Deno.test("what looks odd of a shot is said, and what does not is not", () =>
  inDirectory(async (directory) => {
    const columns = Array.from({ length: 27 }, () => new Float32Array(9).fill(2000));
    await Deno.writeFile(`${directory}/v.npy`, npyBytes(rowsOf(columns)));
    await Deno.writeFile(`${directory}/km.npy`, npyBytes(rowsOf(columns.map((one) => one.map(() => 2)))));
    const model = ["--velocity", `${directory}/v.npy`];
    for (
      const [args, said] of [
        [
          ["--grid", "8", "--edges", "0", "--frequency", "40"],
          /^facet: 1\.8 cells per shortest wavelength.*\n$/,
        ],
        [["--stencil", "elastic", "--grid", "9x8", "--edges", "0"], /^$/],
        // the outermost cell is centred at 26.5 · 0.3
        [
          [
            ...model,
            "--spacing",
            "0.3",
            "--frequency",
            "500",
            "--edges",
            "0",
            "--receivers",
            "line:0.15,1:7.95,1:2",
          ],
          /^$/,
        ],
        [
          [...model, "--edges", "0", "--density", "2.2"],
          /^facet: --density of 2\.2 kg\/m³: are these g\/cm³\?\n$/,
        ],
        [
          ["--velocity", `${directory}/km.npy`, "--spacing", "0.01", "--edges", "0"],
          /^facet: --velocity of 2 m\/s: are these km\/s\?\n$/,
        ],
        [
          [...model, "--frequency", "30"],
          /^facet: edges of 12 cells, as -40 dB need, make 1,683 cells of the model's 243: --edges pml12 needs few, best on a GPU, --edges 6 reflects more/,
        ],
        [[...model, "--edges", "pml2"], /^$/],
      ] as const
    ) {
      const files = ["--out", `${directory}/s.png`, "--time", "10ms", "--quiet", ...CPU];
      const { code, stdout, stderr } = await runCommand("shot", [...args, ...files]);
      assertEquals(code, 0, stderr);
      assertMatch(stderr, said);
      const given: readonly string[] = args;
      const around = given.includes("pml2")
        ? "with a PML of 2 cells 31x13, 40%"
        : "with edges of 12 cells 51x33, 86%";
      const edges = given.includes("0") ? "without edges" : `${around} of it edges`;
      assert(stdout.includes(`, ${edges}; `), stdout);
    }
  }));

Deno.test("a shot whose field is not finite writes nothing of it, and exits with 3", () =>
  inDirectory(async (directory) => {
    const light = ["--stencil", "elastic", "--grid", "16x12", "--edges", "4", "--density", "1.2e-38"];
    const files = ["--out", `${directory}/s.png`, "--traces", `${directory}/t.npy`, "--quiet", ...CPU];
    const { code, stdout, stderr } = await runCommand("shot", [...light, "--time", "50ms", ...files]);
    assertEquals([code, stdout, [...Deno.readDirSync(directory)]], [3, "", []]);
    assertMatch(stderr, /\nfacet: Cannot run: finite values wanted: found NaN in v[xz] at .*\n$/);
  }));

Deno.test("an interrupted command says which shots are whole, and --resume does all others of the same request", () =>
  inDirectory(async (directory) => {
    const [d, count] = [directory, 9];
    await Deno.writeTextFile(
      `${d}/shots.csv`,
      Array.from({ length: count }, (_, i) => `${55 + 2 * i},45\n`).join(""),
    );
    const args = ["--grid", "40x24", "--edges", "9", "--time", "200ms", "--quiet", ...CPU];
    const files = [
      "--shots",
      `${d}/shots.csv`,
      "--out",
      `${d}/s.png`,
      "--traces",
      `${d}/t.sgy`,
      "--snapshots",
      "1",
    ];
    const child = taskCommand("shot", [...args, ...files]).spawn();
    while (!await Deno.stat(`${d}/s-2.png`).then(() => true, () => false)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    child.kill("SIGINT");
    const { code, stderr } = await child.output(), said = new TextDecoder().decode(stderr);
    assertEquals(code, 130, said);
    const [, whole = 0] = said.match(/^facet: the files of (\d+) of 9 shots are whole: --resume/m)!.map(
      Number,
    );
    assert(whole >= 2 && whole < count, said);
    const written = async (name: string) => [...await Deno.readFile(`${d}/${name}`)];
    const before = await written("t-1.sgy"),
      resumed = async (more: readonly string[] = []) => {
        const { code, stdout, stderr } = await runCommand("shot", [...args, ...files, "--resume", ...more]);
        assertEquals([code, stderr], [0, ""]);
        assertEquals(stdout.includes("cells/s"), !stdout.includes("Wrote nothing"), "no rate of nothing");
        return stdout.split("\n").slice(-3, -1);
      };
    assertEquals((await resumed())[0], `Left out ${whole} shots, whose files are whole`);
    // a byte less, a byte else, a file less
    await Deno.truncate(`${d}/t-1.sgy`, before.length - 1);
    await Deno.writeFile(`${d}/s-2-wave-1.png`, Uint8Array.of(0), { append: true });
    await Deno.remove(`${d}/s-3.png`);
    const again = [1, 2, 3].map((n) =>
      `s-${n}-wave-1.png t-${n}.sgy s-${n}.png`.split(" ").map((one) => `${d}/${one}`)
    );
    const [left, wrote] = await resumed();
    assertEquals(left, "Left out 6 shots, whose files are whole");
    for (const path of again.flat()) assert(wrote!.includes(path), wrote);
    assertEquals(await written("t-1.sgy"), before);
    assertEquals(await resumed(), ["Left out 9 shots, whose files are whole", "Wrote nothing"]);
    // of another request none is
    await Deno.writeTextFile(`${d}/shots.csv`, "55,45\n");
    assertEquals((await resumed())[1], "Wrote nothing");
    assertMatch((await resumed(["--frequency", "14"]))[1]!, /^Wrote .*s-1\.png/);
  }));

Deno.test("one file of all shots has what files of each have, and --resume goes on with it", () =>
  inDirectory(async (d) => {
    await Deno.writeTextFile(`${d}/shots.csv`, "15,25\n45,25\n75,25\n");
    const small = ["--grid", "9x8", "--edges", "0", "--time", "20ms", "--quiet", ...CPU];
    const run = async (...files: readonly string[]) => {
      const all = [...small, "--shots", `${d}/shots.csv`, "--out", `${d}/s.png`, "--traces", ...files];
      const { code, stdout, stderr } = await runCommand("shot", all);
      assertEquals([code, stderr], [0, ""]);
      return stdout.split("\n").slice(-3, -1);
    };
    const read = (name: string) => Deno.readFile(`${d}/${name}`);
    for (const end of ["npy", "sgy"]) await run(`${d}/one.${end}`);
    await run(`${d}/all.npy`, "--one-file");
    const { shape, values } = readNpy(await read("all.npy"), "all.npy");
    const own = await Promise.all([1, 2, 3].map(async (n) => readNpy(await read(`one-${n}.npy`), "").values));
    assertEquals([shape, [...values]], [[3, 9, values.length / 27], own.flatMap((one) => [...one])]);
    await run(`${d}/all.sgy`, "--one-file");
    const all = await read("all.sgy"), view = new DataView(all.buffer), bytes = (all.length - 3600) / 27;
    for (const [shot, file] of (await Promise.all([1, 2, 3].map((n) => read(`one-${n}.sgy`)))).entries()) {
      assertEquals(all.slice(3200, 3600), file.slice(3200, 3600));
      for (let i = 0; i < 9; i++) {
        const at = 3600 + (9 * shot + i) * bytes, from = 3600 + i * bytes;
        // traces are numbered through the file, in two places
        assertEquals([view.getInt32(at), view.getInt32(at + 4)], [9 * shot + i + 1, 9 * shot + i + 1]);
        assertEquals(all.slice(at + 8, at + bytes), file.slice(from + 8, from + bytes));
      }
    }
    assertEquals([...Deno.readDirSync(d)].filter(({ name }) => name.endsWith(".unfinished")), []);
    const resumed = () => run(`${d}/all.sgy`, "--one-file", "--resume");
    assertEquals(await resumed(), ["Left out 3 shots, whose files are whole", "Wrote nothing"]);
    // as after an interruption: unfinished, and a byte of the third shot else
    await Deno.writeFile(`${d}/all.sgy.unfinished`, all.with(all.length - 1, all.at(-1)! ^ 1));
    await Deno.remove(`${d}/all.sgy`);
    await Deno.remove(`${d}/s-2.png`);
    const wrote = ["s-2.png", "all.sgy", "s-3.png"].map((name) => `${d}/${name}`).join(", ");
    assertEquals(await resumed(), ["Left out 1 shot, whose files are whole", `Wrote ${wrote}`]);
    assertEquals(await read("all.sgy"), all);
  }));

testUnderMpi(
  "each of two ranks takes every other shot, and one says what came of it",
  (launcher) =>
    inDirectory(async (directory) => {
      await Deno.writeTextFile(`${directory}/shots.csv`, "15,45,25\n45,45,25\n75,45,25\n");
      const small = ["--grid", "9", "--edges", "0", "--time", "20ms", "--json", "--quiet", ...CPU];
      const shots = [
        "--rank-timeout",
        "3600",
        "--shots",
        `${directory}/shots.csv`,
        "--out",
        `${directory}/s.png`,
        "--traces",
        `${directory}/t.npy`,
        "--one-file",
      ];
      const flags = [...solveFlags().slice(0, -1), "shot", ...small, ...shots];
      const { code, stdout, stderr } = await mpirun(launcher, 2, flags);
      assertEquals([code, stderr], [0, ""]);
      const { files, ranks } = JSON.parse(stdout);
      assertEquals(ranks, [[1, 3], [2]].map((shots) => ({ device: "1 CPU worker", shots })));
      const pictures = [1, 2, 3].map((n) => `${directory}/s-${n}.png`);
      assertEquals(files.map(({ picture }: { picture: string }) => picture), pictures);
      for (const path of pictures) assertEquals(decode(await Deno.readFile(path)).channels, 3);
      const { shape, values } = await readArray(`${directory}/t.npy`), length = values.length / 3;
      assertEquals(shape.slice(0, 2), [3, 9]);
      const [one, two, three] = [0, 1, 2].map((i) => values.slice(i * length, (i + 1) * length));
      assert(
        `${one}` !== `${three}` && [one, two, three].every((shot) => shot!.some((value) => value !== 0)),
      );
    }),
);
