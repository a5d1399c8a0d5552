/**
 * Regression by extremely randomised trees (Geurts, Ernst, Wehenkel, "Extremely randomized trees", Machine
 * Learning 63, 2006): every tree sees all samples; a node tries one random threshold of each of some features and
 * keeps the best. They need no scaling, take conditional parameters as they are, and their disagreement tells how
 * sure they are (Hutter, Hoos, Leyton-Brown, "Sequential Model-Based Optimization for General Algorithm
 * Configuration", LION 5, 2011, §4.1). Own code: npm's
 * ml-random-forest grows bootstrapped trees that try every threshold of a feature, and tells no variance.
 *
 * @module
 */

/** Options of {@linkcode growForest}. */
export interface ForestOptions {
  /** @default {30} */
  readonly trees?: number;
  /** Samples below which a node is not split. @default {3} */
  readonly minSplit?: number;
  /** Features that a node tries. @default {all} */
  readonly tried?: number;
  /** Random numbers in [0, 1). */
  readonly draw: () => number;
}

/** What a forest says of a row. */
export interface Prediction {
  readonly mean: number;
  /** Between the trees, and within their leaves. */
  readonly variance: number;
}

/** A grown forest. */
export interface Forest {
  /** @param row values of the features */
  predict(row: readonly number[]): Prediction;
}

/** A leaf: what its samples came to. A node: where to go on. */
type Node =
  | { readonly mean: number; readonly variance: number }
  | { readonly feature: number; readonly threshold: number; readonly below: Node; readonly above: Node };

/**
 * Grows a forest.
 *
 * @param rows values of the features, one row a sample; at least one
 * @param targets a value a sample
 * @param options how many trees
 *
 * @example
 * ```ts
 * import { growForest } from "./forest.ts";
 * import { seededRandom } from "../measuring/seeded_random.ts";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const rows = [[1, 0], [2, 0], [3, 0], [4, 0]];
 * const forest = growForest(rows, [10, 20, 30, 40], { draw: seededRandom(1), minSplit: 2 });
 * assertAlmostEquals(forest.predict([3, 0]).mean, 30);
 * ```
 */
export function growForest(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
  { trees = 30, minSplit = 3, tried = Infinity, draw }: ForestOptions,
): Forest {
  const all = rows.map((_, i) => i);
  const grow = (samples: readonly number[]): Node => {
    const split = samples.length < minSplit ? undefined : bestSplit(samples, { rows, targets, tried, draw });
    if (split === undefined) return leafOf(samples.map((i) => targets[i]));
    const { feature, threshold } = split;
    return {
      feature,
      threshold,
      below: grow(samples.filter((i) => rows[i][feature] < threshold)),
      above: grow(samples.filter((i) => rows[i][feature] >= threshold)),
    };
  };
  const roots = Array.from({ length: trees }, () => grow(all));
  return {
    predict(row) {
      let sum = 0, squares = 0, within = 0;
      for (const root of roots) {
        let node = root;
        while ("feature" in node) node = row[node.feature] < node.threshold ? node.below : node.above;
        sum += node.mean;
        squares += node.mean * node.mean;
        within += node.variance;
      }
      const mean = sum / trees;
      return { mean, variance: Math.max(0, squares / trees - mean * mean) + within / trees };
    },
  };
}

interface Samples {
  readonly rows: readonly (readonly number[])[];
  readonly targets: readonly number[];
  readonly tried: number;
  readonly draw: () => number;
}

/** Of one random threshold each of some features, the one that leaves the least variance; undefined if all are alike. */
function bestSplit(samples: readonly number[], { rows, targets, tried, draw }: Samples) {
  const ranges: { feature: number; low: number; high: number }[] = [];
  for (let feature = 0; feature < rows[0].length; feature++) {
    let low = Infinity, high = -Infinity;
    for (const i of samples) {
      const value = rows[i][feature];
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (low < high) ranges.push({ feature, low, high });
  }
  let best: { feature: number; threshold: number } | undefined, most = -Infinity;
  for (let count = Math.min(tried, ranges.length); count > 0; count--) {
    const at = Math.floor(draw() * ranges.length);
    const [{ feature, low, high }] = ranges.splice(at, 1);
    const threshold = high - draw() * (high - low); // above low, so that both sides have samples
    let below = 0, belowSum = 0, sum = 0;
    for (const i of samples) {
      sum += targets[i];
      if (rows[i][feature] < threshold) [below, belowSum] = [below + 1, belowSum + targets[i]];
    }
    // what is left of the variance shrinks as this grows
    const above = samples.length - below, aboveSum = sum - belowSum;
    const gain = belowSum * belowSum / below + aboveSum * aboveSum / above;
    if (gain > most) [best, most] = [{ feature, threshold }, gain];
  }
  return best;
}

function leafOf(values: readonly number[]): Node {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, variance };
}
