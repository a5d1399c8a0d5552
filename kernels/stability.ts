/**
 * The largest stable time step of a linear update, from its symbol: what one step makes of a plane wave (von Neumann).
 *
 * @module
 */
import { type Algebra, eachOperation, fold, type Tap } from "./expression.ts";
import { FUNCTIONS } from "./functions.ts";
import { axesOf, type Stencil } from "./stencils/stencil.ts";
import { type Material, readsPrevious, type Update } from "./update.ts";

/** A number beside what a wave of each field, now and one step ago, is multiplied by: real and imaginary parts by turns. */
interface Affine {
  /** NaN where it changes with time. */
  readonly base: number;
  readonly waves?: Float64Array | undefined;
}

/** Phases along an axis, from one cell to the next, of waves that are tried: this many from 0 to π, and a long wave. */
const PHASES = [32, 12, 6] as const, LONG = 0.05;

/** Steps after which a wave has grown, and how far it may have: two time levels grow by as much a step where a wave rests. */
const STEPS = 2 ** 20, GROWN = 100 * STEPS;

/** What a step changes of a wave where shorter ones are not tried. */
const LITTLE = 1e-3;

/** Materials tried at both ends of their ranges. */
const MOST_MATERIALS = 8;

/**
 * The largest time step for which no plane wave grows: in a medium without bounds, of which each material is everywhere at
 * one end of its range. It finds the same limit for waves of two time levels, staggered pairs and several sub-steps.
 *
 * Waves are tried whose phases from cell to cell are multiples of π/32 in one dimension, π/12 in two, π/6 in three. Where
 * materials differ from cell to cell, a scheme that is no sum of differences may need less.
 *
 * @param of the equation of a time step, as `(dt) => equation({ … })`; the step and what it returns share a unit of time
 * @returns the step; Infinity where any is stable
 * @throws {RangeError} for an update in which fields are multiplied with each other or with the signal, and where every step
 * grows: the message names what is wrong
 *
 * @example
 * ```ts
 * import { equation } from "./equation.ts";
 * import { add, multiply } from "./operations.ts";
 * import { laplacian } from "./operators.ts";
 * import { stableTimeStep } from "./stability.ts";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const heat = (dt: number) =>
 *   equation({
 *     name: "heat",
 *     fields: { u: [0, 1] },
 *     materials: { alpha: [1, 4] },
 *     step: ({ u, alpha }) => ({ u: add(u, multiply(dt, alpha, laplacian(u, { spacing: 0.5 }))) }),
 *   });
 * assertAlmostEquals(stableTimeStep(heat), 0.5 ** 2 / (6 * 4), 1e-8);
 * ```
 */
export function stableTimeStep(of: (dt: number) => Stencil): number {
  /** The waves in the media that are tried, each when it is asked for. */
  const casesOf = (dt: number): (() => Float64Array[])[] => {
    const stencil = of(dt), waves = wavesOf(stencil);
    return mediaOf(stencil).flatMap((medium) =>
      waves.map((phases) => () => symbolOf(stencil, phases, medium))
    );
  };
  const grownAt = (dt: number): number => casesOf(dt).findIndex((symbol) => !isBounded(symbol()));
  let stable = 0, high = 1, grown = grownAt(high);
  for (; grown < 0; grown = grownAt(high *= 2)) if ((stable = high) > 1e12) return Infinity;
  // the step that the wave which has grown allows, until no other grows at that step
  for (; grown >= 0; grown = grownAt(high)) {
    const symbolAt = (dt: number): Float64Array[] => casesOf(dt)[grown]!();
    let low = stable;
    for (let shorter = high / 2; low === 0; shorter /= 2) {
      if (isBounded(symbolAt(shorter))) low = shorter;
      else {
        high = shorter;
        const half = symbolAt(shorter / 2).map((row) => [...row]);
        const changed = symbolAt(shorter).some((row, i) =>
          row.some((part, k) => Math.abs(part - half[i]![k]!) > LITTLE)
        );
        if (!changed) throw refused(of(1), "a step, however short, that no wave outgrows is wanted", "none");
      }
    }
    while (high - low > 1e-9 * low) {
      const middle = (low + high) / 2;
      if (isBounded(symbolAt(middle))) low = middle;
      else high = middle;
    }
    high = low;
  }
  return high;
}

function refused({ name }: Stencil, wanted: string, found: string): RangeError {
  return new RangeError(`Cannot find a stable time step of ${name}: ${wanted}: found ${found}`);
}

