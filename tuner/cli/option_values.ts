/**
 * Values of options: read from text, and refused where they are wrong.
 *
 * @module
 */
import { cellsOf, type Grid } from "../../kernels/stencils/stencil.ts";
import { UserError } from "./user_error.ts";

/**
 * Cells that a time level can have at most: shaders index them with i32. It is 8 GiB; what the device's own
 * buffers hold is checked once it is known.
 */
const MAX_CELLS = 2 ** 31 - 1;

/** When the search ends. */
export type Budget = { readonly timeNs: number } | { readonly evaluations: number };

/** Cells along x, y, z; of an equation in one dimension also their number alone. */
export function readGrid(text: string, dimensions: 1 | 3 = 3): Grid {
  const isLine = dimensions === 1;
  const match = /^(\d+)x(\d+)x(\d+)$/i.exec(isLine && /^\d+$/.test(text) ? `1x1x${text}` : text);
  const cells = match?.slice(1).map(Number) as [number, number, number] | undefined;
  if (isLine && (cells === undefined || cells[0] !== 1 || cells[1] !== 1 || cells[2] < 1)) {
    throw wrong("grid", "a whole number >= 1 of points, as 65536", text);
  }
  if (cells === undefined || cells.some((n) => n < 1)) {
    throw wrong("grid", "XxYxZ with whole numbers >= 1, as 384x256x256", text);
  }
  if (!(cellsOf(cells) <= MAX_CELLS)) {
    const count = cellsOf(cells).toPrecision(3);
    throw wrong("grid", `at most ${MAX_CELLS} cells, what a buffer can hold`, `${text}, ${count} cells`);
  }
  return cells;
}

/** A time or a number of evaluations. */
export function readBudget(text: string): Budget {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  const unitNs = { ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };
  const value = Number(match?.[1]);
  const unit = match?.[2] as keyof typeof unitNs | undefined;
  const isRight = unit === undefined ? Number.isSafeInteger(value) : value * unitNs[unit] <= 1e18;
  if (match === null || !(value > 0) || !isRight) {
    throw wrong("budget", "a time as 60s or 2m, or a number of evaluations as 500", text);
  }
  return unit === undefined ? { evaluations: value } : { timeNs: value * unitNs[unit] };
}

/** What a number has to be. */
export interface NumberRule {
  readonly wanted: string;
  readonly isRight: (value: number) => boolean;
}

/** A decimal number; no hexadecimal, no exponent that hides a slip, no empty text. */
export function readNumber(option: string, text: string, { wanted, isRight }: NumberRule): number {
  const value = /^-?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : NaN;
  if (!(Number.isFinite(value) && isRight(value))) throw wrong(option, wanted, text);
  return value;
}

/** One of some names. */
export function oneOf<T extends string>(option: string, text: string, names: readonly T[]): T {
  const found = names.find((name) => name === text);
  if (found === undefined) {
    throw wrong(option, names.length === 1 ? names[0] : `one of ${names.join(", ")}`, text);
  }
  return found;
}

/** Reads a value, if there is one. */
export function ifGiven<T>(text: string | undefined, read: (text: string) => T): T | undefined {
  return text === undefined ? undefined : read(text);
}

/** The error of a value that is not what its option takes. */
export function wrong(option: string, wanted: string, found: string): UserError {
  const shown = found.length > 60 ? `${found.slice(0, 57)}…` : found;
  return new UserError(`Cannot use --${option}: wanted ${wanted}: found ${JSON.stringify(shown)}`);
}
