import { formatCount, formatDuration, formatRate } from "../format.ts";
import type { TuneProgress } from "../tune/tune.ts";
import type { Budget } from "./options.ts";
import { terminalColumns } from "./terminal.ts";

/** How far a command has come; its stage in a word or two. */
export type ProgressState = Omit<TuneProgress, "stage"> & { readonly stage: string };

/** How progress is shown. `bar`: one line, redrawn. `lines`: a line now and then. `none`: not at all. */
export type ProgressMode = "bar" | "lines" | "none";

interface ProgressOptions {
  readonly mode: ProgressMode;
  readonly write: (text: string) => void;
  /** The clock, in nanoseconds. */
  readonly now: () => number;
  /** Columns of the terminal, asked for at every redraw. */
  readonly columns: () => number;
  /** What the run may use, and the bar fills up with. @default {undefined} each stage for itself */
  readonly budget?: Budget | undefined;
}

/** Time between two redraws: ten a second. Between two of a clock that nothing else moves. */
const REDRAW_NS = 100e6, TICK_MS = 500;

/** Time between two lines where it is no terminal. */
const LINE_NS = 8e9;

/** Characters of the bar, at most and at least. */
const WIDEST = 20, NARROWEST = 6;

/** Returns to the start of the line and clears it (ECMA-48 EL). */
const CLEAR_LINE = "\r\x1b[K";

/**
 * Shows how far a command has come, on stderr. On a terminal one line is redrawn; elsewhere (a log file, CI) a
 * line is written now and then; with `--quiet` nothing.
 */
