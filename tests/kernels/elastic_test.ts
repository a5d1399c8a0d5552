import type { FloatArray } from "../../kernels/precision.ts";
import { assertAlmostEquals, assertEquals, assertLess, assertThrows } from "@std/assert";
import { layOut } from "../../kernels/layout.ts";
import { runReference } from "../../kernels/reference.ts";
import {
  elastic,
  ELASTIC_FIELDS,
  elasticEdges,
  elasticTimeStep,
  elasticWarning,
  lameOf,
} from "../../kernels/stencils/elastic.ts";
import type { Grid, Stencil } from "../../kernels/stencils/stencil.ts";
import { planesOf, stepReach, type Update } from "../../kernels/update.ts";
import { errorBound } from "../../models/error_bound.ts";
import { initialCells as initialLevel } from "../../tuner/devices/oracle.ts";
import { CpuPool } from "../../tuner/devices/cpu/wasm_workers.ts";
import { inMarches, inSteps, testRows, type Way } from "./oracle_case.ts";
import { wholeNumberElastic, wholeNumberStaggered } from "./whole_numbers.ts";
import { maxAbs } from "../devices/cells.ts";
import { type Ago, type Expression, type Offset, tap } from "../../kernels/expression.ts";
import { add, shifted, subtract } from "../../kernels/operations.ts";
import { ELASTIC_LIMIT, elasticPlaneWave, UNIFORM, uniformElastic } from "./elastic_plane_wave.ts";
import { reweighted } from "./reweighted.ts";
import "../own_thread.ts";

/** The uniform medium. */
function uniform(courant: number): Update {
  return uniformElastic(courant).update;
}

/** Largest |value| of the fields in a dense level. */
function maxField(level: FloatArray | Float64Array, update: Update, [, ny, nz]: Grid): number {
  const planes = planesOf(update);
  return maxAbs(
    level.map((value, i) => Math.floor(i / (ny * nz)) % planes < update.fields.length ? value : 0),
  );
}

/** A dense level from a function of field and cell, in the uniform medium. */
function levelOf(
  [nx, ny, nz]: Grid,
  update: Update,
  value: (field: number, cell: Offset) => number,
): Float64Array {
  const planes = planesOf(update), fields = update.fields.length;
  return Float64Array.from({ length: nx * planes * ny * nz }, (_, i) => {
    const z = i % nz, y = Math.floor(i / nz) % ny;
    const plane = Math.floor(i / (ny * nz)) % planes, x = Math.floor(i / (planes * ny * nz));
    return plane < fields
      ? value(plane, [x, y, z])
      : UNIFORM[update.materials[plane - fields]!.name as keyof typeof UNIFORM];
  });
}

for (const kind of ["P", "S"] as const) {
  for (const modes of [[1, 0, 0], [0, -2, 0], [1, 2, -1]] as const) {
    Deno.test(`the ${kind} wave ${modes} is carried without error`, () => {
      const grid: Grid = [9, 10, 8], steps = 25, courant = 0.8 * ELASTIC_LIMIT;
      const update = uniform(courant);
      const exact = elasticPlaneWave(grid, modes, { courant, kind });
      const at = (step: number) => levelOf(grid, update, (field, cell) => exact.at(cell, step, field));
      const run = { update, grid, boundary: "periodic", steps } as const;
      const { current } = runReference({ current: at(0), previous: at(0) }, run);
      const expected = at(steps);
      const error = current.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i]!)), 0);
      assertLess(error, 1e-12);
      assertLess(0.05, maxAbs(expected), "there is a wave at all");
    });
  }
}

Deno.test("long P waves travel at speed 1, long S waves at half of it", () => {
  const courant = 0.1, cells = 400;
  for (const [kind, field, steps] of [["P", 0, cells / 0.1], ["S", 2, 2 * cells / 0.1]] as const) {
    const { at } = elasticPlaneWave([cells, 1, 1], [1, 0, 0], { courant, kind });
    const value = (step: number): number => at([0, 0, 0], step, field);
    assertAlmostEquals(value(0), 1, 1e-3);
    assertAlmostEquals(value(steps), value(0), 1e-3);
    assertAlmostEquals(value(steps / 2), -value(0), 1e-3);
    assertAlmostEquals(value(steps / 4), 0, 0.01);
  }
});

