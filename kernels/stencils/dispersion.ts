/**
 * What a scheme's own dispersion makes of a wavelet. Of second order in time a wave of frequency ω and phase θ a cell along
 * each of n axes obeys sin²(ωΔt/2) = n (vΔt/2h)² G(θ), where −G is the symbol of the second derivative: time steps make
 * waves too fast, cells too slow. On its way L a frequency is off by the phase (k − ω/v) L, whatever the order.
 *
 * @module
 */
import { checkOptions } from "../check_options.ts";
import { symbolAt } from "./cross.ts";
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

/** A wavelet on its way. */
type Way = Readonly<Record<"frequency" | "distance" | "velocity", number>>;

/** How waves are computed: the weights of the second derivative, metres, seconds. */
export interface Scheme {
  readonly sides: readonly number[];
  readonly spacing: number;
  readonly timeStep: number;
  readonly dimensions: 2 | 3;
}

/** A change that is worth a warning. */
const MUCH = 0.1;

/** How much a wavelet changes along an axis or the diagonal, whichever is more: up to √2, where nothing is left of it. */
export function changeOf({ sides, spacing, timeStep, dimensions }: Scheme, way: Way): number {
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

/** The largest time step, the scheme's at most, at which a wavelet changes no more than it may. */
export function stepOf(
  { name, slowest, ...scheme }: Scheme & { readonly name: string; readonly slowest: number },
  accurate: Accuracy,
): number {
  checkOptions("choose a time step", accurate, [
    ...["accuracy", "frequency", "distance", "velocity"] as const,
  ]);
  const { accuracy, frequency, distance, velocity = slowest } = accurate,
    way = { frequency, distance, velocity };
  for (const [what, value] of Object.entries({ accuracy, ...way })) {
    requireValue(value > 0 && value < Infinity, name, `${what} must be above 0`, value);
  }
  const tried = SMALLER.map((factor) => {
    const timeStep = factor * scheme.timeStep;
    return { timeStep, change: changeOf({ ...scheme, timeStep }, way) };
  });
  const found = tried.find(({ change }) => change <= accuracy);
  const least = Math.min(...tried.map(({ change }) => change)).toPrecision(2);
  const wanted = `accuracy must be at least ${least}, what spacing and order alone change a wavelet by`;
  requireValue(found !== undefined, name, wanted, accuracy);
  return found!.timeStep;
}

/** A warning where a wavelet changes much on its way, and what would halve that; undefined where it does not. */
export function changeWarning(
  scheme: Scheme,
  way: Way,
  orders: Readonly<Record<string, readonly number[]>> = {},
): string | undefined {
  const { frequency, distance, velocity } = way,
    { timeStep, spacing } = scheme,
    change = changeOf(scheme, way);
  if (!(change > MUCH)) return undefined;
  const cures: [string, Scheme][] = [
    ...SMALLER.slice(0, 25).map((factor): [string, Scheme] => {
      const step = factor * timeStep;
      return [`a time step of ${step.toPrecision(3)} s`, { ...scheme, timeStep: step }];
    }),
    ...Object.entries(orders).map((
      [order, sides],
    ): [string, Scheme] => [`order ${order}`, { ...scheme, sides }]),
    ...SMALLER.map((factor): [string, Scheme] => {
      const cell = factor * spacing;
      return [`a spacing of ${cell.toPrecision(3)} m`, {
        ...scheme,
        spacing: cell,
        timeStep: factor * timeStep,
      }];
    }),
  ];
  const cure = cures.find(([, one]) => changeOf(one, way) <= change / 2)?.[0];
  const short = (value: number): number => Number(value.toPrecision(4));
  const percent = change > 1 ? "more than 100" : (100 * change).toPrecision(2),
    waves = distance * frequency / velocity;
  return `the scheme changes a wavelet of ${frequency} Hz by ${percent}% on its way of ${
    distance.toPrecision(3)
  } m at ` +
    `${short(velocity)} m/s, ${waves.toPrecision(2)} wavelengths${cure ? `: ${cure} halves that` : ""}`;
}