/** What one step makes of the fields of a wave, and of those one step ago: a row for each, of complex numbers. */
export function symbolOf(
  stencil: Stencil,
  phases: readonly number[],
  medium: readonly number[],
): Float64Array[] {
  const { update } = stencil, count = update.fields.length, size = readsPrevious(update) ? 2 * count : count;
  const now = Array.from({ length: count }, (_, field) => unit(field, size));
  const made = now.slice();
  const nonlinear = (found: string): RangeError =>
    refused(stencil, "an update that is linear in its fields is wanted", found);
  const linear = (factor: Affine, by: Affine): Affine => {
    if (factor.waves && by.waves) throw nonlinear("a product of two");
    if (factor.waves && Number.isNaN(by.base)) throw nonlinear("a product with the signal");
    return by.waves
      ? linear(by, factor)
      : { base: factor.base * by.base, waves: factor.waves?.map((part) => part * by.base) };
  };
  const sum = (term: Affine, other: Affine): Affine => {
    const waves = term.waves?.map((part, i) => part + (other.waves?.[i] ?? 0)) ?? other.waves;
    return { base: term.base + other.base, waves };
  };
  const rounded = (base: number): Affine => ({ base });
  const algebra: Algebra<Affine> = {
    ...eachOperation<Affine>((kind, operate) => (...operands) => {
      if (operands.every(({ waves }) => waves === undefined)) {
        return rounded(operate(...operands.map(({ base }) => base)));
      }
      throw nonlinear(kind);
    }),
    add: sum,
    subtract: (term, other) => sum(term, linear(other, { base: -1 })),
    multiply: linear,
    divide: (dividend, by) => linear(by.waves ? by : dividend, by.waves ? by : { base: 1 / by.base }),
    choose: (condition, then, otherwise) => {
      if (condition.waves || Number.isNaN(condition.base)) throw nonlinear("a choice by a field");
      return condition.base !== 0 ? then : otherwise;
    },
    formula: (name, operands) => {
      if (operands.some(({ waves }) => waves)) throw nonlinear(name);
      return rounded(FUNCTIONS[name as keyof typeof FUNCTIONS](...operands.map(({ base }) => base)));
    },
    constant: rounded,
    signal: () => rounded(NaN),
    profile: ({ profile }) => rounded(medium[update.materials.length + profile]!),
    tap: ({ plane, ago, offset }: Tap) => {
      if (plane >= count) return rounded(medium[plane - count]!);
      const phase = offset.reduce((all, cells, axis) => all + cells * phases[axis]!, 0);
      return {
        base: 0,
        waves: turned(ago === 0 ? now[plane]! : ago === 1 ? unit(count + plane, size) : made[plane]!, phase),
      };
    },
  };
  for (const substep of update.substeps) {
    const values = substep.map(({ value }) => fold(value, algebra).waves ?? new Float64Array(2 * size));
    substep.forEach(({ field }, i) => made[field] = values[i]!);
  }
  return size === count ? made : [...made, ...now];
}

function unit(index: number, size: number): Float64Array {
  return new Float64Array(2 * size).fill(1, 2 * index, 2 * index + 1);
}

/** Complex numbers times e^(i·phase). */
function turned(of: Float64Array, phase: number): Float64Array {
  const cos = Math.cos(phase), sin = Math.sin(phase);
  return of.map((part, i) => i % 2 === 0 ? part * cos - of[i + 1]! * sin : part * cos + of[i - 1]! * sin);
}

/** Whether powers of a matrix stay small: that of a number, or the last of those that squaring finds. */
function isBounded(symbol: readonly Float64Array[]): boolean {
  if (symbol.length === 1) return Math.hypot(...symbol[0]!) <= 1 + 1e-12;
  let rows = symbol, found = 0;
  for (let power = 1;; power *= 2) {
    let most = 0;
    for (const row of rows) for (const part of row) if (!(Math.abs(part) <= most)) most = Math.abs(part);
    if (!(most > 0)) return most === 0;
    found += Math.log(most) * STEPS / power;
    if (power === STEPS) return found <= Math.log(GROWN);
    const scaled = rows.map((row) => row.map((part) => part / most));
    rows = scaled.map((row) => {
      const square = new Float64Array(row.length);
      for (let k = 0; k < scaled.length; k++) {
        const re = row[2 * k]!, im = row[2 * k + 1]!, other = scaled[k]!;
        for (let j = 0; j < row.length; j += 2) {
          square[j]! += re * other[j]! - im * other[j + 1]!;
          square[j + 1]! += re * other[j + 1]! + im * other[j]!;
        }
      }
      return square;
    });
  }
}

/** The phases along a plan's axes of the waves that are tried; those of a wave and of the same one backwards once. */
function wavesOf(stencil: Stencil): number[][] {
  const axes = axesOf(stencil), count = PHASES[axes.length - 1]!;
  const half = [LONG, ...Array.from({ length: count + 1 }, (_, i) => i * Math.PI / count)].toReversed();
  const both = [...half, ...half.map((phase) => -phase).filter((phase) => phase < 0 && phase > -Math.PI)];
  return axes.reduce<number[][]>(
    (waves, axis, i) =>
      waves.flatMap((wave) => (i === 0 ? half : both).map((phase) => wave.with(axis, phase))),
    [[0, 0, 0]],
  );
}

/** The values of materials and profiles that are tried: each at both ends of its range. */
function mediaOf(stencil: Stencil): number[][] {
  const { materials, profiles = [] }: Update = stencil.update,
    all: readonly Material[] = [...materials, ...profiles];
  if (all.length > MOST_MATERIALS) {
    throw refused(stencil, `at most ${MOST_MATERIALS} materials are wanted`, `${all.length}`);
  }
  return all.reduce<number[][]>((media, { values, packed, within }) => {
    const [lowest, highest] = packed ?? within ?? [Math.min(...values), Math.max(...values)];
    return media.flatMap((medium) =>
      (lowest === highest ? [lowest] : [lowest, highest]).map((value) => [...medium, value])
    );
  }, [[]]);
}
