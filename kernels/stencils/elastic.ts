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
  type Expression,
  multiply,
  type Offset,
  SIGNAL,
  subtract,
  tap,
} from "../expression.ts";
import type { Material, Update } from "../update.ts";
import { meanOverWaves } from "./cross.ts";
import type { ExactSolution, Grid, Stencil } from "./stencil.ts";

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
  readonly signal: (step: number) => number;
}

/** The two sub-steps; whole-number weights make them exact on whole numbers. */
export function elasticUpdate({ near, far, force, medium, source, signal }: ElasticWeights): Update {
  const materials: Material[] = [];
  const parameter = (value: Material | number): Expression => {
    if (typeof value === "number") return constant(value);
    materials.push(value);
    return tap(0, 0, 0, 0, ELASTIC_FIELDS.length + materials.length - 1);
  };
  const [buoyancy, lambda, mu] = medium.map(parameter);
  const strength = multiply(parameter(source), SIGNAL);
  const [vx, vy, vz, sxx, syy, szz, sxy, sxz, syz] = ELASTIC_FIELDS.keys();

  /** D of a field along an axis, at the point half a cell further (`forward`) or behind. */
  const derivative = (axis: 0 | 1 | 2, field: number, side: "forward" | "backward", ago: Ago): Expression => {
    const at = (cells: number): Expression => {
      const offset = [0, 0, 0];
      offset[axis] = side === "forward" ? cells : cells - 1;
      return tap(offset[0], offset[1], offset[2], ago, field);
    };
    return subtract(
      multiply(constant(near), subtract(at(1), at(0))),
      multiply(constant(far), subtract(at(2), at(-1))),
    );
  };
  const stressAlong = (axis: 0 | 1 | 2, field: number): Expression =>
    derivative(axis, field, field <= szz ? "forward" : "backward", 0);
  const velocity = (field: number, [alongX, alongY, alongZ]: readonly number[]): Expression => {
    const divergence = add(stressAlong(0, alongX), stressAlong(1, alongY), stressAlong(2, alongZ));
    const push = multiply(constant(force[field]), strength);
    return add(tap(0, 0, 0, 0, field), multiply(buoyancy, add(divergence, push)));
  };
  const strain = [vx, vy, vz].map((field, axis) => derivative(axis as 0 | 1 | 2, field, "backward", -1));
  const compression = multiply(lambda, add(strain[0], strain[1], strain[2]));
  const normal = (field: number, axis: number): Expression =>
    add(tap(0, 0, 0, 0, field), add(compression, multiply(add(mu, mu), strain[axis])));
  const shear = (field: number, a: 0 | 1 | 2, b: 0 | 1 | 2): Expression => {
    const rate = add(derivative(b, a, "forward", -1), derivative(a, b, "forward", -1));
    return add(tap(0, 0, 0, 0, field), multiply(mu, rate));
  };
  return {
    fields: ELASTIC_FIELDS,
    materials,
    substeps: [
      [
        { field: vx, value: velocity(vx, [sxx, sxy, sxz]) },
        { field: vy, value: velocity(vy, [sxy, syy, syz]) },
        { field: vz, value: velocity(vz, [sxz, syz, szz]) },
      ],
      [
        { field: sxx, value: normal(sxx, 0) },
        { field: syy, value: normal(syy, 1) },
        { field: szz, value: normal(szz, 2) },
        { field: sxy, value: shear(sxy, 0, 1) },
        { field: sxz, value: shear(sxz, 0, 2) },
        { field: syz, value: shear(syz, 1, 2) },
      ],
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
  courant?: number;
  /**
   * Whether buoyancy, λ and μ differ from cell to cell.
   * @default {"scattered"}
   */
  medium?: typeof MEDIA[number];
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
  if (!(courant > 0 && courant <= ELASTIC_LIMIT)) {
    throw new RangeError(
      `Cannot build the elastic stencil: the Courant number V_p Δt/h must be above 0 and at most ${
        ELASTIC_LIMIT.toFixed(6)
      }, the stability limit: current value is ${courant}`,
    );
  }
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
      medium: isUniform ? [buoyancy, lambda, mu] : [
        scattered("buoyancy", buoyancy),
        scattered("lambda", lambda),
        scattered("mu", mu),
      ],
      source: { name: "force", values: [0, 0, 0, 0, 0, 0, 0, 1] },
      signal: rickerWavelet,
    }),
    errorGrowth: (steps) => Math.sqrt(growthPerStep(courant, isUniform ? 1 : 16 / 9) * steps),
    planeWave: isUniform ? (grid, modes) => elasticPlaneWave(grid, modes, { courant, kind: "P" }) : undefined,
  };
}

