import { describeGrid } from "../../kernels/stencils/stencil.ts";
import { readReplaySpaces } from "../replay/read_replay_space.ts";
import {
  type Quartiles,
  replay,
  type ReplayReport,
  type ReplayResult,
  USUAL_EVALUATIONS,
} from "../replay/replay.ts";
import { STRATEGIES } from "../search/all.ts";
import { formatCount, formatDuration, formatPercent, formatPlural, formatRate } from "../format.ts";
import { kindOf } from "../../models/cost_model.ts";
import { describeLoss } from "../profile/leave_one_out.ts";
import { chooseUnseen } from "../replay/replay_space.ts";
import { gcells } from "../report/words.ts";
import { COMMON, count, input, type Options, type Values } from "./options.ts";
import { command } from "./parse_options.ts";
import { progressOnStderr } from "./progress.ts";
import { type Line, print, say } from "./terminal.ts";
import { refuserOf, RequestError } from "../problem/request_error.ts";

export const OPTIONS = {
  space: {
    ...input("a journal of record or tune, T4 results or a Kernel Tuner cache; plain or gzipped"),
    repeatable: true,
    required: "a file of recorded results",
  },
  strategy: { ...COMMON.strategy, help: `${COMMON.strategy.help} (default: all)`, repeatable: true },
  seeds: { ...count("searches of each strategy, with the seeds 1 to N", 1, 10_000), default: "20" },
  budget: {
    ...COMMON.budget,
    help:
      `end of each search: evaluations such as 100, or their recorded time such as 60s (default: as far as the table goes, ${USUAL_EVALUATIONS} evaluations at most)`,
  },
  workers: COMMON.workers,
  prior: input(
    "results of the same kernel on another device, for other tools' spaces: searches begin with what was fast there",
  ),
  unseen: {
    help: "instead of searching, choose a configuration for each problem from what is recorded of the others",
    notWith: {
      "--strategy": "nothing is searched",
      "--budget": "nothing is searched",
      "--prior": "nothing is searched",
    },
  },
  json: COMMON.json,
  quiet: COMMON.quiet,
} as const satisfies Options;

export const run = command({
  usage: "deno task replay --space FILE [OPTIONS]",
  about: `Runs search strategies on recorded spaces. Prints how far behind the fastest configuration they are
after growing numbers of evaluations, and their score with its 95% interval: 0 for random search, 1 for finding the
fastest at once (Willemsen et al., 2024).`,
  options: OPTIONS,
}, async (options) => {
  if (options.unseen) return await unseen(options);
  const { strategy: names, seeds, workers, budget } = options;
  const strategies = STRATEGIES.filter(({ name }) => names.length === 0 || names.includes(name));
  const prior = options.prior === undefined ? undefined : (await readReplaySpaces(options.prior)).spaces[0]!;
  const request = { strategies, seeds, workers, prior, ...(budget === undefined ? {} : { budget }) };
  const reports: (ReplayReport & { file: string })[] = [];
  using progress = progressOnStderr(options);
  for (const file of options.space) {
    const { spaces, notes } = await readReplaySpaces(file);
    for (const note of notes) say(`${file}: ${note}`);
    for (const space of spaces) {
      const times = space.configurations.some(({ evaluationNs, compileNs }) => evaluationNs || compileNs);
      if (request.budget !== undefined && "timeNs" in request.budget && !times) {
        const wanted = `wanted a number of evaluations, as ${file} has no times of them`;
        refuserOf("use --budget")(wanted, "a time");
      }
      const onProgress = (done: number, total: number) =>
        progress.update({ stage: space.title, done, total });
      const report = { file, ...replay(space, { ...request, onProgress }) };
      reports.push(report);
      progress.clear();
      if (!options.json) print([...renderReport(report, request), ""]);
    }
  }
  if (options.json) print({ seeds, workers, spaces: reports });
  else if (reports.length > 1) print(renderMeans(reports));
});

