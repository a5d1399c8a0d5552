/**
 * The exact discrete solution of elastic waves.
 *
 * @module
 */
import type { Offset } from "../../kernels/expression.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import type { Grid, Stencil } from "../../kernels/stencils/stencil.ts";

/** Its stencil, whose materials are as {@linkcode UNIFORM}; V_p is 1 cell in 1 ms. */
export function uniformElastic(courant: number): Stencil {
  return elastic({ velocity: [1000, 1000], spacing: 1, timeStep: courant / 1000, edges: 0 });
}

/** The values of its materials. */
export const UNIFORM = { lambda: 0.5e9, mu: 0.25e9, density: 1000 } as const;

type Axis = 0 | 1 | 2;
const X = 0, Y = 1, Z = 2;

/** Largest stable Courant number V_p Δt/h of a uniform medium. */
export const ELASTIC_LIMIT: number = 6 / (7 * Math.sqrt(3));

/** The uniform medium, in units of 1 m, 1 km/s and 1 g/cm³. */
const buoyancy = 1, lambda = 0.5, mu = 0.25;

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
  { courant = 0.9 * ELASTIC_LIMIT, kind }: { readonly courant?: number; readonly kind: "P" | "S" },
): { at(cell: Offset, step: number, field: number): number } {
  const [kx, ky, kz] = modes.map((periods, axis) => 2 * Math.PI * periods / grid[axis]!) as [
    number,
    number,
    number,
  ];
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
    [direction[X], -kx / 2 + halfOmega],
    [direction[Y], -ky / 2 + halfOmega],
    [direction[Z], -kz / 2 + halfOmega],
    [stress(X, X), 0],
    [stress(Y, Y), 0],
    [stress(Z, Z), 0],
    [stress(X, Y), kz / 2 - half],
    [stress(X, Z), ky / 2 - half],
    [stress(Y, Z), kx / 2 - half],
  ];
  return {
    at([x, y, z], step, field) {
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
