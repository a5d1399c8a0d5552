/**
 * Equations of every shape that are exact on whole numbers: each misplaced read shows in the bits.
 *
 * @module
 */
import { profilesOf } from "../../kernels/axis_profiles.ts";
import { along, equation, type FieldTap } from "../../kernels/equation.ts";
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
import { packingOf } from "../../kernels/packing.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { maxwell, type MaxwellOptions } from "../../kernels/stencils/maxwell.ts";
import type { InSpace, Stencil } from "../../kernels/stencils/stencil.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { type Material, updateOf } from "../../kernels/update.ts";
import { reweighted } from "./reweighted.ts";

/** What makes an equation one of the plane. */
export const PLANE = { dimensions: 2 } as const;

/** Values of a material. */
export const SIGNS = { values: [1, -1, 0, 2, 1, -2, -1, 1] }, FEW = { values: [1, 0, -1, 2, 0, 1, 1, 0] };

/** Axis profiles along each axis. */
export const ALONG = {
  x: along("x", { values: [1, 0, 2, -1, 0, 1, -2, 3] }),
  y: along("y", { values: [2, 0, -1, 1, 0, 1, -2, 1] }),
  z: along("z", { values: [0, 1, 0, -1, 2, 1, 0, -1] }),
};

/** The sum of the terms, kept between −limit and limit, so that whole numbers are exact after any number of steps. */
export function clamped(limit: number, ...terms: Parameters<typeof add>): Expression {
  return maximum(-limit, minimum(limit, add(...terms)));
}

/** Σ weight · term. */
export function weighted(...terms: [weight: number, term: Expression][]): Expression {
  return terms.map(([weight, term]) => multiply(constant(weight), term)).reduce((sum, term) =>
    add(sum, term)
  );
}

/** Weights that are whole numbers, another for every distance, of values that stay between −99 and 99. */
export function bounded(of: Stencil): Stencil {
  const update = reweighted(of.update, [-1, 1, -1]);
  const within = update.substeps.map((substep) =>
    substep.map((one) => ({ ...one, value: clamped(99, one.value) }))
  );
  return { ...of, update: { ...update, substeps: within } };
}

/** An equation of one field in three dimensions. */
export function stencilOf(title: string, update: Expression): Stencil {
  return { ...wave(2), title, update: updateOf(update) };
}

/**
 * The wave equation's shape with whole-number weights, another for every distance: exact on whole numbers, growing as
 * little as that allows.
 */
export function wholeNumberWave(order: number, space: InSpace = {}): Stencil {
  const made = wave(order, space), sides = [1, -1, 2, -2, 3, -3, 4].slice(0, order / 2);
  return {
    ...made,
    title: `whole-number weights, order ${order}`,
    update: reweighted(made.update, [-1, ...sides]),
  };
}

/** The same of heat diffusion. */
export function wholeNumberHeat(delta: number, space: InSpace = {}): Stencil {
  const made = heat(delta, space), sides = Array.from({ length: delta }, (_, i) => i % 2 === 0 ? 1 : -1);
  return {
    ...made,
    title: `whole-number heat, delta ${delta}`,
    update: reweighted(made.update, [-1, ...sides]),
  };
}

/**
 * Elastic waves with a free surface and edges: whole-number weights, materials and profiles, and a push with a signal; exact
 * on whole numbers for a few steps.
 */
export function wholeNumberElastic(): Stencil {
  // whole numbers make no ground, and ends of all kinds are wanted
  const { misfit: _, surface: __, edges: ___, ...stencil } = elastic({ surface: "free" });
  const { profiles = [], ...own } = stencil.update;
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
    title: `Yee's grid, materials ${
      update.materials.map(({ name }) => name)
    }, edges ${stencil.variant.edges}, whole numbers`,
    update: {
      ...update,
      materials: update.materials.map(scattered),
      profiles: profilesOf(update).map((one, i) => {
        const cells = update.layers?.find(({ axis }) => axis === one.axis)?.cells;
        const { formula: _, ...sampled } = scattered(one, i + 3);
        if (update.layers === undefined) return sampled;
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
    materials: { m: SIGNS },
    initialField: "integers",
    step({ p, m }) {
      const sides = [1, reach].flatMap((by) => [
        subtract(p.at(by, 0, 0), p.at(-by, 0, 0)),
        multiply(2, subtract(p.at(0, by, 0), p.at(0, -by, 0))),
        subtract(p.at(0, 0, by), multiply(2, p.at(0, 0, -by))),
      ]);
      const around = add(...sides.slice(0, 3 * reach) as [Expression, ...Expression[]]);
      return { p: clamped(8, subtract(multiply(m, around), p.before())) };
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
  const { edges: _, ...stencil } = elastic();
  return {
    ...stencil,
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
  return equation({
    name: "yee",
    title: "Yee's scheme, whole numbers",
    fields: { ex: [-1, 1], ey: [-1, 1], ez: [-1, 1], hx: [-1, 1], hy: [-1, 1], hz: [-1, 1] },
    materials: { m: SIGNS },
    initialField: "integers",
    step({ ex, ey, ez, hx, hy, hz, m }) {
      /** The difference of a field's values, the second one cell behind. */
      const behind = ({ next }: FieldTap, ...cell: number[]): Value => subtract(next(), next(...cell));
      const ahead = (of: FieldTap, ...cell: number[]): Value => subtract(of.at(...cell), of);
      const push = (own: Value, by: Value, ...cell: number[]): Expression =>
        clamped(8, own, multiply(add(m, m.at(...cell)), by));
      return [
        {
          hx: clamped(8, hx, subtract(ahead(ey, 0, 0, 1), ahead(ez, 0, 1))),
          hy: clamped(8, hy, subtract(ahead(ez, 1), multiply(2, ahead(ex, 0, 0, 1)))),
          hz: clamped(8, hz, subtract(ahead(ex, 0, 1), ahead(ey, 1))),
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
      dz: ALONG.z,
    },
    step({ u, dx, dy, dz }) {
      const slice = add(multiply(add(dx, dy, dz), u), u.at(0, 1), u.at(0, 0, -1));
      const sum = add(
        shifted(slice, 1, 0, 0),
        shifted(slice, -1, 0, 0),
        multiply(dx.at(1), dy.at(0, -1), u.at(0, -1)),
        multiply(dz.at(0, 0, 2), u.at(0, 0, 2)),
      );
      return { u: clamped(99, readsBefore ? subtract(sum, multiply(dz, u.before())) : sum) };
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
      m: FEW,
      dx: ALONG.x,
      dy: ALONG.y,
      dz: ALONG.z,
    },
    step({ u, m, dx, dy, dz }) {
      const sides = add(
        u.at(1),
        u.at(0, -1),
        u.at(0, 0, 1),
        multiply(dx.at(-1), u.at(-1)),
        maximum(dy.at(0, 1), m),
      );
      const d = add(dx, dy, dz.at(0, 0, -1));
      return { u: clamped(99, subtract(add(sides, multiply(d, u)), multiply(dz, u.before()))) };
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
      dx: ALONG.x,
      dy: ALONG.y,
      dz: ALONG.z,
    },
    step: ({ u, w, dx, dy, dz }) => [
      { u: clamped(99, multiply(add(dx, dy.at(0, 1), dz), w), w.at(1), w.at(0, 0, 1)) },
      { w: clamped(99, multiply(dx.at(-1), u.next(-1)), u.next(0, -1), u.next(0, 0, -1)) },
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
