import type { Evaluation } from "../measuring/evaluate.ts";
import { checkRecord } from "./check_record.ts";
import {
  formatLine,
  hasChecksum,
  JOURNAL_VERSION,
  type JournalContent,
  type JournalHeader,
  type JournalRecord,
  linesOf,
  MAX_MESSAGE,
  parseJournal,
  recordSchema,
} from "./journal_format.ts";
import { withLock } from "./file_lock.ts";
import { oneLine, ProfileError, reasonOf } from "./profile_error.ts";
import { readBytesIfThere } from "./read_bytes.ts";
import { readPart, writeAll } from "./store.ts";

/** The journal that belongs to a profile: `<profile>.journal.jsonl`. */
export function journalPath(profilePath: string): string {
  return `${profilePath}.journal.jsonl`;
}

/** Bytes at either end of a file that are looked at; no line is as long. */
const LONGEST_LINE = 2 ** 24;

/** Records that are written at once where there are many. */
const BATCH = 1000;

/** How every line begins. */
const LINE_START = '{"crc32":"';

/** A record that no journal could be read back with; trying again would not help. */
export class RecordError extends ProfileError {
  override name = "RecordError";
}

/** A journal open for appending: every record is flushed. `journal_format.ts` describes its lines. */
export class Journal {
  /** What this run's records are marked with. */
  readonly run: string = crypto.randomUUID();
  /** The last append; each waits for the one before. */
  #last: Promise<void> = Promise.resolve();

  private constructor(
    private readonly path: string,
    private readonly file: Deno.FsFile,
    private readonly now: () => Date,
  ) {}

  /**
   * Opens a journal, creating it if there is none, and begins a run. A last line that was cut off is removed.
   *
   * @param path the file; its directory must exist
   * @param now the time of a record
   * @throws {ProfileError} if it cannot be written, or is a file that is no journal
   */
  static async open(path: string, header: JournalHeader, now = (): Date => new Date()): Promise<Journal> {
    let journal: Journal | undefined;
    try {
      await checkJournal(path);
      // two runs that append to one journal take turns by whole lines
      const file = await Deno.open(path, { read: true, append: true, create: true });
      journal = new Journal(path, file, now);
      await withLock(file, () => repairEnd(file));
      const { run } = journal, startedAt = now().toISOString();
      await journal.#append({ kind: "run", version: JOURNAL_VERSION, run, startedAt, ...header });
      return journal;
    } catch (error) {
      journal?.close();
      throw oneLine(error, `Cannot write ${path}: ${reasonOf(error)}`);
    }
  }

  /** Records an evaluation; it is on disk when this resolves. */
  record(evaluation: Evaluation, evaluationNs?: number): Promise<void> {
    const about = { run: this.run, at: this.now().toISOString(), evaluationNs };
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
      this.file.close();
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
      await withLock(this.file, () => appendLine(this.file, formatLine(record)));
    }).catch((error) => {
      const message = `Cannot write ${this.path}: ${reasonOf(error)}`;
      throw isRight ? new ProfileError(message, { cause: error }) : new RecordError(message);
    });
    this.#last = append.catch(() => {});
    return append;
  }
}

/** Reads a journal; a file that does not exist holds nothing. */
export async function readJournal(path: string): Promise<JournalContent> {
  return parseJournal(await readBytesIfThere(path) ?? new Uint8Array());
}

/**
 * Throws if a file lies where a journal is to be written and is none: nothing that Facet did not write is changed. A
 * file is a journal if a line near its beginning has its checksum, or if it is empty.
 */
export async function checkJournal(path: string): Promise<void> {
  let start: Uint8Array;
  try {
    const { isFile, size } = await Deno.stat(path);
    if (!isFile) throw new ProfileError(`Cannot write ${path}: it is not a regular file`);
    using file = await Deno.open(path);
    start = await readPart(file, 0, Math.min(size, LONGEST_LINE));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw oneLine(error, `Cannot write ${path}: ${reasonOf(error)}`);
  }
  if (start.length === 0 || linesOf(start).some(hasChecksum)) return;
  throw new ProfileError(
    `Cannot write ${path}: wanted a journal, found a file that is none: move it away, or choose another --out`,
  );
}

/** Adds records to a journal, all or with a torn end; a line that was left open before is ended. */
export async function appendRecords(path: string, records: Iterable<JournalRecord>): Promise<void> {
  await checkJournal(path);
  try {
    using file = await Deno.open(path, { append: true, create: true });
    let lines = "\n", count = 0;
    const write = async (): Promise<void> => {
      await writeAll(file, new TextEncoder().encode(lines));
      lines = "";
    };
    for (const record of records) {
      lines += formatLine(record);
      if (++count % BATCH === 0) await write();
    }
    await write();
  } catch (error) {
    throw oneLine(error, `Cannot write ${path}: ${reasonOf(error)}`);
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
  return size === 0 || (await readPart(file, size - 1, 1))[0] === 0x0a;
}

/** Mends the end of a file that is open to append: a cut-off last line goes, any other unfinished text becomes a line. */
async function repairEnd(file: Deno.FsFile): Promise<void> {
  const { size } = await file.stat();
  const length = Math.min(size, LONGEST_LINE);
  const end = await readPart(file, size - length, length);
  const tail = end.subarray(end.lastIndexOf(0x0a) + 1);
  if (tail.length === 0) return;
  const head = new TextDecoder().decode(tail.subarray(0, LINE_START.length));
  if (LINE_START.startsWith(head) && !hasChecksum(tail)) await file.truncate(size - tail.length);
  else await writeAll(file, Uint8Array.of(0x0a));
  await file.syncData();
}
