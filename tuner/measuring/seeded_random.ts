import { hashCell } from "../../kernels/initial_field.ts";

/**
 * Repeatable random numbers: a counter through the hash of the initial fields.
 *
 * @param seed a whole number
 * @returns a function that draws the next number in [0, 1)
 */
export function seededRandom(seed: number): () => number {
  let count = 0;
  return () => hashCell([count++, 0, 0], seed) / 2 ** 32;
}
