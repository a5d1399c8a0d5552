import { equation } from "../../kernels/equation.ts";
import { add, multiply, subtract } from "../../kernels/operations.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";

/** A wave with sources and receivers. */
export const DRIVEN: Problem & Required<Pick<Problem, "survey">> = {
  stencil: equation({
    name: "driven",
    fields: { u: [-1, 1] },
    sources: { s: [-1, 1] },
    step({ u, s }) {
      const around = add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1), u.at(0, 0, 1), u.at(0, 0, -1));
      return { u: subtract(multiply(0.2, add(around, multiply(4, u), s)), u.before()) };
    },
  }),
  grid: [19, 11, 13],
  boundary: "zero",
  steps: 9,
  survey: { sources: 4, receivers: 12, every: 2 },
};
