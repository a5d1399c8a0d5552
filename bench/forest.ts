/** Samples below which a node is not split. */
const MIN_SPLIT = 3;

const TREES = 30;

export interface Forest {
  /** The mean over the trees, and the variance between them and within their leaves, for these values of the features. */
  predict(row: readonly number[]): { readonly mean: number; readonly variance: number };
}

/** A leaf with its samples' values, or a node that says where to go on. */
type Node =
  | { readonly mean: number; readonly variance: number }
  | { readonly feature: number; readonly threshold: number; readonly below: Node; readonly above: Node };

interface Samples {
  readonly rows: readonly (readonly number[])[];
  readonly targets: readonly number[];
  readonly draw: () => number;
}

/**
 * Grows extremely randomised trees (Geurts, Ernst, Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006):
 * every tree sees all samples; a node tries one random threshold of each feature and keeps the best. They need no
 * scaling, take conditional parameters as they are, and the spread between trees says how sure they are (Hutter, Hoos,
 * Leyton-Brown, "Sequential Model-Based Optimization for General Algorithm Configuration", LION 5, 2011, §4.1). Own
 * code: npm's ml-random-forest grows bootstrapped trees that try every threshold, and reports no variance.
 *
 * @param rows values of the features, one row a sample; at least one
 * @param targets a value a sample
 * @param draw random numbers in [0, 1)
 */
export function growForest(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
  draw: () => number,
): Forest {
  const all = [...rows.keys()];
  const roots = Array.from({ length: TREES }, () => grow(all, { rows, targets, draw }));
  return {
    predict(row) {
      let sum = 0, squares = 0, within = 0;
      for (const root of roots) {
        let node = root;
        while ("feature" in node) node = row[node.feature]! < node.threshold ? node.below : node.above;
        sum += node.mean;
        squares += node.mean * node.mean;
        within += node.variance;
      }
      const mean = sum / TREES;
      return { mean, variance: Math.max(0, squares / TREES - mean * mean) + within / TREES };
    },
  };
}

function grow(indices: readonly number[], samples: Samples): Node {
  const split = indices.length < MIN_SPLIT ? undefined : bestSplit(indices, samples);
  if (split === undefined) {
    const values = indices.map((i) => samples.targets[i]!);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length };
  }
  const { feature, threshold } = split;
  const below = indices.filter((i) => samples.rows[i]![feature]! < threshold);
  const above = indices.filter((i) => samples.rows[i]![feature]! >= threshold);
  return { feature, threshold, below: grow(below, samples), above: grow(above, samples) };
}

/**
 * Of a random threshold of each feature, the one that leaves the least variance; undefined if all rows are alike.
 * Features come in random order: the first of several that split alike wins, and trees should differ.
 */
function bestSplit(indices: readonly number[], { rows, targets, draw }: Samples) {
  const ranges = [...rows[0]!.keys()].flatMap((feature) => {
    let low = Infinity, high = -Infinity;
    for (const i of indices) {
      const value = rows[i]![feature]!;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low < high ? [{ feature, low, high }] : [];
  });
  let best: { feature: number; threshold: number } | undefined, most = -Infinity;
  while (ranges.length > 0) {
    const [{ feature, low, high }] = ranges.splice(Math.floor(draw() * ranges.length), 1) as [
      typeof ranges[number],
    ];
    const threshold = high - draw() * (high - low); // above low, so that both sides have samples
    let below = 0, belowSum = 0, sum = 0;
    for (const i of indices) {
      sum += targets[i]!;
      if (rows[i]![feature]! < threshold) [below, belowSum] = [below + 1, belowSum + targets[i]!];
    }
    // what is left of the variance shrinks as this grows
    const above = indices.length - below, aboveSum = sum - belowSum;
    const gain = belowSum * belowSum / below + aboveSum * aboveSum / above;
    if (gain > most) [best, most] = [{ feature, threshold }, gain];
  }
  return best;
}
