import { describeGrid } from "../../kernels/stencils/stencil.ts";
import type { Budget } from "./options.ts";
import { describeCpu, describeGpu } from "../profile/describe.ts";
import type { ResolvedProblem } from "../problem/resolve_problem.ts";
import { type Progress, progressOnStderr } from "./progress.ts";
import { EXIT } from "./report_error.ts";
import { say } from "./terminal.ts";

/** The signals that end a run, and the exit codes that say so. Windows has Ctrl-C only. */
const SIGNALS: readonly (readonly [signal: Deno.Signal, exitCode: number])[] = Deno.build.os === "windows"
  ? [["SIGINT", EXIT.interrupted]]
  : [["SIGINT", EXIT.interrupted], ["SIGTERM", EXIT.terminated]];

/** Signals within this time count as one: the terminal sends Ctrl-C to all of its processes, and a task passes it on. */
const ONE_MS = 1000;

/**
 * Progress on stderr, Ctrl-C and SIGTERM, for commands that run for a while. The first signal aborts `signal`, and the
 * results so far are kept; one that comes later than a second after it ends the process.
 */
export class AttendedRun implements Disposable {
  readonly progress: Progress;
  /** The exit code of a run that was interrupted. */
  exitCode: number = EXIT.interrupted;
  readonly #stop = new AbortController();
  readonly #handlers = SIGNALS.map(([signal, exitCode]) =>
    [signal, () => this.#interrupt(exitCode)] as const
  );
  #interruptedMs = Infinity;

  /**
   * @param options `quiet`: shows nothing; `budget`: what the bar fills up with, instead of what each stage has done;
   * `isRank`: SIGTERM is how mpirun ends the others when a rank has died, which that rank's line says
   */
  constructor(
    private readonly options: {
      readonly quiet: boolean;
      readonly budget?: Budget | undefined;
      readonly isRank?: boolean;
    },
  ) {
    this.progress = progressOnStderr(options);
    for (const [signal, handler] of this.#handlers) Deno.addSignalListener(signal, handler);
  }

  /** Aborted by Ctrl-C or SIGTERM. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Says what is computed, and on which devices, above the progress of it. */
  announce({ problem, device: { gpu, cpu }, cpuWorkers }: ResolvedProblem): void {
    if (this.options.quiet) return;
    const devices = [gpu && describeGpu(gpu), cpuWorkers > 0 && describeCpu(cpu)].filter(Boolean);
    this.progress.clear();
    say(`${problem.stencil.title}, grid ${describeGrid(problem)}, on ${devices.join(" and ")}`);
  }

  #interrupt(exitCode: number): void {
    if (!this.signal.aborted) {
      this.#interruptedMs = performance.now();
      this.exitCode = exitCode;
      this.#stop.abort();
      this.progress.clear();
      const isSaid = this.options.isRank && exitCode === EXIT.terminated;
      if (!this.options.quiet && !isSaid) {
        say("facet: stopping after what is under way; once more stops at once");
      }
    } else if (performance.now() - this.#interruptedMs > ONE_MS) {
      Deno.exit(exitCode);
    }
  }

  [Symbol.dispose](): void {
    this.progress[Symbol.dispose]();
    for (const [signal, handler] of this.#handlers) Deno.removeSignalListener(signal, handler);
  }
}
