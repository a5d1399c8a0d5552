/**
 * Writes BENCHMARKS.md, one rate for each problem and GPU, from the journals in `fixtures/` and from `rates.jsonl`:
 *
 *     deno run -A bench/write_benchmarks.ts
 *
 * A new rate is a journal, named in `JOURNALS`, or a line of `rates.jsonl`; of one problem on one GPU the newest counts.
 *
 * @module
 */
import type { Configuration } from "../tuner/configuration.ts";
import { formatCount, formatFactor } from "../tuner/format.ts";
import { readInput } from "../tuner/interchange/read_input.ts";
import { type MeasurementRecord, parseJournal, type RunRecord } from "../tuner/profile/journal_format.ts";
import type { ProfileProblem } from "../tuner/profile/schema.ts";
import { isStepwise } from "../tuner/shares.ts";

const PAGE = new URL("../BENCHMARKS.md", import.meta.url);

/** Journals of `tune`, the budget of each, and stencils whose equations have changed since. */
const JOURNALS: readonly (readonly [file: string, budget: string, changed?: string])[] = [
  ["h100/wave.json.journal.jsonl", "40s"],
  ["h100/heat.json.journal.jsonl", "40s"],
  ["h100/life_elastic.json.journal.jsonl", "26s", "elastic"],
  ["h100/maxwell_pml.json.journal.jsonl", "58s"],
  ["h100/tunes.jsonl.gz", "43s"],
  ["h200/maxwell_2d.json.journal.jsonl", "15s"],
  ["h200/tunes.jsonl.gz", "45s"],
  ["h200/volume_tunes.jsonl.gz", "60s"],
  ["h200/wave_512.jsonl.gz", "45s"],
  ["h200/f64_tunes.jsonl.gz", "42s"],
  ["h200/sound_tunes.jsonl.gz", "30–35s"],
];

const GPUS = ["H100", "H200"] as const;

/** What a run of `tune` found. Rates are in Gcells/s. */
export interface Tune {
  readonly table: "tunes";
  readonly gpu: typeof GPUS[number];
  /** What `tune` is given for the problem. */
  readonly options: string;
  readonly gcells: number;
  /** The best stepwise rate of the same run; null where it was not kept. */
  readonly stepwise: number | null;
  /** The traversal; null where it was not kept. */
  readonly by: string | null;
  readonly budget: string;
  readonly date: string;
}

/** Another program's rate for a problem. */
interface Other {
  readonly table: "others";
  readonly gpu: Tune["gpu"];
  readonly program: "AN5D" | "EBISU";
  readonly options: string;
  readonly gcells: number;
}

/** A row of a table that is printed as it stands. */
interface Row {
  readonly table: "lines" | "cores" | "ranks" | "choices" | "searches" | "more";
  readonly cells: readonly string[];
}

