import { interquartileRange, quantileSorted } from "npm:simple-statistics@7.12.1";
import { formatCount, formatPercent, formatRate } from "../format.ts";
import { isComparable, median, WIDEST } from "./statistics.ts";

/** Fewer samples say nothing of their distribution; a smaller part of the rate is noise. */
const LEAST_SAMPLES = 10, LEAST_GAP = 0.1;
/** The smaller of two groups has this part of the samples; fewer are outliers. */
const LEAST_PART = 0.25;
/** Quartile distances between two groups, of the wider one, and from the quartiles to an outlier (Tukey's outer fence). */
const FENCE = 3;

/**
 * What other programs or a changing clock do to samples: they fall into two groups, or a few lie far from the others. A
 * median hides both. Two groups have a gap between them of three times the wider one's interquartile range.
 *
 * @param rates the samples of a configuration
 * @returns what was seen, why that may be, and what to try, in one line; undefined where nothing was
 */
export function describeDisturbance(rates: readonly number[]): string | undefined {
  const { length } = rates, least = Math.ceil(LEAST_PART * length);
  if (length < LEAST_SAMPLES) return undefined;
  const sorted = rates.map(Math.log).sort((a, b) => a - b), middle = median(sorted);
  const near = (logarithms: readonly number[]): string =>
    formatRate(median(logarithms.map(Math.exp)), { like: Math.exp(middle) });
  const fence = (group: number[]): number => Math.max(LEAST_GAP, FENCE * interquartileRange(group));
  const gaps = sorted.slice(least, length - least + 1).map((sample, i) => sample - sorted[least + i - 1]!);
  const cut = least + gaps.indexOf(Math.max(...gaps)), low = sorted.slice(0, cut), high = sorted.slice(cut);
  const [first, last] = [0.25, 0.75].map((part) => quantileSorted(sorted, part)) as [number, number];
  const outliers = sorted.filter((sample) => sample < first - fence(sorted) || sample > last + fence(sorted))
    .sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
  const [many, all] = [cut, length].map(formatCount);
  const seen = Math.max(...gaps) > Math.max(fence(low), fence(high))
    ? `${many} of ${all} samples are near ${near(low)}, the others near ${near(high)}`
    : outliers.length > 0
    ? `outliers: ${formatCount(outliers.length)} of ${all} samples, the farthest at ${near([outliers[0]!])}`
    : undefined;
  return seen &&
    `${seen}: other programs or a clock that changes may have disturbed them; try an idle machine, or a longer --budget`;
}

/** Why the rate that was found is of little use, and what to try, in one line; undefined where it is of use. */
export function describeWarning(
  result: Parameters<typeof isComparable>[0] & {
    readonly samples: readonly number[];
  },
): string | undefined {
  const disturbance = describeDisturbance(result.samples);
  if (isComparable(result)) return disturbance;
  const wide = `no 95% interval within ±${formatPercent(WIDEST)}: qualify cannot compare with this rate`;
  return `${wide}; ${disturbance ?? "try an idle machine, or a longer --budget"}`;
}
