/**
 * `deno task import`: T4 results or a Kernel Tuner cache as a profile and its journal. A file that Facet exported
 * comes back as it was; of another tool's file the list says what could not be carried over.
 *
 * @module
 */
import { type FacetImport, importFacetSpace } from "../interchange/facet_import.ts";
import { importForeignSpace } from "../interchange/foreign_import.ts";
import { readSpace } from "../interchange/read_space.ts";
import type { RecordedSpace } from "../interchange/recorded_space.ts";
import { journalPath } from "../profile/journal.ts";
import { formatLine, type JournalRecord } from "../profile/journal_format.ts";
import { ProfileError, reasonOf } from "../profile/profile_error.ts";
import { checkWritable, writeProfile } from "../profile/store.ts";
import { VERSION } from "../version.ts";
import { renderLosses } from "./export.ts";
import { formatCount, formatRate } from "./format.ts";
import { ifGiven, readGrid, readNumber } from "./option_values.ts";
import { parseOptions, renderHelp } from "./parse_options.ts";
import { readBytes, required } from "./read_inputs.ts";
import { EXIT } from "./report_error.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { UserError } from "./user_error.ts";

const OPTIONS = {
  from: { type: "string", value: "FILE", help: "T4 results or a Kernel Tuner cache, plain or gzipped" },
  out: {
    type: "string",
    value: "FILE",
    help: "the profile to write or to add to; its journal goes beside it",
  },
  kernel: { type: "string", value: "NAME", help: "name of the kernel, where the file does not say" },
  device: { type: "string", value: "NAME", help: "name of the device, where the file does not say" },
  grid: { type: "string", value: "XxYxZ", help: "size of the problem, where the file does not say" },
  steps: { type: "string", value: "N", help: "steps of one run, where the file does not say (default 1)" },
  json: { type: "boolean", help: "print a record for machines" },
} as const;

/** Options that only say what a file of another tool does not. */
const FOREIGN = ["kernel", "device", "grid", "steps"] as const;

/**
 * Runs the command.
 *
 * @param args its options
 * @returns the exit code
 */
export async function run(args: string[]): Promise<number> {
  const options = parseOptions(args, OPTIONS);
  if (options.help) {
    const usage = "deno task import --from FILE --out FILE [OPTIONS]";
    console.log(renderHelp(`${usage}\n\nMakes a profile of results in the community's formats.`, OPTIONS));
    return EXIT.done;
  }
  const from = required("from", options.from, "the file to read");
  const out = required("out", options.out, "the profile to write");
  const foreign = {
    kernel: options.kernel,
    device: options.device,
    grid: ifGiven(options.grid, readGrid),
    steps: ifGiven(options.steps, (text) =>
      readNumber("steps", text, {
        wanted: "a whole number >= 1",
        isRight: (n) => Number.isSafeInteger(n) && n >= 1,
      })),
  };
  const { space, notes, format } = readSpace(await readBytes(from), from);
  const { profile, journal, notCarried } = convert(space, foreign, from);
  await checkWritable(out, { device: profile.device });
  await appendJournal(journalPath(out), journal);
  await writeProfile(out, profile);
  const [{ problem, configuration, result }] = profile.entries;
  const record = {
    out,
    journal: journalPath(out),
    format,
    problem,
    configuration,
    cellsPerSecond: result.cellsPerSecond,
    records: journal.length - 1,
    notCarried: [...notes, ...notCarried],
  };
  const text = [
    `Wrote ${out} and its journal: ${formatCount(record.records)} records of ${problem.stencil}`,
    `Fastest: ${describeConfiguration(configuration)}, ${formatRate(result.cellsPerSecond)}`,
    ...renderLosses(record.notCarried),
  ];
  console.log(options.json ? JSON.stringify(record, null, 2) : text.join("\n"));
  return EXIT.done;
}

type Foreign = Partial<Pick<Parameters<typeof importForeignSpace>[1], typeof FOREIGN[number]>>;

function convert(space: RecordedSpace, foreign: Foreign, source: string): FacetImport {
  const run = crypto.randomUUID();
  if (space.facet === null) {
    const tool = { name: "facet", version: VERSION };
    return importForeignSpace(space, { ...foreign, source, run, tool, now: new Date().toISOString() });
  }
  const given = FOREIGN.find((name) => foreign[name] !== undefined);
  if (given !== undefined) {
    throw new UserError(`Cannot use --${given}: ${source} is Facet's own and says it itself`);
  }
  return importFacetSpace(space, { source, run });
}

/** Adds whole lines to a journal, all or with a torn end; a line that was left open before is ended. */
async function appendJournal(path: string, records: readonly JournalRecord[]): Promise<void> {
  try {
    await Deno.mkdir(path.replace(/[^/\\]*$/, "") || ".", { recursive: true });
    await Deno.writeTextFile(path, `\n${records.map(formatLine).join("")}`, { append: true });
  } catch (error) {
    throw new ProfileError(`Cannot write ${path}: ${reasonOf(error)}`);
  }
}
