/**
 * `deno task replay`: runs search strategies on recorded spaces, without a GPU, and tells how soon they find what
 * is fastest.
 *
 * @module
 */
import { readReplaySpaces } from "../replay/read_replay_space.ts";
import { type Quartiles, replay, type ReplayReport, type ReplayResult } from "../replay/replay.ts";
import { STRATEGIES } from "../search/all.ts";
import { formatCount, formatDuration, formatPercent, formatRate, formatTable } from "./format.ts";
import { ifGiven, oneOf, readBudget, readNumber } from "./option_values.ts";
import { type OptionSpecs, parseOptions, renderHelp } from "./parse_options.ts";
import { EXIT } from "./report_error.ts";
import { UserError } from "./user_error.ts";

const NAMES = STRATEGIES.map(({ name }) => name);

const USAGE = "deno task replay --space FILE [OPTIONS]\n\n" +
  "Runs search strategies on recorded spaces, and prints how far behind the fastest configuration they are after\n" +
  "so many evaluations, and their score: 0 for random search, 1 for the fastest at once (Willemsen et al., 2024).";

const OPTIONS = {
  space: {
    type: "strings",
    value: "FILE",
    help: "what record wrote, a journal (*.jsonl), T4 results or a Kernel Tuner cache; plain or gzipped",
  },
  strategy: { type: "strings", value: "NAME", help: `only this: ${NAMES.join(", ")} (default: all)` },
  seeds: {
    type: "string",
    value: "N",
    default: "20",
    help: "searches of each strategy, with the seeds 1 to N",
  },
  budget: {
    type: "string",
    value: "TIME|N",
    help:
      "end of each search: evaluations as 100, or their recorded time as 60s (default: as far as the table goes)",
  },
  workers: {
    type: "string",
    value: "N",
    default: "1",
    help: "evaluations under way at once, as processes that compile side by side; one at a time is measured",
  },
  json: { type: "boolean", help: "print the results as JSON" },
} as const satisfies OptionSpecs;

/**
 * Runs the command.
 *
 * @param args its options
 * @returns the exit code
 * @throws {UserError} naming the option that is wrong
 */
export async function run(args: string[]): Promise<number> {
  const options = parseOptions(args, OPTIONS);
  if (options.help) {
    console.log(renderHelp(USAGE, OPTIONS));
    return EXIT.done;
  }
  if (options.space.length === 0) {
    throw new UserError("Cannot replay: --space FILE is missing: it names what was recorded");
  }
  const names = [...new Set(options.strategy.map((name) => oneOf("strategy", name, NAMES)))];
  const seeds = readNumber("seeds", options.seeds, {
    wanted: "a whole number from 1 to 10000",
    isRight: (value) => Number.isInteger(value) && value >= 1 && value <= 10_000,
  });
  const workers = readNumber("workers", options.workers, {
    wanted: "a whole number from 1 to 64",
    isRight: (value) => Number.isInteger(value) && value >= 1 && value <= 64,
  });
  const request = {
    strategies: STRATEGIES.filter(({ name }) => names.length === 0 || names.includes(name)),
    seeds,
    workers,
    budget: ifGiven(options.budget, readBudget),
  };
  const reports: (ReplayReport & { file: string })[] = [];
  for (const file of options.space) {
    const { spaces, notes } = await readReplaySpaces(file);
    for (const note of notes) console.error(`${file}: ${note}`);
    for (const space of spaces) {
      const times = space.configurations.some(({ evaluationNs, compileNs }) => evaluationNs || compileNs);
      if (request.budget !== undefined && "timeNs" in request.budget && !times) {
        throw new UserError(
          `Cannot use --budget ${options.budget}: ${file} has no times of evaluations: wanted a number of them`,
        );
      }
      const report = { file, ...replay(space, request) };
      reports.push(report);
      if (!options.json) console.log(renderReport(report, request) + "\n");
    }
  }
  if (options.json) console.log(JSON.stringify({ seeds, workers, spaces: reports }, null, 2));
  else if (reports.length > 1) console.log(renderMeans(reports));
  return EXIT.done;
}

/** What strategies did on a space, for people. */
export function renderReport(
  report: ReplayReport,
  { seeds, workers }: { readonly seeds: number; readonly workers: number },
): string {
  const { title, configurations, failed, bestRate, cutoff, results, isFacet } = report;
  const best = isFacet ? formatRate(bestRate) : `${formatDuration(1e9 / bestRate)} a run`;
  const header = [
    "strategy",
    "score",
    "evaluations to 1%",
    ...(results[0]?.regrets ?? []).map(({ evaluations }) =>
      `${formatCount(evaluations)} (${formatPercent(evaluations / configurations)})`
    ),
    "at the end",
  ];
  const rows = results.map((result) => [
    result.strategy,
    result.score.toFixed(2),
    between(result.within1Percent, (count) => Number.isFinite(count) ? formatCount(count) : "never"),
    ...result.regrets.map(({ regret }) => between(regret, formatRegret)),
    endOf(result),
  ]);
  return [
    title,
    `${formatCount(configurations)} configurations, ${
      formatCount(failed)
    } of which failed; the fastest: ${best}; ` +
    `random search comes 95% of the way in ${formatCount(cutoff)} evaluations`,
    `Behind the fastest after so many evaluations: median of ${seeds} searches, and quartiles` +
    (workers > 1 ? `; ${workers} evaluations under way at once` : ""),
    formatTable([header, ...rows], { right: header.map((_, i) => i).slice(1), indent: "  " }),
  ].join("\n");
}

/** Mean scores over several spaces. */
function renderMeans(reports: readonly ReplayReport[]): string {
  const means = reports[0].results.map(({ strategy }, i) => [
    strategy,
    (reports.reduce((sum, { results }) => sum + results[i].score, 0) / reports.length).toFixed(2),
  ]);
  return [`Mean score of ${reports.length} spaces`, formatTable(means, { right: [1], indent: "  " })].join(
    "\n",
  );
}

function endOf({ evaluations, finalRegret, spentNs }: ReplayResult): string {
  const time = spentNs.median > 0 ? `, ${formatDuration(spentNs.median)}` : "";
  return `${formatRegret(finalRegret.median)} (${formatCount(evaluations.median)}${time})`;
}

function between({ low, median, high }: Quartiles, format: (value: number) => string): string {
  const texts = [low, median, high].map(format);
  return texts[0] === texts[2] ? texts[1] : `${texts[1]} [${texts[0]}, ${texts[2]}]`;
}

/** How much slower than the fastest: `0%`, `0.4%`, `12%`. */
function formatRegret(regret: number): string {
  if (!Number.isFinite(regret)) return "none";
  return regret < 0.0005 ? "0%" : `${(100 * regret).toFixed(regret < 0.0995 ? 1 : 0)}%`;
}
