import { type PrecisionName, PRECISIONS } from "../../kernels/precision.ts";
import { assert, assertAlmostEquals, assertEquals, assertRejects } from "@std/assert";
import {
  maxwell,
  MAXWELL_FIELDS,
  maxwellLimit,
  type MaxwellOptions,
  SPEED_OF_LIGHT,
  VACUUM_IMPEDANCE,
} from "../../kernels/stencils/maxwell.ts";
import type { Boundaries, Grid } from "../../kernels/stencils/stencil.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import { pointsOfBox } from "../../tuner/devices/survey.ts";
import { addFlux } from "../../tuner/solver/flux.ts";
import { openDevice } from "../../tuner/devices/open_device.ts";
import type { Configuration } from "../../tuner/configuration.ts";
import type { Solver } from "../../tuner/solver/solver.ts";
import { THOROUGH } from "../thorough.ts";
import "../own_thread.ts";
import { SMALL_TORRE } from "../kernels/small_torre.ts";

type Vector = readonly [x: number, y: number, z: number];
type Axis = 0 | 1 | 2;

type Way = readonly [
  device: GPUDevice | null,
  traversal: string,
  parameters: Configuration["parameters"],
];

/** A solver, on the CPU unless there is a device, whose fields are 0. */
async function open(
  options: MaxwellOptions,
  grid: Grid,
  boundary: Boundaries,
  [device, traversal, parameters]: Way = [null, "stepwise", {}],
  precision: PrecisionName = "f32",
): Promise<Solver> {
  const problem = { stencil: maxwell(options), grid, boundary, steps: 100, precision };
  const share = device === null
    ? { cpuSlices: grid[0], gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 }
    : { cpuSlices: 0, gpuSlices: grid[0], exchangeEvery: 1, cpuWorkers: 0 };
  const solver = await createSolver(device, problem, { traversal, parameters, share });
  await solver.reset();
  return solver;
}

/** A cavity's grid of (n − 1)³ whole cells, and by mode of it the half waves along each axis. */
const CAVITY: Grid = [10, 8, 12];
const MODES: readonly Vector[] = [[1, 1, 0], [1, 0, 1], [0, 1, 2], [1, 1, 1], [2, 1, 3], [3, 5, 4]];

const followModes = async (precision: PrecisionName, most: number): Promise<void> => {
  const courant = 0.5, steps = 200;
  using solver = await open({ courant, permittivity: 1 }, CAVITY, "zero", undefined, precision);
  for (const mode of MODES) {
    const k = mode.map((m, axis) => Math.PI * m / CAVITY[axis]!), along = k.map((one) => Math.sin(one / 2));
    const frequency = 2 * Math.asin(courant * Math.hypot(...along));
    // without divergence: at right angles to sin(k_i/2)
    const [a, b, c] = along as [number, number, number],
      other: Vector = mode[2] === 0 ? [0, 0, 1] : [0.3, 1, -0.7];
    const part = (other[0] * a + other[1] * b + other[2] * c) / (a * a + b * b + c * c);
    const strength = other.map((one, axis) => one - part * along[axis]!);
    const electric = (axis: Axis) => (...cell: number[]): number =>
      cell.reduce(
        (product, i, of) => product * (of === axis ? Math.cos(k[of]! * (i + 0.5)) : Math.sin(k[of]! * i)),
        strength[axis]!,
      );
    // from −H to H in the first step
    const magnetic = (axis: Axis) => (...cell: number[]): number => {
      const [next, last] = [(axis + 1) % 3, (axis + 2) % 3] as [Axis, Axis];
      const difference = (of: Axis, by: Axis) =>
        electric(of)(...cell.with(by, cell[by]! + 1)) - electric(of)(...cell);
      return courant / 2 * (difference(last, next) - difference(next, last));
    };
    await solver.reset();
    for (const axis of [0, 1, 2] as const) {
      await solver.write(MAXWELL_FIELDS[axis]!, electric(axis));
      await solver.write(MAXWELL_FIELDS[3 + axis]!, magnetic(axis));
    }
    const start = await Promise.all(["ex", "ey", "ez"].map((name) => solver.read(name)));
    await solver.run(steps);
    const scale = Math.max(...start.flatMap((field) => Array.from(field, Math.abs)));
    for (const axis of [0, 1, 2] as const) {
      const found = await solver.read(MAXWELL_FIELDS[axis]!);
      const off = found.map((value, i) => value - Math.cos(frequency * steps) * start[axis]![i]!);
      const error = Math.max(...off.map(Math.abs)) / scale;
      assert(error < most, `mode ${mode}, axis ${axis}: ${error}`);
    }
  }
};

