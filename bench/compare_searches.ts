/**
 * How soon searches come near the fastest configuration of recorded spaces: Facet's strategies beside the yardsticks
 * that other tuners have. `deno run -A bench/compare_searches.ts [--seeds 20] [--most 200] [--prior FILE] [--strategy NAME]… FILE…`
 * prints a table for each file: medians over the seeds of the evaluations to within 1, 5 and 10% of the fastest, of
 * how much slower than the fastest the best is after 10, 25, 50, 100 and 200 evaluations, and of the evaluations at
 * which the search ended; the part of the evaluations that failed; how many searches ended with less than 1%, and how
 * many of these were wrong; and the score of `deno task replay`. Random search, which costs nothing, has 1000 seeds. Of
 * several files the last table has geometric means over all searches of all spaces. `--prior FILE` begins with what was
 * fast on another device.
 *
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { quantile } from "npm:simple-statistics@7.12.1";
import { formatTable } from "../tuner/format.ts";
import { readReplaySpaces } from "../tuner/replay/read_replay_space.ts";
import { bestRate, replayCandidates } from "../tuner/replay/replay_space.ts";
import { replayOnce, type ReplayRun } from "../tuner/replay/replay.ts";
import { randomBaseline, scoreOf } from "../tuner/replay/score.ts";
import { random } from "../tuner/search/baselines.ts";
import type { Strategy } from "../tuner/search/strategy.ts";
import { STRATEGIES } from "../tuner/search/all.ts";
import { surrogate } from "./surrogate.ts";
import { annealing, genetic } from "./yardsticks.ts";

const WITHIN = [0.01, 0.05, 0.1], AFTER = [10, 25, 50, 100, 200];

const { _: files, seeds, most, prior: priorFile, strategy: names } = parseArgs(Deno.args, {
  string: ["seeds", "most", "prior"],
  collect: ["strategy"],
  default: { seeds: "20", most: "200" },
});
const evaluations = Number(most);
const strategies = [
  ...STRATEGIES.filter(({ name }) => name !== "exhaustive"),
  surrogate,
  annealing(evaluations),
  genetic,
]
  .filter(({ name }) => names.length === 0 || names.includes(name));

const prior = priorFile === undefined ? undefined : (await readReplaySpaces(priorFile)).spaces[0];
/** Of each strategy how much slower than the fastest all its searches were, after each of AFTER. */
const regrets = new Map(strategies.map(({ name }) => [name, AFTER.map((): number[] => [])]));

for (const file of files) {
  const { spaces } = await readReplaySpaces(String(file));
  for (const space of spaces) {
    const candidates = replayCandidates(space, prior), optimum = bestRate(space);
    const baseline = randomBaseline(candidates.map(({ recorded }) => recorded.rate));
    const failed = candidates.filter(({ recorded }) => recorded.rate === undefined).length;
    console.log(`\n${file}: ${space.title}, ${candidates.length} configurations, ${failed} failed\n`);
    const rows = strategies.map((strategy) => {
      let failures = 0;
      const counting: Strategy = {
        ...strategy,
        begin(points, options) {
          const search = strategy.begin(points, options);
          return {
            next: () => search.next(),
            tell: (point, outcome) => {
              if (outcome.rate === undefined) failures++;
              search.tell(point, outcome);
            },
            get verdict() {
              return search.verdict;
            },
          };
        },
      };
      const runs = Array.from(
        { length: strategy === random ? 1000 : Number(seeds) },
        (_, i) => replayOnce(candidates, counting, { seed: i + 1, budget: { evaluations } }),
      );
      const part = failures / runs.reduce((sum, { best }) => sum + best.length, 0);
      const sure = runs.filter(({ verdict }) => verdict?.includes("less than"));
      const wrong = sure.filter(({ best }) => optimum / best.at(-1)! > 1.01);
      const regretAt = ({ best }: ReplayRun, count: number): number => {
        const rate = best[Math.min(count, best.length) - 1];
        return rate === undefined ? Infinity : optimum / rate - 1;
      };
      AFTER.forEach((count, i) =>
        regrets.get(strategy.name)![i]!.push(...runs.map((run) => regretAt(run, count)))
      );
      const median = (values: number[]): number => quantile(values.sort((a, b) => a - b), 0.5);
      const until = WITHIN.map((part) =>
        median(runs.map(({ best }) => {
          const index = best.findIndex((rate) => rate !== undefined && optimum / rate - 1 <= part);
          return index < 0 ? 1e9 : index + 1;
        }))
      );
      return [
        strategy.name,
        ...until.map((count) => count > evaluations ? "–" : `${Math.round(count)}`),
        ...AFTER.map((count) => {
          const regret = median(runs.map((run) => regretAt(run, count)));
          return `${(100 * regret).toFixed(1)}%`;
        }),
        `${median(runs.map(({ best }) => best.length))}`,
        `${(100 * part).toFixed(0)}%`,
        `${wrong.length} of ${sure.length}`,
        scoreOf(baseline, runs.map(({ best }) => best)).toFixed(2),
      ];
    });
    console.log(formatTable([
      [
        "strategy",
        ...WITHIN.map((part) => `${100 * part}%`),
        ...AFTER.map((count) => `after ${count}`),
        "ended",
        "failed",
        "wrong",
        "score",
      ],
      ...rows,
    ]));
  }
}

if (files.length > 1) {
  console.log("\nGeometric means over all searches of all spaces\n");
  const rows = [...regrets].map(([name, all]) => [
    name,
    ...all.map((list) => {
      const mean = list.reduce((sum, regret) => sum + Math.log(1 + regret), 0) / list.length;
      return `${(100 * (Math.exp(mean) - 1)).toFixed(1)}%`;
    }),
  ]);
  console.log(formatTable([["strategy", ...AFTER.map((count) => `after ${count}`)], ...rows]));
}
