/**
 * Elastic waves in three dimensions, in metres and seconds: velocity and stress on a staggered grid, second order in
 * time, fourth order in space (Levander, "Fourth-order finite-difference P-SV seismograms", Geophysics 1988, 53(11); Liu,
 * Perumalla, B2R, Eq. 10 and 11):
 *
 *     ∂v/∂t = (∇·σ + f)/ρ,    ∂σ/∂t = λ (∇·v) I + μ (∇v + ∇vᵀ) − ∂m/∂t
 *     D g = (9/8 (g_{+1/2} − g_{−1/2}) − 1/24 (g_{+3/2} − g_{−3/2})) / h
 *
 * A step has two sub-steps: velocities from stresses, then stresses from the new velocities, which are half a time step
 * behind the stresses. σxx, σyy, σzz and the materials of cell i lie at (i + ½)h; vx lies half a cell before along x, vy
 * along y, vz along z, σxy along x and y, and so on. Velocities are in m/s, stresses in MPa, which makes them numbers of
 * one size; all else is in SI units.
 *
 * **Materials.** ρ is averaged arithmetically to each velocity's place, μ harmonically over the four cells around a shear
 * stress (Moczo et al. 2002), in the kernel: a step reads three arrays, where prepared averages would be eight.
 *
 * **Absorbing edges.** All fields are damped at one rate d, so that a wave that goes straight in meets no change of
 * impedance: with e = exp(−dΔt/2), F(t+1) = e (e F(t) + push).
 *
 * **Free surface.** Beyond the grid all values and materials are 0, so that on the upper face of cell 0, where vz, σxz and
 * σyz lie, ρ is half and the shear stresses are 0 (Mittet, Geophysics 2002, 67(5)). Differences along z that would reach
 * across it are of order 2, and ∂σzz/∂z on it is that of the parabola through 0 there and two cells (adjusted
 * differences: Kristek, Moczo, Archuleta, Stud. Geophys. Geod. 2002, 46). Of 15 points Rayleigh waves are 0.08% slow and
 * a force on the surface makes them 1% too strong; with stress imaging they would be 0.6% slow (V_p/V_s = √3).
 *
 * @module
 */
import { along, equation, type FieldTap, type MaterialSource } from "../equation.ts";
import type { Expression, Offset } from "../expression.ts";
import {
  add,
  atLeast,
  divide,
  exponential,
  maximum,
  multiply,
  shifted,
  subtract,
  type Value,
} from "../operations.ts";
import type { ValueRange } from "../update.ts";
import { type AcousticOptions, LEFT, mediumOf, warningOf, WAVELENGTHS } from "./acoustic.ts";
import { edgesOf } from "./edges.ts";
import { type Equation, requireStable, requireValue, type Stencil } from "./stencil.ts";

/** What {@linkcode elastic} makes a stencil of: the velocity is that of P waves. */
export type ElasticOptions = Pick<AcousticOptions, "velocity" | "spacing" | "timeStep" | "edges" | "surface">;

/** The fields, in the order of their planes. */
export const ELASTIC_FIELDS = ["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"] as const;

/** Largest stable Courant number V_p Δt/h: 6/(7√3), less a hundredth for the free surface and for sharp contrasts. */
const COURANT = 0.49;

/** Pascals of the stresses' unit. */
const MPA = 1e6;

/** What keeps 0/0 away where nothing resists shear, in Pa. */
const SOFTEST = 1e-9;

type Field = typeof ELASTIC_FIELDS[number];
type Moment = "mxx" | "myy" | "mzz" | "mxy" | "mxz" | "myz";
type Axis = 0 | 1 | 2;
const X = 0, Y = 1, Z = 2, AXES = ["x", "y", "z"] as const;

/** How far from the cells a field lies: vx half a cell before along x, sxy along x and y, sxx along none. */
function staggerOf(name: Field): Offset {
  const [x, y, z] = AXES.map((axis) => name.slice(1).split(axis).length === 2 ? -0.5 : 0);
  return [x!, y!, z!];
}

/**
 * Along z beside a free surface, at cells and at the faces above them: what D weighs 3 times the near pair less the far
 * pair with, and the parts of h that they stand for, which a force acts on: of the uppermost face in halves.
 */
const SURFACE = {
  cells: fromSurface([0], 1 / 24),
  faces: fromSurface([1 / 6, 0], 1 / 24),
  cellParts: fromSurface([25 / 24, 23 / 24], 1),
  faceParts: fromSurface([3 / 4, 7 / 6, 23 / 24], 1),
} as const;

