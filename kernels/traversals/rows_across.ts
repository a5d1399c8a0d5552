/**
 * What of rows of cells SIMD groups and caches move.
 *
 * @module
 */
/** What the caches move at once. */
const SECTOR_BYTES = 32;

/**
 * Of workgroups with this number of threads along z, and of cells in their rows: the pieces of rows that a SIMD group
 * covers; what is moved beside a row's values, since caches move sectors; and what lies beyond the ends of its rows, as
 * parts of a row.
 */
export function rowsAcross(
  threadsZ: number,
  cells: number,
  reach: number,
): Record<"pieces" | "part" | "ends", number> {
  const isWhole = 32 % threadsZ === 0 || threadsZ % 32 === 0, sector = SECTOR_BYTES / (4 * cells);
  return {
    pieces: isWhole ? Math.max(1, 32 / threadsZ) : 1 + 31 / threadsZ,
    part: sector,
    ends: 2 * sector * Math.ceil(4 * reach / SECTOR_BYTES),
  };
}
