/**
 * Walls: against a program of the test's own that fills ghost cells by each wall's law, against closed forms, and bit for bit
 * in all traversals.
 *
 * @module
 */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { initialProfiles } from "../../kernels/axis_profiles.ts";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { equation } from "../../kernels/equation.ts";
import { type Expression, fold, NUMBERS } from "../../kernels/expression.ts";
import {
  add,
  cosine,
  evaluate,
  maximum,
  multiply,
  shifted,
  sine,
  subtract,
  type Value,
} from "../../kernels/operations.ts";
import { derivative, divergence, laplacian } from "../../kernels/operators.ts";
import { runReference } from "../../kernels/reference.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import {
  axesOf,
  type AxisBoundaries,
  type Boundary,
  type Dimensions,
  type Grid,
  type OwnGrid,
  planned,
  type Stencil,
  type Wall,
  type Walls,
} from "../../kernels/stencils/stencil.ts";
import { signalAt } from "../../kernels/update.ts";
import { absorbing, flux, insulated, mirror, robin, value, withWalls } from "../../kernels/walls.ts";
import { checkProblem } from "../../tuner/problem/resolve_problem.ts";
import { randomNumbers } from "./random_equation.ts";
import { inMarches, inSteps, inTorres, inVolumeTorres, testRows } from "./oracle_case.ts";

/** The walls at both ends of an axis of a plan, by plane of fields; undefined: periodic. */
type Sides = readonly (readonly (readonly [Wall, Wall])[] | undefined)[];

const numberOf = (wall: Wall, step: number, cell: readonly number[], grid: readonly number[]): number =>
  (["x", "y", "z"] as const).reduce((all, name, axis) => {
    const along = wall.shape?.[name]?.({ kind: "formula", name: "i", operands: [] });
    return along ? all * evaluate(along as Expression, { i: (cell[axis]! + 0.5) / grid[axis]! }) : all;
  }, steadyOf(wall, step));

const steadyOf = ({ g }: Wall, step: number): number =>
  typeof g === "number"
    ? g
    : signalAt({ signal: g({ kind: "formula", name: "step", operands: [] }) } as never, step);

