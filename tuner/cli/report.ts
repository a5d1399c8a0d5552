/**
 * `deno task report`: one page of a profile that needs neither network nor server.
 *
 * @module
 */
import { readProfile } from "../profile/store.ts";
import { buildReport, MAX_ENTRIES } from "../report/page.ts";
import { formatCount } from "./format.ts";
import { parseOptions, renderHelp } from "./parse_options.ts";
import { chooseEntry, readProfileJournal, required, writeText } from "./read_inputs.ts";
import { EXIT } from "./report_error.ts";
import { UserError } from "./user_error.ts";

const OPTIONS = {
  profile: { type: "string", value: "FILE", help: "the profile to show" },
  journal: {
    type: "string",
    value: "FILE",
    help: "its journal (default: PROFILE.journal.jsonl, if it is there)",
  },
  entry: {
    type: "string",
    value: "N",
    help: `only this problem, counted from 1 (default: the first ${MAX_ENTRIES})`,
  },
  out: { type: "string", value: "FILE", default: "report.html", help: "where to write the page" },
  json: { type: "boolean", help: "print a record for machines" },
} as const;

/**
 * Runs the command.
 *
 * @param args its options
 * @returns the exit code
 */
export async function run(args: string[]): Promise<number> {
  const options = parseOptions(args, OPTIONS);
  if (options.help) {
    const usage = "deno task report --profile FILE [OPTIONS]";
    console.log(
      renderHelp(
        `${usage}\n\nMakes one page of a profile: charts, tables, and why this configuration.`,
        OPTIONS,
      ),
    );
    return EXIT.done;
  }
  const path = required("profile", options.profile, "the profile to show");
  const profile = await readProfile(path);
  if (profile.entries.length === 0) {
    throw new UserError(`Cannot show ${path}: wanted a profile with entries: found none`);
  }
  const entries = options.entry === undefined ? undefined : [chooseEntry(profile, options.entry)];
  const { records, path: journal, warnings } = await readProfileJournal(path, options.journal);
  const { page, measurements } = buildReport(profile, { journal: records, entries, warnings });
  await writeText(options.out, page);
  const bytes = new TextEncoder().encode(page).length;
  const record = { out: options.out, bytes, measurements, journal: journal ?? null, warnings };
  const text = [
    `Wrote ${options.out}: ${formatCount(measurements)} measurements, ${formatCount(bytes / 1024)} KiB`,
    ...(journal === undefined
      ? ["There is no journal beside the profile: the page shows the winners and their ties."]
      : []),
    ...warnings,
  ];
  console.log(options.json ? JSON.stringify(record, null, 2) : text.join("\n"));
  return EXIT.done;
}
