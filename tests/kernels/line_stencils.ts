/**
 * Updates with the shape of the equations in one dimension, exact for any number of steps: bits, combined like those of
 * the cellular automaton "rule 30", which never come to rest. Every misplaced read shows. And an exact solution of heat.
 *
 * @module
 */
import { type Ago, type Expression, tap } from "../../kernels/expression.ts";
import { add, multiply, subtract } from "../../kernels/operations.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import type { ExactSolution, Stencil } from "../../kernels/stencils/stencil.ts";
import { type Update, updateOf } from "../../kernels/update.ts";

/** a xor b xor …, of values that are 0 or 1: (a − b)². */
function xor(first: Expression, ...rest: Expression[]): Expression {
  return rest.reduce((a, b) => {
    const difference = subtract(a, b);
    return multiply(difference, difference);
  }, first);
}

/** a or b, of values that are 0 or 1: a + b − ab. */
function or(a: Expression, b: Expression): Expression {
  return subtract(add(a, b), multiply(a, b));
}

function at(offset: number, plane = 0, ago: Ago = 0): Expression {
  return tap(0, 0, offset, ago, plane);
}

/** a and not b */
function butNot(a: Expression, b: Expression): Expression {
  return subtract(a, multiply(a, b));
}

/** `base`, but its cells are bits that step as `update` says, exactly. */
function bitsOf(base: Stencil, title: string, update: Update): Stencil {
  return {
    ...base,
    title: `bits, ${title}`,
    boundaries: ["insulated", "periodic"],
    initialField: "binary",
    update,
  };
}

/** The heat equation's shape: both neighbours and the point itself. Its mirrored ends do not come to rest either. */
export const bitHeat: Stencil = bitsOf(
  heat1d(),
  "shape of heat-1d",
  updateOf(xor(at(0), at(1), butNot(at(-1), at(1)))),
);

/** The flattened Kuramoto–Sivashinsky scheme's shape, but another on each side. */
export const bitKs: Stencil = bitsOf(ks(5), "shape of ks with 5 points", {
  fields: ["u", "p"],
  materials: [],
  substeps: [
    [{ field: 1, value: xor(at(-2), or(at(1), at(2)), at(-1)) }],
    [{
      field: 0,
      value: xor(at(0), at(-2, 1, -1), or(at(-1, 1, -1), at(1, 1, -1)), at(0, 1, -1), at(2, 1, -1)),
    }],
  ],
});

/** The shape of the scheme of four sub-steps. */
export const bitKs3: Stencil = bitsOf(ks(3), "shape of ks with 3 points", {
  fields: ["u", "v", "p", "w"],
  materials: [],
  substeps: [
    [{ field: 1, value: xor(at(-1), or(at(0), at(1))) }],
    [{ field: 2, value: xor(at(1), at(-1), at(0), at(-1, 1, -1), at(1, 1, -1)) }],
    [{ field: 3, value: xor(or(at(-1, 2, -1), at(0, 2, -1)), at(1, 2, -1)) }],
    [{ field: 0, value: xor(at(0), at(1, 2, -1), at(-1, 3, -1), at(1, 3, -1)) }],
  ],
});

/** Two sub-steps, of which the second reads two rows back as far as two points. */
export const bitFar: Stencil = bitsOf(ks(5), "a far tap two rows back", {
  fields: ["u", "p"],
  materials: [],
  substeps: [
    [{ field: 1, value: xor(at(-1), or(at(0), at(1))) }],
    [{ field: 0, value: xor(at(-2), or(at(2), at(0, 1, -1)), at(-1, 1, -1), at(1, 1, -1)) }],
  ],
});

/**
 * The exact discrete solution that starts as cos(πkx/(n−1)) between insulated ends, the k-th mode of the first
 * discrete cosine transform: every step multiplies it by 1 − 4Fo sin²(πk/(2(n−1))).
 */
export function rodMode({ points, mode, fourier }: {
  /** n, at least 2. */
  points: number;
  /** k, from 0 to n − 1. */
  mode: number;
  fourier: number;
}): ExactSolution {
  const theta = Math.PI * mode / (points - 1);
  const lambda = 1 - 4 * fourier * Math.sin(theta / 2) ** 2;
  return { at: ([, , z = 0], step) => lambda ** step * Math.cos(theta * z) };
}
