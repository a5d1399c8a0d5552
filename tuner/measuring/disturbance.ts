import { interquartileRange, quantileSorted } from "npm:simple-statistics@^7.12.0";
import { formatCount, formatRate } from "../format.ts";
import { median } from "./statistics.ts";

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
  const sorted = rates.toSorted((a, b) => a - b), logarithms = sorted.map(Math.log), { length } = sorted;
  if (length < LEAST_SAMPLES) return undefined;
  const [like, least] = [median(sorted), Math.ceil(LEAST_PART * length)];
  const rate = (value: number): string => formatRate(value, { like });
  const gapBelow = (at: number): number => logarithms[at]! - logarithms[at - 1]!;
  const places = Array.from({ length: length - 2 * least + 1 }, (_, i) => least + i);
  const cut = places.reduce((best, at) => gapBelow(at) > gapBelow(best) ? at : best);
  const widest = Math.max(
    ...[logarithms.slice(0, cut), logarithms.slice(cut)].map((one) => interquartileRange(one)),
  );
  const [low, high] = [0.25, 0.75].map((part) => quantileSorted(logarithms, part)) as [number, number];
  const reach = Math.max(LEAST_GAP, FENCE * (high - low));
  const outliers = sorted.filter((_, i) => logarithms[i]! < low - reach || logarithms[i]! > high + reach);
  const far = (value: number): number => Math.abs(Math.log(value / like));
  const seen = gapBelow(cut) > Math.max(LEAST_GAP, FENCE * widest)
    ? `${formatCount(cut)} of ${formatCount(length)} samples are near ${
      rate(median(sorted.slice(0, cut)))
    }, ` +
      `the others near ${rate(median(sorted.slice(cut)))}`
    : outliers.length > 0
    ? `outliers: ${formatCount(outliers.length)} of ${formatCount(length)} samples, the farthest at ` +
      rate(outliers.reduce((one, other) => far(other) > far(one) ? other : one))
    : undefined;
  return seen &&
    `${seen}: other programs or a clock that changes may have disturbed them; try an idle machine, or a longer --budget`;
}