export class Progress implements Disposable {
  /** The highest rate that was shown; undefined if none was. */
  highest: number | undefined;
  readonly #beganNs: number;
  #state: ProgressState | undefined;
  /** The first stage that counts what it does; the evaluations that a budget allows are its. */
  #counting: string | undefined;
  #shownAtNs = -Infinity;
  /** Whether the terminal shows a redrawn line. */
  #drawn = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: ProgressOptions) {
    this.#beganNs = options.now();
  }

  /** Shows the state, unless something was shown a moment ago. A new stage is always shown. */
  update(state: ProgressState): void {
    const { mode, now } = this.options;
    if (mode === "none") return;
    const isNewStage = state.stage !== this.#state?.stage;
    this.#state = state;
    if (state.total > 0) this.#counting ??= state.stage;
    this.highest = Math.max(this.highest ?? 0, state.bestCellsPerSecond ?? 0) || undefined;
    if (mode === "bar") this.#timer ??= setInterval(() => this.#drawn && this.#show(), TICK_MS);
    const waitNs = mode === "bar" ? REDRAW_NS : LINE_NS;
    if (isNewStage || now() - this.#shownAtNs >= waitNs) this.#show();
  }

  /** Takes the bar off the terminal, so that other text can be written. The next update redraws it. */
  clear(): void {
    if (!this.#drawn) return;
    this.options.write(CLEAR_LINE);
    this.#drawn = false;
    this.#shownAtNs = -Infinity;
  }

  /** Takes the bar off for good. */
  [Symbol.dispose](): void {
    this.clear();
    clearInterval(this.#timer);
  }

  #show(): void {
    const { mode, write, now, columns, budget } = this.options;
    this.#shownAtNs = now();
    const { highest } = this, elapsedNs = now() - this.#beganNs;
    const view = viewOf(this.#state!, { budget, highest, elapsedNs, counting: this.#counting });
    if (mode === "lines") return write(formatProgressLine(view) + "\n");
    write(CLEAR_LINE + formatProgressBar(view, columns()));
    this.#drawn = true;
  }
}

/** Progress on stderr. */
export function progressOnStderr(
  { quiet, budget }: { readonly quiet: boolean; readonly budget?: Budget | undefined },
): Progress {
  return new Progress({
    mode: progressMode(Deno.stderr, quiet),
    write: (text) => Deno.stderr.writeSync(new TextEncoder().encode(text)),
    now: () => performance.now() * 1e6,
    columns: terminalColumns,
    budget,
  });
}

/** How progress is shown on a stream. */
export function progressMode(stream: { isTerminal(): boolean }, quiet: boolean): ProgressMode {
  return quiet ? "none" : stream.isTerminal() ? "bar" : "lines";
}

export interface ProgressView {
  readonly stage: string;
  /** How much of the run is over, 0 to 1; undefined where unknown. */
  readonly fraction: number | undefined;
  /** The most important first. */
  readonly parts: readonly string[];
}

/** What is known of the run beside a state. */
interface RunSoFar extends Pick<ProgressOptions, "budget"> {
  readonly elapsedNs: number;
  readonly highest?: number | undefined;
  /** The first stage that counted what it does. */
  readonly counting?: string | undefined;
}

/** How a state is shown: with a budget, the whole run's part of it, otherwise the stage's part of its work. */
export function viewOf(
  state: ProgressState,
  { budget, elapsedNs, highest, counting }: RunSoFar,
): ProgressView {
  const { stage, done, total, leftNs } = state;
  const hasTotal = total > 0 && Number.isFinite(total);
  const count = hasTotal ? `${formatCount(done)}/${formatCount(total)}` : done > 0 ? formatCount(done) : "";
  let fraction = hasTotal ? done / total : undefined, used = count;
  const more: string[] = [];
  if (budget !== undefined && "timeNs" in budget) {
    const [unit, unitNs] = budget.timeNs < 600e9 ? ["s", 1e9] as const : ["min", 60e9] as const;
    fraction = elapsedNs / budget.timeNs;
    used = `${Math.floor(elapsedNs / unitNs)} of ${formatCount(budget.timeNs / unitNs)} ${unit}`;
    more.push(count);
  } else {
    // the evaluations that are allowed are those of the stage that counts first
    if (budget !== undefined && stage !== counting) fraction = counting === undefined ? 0 : 1;
    if (leftNs !== undefined && leftNs >= 0 && Number.isFinite(leftNs)) more.push(formatLeft(leftNs));
  }
  const parts = [used, formatBest(highest, state.bestCellsPerSecond), ...more].filter((part) => part !== "");
  return { stage, fraction: fraction && Math.min(Math.max(fraction, 0), 1), parts };
}

/** The highest rate so far, and what a later measurement made of it. */
function formatBest(highest: number | undefined, now: number | undefined): string {
  if (highest === undefined) return "";
  const best = formatRate(highest), corrected = formatRate(now ?? highest, { like: highest });
  return `best ${best}${corrected === best ? "" : `, corrected to ${corrected.split(" ")[0]}`}`;
}

/** Whole seconds: more would flicker. */
function formatLeft(leftNs: number): string {
  const seconds = Math.round(leftNs / 1e9);
  if (seconds === 0) return "nearly done";
  return `${seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1e9)} left`;
}

/**
 * A line that fits a terminal: `search ████░░ 24 of 60 s · best 770 Gcells/s · 12/96`. Where it is too narrow the bar
 * shrinks, then it goes, then the last parts. One of the columns stays free, so that no terminal wraps the line.
 */
export function formatProgressBar({ stage, fraction, parts }: ProgressView, columns: number): string {
  const room = Math.max(0, Math.floor(columns) - 1);
  for (let kept = parts.length; kept >= 0; kept--) {
    const text = parts.slice(0, kept).join(" · ");
    const free = room - `${stage} ${text}`.trimEnd().length;
    if (free < 0) continue;
    const width = Math.min(WIDEST, free - 1), full = Math.round((fraction ?? 0) * width);
    const bar = fraction === undefined || width < NARROWEST
      ? ""
      : "█".repeat(full) + "░".repeat(width - full);
    return [stage, bar, text].filter((part) => part !== "").join(" ");
  }
  return stage.slice(0, room);
}

/** A line of a log: `search: 24 of 60 s · best 770 Gcells/s · 12/96`. */
export function formatProgressLine({ stage, parts }: ProgressView): string {
  return parts.length === 0 ? stage : `${stage}: ${parts.join(" · ")}`;
}
