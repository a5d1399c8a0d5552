import type { Evaluation } from "../measuring/evaluate.ts";
import { type Journal, RecordError } from "./journal.ts";
import { ProfileError } from "./profile_error.ts";

/** The part of a {@linkcode Journal} that is used. */
export type KeptJournal = Pick<Journal, "record" | "close">;

/**
 * A journal that may fail: a full disk or a directory that cannot be written must not end a run of hours. What cannot
 * be written is kept, and written as soon as it can be.
 */
export class JournalKeeper {
  #journal: KeptJournal | undefined;
  #waiting: Evaluation[] = [];
  #hasWarned = false;

  /**
   * @param open opens the journal; tried again with every record while it fails
   * @param warn is given one line at the first failure, and one when everything is on disk again
   */
  constructor(
    private readonly open: () => Promise<KeptJournal>,
    private readonly warn: (message: string) => void,
  ) {}

  /** Evaluations that are not on disk. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Opens the journal, if it can. */
  begin(): Promise<void> {
    return this.#write();
  }

  /** Records an evaluation; it is on disk when this resolves, or waits. */
  async record(evaluation: Evaluation): Promise<void> {
    this.#waiting.push(evaluation);
    await this.#write();
  }

  close(): void {
    this.#journal?.close();
    this.#journal = undefined;
  }

  async #write(): Promise<void> {
    try {
      this.#journal ??= await this.open();
      while (this.#waiting.length > 0) {
        await this.#journal.record(this.#waiting[0]!).catch((error) => {
          if (!(error instanceof RecordError)) throw error;
          this.warn(`${error.message}: left out`);
        });
        this.#waiting.shift();
      }
      if (this.#hasWarned) this.warn("The journal can be written again: nothing is missing");
      this.#hasWarned = false;
    } catch (error) {
      if (!(error instanceof ProfileError)) throw error;
      if (this.#hasWarned) return;
      this.#hasWarned = true;
      this.warn(`${error.message}: the run goes on; what it measures is lost if it does not end`);
    }
  }
}