/** A problem as options of `tune`. */
export function optionsOf({ stencil, order, delta, edges, grid, survey, precision }: ProfileProblem): string {
  const variant = order !== undefined ? `--order ${order}` : delta !== undefined ? `--delta ${delta}` : "";
  const parts = [
    stencil === "wave" ? "" : `--stencil ${stencil}`,
    variant,
    edges === undefined ? "" : `--set edges=${edges}`,
    `--grid ${grid.join("x")}`,
    survey === undefined ? "" : `--sources ${survey.sources} --receivers ${survey.receivers}`,
    precision === "f64" ? "--precision f64" : "",
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** The fastest evaluation of each problem of a journal. */
async function tunesIn(file: string, budget: string, changed?: string): Promise<Tune[]> {
  const { records } = parseJournal(await readInput(`fixtures/${file}`));
  const runs = new Map<string, RunRecord>();
  const found = new Map<string, { run: RunRecord; measured: MeasurementRecord[] }>();
  for (const record of records) {
    if (record.kind === "run") runs.set(record.run, record);
    if (record.kind !== "measurement") continue;
    const run = runs.get(record.run)!, options = optionsOf(run.problem);
    if (run.problem.stencil === changed) continue;
    if (!found.has(options)) found.set(options, { run, measured: [] });
    found.get(options)!.measured.push(record);
  }
  return [...found].map(([options, { run, measured }]) => {
    const best = fastestOf(measured)!;
    const stepwise = fastestOf(measured.filter(({ measurement }) => isStepwise(measurement.configuration)));
    const { traversal }: Configuration = best.measurement.configuration;
    return {
      table: "tunes",
      gpu: run.device.gpu!.description.includes("H200") ? "H200" : "H100",
      options,
      gcells: gcellsOf(best),
      stepwise: stepwise === undefined ? null : gcellsOf(stepwise),
      by: traversal,
      budget,
      date: best.at,
    };
  });
}

const gcellsOf = ({ measurement }: MeasurementRecord): number => measurement.cellsPerSecond / 1e9;

function fastestOf(records: readonly MeasurementRecord[]): MeasurementRecord | undefined {
  return records.toSorted((a, b) => gcellsOf(b) - gcellsOf(a))[0];
}

/**
 * Of each problem and GPU the newest run, in three dimensions first.
 *
 * @throws {RangeError} if there are two of one day
 */
export function newestOf(tunes: readonly Tune[]): Tune[] {
  const newest = new Map<string, Tune>();
  for (const tune of tunes) {
    const key = `${tune.gpu} ${tune.options}`, known = newest.get(key);
    if (known?.date === tune.date) throw new RangeError(`${key}: two runs at ${tune.date}`);
    if (known === undefined || known.date < tune.date) newest.set(key, tune);
  }
  const { compare } = new Intl.Collator("en", { numeric: true });
  const isFlat = ({ options }: Tune): number => Number(/--grid \d+x\d+( |$)/.test(options));
  return [...newest.values()].sort((a, b) => isFlat(a) - isFlat(b) || compare(a.options, b.options));
}

/** A rate with three digits, or all before the point. */
function rateWords(gcells: number): string {
  return gcells >= 100 ? formatCount(gcells) : gcells.toPrecision(3);
}

/** A table as `deno fmt` lays it out. */
function tableOf(...rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(3, ...rows.map((row) => [...row[i]!].length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => cell + " ".repeat(widths[i]! - [...cell].length)).join(" | ")} |`;
  const [head, ...body] = rows.map(line);
  return [head, line(widths.map((width) => "-".repeat(width))), ...body].join("\n");
}

function tunesTable(tunes: readonly Tune[]): string {
  const found = (tune: Tune | undefined): string[] => {
    if (tune === undefined) return ["", "", "", ""];
    const { gcells, stepwise, by, budget, date } = tune;
    const gain = stepwise === null ? "" : formatFactor(gcells / stepwise);
    return [rateWords(gcells), gain, by ?? "", `${budget}, ${date.slice(0, 10)}`];
  };
  const rows = [...Map.groupBy(tunes, ({ options }) => options)].map((
    [options, runs],
  ) => [`\`${options}\``, ...GPUS.flatMap((gpu) => found(runs.find((tune) => tune.gpu === gpu)))]);
  const head = GPUS.flatMap((gpu) => [gpu, "of stepwise", "by", "budget, date"]);
  return tableOf(["problem, as options", ...head], ...rows);
}

function othersTable(others: readonly Other[], tunes: readonly Tune[]): string {
  const rows = [...Map.groupBy(others, ({ options }) => options)].map(([options, found]) => {
    const { gpu } = found[0]!;
    const { gcells } = tunes.find((tune) => tune.gpu === gpu && tune.options === options)!;
    const beside = (["AN5D", "EBISU"] as const).map((program) => {
      const other = found.find((other) => other.program === program);
      return other ? `${rateWords(other.gcells)} (${formatFactor(gcells / other.gcells)})` : "";
    });
    return [`\`${options}\``, gpu, rateWords(gcells), ...beside];
  });
  return tableOf(
    ["problem, as options", "GPU", "Facet", "AN5D (Facet over it)", "EBISU (Facet over it)"],
    ...rows,
  );
}

