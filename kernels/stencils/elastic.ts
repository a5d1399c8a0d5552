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
import {
  add,
  type Ago,
  constant,
  exponential,
  type Expression,
  formula,
  multiply,
  type Offset,
  SIGNAL,
  subtract,
  tap,
} from "../expression.ts";
import type { Material, Update } from "../update.ts";
import { phasesOf } from "./cross.ts";
import { type ExactSolution, type Grid, requireStable, type Stencil } from "./stencil.ts";

/** Largest stable Courant number V_p Δt/h: 6/(7√3). */
export const ELASTIC_LIMIT: number = 6 / (7 * Math.sqrt(3));

/** `scattered`: buoyancy, λ and μ differ from cell to cell. `uniform`: they are constants, not arrays. */
export const MEDIA = ["scattered", "uniform"] as const;

/** The fields, in the order of their planes. */
export const ELASTIC_FIELDS = ["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"] as const;

/** Buoyancy and Lamé parameters of the uniform medium; P waves travel at speed 1, S waves at ½. */
const UNIFORM = { buoyancy: 1, lambda: 0.5, mu: 0.25 } as const;

/** Multiples of 1/16 from 9/16 to 1, times a power of two: exact in f32. */
function scattered(name: string, largest: number): Material {
  return { name, values: Array.from({ length: 8 }, (_, i) => largest * (9 + i) / 16) };
}

type Axis = 0 | 1 | 2;
const X = 0, Y = 1, Z = 2;

/** Planes of the fields; those of vy and vz follow that of vx. */
const VX = 0, SXX = 3, SYY = 4, SZZ = 5, SXY = 6, SXZ = 7, SYZ = 8;

/** Numbers of {@linkcode elasticUpdate}. */
export interface ElasticWeights {
  /** 9/8 Δt/h and 1/24 Δt/h: weights of the near and the far difference. */
  readonly near: number;
  readonly far: number;
  /** Δt times the force's direction. */
  readonly force: Offset;
  /** Buoyancy, λ and μ: materials, or numbers. */
  readonly medium: readonly [buoyancy: Material | number, lambda: Material | number, mu: Material | number];
  /** Distribution of the body force. */
  readonly source: Material;
  /** Its course in time. */
  readonly signal: Expression;
}

/** The two sub-steps; whole-number weights make them exact on whole numbers. */
export function elasticUpdate({ near, far, force, medium, source, signal }: ElasticWeights): Update {
  const materials: Material[] = [];
  const parameter = (value: Material | number): Expression => {
    if (typeof value === "number") return constant(value);
    materials.push(value);
    return tap(0, 0, 0, 0, ELASTIC_FIELDS.length + materials.length - 1);
  };
  const buoyancy = parameter(medium[0]), lambda = parameter(medium[1]), mu = parameter(medium[2]);
  const strength = multiply(parameter(source), SIGNAL);

  /** D of a field along an axis, at the point half a cell further (`forward`) or behind. */
  const derivative = (axis: Axis, field: number, side: "forward" | "backward", ago: Ago): Expression => {
    const at = (cells: number): Expression => {
      const by = side === "forward" ? cells : cells - 1;
      return tap(axis === X ? by : 0, axis === Y ? by : 0, axis === Z ? by : 0, ago, field);
    };
    return subtract(
      multiply(constant(near), subtract(at(1), at(0))),
      multiply(constant(far), subtract(at(2), at(-1))),
    );
  };
  const stressAlong = (axis: Axis, field: number): Expression =>
    derivative(axis, field, field <= SZZ ? "forward" : "backward", 0);
  const velocity = (axis: Axis, [alongX, alongY, alongZ]: Offset) => {
    const field = VX + axis;
    const divergence = add(stressAlong(X, alongX), stressAlong(Y, alongY), stressAlong(Z, alongZ));
    const push = multiply(constant(force[axis]), strength);
    return { field, value: add(tap(0, 0, 0, 0, field), multiply(buoyancy, add(divergence, push))) };
  };
  const strainAlong = (axis: Axis): Expression => derivative(axis, VX + axis, "backward", -1);
  const compression = multiply(lambda, add(strainAlong(X), strainAlong(Y), strainAlong(Z)));
  const normal = (axis: Axis) => {
    const field = SXX + axis;
    const stress = add(compression, multiply(add(mu, mu), strainAlong(axis)));
    return { field, value: add(tap(0, 0, 0, 0, field), stress) };
  };
  const shear = (field: number, a: Axis, b: Axis) => {
    const rate = add(derivative(b, VX + a, "forward", -1), derivative(a, VX + b, "forward", -1));
    return { field, value: add(tap(0, 0, 0, 0, field), multiply(mu, rate)) };
  };
  return {
    fields: ELASTIC_FIELDS,
    materials,
    substeps: [
      [velocity(X, [SXX, SXY, SXZ]), velocity(Y, [SXY, SYY, SYZ]), velocity(Z, [SXZ, SYZ, SZZ])],
      [normal(X), normal(Y), normal(Z), shear(SXY, X, Y), shear(SXZ, X, Z), shear(SYZ, Y, Z)],
    ],
    signal,
  };
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
    name: "elastic",
    variant: { medium },
    title: `elastic waves, ${medium} medium`,
    update: elasticUpdate({
      near: 9 / 8 * courant,
      far: courant / 24,
      force: [diagonal, diagonal, diagonal],
      medium: isUniform
        ? [buoyancy, lambda, mu]
        : [scattered("buoyancy", buoyancy), scattered("lambda", lambda), scattered("mu", mu)],
      source: { name: "force", values: [0, 0, 0, 0, 0, 0, 0, 1] },
      signal: rickerWavelet(formula("step")),
    }),
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
