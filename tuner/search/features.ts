import type { Point } from "./strategy.ts";

/** Stands for a parameter or a demand that a candidate does not have. */
const ABSENT = -1;

/**
 * Candidates as rows of numbers for a regression: the traversal, the parameters and, where the models know the
 * candidate, its demand and predicted rate. Sizes are logarithms: trees split them alike, and thresholds between 8
 * and 16 are as likely as those between 64 and 128.
 */
export function featuresOf(candidates: readonly Point[]): number[][] {
  const traversals = [...new Set(candidates.map(({ traversal }) => traversal.name))];
  const names = [...new Set(candidates.flatMap(({ parameters }) => Object.keys(parameters)))];
  const demands = [...new Set(candidates.flatMap(({ demand = {} }) => Object.keys(demand)))];
  const rows = candidates.map(({ traversal, parameters, demand, predicted }) => {
    const demanded: Readonly<Record<string, unknown>> = { ...demand };
    return [
      traversals.indexOf(traversal.name),
      ...names.map((name) => logarithm(parameters[name])),
      ...demands.map((name) => logarithm(demanded[name])),
      ...(predicted === undefined ? [] : [Math.log(predicted)]),
    ];
  });
  const [first = []] = rows;
  // a column that is the same for all says nothing
  const kept = [...first.keys()].filter((i) => rows.some((row) => row[i] !== first[i]));
  return rows.map((row) => kept.map((i) => row[i]!));
}

/** Grows like a logarithm above 1, and is 0 at 0; negative values mirrored. */
function logarithm(value: unknown): number {
  return typeof value === "number" ? Math.sign(value) * Math.log2(1 + Math.abs(value)) : ABSENT;
}
