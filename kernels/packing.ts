/**
 * Packed materials: 16 bits a value, two neighbours along z in a word. A value is a whole number of **units**, a power of
 * two; of few enough that unpacking rounds nowhere in f32. Values are rounded to these where they are defined or written,
 * so that whoever reads the cells as they are computes with the same ones.
 *
 * @module
 */
import { remembered } from "./remembered.ts";
import type { ValueRange } from "./update.ts";

/** What 16 bits stand for: `least` + 0, 1, … units, up to `most`. */
export interface Packing extends Readonly<Record<"unit" | "least" | "most", number>> {
  /** The nearest of the values; undefined beyond the range. */
  nearest(value: number): number | undefined;
}

/** Of zeros beyond the grid, where 0 is not in the range: no value has this number. */
export const BEYOND = 2 ** 16 - 1;

/** The most units of a value: unpacking adds 2²³ to it, and f32 holds that sum, too. */
const MOST_UNITS = 2 ** 22;

/** How values from the least to the largest are packed. */
export const packingOf: (range: ValueRange) => Packing = remembered((range: ValueRange) => {
  const [lowest, highest] = range.map(Math.fround) as [number, number];
  const powerAbove = (value: number): number => 2 ** Math.ceil(Math.log2(value));
  const steps = (highest - lowest) / (BEYOND - 1), widest = Math.max(-lowest, highest);
  const unit = Math.max(2 ** -126, powerAbove(steps), powerAbove(widest / MOST_UNITS));
  const least = Math.ceil(lowest / unit), most = Math.floor(highest / unit);
  return {
    unit,
    least,
    most,
    nearest(value) {
      const exact = Math.fround(value), units = Math.min(most, Math.max(least, Math.round(exact / unit)));
      return exact >= lowest && exact <= highest ? units * unit + 0 : undefined;
    },
  };
});
