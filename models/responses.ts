/**
 * How a step responds to errors: what rounding adds, and the slopes by which a change of any tap changes the result.
 *
 * Every expression is evaluated on two small periodic states, drawn from the initial ranges and each other's mirror
 * image about their middle; what depends on the state is also found after some steps. Beside its value a node carries
 * its slopes with respect to the taps, the largest size that its terms can add up to, and the variance of the roundings
 * so far. Comparisons have no slope, and a choice has that of its branch: where rounding turns a choice, results may
 * differ by as much as the branches do, and no bound covers it. Nor does it cover divisors and roots that come far
 * closer to 0 than they do in the samples.
 *
 * @module
 */
import { precisionOf } from "../kernels/precision.ts";
import {
  type Algebra,
  eachOperation,
  type Expression,
  fold,
  type Tap,
  tapKey,
  TREE,
  uniform,
} from "../kernels/expression.ts";
import { type FunctionName, FUNCTIONS } from "../kernels/functions.ts";
import { withoutProfiles } from "../kernels/axis_profiles.ts";
import { amplitudeOf, hashCell, rangeOf } from "../kernels/initial_field.ts";
import { runReference } from "../kernels/reference.ts";
import type { Stencil } from "../kernels/stencils/stencil.ts";
import { remembered } from "../kernels/remembered.ts";
import {
  type Assignment,
  expressionsOf,
  planesOf,
  signalAt,
  tapsOf,
  type Update,
  withValues,
} from "../kernels/update.ts";

/** Cells of a state: a line that closes, on which the next cell along x, y or z lies this stride further. */
const CELLS = 32, STRIDES = [11, 5, 1] as const;

/** Steps after which what depends on the state is found. */
export const STAGES = [0, 8, 64] as const;

/** Roundings in units u, 2⁻²⁴ in f32, of the result: ÷ has 2.5 units in the last place, √ 4.5, functions 4, the others ½. */
const QUOTIENT = 5, ROOT = 9, FUNCTION = 8;

interface Node {
  readonly value: number;
  /** Largest |value| that the taps' largest values allow, term by term. */
  readonly size: number;
  /** The variance of its rounding error, in units of u². */
  readonly variance: number;
  /** With respect to the taps. */
  readonly slopes: Float64Array;
}

/** An operand: what a change of it changes, as the sample is and at most. */
type Operand = readonly [node: Node, slope: number, most?: number];

/** What an assignment makes of errors. */
export interface Response extends Pick<Assignment, "field"> {
  readonly taps: readonly { readonly tap: Tap; readonly slope: number }[];
  /** Whether no slope depends on the fields. */
  readonly isLinear: boolean;
  /** The largest |value| that a partial result can have. */
  readonly size: number;
  /** Variance of the rounding errors that it makes, in units of u²; infinite where no sample has a value. */
  readonly variance: number;
}

/**
 * How every assignment of a step responds, in order.
 *
 * @param scale the fields' largest values relative to the initial ones
 * @param after steps that the states have made
 */
export const responsesOf: (stencil: Stencil, scale?: number, after?: number) => readonly Response[] =
  remembered(
    (given: Stencil, scale = 1, after = 0): Response[] => {
      const stencil = withMaterials(given);
      return stencil.update.substeps.flat().map((assignment) => {
        const taps = tapsOf([assignment]).filter(({ plane }) => plane < stencil.update.fields.length);
        const slots = new Map(taps.map((tap, i) => [tapKey(tap), i]));
        const all = statesAfter(stencil, after).flatMap((state) =>
          Array.from(
            { length: CELLS },
            (_, cell) => fold(assignment.value, algebraOf(stencil, { slots, state, cell, scale })),
          )
        );
        const nodes = all.filter(({ value, variance, slopes }) =>
          [value, variance, ...slopes].every(Number.isFinite)
        );
        const most = (of: "size" | "variance"): number =>
          nodes.length === 0 ? Infinity : nodes.reduce((most, node) => Math.max(most, node[of]), 0);
        const meanSlope = (i: number): number =>
          nodes.reduce((sum, { slopes }) => sum + slopes[i]!, 0) / nodes.length;
        return {
          field: assignment.field,
          // materials are the same in both states
          isLinear: all.every(({ slopes }, i) =>
            slopes.every((slope, k) => slope === all[i % CELLS]!.slopes[k])
          ),
          taps: taps.map((tap, i) => ({ tap, slope: meanSlope(i) })),
          size: most("size"),
          variance: most("variance"),
        };
      });
    },
  );

/** The stencil with materials for axis profiles: their values are scattered likewise. */
const withMaterials = remembered((stencil: Stencil): Stencil => {
  return { ...stencil, update: withoutProfiles(stencil.update) };
});