/** Steps in f64: a tap beyond an end is what makes the wall's law true there. */
function stepped(
  stencil: Stencil,
  sides: Sides,
  grid: Grid,
  start: Float64Array,
  steps: number,
): Float64Array {
  const { update } = stencil, { fields, materials } = update, planes = fields.length + materials.length;
  const [nx, ny, nz] = grid;
  const indexOf = ([x, y, z]: readonly number[], plane: number): number =>
    ((x! * planes + plane) * ny + y!) * nz + z!;
  let [previous, now] = [start, start];
  for (let t = 0; t < steps; t++) {
    const next = now.slice();
    const read = (level: Float64Array, time: number, cell: readonly number[], plane: number): number => {
      const isBeyond = (i: number, axis: number): boolean => i < 0 || i >= grid[axis]!;
      // the other end of a periodic axis is another place of a wall along it
      const round = cell.findIndex((i, axis) => sides[axis] === undefined && isBeyond(i, axis));
      const axis = round < 0 ? cell.findIndex(isBeyond) : round;
      if (axis < 0) return level[indexOf(cell, plane)]!;
      const i = cell[axis]!, n = grid[axis]!, m = i < 0 ? -i : i - n + 1;
      const at = (index: number): number => read(level, time, cell.with(axis, index), plane);
      const pairs = sides[axis];
      if (pairs === undefined) return at((i + n) % n);
      const inside = (k: number): number => at(i < 0 ? k : n - 1 - k);
      const all = pairs.map((pair) => pair[i < 0 ? 0 : 1]);
      const wall = all[plane] ??
        insulated({ at: all.every(({ at }) => at === "centre") ? "centre" : "face" });
      const g = plane < fields.length ? numberOf(wall, time, cell, grid) : 0, { a, b } = wall;
      const lawOf = (ghost: number): number => {
        if (wall.at === "beyond") return a * ghost - g;
        if (wall.at === "face") {
          const image = inside(m - 1);
          return a * (ghost + image) / 2 + b * (ghost - image) / (2 * m - 1) - g;
        }
        return b === 0
          ? (ghost + inside(m)) / 2 - inside(0)
          : a * inside(0) + b * (ghost - inside(m)) / (2 * m) - g;
      };
      const [zero, one] = [lawOf(0), lawOf(1)];
      return zero / (zero - one);
    };
    for (const substep of update.substeps) {
      const made: (() => void)[] = [];
      for (const { field, value } of substep) {
        for (let x = 0; x < nx; x++) {
          for (let y = 0; y < ny; y++) {
            for (let z = 0; z < nz; z++) {
              const cell = [x, y, z];
              let found = fold(value, {
                ...NUMBERS,
                signal: () => signalAt(update, t),
                tap: ({ offset, ago, plane }) =>
                  read(ago === 0 ? now : ago === 1 ? previous : next, ago === -1 ? t + 1 : t - ago, [
                    x + offset[0],
                    y + offset[1],
                    z + offset[2],
                  ], plane),
              });
              for (const axis of [2, 1, 0]) {
                const pair = sides[axis]?.[field];
                if (pair === undefined) continue;
                for (const [end, edge] of [0, grid[axis]! - 1].entries()) {
                  const { at, a, b } = pair[end]!;
                  const isOn = cell[axis] === edge && at === "centre" && b === 0;
                  if (isOn) found = numberOf(pair[end]!, t + 1, cell, grid) / a;
                }
              }
              made.push(() => next[indexOf(cell, field)] = found);
            }
          }
        }
      }
      for (const store of made) store();
    }
    [previous, now] = [now, next];
  }
  return now;
}

/** What both programs make of noise, f64 and f32 rounded to whole numbers. */
function compared(
  stencil: Stencil,
  walls: Walls,
  own: OwnGrid | readonly [number],
  steps: number,
  valueAt: (i: number) => number,
): [found: Float64Array, wanted: Float64Array] {
  const axes = axesOf(stencil),
    { fields, materials } = stencil.update,
    planes = fields.length + materials.length;
  const grid: Grid = own.length === 1 ? [1, 1, own[0]!] : planned(stencil, own as readonly number[], 1);
  const made = withWalls({ stencil, grid: own.length === 1 ? grid : own as OwnGrid, boundary: walls });
  const named = ["x", "y", "z"] as const;
  const sides: (readonly (readonly [Wall, Wall])[] | undefined)[] = [undefined, undefined, undefined];
  axes.forEach((axis, i) => {
    const given = walls[named[i]!]!;
    if (given === "periodic") return;
    sides[axis] = fields.map((field) => {
      const its = typeof given === "object" && field in given
        ? (given as Record<string, never>)[field]!
        : given;
      return (Array.isArray(its) ? its : [its, its]) as [Wall, Wall];
    });
  });
  const start = Float64Array.from(
    { length: planes * grid.reduce((all, n) => all * n) },
    (_, i) => valueAt(i),
  );
  const words = typeof made.boundary === "string"
    ? made.boundary
    : planned(stencil, made.boundary as readonly string[], "zero") as AxisBoundaries;
  const { current } = runReference({ current: start, previous: start }, {
    update: made.stencil.update,
    grid,
    boundary: words as AxisBoundaries,
    steps,
    profiles: initialProfiles(made.stencil.update, grid),
  });
  return [current, stepped(stencil, sides, grid, start, steps)];
}

