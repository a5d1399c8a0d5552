/**
 * What a step makes of its own roundings and of small errors, found from the update itself.
 *
 * **Samples.** Every expression is evaluated on states drawn from the initial range, each with its mirror image about
 * the middle. Beside its value a node carries its slopes with respect to the taps, the largest size that its terms can
 * add up to, and the variance of the roundings so far. Comparisons have no slope, and a choice has that of its branch:
 * where rounding turns a choice, results may differ by as much as the branches do, and no bound covers it. Nor does it
 * cover divisors and roots that come far closer to 0 than the samples.
 *
 * **Many steps.** The mean slopes make a linear update with constant coefficients, which multiplies every wave by a
 * matrix G(θ) (von Neumann's analysis). Errors of different steps are independent: their variances add up to
 * Σ_j G^j P G^j*, with P those of one step. That sum doubles with the square of G, so that a million steps take twenty
 * products. Its mean over the waves of a large grid is the variance in any cell. Coefficients that vary or move with the
 * solution are taken at their mean; a chaotic update grows as fast as its mean slopes let it.
 *
 * @module
 */
import { type Algebra, eachOperation, fold, type Tap } from "../kernels/expression.ts";
import { initialValue } from "../kernels/initial_field.ts";
import type { Stencil } from "../kernels/stencils/stencil.ts";
import {
  type Assignment,
  DEFAULT_RANGE,
  readsPrevious,
  remembered,
  signalAt,
  tapsOf,
  type Update,
  type ValueRange,
} from "../kernels/update.ts";

/** Roundings in units of 2⁻²⁴ of the result: WGSL allows ÷ 2.5 units in the last place, √ 4.5, the others ½. */
const QUOTIENT = 5, ROOT = 9;

/** Pairs of sampled states. */
const PAIRS = 16;

/** What states are drawn from. */
type Sampled = Pick<Stencil, "update" | "initialField">;

interface Node {
  readonly value: number;
  /** Largest |value| that the taps' largest values allow, term by term. */
  readonly size: number;
  /** Of the error that rounding has made, in units of 2⁻²⁴ squared. */
  readonly variance: number;
  /** With respect to the taps. */
  readonly slopes: Float64Array;
}

/** An operand: what a change of it changes, as the sample is and at most. */
type Operand = readonly [node: Node, slope: number, most?: number];

/** What an assignment makes of errors. */
export interface Response extends Pick<Assignment, "field"> {
  readonly taps: readonly { readonly tap: Tap; readonly slope: number }[];
  /** The largest |value| that a partial result can have. */
  readonly size: number;
  /** Variance of the rounding errors that it makes, in units of 2⁻²⁴ squared; infinite where no sample has a value. */
  readonly variance: number;
}

/**
 * How every assignment of a step responds, in order.
 *
 * @param scale the fields' values relative to the initial ones
 */
export function responsesOf(stencil: Sampled, scale = 1): Response[] {
  const { update } = stencil;
  return update.substeps.flat().map((assignment) => {
    const taps = tapsOf([assignment]).filter(({ plane }) => plane < update.fields.length);
    const nodes = Array.from(
      { length: 2 * PAIRS },
      (_, sample) => fold(assignment.value, algebraOf(stencil, { taps, sample, scale })),
    )
      .filter(({ value, variance, slopes }) => [value, variance, ...slopes].every(Number.isFinite));
    const most = (of: "size" | "variance"): number =>
      nodes.length === 0 ? Infinity : nodes.reduce((most, node) => Math.max(most, node[of]), 0);
    const meanSlope = (i: number): number =>
      nodes.reduce((sum, { slopes }) => sum + slopes[i]!, 0) / nodes.length;
    return {
      field: assignment.field,
      taps: taps.map((tap, i) => ({ tap, slope: meanSlope(i) })),
      size: most("size"),
      variance: most("variance"),
    };
  });
}

