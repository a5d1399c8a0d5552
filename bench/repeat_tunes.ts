/**
 * Whether the verdict of `tune` can be trusted: the same tune several times, each in processes of its own and with a
 * profile of its own. `deno run -A bench/repeat_tunes.ts 10 --budget 20s --cpu-workers 0` makes ten; whatever
 * follows the number are options of `tune`. It prints
 *
 * - of each run its choice, the rate with its interval, and the size of the tie set;
 * - for each choice whether it is in the tie set of every other run: `=` it was chosen there too, `t` it is in the tie
 *   set, `X` it was a finalist and told apart, `s` only the search measured it, `.` it was not measured;
 * - how many intervals hold the rate that a later run finds for the same configuration: of the choices, and of all
 *   finalists;
 * - what one more round says, in which all choices are measured beside each other: whether they are of one tie set,
 *   and how many of the runs' intervals hold the rates that it finds;
 * - one line of JSON with all figures, those of every turn of every finalist among them, so that another rule can be
 *   tried on them.
 *
 * It ends with code 1 where a choice is told apart from another, in a run or in the last round, or where more than one
 * in ten of the intervals missed the rates of the last round.
 *
 * @module
 */
import { type Configuration, configurationKey } from "../tuner/configuration.ts";
import { formatRate, formatTable } from "../tuner/format.ts";
import { describeConfiguration } from "../tuner/profile/describe.ts";
import { journalPath, readJournal } from "../tuner/profile/journal.ts";
import type { ProfileEntry } from "../tuner/profile/schema.ts";
import { pooledRound } from "./pooled_round.ts";
import { taskCommand } from "../tests/cli/run_task.ts";

/** A rate of a configuration, in cells per second. */
interface Rate {
  readonly configuration: Configuration;
  readonly cellsPerSecond: number;
  readonly confidence95: readonly [low: number, high: number] | null;
}

/** What `tune --json` says, as far as it matters here. */
interface Summary {
  readonly entry: ProfileEntry;
  readonly finalists:
    readonly (Rate & { search: number[]; blocks: (number[] | null)[]; standing: unknown })[];
  readonly evaluated: number;
  readonly elapsedMs: number;
}

/** One run. */
interface Run extends Summary {
  readonly winner: string;
  readonly ties: ReadonlySet<string>;
  readonly finalRates: ReadonlyMap<string, Rate>;
  /** First rate of everything that was measured. */
  readonly searchRates: ReadonlyMap<string, number>;
}

/** How a configuration fares in another run. */
export function placeIn(key: string, { winner, ties, finalRates, searchRates }: Pick<
  Run,
  "winner" | "ties" | "finalRates" | "searchRates"
>): "=" | "t" | "X" | "s" | "." {
  if (key === winner) return "=";
  if (ties.has(key)) return "t";
  return finalRates.has(key) ? "X" : searchRates.has(key) ? "s" : ".";
}

/** A run that did not end well. */
class TuneError extends Error {
  constructor(message: string, readonly code: number) {
    super(message);
  }
}

async function tuneOnce(args: readonly string[], out: string): Promise<Run> {
  const { code, stdout, stderr } = await taskCommand("tune", [...args, "--out", out, "--json", "--quiet"])
    .output();
  const text = new TextDecoder();
  if (code !== 0) throw new TuneError(text.decode(stderr).trim(), code);
  const summary: Summary = JSON.parse(text.decode(stdout));
  const searchRates = new Map<string, number>();
  for (const record of (await readJournal(journalPath(out))).records) {
    if (record.kind !== "measurement") continue;
    const { configuration, cellsPerSecond } = record.measurement;
    const key = configurationKey(configuration);
    if (!searchRates.has(key)) searchRates.set(key, cellsPerSecond);
  }
  const { entry, finalists } = summary;
  return {
    ...summary,
    winner: configurationKey(entry.configuration),
    ties: new Set(entry.tieSet.map((tie) => configurationKey(tie.configuration))),
    finalRates: new Map(finalists.map((one) => [configurationKey(one.configuration), one])),
    searchRates,
  };
}

/** How many intervals of a run hold the rate of each later run, of those rates that are known. */
function coverage(
  runs: readonly Run[],
  ratesOf: (run: Run) => readonly Rate[],
): { held: number; of: number } {
  let held = 0, of = 0;
  runs.forEach((run, place) => {
    for (const later of runs.slice(place + 1)) {
      for (const { configuration, confidence95 } of ratesOf(run)) {
        const found = later.finalRates.get(configurationKey(configuration))?.cellsPerSecond;
        if (found === undefined || confidence95 === null) continue;
        of++;
        if (confidence95[0] <= found && found <= confidence95[1]) held++;
      }
    }
  });
  return { held, of };
}

