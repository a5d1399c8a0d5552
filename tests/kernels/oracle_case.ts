/**
 * One traversal on one grid, compared with the oracle: bit for bit with whole-number weights on whole numbers,
 * and within the bound that rounding explains with the real weights on noise.
 *
 * @module
 */
import { assert, assertEquals, assertLess } from "@std/assert";
import { refusalOf } from "../../kernels/capability.ts";
import {
  type Ago,
  type Algebra,
  constant,
  type Expression,
  fold,
  SIGNAL,
  tap,
  TREE,
} from "../../kernels/expression.ts";
import { profilesOf } from "../../kernels/axis_profiles.ts";
import { along, equation, type FieldTap } from "../../kernels/equation.ts";
import {
  add,
  formula,
  maximum,
  minimum,
  multiply,
  shifted,
  subtract,
  type Value,
} from "../../kernels/operations.ts";
import { amplitudeOf, type InitialField } from "../../kernels/initial_field.ts";
import { indexOf } from "../../kernels/layout.ts";
import { areApart } from "../../kernels/sections.ts";
import { packingOf } from "../../kernels/packing.ts";
import { type FieldLevels, runReference } from "../../kernels/reference.ts";
import type { Boundaries, Grid, Problem, Stencil } from "../../kernels/stencils/stencil.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { maxwell, type MaxwellOptions } from "../../kernels/stencils/maxwell.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import type { GpuPlan, Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import { type Material, readsPrevious, updateOf } from "../../kernels/update.ts";
import { errorBound } from "../../models/error_bound.ts";
import { responsesOf } from "../../models/responses.ts";
import type { GpuDevice } from "../../tuner/devices/gpu/gpu_device.ts";
import { GpuField } from "../../tuner/devices/gpu/gpu_field.ts";
import { initialCells as makeInitialCells } from "../../tuner/devices/oracle.ts";
import { readable, readCells } from "../devices/cells.ts";
import { reweighted } from "./reweighted.ts";

/** What is run and compared. */
export interface OracleCase {
  readonly traversal: Traversal;
  readonly stencil: Stencil;
  readonly grid: Grid;
  readonly parameters: Parameters;
  /** Steps of each run; the runs follow one another on the same field. */
  readonly runs: readonly number[];
  /** @default {"zero"} */
  readonly boundary?: Boundaries;
  /** Sections that each level lies in: the device's limits are lowered until there are as many. @default {1} */
  readonly sections?: number;
  /** Whether they are ranges of one buffer. @default {false} */
  readonly areRanges?: boolean;
}

/** Whole numbers below this are exact in f32. */
const EXACT = 2 ** 24;

const SEED = 20_261_121;

/**
 * The wave equation's shape with whole-number weights, another for every distance: exact on whole numbers, growing as
 * little as that allows.
 */
export function wholeNumberWave(order: number): Stencil {
  const sides = [1, -1, 2, -2, 3, -3, 4].slice(0, order / 2);
  return {
    ...wave(order),
    title: `whole-number weights, order ${order}`,
    update: reweighted(wave(order).update, [-1, ...sides]),
  };
}

/**
 * Elastic waves with a free surface and edges: whole-number weights, materials and profiles, and a push with a signal; exact
 * on whole numbers for a few steps.
 */
export function wholeNumberElastic(): Stencil {
  // whole numbers make no ground
  const { misfit: _, ...stencil } = elastic({ surface: "free" }), { profiles = [], ...own } = stencil.update;
  const weightOf = (weight: number): number => weight === 2 ? 2 : weight > 1000 ? 4 : 1;
  const { substeps: [velocities, stresses], fields } = reweighted(own, weightOf);
  // divisors are powers of two
  const materials = Object.entries({
    lambda: [0, 1, 0, 0, 1, 0, 0, 0],
    mu: [0, 1, 1, 1, 1, 0, 1, 1],
    density: [1, 1, -2, 1, 1, -2, 1, 1],
    push: [0, 1, 2, 3, 4, 5, 6, 7],
  }).map(([name, values]) => ({ name, values }));
  const push = multiply(tap(0, 0, 0, 0, fields.length + 3), SIGNAL);
  return {
    ...stencil,
    title: "elastic waves, whole numbers",
    update: {
      ...own,
      materials,
      profiles: profiles.map(({ name, axis }, i) => ({
        name,
        axis,
        values: Array.from(
          { length: 8 },
          (_, k) => axis === 2 && i >= 6 ? (k + i) % 2 : (k * (i + 1)) % 3 === 1 ? -1 : 1,
        ),
      })),
      substeps: [velocities!.map(({ field, value }) => ({ field, value: add(value, push) })), stresses!],
      signal: add(formula("step"), 1),
    },
  };
}

/** Yee's grid with whole-number weights, materials and profiles, and products instead of quotients: exact for a few steps. */
export function wholeNumberMaxwell(options: MaxwellOptions = {}): Stencil {
  const { update, ...stencil } = maxwell(options), values = [1, 0, 1, -1, 0, 1, 1, 0];
  const scattered = <One extends Material>(one: One, shift: number): One => ({
    ...one,
    values: values.map((_, i) => values[(i + shift) % 8]!),
  });
  const whole: Algebra<Expression> = {
    ...TREE,
    constant: () => constant(1),
    divide: (one, other) => multiply(one, other),
    // marches need the sums of a slice
    partial: (of, offset) => shifted(fold(of, whole), ...offset),
  };
  return {
    ...stencil,
    title: `Yee's grid, materials ${update.materials.map(({ name }) => name)}, whole numbers`,
    update: {
      ...update,
      materials: update.materials.map(scattered),
      profiles: profilesOf(update).map((one, i) => {
        const cells = update.layers?.find(({ axis }) => axis === one.axis)?.cells;
        if (cells === undefined || one.name.startsWith("wall")) return scattered(one, i + 3);
        // 0 in the cells between layers, and one cell before them
        const first = one.name.startsWith("middle") ? 0 : 1, inner = subtract(cells - first, formula("i"));
        const last = subtract(formula("i"), subtract(formula("n"), cells + first + 1));
        return { ...one, formula: maximum(0, inner, last) };
      }),
      substeps: update.substeps.map((substep) =>
        substep.map(({ field, value }) => ({ field, value: fold(value, whole) }))
      ),
    },
  };
}

/** A wave through a medium: neighbours as far as `reach` times a material. Within −8 and 8, so always exact. */
export function wholeNumberMedium(reach: number): Stencil {
  return equation({
    name: "medium",
    title: `a material, whole numbers, reach ${reach}`,
    fields: { p: [-1, 1] },
    materials: { m: { values: [1, -1, 0, 2, 1, -2, -1, 1] } },
    initialField: "integers",
    step({ p, m }) {
      const sides = [1, reach].flatMap((by) => [
        subtract(p.at(by, 0, 0), p.at(-by, 0, 0)),
        multiply(2, subtract(p.at(0, by, 0), p.at(0, -by, 0))),
        subtract(p.at(0, 0, by), multiply(2, p.at(0, 0, -by))),
      ]);
      const around = add(...sides.slice(0, 3 * reach) as [Expression, ...Expression[]]);
      return { p: maximum(-8, minimum(8, subtract(multiply(m, around), p.before()))) };
    },
  });
}

/** The same with all materials packed between two values, which theirs are made to lie between. */
export function packed(stencil: Stencil, least: number, most: number): Stencil {
  const { nearest } = packingOf([least, most]);
  const materials = stencil.update.materials.map(({ name, values }): Material => {
    const fitting = values.map((value) => nearest(Math.min(most, Math.max(least, value)))!);
    return { name, values: fitting, packed: [least, most] };
  });
  const title = `${stencil.title}, packed from ${least} to ${most}`;
  return { ...stencil, title, update: { ...stencil.update, materials } };
}

/** Two fields in two sub-steps, of which the first reads what it was one step ago. */
export function wholeNumberLeapfrog(): Stencil {
  return equation({
    name: "leapfrog",
    title: "two sub-steps, the first reads two levels",
    fields: { u: [-1, 1], w: [-1, 1] },
    step: ({ u, w }) => [
      { u: subtract(subtract(w.at(1, 0, 0), w.at(0, -1, 0)), u.before()) },
      { w: subtract(u.next(1, 0, 0), u.next(0, 0, -1)) },
    ],
  });
}

/**
 * Two fields of a staggered grid, one from the other in two sub-steps, with a material and a signal; what they read
 * differs in each direction, the second reads ahead, and beyond the grid the first would not stay zero by itself. A software device compiles its fused shaders in a hundredth of the time that nine fields take.
 */
export function wholeNumberStaggered(): Stencil {
  const [u, p, m] = [0, 1, 2];
  const at = (plane: number, ago: Ago, x: number, y: number, z: number): Expression =>
    tap(x, y, z, ago, plane);
  const gradient = add(
    subtract(at(p, 0, 2, 0, 0), at(p, 0, -1, 0, 0)),
    subtract(at(p, 0, 0, 2, 0), at(p, 0, 0, -1, 0)),
    subtract(at(p, 0, 0, 0, 1), at(p, 0, 0, 0, -2)),
  );
  const divergence = add(
    subtract(at(u, -1, 2, 0, 0), at(u, -1, -1, 0, 0)),
    subtract(at(u, -1, 0, 1, 0), at(u, -1, 0, -1, 0)),
    subtract(at(u, -1, 0, 0, -1), at(u, -1, 0, 0, 2)),
  );
  return {
    ...elastic(),
    title: "two staggered fields, whole numbers",
    update: {
      fields: ["u", "p"],
      materials: [{ name: "m", values: [1, 0, -1, 2, 0, 1, 1, 0] }],
      substeps: [
        [{ field: u, value: add(at(u, 0, 0, 0, 0), multiply(at(m, 0, 0, 0, 0), gradient), SIGNAL) }],
        [{ field: p, value: add(at(p, 0, 0, 0, 0), divergence) }],
      ],
      signal: add(formula("step"), 1),
    },
  };
}

/** Yee's scheme with whole numbers: H from E, then E from the new H and a material. Within −8 and 8, so always exact. */
export function wholeNumberYee(): Stencil {
  const within = (value: Value): Expression => maximum(-8, minimum(8, value));
  return equation({
    name: "yee",
    title: "Yee's scheme, whole numbers",
    fields: { ex: [-1, 1], ey: [-1, 1], ez: [-1, 1], hx: [-1, 1], hy: [-1, 1], hz: [-1, 1] },
    materials: { m: { values: [1, -1, 0, 2, 1, -2, -1, 1] } },
    initialField: "integers",
    step({ ex, ey, ez, hx, hy, hz, m }) {
      /** The difference of a field's values, the second one cell behind. */
      const behind = ({ next }: FieldTap, ...cell: number[]): Value => subtract(next(), next(...cell));
      const ahead = (of: FieldTap, ...cell: number[]): Value => subtract(of.at(...cell), of);
      const push = (own: Value, by: Value, ...cell: number[]): Expression =>
        within(add(own, multiply(add(m, m.at(...cell)), by)));
      return [
        {
          hx: within(add(hx, subtract(ahead(ey, 0, 0, 1), ahead(ez, 0, 1)))),
          hy: within(add(hy, subtract(ahead(ez, 1), multiply(2, ahead(ex, 0, 0, 1))))),
          hz: within(add(hz, subtract(ahead(ex, 0, 1), ahead(ey, 1)))),
        },
        {
          ex: push(ex, subtract(behind(hz, 0, -1), behind(hy, 0, 0, -1)), 0, -1, -1),
          ey: push(ey, subtract(behind(hx, 0, 0, -1), behind(hz, -1)), -1, 0, -1),
          ez: push(ez, subtract(behind(hy, -1), behind(hx, 0, -1)), -1, -1),
        },
      ];
    },
  });
}

/**
 * Profiles along all axes: of a formula and of values, at the cell and beside it, within a partial sum of a slice that
 * marches keep. Clamped, so that whole numbers stay exact.
 *
 * @param readsBefore F(t−1) as well, which marches of several steps do not
 */
export function wholeNumberProfiles(readsBefore = true): Stencil {
  return equation({
    name: "profiles",
    title: `axis profiles, whole numbers${readsBefore ? "" : ", one level"}`,
    fields: { u: [-4, 3] },
    materials: {
      dx: along("x", (i, n) => minimum(2, subtract(i, 3), subtract(subtract(n, 2), i))),
      dy: along("y", { values: [1, 0, 2, -1, 0, 1, -2, 3] }),
      dz: along("z", { values: [0, 1, 0, -1, 2, 1, 0, -1] }),
    },
    step({ u, dx, dy, dz }) {
      const slice = add(multiply(add(dx, dy, dz), u), u.at(0, 1), u.at(0, 0, -1));
      const sum = add(
        shifted(slice, 1, 0, 0),
        shifted(slice, -1, 0, 0),
        multiply(dx.at(1), dy.at(0, -1), u.at(0, -1)),
        multiply(dz.at(0, 0, 2), u.at(0, 0, 2)),
      );
      return { u: maximum(-99, minimum(99, readsBefore ? subtract(sum, multiply(dz, u.before())) : sum)) };
    },
  });
}

/** Taps on the axes only, with profiles along all axes and a material of each cell. */
export function wholeNumberCross(): Stencil {
  return equation({
    name: "cross",
    title: "axis profiles on a cross, whole numbers",
    fields: { u: [-4, 3] },
    materials: {
      m: { values: [1, 0, -1, 2, 0, 1, 1, 0] },
      dx: along("x", { values: [1, 0, 2, -1, 0, 1, -2, 3] }),
      dy: along("y", { values: [2, 0, -1, 1, 0, 1, -2, 1] }),
      dz: along("z", { values: [0, 1, 0, -1, 2, 1, 0, -1] }),
    },
    step({ u, m, dx, dy, dz }) {
      const sides = add(
        u.at(1),
        u.at(0, -1),
        u.at(0, 0, 1),
        multiply(dx.at(-1), u.at(-1)),
        multiply(dy.at(0, 1), m),
      );
      const d = add(dx, dy, dz.at(0, 0, -1));
      return { u: maximum(-99, minimum(99, subtract(add(sides, multiply(d, u)), multiply(dz, u.before())))) };
    },
  });
}

/** Two sub-steps whose fused march computes images beyond the ends, where profiles have theirs. */
export function wholeNumberProfiledPair(): Stencil {
  return equation({
    name: "profiled-pair",
    title: "axis profiles in two sub-steps, whole numbers",
    fields: { u: [-4, 3], w: [-4, 3] },
    materials: {
      dx: along("x", { values: [1, 0, 2, -1, 0, 1, -2, 3] }),
      dy: along("y", { values: [2, 0, -1, 1, 0, 1, -2, 1] }),
      dz: along("z", { values: [0, 1, 0, -1, 2, 1, 0, -1] }),
    },
    step: ({ u, w, dx, dy, dz }) => [
      { u: maximum(-99, minimum(99, add(multiply(add(dx, dy.at(0, 1), dz), w), w.at(1), w.at(0, 0, 1)))) },
      { w: maximum(-99, minimum(99, add(multiply(dx.at(-1), u.next(-1)), u.next(0, -1), u.next(0, 0, -1)))) },
    ],
  });
}

/**
 * F(t+1) = F(x−1) + F(x+1) − F(t−1): does not grow, so that whole numbers stay exact for any number of steps.
 * Taps of weight 0 reach along y and z.
 */
export const ALONG_X: Stencil = {
  ...wave(2),
  title: "whole numbers along x",
  update: updateOf(add(
    subtract(add(tap(-1, 0, 0), tap(1, 0, 0)), tap(0, 0, 0, 1)),
    multiply(constant(0), add(tap(0, 1, 0), tap(0, 0, 1))),
  )),
};

/** The case in short, for the test's name. */
export function describeCase(
  { traversal, stencil, grid, parameters, runs, boundary = "zero", sections = 1, areRanges }: OracleCase,
): string {
  const values = Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" ");
  return `${traversal.name}, ${stencil.title}, ${grid.join("x")}, ${boundary}, ${values}, ${
    runs.join(" + ")
  } steps${sections === 1 ? "" : `, ${sections} ${areRanges ? "sections of one buffer" : "sections"}`}`;
}