function algebraOf(
  stencil: Sampled,
  { taps, sample, scale }: { taps: readonly Tap[]; sample: number; scale: number },
): Algebra<Node> {
  const { fields, materials } = stencil.update;
  const leaf = (value: number, size = Math.abs(value)): Node => {
    return { value, size, variance: 0, slopes: new Float64Array(taps.length) };
  };
  const node = (value: number, size: number, units: number, ...operands: Operand[]): Node => {
    const made = leaf(value, size);
    let variance = (units * size) ** 2;
    for (const [operand, slope, most = slope] of operands) {
      operand.slopes.forEach((each, i) => made.slopes[i]! += slope * each);
      if (operand.variance > 0) variance += most * most * operand.variance;
    }
    return { ...made, variance };
  };
  const sum = (sign: number) => (a: Node, b: Node): Node =>
    node(a.value + sign * b.value, a.size + b.size, 1, [a, 1], [b, sign]);
  const same = (of: Node, sign = 1): Node => node(sign * of.value, of.size, 0, [of, sign]);
  return {
    ...eachOperation<Node>((_, operate) => (...operands) =>
      leaf(operate(...operands.map(({ value }) => value)), 1)
    ),
    tap({ offset, plane, ago }) {
      const material = materials[plane - fields.length];
      const share = (initialValue("noise", offset, sample >> 1, plane) + 1) / 2;
      const drawn = sample % 2 === 0 ? share : 1 - share;
      if (material !== undefined) {
        const { values } = material;
        return leaf(values[Math.floor(drawn * values.length)]!, Math.max(...values.map(Math.abs)));
      }
      const [low, high] = rangeOf(stencil, plane);
      const found = leaf(low + (high - low) * drawn, scale * Math.max(-low, high));
      found.slopes[taps.findIndex((tap) => isSameTap(tap, { offset, plane, ago }))] = 1;
      return found;
    },
    constant: (value) => leaf(value),
    signal: () => leaf(largestSignal(stencil.update)),
    add: sum(1),
    subtract: sum(-1),
    multiply: (a, b) =>
      node(a.value * b.value, a.size * b.size, 1, [a, b.value, b.size], [b, a.value, a.size]),
    divide(a, b) {
      const inverse = 1 / b.value, size = a.size * Math.abs(inverse);
      return node(a.value * inverse, size, QUOTIENT, [a, inverse], [
        b,
        -a.value * inverse ** 2,
        size * inverse,
      ]);
    },
    squareRoot(of) {
      const root = Math.sqrt(of.value);
      return node(root, Math.sqrt(of.size), ROOT, [of, 0.5 / root]);
    },
    absolute: (of) => same(of, of.value < 0 ? -1 : 1),
    minimum: (a, b) => same(b.value < a.value ? b : a),
    maximum: (a, b) => same(a.value < b.value ? b : a),
    choose: (condition, then, otherwise) => same(condition.value !== 0 ? then : otherwise),
  };
}

/** What the initial values of a field lie between. */
export function rangeOf({ update, initialField = "noise" }: Sampled, field: number): ValueRange {
  if (initialField === "noise") return update.ranges?.[field] ?? DEFAULT_RANGE;
  return initialField === "binary" ? [0, 1] : [-4, 3];
}

/** The largest |signal| of the first steps. */
const largestSignal = remembered((update: Update): number =>
  Array.from({ length: 256 }, (_, step) => Math.abs(signalAt(update, step))).reduce((a, b) => Math.max(a, b))
);

function isSameTap(a: Pick<Tap, "offset" | "plane" | "ago">, b: typeof a): boolean {
  return a.plane === b.plane && a.ago === b.ago && a.offset.every((cells, axis) => cells === b.offset[axis]);
}