/** Numbers from 0 to 1, always the same. */
function randomly(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

const keepEnergy = async (precision: PrecisionName, most: number): Promise<void> => {
  const grid: Grid = [6, 7, 5], [nx, ny, nz] = grid, next = randomly(3);
  using solver = await open(
    { permittivity: [1, 9], permeability: [1, 3] },
    grid,
    "zero",
    undefined,
    precision,
  );
  const random = (least: number, most: number) =>
    PRECISIONS[precision].Values.from({ length: nx * ny * nz }, () => least + (most - least) * next());
  const materials = { permittivity: random(1, 9), permeability: random(1, 3) };
  for (const [name, values] of Object.entries(materials)) await solver.write(name, values);
  for (const name of MAXWELL_FIELDS) await solver.write(name, random(-1, 1));
  await solver.run(1); // which holds what lies on the walls
  const read = () => Promise.all(MAXWELL_FIELDS.map((name) => solver.read(name)));
  const at = (cell: readonly number[]): number => (cell[0]! * ny + cell[1]!) * nz + cell[2]!;
  const cells = Array.from(
    { length: nx * ny * nz },
    (_, i) => [Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz],
  );
  /** A material's mean over cells, those that there are. */
  const mean = (
    values: ArrayLike<number>,
    cell: readonly number[],
    axes: readonly number[],
    of = (one: number) => one,
  ) => {
    const around = axes.reduce(
      (all, axis) => [...all, ...all.map((one) => one.with(axis, one[axis]! - 1))],
      [[...cell]],
    );
    const inside = around.filter((one) => Math.min(...one) >= 0);
    return inside.reduce((sum, one) => sum + of(values[at(one)]!), 0) / inside.length;
  };
  const weights = [0, 1, 2].flatMap((
    axis,
  ) => [
    Float64Array.from(cells, (cell) =>
      mean(
        materials.permittivity,
        cell,
        [0, 1, 2].filter((one) => one !== axis),
      )),
  ]).concat(
    [0, 1, 2].map((axis) =>
      Float64Array.from(cells, (cell) => 1 / mean(materials.permeability, cell, [axis], (mu) => 1 / mu))
    ),
  );
  const energy = async (): Promise<number> => {
    const before = await read();
    await solver.run(1);
    const after = await read();
    return weights.reduce(
      (sum, weight, field) =>
        weight.reduce(
          (sum, one, i) => sum + one * before[field]![i]! * (field < 3 ? before : after)[field]![i]!,
          sum,
        ),
      0,
    );
  };
  const first = await energy();
  await solver.run(50_000);
  assertAlmostEquals(await energy() / first, 1, most);
};

for (const [precision, error, drift] of [["f32", 1e-5, 1e-5], ["f64", 1e-12, 1e-12]] as const) {
  const modes = "six modes of a closed cavity follow E(n) = E(0) cos ωnΔt, sin²(ωΔt/2) = S² Σ sin²(k_i h/2)";
  Deno.test(`${modes}, ${precision}`, () => followModes(precision, error));
  const energy = `the energy of a cavity with random ε and μ drifts by less than ${drift} in 50,000 steps`;
  Deno.test(`${energy}, ${precision}`, () => keepEnergy(precision, drift));
}

/** A Ricker wavelet of which `cells` cells are a wavelength in vacuum, by step; its integral is 0. */
function ricker(cells: number, courant: number, steps: number): number[] {
  return Array.from({ length: steps }, (_, n) => {
    const a = (Math.PI * (n * courant / cells - 1)) ** 2;
    return (1 - 2 * a) * Math.exp(-a);
  });
}

const largest = (trace: ArrayLike<number>): number =>
  Array.from(trace).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

for (
  const [absorber, width, most, index] of [
    ["matched", 12, -28, 1],
    ["matched", 30, -40, 1],
    ["pml", 12, -80, 1],
    ["pml", 12, -80, 3],
  ] as const
) {
  Deno.test(`${absorber} edges of ${width} cells reflect less than ${most} dB of 13 cells per wavelength, index ${index}`, async () => {
    const inner = 20, steps = 240 * index, courant = 0.5, signature = ricker(13 * index, courant, steps);
    const shoot = async (edges: number, half: number) => {
      // nothing changes along z
      const medium = { permittivity: [1, 9], courant, edges: [edges, edges, 0], absorber } as const;
      using solver = await open(medium, [2 * half, 2 * half, 1], ["zero", "zero", "periodic"]);
      await solver.write("permittivity", index ** 2);
      await solver.addSources("jz", [[half, half, 0]], signature);
      const places = [[18, 0], [18, 18], [0, 10], [14, 7]] as const;
      await solver.addReceivers("ez", places.map(([x, y]) => [half + x, half + y, 0]));
      await solver.run(steps);
      return await solver.traces();
    };
    const expected = await shoot(0, 80), found = await shoot(width, inner + width);
    found.forEach((trace, i) => {
      const difference = largest(trace.map((value, j) => value - expected[i]![j]!));
      const decibels = 20 * Math.log10(difference / largest(expected[i]!));
      assert(decibels < most, `${decibels} dB at receiver ${i}`);
    });
  });
}

Deno.test("a pml of 12 cells on all sides reflects less than -80 dB in layers that go on in it", async () => {
  const inner = 10, steps = 130, courant = 0.5, signature = ricker(13, courant, steps);
  const places = [[8, 3, 5], [-8, 7, -9], [-3, -9, 2], [2, 5, 9]] as const;
  const shoot = async (edges: number, half: number) => {
    const medium = { permittivity: [1, 4], conductivity: [0, 0.2], courant, edges, absorber: "pml" } as const;
    using solver = await open(medium, [2 * half, 2 * half, 2 * half], "zero");
    // a dielectric below, and a conductor behind
    await solver.write("permittivity", (_x, _y, z) => z < half - 4 ? 4 : 1);
    await solver.write("conductivity", (x) => x > half + 6 ? 0.2 : 0);
    await solver.addSources("jz", [[half, half, half]], signature);
    const positions = places.map(([x, y, z]): Vector => [half + x, half + y, half + z]);
    for (const name of ["ez", "hx"]) await solver.addReceivers(name, positions);
    await solver.run(steps);
    return await solver.traces();
  };
  const expected = await shoot(0, 42), found = await shoot(12, inner + 12);
  found.forEach((trace, i) => {
    const difference = largest(trace.map((value, j) => value - expected[i]![j]!));
    const decibels = 20 * Math.log10(difference / largest(expected[i]!));
    assert(decibels < -80, `${decibels} dB at receiver ${i}`);
  });
});

for (const absorber of ["matched", "pml"] as const) {
  Deno.test(`nothing grows within ${absorber} edges in 20,000 steps close to the largest one`, async () => {
    const grid: Grid = [13, 12, 11], next = randomly(8), permittivity = [1, 8] as const;
    const medium = { permittivity, courant: 0.995 * maxwellLimit({ permittivity }), edges: 4, absorber };
    using solver = await open(medium, grid, "zero");
    await solver.write("permittivity", Float32Array.from({ length: 13 * 12 * 11 }, () => 1 + 7 * next()));
    for (const name of MAXWELL_FIELDS) await solver.write(name, () => 2 * next() - 1);
    const most = async () =>
      Math.max(...(await Promise.all(MAXWELL_FIELDS.map((name) => solver.read(name)))).map(largest));
    await solver.run(100);
    const early = await most();
    await solver.run(20_000);
    assert(await most() <= early, `${await most()} after ${early}`);
  });
}

/** With eleven cells along z. */
const TORRE = { ...SMALL_TORRE, nt: 4, bands: 2, chunk: 4, unroll: 1, packed: 0, held: 1 } as const;

testOnGpu(
  "layers of a pml on a GPU give what whole fields on the CPU give: traces, samples, fields written and read",
  async (gpu) => {
    const grid: Grid = [13, 12, 7],
      next = randomly(5),
      random = Float32Array.from({ length: 13 * 12 * 7 }, () => 1 + 3 * next());
    const medium = {
      permittivity: [1, 4],
      conductivity: [0, 1],
      courant: 0.5,
      edges: [3, 4, 2],
      absorber: "pml",
    } as const;
    const shoot = async (...way: [Way?]) => {
      using solver = await open(medium, grid, "zero", ...way);
      await solver.write("permittivity", random);
      await solver.write("conductivity", (x, y) => x === y ? 1 : 0);
      await solver.addSources("jz", [[6, 6, 3]], ricker(13, 0.5, 60));
      await solver.addReceivers("ez", [[1, 2, 3], [6, 7, 3], [12, 11, 6]]);
      await solver.run(33);
      await assertRejects(
        () => solver.read("exy"),
        RangeError,
        "Cannot find the cells: the name must be one of ex, ey",
      );
      // writing one field leaves the others, and the memory
      await solver.write("ez", await solver.read("ez"));
      await solver.run(20);
      const read = await Promise.all(
        ["ex", "hz", "permittivity", "conductivity"].map((name) => solver.read(name)),
      );
      return [...await solver.traces(), ...read];
    };
    const expected = await shoot();
    const ways: readonly Way[] = [
      [gpu.device, "stepwise", { threadsZ: 8, threadsY: 2, threadsX: 1 }],
      [gpu.device, "marching", { zPerThread: 2, threadsZ: 6, threadsY: 5, pieces: 2, tile: 0, ahead: 1 }],
      [gpu.device, "diamond-torre", { ...TORRE, threads: 7 }],
    ];
    for (const way of ways) {
      const found = await shoot(way);
      found.forEach((values, i) => {
        const off = largest(values.map((value, j) => value - expected[i]![j]!)), most = largest(expected[i]!);
        assert(most > 0 && off < 1e-5 * most, `${way[1]}, ${i}: ${off} of ${most}`);
      });
    }
  },
);

Deno.test("a dipole without net current is within 3% of theory at 12 to 24 cells", async () => {
  const grid: Grid = [92, 92, 46], spacing = 2e-3, courant = 0.5, steps = 150, cells = 30, middle = 46;
  const timeStep = courant * spacing / SPEED_OF_LIGHT;
  // above a conductor, whose image makes it two cells long
  using solver = await open({ permittivity: 1, spacing, courant }, grid, "zero");
  await solver.addSources("jz", [[middle, middle, 0]], ricker(cells, courant, steps));
  const places = [[12, 0, 0], [0, 18, 0], [24, 0, 0], [0, 0, 12], [0, 0, 24], [9, 9, 9], [
    12,
    6,
    18,
  ]] as const;
  await solver.addReceivers("ez", places.map(([x, y, z]) => [middle + x, middle + y, z]));
  await solver.run(steps);
  const moment = 2 * spacing ** 3, epsilon = 1 / (VACUUM_IMPEDANCE * SPEED_OF_LIGHT);
  // of a Ricker wavelet: its integral, itself, its slope
  const course = (t: number): Vector => {
    const rate = Math.PI * SPEED_OF_LIGHT / (cells * spacing), u = rate * t - Math.PI, e = Math.exp(-u * u);
    return [u * e / rate, (1 - 2 * u * u) * e, (4 * u ** 3 - 6 * u) * e * rate];
  };
  (await solver.traces()).forEach((trace, i) => {
    const [x, y, z] = places[i]!.map((one, axis) => spacing * (one + (axis === 2 ? 0.5 : 0))) as [
      number,
      number,
      number,
    ];
    const r = Math.hypot(x, y, z), cosine = z / r;
    const expected = Array.from(trace, (_, n) => {
      // currents are half a step later
      const [p, slope, bend] = course((n - 0.5) * timeStep - r / SPEED_OF_LIGHT);
      const near = p / r ** 3 + slope / (SPEED_OF_LIGHT * r * r), far = bend / (SPEED_OF_LIGHT ** 2 * r);
      return moment / (4 * Math.PI * epsilon) * ((3 * cosine ** 2 - 1) * near + (cosine ** 2 - 1) * far);
    });
    const error = distance(trace, expected);
    assert(error < 0.03, `${places[i]}: ${error}`);
  });
});

for (const [current, field] of [["jy", "ey"], ["jz", "hy"]] as const) {
  const title = `one run with a sheet ${current} = cos(2πz/L) s(t) gives Fresnel's reflection at six angles`;
  // the other polarisation has an electric field across the face, too
  Deno.test(title, { ignore: !THOROUGH && current === "jy" }, async () => {
    const period = 48, courant = 0.5, face = 250, near = 200, index = 1.5;
    const sines = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75],
      frequencies = sines.map((sine) => courant / (period * sine));
    const [low, high] = [frequencies.at(-1)!, frequencies[0]!], rate = Math.PI / 2 * (high - low);
    const signature = Array.from({ length: 900 }, (_, n) => {
      return Math.exp(-((rate * (n - 450)) ** 2)) * Math.sin(Math.PI * (low + high) * (n - 450));
    });
    const line = (x: number) => Array.from({ length: period }, (_, z): Vector => [x, 0, z]);
    // jz lies half a cell further; what is recorded is the part that goes as the cosine
    const weight = (_x: number, _y: number, z: number) =>
      Math.cos(2 * Math.PI * (z + (current === "jz" ? 0.5 : 0)) / period);
    /** By frequency, in front of the face and as far behind it. */
    const shoot = async (permittivity: number) => {
      const medium = { permittivity: [1, 2.25], courant, edges: [100, 0, 0] } as const;
      using solver = await open(medium, [500, 1, period], ["zero", "periodic", "periodic"]);
      await solver.write("permittivity", (x) => x < face ? 1 : permittivity);
      await solver.addSources(current, line(150), signature, { weight });
      for (const x of [near, 2 * face - near - (field === "hy" ? 1 : 0)]) {
        await solver.addReceivers(field, line(x), { frequencies, weight });
      }
      await solver.run(2000);
      const sums = await solver.spectra();
      return [0, period].map((first) =>
        Array.from(
          { length: 2 * sines.length },
          (_, i) => sums.slice(first, first + period).reduce((sum, one) => sum + one[i]!, 0),
        )
      ) as [number[], number[]];
    };
    const [before, mirrored] = await shoot(1), [after] = await shoot(index ** 2);
    sines.forEach((sine, i) => {
      const sizeOf = (of: (part: number) => number) => Math.hypot(of(2 * i), of(2 * i + 1));
      const found = sizeOf((part) => after[part]! - before[part]!) / sizeOf((part) => mirrored[part]!);
      const cosine = Math.sqrt(1 - sine ** 2), inside = Math.sqrt(index ** 2 - sine ** 2);
      const [one, other] = current === "jy" ? [cosine, inside] : [index ** 2 * cosine, inside];
      const expected = Math.abs((one - other) / (one + other));
      assertAlmostEquals(found, expected, 0.008, `sine ${sine}`);
    });
  });
}

