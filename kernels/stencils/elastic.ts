/**
 * Elastic waves in three or two dimensions, in metres and seconds: velocity and stress on a staggered grid, second order in
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
 * **Two dimensions** are x and the depth, z in the fields' names, of P and SV waves: `vx`, `vz`, `sxx`, `szz` and `sxz` are
 * what a 3D grid computes in which nothing changes along y and vy is 0.
 *
 * **Materials.** ρ is averaged arithmetically to each velocity's place, μ harmonically over the four cells around a shear
 * stress (Moczo et al. 2002), in the kernel: a step reads three arrays, where prepared averages would be eight.
 *
 * **Contrasts.** A cell's stress acts on faces two cells away by 1/24, however light they are. What lies next to each other
 * is stable at any contrast while (9/4) √d V_p Δt/h ≤ 2, by Cauchy's inequality for every difference, as a cell weighs at
 * most twice what the faces beside it do; of λ and μ ≥ 0 far pairs add √(2d − 1)/12 · √(ρ_max/ρ_min) at most:
 * V_p Δt/h ≤ 24 / (27√d + √((2d − 1) ρ_max/ρ_min)). Up to a factor of 10 no medium needs more than 1.4% below the uniform
 * one's largest eigenvalue, which the hundredth below covers; more than that the bound asks for.
 *
 * **Absorbing edges.** All fields are damped at one rate d, so that a wave that goes straight in meets no change of
 * impedance: with e = exp(−dΔt/2), F(t+1) = e (e F(t) + push).
 *
 * **PML.** Instead each difference along an axis with edges counts as D + ψ, where ψ becomes 0.97 ψ − q (ψ + D): a convolution
 * with falling exponentials (Komatitsch, Martin, Geophysics 2007, 72(5)), q of the rate 2 V_p/h (depth/width)⁴ at most. Of 12
 * cells −69 dB come back of waves of which 13 cells are an S wave. What goes on in the edges as it is at their inner face is
 * stable: 16 of 16 random rocks of 1500 to 4500 m/s in 20,000 steps. Waves along a free surface can run against their phase,
 * and a PML lets these grow: in 2 of 16 such rocks, of 4 where ψ keeps 0.98 of itself, and of 1 of 0.96, which reflects −60 dB.
 *
 * **Free surface.** Beyond the grid all values and materials are 0, so that on the upper face of cell 0, where vz, σxz and
 * σyz lie, ρ is half and the shear stresses are 0 (Mittet, Geophysics 2002, 67(5)). Differences along z that would reach
 * across it are of order 2, and ∂σzz/∂z on it is that of the parabola through 0 there and two cells (adjusted
 * differences: Kristek, Moczo, Archuleta, Stud. Geophys. Geod. 2002, 46). Of 15 points Rayleigh waves are 0.08% slow and
 * a force on the surface makes them 1% too strong; with stress imaging they would be 0.6% slow (V_p/V_s = √3).
 *
 * @module
 */
import { checkOptions } from "../check_options.ts";
import { along, equation, type FieldTap, type MaterialSource } from "../equation.ts";
import type { Expression } from "../expression.ts";
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
import { type AcousticOptions, mediumOf } from "./acoustic.ts";
import { type Scheme, stepOf, warningOf } from "./dispersion.ts";
import { edgesOf, type EdgeWidths, type Pml, pmlOf, remembered, withEdges } from "./edges.ts";
import { alongAxis, type Equation, ownAxes, requireStable, requireValue, type Stencil } from "./stencil.ts";

/** What {@linkcode elastic} makes a stencil of: the velocity is that of P waves. */
export type ElasticOptions = Omit<AcousticOptions, "order" | "density" | "packed" | "edges"> & {
  /** Cells of the absorbing edges, around the model, at each end of every axis, or of x, y and z. @default {30} */
  readonly edges?: EdgeWidths | undefined;
  /** The lowest and the highest density in kg/m³: beyond a factor of 10 the largest stable time step is smaller. @default {[850, 7900]} */
  readonly density?: ValueRange | undefined;
};

/** The fields, in the order of their planes; two dimensions have those without y. */
export const ELASTIC_FIELDS = ["vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"] as const;

/** Largest stable Courant numbers V_p Δt/h: 6/(7√d), less a hundredth for the free surface and for sharp contrasts. */
const COURANT = { 2: 0.6, 3: 0.49 } as const;

/** Densities in kg/m³ unless given, and how far apart they may be at these Courant numbers. */
const DENSITY: ValueRange = [850, 7900], CONTRAST = 10;

const PML: Pml = { rate: 2, kept: 0.97 };

/** Pascals of the stresses' unit. */
const MPA = 1e6;