/** Values from z = 0 on, then always one. */
function fromSurface(values: readonly number[], below: number): MaterialSource {
  return along("z", (k) =>
    values.reduce<Value>(
      (sum, value, i) => add(sum, multiply(value - below, atLeast(k, i), atLeast(i, k))),
      below,
    ));
}

/** The largest stable time step of a medium, in seconds. */
export function elasticTimeStep({ velocity, spacing }: ElasticOptions = {}): number {
  const medium = mediumOf({ velocity, spacing }, "elastic");
  return COURANT * medium.spacing / medium.most;
}

/** Cells of an absorbing edge that reflects about −40 dB of a Ricker wavelet of this frequency in Hz. */
export function elasticEdges(
  { velocity, spacing, frequency }: ElasticOptions & { frequency: number },
): number {
  const medium = mediumOf({ velocity, spacing }, "elastic");
  return Math.ceil(WAVELENGTHS * medium.most / frequency / medium.spacing);
}

/**
 * A warning where cells are too large for a Ricker wavelet of this frequency in Hz; undefined where they are not.
 *
 * @param slowest the lowest velocity of S waves above 0, in m/s
 */
export function elasticWarning(slowest: number, frequency: number, spacing: number): string | undefined {
  return warningOf(slowest, { frequency, spacing, fewest: 5, wave: "S " });
}

/** Lamé's parameters in Pa, of velocities of P and S waves in m/s and a density in kg/m³. */
export function lameOf(p: number, s: number, density: number): { lambda: number; mu: number } {
  return { lambda: density * (p * p - 2 * s * s), mu: density * s * s };
}

/**
 * Elastic waves. Its fields are {@linkcode ELASTIC_FIELDS}, its materials `lambda` and `mu`, in Pa, and `density`, in
 * kg/m³. Its sources are forces `fx`, `fy`, `fz`, in N, and moment rates `mxx` … `myz`, in N·m/s.
 *
 * @returns the stencil: nine fields, two sub-steps, which together reach 4 cells along each axis
 * @throws {RangeError} for a time step beyond the stability limit
 *
 * @example
 * ```ts
 * import { elastic, elasticTimeStep } from "./elastic.ts";
 * import { stepReach } from "../update.ts";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const rock = { velocity: [2000, 4000], spacing: 5 } as const;
 * const stencil = elastic({ ...rock, timeStep: 5e-4, edges: 20, surface: "free" });
 * assertEquals(stepReach(stencil.update).x, 4);
 * assert(elasticTimeStep(rock) > 5e-4);
 * ```
 */