async function assertLoops(...way: [Way?]): Promise<void> {
  const grid: Grid = [11, 9, 10], [nx, ny, nz] = grid, isTorre = way[0]?.[1] === "diamond-torre";
  const boundary = ["zero", isTorre ? "zero" : "periodic", "zero"] as const;
  const spacing = 1e-3, courant = 0.5, width = 3, steps = 60, next = randomly(21);
  const medium = { permittivity: [1, 9], permeability: [1, 3], conductivity: [0, 2] } as const;
  using solver = await open(
    { ...medium, spacing, courant, edges: [width, 0, width] },
    grid,
    boundary,
    ...way,
  );
  const at = (x: number, y: number, z: number): number => (x * ny + (y + ny) % ny) * nz + z;
  const values: Record<string, Float32Array> = {};
  for (const [name, [least, most]] of Object.entries(medium)) {
    values[name] = Float32Array.from({ length: nx * ny * nz }, () => least + (most - least) * next());
    await solver.write(name, values[name]);
  }
  const sources = [[0, [4, 0, 5]], [1, [7, 3.25, 2]], [2, [1, 8, 0]]] as const;
  const signature = Array.from({ length: 40 }, () => next() - 0.5);
  for (const [axis, place] of sources) {
    await solver.addSources(`j${"xyz"[axis]}`, [place], signature, { weight: (x) => x });
  }
  const places = [[5, 1, 5], [8, 4, 4], [2, 7, 1]] as const;
  for (const name of MAXWELL_FIELDS) await solver.addReceivers(name, places);
  await solver.run(steps);
  const found = await solver.traces();

  const fields = MAXWELL_FIELDS.map(() => new Float64Array(nx * ny * nz));
  const inside = (x: number, y: number, z: number): boolean =>
    x >= 0 && z >= 0 && x < nx && z < nz && (!isTorre || (y >= 0 && y < ny));
  const read = (of: Float32Array | Float64Array, [x, y, z]: Vector): number =>
    inside(x, y, z) ? of[at(x, y, z)]! : 0;
  const moved = (cell: Vector, axis: number, by: number): Vector =>
    cell.with(axis, cell[axis]! + by) as unknown as Vector;
  /** Of the damping along an axis, e^(−dΔt/2) at a place on it. */
  const lossAt = (place: number, axis: number): number => {
    if (axis === 1) return 1;
    const depth = Math.max(0, width - place, place - (grid[axis]! - width)) / width;
    return Math.exp(-0.75 * Math.log(1 / 0.003) * courant / width * depth ** 2);
  };
  const around = (name: string, cell: Vector, axes: number[]): number[] =>
    axes.reduce((all, axis) => [...all, ...all.map((one) => moved(one, axis, -1))], [cell]).map((one) =>
      read(values[name]!, one)
    );
  const sum = (all: number[]) => all.reduce((a, b) => a + b);
  const curl = (first: number, cell: Vector, axis: number, from: number): number => {
    const [b, c] = [(axis + 1) % 3, (axis + 2) % 3];
    const difference = (of: number, by: number) =>
      read(fields[first + of]!, moved(cell, by, from + 1)) - read(fields[first + of]!, moved(cell, by, from));
    return difference(c, b) - difference(b, c);
  };
  const expected: number[][] = found.map(() => [0]);
  for (let n = 0; n < steps; n++) {
    for (const electric of [false, true]) {
      const made = [0, 1, 2].map((axis) => {
        const others = [0, 1, 2].filter((one) => one !== axis);
        return Float64Array.from({ length: nx * ny * nz }, (_, i) => {
          const cell: Vector = [Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz];
          const own = fields[electric ? axis : 3 + axis]![i]!;
          const loss = [0, 1, 2].reduce(
            (product, one) => product * lossAt(cell[one]! + ((one === axis) === electric ? 0.5 : 0), one),
            1,
          );
          if (!electric) {
            const pair = around("permeability", cell, [axis]).filter((mu) => mu > 0);
            const inverse = sum(pair.map((mu) => 1 / mu)) / pair.length;
            return loss * (loss * own - courant * inverse * curl(0, cell, axis, 0));
          }
          if (others.some((one) => (one !== 1 || isTorre) && cell[one] === 0)) return 0; // on a wall
          const epsilon = sum(around("permittivity", cell, others)) / 4;
          const a = sum(around("conductivity", cell, others)) / 4 * VACUUM_IMPEDANCE * spacing * courant / 2;
          const current = sources.reduce((sum, [of, place]) => {
            const weight = place.reduce<number>(
              (product, one, k) => product * Math.max(0, 1 - Math.abs(one - cell[k]!)),
              1,
            );
            return sum + (of === axis ? place[0] * weight * (signature[n] ?? 0) : 0);
          }, 0);
          const push = courant * (curl(3, cell, axis, -1) - VACUUM_IMPEDANCE * spacing * current);
          return loss * (loss * (epsilon - a) * own + push) / (epsilon + a);
        });
      });
      made.forEach((values, axis) => fields[electric ? axis : 3 + axis] = values);
    }
    fields.forEach((field, i) =>
      places.forEach(([x, y, z], k) => expected[3 * i + k]!.push(field[at(x, y, z)]!))
    );
  }
  const most = Math.max(...expected.map(largest));
  const off = expected.map((trace, i) => largest(trace.map((value, j) => value - found[i]![j]!)) / most);
  assert(most > 0.005 && off.every((one) => one < 3e-6), `${most}: ${off}`);
}