/** What keeps 0/0 away where nothing resists shear, in Pa. */
const SOFTEST = 1e-9;

/** How far from the cells a field lies: vx half a cell before along x, sxy along x and y, sxx along none. */
function staggerOf(name: string, letters: readonly string[]): readonly number[] {
  return letters.map((axis) => name.slice(1).split(axis).length === 2 ? -0.5 : 0);
}

/**
 * Along the depth beside a free surface, at cells and at the faces above them: what D weighs 3 times the near pair less the far
 * pair with, and the parts of h that they stand for, which a force acts on: of the uppermost face in halves.
 */
function surfaceAlong(axis: "y" | "z"): Readonly<Record<string, MaterialSource>> {
  /** Values from depth 0 on, then always one. */
  const from = (values: readonly number[], below: number): MaterialSource =>
    along(axis, (k) =>
      values.reduce<Value>(
        (sum, value, i) => add(sum, multiply(value - below, atLeast(k, i), atLeast(i, k))),
        below,
      ));
  return {
    cells: from([0], 1 / 24),
    faces: from([1 / 6, 0], 1 / 24),
    cellParts: from([25 / 24, 23 / 24], 1),
    faceParts: from([3 / 4, 7 / 6, 23 / 24], 1),
  };
}

/** The largest stable time step of a medium, in seconds, whatever lies beside what. */
export function elasticTimeStep(
  { velocity, density = DENSITY, spacing, dimensions = 3 }: ElasticOptions = {},
): number {
  const medium = mediumOf({ velocity, spacing }, "elastic"), [least, most] = density;
  const isDense = least > 0 && least <= most && most < Infinity;
  requireValue(isDense, "elastic", "density must be the lowest, above 0, and the highest", `${density}`);
  const far = Math.sqrt((2 * dimensions - 1) * most / least);
  const courant = most / least <= CONTRAST ? COURANT[dimensions] : 24 / (27 * Math.sqrt(dimensions) + far);
  return courant * medium.spacing / medium.most;
}

/** How waves in a medium are computed, at 0.9 of the largest stable time step; the weights are those that D twice has. */
export function elasticScheme(medium: ElasticOptions): Scheme {
  const { spacing = 10, dimensions = 3 } = medium, timeStep = 0.9 * elasticTimeStep(medium);
  const sides = [(9 / 8) ** 2 + 9 / 96, -9 / 96, 1 / 576];
  return { name: "elastic", sides, spacing, dimensions, timeStep, fewest: 5, wave: "S " };
}

/** What an edge leaves of a wave that goes in and comes back, and the width of one in wavelengths. */
const LEFT = 3e-3, WAVELENGTHS = 2.3;

/** Cells of an absorbing edge that reflects about −40 dB of a Ricker wavelet of this frequency in Hz. */
export function elasticEdges(
  { velocity, spacing, frequency }: ElasticOptions & { frequency: number },
): number {
  const medium = mediumOf({ velocity, spacing }, "elastic");
  return Math.ceil(WAVELENGTHS * medium.most / frequency / medium.spacing);
}

/**
 * A warning where cells are too large for a Ricker wavelet of this frequency in Hz, or where the scheme changes it by more
 * than 10% on its way, if one is given, and what would halve that; undefined where neither is.
 *
 * @param slowest the lowest velocity of S waves above 0, in m/s
 * @param way metres that the wavelet travels, and the time step in seconds; in three dimensions, unless given
 */
export function elasticWarning(
  slowest: number,
  frequency: number,
  spacing: number,
  way?: { readonly distance: number; readonly timeStep: number; readonly dimensions?: 2 | 3 | undefined },
): string | undefined {
  const { timeStep = 0, dimensions = 3, distance } = way ?? {};
  const scheme = { ...elasticScheme({ spacing, dimensions }), timeStep };
  return warningOf(scheme, { frequency, distance, velocity: slowest });
}

/** Lamé's parameters in Pa, of velocities of P and S waves in m/s and a density in kg/m³. */
export function lameOf(p: number, s: number, density: number): { lambda: number; mu: number } {
  return { lambda: density * (p * p - 2 * s * s), mu: density * s * s };
}

