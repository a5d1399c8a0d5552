/**
 * The kernel that explains values best.
 *
 * @module
 */
import { KernelLikelihood } from "./kernel_likelihood.ts";
import type { Kernel, ProcessInputs } from "./lattice_kernel.ts";

/** Lengths that are tried, in steps: from "tells nothing of the next value" to "does not matter". */
const LENGTHS = [0.5, 1, 2, 4, 8, 16, 64];

/** Logarithms of lengths are expected about this one, with this deviation; few values must not say otherwise. */
const EXPECTED_LENGTH = 5, LENGTH_DEVIATION = 0.8;

/** Noises that are tried. */
const NOISES = [1e-4, 1e-3, 1e-2, 1e-1];

/**
 * Variances of the prior's trend that are tried: from "the prior is about right" to "it may be upside down". Every
 * tenfold needs evidence of odds e² more: with less, a few values that disagree make honest predictions be given up;
 * with more, wrong ones are held on to (recorded spaces, predictions as they are and turned around).
 */
const TRENDS = [0.1, 1, 10], LOG_ODDS_OF_TREND = 2;

/**
 * The kernel that explains values best, found one length after the other from an earlier kernel.
 *
 * @param inputs the candidates whose values are known, and no others
 * @param values their values
 * @param start the kernel to start from
 */
export function fitKernel(inputs: ProcessInputs, values: readonly number[], start: Kernel): Kernel {
  const likelihood = new KernelLikelihood(inputs, values);
  const judge = (kernel: Kernel): number => {
    const deviations = kernel.lengths.flat().map((length) =>
      Math.log(length / EXPECTED_LENGTH) / LENGTH_DEVIATION
    );
    const doubts = Math.log10(kernel.trend / TRENDS[0]);
    return likelihood.of(kernel) - LOG_ODDS_OF_TREND * doubts -
      deviations.reduce((sum, deviation) => sum + deviation ** 2, 0) / 2;
  };
  let best = start, most = judge(start);
  const consider = (kernel: Kernel): void => {
    const judged = judge(kernel);
    if (judged > most) [best, most] = [kernel, judged];
  };
  for (const noise of NOISES) if (noise !== best.noise) consider({ ...best, noise });
  for (const trend of TRENDS) if (trend !== best.trend) consider({ ...best, trend });
  // of a traversal that was tried once nothing is learnt
  for (const group of likelihood.learnable) {
    start.lengths[group].forEach((_, i) => {
      for (const length of LENGTHS) {
        if (length === best.lengths[group][i]) continue;
        consider({ ...best, lengths: best.lengths.with(group, best.lengths[group].with(i, length)) });
      }
    });
  }
  return best;
}

/** The kernel before anything is known. */
export function expectedKernel(sizes: readonly (readonly number[])[]): Kernel {
  return {
    lengths: sizes.map((list) => list.map(() => EXPECTED_LENGTH)),
    noise: 1e-3,
    level: 1,
    trend: TRENDS[0],
    group: 0.5,
  };
}
