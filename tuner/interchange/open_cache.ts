/**
 * Kernel Tuner appends to its cache files: while it runs, and after it was cut off, the two closing braces are
 * missing, a comma may stand at the end, and the last record may be torn. This closes such a file.
 *
 * @module
 */
import { ProfileError } from "../profile/profile_error.ts";

/** Depth of nesting inside a record: the file, its `cache`, the record. */
const RECORD_DEPTH = 3;

/** A cache's text, closed. */
export interface ClosedCache {
  readonly text: string;
  /** Whether a record at the end was cut off; it is dropped. */
  readonly torn: boolean;
  /** Records that the text has, repetitions of a key included. */
  readonly records: number;
}

/**
 * Closes the text of a cache that was left open; one that is closed stays as it is.
 *
 * Works on the text alone: braces are counted outside of texts, and what follows the last whole record is cut
 * off. Damage before that point stays, for the JSON reader to find.
 *
 * @param text the file's content
 * @param source what to call it in errors
 * @throws {ProfileError} in one line, if it was cut off before the first record could begin
 */
export function closeCache(text: string, source: string): ClosedCache {
  const open: string[] = [];
  let records = 0;
  /** Where the last record ended, or the first could begin. */
  let whole = -1;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (letter === '"') {
      i = endOfText(text, i);
    } else if (letter === "{" || letter === "[") {
      open.push(letter);
      if (open.length === RECORD_DEPTH - 1 && isCacheField(text, i)) whole = i + 1;
    } else if (letter === "}" || letter === "]") {
      open.pop();
      if (whole >= 0 && open.length === RECORD_DEPTH - 1) {
        whole = i + 1;
        records++;
      }
      // the cache is closed, or there is none; what follows is for the JSON reader
      if (open.length === 0 || (whole >= 0 && open.length < RECORD_DEPTH - 1)) {
        return { text, torn: false, records };
      }
    }
  }
  if (whole < 0) {
    throw new ProfileError(
      `Cannot read ${source}: wanted a Kernel Tuner cache, found a file cut off before its first record, ` +
        `at character ${text.length}`,
    );
  }
  const rest = text.slice(whole).trim();
  return { text: `${text.slice(0, whole)}}}`, torn: rest !== "" && rest !== ",", records };
}

/** Whether the brace at this place opens the value of a field named "cache". */
function isCacheField(text: string, brace: number): boolean {
  return /"cache"\s*:\s*$/.test(text.slice(Math.max(0, brace - 60), brace));
}

/** Index of the quote that ends the text beginning here; the end of the file where there is none. */
function endOfText(text: string, start: number): number {
  let end = start;
  while (true) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return end;
  }
}
