/**
 * Shows how far a command has come, on stderr. On a terminal one line is redrawn; elsewhere (a log file, CI) a
 * line is written now and then; with `--quiet` nothing.
 *
 * @module
 */
import { formatDuration, formatRate } from "../format.ts";
import type { TuneProgress } from "../tune/tune.ts";

/** How far a command has come; its stage in a word or two. */
export type ProgressState = Omit<TuneProgress, "stage"> & { readonly stage: string };

/** How progress is shown. `bar`: one line, redrawn. `lines`: a line now and then. `none`: not at all. */
export type ProgressMode = "bar" | "lines" | "none";

interface ProgressOptions {
  mode: ProgressMode;
  /** Writes text as it is. */
  write: (text: string) => void;
  /** The clock, in nanoseconds. */
  now: () => number;
  /** Columns of the terminal, asked for at every redraw. @default {() => 80} */
  columns?: () => number;
}

/** Time between two redraws: ten a second. */
const REDRAW_NS = 100e6;

/** Time between two lines where it is no terminal. */
const LINE_NS = 8e9;

/** Characters of the bar. */
const BAR_WIDTH = 20;

/** Returns to the start of the line and clears it (ECMA-48 EL). */
const CLEAR_LINE = "\r\x1b[K";

/** Progress on its way to the terminal. */
export class Progress {
  #shown: ProgressState | undefined;
  #shownAtNs = -Infinity;
  /** Whether the terminal shows a redrawn line. */
  #drawn = false;

  constructor(private readonly options: ProgressOptions) {}

  /** Shows the state, unless something was shown a moment ago. A new stage is always shown. */
  update(state: ProgressState): void {
    const { mode, write, now, columns } = this.options;
    if (mode === "none") return;
    const isNewStage = state.stage !== this.#shown?.stage;
    const waitNs = mode === "bar" ? REDRAW_NS : LINE_NS;
    if (!isNewStage && now() - this.#shownAtNs < waitNs) return;
    this.#shown = state;
    this.#shownAtNs = now();
    if (mode === "lines") {
      write(formatProgressLine(state) + "\n");
      return;
    }
    write(CLEAR_LINE + formatProgressBar(state, columns?.() ?? 80));
    this.#drawn = true;
  }

  /** Takes the bar off the terminal, so that other text can be written. The next update redraws it. */
  clear(): void {
    if (!this.#drawn) return;
    this.options.write(CLEAR_LINE);
    this.#drawn = false;
    this.#shownAtNs = -Infinity;
  }
}

/** How progress is shown on a stream. */
export function progressMode(stream: { isTerminal(): boolean }, quiet: boolean): ProgressMode {
  return quiet ? "none" : stream.isTerminal() ? "bar" : "lines";
}

/**
 * The state in one line that fits a terminal: `search ████░░ 12/96 · best 770 Gcells/s · 41 s left`. Where it is
 * too narrow, the bar goes first, then the last parts.
 * One of the terminal's columns stays free, so that no terminal wraps the line.
 */
export function formatProgressBar(state: ProgressState, columns: number): string {
  const room = Math.max(0, Math.floor(columns) - 1);
  const parts = partsOf(state);
  const fraction = fractionOf(state);
  if (fraction !== undefined) {
    const full = Math.round(fraction * BAR_WIDTH);
    const bar = "█".repeat(full) + "░".repeat(BAR_WIDTH - full);
    const line = [`${state.stage} ${bar} ${countOf(state)}`, ...parts].join(" · ");
    if (line.length <= room) return line;
  }
  for (let kept = parts.length; kept >= 0; kept--) {
    const line = [`${state.stage} ${countOf(state)}`.trimEnd(), ...parts.slice(0, kept)].join(" · ");
    if (line.length <= room) return line;
  }
  return state.stage.slice(0, room);
}

/** The state as a line of a log: `search: 12/96 · best 770 Gcells/s · 41 s left`. */
export function formatProgressLine(state: ProgressState): string {
  const parts = [countOf(state), ...partsOf(state)].filter((part) => part !== "");
  return parts.length === 0 ? state.stage : `${state.stage}: ${parts.join(" · ")}`;
}

function countOf({ done, total }: ProgressState): string {
  return total > 0 && Number.isFinite(total) ? `${done}/${total}` : done > 0 ? `${done}` : "";
}

function partsOf({ bestCellsPerSecond, leftNs }: ProgressState): string[] {
  const parts: string[] = [];
  if (bestCellsPerSecond !== undefined) parts.push(`best ${formatRate(bestCellsPerSecond)}`);
  if (leftNs !== undefined && leftNs >= 0 && Number.isFinite(leftNs)) {
    // whole seconds: more would flicker
    const seconds = Math.round(leftNs / 1e9);
    const left = seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1e9);
    parts.push(seconds === 0 ? "nearly done" : `${left} left`);
  }
  return parts;
}

function fractionOf({ done, total }: ProgressState): number | undefined {
  if (!(total > 0 && Number.isFinite(total))) return undefined;
  return Math.min(Math.max(done / total, 0), 1);
}
