import { spaceOfEntry } from "../interchange/facet_space.ts";
import { readInput } from "../interchange/read_input.ts";
import { readSpace, SPACE_FORMATS, type SpaceFormat, writeSpace } from "../interchange/read_space.ts";
import type { RecordedSpace } from "../interchange/recorded_space.ts";
import { entryRecords } from "../profile/entry_records.ts";
import { formatCount, formatPlural } from "../format.ts";
import { COMMON, input, oneOf, type Options, output, profileInput } from "./options.ts";
import { command } from "./parse_options.ts";
import { chooseEntry, readProfileJournal, readProfileSaying, writePieces } from "./read_inputs.ts";
import { print } from "./terminal.ts";
import { RequestError } from "../problem/request_error.ts";

export const OPTIONS = {
  format: {
    value: "NAME",
    help: `what to write: ${SPACE_FORMATS.join(" or ")} (default: as --out is named, or not what --from is)`,
    read: oneOf(SPACE_FORMATS),
  },
  profile: {
    ...profileInput("the profile to export from"),
    notWith: { "--from": "give either a profile or another tool's file" },
  },
  journal: COMMON.journal,
  entry: COMMON.entry,
  from: input("instead of a profile: T4 results or a cache to convert"),
  out: { ...output("where to write; compressed if it ends in .gz"), required: "the file to write" },
  json: COMMON.json,
} as const satisfies Options;

/** Writes an entry of a profile with all that was measured for it, or converts another tool's file. */
export const run = command({
  usage: "deno task export --profile FILE --out FILE [OPTIONS]",
  about: "Writes what was measured in the formats of other auto-tuners.",
  options: OPTIONS,
}, async ({ profile, from, out, ...options }) => {
  if (profile === undefined && from === undefined) {
    throw new RequestError("Missing option --profile: wanted the profile to export from, or --from FILE");
  }
  // before anything is read, if it is a profile: only another tool's file has a format itself
  const named = options.format ?? (profile === undefined ? undefined : formatOf(out));
  const read = profile === undefined ? readSpace(await readInput(from!), from!) : undefined;
  const { space, notes } = read ?? await fromProfile(profile!, options);
  const format = named ?? formatOf(out, read?.format);
  const { notCarried, ...counts } = await writePieces(out, writeSpace(space, format));
  const record = {
    out,
    format,
    kernel: space.kernel,
    device: space.device,
    ...counts,
    notCarried: [...notes, ...notCarried],
  };
  const what = format === "t4" ? "T4 results" : "a Kernel Tuner cache";
  const evaluations = `${formatPlural(record.records, "record")}, ${formatCount(record.failed)} failed`;
  const text = [`Wrote ${out}: ${what}, ${evaluations}`, ...renderLosses(record.notCarried)];
  print(options.json ? record : text);
});

/** The format of a file that is named for one, else the one that another file has not. */
function formatOf(out: string, found?: SpaceFormat): SpaceFormat {
  const name = out.split(/[\\/]/).at(-1)!, isT4 = /\bt4\b/i.test(name);
  const isCache = /cache|kernel.?tuner/i.test(name);
  if (isT4 !== isCache) return isT4 ? "t4" : "kernel-tuner";
  if (found !== undefined) return found === "t4" ? "kernel-tuner" : "t4";
  const wanted = `give --format ${
    SPACE_FORMATS.join(" or ")
  }, or a name such as results.t4.json or cache.json`;
  throw new RequestError(`Missing option --format: ${out} does not say which is wanted: ${wanted}`);
}

async function fromProfile(
  path: string,
  given: { journal: string | undefined; entry: number | undefined },
): Promise<{ space: RecordedSpace; notes: readonly string[] }> {
  const { device, entry } = chooseEntry(await readProfileSaying(path), given.entry);
  const { records, warnings } = await readProfileJournal(path, given.journal);
  const { space, notCarried } = spaceOfEntry(device, entry, entryRecords(device, entry, records));
  return { space, notes: [...warnings, ...notCarried] };
}

/** The list of what could not be carried over, for people. */
export function renderLosses(notCarried: readonly string[]): string[] {
  if (notCarried.length === 0) return ["Everything was carried over."];
  return ["Not carried over:", ...notCarried.map((line) => `  - ${line}`)];
}