/** The second derivative of a Gaussian, 1 at its peak 20 steps after the start; its period is about 15 steps. */
export function rickerWavelet(step: number): number {
  const square = (Math.PI * (step - 20) / 15) ** 2;
  return (1 - 2 * square) * Math.exp(-square);
}

/** What D multiplies a wave of phase θ = kh a cell by, without the factor i: 2(9/8 sin θ/2 − 1/24 sin 3θ/2). */
function symbolAt(theta: number): number {
  return 2 * (9 / 8 * Math.sin(theta / 2) - Math.sin(3 * theta / 2) / 24);
}

/** Which plane wave. */
export interface PlaneWaveOptions {
  readonly courant: number;
  /** P: the ground moves along **D**, the wave vector as the scheme sees it. S: across it. */
  readonly kind: "P" | "S";
}

/**
 * A plane wave that the scheme carries without error in the uniform medium without a force:
 * sin(ωΔt/2) = (cΔt/2)|D|. Stresses are those at `step`, velocities half a step earlier.
 *
 * @param modes whole periods along each axis, not all zero
 */
export function elasticPlaneWave(
  grid: Grid,
  modes: Offset,
  { courant, kind }: PlaneWaveOptions,
): ExactSolution {
  const { buoyancy, lambda, mu } = UNIFORM;
  const phases = modes.map((mode, axis) => 2 * Math.PI * mode / grid[axis]);
  const wave = phases.map(symbolAt);
  const length = Math.hypot(...wave);
  const along = wave.map((component) => component / length);
  const direction = kind === "P" ? along : across(along);
  const speed = Math.sqrt(buoyancy * (kind === "P" ? lambda + 2 * mu : mu));
  const halfOmega = Math.asin(courant * speed * length / 2);
  const frequency = speed * length;
  const dilation = along.reduce((sum, component, axis) => sum + component * direction[axis], 0) * length;
  /** Amplitudes of the stresses: Ω σ = −(λ (D·v) I + μ (D vᵀ + v Dᵀ)). */
  const stress = (a: number, b: number): number =>
    -((a === b ? lambda * dilation : 0) + mu * (wave[a] * direction[b] + wave[b] * direction[a])) / frequency;
  const parts = [
    { amplitude: direction[0], shift: [0.5, 0, 0], later: -0.5 },
    { amplitude: direction[1], shift: [0, 0.5, 0], later: -0.5 },
    { amplitude: direction[2], shift: [0, 0, 0.5], later: -0.5 },
    { amplitude: stress(0, 0), shift: [0, 0, 0], later: 0 },
    { amplitude: stress(1, 1), shift: [0, 0, 0], later: 0 },
    { amplitude: stress(2, 2), shift: [0, 0, 0], later: 0 },
    { amplitude: stress(0, 1), shift: [0.5, 0.5, 0], later: 0 },
    { amplitude: stress(0, 2), shift: [0.5, 0, 0.5], later: 0 },
    { amplitude: stress(1, 2), shift: [0, 0.5, 0.5], later: 0 },
  ];
  return {
    at(cell, step, field = 0) {
      const { amplitude, shift, later } = parts[field];
      const place = phases.reduce((sum, phase, axis) => sum + phase * (cell[axis] + shift[axis]), 0);
      return amplitude * Math.cos(place - 2 * halfOmega * (step + later));
    },
  };
}

/** A unit vector across another. */
function across([x, y, z]: readonly number[]): number[] {
  const [a, b, c] = Math.abs(x) < 0.5 ? [0, z, -y] : [-z, 0, x];
  const length = Math.hypot(a, b, c);
  return [a / length, b / length, c / length];
}

/**
 * Growth of the variance of rounding errors a step. The scheme keeps an energy, so that an error never grows: it
 * moves between velocity and stress, whose scales differ by the medium's parameters (`contrast`: largest over
 * smallest of any), and swells by up to 1/cos²(ωΔt/2) in between.
 */
function growthPerStep(courant: number, contrast: number): number {
  const { buoyancy, lambda, mu } = UNIFORM;
  const stiffest = 3 * lambda + 2 * mu, softest = mu / contrast;
  const exchange = contrast * (1 + stiffest * contrast / buoyancy + buoyancy / softest + stiffest / softest);
  const swell = meanOverWaves((phases) => {
    const sine = courant / 2 * Math.hypot(...phases.map(symbolAt));
    return 1 / (1 - sine * sine);
  });
  return exchange * swell;
}
