/**
 * Sound in a medium of variable velocity, in metres and seconds, second order in time, order 2, 4, … 14 in space:
 *
 *     (1/v²) ∂²p/∂t² = Δp + s
 *     p(t+1) = 2p − p(t−1) + (vΔt)² (Δ_h p + s)
 *
 * p of cell i lies at (i + ½)h, and s is a density: 1 in one cell sends h³ of it, so that in a medium without bounds a
 * trace at the distance r is signature(t − r/v) · h³/(4πr). In two dimensions, x and the depth y, a cell sends h² along a
 * line, and a trace is h²/2π ∫ signature(t − τ)/√(τ² − r²/v²) dτ from τ = r/v on.
 *
 * **Absorbing edges** are matched: `edges.ts` says how. Of plane waves of 13 cells 22 cells reflect −46, −50, −57, −39, −27 and
 * −18 dB at 0°, 30°, 40°, 50°, 60° and 70° from straight on, 12 cells −39, −42, −32, −24, −18 and −12, whatever the velocity.
 *
 * **PML.** Instead each axis with edges has three memories (Pasalic, McGarry, SEG 2010, without their derivatives of memory), read
 * in their own cell alone: r and l of the differences D⁺p and D⁻p at its faces, z of what these make of the second difference:
 * r becomes 0.995 r − q (r + D⁺p), l likewise of −D⁻p, z of D²p + r + l, and D²p + r + l + z counts as D²p; q is of the rate
 * 0.8 v/h (depth/width)² at most. At order 2 that is the PML of the pair of pressure and velocity. Of higher orders only D²p
 * is: what comes back grows with the slope of q, and so a flat one is best. 12 cells reflect −65 dB of 13 cells a wavelength
 * (−60 dB from a corner), −57 of 26 and −54 of 40, also at order 14. Random media were stable in 20,000 steps at 0.995 of the
 * largest step. Densities of 0 beyond the ends would let waves grow: there the lowest counts.
 *
 * **Free surface.** p(−1−k) = −p(k) beyond the upper face of cell 0. Kernels have zeros there; axis profiles, which are
 * not 0 near the surface alone, weigh what their taps miss.
 *
 * **Density.** (1/(ρv²)) ∂²p/∂t² = ∇·(∇p/ρ) + s: each difference p_k − p_0 of Δ_h counts ρ_0 · 2/(ρ_0 + ρ_k). The largest
 * stable step stays the same at any contrast, by Cauchy's inequality, as does the order where ρ is constant; where it changes
 * the order is 2. Differences of negative weight count more than those that bridge a heavy cell, if it is heavy enough: then
 * some form of p has negative energy, and grows at any step. `APART` keeps well below the least such contrast of any medium.
 *
 * @module
 */
import { checkOptions } from "../check_options.ts";
import {
  along,
  equation,
  type FieldTap,
  type MaterialSource,
  type MaterialTap,
  type ProfileFormula,
} from "../equation.ts";
import type { Expression } from "../expression.ts";
import { add, atLeast, divide, maximum, multiply, subtract } from "../operations.ts";
import { laplacian } from "../operators.ts";
import type { ValueRange } from "../update.ts";
import { weightNodes } from "../weighted_sums.ts";
import { secondDerivative } from "../weights.ts";
import { type Accuracy, type Scheme, stepOf, warningOf } from "./dispersion.ts";
import {
  edgesOf,
  type EdgeWidths,
  matchedEdgesOf,
  type Pml,
  pmlOf,
  remembered,
  sumOf,
  withEdges,
} from "./edges.ts";
import {
  alongAxis,
  type Equation,
  oneOf,
  ownAxes,
  requireOneOf,
  requireStable,
  requireValue,
  type Stencil,
} from "./stencil.ts";
import { stabilityLimit, WAVE_ORDERS } from "./wave.ts";