/** Diagonal taps, two fields, a material, products, and what an earlier sub-step has computed. */
const mixture = (dimensions: Dimensions, reach: number) =>
  equation({
    name: "mixture",
    dimensions,
    fields: { u: [-1, 1], v: [-1, 1] },
    materials: { m: [0.5, 2] },
    step({ u, v, m }) {
      const far = (f: typeof u, k: number): Value =>
        dimensions === 1
          ? subtract(f.at(k), f.at(-reach))
          : add(f.at(k, -1), f.at(-1, k), multiply(-2, f.at(-reach, 1)), f.at(0, reach));
      const flow = multiply(add(m, dimensions === 1 ? m.at(1) : m.at(0, 1)), subtract(u.at(1), u));
      return [
        { u: add(multiply(0.5, u), multiply(0.05, far(u, reach)), multiply(0.1, flow), multiply(0.125, v)) },
        {
          v: add(
            multiply(0.25, v),
            multiply(0.0625, u.next(-1), u.next(1)),
            multiply(0.05, maximum(far(v, 1), m)),
            multiply(
              0.1,
              subtract(
                flow,
                shifted(
                  flow,
                  ...(dimensions === 2
                    ? [-1, 0] as const
                    : dimensions === 1
                    ? [0, 0, -1] as const
                    : [-1, 0, 0] as const),
                ),
              ),
            ),
          ),
        },
      ];
    },
  });

Deno.test("walls of every kind, by side and by field, where they meet too, are what their laws say", () => {
  const chance = randomNumbers(20261129),
    oneOf = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!;
  const number = (): number => Math.round(8 * chance() - 4) / 4;
  const bent = (place: Value): Value => add(0.5, multiply(place, place));
  /** Of three dimensions alone, where axes are those of a plan. */
  const shaped = (name: string | undefined) => name ? { shape: { [name]: bent } } : {};
  const wall = (side?: string): Wall =>
    oneOf([
      () => value(number(), { at: oneOf(["face", "centre", "beyond"]), ...shaped(side) }),
      () => flux(number(), { at: oneOf(["face", "centre"]), ...shaped(side) }),
      () => mirror(oneOf(["even", "odd"]), { at: oneOf(["face", "centre"]) }),
      () => robin(0.5 + chance(), 0.5 + chance(), number(), { at: oneOf(["face", "centre"]) }),
    ])();
  for (let i = 0; i < 24; i++) {
    const dimensions = oneOf([1, 2, 3] as const), reach = oneOf([1, 2, 3]);
    const stencil = mixture(dimensions, reach);
    const of = (side?: string): Walls["x"] => {
      if (chance() < 0.15) return "periodic";
      if (chance() < 0.2) return wall(side);
      return chance() < 0.4 ? [wall(side), wall()] : { u: [wall(), wall(side)], v: [wall(), wall()] };
    };
    const names = ["x", "y", "z"].slice(0, dimensions);
    const walls = Object.fromEntries(
      names.map((name, axis) => [name, of(dimensions === 3 ? names[(axis + 1) % 3] : undefined)]),
    ) as unknown as Walls;
    const own = names.map(() => reach + 1 + Math.floor(3 * chance())) as unknown as OwnGrid;
    const [found, wanted] = compared(stencil, walls, own, 3, () => 2 * chance() - 1);
    found.forEach((one, k) =>
      assertAlmostEquals(one, wanted[k]!, 1e-6, `case ${i}: ${JSON.stringify(walls)}`)
    );
  }
});

// Closed forms: what a discrete scheme keeps but for a factor, between walls that it is an image of

/** The largest difference from a closed form after steps of a line, along every axis of which it is the same. */
function errorOf(
  stencil: Stencil,
  walls: Walls,
  own: OwnGrid | readonly [number],
  steps: number,
  exact: (cell: readonly number[], step: number) => number,
): number {
  const axes = axesOf(stencil), grid: Grid = own.length === 1 ? [1, 1, own[0]!] : planned(stencil, own, 1);
  const made = withWalls({ stencil, grid: own.length === 1 ? grid : own as OwnGrid, boundary: walls });
  const [, ny, nz] = grid;
  const valuesAt = (step: number): Float64Array =>
    Float64Array.from({ length: grid.reduce((all, n) => all * n) }, (_, i) => {
      const cell = [Math.floor(i / (ny * nz)), Math.floor(i / nz) % ny, i % nz];
      return exact(axes.map((axis) => cell[axis]!), step);
    });
  const { update } = made.stencil, profiles = initialProfiles(update, grid), boundary = "zero";
  const levels = { current: valuesAt(0), previous: valuesAt(-1) };
  const { current } = runReference(levels, { update, grid, boundary, steps, profiles }),
    wanted = valuesAt(steps);
  return Math.max(...current.map((one, i) => Math.abs(one - wanted[i]!)));
}

