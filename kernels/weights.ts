/**
 * Coefficients of finite differences: those of the central second derivative in closed form, with its largest value and
 * what it makes of a wave, all others by Fornberg's recursion; and how weights are rounded to f32.
 *
 * @module
 */

/**
 * Coefficients c_0, c_1, … c_p of the central second derivative of order 2p:
 * c_k = 2(−1)^(k+1) (p!)² / (k² (p−k)! (p+k)!), c_0 = −2 Σ c_k. The paper's Table 1 prints c_0/2.
 *
 * @param order 2p, even, at least 2
 */
export function secondDerivative(order: number): CrossWeights {
  const p = order / 2;
  const sides: number[] = [];
  for (let k = 1; k <= p; k++) {
    // (p!)² / ((p−k)! (p+k)!) as a product of k factors, to stay exact for longer
    let ratio = 1;
    for (let i = 1; i <= k; i++) ratio *= (p - k + i) / (p + i);
    sides.push((k % 2 === 1 ? 2 : -2) * ratio / (k * k));
  }
  return { centre: -2 * sides.reduce((sum, c) => sum + c, 0), sides };
}

/**
 * Weights of a derivative of any degree from values at any places: the derivative, at 0, of the polynomial through them
 * (B. Fornberg, "Generation of Finite Difference Formulas on Arbitrarily Spaced Grids", Math. Comp. 51, 1988).
 *
 * @param places different from each other, in units of the spacing, more than `degree`
 * @param degree 0 for the value itself, 1 for the slope, …
 */
export function differenceWeights(places: readonly number[], degree: number): number[] {
  // weights[k][j]: of the k-th derivative, of place j, from the places up to the last one taken in
  let weights = Array.from({ length: degree + 1 }, (_, k) => k === 0 ? [1] : [0]), product = 1;
  for (let n = 1; n < places.length; n++) {
    const place = places[n]!, last = places[n - 1]!, before = product;
    product = places.slice(0, n).reduce((all, other) => all * (place - other), 1);
    const of = (k: number, j: number): number => weights[k]?.[j] ?? 0;
    weights = weights.map((row, k) => [
      ...row.map((_, j) => (place * of(k, j) - k * of(k - 1, j)) / (place - places[j]!)),
      before / product * (k * of(k - 1, n - 1) - last * of(k, n - 1)),
    ]);
  }
  return weights[degree]!;
}

/** S = |c_0| + 2Σ|c_k|: what the second derivative multiplies the shortest wave by, at most. */
export function spreadOf({ centre, sides }: CrossWeights): number {
  return Math.abs(centre) + 2 * sides.reduce((sum, c) => sum + Math.abs(c), 0);
}

/**
 * c_0 + 2 Σ_θ Σ_k c_k cos kθ: what a wave of phase θ = kh a cell along each axis is multiplied by. Of the second
 * derivative along one axis it is −G(θ).
 */
export function symbolAt({ centre, sides }: CrossWeights, ...phases: readonly number[]): number {
  return phases.reduce(
    (before, theta) => sides.reduce((sum, c, i) => sum + 2 * c * Math.cos((i + 1) * theta), before),
    centre,
  );
}

/** Weights of a cross-shaped update, the same along every axis. */
export interface CrossWeights {
  readonly centre: number;
  /** Weight of the cells along the axes at distance 1, 2, … */
  readonly sides: readonly number[];
}

/**
 * Weights rounded to f32, so that centre + count · Σ sides is `total` exactly: a constant stays what it is, and sums are
 * conserved. Rounded one by one they miss it by some 10⁻⁸, which every step adds: a wave of ones had grown to 4.5 after
 * 10,000 steps. The sums of the sides from each on are rounded to what the one before can hold, and differ from the
 * given ones by no more than that; the centre follows.
 *
 * @param count cells that each side weighs
 * @param bits of the numbers that hold them: 24 in f32
 */
export function conservingWeights(
  total: number,
  sides: readonly number[],
  count: number,
  bits = 24,
): CrossWeights {
  const sumFrom = (k: number): number => sides.slice(k).reduce((sum, side) => sum + side, 0);
  const round = (value: number, unit: number): number => Math.round(value / unit) * unit;
  const tails = sides.map((side, k) => {
    const before = k === 0 ? (total - count * sumFrom(0)) / 2 : sides[k - 1]!;
    return round(sumFrom(k), Math.max(unitOf(before, bits), unitOf(side, bits)));
  });
  return { centre: total - count * tails[0]!, sides: tails.map((tail, k) => tail - (tails[k + 1] ?? 0)) };
}

/** The distance between neighbouring numbers with `bits` bits, 24 in f32, at the value's size or a little above it. */
export function unitOf(value: number, bits = 24): number {
  return 2 ** (Math.floor(Math.log2(Math.abs(value) * (1 + 2 ** -20))) + 1 - bits);
}