/** Asserts that the case's result is the oracle's, bit for bit; the stencil's weights must be whole numbers. */
export async function assertExact(gpu: GpuDevice, oracleCase: OracleCase): Promise<void> {
  const { stencil } = oracleCase;
  const kind = stencil.initialField ?? "integers";
  const { expected, largest, result } = await runBoth(gpu, oracleCase, kind);
  const scale = largest / amplitudeOf({ ...stencil, initialField: kind });
  assertLess(
    Math.max(...responsesOf({ ...stencil, initialField: kind }, scale).map(({ size }) => size)),
    EXACT,
    "the values are no longer exact in f32",
  );
  for (const level of stateOf(stencil)) assertEquals(result[level], expected[level], level);
}

/** Asserts that the case's result is the oracle's, but for rounding. */
export async function assertWithinBound(gpu: GpuDevice, oracleCase: OracleCase): Promise<void> {
  const { stencil, grid, runs, boundary = "zero" } = oracleCase;
  const { expected, largest, result } = await runBoth(gpu, oracleCase, "noise");
  const bound = errorBound(
    { stencil, grid, boundary, steps: runs.reduce((sum, steps) => sum + steps) },
    largest,
  );
  for (const level of stateOf(stencil)) {
    const found = result[level].findIndex((value, i) => !(Math.abs(value - expected[level][i]!) <= bound));
    const wrong = `${result[level][found]} instead of ${expected[level][found]}`;
    assertEquals(found, -1, `${level}: ${wrong}, bound ${bound}, at cell ${found}`);
  }
}

