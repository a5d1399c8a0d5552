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
import type { Expression, Offset } from "../expression.ts";
import { add, exponential, multiply, subtract, type Value } from "../operations.ts";
import type { Update } from "../update.ts";
import { phasesOf } from "./cross.ts";
import {
  type Equation,
  type ExactSolution,
  type Grid,
  oneOf,
  requireStable,
  type Stencil,
} from "./stencil.ts";

/** Largest stable Courant number V_p Δt/h: 6/(7√3). */
export const ELASTIC_LIMIT: number = 6 / (7 * Math.sqrt(3));

/** `scattered`: buoyancy, λ and μ differ from cell to cell. `uniform`: they are constants, not arrays. */
export const MEDIA = ["scattered", "uniform"] as const;

/** The fields, in the order of their planes. */
export const ELASTIC_FIELDS = ["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"] as const;

/** Buoyancy and Lamé parameters of the uniform medium; P waves travel at speed 1, S waves at ½. */
const UNIFORM = { buoyancy: 1, lambda: 0.5, mu: 0.25 } as const;

/** Eight values from 9/16 of the largest to it, which are exact in f32. */
function scattered(largest: number): MaterialSource {
  return [largest * 9 / 16, largest];
}

type Axis = 0 | 1 | 2;
const X = 0, Y = 1, Z = 2, VELOCITIES = ["vx", "vy", "vz"] as const;

/** Numbers of {@linkcode elasticUpdate}. */
export interface ElasticWeights {
  /** 9/8 Δt/h and 1/24 Δt/h: weights of the near and the far difference. */
  readonly near: number;
  readonly far: number;
  /** Δt times the force's direction. */
  readonly force: Offset;
  /** Buoyancy, λ and μ: materials, or numbers. */
  readonly medium: Readonly<Record<"buoyancy" | "lambda" | "mu", MaterialSource | number>>;
  /** Distribution of the body force. */
  readonly source: MaterialSource;
  /** Its course in time. */
  readonly signal: (step: Expression) => Value;
}

/** The two sub-steps; whole-number weights make them exact on whole numbers. */
export function elasticUpdate(weights: ElasticWeights): Update {
  return elasticOf(weights).update;
}

type Field = typeof ELASTIC_FIELDS[number];

