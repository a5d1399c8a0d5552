import { hashCell } from "../../kernels/initial_field.ts";

/** Draws repeatable random numbers in [0, 1): a counter through the hash of the initial fields. */
export function seededRandom(seed: number): () => number {
  let count = 0;
  return () => hashCell([count++, 0, 0], seed) / 2 ** 32;
}