/** The levels that the next step needs: where F(t−1) is never read, a traversal need not keep it. */
function stateOf({ update }: Stencil): ("current" | "previous")[] {
  return readsPrevious(update) ? ["current", "previous"] : ["current"];
}

interface Outcome {
  readonly expected: FieldLevels<Float32Array>;
  /** Largest |value| that the field took. */
  readonly largest: number;
  readonly result: FieldLevels<Float32Array>;
}

/** Runs the case and the oracle; asserts that the configuration is feasible, and that pads of zeros stay zero. */
async function runBoth(gpu: GpuDevice, oracleCase: OracleCase, kind: InitialField): Promise<Outcome> {
  const { traversal, stencil, grid, parameters, runs, boundary = "zero", sections = 1 } = oracleCase;
  const problem: Problem = { stencil, grid, boundary, steps: Math.max(...runs) };
  assertEquals(refusalOf(traversal, problem), undefined);
  assertEquals(traversal.infeasible(problem, parameters, gpu.limits), undefined);
  const plan = sections === 1
    ? traversal.plan(problem, parameters, gpu.limits)
    : planInSections(oracleCase, problem, sections);
  using field = await GpuField.create(gpu, problem, plan);
  await field.initialise({ kind, seed: SEED });
  const start = initialCells(grid, kind, SEED, stencil);
  let expected: FieldLevels<Float32Array> = { current: start, previous: start };
  let largest = maxAbs(start), done = 0;
  for (const steps of runs) {
    await field.run(steps);
    for (let step = 0; step < steps; step++) {
      expected = runReference(expected, { update: stencil.update, grid, boundary, steps: 1, start: done++ });
      largest = Math.max(largest, maxAbs(expected.current));
    }
  }
  const result = { current: await readCells(field, 0), previous: await readCells(field, 1) };
  expected = { current: readable(expected.current, problem), previous: readable(expected.previous, problem) };
  if (boundary === "zero") { for (const ago of [0, 1] as const) await assertZeroPads(gpu, field, ago); }
  return { expected, largest, result };
}