Deno.test("in a closed box the energy of the scheme stays what it was", () => {
  // E = ½Σ v⁻·v⁺/b + ½Σ σ:C⁻¹:σ, with v⁻ and v⁺ half a step before and after the stresses
  const grid: Grid = [7, 6, 9], courant = 0.9 * ELASTIC_LIMIT;
  const update = uniform(courant), [nx, ny, nz] = grid;
  const start = levelOf(grid, update, (field, [x, y, z]) => Math.sin(1 + 3 * field + 5 * x + 7 * y + 11 * z));
  const energyAt = (steps: number): number => {
    const run = { update, grid, boundary: "periodic", start: 0 } as const;
    const { current } = runReference({ current: start, previous: start }, { ...run, steps });
    const after = runReference({ current, previous: current }, { ...run, steps: 1 }).current;
    let energy = 0;
    const planes = planesOf(update), size = ny * nz;
    for (let i = 0; i < nx * size; i++) {
      const base = Math.floor(i / size) * planes * size + i % size;
      const of = (level: Float64Array, field: number): number => level[base + field * size]!;
      for (const v of [0, 1, 2]) energy += of(current, v) * of(after, v) / 2;
      const normal = [3, 4, 5].map((field) => of(current, field));
      const trace = normal.reduce((a, b) => a + b);
      // C⁻¹ of λ = ½, μ = ¼: (σ − λ/(3λ + 2μ) tr σ I)/(2μ)
      for (const s of normal) energy += s * (s - 0.25 * trace) / 0.5 / 2;
      for (const field of [6, 7, 8]) energy += of(current, field) ** 2 / 0.25 / 2;
    }
    return energy;
  };
  const first = energyAt(0);
  for (const steps of [1, 7, 60]) assertAlmostEquals(energyAt(steps) / first, 1, 1e-12);
});

Deno.test("beyond the stability limit a field grows without bound, at it it does not", () => {
  const grid: Grid = [4, 4, 4];
  const growth = (factor: number): number => {
    const scaled = factor * ELASTIC_LIMIT / 0.48;
    const update = reweighted(
      uniform(0.48),
      (weight) => [9 / 8, 1 / 24].includes(weight) ? scaled * weight : weight,
    );
    const start = levelOf(grid, update, (field, [x, y, z]) => (x + y + z + field) % 2 === 0 ? 1 : -1);
    const run = { update, grid, boundary: "periodic", steps: 300 } as const;
    return maxField(runReference({ current: start, previous: start }, run).current, update, grid);
  };
  assertLess(growth(0.999), 1e4);
  assertLess(1e6, growth(1.01));
  assertLess(elasticTimeStep({ velocity: [1000, 1000], spacing: 1 }), ELASTIC_LIMIT / 1000);
});

Deno.test("options that make no sense are refused, and what does makes edges and warnings", () => {
  const refused = (options: Parameters<typeof elastic>[0], message: string) =>
    assertThrows(() => elastic(options), RangeError, message);
  refused({ timeStep: 0.0011 }, "at most 0.00108889, the stability limit");
  refused({ timeStep: 0 }, "above 0");
  refused({ velocity: [0, 2] }, "velocity must be the lowest, above 0, and the highest");
  refused({ spacing: 0 }, "spacing must be above 0");
  refused({ edges: 2.5 }, "edges must be whole numbers");
  refused({ absorber: "damping" as "pml" }, "absorber must be matched or pml: current value is damping");
  refused({ surface: "wet" as "free" }, "surface must be absorbing or free");
  assertEquals(elasticEdges({ velocity: [1500, 2000], spacing: 10, frequency: 15 }), 31);
  assertEquals(elasticWarning(1000, 8, 10), undefined);
  const warning = "4.4 cells per shortest S wavelength are too few: 5 are wanted, " +
    "as with a frequency of 8.00 Hz or a spacing of 8.89 m";
  assertEquals(elasticWarning(1000, 9, 10), warning);
  assertEquals(lameOf(3000, 1500, 2000), { lambda: 9e9, mu: 4.5e9 });
});