/** A complex square matrix, row by row. */
interface Matrix {
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
 * @param cells of a periodic or insulated grid: its uniform mode, which no neighbour restores, counts for its share
 */
export const varianceAfter: (
  update: Update,
  responses: readonly Response[],
  options: { readonly steps: number; readonly made: readonly number[]; readonly cells?: number | undefined },
) => number = (update, responses, { steps, made, cells }) => {
  const fields = update.fields.length, size = fields * (readsPrevious(update) ? 2 : 1);
  const taps = responses.flatMap((response) => response.taps.map(({ tap }) => tap));
  const axes = [0, 1, 2].map((axis) => taps.some(({ offset }) => offset[axis] !== 0));
  const used = axes.filter(Boolean).length;
  const affordable = Math.floor((WORK / size ** 3) ** (1 / Math.max(1, used)));
  const waves = 2 * Math.floor(Math.max(4, Math.min(MOST_WAVES[used]!, affordable)) / 2);
  const phases = axes.map((isUsed) =>
    isUsed ? Array.from({ length: waves }, (_, i) => 2 * Math.PI * (i + 0.5) / waves) : [0]
  );
  // the waves of opposite direction are conjugate
  const half = axes.indexOf(true);
  if (half >= 0) phases[half] = phases[half]!.slice(0, waves / 2);
  const mean = new Float64Array(fields);
  const count = phases.reduce((product, { length }) => product * length, 1);
  const addWave = (theta: readonly number[], share: number): void => {
    const { step, errors } = waveStep(update, responses, { theta, made, size });
    const variance = sumOfPowers(step, errors, size, steps);
    mean.forEach((_, field) => mean[field]! += share * variance.re[field * (size + 1)]!);
  };
  for (const x of phases[0]!) {
    for (const y of phases[1]!) {
      for (const z of phases[2]!) addWave([x, y, z], 1 / count);
    }
  }
  if (cells !== undefined) addWave([0, 0, 0], 1 / cells);
  const worst = mean.reduce((most, value) => Math.max(most, value), 0);
  return Number.isNaN(worst) ? Infinity : worst;
};

/** What a step multiplies the wave of phase θ a cell by, and the covariance of the errors that it makes in it. */
function waveStep(
  update: Update,
  responses: readonly Response[],
  { theta, made, size }: { theta: readonly number[]; made: readonly number[]; size: number },
): { step: Matrix; errors: Matrix } {
  const fields = update.fields.length, columns = size + responses.length;
  // how each field of a level depends on the levels before the step and on the errors of its assignments
  const level = (first: number): Matrix[] =>
    Array.from({ length: fields }, (_, field) => {
      const row = { re: new Float64Array(columns), im: new Float64Array(columns) };
      if (first + field < size) row.re[first + field] = 1;
      return row;
    });
  const current = level(0), previous = level(fields), next = [...current];
  responses.forEach(({ field, taps }, index) => {
    const row = { re: new Float64Array(columns), im: new Float64Array(columns) };
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

/** Σ_j G^j P G^j* over j < n: of 2k terms that of k plus G^k (that of k) G^k*; of one more P + G (that of k) G*. */
function sumOfPowers(step: Matrix, errors: Matrix, size: number, terms: number): Matrix {
  let sum = errors, power = step;
  for (const bit of terms.toString(2).slice(1)) {
    sum = plus(sum, product(product(power, sum, size), power, size, true));
    power = product(power, power, size);
    if (bit === "0") continue;
    sum = plus(errors, product(product(step, sum, size), step, size, true));
    power = product(step, power, size);
  }
  return sum;
}

function zeros(size: number): Matrix {
  return { re: new Float64Array(size * size), im: new Float64Array(size * size) };
}

function plus(a: Matrix, b: Matrix): Matrix {
  return { re: a.re.map((value, i) => value + b.re[i]!), im: a.im.map((value, i) => value + b.im[i]!) };
}

/** a·b, or a·b* */
function product(a: Matrix, b: Matrix, size: number, isAdjoint = false): Matrix {
  const { re, im } = zeros(size), sign = isAdjoint ? -1 : 1;
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
  return { re, im };
}