/** Heat or waves along each axis, with a rate of their own. */
const diffusing = (dimensions: Dimensions, order: number, rate: number) =>
  equation({
    name: "diffusing",
    dimensions,
    fields: { u: [-1, 1] },
    step: ({ u }) => ({ u: add(u, multiply(rate, laplacian(u, { order }))) }),
  });
const waving = (dimensions: Dimensions, order: number, rate: number) =>
  equation({
    name: "waving",
    dimensions,
    fields: { u: [-1, 1] },
    step: ({ u }) => ({
      u: add(multiply(2, u), multiply(-1, u.before()), multiply(rate, laplacian(u, { order }))),
    }),
  });

/** Walls of a mode along an axis of n cells, and the mode: its phase from cell to cell, and its value. */
const MODES:
  readonly (readonly [Walls["x"], (n: number) => readonly [phase: number, at: (i: number) => number]])[] = [
    [value(0), (n) => [2 * Math.PI / n, (i) => Math.sin(2 * Math.PI * (i + 0.5) / n)]],
    [insulated(), (n) => [Math.PI / n, (i) => Math.cos(Math.PI * (i + 0.5) / n)]],
    [
      [mirror("odd"), mirror("even")],
      (n) => [1.5 * Math.PI / n, (i) => Math.sin(1.5 * Math.PI * (i + 0.5) / n)],
    ],
    [[mirror("odd", { at: "centre" }), insulated()], (n) => {
      const phase = Math.PI / (2 * n - 1);
      return [phase, (i) => Math.sin(phase * i)];
    }],
    [insulated({ at: "centre" }), (n) => [3 * Math.PI / (n - 1), (i) => Math.cos(3 * Math.PI * i / (n - 1))]],
    [[insulated({ at: "centre" }), value(0)], (n) => {
      const phase = Math.PI / (2 * n - 1);
      return [phase, (i) => Math.cos(phase * i)];
    }],
  ];

Deno.test("between mirrors standing waves and modes of heat keep their form, in one to three dimensions and of any order", () => {
  for (const dimensions of [1, 2, 3] as const) {
    for (const order of dimensions === 3 ? [2, 4] : [2, 6]) {
      MODES.forEach((_, first) => {
        const own = [9, 7, 8].slice(0, dimensions), names = ["x", "y", "z"].slice(0, dimensions);
        const modes = own.map((n, axis) => {
          const [walls, mode] = MODES[(first + 2 * axis) % MODES.length]!;
          return [walls, ...mode(n)] as const;
        });
        const walls = Object.fromEntries(modes.map(([its], axis) => [names[axis]!, its])) as unknown as Walls;
        const weights = { 2: [1], 4: [4 / 3, -1 / 12], 6: [3 / 2, -3 / 20, 1 / 90] }[order]!;
        const symbol = modes.reduce(
          (sum, [, phase]) =>
            weights.reduce((all, weight, k) => all + 2 * weight * (Math.cos((k + 1) * phase) - 1), sum),
          0,
        );
        const form = (cell: readonly number[]) =>
          modes.reduce((all, [, , at], axis) => all * at(cell[axis]!), 1);
        const rate = 0.1, what = `${dimensions}, order ${order}, ${first}`;
        const decay = errorOf(
          diffusing(dimensions, order, rate),
          walls,
          own as never,
          20,
          (cell, step) => (1 + rate * symbol) ** step * form(cell),
        );
        assert(decay < 3e-6, `heat, ${what}: ${decay}`);
        const omega = Math.acos(1 + rate * symbol / 2);
        const swing = errorOf(
          waving(dimensions, order, rate),
          walls,
          own as never,
          20,
          (cell, step) => Math.cos(omega * step) * form(cell),
        );
        assert(swing < 3e-5, `wave, ${what}: ${swing}`);
      });
    }
  }
});

