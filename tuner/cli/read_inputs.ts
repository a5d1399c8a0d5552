import { gzipSync } from "node:zlib";
import { journalPath } from "../profile/journal.ts";
import { type JournalContent, type JournalRecord, parseJournal } from "../profile/journal_format.ts";
import { reasonOf } from "../profile/profile_error.ts";
import { readBytes } from "../profile/read_bytes.ts";
import { formatPlural } from "../format.ts";
import { describeProfileProblem } from "../profile/describe.ts";
import type { Profile } from "../profile/schema.ts";
import { checkFileWritable } from "../profile/store.ts";
import { wrongValue } from "./options.ts";
import { RequestError } from "../problem/request_error.ts";

/** A journal as a command found it. */
interface JournalInput {
  readonly records: readonly JournalRecord[];
  /** The file; undefined where there is none. */
  readonly path: string | undefined;
  /** What is wrong with it, one line each. */
  readonly warnings: readonly string[];
}

/** The journal of a profile: the one that `--journal` names, or the one beside the profile, which may be missing. */
export async function readProfileJournal(profile: string, given: string | undefined): Promise<JournalInput> {
  const path = given ?? journalPath(profile);
  const isThere = await Deno.stat(path).then(({ isFile }) => isFile, () => false);
  if (given === undefined && !isThere) return { records: [], path: undefined, warnings: [] };
  const content = parseJournal(await readBytes(path));
  const { records, damaged: [first], torn } = content;
  if (records.length === 0 && (first !== undefined || torn)) {
    throw new RequestError(
      `Cannot read ${path}: wanted a journal, found: ${first?.reason ?? "a line cut off"}`,
    );
  }
  return {
    records,
    path,
    warnings: [
      ...damageOf(path, content),
      ...(torn ? [`${path}: the last line was cut off while it was written: left out`] : []),
    ],
  };
}

/** The damaged lines of a journal in one line of text; none if there are none. */
export function damageOf(path: string, { damaged }: Pick<JournalContent, "damaged">): string[] {
  const [first] = damaged;
  if (first === undefined) return [];
  const count = formatPlural(damaged.length, "damaged line");
  return [`${path}: left out ${count}, the first is line ${first.line}: ${first.reason}`];
}

/** Writes a file; one whose name ends in `.gz` is packed. */
export async function writeText(path: string, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  await checkFileWritable(path);
  try {
    await Deno.writeFile(path, path.endsWith(".gz") ? gzipSync(bytes) : bytes);
  } catch (error) {
    throw new RequestError(`Cannot write ${path}: ${reasonOf(error)}`);
  }
}

/** The index of the entry that `--entry` names, from 1; the only one where there is one. */
export function chooseEntry(profile: Profile, given: number | undefined): number {
  const { entries } = profile;
  if (entries.length === 0) {
    throw new RequestError("Cannot use --profile: wanted a profile with entries: found none");
  }
  if (given !== undefined) {
    if (given <= entries.length) return given - 1;
    throw wrongValue("entry", `a whole number from 1 to ${entries.length}`, `${given}`);
  }
  if (entries.length === 1) return 0;
  const list = entries.slice(0, 20).map(({ problem }, i) => `${i + 1} ${describeProfileProblem(problem)}`);
  if (entries.length > 20) list.push("…");
  throw new RequestError(
    `Cannot choose an entry: the profile has ${entries.length}: give --entry N: ${list.join("; ")}`,
  );
}