function elasticOf({ near, far, force, medium, source, signal }: ElasticWeights): Stencil {
  const arrays = Object.entries(medium).filter(([, value]) => typeof value !== "number");
  return equation({
    name: "elastic",
    fields: Object.fromEntries(ELASTIC_FIELDS.map((name) => [name, [-1, 1]])) as Record<Field, [-1, 1]>,
    materials: {
      ...Object.fromEntries(arrays) as Record<keyof typeof medium, MaterialSource>,
      force: source,
    },
    signal,
    step(planes, signal) {
      const parameter = (name: keyof typeof medium): Value => {
        const value = medium[name];
        return typeof value === "number" ? value : planes[name];
      };
      const [buoyancy, lambda, mu] = [parameter("buoyancy"), parameter("lambda"), parameter("mu")];
      const strength = multiply(planes.force, signal);
      /** D along an axis, at the point half a cell further than the field's (`shift` = 0) or behind (−1). */
      const derivative = (axis: Axis, of: FieldTap["at"], shift: 0 | -1): Expression => {
        const at = (cells: number): Expression => of(...[0, 0, 0].with(axis, cells + shift));
        return subtract(
          multiply(near, subtract(at(1), at(0))),
          multiply(far, subtract(at(2), at(-1))),
        );
      };
      const velocity = (axis: Axis, stresses: readonly [x: Field, y: Field, z: Field]): Expression => {
        // a normal stress lies behind the velocity's point, a shear stress on either side of it
        const along = stresses.map((name, i) => derivative(i as Axis, planes[name].at, i === axis ? 0 : -1));
        const divergence = add(along[X]!, along[Y]!, along[Z]!);
        const push = multiply(force[axis], strength);
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
}

/** Options of {@linkcode elastic}. */
export interface ElasticOptions {
  /**
   * V_p Δt/h, above 0 and at most {@linkcode ELASTIC_LIMIT}.
   * @default {0.9 · ELASTIC_LIMIT}
   */
  courant?: number | undefined;
  /**
   * Whether buoyancy, λ and μ differ from cell to cell.
   * @default {"scattered"}
   */
  medium?: typeof MEDIA[number] | undefined;
}

/**
 * Elastic waves with a body force.
 *
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
  { courant = 0.9 * ELASTIC_LIMIT, medium = "scattered" }: ElasticOptions = {},
): Stencil {
  requireStable("elastic", "the Courant number V_p Δt/h", courant, ELASTIC_LIMIT);
  const { buoyancy, lambda, mu } = UNIFORM;
  const isUniform = medium === "uniform";
  const diagonal = courant / Math.sqrt(3);
  return {
    ...elasticOf({
      near: 9 / 8 * courant,
      far: courant / 24,
      force: [diagonal, diagonal, diagonal],
      medium: isUniform
        ? UNIFORM
        : { buoyancy: scattered(buoyancy), lambda: scattered(lambda), mu: scattered(mu) },
      source: { values: [0, 0, 0, 0, 0, 0, 0, 1] },
      signal: rickerWavelet,
    }),
    variant: { medium },
    title: `elastic waves, ${medium} medium`,
    ...(isUniform && {
      planeWave: (grid: Grid, modes: Offset) => elasticPlaneWave(grid, modes, { courant, kind: "P" }),
    }),
  };
}

/** The second derivative of a Gaussian, 1 at its peak 20 steps after the start; its period is about 15 steps. */
function rickerWavelet(step: Expression): Expression {
  const phase = multiply(Math.PI / 15, subtract(step, 20)), square = multiply(phase, phase);
  return multiply(subtract(1, multiply(2, square)), exponential(subtract(0, square)));
}

/** What D multiplies a wave of phase θ = kh a cell by, without the factor i: 2(9/8 sin θ/2 − 1/24 sin 3θ/2). */
function symbolAt(theta: number): number {
  return 2 * (9 / 8 * Math.sin(theta / 2) - Math.sin(3 * theta / 2) / 24);
}

/**
 * A plane wave that the scheme carries without error in the uniform medium without a force:
 * sin(ωΔt/2) = (cΔt/2)|D|. Stresses are those at `step`, velocities half a step earlier. P: the ground moves along
 * **D**, the wave vector as the scheme sees it. S: across it. The modes are whole periods, not all zero.
 */
export function elasticPlaneWave(
  grid: Grid,
  modes: Offset,
  { courant, kind }: { readonly courant: number; readonly kind: "P" | "S" },
): ExactSolution {
  const { buoyancy, lambda, mu } = UNIFORM;
  const [kx, ky, kz] = phasesOf(grid, modes);
  const wave: Offset = [symbolAt(kx), symbolAt(ky), symbolAt(kz)];
  const length = Math.hypot(...wave);
  const along: Offset = [wave[X] / length, wave[Y] / length, wave[Z] / length];
  const direction = kind === "P" ? along : across(along);
  const speed = Math.sqrt(buoyancy * (kind === "P" ? lambda + 2 * mu : mu));
  const halfOmega = Math.asin(courant * speed * length / 2);
  const frequency = speed * length;
  const dilation = wave[X] * direction[X] + wave[Y] * direction[Y] + wave[Z] * direction[Z];
  /** Amplitudes of the stresses: Ω σ = −(λ (D·v) I + μ (D vᵀ + v Dᵀ)). */
  const stress = (a: Axis, b: Axis): number =>
    -((a === b ? lambda * dilation : 0) + mu * (wave[a] * direction[b] + wave[b] * direction[a])) / frequency;
  const half = (kx + ky + kz) / 2;
  /** Amplitude of each field, and its phase within a cell; velocities are half a step behind. */
  const parts: readonly (readonly [amplitude: number, phase: number])[] = [
    [direction[X], kx / 2 + halfOmega],
    [direction[Y], ky / 2 + halfOmega],
    [direction[Z], kz / 2 + halfOmega],
    [stress(X, X), 0],
    [stress(Y, Y), 0],
    [stress(Z, Z), 0],
    [stress(X, Y), half - kz / 2],
    [stress(X, Z), half - ky / 2],
    [stress(Y, Z), half - kx / 2],
  ];
  return {
    at([x, y, z], step, field = 0) {
      const [amplitude, phase] = parts[field]!;
      return amplitude * Math.cos(kx * x + ky * y + kz * z + phase - 2 * halfOmega * step);
    },
  };
}

/** A unit vector across another. */
function across([x, y, z]: Offset): Offset {
  const [a, b, c]: Offset = Math.abs(x) < 0.5 ? [0, z, -y] : [-z, 0, x];
  const length = Math.hypot(a, b, c);
  return [a / length, b / length, c / length];
}

/** Elastic waves as the command line offers them. */
export const ELASTIC: Equation = {
  name: "elastic",
  title: "elastic waves, velocity and stress on a staggered grid",
  variant: {
    name: "medium",
    placeholder: "NAME",
    title: "buoyancy and Lamé parameters",
    default: MEDIA[0],
    ...oneOf(MEDIA),
  },
  timeStep: { name: "courant", formula: "V_pΔt/h", limit: () => ELASTIC_LIMIT },
  create: (medium, courant) => elastic({ medium: MEDIA.find((name) => name === medium), courant }),
};
