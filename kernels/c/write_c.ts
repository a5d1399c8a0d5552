/**
 * An update as a C function of plain loops: the yardstick of `deno task bench`, never used to compute results.
 *
 * @module
 */
import { type Expression, fold, tapsOf } from "../expression.ts";
import type { Layout } from "../layout.ts";

/** What {@linkcode writeC} translates. */
export interface CSource {
  readonly update: Expression;
  /** Where the cells lie; its pads hold at least the update's reach, and stay zero. */
  readonly layout: Layout;
}

/**
 * Writes a C file with one function,
 *
 *     double run(float *even, float *odd, int steps)
 *
 * which advances F(t) in `even` and F(t−1) in `odd` by `steps` steps, boundary zero, one thread, and returns
 * the nanoseconds this took. After an odd number of steps the newest level lies in `odd`.
 *
 * @throws {RangeError} when the update reads a neighbour's F(t−1), which F(t+1) may have overwritten
 *
 * @example
 * ```ts
 * import { writeC } from "./write_c.ts";
 * import { layOut } from "../layout.ts";
 * import { wave } from "../stencils/wave.ts";
 * import { assert } from "@std/assert";
 *
 * assert(writeC({ update: wave(2).update, layout: layOut([4, 4, 4], { pad: [1, 1, 1] }) }).includes("double run("));
 * ```
 */
export function writeC({ update, layout }: CSource): string {
  if (tapsOf(update).some(({ ago, offset }) => ago === 1 && offset.some((cells) => cells !== 0))) {
    throw new RangeError("Cannot write the C function: F(t−1) can be read at the cell itself only");
  }
  const { grid: [nx, ny, nz], origin, slice, pitch } = layout;
  const value = fold<string>(update, {
    tap: ({ offset: [x, y, z], ago }) => ago === 1 ? "next[z]" : `now[z + (${x * slice + y * pitch + z})]`,
    constant: (value) => `${Math.fround(value).toExponential()}f`,
    add: (left, right) => `(${left} + ${right})`,
    subtract: (left, right) => `(${left} - ${right})`,
    multiply: (left, right) => `(${left} * ${right})`,
  });
  return `#include <stddef.h>
#include <time.h>

static void step(const float *restrict current, float *restrict next_level) {
  for (ptrdiff_t x = 0; x < ${nx}; x++) {
    for (ptrdiff_t y = 0; y < ${ny}; y++) {
      const float *restrict now = current + ${origin} + x * ${slice} + y * ${pitch};
      float *restrict next = next_level + ${origin} + x * ${slice} + y * ${pitch};
      for (ptrdiff_t z = 0; z < ${nz}; z++) {
        next[z] = ${value};
      }
    }
  }
}

double run(float *even, float *odd, int steps) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < steps; i++) {
    if (i % 2 == 0) step(even, odd);
    else step(odd, even);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec);
}
`;
}