/** The plan in so many sections; Infinity: as small as they can be. */
export function planInSections(
  { traversal, parameters, areRanges = false }: Pick<OracleCase, "traversal" | "parameters" | "areRanges">,
  problem: Problem,
  sections: number,
): GpuPlan {
  const { layout } = traversal.plan(problem, parameters).storage;
  const [padX] = layout.pad, [nx] = layout.grid;
  let smallest: GpuPlan | undefined;
  for (let slices = nx + 2 * padX - 1; slices > 0; slices--) {
    const bytes = 4 * (slices * layout.slice + layout.pad[2]);
    try {
      const plan = traversal.plan(problem, parameters, {
        maxStorageBufferBindingSize: bytes,
        maxBufferSize: areRanges ? 4 * layout.length : bytes,
      });
      if (areRanges && areApart(plan.storage.sections!)) continue;
      if (plan.storage.sections!.length >= sections) return plan;
      smallest = plan;
    } catch (error) {
      assert(error instanceof RangeError);
      break;
    }
  }
  assert(sections === Infinity && smallest !== undefined, `no plan in ${sections} sections`);
  return smallest;
}

/** A dense level of initial values. */
export function initialCells(
  grid: Grid,
  kind: InitialField,
  seed: number,
  stencil: Stencil = wave(2),
): Float32Array {
  return makeInitialCells({ grid, stencil }, { kind, seed });
}

/** Largest |value|. */
export function maxAbs(cells: Float32Array | Float64Array): number {
  let most = 0;
  for (const value of cells) most = Math.max(most, Math.abs(value));
  return most;
}

/** Asserts that the whole array holds nothing but zeros outside of the grid's own cells. */
export async function assertZeroPads(gpu: GpuDevice, field: GpuField, ago: 0 | 1): Promise<void> {
  for (const { array, layout: its } of field.level(ago)) {
    const layout = { ...its, layered: 0 };
    const all = new Float32Array(await gpu.read(array.buffer, array.offset, array.size));
    assert(all.length >= layout.length && all.length < layout.length + 64);
    for (let x = 0; x < layout.grid[0]; x++) {
      for (let y = 0; y < layout.grid[1]; y++) {
        for (let plane = 0; plane < layout.planes; plane++) {
          const row = indexOf(layout, [x, y, 0], plane);
          all.fill(0, row, row + layout.grid[2]);
        }
      }
    }
    const found = all.findIndex((value) => value !== 0);
    assertEquals(
      found,
      -1,
      `F(t-${ago}) holds ${all[found]} outside of the grid, at index ${found} of ${layout.length}`,
    );
  }
}
