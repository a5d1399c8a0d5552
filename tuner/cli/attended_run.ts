import { Progress, progressMode } from "./progress.ts";
import { EXIT } from "./report_error.ts";

/**
 * Progress on stderr and Ctrl-C, for commands that run for a while. The first Ctrl-C aborts `signal`, and the results so
 * far are kept; the second ends the process.
 */
export class AttendedRun implements Disposable {
  readonly progress: Progress;
  readonly #stop = new AbortController();
  readonly #interrupt = (): void => {
    if (this.#stop.signal.aborted) Deno.exit(EXIT.interrupted);
    this.#stop.abort();
  };

  /** @param options `quiet`: shows nothing */
  constructor({ quiet }: { quiet: boolean }) {
    this.progress = new Progress({
      mode: progressMode(Deno.stderr, quiet),
      write: (text) => Deno.stderr.writeSync(new TextEncoder().encode(text)),
      now: () => performance.now() * 1e6,
      columns: () => Deno.consoleSize().columns,
    });
    Deno.addSignalListener("SIGINT", this.#interrupt);
  }

  /** Aborted by Ctrl-C. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  [Symbol.dispose](): void {
    this.progress.clear();
    Deno.removeSignalListener("SIGINT", this.#interrupt);
  }
}
