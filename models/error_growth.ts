/**
 * How errors grow from step to step, found from the update itself.
 *
 * The mean slopes of a step make a linear update with constant coefficients, which multiplies every wave by a matrix
 * G(θ) (von Neumann's analysis). Errors of different steps are independent: their variances add up to Σ_j G^j P G^j*,
 * with P those of one step. That sum doubles with the square of G, so that a million steps take twenty products. Its
 * mean over the waves of a large grid is the variance in any cell. Coefficients that differ from cell to cell are taken
 * at their mean, those that move with the solution as they are at the start, after 8 steps, and after 64. A chaotic
 * update's errors grow as fast as these mean slopes let them.
 *
 * @module
 */
import type { Stencil } from "../kernels/stencils/stencil.ts";
import { reachOf, readsPrevious, type Update } from "../kernels/update.ts";
import { type Response, responsesOf, STAGES } from "./responses.ts";

/** A complex square matrix, row by row. */
interface Matrix extends Row {
  readonly size: number;
}

interface Row {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** Multiplications that the analysis takes for a product of matrices of all its waves: some 30 ms in all. */
const WORK = 3e5;

/** Waves along an axis at most, where one, two or three axes have taps. */
const MOST_WAVES = [1, 256, 24, 8];

/**
 * The variance in any cell, of the worst field, after `steps` steps of which each makes errors of variance `made` in
 * every cell, by assignment.
 *
 * @param cells of a grid without zeros around it: its uniform mode, which no neighbour restores, counts for its share
 */
export function varianceAfter(
  stencil: Stencil,
  { steps, made, cells }: { steps: number; made: readonly number[]; cells?: number | undefined },
): number {
  const { update } = stencil, size = sizeOf(update);
  const firsts = stagesOf(stencil, steps);
  const stages = firsts.map((first, i) => ({
    responses: responsesOf(stencil, 1, first),
    steps: (firsts[i + 1] ?? steps) - first,
  }));
  const mean = new Float64Array(update.fields.length);
  const addWave = (theta: readonly number[], share: number): void => {
    let variance = zeros(size);
    for (const { responses, steps } of stages) {
      const { step, errors } = waveStep(update, responses, { theta, made, size });
      const { sum, power } = sumOver(steps, { first: errors, step, carry: carryVariance });
      variance = plus(sum, carryVariance(power, variance));
    }
    mean.forEach((_, field) => mean[field]! += share * variance.re[field * (size + 1)]!);
  };
  const waves = wavesOf(update, size);
  for (const theta of waves) addWave(theta, 1 / waves.length);
  if (cells !== undefined) addWave([0, 0, 0], 1 / cells);
  const worst = mean.reduce((most, value) => Math.max(most, value), 0);
  return Number.isNaN(worst) ? Infinity : worst;
}

/**
 * How far errors of standard deviations `made`, the same in every step, add up in the worst field of an equation that
 * settles: where nothing changes any more, every step rounds alike. It is what twice Σ_j G^j over j < n has more than
 * that over j < 2n, with the matrix of the uniform mode: 0 for a mode that keeps what it gets, or lets it grow.
 */
export function biasAfter(
  stencil: Stencil,
  { steps, made }: { steps: number; made: readonly number[] },
): number {
  const { update } = stencil, size = sizeOf(update);
  const responses = responsesOf(stencil, 1, stagesOf(stencil, steps).at(-1));
  const { step, errors } = waveStep(update, responses, { theta: [0, 0, 0], made, size });
  const start = zeros(size);
  for (let i = 0; i < size; i++) start.re[i * size] = Math.sqrt(errors.re[i * (size + 1)]!);
  const [once, twice] = [steps, 2 * steps].map((end) =>
    sumOver(end, { first: start, step, carry: product }).sum
  );
  return update.fields.reduce((most, _, field) => {
    const at = field * size, more = 2 * Math.abs(once!.re[at]!) - Math.abs(twice!.re[at]!);
    return Math.max(most, Number.isNaN(more) ? 0 : more);
  }, 0);
}

/** The steps after which slopes are found, as long as the states stay finite: of a linear update once. */
function stagesOf(stencil: Stencil, steps: number): number[] {
  const moves = responsesOf(stencil).some(({ isLinear }) => !isLinear);
  return STAGES.filter((first) =>
    first === 0 ||
    (moves && first < steps &&
      responsesOf(stencil, 1, first).every(({ variance }) => Number.isFinite(variance)))
  );
}

/** Values that a step depends on, in a cell. */
function sizeOf(update: Update): number {
  return update.fields.length * (readsPrevious(update) ? 2 : 1);
}

/** Phases of the waves of a large grid, one of each two of opposite direction: these are conjugate. */
function wavesOf(update: Update, size: number): number[][] {
  const reach = reachOf(update), axes = [reach.x, reach.y, reach.z].map((cells) => cells > 0);
  const used = axes.filter(Boolean).length;
  const affordable = Math.floor((WORK / size ** 3) ** (1 / Math.max(1, used)));
  const waves = 2 * Math.floor(Math.max(4, Math.min(MOST_WAVES[used]!, affordable)) / 2);
  const half = axes.indexOf(true);
  const phases = axes.map((isUsed, axis) =>
    isUsed
      ? Array.from({ length: axis === half ? waves / 2 : waves }, (_, i) => 2 * Math.PI * (i + 0.5) / waves)
      : [0]
  );
  return phases[0]!.flatMap((x) => phases[1]!.flatMap((y) => phases[2]!.map((z) => [x, y, z])));
}

/** What a step multiplies the wave of phase θ a cell by, and the covariance of the errors that it makes in it. */
function waveStep(
  update: Update,
  responses: readonly Response[],
  { theta, made, size }: { theta: readonly number[]; made: readonly number[]; size: number },
): { step: Matrix; errors: Matrix } {
  const fields = update.fields.length, columns = size + responses.length;
  const newRow = (): Row => ({ re: new Float64Array(columns), im: new Float64Array(columns) });
  // how each field of a level depends on the levels before the step and on the errors of its assignments
  const level = (first: number): Row[] =>
    Array.from({ length: fields }, (_, field) => {
      const row = newRow();
      if (first + field < size) row.re[first + field] = 1;
      return row;
    });
  const current = level(0), previous = level(fields), next = [...current];
  responses.forEach(({ field, taps }, index) => {
    const row = newRow();
    for (const { tap: { offset, ago, plane }, slope } of taps) {
      const from = (ago === 0 ? current : ago === 1 ? previous : next)[plane]!;
      const phase = offset.reduce((sum, cells, axis) => sum + cells * theta[axis]!, 0);
      const re = slope * Math.cos(phase), im = slope * Math.sin(phase);
      for (let i = 0; i < columns; i++) {
        row.re[i]! += re * from.re[i]! - im * from.im[i]!;
        row.im[i]! += re * from.im[i]! + im * from.re[i]!;
      }
    }
    row.re[size + index]! += Math.sqrt(made[index]!);
    next[field] = row;
  });
  const rows = [...next, ...current].slice(0, size);
  const step = zeros(size), errors = zeros(size);
  rows.forEach((row, i) => {
    step.re.set(row.re.subarray(0, size), i * size);
    step.im.set(row.im.subarray(0, size), i * size);
    rows.forEach((other, j) => {
      for (let k = size; k < columns; k++) {
        errors.re[i * size + j]! += row.re[k]! * other.re[k]! + row.im[k]! * other.im[k]!;
        errors.im[i * size + j]! += row.im[k]! * other.re[k]! - row.re[k]! * other.im[k]!;
      }
    });
  });
  return { step, errors };
}

/** G V G* */
function carryVariance(by: Matrix, of: Matrix): Matrix {
  return product(product(by, of), by, true);
}

/**
 * The sum of `steps` terms, the first and what `carry` makes of it with every power of G; and G^steps. The sum of 2k
 * terms is that of k plus what G^k makes of it, that of one more the first plus what G makes of it.
 */
function sumOver(
  steps: number,
  { first, step, carry }: { first: Matrix; step: Matrix; carry: (by: Matrix, of: Matrix) => Matrix },
): { sum: Matrix; power: Matrix } {
  let sum = first, power = step;
  for (const bit of steps.toString(2).slice(1)) {
    sum = plus(sum, carry(power, sum));
    power = product(power, power);
    if (bit === "0") continue;
    sum = plus(first, carry(step, sum));
    power = product(step, power);
  }
  return { sum, power };
}

function zeros(size: number): Matrix {
  return { size, re: new Float64Array(size * size), im: new Float64Array(size * size) };
}

function plus(a: Matrix, b: Matrix): Matrix {
  const sum = (part: "re" | "im"): Float64Array => a[part].map((value, i) => value + b[part][i]!);
  return { size: a.size, re: sum("re"), im: sum("im") };
}

/** a·b, or a·b* */
function product(a: Matrix, b: Matrix, isAdjoint = false): Matrix {
  const { size } = a, { re, im } = zeros(size), sign = isAdjoint ? -1 : 1;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      let sumRe = 0, sumIm = 0;
      for (let k = 0; k < size; k++) {
        const left = i * size + k, right = isAdjoint ? j * size + k : k * size + j;
        const bRe = b.re[right]!, bIm = sign * b.im[right]!;
        sumRe += a.re[left]! * bRe - a.im[left]! * bIm;
        sumIm += a.re[left]! * bIm + a.im[left]! * bRe;
      }
      re[i * size + j] = sumRe;
      im[i * size + j] = sumIm;
    }
  }
  return { size, re, im };
}