Deno.test("steady slopes between values, fluxes and Robin's walls, and what a driven wall sends in, are exact", () => {
  const n = 10, slope = (0.7 - 2) / (n * 1 + 3), rate = 0.2, c = 0.01, still = diffusing(1, 2, rate);
  // along a line of n cells the left face lies half a cell before cell 0
  const robins = { x: [value(2), robin(1, 3, 0.7)] } as const;
  assert(errorOf(still, robins, [n], 50, ([i]) => 2 + slope * (i! + 0.5)) < 1e-5);
  const fed = { x: [value(1, { at: "centre" }), flux(0.25, { at: "centre" })] } as const;
  assert(errorOf(still, fed, [n], 50, ([i]) => 1 + 0.25 * i!) < 1e-5);
  const frame = { x: [value(3, { at: "beyond" }), value(3 + (n + 1) / 4, { at: "beyond" })] } as const;
  assert(errorOf(still, frame, [n], 50, ([i]) => 3 + (i! + 1) / 4) < 1e-5);
  // u = c t + c x²/(2 rate), of which a centre and a slope know all
  const bent = ([i]: readonly number[], step: number): number => c * step + c * i! ** 2 / (2 * rate);
  const driven = {
    x: [value((step) => multiply(c, step), { at: "centre" }), flux(c * (n - 1) / rate, { at: "centre" })],
  } as const;
  assert(errorOf(still, driven, [n], 50, bent) < 1e-5);
  const outside = value((step) => add(multiply(c, step), c / (2 * rate)), { at: "beyond" });
  assert(errorOf(still, { x: [outside, flux(c * (n - 1) / rate, { at: "centre" })] }, [n], 50, bent) < 1e-5);
  // a face that moves, at u = c t + c (x² − ¼)/(2 rate): the mean of two cells is right there, the curve is not
  const face = ([i]: readonly number[], step: number): number =>
    c * step + c * ((i! + 0.5) ** 2 - 0.25) / (2 * rate);
  const moving = { x: [value((step) => multiply(c, step)), flux(c * n / rate)] } as const;
  assert(errorOf(still, moving, [n], 50, face) < 1e-5);
});

Deno.test("what walls keep is kept: heat between insulated faces, water between mirrors", () => {
  const own = [9, 7] as const,
    sum = (of: Float64Array, plane: number, planes: number): number =>
      of.filter((_, i) => Math.floor(i / own[1]) % planes === plane).reduce((all, one) => all + one, 0);
  const heated = diffusing(2, 4, 0.1), box: Walls = { x: insulated(), y: insulated() };
  const water = equation({
    name: "water",
    dimensions: 2,
    fields: { h: [1, 2], vx: [-1, 1], vy: [-1, 1] },
    step: ({ h, vx, vy }) => [
      {
        vx: subtract(vx, multiply(0.3, derivative(h, "x"))),
        vy: subtract(vy, multiply(0.3, derivative(h, "y"))),
      },
      { h: subtract(h, multiply(0.3, divergence([vx.next(), vy.next()]))) },
    ],
  });
  const solid: Walls = {
    x: { h: mirror("even"), vx: mirror("odd"), vy: mirror("even") },
    y: { h: mirror("even"), vx: mirror("even"), vy: mirror("odd") },
  };
  const chance = randomNumbers(7);
  for (const [stencil, walls, planes] of [[heated, box, 1], [water, solid, 3]] as const) {
    const start = Float64Array.from({ length: 63 * planes }, chance), grid: Grid = [9, 1, 7];
    const { update } = withWalls({ stencil, grid: own, boundary: walls }).stencil;
    const { current } = runReference({ current: start, previous: start }, {
      update,
      grid,
      boundary: "zero",
      steps: 400,
      profiles: initialProfiles(update, grid),
    });
    assertAlmostEquals(sum(current, 0, planes), sum(start, 0, planes), 1e-5, stencil.name);
  }
});

