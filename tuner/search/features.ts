/**
 * Candidates as rows of numbers for a regression: the traversal, the parameters, and what the models know.
 *
 * @module
 */
import type { Point } from "./strategy.ts";

/** What a traversal does not have or tell: a parameter, a part of the demand. */
const ABSENT = -1;

/**
 * One row for each candidate: the traversal's number, whether and which value each parameter has, and, where the
 * models know the candidate, its demand and predicted rate. Sizes are logarithms: trees split them alike, and
 * thresholds between 8 and 16 are as likely as those between 64 and 128.
 */
export function featuresOf(candidates: readonly Point[]): number[][] {
  const traversals = [...new Set(candidates.map(({ traversal }) => traversal.name))];
  const names = [...new Set(candidates.flatMap(({ parameters }) => Object.keys(parameters)))];
  const demands = [...new Set(candidates.flatMap(({ demand = {} }) => Object.keys(demand)))];
  const rows = candidates.map(({ traversal, parameters, demand, predicted }) => [
    traversals.indexOf(traversal.name),
    ...names.map((name) => parameters[name] === undefined ? ABSENT : logarithm(parameters[name])),
    ...demands.map((name) => {
      const value = (demand as Readonly<Record<string, unknown>> | undefined)?.[name];
      return typeof value === "number" ? logarithm(value) : ABSENT;
    }),
    ...(predicted === undefined ? [] : [Math.log(predicted)]),
  ]);
  // a column that is the same for all says nothing
  const kept = (rows[0] ?? []).map((_, i) => i).filter((i) => rows.some((row) => row[i] !== rows[0][i]));
  return rows.map((row) => kept.map((i) => row[i]));
}

/** Grows like a logarithm above 1, and is 0 at 0; of negative values the same mirrored. */
function logarithm(value: number): number {
  return Math.sign(value) * Math.log2(1 + Math.abs(value));
}
