import { GaussianProcess } from "../../models/gaussian_process.ts";
import { type Kernel, LatticeCovariance, type ProcessInputs, residualOf } from "./lattice_kernel.ts";

/** Lengths to try, in steps: from "says nothing of the next value" to "does not matter". */
const LENGTHS = [0.5, 1, 2, 4, 8, 16, 64];

/** Logarithms of lengths are expected about the expected ones, with this deviation, until values say otherwise. */
const LENGTH_DEVIATION = 0.8;

/** Values of one traversal from which its lengths are learnt. */
const LEARNABLE = 3;

/** Noises to try: up to "what repeats is no larger than what does not", as on a busy processor. */
const NOISES = [1e-4, 1e-3, 1e-2, 1e-1, 1];

/**
 * Variances of the prior's trend to try: from "the prior is about right" to "it may be upside down". Every tenfold
 * needs odds of e²: with less, a few values that disagree discredit good predictions; with more, wrong ones are held
 * on to (recorded spaces, predictions as they are and inverted).
 */
const TRENDS = [0.1, 1, 10] as const, LOG_ODDS_OF_TREND = 2;

/** The kernel before anything is known. */
export function expectedKernel(lengths: Kernel["lengths"]): Kernel {
  return { lengths, noise: 1e-3, level: 1, trend: TRENDS[0], group: 0.5 };
}

/**
 * The kernel that explains values best, found one length after the other from an earlier kernel.
 *
 * @param inputs the candidates whose values are known, and no others
 * @param values their values
 * @param kernels the one to start from, and the one before anything is known
 */
export function fitKernel(
  inputs: ProcessInputs,
  values: readonly number[],
  { start, expected }: { readonly start: Kernel; readonly expected: Kernel },
): Kernel {
  const covariance = new LatticeCovariance(inputs), expectedLengths = expected.lengths.flat();
  const judge = (kernel: Kernel): number => {
    const lengths = kernel.lengths.flat().map((length, i) =>
      (Math.log(length / expectedLengths[i]!) / LENGTH_DEVIATION) ** 2
    );
    const { logLikelihood } = GaussianProcess.of(
      values,
      inputs.prior,
      covariance.of(kernel),
      residualOf(inputs),
    );
    return logLikelihood - LOG_ODDS_OF_TREND * Math.log10(kernel.trend / TRENDS[0]) -
      lengths.reduce((a, b) => a + b, 0) / 2;
  };
  let best = start, most = judge(start);
  const consider = (kernel: Kernel): void => {
    const judged = judge(kernel);
    if (judged > most) [best, most] = [kernel, judged];
  };
  for (const noise of NOISES) if (noise !== best.noise) consider({ ...best, noise });
  for (const trend of TRENDS) if (trend !== best.trend) consider({ ...best, trend });
  for (const [group, { length: known }] of Map.groupBy(inputs.groups, (group) => group)) {
    if (known < LEARNABLE) continue;
    for (const i of start.lengths[group]!.keys()) {
      for (const length of LENGTHS) {
        const list = best.lengths[group]!;
        if (length !== list[i]) {
          consider({ ...best, lengths: best.lengths.with(group, list.with(i, length)) });
        }
      }
    }
  }
  return best;
}
