/** A rate: `770 Gcells/s`, `0.290 Gcells/s`, `54.1 Mcells/s`. Three digits; `like`: a rate whose unit it takes. */
export function formatRate(
  cellsPerSecond: number,
  { like = cellsPerSecond }: { like?: number } = {},
): string {
  const [unit, size] = ([["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1]] as const)
    .find(([, size]) => !(like < 0.09995 * size)) ?? ["G", 1e9];
  return `${threeDigits(cellsPerSecond / size)} ${unit}cells/s`;
}

/** A rate with its interval, where it has one: `770 Gcells/s (95% between … and …)`. */
export function formatMeasured({ cellsPerSecond, confidence95 }: {
  readonly cellsPerSecond: number;
  readonly confidence95: readonly [low: number, high: number] | null;
}): string {
  const [low, high] = confidence95?.map((end) => formatRate(end, { like: cellsPerSecond })) ?? [];
  return formatRate(cellsPerSecond) + (confidence95 === null ? "" : ` (95% between ${low} and ${high})`);
}

/** A bandwidth: `2,995 GB/s`, `8.40 GB/s`. */
export function formatBandwidth(bytesPerSecond: number): string {
  return `${threeDigits(bytesPerSecond / 1e9)} GB/s`;
}

/** Part of a whole: `77%`, `3.1%`, `0.02%`. */
export function formatPercent(fraction: number): string {
  const percent = 100 * fraction;
  return Math.abs(percent) >= 9.95 ? `${percent.toFixed(0)}%` : `${plain(percent, 2)}%`;
}

/** How much more or less: `+16%`, `−3.8%`. */
export function formatChange(fraction: number): string {
  return `${fraction < 0 ? "−" : "+"}${formatPercent(Math.abs(fraction))}`;
}

/** Why a rate may be low: that a GPU's clock stayed below this part of its highest; undefined where it did not. */
export function describeLowClock(clock = 1): string | undefined {
  return clock >= 0.97 ? undefined : `the GPU's clock stayed at ${formatPercent(clock)} of its highest`;
}

/** A ratio: `3.1×`, `1.01×`. */
export function formatFactor(factor: number): string {
  const isNearOne = factor > 0.9 && factor < 1.095;
  return `${isNearOne ? factor.toFixed(2) : plain(factor, factor < 100 ? 2 : 3)}×`;
}

/** The same in words: `3.4 times`. */
export function formatTimes(factor: number): string {
  return `${formatFactor(factor).slice(0, -1)} times`;
}

/** A time: `850 ns`, `2.05 µs`, `11.0 ms`, `4.20 s`, `2 min 05 s`, `1 h 02 min`, `2.5 days`. */
export function formatDuration(timeNs: number): string {
  if (!Number.isFinite(timeNs)) return "unknown";
  const seconds = timeNs / 1e9;
  if (seconds >= 2 * 86_400) return `${(seconds / 86_400).toFixed(1)} days`;
  if (seconds >= 59.5) {
    const whole = Math.round(seconds);
    const pad = (value: number): string => String(value).padStart(2, "0");
    return whole < 3600
      ? `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`
      : `${Math.floor(whole / 3600)} h ${pad(Math.floor(whole / 60) % 60)} min`;
  }
  const [unit, size] = ([["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]] as const)
    .find(([, size]) => Math.abs(seconds) >= 0.9995 * size) ?? ["ns", 1e-9];
  return `${threeDigits(seconds / size)} ${unit}`;
}

/** A number far from 1, as an error of rounding: `1.9e-6`, `0`. */
export function formatSmall(value: number): string {
  return value === 0 ? "0" : value.toExponential(1);
}

/** The largest error and its bound: `exact`, or `largest error 1.9e-6, bound 1.5e-4`. */
export function formatError(
  { maxError, bound }: { readonly maxError: number; readonly bound: number },
): string {
  return maxError === 0 ? "exact" : `largest error ${formatSmall(maxError)}, bound ${formatSmall(bound)}`;
}

/** A size: `48 KiB`, `2 GiB`. */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(bytes) / 10)));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}

/** A count with separators: `12,345`. */
export function formatCount(count: number): string {
  return `${Math.round(count)}`.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Least width of a last column whose text is wrapped; a narrower one goes below its row. */
const LEAST_COLUMN = 24;

/**
 * Lays out rows in columns, without spaces at the ends of lines; a shorter row leaves its last columns empty. Where the
 * columns do not fit, the last one is wrapped, or those that do not fit go below their row; the first is never broken.
 *
 * @param options the columns to align right, from 0, the text before every line, and the longest line
 */
export function formatTable(
  rows: readonly (readonly string[])[],
  { right = [], indent = "", width = Infinity }: {
    readonly right?: readonly number[];
    readonly indent?: string;
    readonly width?: number;
  } = {},
): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from(
    { length: columns },
    (_, column) => Math.max(...rows.map((row) => lengthOf(row[column] ?? ""))),
  );
  /** Where each column begins, and where one after the last would. */
  const starts = widths.reduce((all, width) => [...all, all.at(-1)! + width + 2], [lengthOf(indent)]);
  const fitting = Math.max(1, starts.findLastIndex((start) => start - 2 <= width));
  const isWrapped = fitting === columns - 1 && width - starts[fitting]! >= LEAST_COLUMN;
  const start = isWrapped ? starts[fitting]! : lengthOf(indent) + 4;
  const pad = (cell: string, column: number): string => {
    const space = " ".repeat(widths[column]! - lengthOf(cell));
    return right.includes(column) ? space + cell : cell + space;
  };
  const lines = rows.flatMap((row) => {
    const cells = row.slice(0, fitting).map(pad);
    // columns of numbers stay aligned below their rows, too
    const others = widths.slice(fitting).map((_, i) => {
      const column = fitting + i, cell = row[column] ?? "";
      return right.includes(column) ? pad(cell, column) : cell;
    });
    const below = wrapCells(others, width - start).filter((line) => line.trim() !== "");
    const beside = isWrapped ? below.splice(0, 1) : [];
    return [indent + [...cells, ...beside].join("  "), ...below.map((line) => " ".repeat(start) + line)];
  });
  return lines.map((line) => line.trimEnd()).join("\n");
}

/** Lines of whole cells; only one that is wider than a line is broken. */
function wrapCells(cells: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const cell of cells) {
    const last = lines.at(-1);
    if (cell === "") continue;
    if (last !== undefined && lengthOf(last) + 2 + lengthOf(cell) <= width) {
      lines.push(`${lines.pop()}  ${cell}`);
    } else lines.push(...(lengthOf(cell) > width ? wrapText(cell, width) : [cell]));
  }
  return lines;
}

/** Breaks a text into lines of at most `width` characters, at spaces; a longer word stays whole. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    const isFull = last !== undefined && lengthOf(last) + 1 + lengthOf(word) > width;
    if (last !== undefined && !isFull) lines[lines.length - 1] = `${last} ${word}`;
    else if (!isFull || word !== "") lines.push(word);
  }
  return lines;
}

/** A count with its noun: `1 failure`, `1,234 failures`. */
export function formatPlural(count: number, one: string, several = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : several}`;
}

/** How often something happens: every `step`, or every `4 steps`. */
export function formatPeriod(steps: number): string {
  return steps === 1 ? "step" : formatPlural(steps, "step");
}

/** Characters, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length;
}

/** At least three digits, with separators: 0.291, 8.40, 77.0, 770, 2,995. */
function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return "unknown";
  return Math.abs(value) >= 999.5 ? formatCount(value) : plain(value, 3);
}

/** Rounded to significant digits, never with an exponent. */
function plain(value: number, digits: number): string {
  if (!Number.isFinite(value)) return "unknown";
  if (value === 0) return "0";
  const decimals = digits - 1 - Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  return value.toFixed(Math.min(Math.max(decimals, 0), 20));
}

/** A text in which nothing acts on what shows it: control and bidirectional characters are replaced, line ends and tabs not. */
export function withoutBidi(text: string): string {
  return text.replace(/(?![\n\r\t])[\p{Cc}\p{Bidi_Control}]/gu, "\ufffd");
}

/** A value that should have been another one, in a few words. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "function") return "a function";
  if (typeof value === "number") return `${value}`;
  const json = (typeof value === "bigint" ? `${value}n` : JSON.stringify(value) ?? String(value))
    .replace(/\p{Cc}/gu, "\ufffd");
  return json.length > 80 ? `${json.slice(0, 77)}…` : json;
}