/** All planes of both states after some steps. */
const statesAfter = remembered((stencil: Stencil, steps: number): Float64Array[] => {
  const { update } = stencil, { fields, materials } = update;
  const onLine = (expression: Expression): Expression =>
    fold<Expression>(expression, { ...TREE, tap: (tap) => ({ ...tap, offset: [0, 0, cellAt(tap)] }) });
  const line = {
    ...update,
    substeps: update.substeps.map((substep) => withValues(substep, onLine)),
  };
  return [false, true].map((isMirrored) => {
    const start = Float64Array.from({ length: planesOf(update) * CELLS }, (_, i) => {
      const plane = Math.floor(i / CELLS), hash = hashCell([0, plane, i % CELLS], 1);
      const values = materials[plane - fields.length]?.values;
      if (values !== undefined) return values[hash % values.length]!;
      const [low, high] = rangeOf(stencil, plane), drawn = hash / 2 ** 32;
      return low + (high - low) * (isMirrored ? 1 - drawn : drawn);
    });
    const run = { update: line, grid: [1, 1, CELLS], boundary: "periodic", steps } as const;
    return runReference({ current: start, previous: start }, run).current;
  });
});

/** How many cells further on the line a tap lies. */
function cellAt({ offset }: Tap): number {
  return offset.reduce((sum, cells, axis) => sum + cells * STRIDES[axis]!, 0);
}

function algebraOf(
  stencil: Stencil,
  { slots, state, cell, scale }: {
    slots: ReadonlyMap<string, number>;
    state: Float64Array;
    cell: number;
    scale: number;
  },
): Algebra<Node> {
  const { fields, materials } = stencil.update,
    largestExact = areWhole(stencil) ? 1 / precisionOf(stencil.update).unit : -1;
  const leaf = (value: number, size = Math.abs(value)): Node => {
    return { value, size, variance: 0, slopes: new Float64Array(slots.size) };
  };
  const node = (value: number, size: number, units: number, ...operands: Operand[]): Node => {
    const made = leaf(value, size);
    let variance = size <= largestExact ? 0 : (units * size) ** 2;
    for (const [operand, slope, most = slope] of operands) {
      for (let i = 0; i < slots.size; i++) made.slopes[i]! += slope * operand.slopes[i]!;
      if (operand.variance > 0) variance += most * most * operand.variance;
    }
    return { ...made, variance };
  };
  const sum = (sign: number) => (a: Node, b: Node): Node =>
    node(a.value + sign * b.value, a.size + b.size, 1, [a, 1], [b, sign]);
  const same = (of: Node, sign = 1): Node => node(sign * of.value, of.size, 0, [of, sign]);
  return {
    ...eachOperation<Node>((_, operate) => (...operands) => {
      const value = operate(...operands.map(({ value }) => value));
      return leaf(value, Math.max(1, Math.abs(value)));
    }),
    formula(name, operands) {
      const values = operands.map(({ value }) => value), of = FUNCTIONS[name as FunctionName];
      const value = of(...values),
        errors = operands.map((operand, i): Operand => {
          const step = 1e-6 * (Math.abs(operand.value) || 1);
          return [operand, (of(...values.with(i, operand.value + step)) - value) / step];
        });
      const more = errors.map(([{ size, value }, slope]) => Math.abs(slope) * (size - Math.abs(value)));
      return node(value, more.reduce((sum, size) => sum + size, Math.abs(value)), FUNCTION, ...errors);
    },
    tap(tap) {
      const { plane } = tap, place = (((cell + cellAt(tap)) % CELLS) + CELLS) % CELLS;
      const value = state[plane * CELLS + place]!, material = materials[plane - fields.length];
      if (material !== undefined) return leaf(value, Math.max(...material.values.map(Math.abs)));
      const found = leaf(value, scale * largestOf(stencil)[plane]!);
      found.slopes[slots.get(tapKey(tap))!] = 1;
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

/** Whether all values are whole numbers: then nothing rounds as long as the precision holds them. */
const areWhole = remembered(({ update, initialField = "noise" }: Stencil): boolean =>
  initialField !== "noise" &&
  update.materials.every(({ values }) => values.every(Number.isInteger)) &&
  expressionsOf(update).every((value) =>
    fold<boolean>(value, {
      ...uniform(false, (...operands) => operands.every(Boolean)),
      tap: () => true,
      constant: Number.isInteger,
      formula: () => false,
      powerOfTwo: () => false,
      divide: () => false,
      squareRoot: () => false,
    })
  )
);

/** Largest |value| by field, at the start or somewhat later: one that begins at 0 may be driven by others. */
const largestOf = remembered((stencil: Stencil): number[] => {
  const ofAll = amplitudeOf(stencil);
  return stencil.update.fields.map((_, field) => {
    const values = STAGES.flatMap((steps) =>
      statesAfter(stencil, steps).flatMap((state) => [...state.subarray(field * CELLS, (field + 1) * CELLS)])
    );
    const sizes = [...rangeOf(stencil, field), ...values].map(Math.abs).filter(Number.isFinite);
    return Math.min(ofAll, Math.max(...sizes)) || ofAll;
  });
});

const largestSignal = remembered((update: Update): number =>
  Array.from({ length: 256 }, (_, step) => Math.abs(signalAt(update, step)))
    .filter((size) => Number.isFinite(precisionOf(update).round(size))) // a run may end before it overflows
    .reduce((a, b) => Math.max(a, b), 0)
);
