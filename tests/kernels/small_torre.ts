/** Torres of the least height, for small grids: tests change what they are about. */
export const SMALL_TORRE = {
  dts: 1,
  nt: 8,
  bands: 1,
  zPerThread: 1,
  threads: 11,
  chunk: 2,
  unroll: 2,
  loads: "tier start",
};