/** What {@linkcode acoustic} makes a stencil of: a medium, and how it is computed. */
export interface AcousticOptions {
  /** Order of approximation in space: 2, 4, … 14. @default {2} */
  readonly order?: number | undefined;
  /** The lowest and the highest velocity in m/s; `solver.write("velocity", …)` says which cell has which. @default {[1500, 4500]} */
  readonly velocity?: ValueRange | undefined;
  /** The lowest and the highest of the material `density`, in any unit, of order 4, 6, … 14 at most a factor of 12, 8, 6, 5, 4.5 and 4 apart. @default {it is constant} */
  readonly density?: ValueRange | undefined;
  /** Whether velocity and density have 16 bits a value: `PackedMaterial`. @default {false} */
  readonly packed?: boolean | undefined;
  /** Metres from cell to cell. @default {10} */
  readonly spacing?: number | undefined;
  /** Seconds, or how accurate it is to be: then the largest that is, up to the default. @default {0.9 times the largest stable one} */
  readonly timeStep?: number | Accuracy | undefined;
  /** Cells of the absorbing edges, around the model, at each end of every axis, or of x, y and z. @default {22} */
  readonly edges?: EdgeWidths | undefined;
  /** How edges absorb: matched to the waves in one field, or as a convolutional PML, with memory of differences in them. @default {"matched"} */
  readonly absorber?: "matched" | "pml" | undefined;
  /** 2 for x and y, which then is the depth. @default {3} */
  readonly dimensions?: 2 | 3 | undefined;
  /** What is at the low end of the last axis: an absorbing edge, or at the upper face of cell 0 a free surface. @default {"absorbing"} */
  readonly surface?: "absorbing" | "free" | undefined;
}

/** What is said of a medium alone. */
export type AcousticMedium = Pick<AcousticOptions, "order" | "velocity" | "spacing" | "dimensions">;

/** A medium, and the frequency of a Ricker wavelet in it, in Hz. */
export type AcousticShot = AcousticMedium & Pick<AcousticOptions, "timeStep"> & {
  readonly frequency: number;
  /** Metres that the wavelet travels; where they are given, `acousticWarning` looks at what it becomes. */
  readonly distance?: number | undefined;
};

/** The width of an edge in wavelengths. */
const WAVELENGTHS = 1.7;

const PML: Pml = { rate: 0.8, degree: 2, kept: 0.995 };

/** How far apart densities may be, of order 2, 4, … 14: 13.9, 8.6, 6.7, 5.8, 5.2 and 4.8 can grow. */
const APART = [Infinity, 12, 8, 6, 5, 4.5, 4];

/** A medium with the defaults of what it leaves out, checked. */
export function mediumOf(medium: AcousticMedium, name = "acoustic") {
  const { order = 2, velocity = [1500, 4500], spacing = 10, dimensions = 3 } = medium;
  const [least, most] = [velocity].flat() as unknown as ValueRange, isRange = least > 0 && least <= most;
  requireOneOf(name, "order", WAVE_ORDERS, order);
  requireValue(isRange, name, "velocity must be the lowest, above 0, and the highest", `${velocity}`);
  requireValue(spacing > 0, name, "spacing must be above 0", spacing);
  return { order, velocity, least, most, spacing, dimensions };
}

/** The largest stable time step of a medium, in seconds. */
export function acousticTimeStep(medium: AcousticMedium = {}): number {
  const { order, most, spacing, dimensions } = mediumOf(medium);
  return stabilityLimit(order, dimensions) * spacing / most;
}

/** Cells of an absorbing edge that reflects less than −40 dB of a Ricker wavelet of this frequency in Hz, up to 45° from straight on. */
export function acousticEdges({ frequency, ...medium }: AcousticShot): number {
  const { most, spacing } = mediumOf(medium);
  return Math.ceil(WAVELENGTHS * most / frequency / spacing);
}

/** How waves in a medium are computed, at 0.9 of the largest stable time step. */
export function acousticScheme(medium: AcousticMedium): Scheme {
  const { order, spacing, dimensions } = mediumOf(medium), timeStep = 0.9 * acousticTimeStep(medium);
  const orders = WAVE_ORDERS.map((order) => [order, secondDerivative(order).sides] as const);
  const sides = secondDerivative(order).sides, higher = orders.filter(([known]) => known > order);
  return { name: "acoustic", sides, spacing, dimensions, timeStep, fewest: 2.5, orders: higher };
}

/**
 * A warning where cells are too large for a Ricker wavelet of this frequency in Hz, or where the scheme changes it by more
 * than 10% over the distance, if one is given, and what would halve that; undefined where neither is.
 */
export function acousticWarning({ frequency, distance, ...medium }: AcousticShot): string | undefined {
  const { least } = mediumOf(medium), scheme = acousticScheme(medium);
  const timeStep = stepOf(scheme, least, medium.timeStep);
  return warningOf({ ...scheme, timeStep }, { frequency, distance, velocity: least });
}

/**
 * Sound of one order. Its field is `p`, its materials `velocity`, in m/s, and `density`, its source `s`.
 *
 * @returns the stencil, reach order/2 along each axis, two time levels
 * @throws {RangeError} for another order, or a time step beyond the stability limit
 *
 * @example
 * ```ts
 * import { acoustic, acousticTimeStep } from "./acoustic.ts";
 * import { stepReach } from "../update.ts";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const water = { order: 4, velocity: [1500, 1500], spacing: 5 } as const;
 * const stencil = acoustic({ ...water, timeStep: 1e-3, edges: 20, surface: "free" });
 * assertEquals(stepReach(stencil.update).z, 2);
 * assert(acousticTimeStep(water) > 1e-3);
 * ```
 */
