/**
 * What a scheme's own dispersion makes of a wavelet. Of second order in time a wave of frequency ω and phase θ a cell along
 * each of n axes obeys sin²(ωΔt/2) = n (vΔt/2h)² G(θ), where −G is the symbol of the second derivative: time steps make
 * waves too fast, cells too slow. On its way L a frequency is off by the phase (k − ω/v) L, whatever the order.
 *
 * @module
 */
import { checkOptions } from "../check_options.ts";
import { symbolAt } from "../weights.ts";
import { requireValue } from "./stencil.ts";

/** How accurate a time step is to be. */
export interface Accuracy {
  /** How much a Ricker wavelet may change on its way: the root mean square of the difference, as a part of its own. */
  readonly accuracy: number;
  /** The wavelet's frequency in Hz. */
  readonly frequency: number;
  /** Metres of its way. */
  readonly distance: number;
  /** Its velocity in m/s. @default {the lowest of the medium, of elastic waves that by √3} */
  readonly velocity?: number | undefined;
}

/** A Ricker wavelet on its way. */
type Way = Readonly<Record<"frequency" | "distance" | "velocity", number>>;

/** How waves are computed. */
export interface Scheme {
  /** The equation. */
  readonly name: string;
  /** Weights of the second derivative. */
  readonly sides: readonly number[];
  /** Metres. */
  readonly spacing: number;
  /** Seconds; of a scheme whose step is chosen the longest. */
  readonly timeStep: number;
  readonly dimensions: 2 | 3;
  /** Cells that the shortest wavelength needs, and which that is. */
  readonly fewest: number;
  readonly wave?: string;
  /** The weights of higher orders. */
  readonly orders?: readonly (readonly [order: number, sides: readonly number[]])[];
}

/** What changes a wavelet. */
type Steps = Pick<Scheme, "sides" | "spacing" | "timeStep" | "dimensions">;

/** A change that is worth a warning. */
const MUCH = 0.1;

/** Where a Ricker wavelet's spectrum ends, in frequencies of its peak. */
const HIGHEST = 2.5;

/** How much a wavelet changes along an axis or the diagonal, whichever is more: up to √2, where nothing is left of it. */
export function changeOf({ sides, spacing, timeStep, dimensions }: Steps, way: Way): number {
  const weights = { centre: -2 * sides.reduce((sum, side) => sum + side, 0), sides };
  const { frequency, distance, velocity } = way;
  const along = (axes: number): number => {
    let changed = 0, all = 0;
    for (let part = 0.1; part < 2.55; part += 0.1) {
      const power = (part ** 2 * Math.exp(-(part ** 2))) ** 2, half = Math.PI * part * frequency * timeStep;
      const wanted = (2 * spacing * Math.sin(half) / (velocity * timeStep)) ** 2 / axes;
      let low = 0, high = Math.PI;
      for (let i = 0; i < 45; i++) {
        const middle = (low + high) / 2;
        if (-symbolAt(weights, middle) < wanted) low = middle;
        else high = middle;
      }
      const isHeld = half < Math.PI / 2 && -symbolAt(weights, Math.PI) > wanted;
      const off = Math.abs(Math.sqrt(axes) * low / spacing - 2 * Math.PI * part * frequency / velocity);
      changed += power * (2 - 2 * Math.cos(isHeld ? Math.min(off * distance, Math.PI / 2) : Math.PI / 2));
      all += power;
    }
    return Math.sqrt(changed / all);
  };
  return Math.max(along(1), along(dimensions));
}

/** Factors by which time steps and spacings are tried: down to a 1000th. */
const SMALLER = Array.from({ length: 81 }, (_, i) => 2 ** (-i / 8));

/** The time step that is asked for; for an accuracy the largest, the scheme's at most, that keeps it; unless given the scheme's. */
export function stepOf(scheme: Scheme, slowest: number, asked: number | Accuracy = scheme.timeStep): number {
  if (typeof asked === "number") return asked;
  checkOptions("choose a time step", asked, ["accuracy", "frequency", "distance", "velocity"]);
  const { accuracy, frequency, distance, velocity = slowest } = asked, { name } = scheme;
  const way = { frequency, distance, velocity };
  for (const [what, value] of Object.entries({ accuracy, ...way })) {
    requireValue(value > 0 && value < Infinity, name, `${what} must be above 0`, value);
  }
  const steps = SMALLER.map((factor) => factor * scheme.timeStep);
  const changes = steps.map((timeStep) => changeOf({ ...scheme, timeStep }, way));
  const found = changes.findIndex((change) => change <= accuracy),
    least = Math.min(...changes).toPrecision(2);
  const wanted = `accuracy must be at least ${least}, what spacing and order alone change a wavelet by`;
  requireValue(found >= 0, name, wanted, accuracy);
  return steps[found]!;
}

/**
 * A warning where cells are too large for a wavelet, or where the scheme changes it much on its way, if it has one, and
 * what would halve that; undefined where neither is.
 */
export function warningOf(
  { fewest, wave = "", orders = [], ...scheme }: Scheme,
  { distance = 0, ...path }: Omit<Way, "distance"> & { readonly distance?: number | undefined },
): string | undefined {
  const { timeStep, spacing } = scheme, { frequency, velocity } = path, way = { ...path, distance };
  const cells = velocity / (HIGHEST * frequency * spacing);
  if (cells < fewest) {
    const [slower, finer] = [frequency, spacing].map((value) => (value * cells / fewest).toPrecision(3));
    return `${cells.toFixed(1)} cells per shortest ${wave}wavelength are too few: ${fewest} are wanted, ` +
      `as with a frequency of ${slower} Hz or a spacing of ${finer} m`;
  }
  const change = distance > 0 ? changeOf(scheme, way) : 0;
  if (!(change > MUCH)) return undefined;
  type Cure = readonly [what: string, scheme: Partial<Steps>];
  const sooner = (step: number): Cure => [`a time step of ${step.toPrecision(3)} s`, { timeStep: step }];
  const finer = (factor: number): Cure => {
    const cell = factor * spacing;
    return [`a spacing of ${cell.toPrecision(3)} m`, { spacing: cell, timeStep: factor * timeStep }];
  };
  const cures: Cure[] = [
    ...SMALLER.slice(0, 25).map((factor) => sooner(factor * timeStep)),
    ...orders.map(([order, sides]): Cure => [`order ${order}`, { sides }]),
    ...SMALLER.map(finer),
  ];
  const [cure] = cures.find(([, other]) => changeOf({ ...scheme, ...other }, way) <= change / 2) ?? [];
  const percent = change > 1 ? "more than 100" : (100 * change).toPrecision(2);
  const waves = (distance * frequency / velocity).toPrecision(2), metres = Number(distance.toPrecision(3));
  return `the scheme changes a wavelet of ${frequency} Hz by ${percent}% on its way of ${metres} m at ` +
    `${Number(velocity.toPrecision(4))} m/s, ${waves} wavelengths${cure ? `: ${cure} halves that` : ""}`;
}
