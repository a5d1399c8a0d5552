/**
 * Elastic waves in three dimensions: velocity and stress on a staggered grid, second order in time, fourth order in
 * space (Levander, "Fourth-order finite-difference P-SV seismograms", Geophysics 1988, 53(11); Liu, Perumalla, B2R,
 * Eq. 10 and 11):
 *
 *     ∂v/∂t = b (∇·σ + f),    ∂σ/∂t = λ (∇·v) I + μ (∇v + ∇vᵀ),    b = 1/ρ
 *     D f = (9/8 (f_{+1/2} − f_{−1/2}) − 1/24 (f_{+3/2} − f_{−3/2})) / h
 *
 * A step has two sub-steps: velocities from stresses, then stresses from the new velocities. Within a cell, σxx, σyy,
 * σzz lie at the corner (i, j, k), vx half a cell further along x, vy along y, vz along z, σxy along x and y, and so
 * on; velocities are half a time step behind the stresses. Units: h = 1, the largest speed of P waves is 1.
 *
 * @module
 */
import { equation, type FieldTap, type MaterialSource } from "../equation.ts";
import { constant, type Expression } from "../expression.ts";
import { add, exponential, multiply, subtract } from "../operations.ts";
import { type Equation, oneOf, requireStable, type Stencil } from "./stencil.ts";

/** Largest stable Courant number V_p Δt/h: 6/(7√3). */
export const ELASTIC_LIMIT: number = 6 / (7 * Math.sqrt(3));

/** `scattered`: buoyancy, λ and μ differ from cell to cell. `uniform`: they are constants, not arrays. */
export const MEDIA = ["scattered", "uniform"] as const;

/** The fields, in the order of their planes. */
export const ELASTIC_FIELDS = ["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"] as const;

/** Buoyancy and Lamé parameters of the uniform medium; P waves travel at speed 1, S waves at ½. */
const UNIFORM = { buoyancy: 1, lambda: 0.5, mu: 0.25 } as const;

/** Those of the scattered one: eight values from 9/16 of the uniform one's to it, which are exact in f32. */
const SCATTERED: Readonly<Record<keyof typeof UNIFORM, MaterialSource>> = {
  buoyancy: [9 / 16, 1],
  lambda: [9 / 32, 1 / 2],
  mu: [9 / 64, 1 / 4],
};

type Field = typeof ELASTIC_FIELDS[number];
type Axis = 0 | 1 | 2;
const X = 0, Y = 1, Z = 2, VELOCITIES = ["vx", "vy", "vz"] as const;

/**
 * Elastic waves with a body force, which a solver starts without: write `force`, as 1 in the cell of a source.
 *
 * @param options the Courant number V_p Δt/h, 0.9 times {@linkcode ELASTIC_LIMIT} unless given; and whether buoyancy, λ
 *   and μ differ from cell to cell, as they do unless given
 * @returns the stencil: nine fields, two sub-steps, which together reach 4 cells along each axis
 * @throws {RangeError} for a Courant number beyond the stability limit
 *
 * @example
 * ```ts
 * import { elastic } from "./elastic.ts";
 * import { stepReach } from "../update.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(stepReach(elastic().update).x, 4);
 * ```
 */
export function elastic(
  options: { courant?: number | undefined; medium?: typeof MEDIA[number] | undefined } = {},
): Stencil {
  const { courant = 0.9 * ELASTIC_LIMIT, medium = "scattered" } = options;
  requireStable("elastic", "the Courant number V_p Δt/h", courant, ELASTIC_LIMIT);
  const isUniform = medium === "uniform";
  // Δt times the force's direction, the same along every axis
  const force = courant / Math.sqrt(3);
  /** D along an axis, at the point half a cell further than the field's (`shift` = 0) or behind (−1). */
  const derivative = (axis: Axis, of: FieldTap["at"], shift: 0 | -1): Expression => {
    const at = (cells: number): Expression => of(...[0, 0, 0].with(axis, cells + shift));
    return subtract(
      multiply(9 / 8 * courant, subtract(at(1), at(0))),
      multiply(courant / 24, subtract(at(2), at(-1))),
    );
  };
  const stencil = equation({
    name: "elastic",
    variant: { medium },
    title: `elastic waves, ${medium} medium`,
    fields: Object.fromEntries(ELASTIC_FIELDS.map((name) => [name, [-1, 1]])) as Record<Field, [-1, 1]>,
    materials: {
      ...(isUniform ? {} : SCATTERED) as typeof SCATTERED,
      force: { values: [0, 0, 0, 0, 0, 0, 0, 1] },
    },
    signal: rickerWavelet,
    step(planes, signal) {
      const { buoyancy, lambda, mu } = isUniform ? UNIFORM : planes;
      const push = multiply(force, multiply(planes.force, signal));
      const velocity = (axis: Axis, stresses: readonly [x: Field, y: Field, z: Field]): Expression => {
        // a normal stress lies behind the velocity's point, a shear stress on either side of it
        const along = stresses.map((name, i) => derivative(i as Axis, planes[name].at, i === axis ? 0 : -1));
        const divergence = add(along[X]!, along[Y]!, along[Z]!);
        return add(planes[VELOCITIES[axis]], multiply(buoyancy, add(divergence, push)));
      };
      const rate = (axis: Axis, of: Axis, shift: 0 | -1): Expression =>
        derivative(axis, planes[VELOCITIES[of]].next, shift);
      const compression = multiply(lambda, add(rate(X, X, -1), rate(Y, Y, -1), rate(Z, Z, -1)));
      const normal = (field: Field, axis: Axis): Expression =>
        add(planes[field], add(compression, multiply(add(mu, mu), rate(axis, axis, -1))));
      const shear = (field: Field, a: Axis, b: Axis): Expression =>
        add(planes[field], multiply(mu, add(rate(b, a, 0), rate(a, b, 0))));
      return [
        {
          vx: velocity(X, ["sxx", "sxy", "sxz"]),
          vy: velocity(Y, ["sxy", "syy", "syz"]),
          vz: velocity(Z, ["sxz", "syz", "szz"]),
        },
        {
          sxx: normal("sxx", X),
          syy: normal("syy", Y),
          szz: normal("szz", Z),
          sxy: shear("sxy", X, Y),
          sxz: shear("sxz", X, Z),
          syz: shear("syz", Y, Z),
        },
      ];
    },
  });
  // forces are scattered where it is tuned; a solver starts without any
  const startOf = (name: string) => name === "force" ? { formula: constant(0) } : {};
  const materials = stencil.update.materials.map((one) => ({ ...one, ...startOf(one.name) }));
  return { ...stencil, update: { ...stencil.update, materials } };
}

/** The second derivative of a Gaussian, 1 at its peak 20 steps after the start; its period is about 15 steps. */
function rickerWavelet(step: Expression): Expression {
  const phase = multiply(Math.PI / 15, subtract(step, 20)), square = multiply(phase, phase);
  return multiply(subtract(1, multiply(2, square)), exponential(subtract(0, square)));
}

export const ELASTIC: Equation = {
  name: "elastic",
  title: "elastic waves, velocity and stress on a staggered grid",
  variant: oneOf("medium", "buoyancy and Lamé parameters", MEDIA),
  timeStep: { name: "courant", formula: "V_pΔt/h", limit: () => ELASTIC_LIMIT },
  create: (medium, courant) => elastic({ medium: MEDIA.find((name) => name === medium), courant }),
};