Deno.test("sources in a random medium with edges agree with another program in f64", () => assertLoops());

const march = { zPerThread: 2, threadsZ: 8, threadsY: 4, pieces: 2, tile: 0, ahead: 0 };
const torre = { ...SMALL_TORRE, threads: 10, chunk: 8, unroll: 1, packed: 0, held: 0 };
for (
  const [traversal, parameters] of [
    ["stepwise", { threadsZ: 8, threadsY: 4, threadsX: 1 }],
    ["marching", march],
    ["diamond-torre", torre],
  ] as const
) {
  testOnGpu(
    `sources in a random medium with edges agree with another program in f64, ${traversal}`,
    async () => {
      const device = await openDevice();
      await assertLoops([device, traversal, parameters]);
      device?.destroy();
    },
    // the others are compared with what it does
    { ignore: !THOROUGH && traversal === "stepwise" },
  );
}

Deno.test("boxes around a dipole pass its power on, and an empty box none", async () => {
  const grid: Grid = [56, 54, 52], spacing = 1e-3, courant = 0.5, steps = 200, middle: Vector = [28, 27, 26];
  const timeStep = courant * spacing / SPEED_OF_LIGHT, signature = ricker(16, courant, steps);
  using solver = await open({ permittivity: 1, spacing, courant, edges: 16 }, grid, "zero");
  await solver.addSources("jz", [middle], signature);
  await solver.addReceivers("ez", [middle], { frequencies: [0.01] });
  const frequencies = [0.8, 1, 1.3].map((part) => part * SPEED_OF_LIGHT / (16 * spacing));
  const options = { frequencies, spacing, timeStep };
  const box = (half: number) => ({
    low: middle.map((one) => one - half) as unknown as Vector,
    size: [2 * half, 2 * half, 2 * half] as const,
  });
  const inner = await addFlux(solver, box(3), options), outer = await addFlux(solver, box(7), options);
  const empty = await addFlux(solver, { low: [30, 29, 28], size: [5, 6, 4] }, options);
  const twice = await addFlux(solver, box(3), { ...options, frequencies: frequencies.slice(1) });
  await solver.run(steps);
  const [near, far, none, again] = [await inner(), await outer(), await empty(), await twice()];
  assertEquals(again, near.slice(1));
  frequencies.forEach((f, i) => {
    const part = (of: (angle: number) => number) =>
      timeStep * signature.reduce((sum, one, n) => sum + one * of(2 * Math.PI * f * n * timeStep), 0);
    const moment = Math.hypot(part(Math.cos), part(Math.sin)) * spacing ** 3;
    // one side of the spectrum has twice the mean power of an amplitude 1/√2
    const expected = 2 * VACUUM_IMPEDANCE * (2 * Math.PI * f / SPEED_OF_LIGHT * moment) ** 2 / (6 * Math.PI);
    assertAlmostEquals(near[i]! / expected, 1, 0.03);
    assertAlmostEquals(far[i]! / near[i]!, 1, 2e-4);
    assertAlmostEquals(none[i]! / near[i]!, 0, 2e-5);
  });
});