Deno.test("density is averaged arithmetically at velocities, μ harmonically at shear stresses, and zeros lie beyond", () => {
  const grid: Grid = [2, 2, 2],
    { update } = elastic({ edges: 0, surface: "free" }),
    planes = planesOf(update);
  const { materials, fields } = update, names = materials.map(({ name }) => name);
  const at = (name: string, x: number, y: number, z: number): number => {
    const field = fields.indexOf(name), plane = field < 0 ? fields.length + names.indexOf(name) : field;
    return ((x * planes + plane) * 2 + y) * 2 + z;
  };
  /** A field's change in one step, relative to what `alone` has with the same density or μ everywhere. */
  const changed = (values: (name: string, cell: number) => number, name: string, cell: Offset): number => {
    const level = new Float64Array(8 * planes);
    for (let i = 0; i < 8; i++) {
      const [x, y, z] = [i >> 2, (i >> 1) & 1, i & 1];
      for (const one of [...fields, ...names]) level[at(one, x, y, z)] = values(one, i);
    }
    const profiles = update.profiles!.map(({ name }) =>
      Float32Array.of(...(name === "faces" ? [1 / 6, 0] : name === "cells" ? [0, 1 / 24] : [1, 1]))
    );
    const run = { update, grid, boundary: "zero", steps: 1, profiles } as const;
    return runReference({ current: level, previous: level }, run).current[at(name, ...cell)]!;
  };
  const densities = [1, 2, 3, 4, 5, 6, 7, 8], moduli = [1, 2, 4, 8, 1, 2, 4, 8];
  const pulled = (density: (cell: number) => number) => (name: string, cell: number): number =>
    name === "density" ? 1000 * density(cell) : name[0] === "s" ? cell + 1 : 0;
  for (
    const [name, cell, mean] of [["vx", [1, 0, 0], 3], ["vy", [0, 1, 1], 3], ["vz", [1, 1, 1], 7.5]] as const
  ) {
    const found = changed(pulled((i) => densities[i]!), name, cell);
    assertAlmostEquals(found * mean, changed(pulled(() => 1), name, cell), 1e-9, name);
  }
  // the strain is the same, whatever μ is
  const sheared = (mu: (cell: number) => number) => (name: string, cell: number): number =>
    name === "density" ? 1000 : name === "mu" ? 1e9 * mu(cell) : name[0] === "v" ? cell ** 2 : 0;
  const shears = [["sxy", [1, 1, 0], [0, 2, 4, 6]], ["sxz", [1, 0, 1], [0, 1, 4, 5]], ["syz", [0, 1, 1], [
    0,
    1,
    2,
    3,
  ]]] as const;
  for (const [name, cell, four] of shears) {
    const mean = 4 / four.reduce<number>((sum, i) => sum + 1 / moduli[i]!, 0);
    const found = changed(sheared((i) => moduli[i]!), name, cell);
    assertAlmostEquals(found / mean, changed(sheared(() => 1), name, cell), 1e-9, name);
    assertEquals(changed(sheared((i) => four[2] === i ? 0 : 1), name, cell), 0, "one cell of water");
  }
  // on the surface, and on the faces before the first cells, nothing resists
  for (const name of ["sxz", "syz"]) assertEquals(changed(sheared(() => 1), name, [1, 1, 0]), 0);
});