/** Prints what choices for unseen problems come to. */
async function unseen({ space: files, json }: Values<typeof OPTIONS>): Promise<void> {
  const read = await Promise.all(files.map(readReplaySpaces));
  const chosen = chooseUnseen(read.flatMap(({ spaces }) => spaces));
  if ([...chosen.values()].every(({ length }) => length === 0)) {
    throw new RequestError("Cannot choose: wanted two problems recorded by Facet on a device: found fewer");
  }
  if (json) return print({ devices: Object.fromEntries(chosen) });
  for (const [name, problems] of chosen) {
    const rows = problems.map(({ chosen, best, plain, expected, loss }) => [
      `${chosen.problem.stencil.title} ${describeGrid(chosen.problem)}`,
      ...[chosen.cellsPerSecond, expected, best, plain].map((rate) => gcells(rate)),
      formatPercent(loss),
      kindOf(chosen),
    ]);
    print([
      `${name}: ${formatPlural(problems.length, "problem")}, each chosen from the others, in Gcells/s`,
      {
        rows: [["problem", "chosen", "expected", "best", "stepwise", "loss", ""], ...rows],
        right: [1, 2, 3, 4, 5],
      },
      describeLoss(problems),
    ]);
  }
}

/** What strategies did on a space, for people. */
function renderReport(
  report: ReplayReport,
  { seeds, workers }: { readonly seeds: number; readonly workers: number },
): Line[] {
  const { title, configurations, failed, bestRate, cutoff, results, isFacet } = report;
  const best = isFacet ? formatRate(bestRate) : `${formatDuration(1e9 / bestRate)} a run`;
  const counts = (results[0]?.regrets ?? []).map(({ evaluations }) =>
    `${formatCount(evaluations)} (${formatPercent(evaluations / configurations)})`
  );
  const header = ["strategy", "score", "evaluations to 1%", ...counts, "at the end"];
  const rows = results.map((result) => [
    result.strategy,
    formatScore(result),
    between(result.within1Percent, (count) => Number.isFinite(count) ? formatCount(count) : "never"),
    ...result.regrets.map(({ regret }) => between(regret, formatRegret)),
    endOf(result),
  ]);
  return [
    title,
    `${formatPlural(configurations, "configuration")}, ${formatCount(failed)} of which failed; ` +
    `the fastest: ${best}; random search comes 95% of the way in ${formatCount(cutoff)} evaluations`,
    `Behind the fastest after each number of evaluations: median of ${seeds} searches, and quartiles` +
    (workers > 1 ? `; ${workers} evaluations under way at once` : ""),
    { rows: [header, ...rows], right: header.map((_, i) => i).slice(1), indent: "  " },
  ];
}

function renderMeans(reports: readonly ReplayReport[]): Line[] {
  const scores = Map.groupBy(reports.flatMap(({ results }) => results), ({ strategy }) => strategy);
  const means = [...scores].map(([strategy, results]) => {
    const meanOf = (values: readonly number[]): number =>
      values.reduce((sum, value) => sum + value, 0) / values.length;
    const score = meanOf(results.map(({ score }) => score));
    // spaces are independent of each other: errors of their sum add up as squares
    const half = Math.hypot(...results.map(({ score95 }) => score95 ? (score95[1] - score95[0]) / 2 : NaN)) /
      results.length;
    return [strategy, formatScore({ score, score95: half >= 0 ? [score - half, score + half] : null })];
  });
  return [`Mean score of ${reports.length} spaces`, { rows: means, right: [1], indent: "  " }];
}

function formatScore({ score, score95 }: Pick<ReplayResult, "score" | "score95">): string {
  const interval = score95?.map((end) => end.toFixed(2)).join(", ");
  return score.toFixed(2) + (interval === undefined ? "" : ` [${interval}]`);
}

function endOf({ evaluations, finalRegret, spentNs }: ReplayResult): string {
  const time = spentNs.median > 0 ? `, ${formatDuration(spentNs.median)}` : "";
  return `${formatRegret(finalRegret.median)} (${formatCount(evaluations.median)}${time})`;
}

function between({ low, median, high }: Quartiles, format: (value: number) => string): string {
  const least = format(low), most = format(high);
  return least === most ? format(median) : `${format(median)} [${least}, ${most}]`;
}

/** How much slower than the fastest. */
function formatRegret(regret: number): string {
  return Number.isFinite(regret) ? formatPercent(regret) : "none";
}