if (import.meta.main) {
  const [count = "10", ...args] = Deno.args;
  if (!/^[1-9]\d*$/.test(count)) {
    console.error("facet: usage: repeat_tunes.ts NUMBER [options of tune]");
    Deno.exit(2);
  }
  const directory = await Deno.makeTempDir({ prefix: "facet-repeat-" });
  const runs: Run[] = [];
  try {
    for (let number = 1; number <= Number(count); number++) {
      const run = await tuneOnce(args, `${directory}/${number}.json`);
      runs.push(run);
      const { entry: { configuration, result, tieSet }, evaluated, elapsedMs, finalists } = run;
      const blocks = Math.max(0, ...finalists.map((one) => one.blocks.length));
      console.error(
        `${number}: ${describeConfiguration(configuration)}, ${formatRate(result.cellsPerSecond)}, ` +
          `${tieSet.length} tied of ${finalists.length} finalists in ${blocks} blocks, ` +
          `${evaluated} evaluations, ${(elapsedMs / 1000).toFixed(1)} s`,
      );
    }
  } catch (error) {
    if (!(error instanceof TuneError)) throw error;
    console.error(error.message);
    await Deno.remove(directory, { recursive: true });
    Deno.exit(error.code);
  }
  await Deno.remove(directory, { recursive: true });
  const names = new Map([...new Set(runs.map(({ winner }) => winner))].map((key, i) => [key, `W${i + 1}`]));
  for (const [key, name] of names) {
    const { configuration } = runs.find(({ winner }) => winner === key)!.entry;
    console.log(`${name}: ${describeConfiguration(configuration)}`);
  }
  console.log(formatTable([
    ["run", "choice", "rate", "95% interval", "tied", "its choice in each run"],
    ...runs.map(({ winner, ties, entry: { result: { cellsPerSecond, confidence95 } } }, i) => [
      `${i + 1}`,
      names.get(winner)!,
      formatRate(cellsPerSecond),
      confidence95?.map((rate) => formatRate(rate)).join(" to ") ?? "none",
      `${ties.size}`,
      runs.map((other) => placeIn(winner, other)).join(" "),
    ]),
  ]));
  const places = runs.flatMap(({ winner }) => runs.map((other) => placeIn(winner, other)));
  const toldApart = places.filter((place) => place === "X").length;
  const unknown = places.filter((place) => place === "s" || place === ".").length;
  const choices = coverage(runs, ({ entry: { configuration, result } }) => [{ ...result, configuration }]);
  const finalists = coverage(runs, (run) => run.finalists);
  console.log(
    `Choices told apart by another run: ${toldApart} of ${places.length - runs.length}` +
      (unknown === 0 ? "" : `; ${unknown} were no finalists there`),
  );
  console.log(
    `Intervals that hold a later run's rate: ${choices.held} of ${choices.of} of choices, ` +
      `${finalists.held} of ${finalists.of} of finalists`,
  );

  const pooled = await pooledRound(runs.map(({ entry }) => entry) as [ProfileEntry, ...ProfileEntry[]]);
  const pooledRates = new Map(pooled?.map((one) => [configurationKey(one.measurement.configuration), one]));
  let held = 0;
  for (const { winner, entry: { result: { confidence95 } } } of runs) {
    if (confidence95 === null) continue;
    const [low, high] = confidence95;
    const found = pooledRates.get(winner)?.measurement.cellsPerSecond ?? NaN;
    if (low <= found && found <= high) held++;
  }
  const apart = pooled?.filter(({ standing }) => standing?.isTied === false) ?? [];
  if (pooled === undefined) {
    console.log("The CPU takes part in a choice: they are not measured beside each other.");
  } else {
    console.log(`All choices beside each other: ${apart.length} of ${pooled.length} told apart`);
    for (const { measurement, standing, blocks } of pooled) {
      const [low, high] = standing?.interval95 ?? [NaN, NaN];
      console.log(
        `  ${names.get(configurationKey(measurement.configuration))}: ${
          formatRate(measurement.cellsPerSecond)
        }, ` +
          `slower by ${(100 * low).toFixed(2)}% to ${(100 * high).toFixed(2)}%, ${blocks.length} blocks`,
      );
    }
    console.log(`Intervals of the runs that hold these rates: ${held} of ${runs.length}`);
  }
  console.log(JSON.stringify({
    args,
    choices,
    finalists,
    toldApart,
    unknown,
    pooled: pooled === undefined ? null : { apart: apart.length, held, finalists: pooled },
    runs: runs.map(({ entry, finalists, evaluated, elapsedMs, searchRates }) => ({
      winner: entry.configuration,
      result: entry.result,
      tieSet: entry.tieSet,
      finalists,
      evaluated,
      elapsedMs,
      search: Object.fromEntries(searchRates),
    })),
  }));
  if (toldApart > 0 || apart.length > 0 || (pooled !== undefined && held < 0.9 * runs.length)) Deno.exit(1);
}