Deno.test("a pml computes what a program of its own does in f64", () => {
  const nx = 13, nz = 11, steps = 9, edges = [4, 3] as const, rho = 2000, lambda = 8e9, mu = 6e9, h = 10;
  const vp = Math.sqrt((lambda + 2 * mu) / rho), dt = 1e-3, unit = 1e6;
  const medium = { velocity: [vp, vp], spacing: h, timeStep: dt } as const;
  const { update } = elastic({ ...medium, edges, absorber: "pml", dimensions: 2 });
  const names = ["vx", "vz", "sxx", "szz", "sxz"], grid: Grid = [nx, 1, nz], planes = planesOf(update);
  const cells = Array.from({ length: nx * nz }, (_, i) => [Math.floor(i / nz), i % nz] as const);
  const own = Object.fromEntries(names.map((name, f) => [
    name,
    cells.map((_, i) => Math.sin(1 + 3 * f + 7 * i * i)),
  ]));
  const start = Float64Array.from({ length: nx * planes * nz }, (_, i) => {
    const z = i % nz, plane = Math.floor(i / nz) % planes, x = Math.floor(i / nz / planes);
    const name = update.fields[plane] ?? update.materials[plane - update.fields.length]!.name;
    return own[name]?.[x * nz + z] ?? { lambda, mu, density: rho }[name] ?? 0;
  });
  const { current } = runReference({ current: start, previous: start }, {
    ...{ update, grid, boundary: "periodic", steps },
  });
  const psi = new Map<string, number[]>();
  /** h D and what a pml makes of it, of a field half a cell further (1) or behind (0). */
  const stretched = (key: string, field: readonly number[], axis: 0 | 1, ahead: 0 | 1): number[] => {
    const memory = psi.get(key) ?? cells.map(() => 0), n = [nx, nz][axis]!, width = edges[axis];
    const found = cells.map(([x, z], i) => {
      const at = (by: number) =>
        axis === 0 ? field[(x + by + nx) % nx * nz + z]! : field[x * nz + (z + by + nz) % nz]!;
      const difference = 9 / 8 * (at(ahead) - at(ahead - 1)) - (at(ahead + 1) - at(ahead - 2)) / 24;
      // from the grid's ends, in cells
      const place = [x, z][axis]! + ahead / 2, depth = Math.max(0, width - place, place - n + width) / width;
      const half = vp * dt / h * depth ** 4, q = 2 * half / (1 + half);
      memory[i] = 0.97 * memory[i]! - q * (memory[i]! + difference);
      return difference + memory[i]!;
    });
    psi.set(key, memory);
    return found;
  };
  for (let step = 0; step < steps; step++) {
    const { sxx, szz, sxz } = own as Record<string, number[]>, push = unit * dt / h / rho;
    const forces = [
      [stretched("a", sxx!, 0, 0), stretched("b", sxz!, 1, 1)],
      [stretched("c", sxz!, 0, 1), stretched("d", szz!, 1, 0)],
    ];
    forces.forEach(([one, other], v) => {
      own[names[v]!] = own[names[v]!]!.map((value, i) => value + push * (one![i]! + other![i]!));
    });
    const [xx, zz] = [stretched("e", own.vx!, 0, 1), stretched("f", own.vz!, 1, 1)];
    const [xz, zx] = [stretched("g", own.vx!, 1, 0), stretched("h", own.vz!, 0, 0)];
    const grown = (name: string, by: (i: number) => number) => {
      own[name] = own[name]!.map((value, i) => value + dt / h / unit * by(i));
    };
    grown("sxx", (i) => lambda * (xx[i]! + zz[i]!) + 2 * mu * xx[i]!);
    grown("szz", (i) => lambda * (xx[i]! + zz[i]!) + 2 * mu * zz[i]!);
    grown("sxz", (i) => mu * (xz[i]! + zx[i]!));
  }
  for (const [plane, name] of names.entries()) {
    cells.forEach(([x, z], i) =>
      assertAlmostEquals(current[(x * planes + plane) * nz + z]!, own[name]![i]!, 1e-6, `${name} ${x} ${z}`)
    );
  }
});