export function elastic(options: ElasticOptions = {}): Stencil {
  const limit = elasticTimeStep(options), { spacing = 10 } = options, most = COURANT * spacing / limit;
  const { timeStep = 0.9 * limit, edges = 30, surface = "absorbing" } = options, isFree = surface === "free";
  requireStable("elastic", "the time step in s", timeStep, limit);
  requireValue(isFree || surface === "absorbing", "elastic", "surface must be absorbing or free", surface);
  const peakOf = (width: number) => 0.75 * Math.log(1 / LEFT) * most / (width * spacing) * timeStep;
  const kept = (damping: Expression) => exponential(multiply(-1, damping));
  const damping = edgesOf("elastic", edges, { peakOf, isFree, stagger: -0.5, as: kept });
  const courant = timeStep / spacing, volume = spacing ** 3;
  // tuned with what no combination makes faster than P waves may be
  const stiffest = 2000 * most ** 2;
  const moduli: Readonly<Record<"lambda" | "mu" | "density", MaterialSource>> = {
    lambda: [stiffest * 9 / 32, stiffest / 2],
    mu: [stiffest * 9 / 64, stiffest / 4],
    density: [2000, 3000],
  };
  const impedance = 2000 * most / MPA, force = 1000 * volume / timeStep, moment = MPA * volume / timeStep;
  return equation({
    name: "elastic",
    title: "elastic waves in metres and seconds",
    fields: { ...eachOf(ELASTIC_FIELDS, [-impedance, impedance]), ...eachOf(["vx", "vy", "vz"], [-1, 1]) },
    materials: { ...moduli, ...damping, ...(isFree && SURFACE) } as typeof moduli,
    sources: {
      ...eachOf(["fx", "fy", "fz"], [-force, force]),
      ...eachOf(["mxx", "myy", "mzz", "mxy", "mxz", "myz"], [-moment, moment]),
    } as Readonly<Record<"fx" | "fy" | "fz" | Moment, ValueRange>>,
    stagger: Object.fromEntries(ELASTIC_FIELDS.map((name) => [name, staggerOf(name)])),
    ...(isFree && { surface: ["szz", "sxz", "syz"] }),
    step(planes) {
      const { lambda, mu, density } = planes;
      const profiles = planes as unknown as Readonly<Record<string, Expression>>;
      /** D along an axis, at the cells, or at the faces before them, from what lies half a cell further and behind. */
      const difference = (axis: Axis, at: FieldTap["at"], place: "cells" | "faces"): Expression => {
        const first = place === "cells" ? 1 : 0;
        const tapAt = (cells: number): Expression => at(...[0, 0, 0].with(axis, first + cells));
        const near = subtract(tapAt(0), tapAt(-1)), far = subtract(tapAt(1), tapAt(-2));
        if (axis !== Z || !isFree) return subtract(multiply(9 / 8, near), multiply(1 / 24, far));
        return add(near, multiply(profiles[place]!, subtract(multiply(3, near), far)));
      };
      /** A field after a step in which edges take something away. */
      const advance = (name: Field, push: Expression): Expression => {
        const rates = staggerOf(name).map((cells, i) => (cells === 0 ? "d" : "h") + AXES[i]!);
        const [first, ...others] = rates.filter((rate) => rate in damping).map((rate) => profiles[rate]!);
        if (first === undefined) return add(planes[name], push);
        const left = multiply(first, ...others);
        return multiply(left, add(multiply(left, planes[name]), push));
      };
      const velocity = (axis: Axis, stresses: readonly [x: Field, y: Field, z: Field]): Expression => {
        const name = `v${AXES[axis]!}` as const;
        const both = add(density, density.at(...[0, 0, 0].with(axis, -1)));
        const part = isFree ? profiles[axis === Z ? "faceParts" : "cellParts"]! : 1;
        const [x, y, z] = stresses.map((one, i) =>
          difference(i as Axis, planes[one].at, i === axis ? "faces" : "cells")
        );
        const moved = advance(name, multiply(divide(2 * MPA * courant, both), add(x!, y!, z!)));
        return add(
          moved,
          multiply(divide(2 * timeStep / volume, multiply(part, both)), planes[`f${AXES[axis]!}`]),
        );
      };
      const rate = (axis: Axis, of: Axis, place: "cells" | "faces"): Expression =>
        difference(axis, planes[`v${AXES[of]!}`].next, place);
      const released = (name: Moment): Expression => multiply(-timeStep / (MPA * volume), planes[name]);
      const along = [rate(X, X, "cells"), rate(Y, Y, "cells"), rate(Z, Z, "cells")] as const;
      const compression = multiply(multiply(courant / MPA, lambda), add(...along));
      const normal = (axis: Axis): Expression => {
        const end = `${AXES[axis]!}${AXES[axis]!}` as "xx" | "yy" | "zz";
        const push = add(compression, multiply(multiply(2 * courant / MPA, mu), along[axis]));
        return add(advance(`s${end}`, push), released(`m${end}`));
      };
      /** The harmonic mean of μ over four cells; of two along one axis it is needed twice, here and one cell before. */
      const shear = (a: Axis, b: Axis, end: "xy" | "xz" | "yz"): Expression => {
        const [along, across] = a === Y ? [Y, Z] : [b, a], [x, y, z] = [0, 0, 0].with(across, -1);
        const two = harmonic(mu, mu.at(...[0, 0, 0].with(along, -1)));
        const four = harmonic(shifted(two, 0, 0, 0), shifted(two, x!, y!, z!));
        const strain = add(rate(b, a, "faces"), rate(a, b, "faces"));
        return add(advance(`s${end}`, multiply(courant / MPA, four, strain)), released(`m${end}`));
      };
      return [
        {
          vx: velocity(X, ["sxx", "sxy", "sxz"]),
          vy: velocity(Y, ["sxy", "syy", "syz"]),
          vz: velocity(Z, ["sxz", "syz", "szz"]),
        },
        {
          sxx: normal(X),
          syy: normal(Y),
          szz: normal(Z),
          sxy: shear(X, Y, "xy"),
          sxz: shear(X, Z, "xz"),
          syz: shear(Y, Z, "yz"),
        },
      ];
    },
  });
}

/** 2ab/(a + b), 0 where both are 0. */
function harmonic(a: Value, b: Value): Expression {
  return divide(multiply(2, a, b), maximum(add(a, b), SOFTEST));
}

function eachOf<Name extends string>(
  names: readonly Name[],
  range: ValueRange,
): Readonly<Record<Name, ValueRange>> {
  return Object.fromEntries(names.map((name) => [name, range])) as Record<Name, ValueRange>;
}

export const ELASTIC: Equation = {
  name: "elastic",
  title: "elastic waves in rock, with absorbing edges",
  timeStep: { name: "dt", formula: "Δt in s at h = 10 m, up to 4500 m/s", limit: () => elasticTimeStep() },
  create: (_, timeStep) => elastic({ timeStep }),
};
