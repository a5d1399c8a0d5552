/**
 * An update as a C program of plain loops: the yardstick of `deno task bench`, never used to compute results.
 *
 * @module
 */
import type { FloatArray } from "../kernels/precision.ts";
import { foldShared } from "../kernels/expression.ts";
import { HASH, noiseIn } from "../kernels/initial_field.ts";
import { indexOf, type Layout } from "../kernels/layout.ts";
import { DEFAULT_RANGE, onlyExpression, readsSignal, tapsOf, type Update } from "../kernels/update.ts";

/** What {@linkcode writeC} translates. */
export interface CSource {
  readonly update: Update;
  /** Where the cells lie; its pads hold at least the update's reach, and stay zero. */
  readonly layout: Layout;
}

/** Whether {@linkcode writeC} can translate an update. */
export function isPlainLoop(update: Update): boolean {
  const { materials, profiles } = update, isPlain = materials.length === 0 && profiles === undefined;
  return onlyExpression(update) !== undefined && isPlain && !readsSignal(update);
}

/**
 * Writes a C program, boundary zero; compiled with OpenMP, its threads share the slices. It starts from the `noise` field
 * of seed 0, reads numbers of steps from its input, one a line, runs each and prints one line: nanoseconds; for 0 steps
 * the bits of the newest level's own cells folded into one number as {@linkcode hashBits} does.
 *
 * @throws {RangeError} when the update reads a neighbour's F(t−1), which F(t+1) may have overwritten, or has several
 *   fields, materials or a signal
 *
 * @example
 * ```ts
 * import { writeC } from "./write_c.ts";
 * import { layOut } from "../kernels/layout.ts";
 * import { wave } from "../kernels/stencils/wave.ts";
 * import { assert } from "@std/assert";
 *
 * const layout = layOut([4, 4, 4], { pad: [1, 1, 1] });
 * assert(writeC({ update: wave(2).update, layout }).includes("int main("));
 * ```
 */
