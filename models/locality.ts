/**
 * Locality: cell updates per value moved between device memory and the processor, the horizontal axis of the
 * roofline in Levchenko, Perepelkina, Zakirov, "DiamondTorre algorithm for high-performance wave modeling",
 * Computation 2016, 4(3), 29, §5. A rate follows as locality × bandwidth / bytes per value.
 *
 * Of one tier, with W = 2·S·DTS and n = Nt / (2·DTS), the paper counts in units of 2S² values: DTS² updates,
 * (DTS+1)² − DTS² loads, DTS² − (DTS−1)² stores; of the whole torre, 2·DTS² values loaded before the first
 * tier and 2·(DTS−1)² stored after the last (two time levels; half of each with one). S cancels.
 *
 * @module
 */

/** Options of {@linkcode torreLocality} and {@linkcode torreRowLocality}. */
export interface TorreLocalityOptions {
  /**
   * Time levels that an update reads: 2 for the wave equation, 1 for heat. With one level nothing but the
   * newest field has to be filled before the first tier and emptied after the last.
   * @default {2}
   */
  levelsRead?: 1 | 2;
}

/**
 * The most that a traversal can reach which computes one time step after the other: every level that is read
 * is loaded once and one is stored (§5, "1/k", k = levels read + 1).
 *
 * @param levelsRead time levels that an update reads
 */
export function stepwiseLocality(levelsRead: number): number {
  return 1 / (levelsRead + 1);
}

/**
 * Locality of one torre whose neighbours share nothing with it: DTS·n / (4n + 2 − 2/DTS + 1/DTS²), towards
 * DTS/4 as Nt grows.
 *
 * @param dts diamond tile size, at least 1
 * @param nt tiers of the torre, at least 1; n = nt / (2·dts) need not be whole
 */
export function torreLocality(dts: number, nt: number, options: TorreLocalityOptions = {}): number {
  return locality(dts, nt, options.levelsRead ?? 2, 4 * dts);
}

/**
 * Locality of a row of torres that run at the same time: of every tier the corner that two neighbours load is
 * moved once. DTS·n / (n(4 − 1/DTS) + 2 − 2/DTS + 1/DTS²), towards DTS / (4 − 1/DTS) as Nt grows.
 *
 * @param dts diamond tile size, at least 1
 * @param nt tiers of the torre, at least 1
 *
 * @example
 * ```ts
 * import { stepwiseLocality, torreRowLocality } from "./locality.ts";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * // DTS = 1 gains nothing over stepwise, DTS = 5 nearly four times
 * assertAlmostEquals(torreRowLocality(1, 1e9), stepwiseLocality(2), 1e-6);
 * assertAlmostEquals(torreRowLocality(5, 96) / stepwiseLocality(2), 3.778, 1e-3);
 * ```
 */
export function torreRowLocality(dts: number, nt: number, options: TorreLocalityOptions = {}): number {
  return locality(dts, nt, options.levelsRead ?? 2, 4 * dts - 1);
}

/** Bytes moved per cell update at this locality, with f32 values. */
export function bytesPerUpdate(locality: number): number {
  return 4 / locality;
}

function locality(dts: number, nt: number, levelsRead: 1 | 2, movedPerTier: number): number {
  if (!(dts >= 1 && nt >= 1)) {
    throw new RangeError(
      `Cannot compute the locality of a torre: DTS and Nt must be at least 1: they are ${dts} and ${nt}`,
    );
  }
  const ends = levelsRead * (dts * dts + (dts - 1) * (dts - 1));
  return nt * dts * dts / (nt * movedPerTier + ends);
}