/**
 * Elastic waves. Its fields are {@linkcode ELASTIC_FIELDS}, its materials `lambda` and `mu`, in Pa, and `density`, in
 * kg/m³. Its sources are forces `fx`, `fy`, `fz`, in N, and moment rates `mxx` … `myz`, in N·m/s.
 *
 * @returns the stencil: nine fields, in two dimensions five, two sub-steps, which together reach 4 cells along each axis
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
  checkOptions("build the elastic stencil", options, [
    ...["velocity", "density", "spacing", "timeStep", "edges", "dimensions", "surface"] as const,
    "absorber",
  ]);
  const limit = elasticTimeStep(options), { spacing = 10, dimensions = 3 } = options;
  const { least, most } = mediumOf({ velocity: options.velocity, spacing }, "elastic"),
    depth = dimensions - 1;
  const { edges = 30, surface = "absorbing", absorber = "matched" } = options, isFree = surface === "free";
  const timeStep = stepOf(elasticScheme(options), least / Math.sqrt(3), options.timeStep);
  requireStable("elastic", "the time step in s", timeStep, limit);
  requireValue(isFree || surface === "absorbing", "elastic", "surface must be absorbing or free", surface);
  const own = ownAxes(dimensions), letters: readonly string[] = dimensions === 2 ? ["x", "z"] : own;
  const fields = ELASTIC_FIELDS.filter((name) => dimensions === 3 || !name.includes("y"));
  const velocities = fields.filter((name) => name.startsWith("v"));
  const isPml = absorber === "pml", courant = timeStep / spacing, volume = spacing ** dimensions;
  requireValue(isPml || absorber === "matched", "elastic", "absorber must be matched or pml", absorber);
  const peakOf = (width: number) => 0.75 * Math.log(1 / LEFT) * most / (width * spacing) * timeStep;
  const kept = (damping: Expression) => exponential(multiply(-1, damping));
  const how = isPml ? pmlOf(PML, most * courant) : { peakOf, as: kept };
  const damping = edgesOf("elastic", edges, { isFree, stagger: -0.5, dimensions, ...how });
  /** What velocities remember of differences along an axis, and strains. */
  const memories = !isPml ? [] : letters.filter((_, by) => `d${own[by]}` in damping)
    .flatMap((by) => letters.flatMap((letter) => [`v${letter}${by}`, `e${letter}${by}`]));
  // tuned with what no combination makes faster than P waves may be
  const { density: dense = DENSITY } = options, tuned = options.density ?? [2000, 3000];
  const stiffest = tuned[0] * most ** 2, bound = dense[1] * most ** 2;
  const impedance = 2000 * most / MPA, force = 1000 * volume / timeStep, moment = MPA * volume / timeStep;
  const stresses = fields.filter((name) => name.startsWith("s"));
  const stencil = equation<string, string, string>({
    name: "elastic",
    title: "elastic waves in metres and seconds",
    dimensions,
    fields: {
      ...eachOf(velocities, [-1, 1]),
      ...eachOf(stresses, [-impedance, impedance]),
      ...eachOf(memories, [-1, 1]),
    },
    materials: {
      lambda: { within: [-bound / 2, bound], of: [stiffest * 9 / 32, stiffest / 2] },
      mu: { within: [0, 0.75 * bound], of: [stiffest * 9 / 64, stiffest / 4] },
      density: { within: dense, of: tuned },
      ...damping,
      ...(isFree && surfaceAlong(own[depth] as "y" | "z")),
    },
    sources: {
      ...eachOf(letters.map((axis) => `f${axis}`), [-force, force]),
      ...eachOf(stresses.map((name) => name.replace("s", "m")), [-moment, moment]),
    },
    stagger: Object.fromEntries(fields.map((name) => [name, staggerOf(name, letters)])),
    ...(isFree && { surface: stresses.filter((name) => name.includes("z")) }),
    step(planes) {
      const lambda = planes.lambda!, mu = planes.mu!, density = planes.density!;
      const cells = (axis: number, by: number) => alongAxis(axis, by, dimensions);
      const memory: Record<"v" | "e", Record<string, Expression>> = { v: {}, e: {} };
      /** D along an axis, at the cells, or at the faces before them, from what lies half a cell further and behind. */
      const difference = (
        kind: "v" | "e",
        of: number,
        axis: number,
        at: FieldTap["at"],
        place: "cells" | "faces",
      ): Expression => {
        const first = place === "cells" ? 1 : 0, name = kind + letters[of] + letters[axis];
        const tapAt = (by: number): Expression => at(...cells(axis, first + by));
        const near = subtract(tapAt(0), tapAt(-1)), far = subtract(tapAt(1), tapAt(-2));
        const difference = axis !== depth || !isFree
          ? subtract(multiply(9 / 8, near), multiply(1 / 24, far))
          : add(near, multiply(planes[place]!, subtract(multiply(3, near), far)));
        if (!memories.includes(name)) return difference;
        const part = planes[(place === "cells" ? "d" : "h") + own[axis]!]!;
        memory[kind][name] = remembered(PML, planes[name]!, part, difference);
        return add(difference, memory[kind][name]);
      };
      /** A field after a step in which edges take something away. */
      const advance = (name: string, push: Expression): Expression => {
        const rates = staggerOf(name, letters).map((shift, i) => (shift === 0 ? "d" : "h") + own[i]!);
        const [first, ...others] = rates.filter((rate) => !isPml && rate in damping)
          .map((rate) => planes[rate]!);
        if (first === undefined) return add(planes[name]!, push);
        const left = multiply(first, ...others);
        return multiply(left, add(multiply(left, planes[name]!), push));
      };
      const velocity = (axis: number): Expression => {
        const letter = letters[axis]!, both = add(density, density.at(...cells(axis, -1)));
        const part = isFree ? planes[axis === depth ? "faceParts" : "cellParts"]! : 1;
        const [first, ...others] = letters.map((other, i) =>
          difference(
            "v",
            axis,
            i,
            planes[`s${i < axis ? other + letter : letter + other}`]!.at,
            i === axis ? "faces" : "cells",
          )
        );
        const moved = advance(
          `v${letter}`,
          multiply(divide(2 * MPA * courant, both), add(first!, ...others)),
        );
        return add(
          moved,
          multiply(divide(2 * timeStep / volume, multiply(part, both)), planes[`f${letter}`]!),
        );
      };
      const rate = (axis: number, of: number, place: "cells" | "faces"): Expression =>
        difference("e", of, axis, planes[`v${letters[of]!}`]!.next, place);
      const released = (end: string): Expression => multiply(-timeStep / (MPA * volume), planes[`m${end}`]!);
      const [first, ...others] = letters.map((_, axis) => rate(axis, axis, "cells")),
        along = [first!, ...others];
      const compression = multiply(multiply(courant / MPA, lambda), add(first!, ...others));
      const normal = (axis: number, end: string): Expression => {
        const push = add(compression, multiply(multiply(2 * courant / MPA, mu), along[axis]!));
        return add(advance(`s${end}`, push), released(end));
      };
      /** The harmonic mean of μ over four cells; of two along one axis it is needed twice, here and one cell before. */
      const shear = (a: number, b: number, end: string): Expression => {
        const [along, across] = a === 1 ? [a, b] : [b, a];
        const two = harmonic(mu, mu.at(...cells(along, -1)));
        const four = harmonic(shifted(two, ...cells(0, 0)), shifted(two, ...cells(across, -1)));
        const strain = add(rate(b, a, "faces"), rate(a, b, "faces"));
        return add(advance(`s${end}`, multiply(courant / MPA, four, strain)), released(end));
      };
      return [
        { ...Object.fromEntries(letters.map((letter, axis) => [`v${letter}`, velocity(axis)])), ...memory.v },
        {
          ...Object.fromEntries(stresses.map((name) => {
            const end = name.slice(1),
              [a, b] = [...end].map((letter) => letters.indexOf(letter)) as [number, number];
            return [name, a === b ? normal(a, end) : shear(a, b, end)];
          })),
          ...memory.e,
        },
      ];
    },
  });
  const misfit: Stencil["misfit"] = ({ lambda, mu, density }) => {
    const fastest = Math.sqrt((lambda! + 2 * mu!) / density!), rounding = 1e-6;
    const isStiff = dimensions * lambda! + 2 * mu! >= -rounding * mu!;
    if (fastest <= most * (1 + rounding) && isStiff) return undefined;
    const wanted = isStiff
      ? `P waves of at most ${most} m/s are`
      : `a resistance to pressure, ${dimensions}λ + 2μ ≥ 0, is`;
    const [is, l, m, rho] = [fastest, lambda!, mu!, density!].map((value) => Number(value.toPrecision(6)));
    return `${wanted} wanted: found ${is} m/s of λ = ${l} Pa, μ = ${m} Pa and ρ = ${rho} kg/m³`;
  };
  return withEdges({ ...stencil, misfit }, memories.map((name) => letters.indexOf(name[2]!)), edges);
}

/** 2ab/(a + b), 0 where both are 0. */
function harmonic(a: Value, b: Value): Expression {
  return divide(multiply(2, a, b), maximum(add(a, b), SOFTEST));
}

function eachOf(names: readonly string[], range: ValueRange): Readonly<Record<string, ValueRange>> {
  return Object.fromEntries(names.map((name) => [name, range]));
}

export const ELASTIC: Equation = {
  name: "elastic",
  title: "elastic waves in rock, with absorbing edges",
  dimensions: [3, 2],
  timeStep: {
    name: "dt",
    formula: "Δt in s at h = 10 m, up to 4500 m/s",
    limit: (_, dimensions) => elasticTimeStep({ dimensions }),
  },
  create: (_, timeStep, dimensions) => elastic({ timeStep, dimensions }),
};