Deno.test("a step of both sub-steps reaches further than either, and no further than both together", () => {
  const { x, y, z } = stepReach(elastic().update);
  assertEquals([x, y, z], [4, 4, 4]);
  const grid: Grid = [13, 13, 13], update = uniform(0.4);
  const start = levelOf(grid, update, (field, cell) => field === 3 && cell.every((c) => c === 6) ? 1 : 0);
  const run = { update, grid, boundary: "zero", steps: 1 } as const;
  const { current } = runReference({ current: start, previous: start }, run);
  const planes = planesOf(update);
  let farthest = 0;
  current.forEach((value, i) => {
    const x = Math.floor(i / (planes * 169)), plane = Math.floor(i / 169) % planes;
    if (value !== 0 && plane < update.fields.length) farthest = Math.max(farthest, Math.abs(x - 6));
  });
  assertEquals(farthest, 3); // two cells on one side and one on the other, by turns
});

for (
  const [name, stencil, kind, steps] of [
    ["whole numbers", wholeNumberElastic(), "integers", 2],
    ["edges", elastic(), "noise", 9],
    ["a free surface", elastic({ surface: "free", edges: [0, 2, 1] }), "noise", 9],
  ] as const
) {
  Deno.test(`the CPU's workers give the oracle's bits: ${name}`, async () => {
    const pool = await CpuPool.create({ workers: 1 });
    try {
      for (const grid of [[5, 6, 7], [9, 3, 16], [1, 1, 1], [4, 5, 21]] as const) {
        for (const boundary of ["zero", "periodic"] as const) {
          await assertCpuEquals(pool, { stencil, grid, boundary, kind, steps });
        }
      }
    } finally {
      pool.dispose();
    }
  });
}

async function assertCpuEquals(
  pool: CpuPool,
  { stencil, grid, boundary, kind, steps }: {
    stencil: Stencil;
    grid: Grid;
    boundary: "zero" | "periodic";
    kind: "integers" | "noise";
    steps: number;
  },
): Promise<void> {
  const { update } = stencil, planes = planesOf(update);
  const layout = layOut(grid, { pad: [2, 2, 2], planes });
  const field = await pool.load({ update, layout, boundary });
  await field.initialise({ kind, seed: 3 });
  await field.run({ steps: 1 });
  await field.run({ steps: steps - 1 });
  const start = initialLevel({ grid, stencil }, { kind, seed: 3 });
  const { current } = runReference({ current: start, previous: start }, { update, grid, boundary, steps });
  const [nx, ny, nz] = grid;
  for (let row = 0; row < nx * planes * ny; row++) {
    const x = Math.floor(row / (planes * ny)), plane = Math.floor(row / ny) % planes;
    const from = layout.origin + x * layout.slice + plane * layout.plane + (row % ny) * layout.pitch;
    assertEquals(
      field.current.slice(from, from + nz),
      current.slice(row * nz, (row + 1) * nz),
      `${grid}, ${boundary}, row ${row}, plane ${plane}`,
    );
  }
  await field.dispose();
}

// How sub-steps are fused is shown by two fields; nine compile slowly, and in a tile for more than a minute. Tiles are
// as small as their rims permit. The boundary changes the ends of the shader only: most ways have one of the two.
const STAGGERED = wholeNumberStaggered();
testRows([
  [STAGGERED, [7, 5, 11], inSteps([8, 2, 1]), [1, 1], { boundary: "periodic" }],
  [STAGGERED, [13, 9, 11], inMarches([1, 6, 5, 2, 0, 0]), [1, 1]],
  [STAGGERED, [13, 9, 11], inMarches([1, 6, 4, 2, 0, 0]), [1, 1], { boundary: "periodic" }],
  [STAGGERED, [9, 7, 11], inMarches([2, 4, 5, 2, 0, 1]), [1, 1]],
  [STAGGERED, [6, 5, 29], inMarches([4, 3, 4, 4, 0, 0]), [1, 1], { boundary: "periodic" }],
  [STAGGERED, [8, 9, 10], inMarches([2, 5, 7, 2, 1, 0]), [1, 1]],
  // beyond each end the first sub-step's values are zero, or images that a thread computes
  [STAGGERED, [7, 6, 11], inMarches([2, 4, 5, 2, 0, 0]), [1, 1], {
    boundary: ["periodic", "zero", "periodic"],
  }],
  [STAGGERED, [7, 6, 10], inMarches([1, 6, 5, 2, 0, 0]), [1, 1], { boundary: ["zero", "periodic", "zero"] }],
  [STAGGERED, [6, 5, 9], inSteps([8, 2, 1]), [1, 1], { boundary: ["insulated", "periodic", "insulated"] }],
  [STAGGERED, [5, 3, 9], inMarches([1, 9, 7, 2, 1, 1]), [1, 1], { boundary: "periodic" }],
  [STAGGERED, [1, 1, 1], inMarches([4, 3, 5, 1, 0, 0]), [1, 1]],
]);

