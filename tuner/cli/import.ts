import { type FacetImport, importFacetSpace } from "../interchange/facet_space.ts";
import { importForeignSpace } from "../interchange/foreign_import.ts";
import { readInput } from "../interchange/read_input.ts";
import { readSpace } from "../interchange/read_space.ts";
import type { RecordedSpace } from "../interchange/recorded_space.ts";
import { appendRecords, journalPath } from "../profile/journal.ts";
import { checkWritable, writeProfile } from "../profile/store.ts";
import { TOOL } from "../version.ts";
import { renderLosses } from "./export.ts";
import { formatPlural, formatRate } from "../format.ts";
import {
  COMMON,
  count,
  gridOf,
  input,
  type Options,
  profileOutput,
  readText,
  type Values,
} from "./options.ts";
import { command } from "./parse_options.ts";
import { print } from "./terminal.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { RequestError } from "../problem/request_error.ts";

export const OPTIONS = {
  from: { ...input("T4 results or a Kernel Tuner cache, plain or gzipped"), required: "the file to read" },
  out: {
    ...profileOutput("the profile to write or to add to; its journal goes beside it"),
    required: "the profile to write",
  },
  kernel: { value: "NAME", help: "name of the kernel, where the file does not say", read: readText },
  device: { value: "NAME", help: "name of the device, where the file does not say", read: readText },
  grid: { value: "XxYxZ|XxY", help: "size of the problem, where the file does not say", read: gridOf(3, 2) },
  steps: count("steps of one run, where the file does not say (default 1)", 1),
  json: COMMON.json,
} as const satisfies Options;

/** Options that only say what a file of another tool does not. */
const FOREIGN = ["kernel", "device", "grid", "steps"] as const;

/** A file that Facet exported comes back as it was; of another tool's, it is said what could not be carried over. */
export const run = command({
  usage: "deno task import --from FILE --out FILE [OPTIONS]",
  about: "Makes a profile from results in the formats of other auto-tuners.",
  options: OPTIONS,
}, async ({ from, out, json, ...foreign }) => {
  const { space, notes, format } = readSpace(await readInput(from), from);
  const { profile, journal, records, notCarried } = convert(space, foreign, from);
  await checkWritable(out, profile.device);
  await appendRecords(journalPath(out), journal);
  await writeProfile(out, profile);
  const { problem, configuration, result, tieSet } = profile.entries[0]!;
  const record = {
    out,
    journal: journalPath(out),
    format,
    problem,
    configuration,
    cellsPerSecond: result.cellsPerSecond,
    records,
    notCarried: [...notes, ...notCarried],
  };
  const text = [
    `Wrote ${out} and its journal: ${formatPlural(record.records, "record")} of ${problem.stencil}`,
    `${tieSet.length > 1 ? `Chosen of ${tieSet.length} that are equally fast` : "Fastest"}: ` +
    `${describeConfiguration(configuration)}, ${formatRate(result.cellsPerSecond)}`,
    ...renderLosses(record.notCarried),
  ];
  print(json ? record : text);
});

type Foreign = Pick<Values<typeof OPTIONS>, typeof FOREIGN[number]>;

function convert(space: RecordedSpace, foreign: Foreign, source: string): FacetImport {
  const run = crypto.randomUUID();
  if (space.facet === null) {
    return importForeignSpace(space, { ...foreign, source, run, tool: TOOL, now: new Date().toISOString() });
  }
  const given = FOREIGN.find((name) => foreign[name] !== undefined);
  if (given !== undefined) {
    throw new RequestError(`Cannot use --${given}: ${source} is Facet's own and says it itself`);
  }
  return importFacetSpace(space, { source, run });
}
