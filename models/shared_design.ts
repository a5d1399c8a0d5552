/**
 * Which R and shares to measure before the costs of a shared step are known: a handful that spans what will be
 * predicted, around the shares that a first guess calls best.
 *
 * @module
 */
import {
  bestShare,
  fits,
  LONGEST_CURVE,
  type SharedCosts,
  type SharedGrid,
  type SharePoint,
} from "./shared_step.ts";

/** Cells per second of each device alone, and the host's wait for a mapping. */
export interface FirstGuess {
  readonly cpuCellsPerSecond: number;
  readonly gpuCellsPerSecond: number;
  readonly waitNs: number;
  readonly timerNs: number;
}

/** A point of the design. */
export interface DesignPoint extends SharePoint {
  /** Whether both devices are to be measured together, or each alone only. */
  readonly together: boolean;
}

/** Values of R in a design. */
const PERIODS = 5;

/** Costs that follow from rates alone: no copies, no barriers, devices that do not disturb each other. */
function guessCosts(
  { cpuCellsPerSecond, gpuCellsPerSecond, waitNs, timerNs }: FirstGuess,
): SharedCosts {
  return {
    cpu: { updateNs: 1e9 / cpuCellsPerSecond, stepNs: 0, missNs: 0, cachedCells: 0 },
    gpu: { updateNs: 1e9 / gpuCellsPerSecond, stepNs: 0, passNs: 0, byteNs: 0 },
    unpack: { a: 0, b: 0 },
    pack: { a: 0, b: 0 },
    schedule: { submitNs: 0, timerNs, waitNs, contention: 0, starvation: 0 },
  };
}

/**
 * The points to measure, those first that tell most: a middle R, R = 1, the largest, then those between, evenly on
 * a logarithmic scale. One more point, each device alone only, has another share: it tells what a slice costs where
 * the best shares hardly differ.
 *
 * @param shared the grid
 * @param guess the devices' rates
 * @returns none where two shares do not fit even with R = 1
 *
 * @example
 * ```ts
 * import { designPoints } from "./shared_design.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const shared = { grid: [256, 64, 64], reach: 1, interfaces: 1, values: [1, 1], steps: 96 } as const;
 * const guess = { cpuCellsPerSecond: 6e9, gpuCellsPerSecond: 0.2e9, waitNs: 11e6, timerNs: 1e6 };
 * assertEquals(designPoints(shared, guess).map(({ exchangeEvery }) => exchangeEvery), [6, 1, 32, 2, 13, 6]);
 * ```
 */
export function designPoints(shared: SharedGrid, guess: FirstGuess): DesignPoint[] {
  const costs = guessCosts(guess);
  const [slices] = shared.grid;
  let longest = 0;
  while (longest < LONGEST_CURVE && fits(shared, longest + 1)) longest++;
  if (longest === 0) return [];
  const even = (i: number): number => Math.round(longest ** (i / (PERIODS - 1)));
  const periods = [...new Set([2, 0, 4, 1, 3].map(even))];
  const points = periods.map((exchangeEvery): DesignPoint => {
    const { cpuSlices } = bestShare(shared, exchangeEvery, costs)!;
    return { exchangeEvery, cpuSlices, together: true };
  });
  const [{ exchangeEvery, cpuSlices }] = points;
  const thinnest = Math.max(1, exchangeEvery * shared.reach);
  // a quarter of the way to equal shares, not further: the slower device would take long
  const other = Math.round(cpuSlices + (slices / 2 - cpuSlices) / 4);
  if (other === cpuSlices || Math.min(other, slices - other) < thinnest) return points;
  return [...points, { exchangeEvery, cpuSlices: other, together: false }];
}