Deno.test("a sheet of currents between periodic sides sends half of its power through a plane on either side", async () => {
  const grid: Grid = [110, 3, 4],
    spacing = 1e-3,
    courant = 0.5,
    steps = 300,
    timeStep = courant * spacing / SPEED_OF_LIGHT;
  using solver = await open({ permittivity: 1, spacing, courant, edges: [40, 0, 0] }, grid, [
    "zero",
    "periodic",
    "periodic",
  ]);
  const signature = ricker(20, courant, steps), frequencies = [SPEED_OF_LIGHT / (20 * spacing)];
  await solver.addSources("jz", pointsOfBox({ low: [55, 0, 0], size: [1, 3, 4] }), signature);
  const planes = await Promise.all(
    [49, 60].map((x) =>
      addFlux(solver, { low: [x, 0, 0], size: [0, 3, 4] }, { frequencies, spacing, timeStep })
    ),
  );
  await solver.run(steps);
  const [down, up] = await Promise.all(planes.map(async (plane) => (await plane())[0]!));
  const part = (of: (angle: number) => number) =>
    timeStep * signature.reduce((sum, one, n) => sum + one * of(2 * Math.PI * n * courant / 20), 0);
  // E = η₀Jh/2 on either side
  const expected = VACUUM_IMPEDANCE / 2 * (part(Math.cos) ** 2 + part(Math.sin) ** 2) * spacing ** 2 * 12 *
    spacing ** 2;
  assertAlmostEquals(up! / expected, 1, 0.02);
  assertAlmostEquals(down! / up!, -1, 1e-3);
});

/** √(Σ(a − b)² / Σb²) */
function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const squares = (of: (i: number) => number): number =>
    Array.from(b).reduce((sum: number, _, i) => sum + of(i) ** 2, 0);
  return Math.sqrt(squares((i) => a[i]! - b[i]!) / squares((i) => b[i]!));
}

Deno.test("a pml's profiles stay what they are where its memory is not kept", async () => {
  using solver = await open({ edges: 2, absorber: "pml" }, [5, 6, 21], "zero");
  const outer = (i: number): number => i < 1 || i > 17 ? 0.5 : 0;
  await solver.write("plane_z", outer);
  await solver.write("middle_x", [0.1, 0.1, 0, 0.2, 0.2]);
  await solver.write("wall_y", 0.5);
  for (const values of [1, Array(21).fill(0.25), (i: number) => outer(i) + (i === 17 ? 0.5 : 0)]) {
    await assertRejects(
      () => solver.write("plane_z", values),
      RangeError,
      `Cannot write plane_z: 0 is wanted at ${
        values === 1 || Array.isArray(values) ? 1 : 17
      }, since exz is kept in the 2 outer`,
    );
  }
  assertEquals(await solver.read("plane_z"), Float32Array.from({ length: 21 }, (_, i) => outer(i)));
});