/** Two fields, the second from boxes of 27 cells of the first's new values, whose slices are summed once. */
const BOXES: Stencil = {
  ...wholeNumberStaggered(),
  title: "boxes of new values",
  update: {
    fields: ["u", "p"],
    materials: [],
    substeps: [
      [{ field: 0, value: add(tap(0, 0, 0), boxOf(1, 0)) }],
      [{ field: 1, value: subtract(tap(0, 0, 0, 0, 1), boxOf(0, -1)) }],
    ],
  },
};

function boxOf(plane: number, ago: Ago): Expression {
  const column = add(tap(0, 0, -1, ago, plane), tap(0, 0, 0, ago, plane), tap(0, 0, 1, ago, plane));
  const slice = add(shifted(column, 0, -1, 0), shifted(column, 0, 0, 0), shifted(column, 0, 1, 0));
  return add(shifted(slice, -1, 0, 0), shifted(slice, 0, 0, 0), shifted(slice, 1, 0, 0));
}

testRows([
  [BOXES, [9, 7, 11], inMarches([2, 5, 6, 2, 0, 1]), [1]],
  [BOXES, [9, 7, 11], inMarches([2, 5, 6, 2, 1, 1]), [1]],
]);

const ELASTIC: readonly (readonly [Grid, Way])[] = [
  [[7, 5, 11], inSteps([8, 2, 1])],
  [[6, 5, 7], inMarches([1, 6, 5, 2, 0, 0])],
  // the rest in thorough runs
  [[1, 2, 3], inSteps([4, 1, 2])],
  [[9, 7, 11], inMarches([2, 4, 5, 2, 0, 1])],
  [[6, 11, 29], inMarches([4, 3, 5, 4, 0, 0])],
  [[8, 9, 10], inMarches([2, 5, 9, 2, 1, 0])],
  [[1, 1, 1], inMarches([4, 6, 5, 1, 0, 0])],
];

for (const [i, [grid, way]] of ELASTIC.entries()) {
  const isLarge = i > 1, free = elastic({ surface: "free" }), absorbing = elastic({ surface: "absorbing" });
  // whole numbers show the zeros and the materials; rounding the images of a periodic grid, and constants
  testRows([
    [wholeNumberElastic(), grid, way, [1, 1], { isSlow: isLarge }],
    [wholeNumberElastic(), grid, way, [1, 1], { isSlow: true, boundary: "periodic" }],
    [free, grid, way, [4, 3], { isReal: true, isSlow: true }],
    [absorbing, grid, way, [4, 3], { isReal: true, isSlow: isLarge, boundary: "periodic" }],
  ]);
}

Deno.test("the error bound holds against f64, and is within a factor 1000 of what is found", () => {
  const grid: Grid = [10, 9, 11], steps = 60, stencil = elastic({ edges: 0 }), { update } = stencil;
  const run = { update, grid, boundary: "periodic", steps } as const;
  const start = initialLevel({ grid, stencil }, { kind: "noise", seed: 1 });
  const single = runReference({ current: start, previous: start }, run).current;
  const precise = Float64Array.from(start);
  const double = runReference({ current: precise, previous: precise }, run).current;
  const error = [...single].reduce((most, value, i) => Math.max(most, Math.abs(value - double[i]!)), 0);
  const bound = errorBound({ stencil, grid, boundary: "periodic", steps }, maxField(double, update, grid));
  assertLess(error, bound);
  assertLess(bound, 1000 * error);
  assertEquals(ELASTIC_FIELDS.length, 9);
});