Deno.test("walls that words say are these words; a walled equation is a definition like others", () => {
  const stencil = heat(2), grid: Grid = [6, 6, 6];
  const zeros: Walls = { x: value(0, { at: "beyond" }), y: "zero", z: ["zero", "zero"] as never };
  const made = withWalls({ stencil, grid, boundary: zeros });
  assertEquals([made.stencil, made.boundary], [stencil, "zero"]);
  const mixed: Walls = { x: "periodic", y: insulated({ at: "centre" }), z: value(1) };
  const walled = withWalls({ stencil, grid, boundary: mixed });
  assertEquals(walled.boundary, ["periodic", "zero", "zero"]);
  const again = stencilOf(JSON.parse(JSON.stringify(definitionOf(walled.stencil))));
  assertEquals([hashOf(again.update), again.update.profiles], [
    hashOf(walled.stencil.update),
    walled.stencil.update.profiles,
  ]);
  // the word's mirror
  const start = Float64Array.from({ length: 216 }, (_, i) => Math.sin(i * i));
  const run = { grid, steps: 5 }, levels = { current: start, previous: start };
  const { stencil: { update } } = withWalls({ stencil, grid, boundary: { ...mixed, z: "periodic" } });
  const profiles = initialProfiles(update, grid);
  const found = runReference(levels, {
    ...run,
    update,
    boundary: ["periodic", "zero", "periodic"],
    profiles,
  });
  const wanted = runReference(levels, {
    ...run,
    update: stencil.update,
    boundary: ["periodic", "insulated", "periodic"],
  });
  found.current.forEach((one, i) => assertAlmostEquals(one, wanted.current[i]!, 1e-6));
});

Deno.test("a wall that moves brings no signal where it is read in cells alone that keep another wall's value", () => {
  const pair = equation({
    name: "pair",
    fields: { u: [-1, 1], v: [-1, 1] },
    step: ({ u, v }) => ({ u: v!.at(1), v: u!.at(-1) }),
  });
  const moves = value((step) => step), kept = value(1, { at: "centre" });
  const signalOf = (u: Wall, v: Wall) =>
    withWalls({
      stencil: pair,
      grid: [6, 5, 4],
      boundary: { x: { u: [u, u], v: [v, v] }, y: "periodic", z: "periodic" },
    }).stencil.update.signal;
  assertEquals(signalOf(kept, moves), undefined);
  assert(signalOf(value(1), moves) !== undefined);
});

Deno.test("an axis that is left out has the equation's default boundary", () => {
  const told = (boundaries?: readonly Boundary[]) => {
    const stencil = { ...heat(1), ...(boundaries && { boundaries }) };
    const { boundary } = checkProblem("compute", { stencil, grid: [6, 5, 4], boundary: { y: "periodic" } });
    return boundary;
  };
  assertEquals(told(), ["zero", "periodic", "zero"]);
  assertEquals(told(["insulated", "periodic"]), ["insulated", "periodic", "insulated"]);
});