/** The page as the file holds it. */
export async function renderBenchmarks(): Promise<string> {
  const lines = (await Deno.readTextFile(new URL("rates.jsonl", import.meta.url))).trim().split("\n");
  const known: readonly (Tune | Other | Row)[] = lines.map((line) => JSON.parse(line));
  const tunes = newestOf([
    ...(await Promise.all(JOURNALS.map((journal) => tunesIn(...journal)))).flat(),
    ...known.filter((one) => one.table === "tunes"),
  ]);
  const table = (name: Row["table"], ...head: string[]): string =>
    tableOf(head, ...known.flatMap((one) => one.table === name ? [one.cells] : []));
  const others = othersTable(known.filter((one) => one.table === "others"), tunes);
  const choices = table(
    "choices",
    "known",
    "GPU",
    "problems",
    "median loss",
    "one in ten",
    "largest",
    "command",
    "date",
  );
  const cores = table(
    "cores",
    "cores",
    "problem",
    "grid",
    "C",
    "stepwise",
    "diamonds",
    "date",
    "command",
  );
  return `# Benchmarks

Written by \`deno run -A bench/write_benchmarks.ts\` from the journals in \`fixtures/\` and from
\`bench/rates.jsonl\`. What was tried, what helped and what did not is in [bench/notes/](bench/notes/README.md).

Rates are cells of the grid per second, by the device's own clock, in f32 unless the options say f64. The GPUs
are an NVIDIA H100 80GB HBM3 (copies 3,011 GB/s) and an NVIDIA H200 (copies 4,270 GB/s), driver 580.159.04,
Deno 2.9.6. Every result was verified.

## GPUs

Of a problem on a GPU the newest run counts. _Of stepwise_ is the rate over that of the best stepwise kernel
in the same run; it is empty where that was not kept. Rows of \`acoustic\` from before 2026-11-29 are of its
former damping edges, 30 cells wide; today's are 22. To measure a row again:

\`\`\`sh
deno task tune --cpu-workers 0 --budget BUDGET OPTIONS
\`\`\`

Gcells/s:

${tunesTable(tunes)}

## Beside CUDA

Facet's rates, as above, beside the best of AN5D's published configurations (CGO '20) and EBISU (ICS '23),
searched anew ([how they were measured](bench/notes/other_programs.md)). Gcells/s:

${others}

## Lines

The time of a step by the plain kernel (classic) and by the swept rule, on an H100 with
\`deno task bench --stencil heat-1d --stencil ks --no-cpu --seconds 11 --grid 2048 --grid 1048576\`, and on two
CPU workers with \`--no-gpu --grid 2048 --grid 16384\`:

${table("lines", "device", "equation", "points", "classic", "swept", "date")}

## The CPU's workers

Loops in C (\`gcc -O3 -march=native -fopenmp\`), all workers stepwise and in diamonds, Gcells/s:

${cores}

## Ranks

Two H200 GPUs of one host under MPI, wave of order 2, by the host's clock. _Of both alone_: over the sum of
what each reaches with half the grid.

\`\`\`sh
mpirun -n 2 deno task solve --grid 512x16256x256 --steps 960 --decompose 1x2x1 --exchange-every 32
\`\`\`

${table("ranks", "grid", "steps between exchanges", "Gcells/s", "of both alone", "date")}

## Choices without tuning

What \`chooseConfiguration\` loses against the best recorded for grids that it has not seen, by what it knows:

${choices}

## Searches

Evaluations until a configuration within 1% of the fastest is found, at the median, by
\`deno task replay --space FILE --strategy auto --strategy random --seeds 50\`:

${table("searches", "recorded space", "configurations", "auto", "random", "date")}

## What users wait for

${table("more", "what", "found", "command", "date")}
`;
}

if (import.meta.main) await Deno.writeTextFile(PAGE, await renderBenchmarks());