export function acoustic(options: AcousticOptions = {}): Stencil {
  checkOptions("build the acoustic stencil", options, [
    ...["order", "velocity", "density", "packed", "spacing"] as const,
    ...["timeStep", "edges", "absorber", "dimensions", "surface"] as const,
  ]);
  const { order, velocity, least, most, spacing, dimensions } = mediumOf(options);
  const { density, packed = false, edges = 22, surface = "absorbing", absorber = "matched" } = options;
  const timeStep = stepOf(acousticScheme(options), least, options.timeStep);
  requireStable("acoustic", "the time step in s", timeStep, acousticTimeStep(options), ` of order ${order}`);
  const isFree = surface === "free",
    isDense = density === undefined || (density[0] > 0 && density[0] <= density[1]);
  requireValue(isDense, "acoustic", "density must be the lowest, above 0, and the highest", `${density}`);
  const apart = density ? density[1] / density[0] : 1, mostApart = APART[order / 2 - 1]!;
  const wanted = `densities of order ${order} must be at most a factor of ${mostApart} apart`;
  requireValue(apart <= mostApart, "acoustic", wanted, `${density}`);
  requireValue(isFree || surface === "absorbing", "acoustic", "surface must be absorbing or free", surface);
  const isPml = absorber === "pml", axes = ownAxes(dimensions), depth = dimensions - 1, last = axes[depth]!;
  requireValue(isPml || absorber === "matched", "acoustic", "absorber must be matched or pml", absorber);
  const plain = secondDerivative(order).sides, scaled = plain.map((c) => c * (timeStep / spacing) ** 2);
  const { sides } = weightNodes(0, scaled, 2 * dimensions);
  const ratio = timeStep / spacing, common = { isFree, dimensions };
  const faced = (stagger: number) =>
    edgesOf("acoustic", edges, { ...common, stagger, ...pmlOf(PML, most * ratio) });
  const matched = { ...common, ratio, most, ...(density && { faces: { weight: plain[0]!, apart } }) };
  const rates = isPml ? faced(-0.5) : matchedEdgesOf("acoustic", edges, matched);
  const lower = isPml ? faced(-0.5) : {}, upper = isPml ? faced(0.5) : {};
  const rateName = isPml ? "d" : "e";
  const edgeAxes = axes.flatMap((axis, i) => rateName + axis in rates ? [i] : []);
  const stretchedAxes = isPml ? edgeAxes : [];
  const memories = stretchedAxes.flatMap((i) => ["r", "l", "z"].map((kind) => kind + axes[i]!));
  const images = isFree ? imagesOf(sides) : [];
  const stored = (range: ValueRange): MaterialSource => packed ? { packed: range } : { within: range };
  const materials: Readonly<Record<string, MaterialSource>> = {
    velocity: stored(velocity),
    ...(density && { density: stored(density) }),
    ...rates,
    ...Object.fromEntries(stretchedAxes.flatMap((i) => {
      const face = `h${axes[i]!}`;
      return [[`low${axes[i]!}`, lower[face]!], [`high${axes[i]!}`, upper[face]!]];
    })),
    ...Object.fromEntries(images.map(({ name, weight }) => [name, along(last, weight)])),
  };
  const stencil = equation<string, string, string>({
    name: "acoustic",
    variant: { order, ...(isPml && { edges: `pml${edges}` }) },
    title: `sound in metres and seconds, order ${order}`,
    dimensions,
    fields: Object.fromEntries(["p", ...memories].map((name) => [name, [-1, 1] as const])),
    materials,
    sources: { s: [-1, 1] },
    ...(isFree && { surface }),
    step(planes) {
      const p = planes.p!, s = planes.s!, v = planes.velocity!, rho = density && planes.density!;
      const mirrored = images.map(({ name, offset }) => {
        const way = alongAxis(depth, offset, dimensions), image = p.at(...way);
        // the tap itself, in zeros, has given −2p/ρ_0
        const missed = rho && subtract(divide(add(image, p), add(rho, rho.at(...way))), divide(p, rho));
        return multiply(planes[name]!, missed ? multiply(2, missed) : image);
      });
      const memory: Record<string, Expression> = {};
      /** The second difference along an axis, and what a PML makes of it. */
      const stretched = (axis: number): Expression => {
        const flow = (cells: number): Expression => {
          const way = alongAxis(axis, cells, dimensions), difference = subtract(p.at(...way), p);
          if (!rho) return difference;
          // beyond an end it is 0, with which waves would grow in a PML; images above a surface count with it
          const isAbove = isFree && axis === depth && cells < 0, beside = rho.at(...way);
          const other = isAbove ? beside : maximum(beside, density[0]);
          return divide(multiply(2, difference), add(rho, other));
        };
        const second = sumOf(plain.map((side, i) => multiply(side, add(flow(i + 1), flow(-1 - i)))));
        const remember = (kind: "r" | "l" | "z", profile: string, difference: Expression): Expression => {
          const name = kind + axes[axis]!;
          return memory[name] = remembered(PML, planes[name]!, planes[profile + axes[axis]!]!, difference);
        };
        if (!stretchedAxes.includes(axis)) return second;
        const both = add(second, add(remember("r", "high", flow(1)), remember("l", "low", flow(-1))));
        return add(both, remember("z", "d", both));
      };
      const arms = isPml
        ? [multiply((timeStep / spacing) ** 2, sumOf(axes.map((_, axis) => stretched(axis))))]
        : rho
        ? flowsOf(p, rho, sides, dimensions, (name) => name in rates ? planes[name] : undefined)
        : [multiply((timeStep / spacing) ** 2, laplacian(p, { order }))];
      const spread = sumOf([...arms, ...mirrored]), sent = multiply(timeStep ** 2, s);
      if (isPml || edgeAxes.length === 0) {
        const square = multiply(v, v),
          push = multiply(rho ? multiply(square, rho) : square, add(spread, sent));
        return { p: add(subtract(multiply(2, p), p.before()), push), ...memory };
      }
      const each = edgeAxes.map((i) => planes[`e${axes[i]!}`]!), all = sumOf(each);
      const matching = sumOf(
        edgeAxes.map((i, by) => rho ? multiply(each[by]!, each[by]!) : planes[`m${axes[i]!}`]!),
      );
      const flown = add(spread, sent), push = add(rho ? multiply(rho, flown) : flown, multiply(matching, p));
      // v v, not v²: torres keep what is made of materials alone
      const kept = subtract(1, multiply(v, all)), moved = add(multiply(2, p), multiply(v, multiply(v, push)));
      return { p: multiply(kept, subtract(moved, multiply(kept, p.before()))) };
    },
  });
  return withEdges(stencil, memories.map((name) => axes.findIndex((axis) => name.endsWith(axis))), edges);
}