export function writeC({ update, layout }: CSource): string {
  if (!isPlainLoop(update)) {
    throw new RangeError("Cannot write the C program: the update has several fields, materials or a signal");
  }
  if (tapsOf(update).some(({ ago, offset }) => ago === 1 && offset.some((cells) => cells !== 0))) {
    throw new RangeError("Cannot write the C program: F(t−1) can be read at the cell itself only");
  }
  const { grid: [nx, ny, nz], pad: [padX], origin, slice, pitch, length } = layout;
  const lines: string[] = [];
  const keep = (text: string): string => {
    lines.push(`const float e${lines.length} = ${text};`);
    return `e${lines.length - 1}`;
  };
  const [value] = foldShared<string>([onlyExpression(update)!], {
    tap: ({ offset: [x, y, z], ago }) => ago === 1 ? "next[z]" : `now[z + (${x * slice + y * pitch + z})]`,
    constant: (value) => `${Math.fround(value).toExponential()}f`,
    add: (left, right) => `(${left} + ${right})`,
    subtract: (left, right) => `(${left} - ${right})`,
    multiply: (left, right) => `(${left} * ${right})`,
    divide: (left, right) => `(${left} / ${right})`,
    minimum: (left, right) => `minimum(${left}, ${right})`,
    maximum: (left, right) => `maximum(${left}, ${right})`,
    atLeast: (left, right) => `(${left} >= ${right} ? 1.0f : 0.0f)`,
    greater: (left, right) => `(${left} > ${right} ? 1.0f : 0.0f)`,
    absolute: (of) => `fabsf(${of})`,
    squareRoot: (of) => `sqrtf(${of})`,
    floor: (of) => `floorf(${of})`,
    powerOfTwo: (of) => `power_of_two(${of})`,
    exponentOf: (of) => `exponent_of(${of})`,
    choose: (condition, then, otherwise) => `(${condition} != 0.0f ? ${then} : ${otherwise})`,
    signal: () => "0.0f",
  }, keep);
  const { least, count, unit } = noiseIn(update.ranges?.[0] ?? DEFAULT_RANGE);
  const row = `${origin} + x * ${slice} + y * ${pitch}`;
  return `#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline float minimum(float a, float b) { return b < a ? b : a; }
static inline float maximum(float a, float b) { return a < b ? b : a; }
static inline float power_of_two(float of) { return of < -126.0f ? 0.0f : ldexpf(1.0f, (int)of); }
static inline float exponent_of(float of) {
  uint32_t bits;
  memcpy(&bits, &of, 4);
  return (float)((int32_t)(bits >> 23 & 255) - 127);
}

static void step(const float *restrict current, float *restrict next_level) {
#pragma omp parallel for schedule(static)
  for (ptrdiff_t x = 0; x < ${nx}; x++) {
    for (ptrdiff_t y = 0; y < ${ny}; y++) {
      const float *restrict now = current + ${row};
      float *restrict next = next_level + ${row};
      for (ptrdiff_t z = 0; z < ${nz}; z++) {
        ${lines.join("\n        ")}
        next[z] = ${value};
      }
    }
  }
}

static float initial(uint32_t x, uint32_t y, uint32_t z) {
  uint32_t h = x * ${HASH.x}u + y * ${HASH.y}u + z * ${HASH.z}u;
  h = (h ^ (h >> 16)) * ${HASH.first}u;
  h = (h ^ (h >> 13)) * ${HASH.second}u;
  h ^= h >> 16;
  return (float)((int32_t)((h >> 8) % ${count}u) + ${least}) * ${unit.toExponential()}f;
}

static uint32_t hash_bits(const float *level) {
  uint32_t hash = 0;
  for (ptrdiff_t x = 0; x < ${nx}; x++)
    for (ptrdiff_t y = 0; y < ${ny}; y++)
      for (ptrdiff_t z = 0; z < ${nz}; z++) {
        uint32_t bits;
        memcpy(&bits, &level[${row} + z], 4);
        hash = hash * 31 + bits;
      }
  return hash;
}

int main(void) {
  float *current, *next;
  void *arrays[2];
  for (int i = 0; i < 2; i++) {
    // as in the workers' memory, a cell's places in both arrays differ modulo 4096
    char *memory = aligned_alloc(4096, (${4 * length} + 8191) / 4096 * 4096 + 4096);
    if (memory == NULL) return 1;
    arrays[i] = memory + i * 2112;
  }
  current = arrays[0], next = arrays[1];
  // each thread touches the slices first that it will compute
#pragma omp parallel for schedule(static)
  for (ptrdiff_t x = 0; x < ${nx + 2 * padX}; x++) {
    size_t first = (size_t)x * ${slice}, count = x == ${nx + 2 * padX - 1} ? ${length} - first : ${slice};
    memset(current + first, 0, 4 * count);
    memset(next + first, 0, 4 * count);
  }
#pragma omp parallel for schedule(static)
  for (ptrdiff_t x = 0; x < ${nx}; x++)
    for (ptrdiff_t y = 0; y < ${ny}; y++)
      for (ptrdiff_t z = 0; z < ${nz}; z++)
        current[${row} + z] = next[${row} + z] = initial(x, y, z);
  for (int steps; scanf("%d", &steps) == 1;) {
    if (steps == 0) {
      printf("%u\\n", hash_bits(current));
      fflush(stdout);
      continue;
    }
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < steps; i++) {
      step(current, next);
      float *newest = next;
      next = current;
      current = newest;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.0f\\n", (end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec));
    fflush(stdout);
  }
  return 0;
}
`;
}

/** The bits of a level's own cells, without the pads, as one 32-bit number: hash·31 + bits, cell by cell. */
export function hashBits(level: FloatArray, layout: Layout): number {
  const [nx, ny, nz] = layout.grid;
  const bits = new Uint32Array(level.buffer, level.byteOffset, level.length);
  let hash = 0;
  for (let x = 0; x < nx; x++) {
    for (let y = 0; y < ny; y++) {
      const row = indexOf(layout, [x, y, 0]);
      for (let z = 0; z < nz; z++) hash = (Math.imul(hash, 31) + bits[row + z]!) | 0;
    }
  }
  return hash >>> 0;
}
