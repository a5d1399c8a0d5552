/**
 * `deno task export`: an entry of a profile with everything that was measured for it, or another tool's file, as
 * T4 results or as a Kernel Tuner cache. Says what could not be carried over.
 *
 * @module
 */
import { spaceOfEntry } from "../interchange/facet_space.ts";
import { readSpace, SPACE_FORMATS } from "../interchange/read_space.ts";
import type { RecordedSpace } from "../interchange/recorded_space.ts";
import { writeSpace } from "../interchange/write_space.ts";
import { entryRecords } from "../profile/entry_records.ts";
import { readProfile } from "../profile/store.ts";
import { formatCount } from "./format.ts";
import { parseOptions, renderHelp } from "./parse_options.ts";
import {
  chooseEntry,
  eitherOf,
  readBytes,
  readProfileJournal,
  required,
  requiredName,
  writeText,
} from "./read_inputs.ts";
import { EXIT } from "./report_error.ts";
import { UserError } from "./user_error.ts";

const OPTIONS = {
  format: { type: "string", value: "NAME", help: `${SPACE_FORMATS.join(" or ")}: what to write` },
  profile: { type: "string", value: "FILE", help: "the profile to export from" },
  journal: {
    type: "string",
    value: "FILE",
    help: "its journal (default: PROFILE.journal.jsonl, if it is there)",
  },
  entry: { type: "string", value: "N", help: "the entry, counted from 1, of a profile with several" },
  from: { type: "string", value: "FILE", help: "instead of a profile: T4 results or a cache to convert" },
  out: { type: "string", value: "FILE", help: "where to write; packed if it ends in .gz" },
  json: { type: "boolean", help: "print a record for machines" },
} as const;

/** What is to be written, and what is already known to be missing from it. */
interface Source {
  readonly space: RecordedSpace;
  readonly notes: readonly string[];
}

/**
 * Runs the command.
 *
 * @param args its options
 * @returns the exit code
 */
export async function run(args: string[]): Promise<number> {
  const options = parseOptions(args, OPTIONS);
  if (options.help) {
    const usage = "deno task export --format NAME --profile FILE --out FILE [OPTIONS]";
    console.log(renderHelp(`${usage}\n\nWrites what was measured for the community's tools.`, OPTIONS));
    return EXIT.done;
  }
  const format = requiredName("format", options.format, SPACE_FORMATS);
  const out = required("out", options.out, "the file to write");
  eitherOf(["profile", options.profile], ["from", options.from]);
  const { space, notes } = options.profile === undefined
    ? await fromFile(options.from!, options)
    : await fromProfile(options.profile, options);
  const { text, notCarried } = writeSpace(space, format);
  await writeText(out, text);
  const record = {
    out,
    format,
    kernel: space.kernel,
    device: space.device,
    records: space.records.length,
    failed: space.records.filter(({ failure }) => failure !== null).length,
    notCarried: [...notes, ...notCarried],
  };
  console.log(options.json ? JSON.stringify(record, null, 2) : renderExport(record));
  return EXIT.done;
}

async function fromFile(path: string, given: { journal?: string; entry?: string }): Promise<Source> {
  for (const name of ["journal", "entry"] as const) {
    if (given[name] !== undefined) {
      throw new UserError(`Cannot use --${name}: it goes with --profile, not with --from`);
    }
  }
  return readSpace(await readBytes(path), path);
}

async function fromProfile(path: string, given: { journal?: string; entry?: string }): Promise<Source> {
  const profile = await readProfile(path);
  const entry = profile.entries[chooseEntry(profile, given.entry)];
  const { records, warnings } = await readProfileJournal(path, given.journal);
  const { space, notCarried } = spaceOfEntry(profile, entry, entryRecords(profile, entry, records));
  return { space, notes: [...warnings, ...notCarried] };
}

/** The outcome for people. */
function renderExport(record: {
  readonly out: string;
  readonly format: string;
  readonly records: number;
  readonly failed: number;
  readonly notCarried: readonly string[];
}): string {
  const { out, format, records, failed, notCarried } = record;
  const what = format === "t4" ? "T4 results" : "a Kernel Tuner cache";
  const counts = `${formatCount(records)} ${records === 1 ? "record" : "records"}, ${
    formatCount(failed)
  } failed`;
  return [`Wrote ${out}: ${what}, ${counts}`, ...renderLosses(notCarried)].join("\n");
}

/** The list of what could not be carried over, for people. */
export function renderLosses(notCarried: readonly string[]): string[] {
  if (notCarried.length === 0) return ["Everything was carried over."];
  return ["Not carried over:", ...notCarried.map((line) => `  - ${line}`)];
}
