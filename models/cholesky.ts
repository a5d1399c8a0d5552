/**
 * The Cholesky factor L of a symmetric positive definite matrix A = L·Lᵀ, row by row, so that a row may be added at any
 * time. Rows may be longer than they are filled.
 *
 * @module
 */

/** Rows of L: of row i the first i + 1 elements count. */
export type Factor = Float64Array[];

/**
 * Adds a row, in place of what it was made from.
 *
 * @param row of A, up to the diagonal
 * @param least what the square of the pivot is at least, where rounding leaves less
 * @returns the square of the pivot before that: what of the diagonal earlier rows do not explain
 */
export function addRow(factor: Factor, row: Float64Array, least: number): number {
  const i = factor.length;
  for (let j = 0; j < i; j++) row[j] = (row[j]! - dot(row, factor[j]!, j)) / factor[j]![j]!;
  const left = row[i]! - dot(row, row, i);
  row[i] = Math.sqrt(Math.max(left, least));
  factor.push(row);
  return left;
}

/** Solves L·x = b in place. */
export function solveLower(factor: Factor, values: Float64Array): Float64Array {
  for (let i = 0; i < factor.length; i++) {
    values[i] = (values[i]! - dot(factor[i]!, values, i)) / factor[i]![i]!;
  }
  return values;
}

/** Solves A·x = b in place. */
export function solve(factor: Factor, values: Float64Array): Float64Array {
  solveLower(factor, values);
  for (let i = factor.length - 1; i >= 0; i--) {
    values[i]! /= factor[i]![i]!;
    for (let j = 0; j < i; j++) values[j]! -= factor[i]![j]! * values[i]!;
  }
  return values;
}

/** The product of the first few elements. */
export function dot(a: Float64Array, b: Float64Array, count: number): number {
  let even = 0, odd = 0, i = 0;
  // two sums, since an addition waits for the one before
  for (; i + 1 < count; i += 2) {
    even += a[i]! * b[i]!;
    odd += a[i + 1]! * b[i + 1]!;
  }
  return i < count ? even + odd + a[i]! * b[i]! : even + odd;
}
