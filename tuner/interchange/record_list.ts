import type { TextPlace } from "../profile/json_fault.ts";
import { ProfileError } from "../profile/profile_error.ts";

/** Most bytes of a record, and of all that is no record. */
const MOST_BYTES = 2 ** 24;

/** Most records: what of each is kept then fits into memory. */
const MOST_RECORDS = 2_000_000;

const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, LINE_END = 0x0a;

/** Where the list begins: `results` is a list of T4's, `cache` an object of Kernel Tuner's. */
const LIST = /"(results)"\s*:\s*\[$|"(cache)"\s*:\s*\{$/;

/**
 * The records of a file: T4 results and Kernel Tuner caches are alike one JSON object, of which one field holds a
 * long list of records. Only where each of them lies is kept.
 */
export class RecordList {
  /** The field with the records. */
  readonly name: "results" | "cache";
  /** The text without the records, closed. */
  readonly head: string;
  readonly length: number;
  /** Whether a record at the end was cut off; it is left out. */
  readonly isTorn: boolean;
  /** Where records begin, and one more would: in between lies a comma. */
  readonly #starts: readonly number[];

  /**
   * Finds the records.
   *
   * @param source what errors call the file
   * @throws {ProfileError} if it is not one of these, or has more than can be read
   */
  constructor(private readonly bytes: Uint8Array, private readonly source: string) {
    const { starts, name, end, depth, isInText } = scan(bytes);
    this.#starts = starts;
    if (name === undefined) {
      const start = this.#decode(0, Math.min(bytes.length, MOST_BYTES));
      const found = depth > 0 && /"tune_params_keys"\s*:/.test(start)
        ? "a cache that was cut off before its first record"
        : /^\s*{\s*"\$schema"\s*:\s*"profile\./.test(start)
        ? `a profile: what was measured is in its journal, ${source}.journal.jsonl`
        : JSON.stringify(start.slice(0, 40));
      throw new ProfileError(
        `Cannot read ${source}: wanted T4 results (a field "results") or a Kernel Tuner cache ` +
          `(fields "tune_params_keys" and "cache"), found ${found}`,
      );
    }
    this.name = name;
    let rest = "";
    if (end === undefined) {
      rest = this.#decode(starts.at(-1)!, bytes.length).trim();
      // of a record at the very end only its braces say whether it is whole
      if (depth === 2 && !isInText && /[}\]]$/.test(rest)) {
        starts.push(bytes.length + 1);
        rest = "";
      }
      if (rest.includes("\n")) {
        throw new ProfileError(
          `Cannot read ${source}: wanted a whole file, or one that ends within a line, ` +
            "found several lines after the last whole record",
        );
      }
    } else if (starts.length > 1 || this.#decode(starts[0]!, end).trim() !== "") starts.push(end + 1);
    this.isTorn = rest !== "";
    this.length = starts.length - 1;
    this.#limit(this.length, MOST_RECORDS, `${MOST_RECORDS / 1e6} million records`);
    starts.forEach((start, i) => this.#limit(start - (starts[i - 1] ?? 0), MOST_BYTES, "records of 16 MB"));
    const before = this.#decode(0, starts[0]!);
    if (end === undefined) this.head = `${before}${name === "cache" ? "}" : "]"}}`;
    else {
      this.#limit(bytes.length - end, MOST_BYTES, "16 MB beside the records");
      // so that what is wrong behind the list is reported in its line
      const lines = "\n".repeat(countLines(bytes.subarray(starts[0], end)));
      // Kernel Tuner leaves out the last brace
      const brace = depth === 1 && name === "cache" ? "}" : "";
      this.head = before + lines + this.#decode(end, bytes.length) + brace;
    }
  }

  /** The text of a record, in a cache its key and its value. */
  textOf(index: number): string {
    return this.#decode(this.#starts[index]!, this.#starts[index + 1]! - 1);
  }

  placeOf(index: number): TextPlace {
    const before = this.bytes.subarray(0, this.#starts[index]);
    const line = before.lastIndexOf(LINE_END) + 1;
    return { line: countLines(before) + 1, column: this.#decode(line, before.length).length + 1 };
  }

  #decode(start: number, end: number): string {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(this.bytes.subarray(start, end));
    } catch {
      throw new ProfileError(`Cannot read ${this.source}: wanted text in UTF-8 or gzip, found other bytes`);
    }
  }

  #limit(found: number, most: number, wanted: string): void {
    if (found > most) {
      throw new ProfileError(`Cannot read ${this.source}: wanted at most ${wanted}, found more`);
    }
  }
}

/** Finds the list, and the commas between its records; without an end it is cut off. */
function scan(bytes: Uint8Array) {
  const starts: number[] = [];
  let name: RecordList["name"] | undefined, end: number | undefined, depth = 0, isInText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE) {
      for (i++; i < bytes.length && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
      isInText = i >= bytes.length;
    } else if (byte === COMMA) {
      if (depth === 2 && name !== undefined && end === undefined) starts.push(i + 1);
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth !== 2 || name !== undefined) continue;
      const found = LIST.exec(String.fromCharCode(...bytes.subarray(Math.max(0, i - 59), i + 1)));
      name = (found?.[1] ?? found?.[2]) as typeof name;
      if (name !== undefined) starts.push(i + 1);
    } else if (byte === 0x7d || byte === 0x5d) {
      if (--depth === 1 && name !== undefined) end ??= i;
    }
  }
  return { starts, name, end, depth, isInText };
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) count++;
  return count;
}
