import { devicesOf } from "../profile/merge.ts";
import { buildReport, MAX_ENTRIES } from "../report/page.ts";
import { formatCount, formatPlural } from "../format.ts";
import { COMMON, type Options, output } from "./options.ts";
import { command } from "./parse_options.ts";
import { chooseEntry, readProfileJournal, readProfileSaying, writeText } from "./read_inputs.ts";
import { print } from "./terminal.ts";
import { RequestError } from "../problem/request_error.ts";

export const OPTIONS = {
  profile: {
    ...COMMON.profile,
    help: "a profile to show; several are compared on one page, also of one device",
    repeatable: true,
  },
  journal: { ...COMMON.journal, help: `${COMMON.journal.help}; of the first profile` },
  entry: {
    ...COMMON.entry,
    help: `show only this entry of the profile, counted from 1 (default: the first ${MAX_ENTRIES})`,
  },
  out: { ...output("where to write the page"), default: "report.html" },
  json: COMMON.json,
} as const satisfies Options;

export const run = command({
  usage: "deno task report --profile FILE [--profile FILE …] [OPTIONS]",
  about: "Makes one page of a profile: charts, tables, and why this configuration was chosen.",
  options: OPTIONS,
}, async (options) => {
  const inputs = await Promise.all(options.profile.map(async (path, i) => {
    const profile = await readProfileSaying(path);
    if (profile.entries.length === 0) {
      throw new RequestError(`Cannot show ${path}: wanted a profile with entries: found none`);
    }
    const { records, ...found } = await readProfileJournal(path, i === 0 ? options.journal : undefined);
    return { ...found, profile, journal: records };
  }));
  const [first, ...others] = inputs, { profile, path: journal } = first!;
  const all = { ...profile, others: inputs.flatMap(({ profile }) => devicesOf(profile)).slice(1) };
  const only = options.entry === undefined ? undefined : chooseEntry(all, options.entry).at;
  const warnings = inputs.flatMap(({ warnings }) => warnings);
  const { page, measurements } = buildReport(profile, { journal: first!.journal, others, warnings, only });
  await writeText(options.out, page);
  const bytes = new TextEncoder().encode(page).length;
  const record = { out: options.out, bytes, measurements, journal: journal ?? null, warnings };
  const text = [
    `Wrote ${options.out}: ${formatPlural(measurements, "measurement")}, ${formatCount(bytes / 1024)} KiB`,
    ...(journal === undefined
      ? ["There is no journal beside the profile: the page shows the winners and their ties."]
      : []),
    ...warnings,
  ];
  print(options.json ? record : text);
});
