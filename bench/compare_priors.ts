/**
 * What another device's results are worth as the prior of a search: of files that recorded one kernel, each is the
 * prior of every other. `deno run -A bench/compare_priors.ts [--seeds 4] [--most 60] FILE,FILE… FILE,FILE…` prints a line
 * of JSON for each pair and, at the end, a table by how good the priors are: the place, in the prior's order, of its
 * first configuration within 1% of the fastest.
 *
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { geometricMean, median } from "npm:simple-statistics@7.12.1";
import { formatTable } from "../tuner/format.ts";
import { readReplaySpaces } from "../tuner/replay/read_replay_space.ts";
import { replayOnce } from "../tuner/replay/replay.ts";
import { bestRate, replayCandidates, type ReplaySpace } from "../tuner/replay/replay_space.ts";
import { auto } from "../tuner/search/auto.ts";

const WITHIN = 0.01, AFTER = [10, 25, 50], PLACES = [10, 30, 100, Infinity];

/** What searches came to: evaluations to within 1%, and how much slower than the fastest the best was after some. */
interface Searches {
  readonly counts: readonly number[];
  readonly regrets: readonly (readonly number[])[];
}

/** A prior's searches; `place`: of its first configuration within 1%. */
interface Pair {
  readonly target: string;
  readonly prior: string;
  readonly place: number;
  readonly found: Searches;
  readonly without: Searches;
}

const { _: kernels, seeds, most } = parseArgs(Deno.args, {
  string: ["seeds", "most"],
  default: { seeds: "4", most: "60" },
});

function search(space: ReplaySpace, prior?: ReplaySpace): Searches {
  const candidates = replayCandidates(space, prior), optimum = bestRate(space), evaluations = Number(most);
  const runs = Array.from(
    { length: Number(seeds) },
    (_, i) => replayOnce(candidates, auto, { seed: i + 1, budget: { evaluations } }).best,
  );
  const slower = (rate: number | undefined): number => rate === undefined ? Infinity : optimum / rate - 1;
  return {
    counts: runs.map((best) => {
      const index = best.findIndex((rate) => slower(rate) <= WITHIN);
      return index < 0 ? evaluations + 1 : index + 1;
    }),
    regrets: AFTER.map((count) => runs.map((best) => slower(best[Math.min(count, best.length) - 1]))),
  };
}

/** The place of the first configuration within 1% of the fastest in the prior's order; undefined if it knows none. */
function placeIn(prior: ReplaySpace, space: ReplaySpace): number | undefined {
  const ordered = replayCandidates(space, prior).toSorted((a, b) => b.elsewhere! - a.elsewhere!);
  const place = ordered.findIndex(({ recorded: { rate = 0 } }) => bestRate(space) / rate - 1 <= WITHIN);
  return place < 0 ? undefined : place + 1;
}

const pairs: Pair[] = [];
for (const files of kernels) {
  const spaces = new Map<string, ReplaySpace>();
  for (const file of `${files}`.split(",")) spaces.set(file, (await readReplaySpaces(file)).spaces[0]!);
  for (const [target, space] of spaces) {
    const without = search(space);
    for (const [prior, other] of spaces) {
      const place = prior === target ? undefined : placeIn(other, space);
      if (place === undefined) continue;
      pairs.push({ target, prior, place, found: search(space, other), without });
      console.log(JSON.stringify(pairs.at(-1)));
    }
  }
}

const ratioOf = (list: readonly number[]): string =>
  `${(100 * (geometricMean(list.map((regret) => 1 + Math.min(regret, 20))) - 1)).toFixed(1)}%`;
const rows = PLACES.flatMap((last, i) => {
  const first = i === 0 ? 1 : PLACES[i - 1]! + 1;
  const some = pairs.filter(({ place }) => first <= place && place <= last);
  if (some.length === 0) return [];
  const soon = some.filter(({ found }) => median([...found.counts]) <= 10);
  const cheap = some.filter(({ found, without }) =>
    median([...found.counts]) <= 1.2 * median([...without.counts])
  );
  const means = (which: "found" | "without") => [
    geometricMean(some.flatMap((pair) => pair[which].counts)).toFixed(1),
    AFTER.map((_, i) => ratioOf(some.flatMap((pair) => pair[which].regrets[i]!))).join(", "),
  ];
  const range = last === Infinity ? `beyond ${first - 1}` : `${first} to ${last}`;
  const counts = [some, soon, cheap].map((list) => `${list.length}`);
  return [[range, ...counts, ...means("found"), ...means("without")]];
});
console.log(formatTable([
  ["place", "pairs", "1% within 10", "at most a fifth more", "to 1%", "after 10, 25, 50", "without", "after"],
  ...rows,
]));
