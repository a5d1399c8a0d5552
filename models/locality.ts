/**
 * Locality: cell updates per value moved between device memory and the processor. It is the horizontal axis of the
 * roofline (Fig. 7) in Levchenko, Perepelkina, Zakirov, "DiamondTorre algorithm for high-performance wave modeling",
 * Computation 2016, 4(3), 29, §5. A rate follows as locality × bandwidth / bytes per value.
 *
 * With W = 2·S·DTS and n = Nt / (2·DTS), the paper counts in units of 2S² values. Each tier makes DTS² updates,
 * (DTS+1)² − DTS² loads and DTS² − (DTS−1)² stores. The whole torre loads 2·DTS² values before the first tier and
 * stores 2·(DTS−1)² after the last (for two time levels; half of each for one). S cancels.
 *
 * @module
 */

interface TorreLocalityOptions {
  /** Time levels that an update reads: 2 for the wave equation, 1 for heat. @default {2} */
  readonly levelsRead?: 1 | 2;
  /** Whether a row of torres runs at the same time: the corner that two neighbours load is then moved once. @default {true} */
  readonly inRow?: boolean;
}

/** The upper limit of all stepwise traversals, 1/k: each level is loaded once and one is stored (Eq. 4). */
export function stepwiseLocality(levelsRead: 1 | 2 = 2): number {
  return 1 / (levelsRead + 1);
}

/**
 * Locality of a torre, in a row of torres DTS·n / (n(4 − 1/DTS) + 2 − 2/DTS + 1/DTS²) (Eq. 6), alone
 * DTS·n / (4n + 2 − 2/DTS + 1/DTS²) (Eq. 5). As Nt grows they approach DTS / (4 − 1/DTS) and DTS/4.
 *
 * @param dts diamond tile size, at least 1
 * @param nt tiers of the torre, at least 1; need not be a multiple of 2·DTS
 */
export function torreLocality(
  dts: number,
  nt: number,
  { levelsRead = 2, inRow = true }: TorreLocalityOptions = {},
): number {
  const movedPerTier = inRow ? 4 * dts - 1 : 4 * dts;
  const ends = levelsRead * (dts ** 2 + (dts - 1) ** 2);
  return nt * dts ** 2 / (nt * movedPerTier + ends);
}
