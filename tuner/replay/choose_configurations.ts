import { seededRandom } from "../measuring/seeded_random.ts";
import { shuffled } from "../search/baselines.ts";

/** Part of the limit that goes to what the models like best. */
const PREDICTED_BEST = 0.1;

/**
 * Chooses which configurations to record where a space is too large: a tenth by the models' ranking, the others at
 * random within each traversal. Traversals share by the square root of their sizes, so that small ones are not lost.
 *
 * @param candidates the space, best prediction first
 * @param limit configurations at most
 * @param seed makes the choice repeatable
 * @returns the chosen, the models' best first, all others in random order: a recording that is cut short is a
 * random sample too
 */
export function chooseConfigurations<C extends { readonly traversal: { readonly name: string } }>(
  candidates: readonly C[],
  { limit = Infinity, seed }: { readonly limit?: number | undefined; readonly seed: number },
): C[] {
  const draw = seededRandom(seed);
  const count = Math.min(limit, candidates.length);
  const leaders = candidates.slice(0, Math.ceil(PREDICTED_BEST * count));
  const rest = shuffled(candidates.slice(leaders.length), draw);
  const strata = Map.groupBy(rest, ({ traversal }) => traversal.name);
  let left = count - leaders.length;
  // the smallest first: what it cannot use is shared by the others
  const ordered = [...strata.values()].sort((a, b) => a.length - b.length);
  const chosen = ordered.flatMap((stratum, i) => {
    const weights = ordered.slice(i).reduce((sum, { length }) => sum + Math.sqrt(length), 0);
    const share = Math.min(stratum.length, Math.round(left * Math.sqrt(stratum.length) / weights));
    left -= share;
    return stratum.slice(0, share);
  });
  return [...leaders, ...shuffled(chosen, draw)];
}