Deno.test("walls that make no sense are refused, with what was wanted and found", () => {
  const pair = equation({
    name: "pair",
    fields: { u: [0, 1], v: [0, 1] },
    signal: (step) => sine(step),
    step: ({ u, v }, signal) => ({ u: add(u.at(1), signal), v: v.at(0, 2) }),
  });
  const all = { y: "zero", z: "zero" } as const;
  const refused: readonly (readonly [unknown, string])[] = [
    [{ x: "zero", y: "zero", w: "zero" }, 'axes: x, y, z are wanted: found "w"'],
    [{ x: "open", ...all }, 'x: zero, periodic, insulated, or walls, are wanted: found "open"'],
    [{ x: 3, ...all }, "x, field u: value, flux, insulated, mirror, robin"],
    [{ x: [value(1)], ...all }, "x, field u: a wall, or one for each end, is wanted: found 1"],
    [{ x: { u: value(1) }, ...all }, "x, field v: value, flux"],
    [{ x: { u: value(1), p: value(1) }, ...all }, 'walls of u, v are wanted: found "p"'],
    [
      { x: value(1, { at: "edge" as never }), ...all },
      "a place at the face, the centre, or beyond is wanted",
    ],
    [{ x: flux(1, { at: "beyond" }), ...all }, "beyond the end a value is wanted"],
    [{ x: value(1, { shape: { x: (x) => x } }), ...all }, "x, field u: functions of y, z are wanted"],
    [{ x: value(NaN), ...all }, "a number, or a function of the step, is wanted"],
    [{ x: { u: "zero", v: { ...value(0), damping: 3 } }, ...all }, "x, field v: cells and a peak"],
    [{ x: robin(0, 0, 1), ...all }, "numbers a and b, not both 0, are wanted"],
    [{ x: robin(2, -1, 1), ...all }, "a law that says what lies beyond is wanted"],
    [{ ...all, x: value((step) => cosine(step)) }, "one value that changes with the step is wanted"],
    [{ ...all, x: "zero", y: value(1) }, "grid: more than 2 cells between walls are wanted"],
    [
      { ...all, x: { u: "zero", v: absorbing({ cells: 1, courant: 2 }) } },
      "x: a courant up to 1, a step's reach, is wanted: found 2",
    ],
  ];
  for (const [boundary, message] of refused) {
    const given = { stencil: pair, grid: [4, 2, 4] as const, boundary: boundary as Walls };
    assertThrows(() => withWalls(given), RangeError, message, message);
  }
});

Deno.test("absorbing ends take waves of second and of first order, and let little of them come back", () => {
  const n = 240, cells = 46, courant = 0.5, steps = 700, wavelength = 20;
  const pair = equation({
    name: "pair",
    dimensions: 1,
    fields: { p: [-1, 1], v: [-1, 1] },
    step: ({ p, v }) => [
      { v: subtract(v, multiply(courant, derivative(p, "x", { stagger: "forward" }))) },
      { p: subtract(p, multiply(courant, derivative(v.next(), "x", { stagger: "backward" }))) },
    ],
  });
  const end = absorbing({ cells, courant });
  for (const stencil of [waving(1, 2, courant ** 2), pair]) {
    // what a pulse in the middle leaves once it has been at the ends, beside what it was
    const restAt = (boundary: Walls): number => {
      const grid: Grid = [1, 1, n], made = withWalls({ stencil, grid, boundary }).stencil.update;
      const start = new Float64Array(n * made.fields.length);
      for (let i = 0; i < n; i++) {
        const at = (i - n / 2) / wavelength;
        start[i] = (1 - 2 * (Math.PI * at) ** 2) * Math.exp(-((Math.PI * at) ** 2));
      }
      const run = {
        update: made,
        grid,
        boundary: "zero" as const,
        steps,
        profiles: initialProfiles(made, grid),
      };
      const { current } = runReference({ current: start, previous: start }, run);
      return Math.max(...current.subarray(0, n).map(Math.abs));
    };
    const [absorbed, reflected] = [restAt({ x: end }), restAt({ x: [end, "zero" as never] })];
    assert(reflected > 0.1 && absorbed < 0.01 * reflected, `${stencil.name}: ${absorbed}, ${reflected}`);
  }
});

// Bit for bit in all traversals

const GRID: Grid = [11, 9, 10];

/** An equation of whole numbers between walls, with what lies around it. */
function between(
  stencil: Stencil,
  boundary: Walls,
  grid: OwnGrid = GRID,
): [Stencil, AxisBoundaries | "zero"] {
  const made = withWalls({ stencil, grid, boundary });
  return [made.stencil, made.boundary as AxisBoundaries];
}

