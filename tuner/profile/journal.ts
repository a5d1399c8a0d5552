import type { Evaluation } from "../measuring/evaluate.ts";
import { checkRecord } from "./check_record.ts";
import {
  formatLine,
  JOURNAL_VERSION,
  type JournalContent,
  type JournalHeader,
  type JournalRecord,
  MAX_MESSAGE,
  parseJournal,
  parseLine,
  recordSchema,
} from "./journal_format.ts";
import { withLock } from "./file_lock.ts";
import { ProfileError, reasonOf } from "./profile_error.ts";
import { writeAll } from "./store.ts";

/** The journal that belongs to a profile: `<profile>.journal.jsonl`. */
export function journalPath(profilePath: string): string {
  return `${profilePath}.journal.jsonl`;
}

/** Bytes at the end of a journal in which a line that was cut off is looked for. */
const LONGEST_TAIL = 2 ** 24;

/** A record that no journal could be read back with; trying again would not help. */
export class RecordError extends ProfileError {
  override name = "RecordError";
}

/** A journal open for appending: every record is flushed. `journal_format.ts` describes its lines. */
export class Journal {
  /** What this run's records are marked with. */
  readonly run: string = crypto.randomUUID();
  readonly #path: string;
  readonly #file: Deno.FsFile;
  readonly #now: () => Date;
  /** The last append; each waits for the one before. */
  #last: Promise<void> = Promise.resolve();

  private constructor(path: string, file: Deno.FsFile, now: () => Date) {
    this.#path = path;
    this.#file = file;
    this.#now = now;
  }

  /**
   * Opens a journal, creating it if there is none, and begins a run. A last line that was cut off is removed.
   *
   * @param path the file; its directory must exist
   * @param now the time of a record
   * @throws {ProfileError} if it cannot be written
   */
  static async open(path: string, header: JournalHeader, now = (): Date => new Date()): Promise<Journal> {
    let journal: Journal | undefined;
    try {
      {
        using file = await Deno.open(path, { read: true, write: true, create: true });
        await withLock(file, () => repairEnd(file));
      }
      // two runs that append to one journal take turns by whole lines
      journal = new Journal(path, await Deno.open(path, { read: true, append: true }), now);
      const { run } = journal, startedAt = now().toISOString();
      await journal.#append({ kind: "run", version: JOURNAL_VERSION, run, startedAt, ...header });
      return journal;
    } catch (error) {
      journal?.close();
      throw error instanceof ProfileError
        ? error
        : new ProfileError(`Cannot write ${path}: ${reasonOf(error)}`);
    }
  }

  /** Records an evaluation; it is on disk when this resolves. */
  record(evaluation: Evaluation, evaluationNs?: number): Promise<void> {
    const about = { run: this.run, at: this.#now().toISOString(), evaluationNs };
    if ("measurement" in evaluation) {
      return this.#append({ kind: "measurement", ...about, measurement: evaluation.measurement });
    }
    const { configuration, failure: { reason, message } } = evaluation;
    const failure = { reason, message: message.slice(0, MAX_MESSAGE) };
    return this.#append({ kind: "failure", ...about, configuration, failure });
  }

  /** Ends the run; appends that are under way must have resolved. */
  close(): void {
    try {
      this.#file.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }

  #append(record: JournalRecord): Promise<void> {
    let isRight = false;
    const append = this.#last.then(async () => {
      // what could not be read back is better not written
      checkRecord(recordSchema, record, "the record");
      isRight = true;
      await withLock(this.#file, () => appendLine(this.#file, formatLine(record)));
    }).catch((error) => {
      const message = `Cannot write ${this.#path}: ${reasonOf(error)}`;
      throw isRight ? new ProfileError(message) : new RecordError(message);
    });
    this.#last = append.catch(() => {});
    return append;
  }
}

/** Reads a journal; a file that does not exist holds nothing. */
export async function readJournal(path: string): Promise<JournalContent> {
  try {
    return parseJournal(await Deno.readFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { records: [], damaged: [], torn: false };
    throw new ProfileError(`Cannot read ${path}: ${reasonOf(error)}`);
  }
}

/** Appends a line and flushes it; a line that the disk has no room for is removed again. */
async function appendLine(file: Deno.FsFile, line: string): Promise<void> {
  const { size } = await file.stat();
  // what another run that was killed left behind becomes a line of its own
  const start = await endsLine(file, size) ? "" : "\n";
  try {
    await writeAll(file, new TextEncoder().encode(start + line));
    await file.syncData();
  } catch (error) {
    await file.truncate(size).catch(() => {});
    throw error;
  }
}

/** Whether a file of this size ends with the end of a line. */
async function endsLine(file: Deno.FsFile, size: number): Promise<boolean> {
  if (size === 0) return true;
  await file.seek(size - 1, Deno.SeekMode.Start);
  const last = new Uint8Array(1);
  await file.read(last);
  return last[0] === 0x0a;
}

/** Removes a last line that was cut off, or ends it if it is whole. */
async function repairEnd(file: Deno.FsFile): Promise<void> {
  const { size } = await file.stat();
  const tail = await readTail(file, size);
  if (tail.length === 0) return;
  if (typeof parseLine(tail) === "string") {
    await file.truncate(size - tail.length);
  } else {
    await file.seek(0, Deno.SeekMode.End);
    await writeAll(file, Uint8Array.of(0x0a));
  }
  await file.syncData();
}

/** What follows the last line end. No line is as long as the part that is looked at. */
async function readTail(file: Deno.FsFile, size: number): Promise<Uint8Array> {
  const part = new Uint8Array(Math.min(size, LONGEST_TAIL));
  await file.seek(size - part.length, Deno.SeekMode.Start);
  for (let done = 0; done < part.length;) {
    const read = await file.read(part.subarray(done));
    if (read === null) break;
    done += read;
  }
  return part.subarray(part.lastIndexOf(0x0a) + 1);
}