/**
 * For every distance its weight times the sum of the differences so far away, each over the mean density. `profile`: what p
 * counts in those over the nearest faces, by name, where there are edges.
 */
function flowsOf(
  p: FieldTap,
  density: MaterialTap,
  sides: readonly Expression[],
  dimensions: 2 | 3,
  profile: (name: string) => Expression | undefined,
): Expression[] {
  return sides.map((side, i) => {
    const flows = ownAxes(dimensions).flatMap((name, axis) =>
      ([["low", -1 - i], ["high", i + 1]] as const).map(([end, cells]) => {
        const way = alongAxis(axis, cells, dimensions), part = i === 0 ? profile(end + name) : undefined;
        const difference = subtract(p.at(...way), part ? multiply(part, p) : p);
        return divide(difference, add(density, density.at(...way)));
      })
    );
    return multiply(2, side, sumOf(flows));
  });
}

/** The weights of the cells that the taps beyond a free surface are images of, for every distance along z. */
function imagesOf(sides: readonly Expression[]): { name: string; offset: number; weight: ProfileFormula }[] {
  return Array.from({ length: 2 * sides.length - 1 }, (_, index) => {
    const offset = index + 1 - sides.length;
    // the tap of cell z that lies offset + 1 + 2z cells up is the image of cell z + offset
    const weight = (i: Expression): Expression =>
      sumOf(sides.flatMap((side, above) => {
        const z = (above - offset) / 2, isImage = Number.isInteger(z) && z >= 0 && z + offset >= 0;
        return isImage ? [multiply(-1, side, atLeast(i, z), atLeast(z, i))] : [];
      }));
    return { name: `image${index + 1}`, offset, weight };
  });
}

export const ACOUSTIC: Equation = {
  name: "acoustic",
  title: "sound in a velocity model, with absorbing edges",
  dimensions: [3, 2],
  variant: oneOf("order", "order in space", WAVE_ORDERS),
  timeStep: {
    name: "dt",
    formula: "Δt in s at h = 10 m, up to 4500 m/s",
    limit: (order, dimensions) => acousticTimeStep({ order: Number(order), dimensions }),
  },
  create: (order, timeStep, dimensions) => acoustic({ order: Number(order), timeStep, dimensions }),
};