const around = (u: Parameters<Parameters<typeof equation<"u">>[0]["step"]>[0]["u"]): Value[] => [
  ...[u.at(1), u.at(0, 1), u.at(0, 0, 2), multiply(-1, u.at(-1))],
  ...[u.at(-2), multiply(-1, u.at(0, -1)), multiply(2, u.at(0, 0, -1))],
];
const clamped = (limit: number, of: Value): Value =>
  maximum(-limit, multiply(-1, maximum(-limit, multiply(-1, of))));
const ONE = (readsBefore: boolean) =>
  equation({
    name: "one",
    title: `walls${readsBefore ? "" : ", one level"}`,
    fields: { u: [-4, 3] },
    step({ u }) {
      const sum = add(u, ...around(u));
      return { u: clamped(99, readsBefore ? subtract(sum, u.before()) : sum) };
    },
  });
const TWO = equation({
  name: "two",
  title: "walls of two fields",
  fields: { u: [-4, 3], v: [-4, 3] },
  step: ({ u, v }) => [
    { u: clamped(99, add(u, v.at(1), v.at(0, -1), multiply(-1, v.at(0, 0, 1)))) },
    { v: clamped(99, add(v, u.next(-1), u.next(0, 1), multiply(-1, u.next(0, 0, -1)))) },
  ],
});
const MIXED: Walls = {
  x: [value(2), flux(1, { at: "centre" })],
  y: [mirror("odd"), insulated({ at: "centre" })],
  z: [value(-3, { at: "centre" }), value(1, { at: "beyond" })],
};
const BY_FIELD: Walls = {
  x: { u: [mirror("odd"), value(1)], v: insulated() },
  y: { u: insulated(), v: [flux(2), mirror("odd", { at: "centre" })] },
  z: { u: mirror("even", { at: "centre" }), v: value(1, { at: "beyond" }) },
};
const LINEAR = (readsBefore: boolean) =>
  equation({
    name: "linear",
    title: `walls, a sum${readsBefore ? "" : ", one level"}`,
    fields: { u: [-4, 3] },
    step({ u }) {
      const sum = add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1), u.at(0, 0, 1), multiply(2, u.at(0, 0, -1)));
      return { u: readsBefore ? subtract(sum, u.before()) : sum };
    },
  });

const [ALL] = between(ONE(true), MIXED),
  [LEVEL] = between(ONE(false), MIXED),
  [PAIR] = between(TWO, BY_FIELD);
const SLOPES: Walls = { ...MIXED, z: [insulated(), flux(1)] };
const [SUM] = between(LINEAR(false), SLOPES), [SUM_BEFORE] = between(LINEAR(true), SLOPES);
const [RING, RINGED] = between(ONE(true), { ...MIXED, y: "periodic" });
testRows([
  [ALL, GRID, inSteps([4, 2, 2]), [3, 2], { sections: 3 }],
  [RING, GRID, inSteps([4, 2, 2]), [3, 2], { boundary: RINGED }],
  [PAIR, GRID, inSteps([4, 2, 2]), [3, 2]],
  [ALL, GRID, inMarches([2, 8, 4, 2, 1, 1, 1]), [3, 2]],
  [LEVEL, GRID, inMarches([2, 16, 16, 2, 0, 1, 2]), [3, 2]],
  [PAIR, GRID, inMarches([1, 6, 5, 2, 0, 1, 1]), [3, 2]],
  [SUM, GRID, inTorres([1, 4, 1, 2, 5, 2, 1, 99]), [3, 2]],
  [SUM_BEFORE, GRID, inTorres([1, 4, 1, 1, 10, 2, 1, 99]), [3, 2]],
  [SUM_BEFORE, GRID, inVolumeTorres([4, 2, 2, 2, 2, 1, 4, 1]), [3, 2]],
]);
