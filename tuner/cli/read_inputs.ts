import { journalPath } from "../profile/journal.ts";
import { type JournalContent, type JournalRecord, parseJournal } from "../profile/journal_format.ts";
import { ProfileError, reasonOf } from "../profile/profile_error.ts";
import { readBytes } from "../profile/read_bytes.ts";
import { formatPlural } from "../format.ts";
import { describeProfileProblem } from "../profile/describe.ts";
import { devicesOf } from "../profile/merge.ts";
import type { Profile, ProfileEntry } from "../profile/schema.ts";
import { checkFileWritable, readProfile } from "../profile/store.ts";
import { wrongValue } from "./options.ts";
import { say } from "./terminal.ts";
import { RequestError } from "../problem/request_error.ts";

/** Characters that are written at once. */
const PIECE_CHARACTERS = 2 ** 16;

/** A journal as a command found it. */
interface JournalInput {
  readonly records: readonly JournalRecord[];
  /** The file; undefined where there is none. */
  readonly path: string | undefined;
  /** What is wrong with it, one line each. */
  readonly warnings: readonly string[];
}

/** Reads a profile, and says what is odd about it. */
export function readProfileSaying(path: string): Promise<Profile> {
  return readProfile(path, { onRemark: (text) => say(`facet: ${text}`) });
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
  await writePieces(path, [text].values());
}

/** The same of a text that comes in pieces; returns what its generator does. */
export async function writePieces<Result>(
  path: string,
  text: Iterator<string, Result> | AsyncIterator<string, Result>,
): Promise<Result> {
  await checkFileWritable(path);
  // before the file is opened: who cannot begin leaves what is there
  let next = await text.next();
  const bytes = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      let piece = "";
      for (; !next.done && piece.length < PIECE_CHARACTERS; next = await text.next()) piece += next.value;
      if (piece !== "") controller.enqueue(new TextEncoder().encode(piece));
      if (next.done) controller.close();
    },
  });
  try {
    const { writable } = await Deno.create(path);
    await (path.endsWith(".gz") ? bytes.pipeThrough(new CompressionStream("gzip")) : bytes).pipeTo(writable);
  } catch (error) {
    throw error instanceof ProfileError
      ? error
      : new RequestError(`Cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  }
  return next.value as Result;
}

interface ChosenEntry {
  /** The device that it was measured on, as a profile of its own. */
  readonly device: Profile;
  readonly entry: ProfileEntry;
  /** Where it stands among the entries of all devices, from 0. */
  readonly at: number;
}

/** The entry that `--entry` names, from 1, over all devices; the only one where there is one. */
export function chooseEntry(profile: Profile, given: number | undefined): ChosenEntry {
  const all = devicesOf(profile).flatMap((device) => device.entries.map((entry) => ({ device, entry })))
    .map((entry, at) => ({ ...entry, at }));
  if (all.length === 0) {
    throw new RequestError("Cannot use --profile: wanted a profile with entries: found none");
  }
  const chosen = given === undefined && all.length > 1 ? undefined : all[(given ?? 1) - 1];
  if (chosen !== undefined) return chosen;
  if (given !== undefined) throw wrongValue("entry", `a whole number from 1 to ${all.length}`, `${given}`);
  const list = all.slice(0, 20).map(({ entry, at }) => `${at + 1} ${describeProfileProblem(entry.problem)}`);
  if (all.length > 20) list.push("…");
  throw new RequestError(
    `Cannot choose an entry: the profile has ${all.length}: give --entry N: ${list.join("; ")}`,
  );
}
