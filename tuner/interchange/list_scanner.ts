import type { Place } from "../profile/json_fault.ts";
import { ProfileError } from "../profile/profile_error.ts";

/** The field with the records: `results` is a list of T4's, `cache` an object of Kernel Tuner's. */
export type ListName = "results" | "cache";

/** What there is beside the records. */
export interface ListFile {
  readonly list: ListName;
  /** The text without the records, closed. */
  readonly head: string;
  /** Whether the text ends within the list. */
  readonly isOpen: boolean;
  /** Whether a record at its end was cut off; it is left out. */
  readonly isTorn: boolean;
}

/** Most characters of a record, and of all that is no record. */
const MOST_CHARACTERS = 2 ** 24;

/** Most values that all records together may have: what a few gigabytes of memory hold. */
const MOST_VALUES = 40_000_000;

const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, COLON = 0x3a, LINE_END = 0x0a;

/**
 * Splits a text that comes in pieces: T4 results and Kernel Tuner caches are alike one JSON object, of which one field
 * holds a long list of records. No more than one record is in memory.
 */
export class ListScanner {
  readonly #source: string;
  readonly #onRecord: (text: string, start: Place) => void;
  #list: ListName | undefined;
  /** Text outside the records, and of the record under way. */
  #head = "";
  #record = "";
  #depth = 0;
  #values = 0;
  #hasRecords = false;
  #isInList = false;
  #isInText = false;
  #isEscaped = false;
  #line = 1;
  #lineOfList = 1;
  /** Characters before this piece, and before this line. */
  #before = 0;
  #beforeLine = 0;
  /** Where the record under way begins, or the list began. */
  #start: Place = { line: 1, column: 1 };

  /**
   * @param source what errors call the file
   * @param onRecord takes each record's text, in a cache its key and its value, and where it begins
   */
  constructor(source: string, onRecord: (text: string, start: Place) => void = () => {}) {
    this.#source = source;
    this.#onRecord = onRecord;
  }

  /**
   * Takes the next piece.
   *
   * @throws {ProfileError} if the file is not one of these, or has more than can be read
   */
  push(text: string): void {
    let start = 0;
    for (let i = 0; i < text.length; i++) {
      const letter = text.charCodeAt(i);
      if (letter === LINE_END) {
        this.#line++;
        this.#beforeLine = this.#before + i + 1;
      }
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (letter === BACKSLASH) this.#isEscaped = true;
        else if (letter === QUOTE) this.#isInText = false;
      } else if (letter === QUOTE) this.#isInText = true;
      else if (letter === COLON) this.#values++;
      else if (letter === COMMA) {
        this.#values++;
        if (!this.#isInList || this.#depth !== 2) continue;
        this.#record += text.slice(start, i);
        start = i + 1;
        this.#endRecord();
        this.#start = this.#placeAfter(i);
      } else if (letter === 0x7b || letter === 0x5b) {
        if (++this.#depth !== 2 || this.#list !== undefined) continue;
        this.#head += text.slice(start, i + 1);
        start = i + 1;
        const name = /"(results)"\s*:\s*\[$|"(cache)"\s*:\s*\{$/.exec(this.#head.slice(-60));
        this.#list = (name?.[1] ?? name?.[2]) as ListName | undefined;
        this.#isInList = this.#list !== undefined;
        this.#start = this.#placeAfter(i);
        this.#lineOfList = this.#line;
      } else if (letter === 0x7d || letter === 0x5d) {
        if (--this.#depth !== 1 || !this.#isInList) continue;
        this.#record += text.slice(start, i);
        start = i;
        if (this.#hasRecords || this.#record.trim() !== "") this.#endRecord();
        this.#isInList = false;
        // so that what is wrong behind the list is reported in its line
        this.#head += "\n".repeat(this.#line - this.#lineOfList);
      }
    }
    this.#before += text.length;
    if (this.#isInList) this.#record += text.slice(start);
    else this.#head += text.slice(start);
    this.#limit();
  }

  /** Ends the text. */
  end(): ListFile {
    const list = this.#list, isOpen = this.#isInList;
    if (list === undefined) {
      const found = this.#depth > 0 && /"tune_params_keys"\s*:/.test(this.#head)
        ? "a cache that was cut off before its first record"
        : JSON.stringify(this.#head.slice(0, 40));
      throw new ProfileError(
        `Cannot read ${this.#source}: wanted T4 results (a field "results") or a Kernel Tuner cache ` +
          `(fields "tune_params_keys" and "cache"), found ${found}`,
      );
    }
    let isTorn = false;
    if (isOpen) {
      // of a record at the very end only its braces say whether it is whole
      if (this.#depth === 2 && !this.#isInText && /[}\]]\s*$/.test(this.#record)) this.#endRecord();
      isTorn = this.#record.trim() !== "";
      if (this.#record.trim().includes("\n")) {
        throw new ProfileError(
          `Cannot read ${this.#source}: wanted a whole file, or one that ends within a line, ` +
            "found several lines after the last whole record",
        );
      }
      this.#head += list === "cache" ? "}" : "]";
    }
    // Kernel Tuner leaves out the last brace too
    const isShort = isOpen || (this.#depth === 1 && list === "cache");
    return { list, head: this.#head + (isShort ? "}" : ""), isOpen, isTorn };
  }

  #endRecord(): void {
    this.#hasRecords = true;
    this.#onRecord(this.#record, this.#start);
    this.#record = "";
  }

  #placeAfter(index: number): Place {
    return { line: this.#line, column: this.#before + index + 2 - this.#beforeLine };
  }

  #limit(): void {
    const refuse = (wanted: string): never => {
      throw new ProfileError(`Cannot read ${this.#source}: wanted ${wanted}, found more`);
    };
    if (this.#record.length > MOST_CHARACTERS) refuse("records of at most 16 million characters");
    if (this.#head.length > MOST_CHARACTERS) refuse("at most 16 million characters beside the records");
    if (this.#values > MOST_VALUES) refuse("at most 40 million values");
  }
}
