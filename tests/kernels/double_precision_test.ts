/**
 * Kernels in f64: of every traversal and equation some, whole numbers bit for bit, of which f32 would hold no more than the
 * first, and noise within the bound of f64's rounding.
 *
 * @module
 */
import { equation } from "../../kernels/equation.ts";
import {
  add,
  cosine,
  exponential,
  logarithm,
  multiply,
  power,
  sine,
  tanh,
} from "../../kernels/operations.ts";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import { life } from "../../kernels/stencils/life.ts";
import { maxwell } from "../../kernels/stencils/maxwell.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import {
  inMarches,
  inPlaneTorres,
  inSteps,
  inTorres,
  inVolumeTorres,
  onLine,
  type Row,
  testRows,
} from "./oracle_case.ts";
import {
  PLANE,
  wholeNumberHeat,
  wholeNumberMaxwell,
  wholeNumberMedium,
  wholeNumberWave,
} from "./whole_numbers.ts";

const MEDIUM = { spacing: 5, velocity: [1500, 4000], edges: 2 } as const;
const PML = { edges: [2, 0, 1], absorber: "pml" } as const;

/** Functions whose polynomials have f64's degrees, of values that noise brings everywhere into their ranges. */
const FUNCTIONS = equation({
  name: "functions",
  fields: { u: [0.5, 1] },
  step({ u }) {
    const [left, right] = [u.at(-1), u.at(0, 0, 1)];
    const curves = add(exponential(left), sine(right), cosine(u), tanh(left), logarithm(add(right, 2)));
    return { u: multiply(0.15, add(curves, power(add(u, 1), 1.5))) };
  },
});

/** More steps than f32 holds whole numbers of. */
const WHOLE: readonly Row[] = [
  [wholeNumberWave(4), [7, 11, 13], inSteps([8, 4, 2]), [7]],
  [wholeNumberWave(2), [13, 7, 9], inMarches([1, 8, 4, 4, 1, 0]), [9, 4]],
  [wholeNumberWave(2), [11, 13, 9], inTorres([2, 8, 1, 2, 5, 4, 1, 99]), [11]],
  [wholeNumberWave(2), [23, 13, 17], inVolumeTorres([4, 2, 2, 2, 1, 1, 8, 2]), [13]],
  [wholeNumberHeat(1, PLANE), [37, 53], inPlaneTorres([4, 4, 2, 2, 2, 1, 1]), [7, 2]],
];

const NOISE: readonly Row[] = [
  [wave(4), [7, 11, 13], inSteps([8, 4, 2]), [9, 2], { sections: 2 }],
  [life(), [5, 6, 7], inSteps([4, 2, 2]), [5], { boundary: "periodic" }],
  [elastic(MEDIUM), [7, 5, 11], inSteps([8, 2, 1]), [3, 2]],
  [maxwell(PML), [7, 5, 11], inSteps([8, 2, 1]), [4, 3]],
  [acoustic(MEDIUM), [7, 5, 11], inSteps([8, 2, 1]), [4, 3], { boundary: "insulated" }],
  [FUNCTIONS, [5, 6, 7], inSteps([4, 2, 2]), [3]],
  [FUNCTIONS, [9, 7, 11], inVolumeTorres([4, 2, 2, 2, 2, 1, 4, 1]), [3]],
  [wave(2), [23, 5, 30], inMarches([4, 4, 4, 2, 1, 1]), [5, 3], { sections: 2 }],
  [heat(1), [11, 9, 17], inMarches([2, 8, 8, 2, 0, 1, 2]), [4, 3]],
  [acoustic(MEDIUM), [9, 7, 11], inMarches([2, 4, 5, 2, 0, 1]), [4, 3]],
  [maxwell(PML), [6, 5, 7], inMarches([1, 6, 5, 2, 0, 0]), [4], {
    boundary: ["periodic", "zero", "periodic"],
  }],
  [maxwell({ mode: "tm" }), [19, 37], inMarches([2, 16, 1, 3, 0, 1, 2]), [5, 4]],
  [elastic(MEDIUM), [6, 5, 7], inMarches([1, 6, 5, 2, 0, 0]), [2], { isSlow: true }],
  [wave(2), [13, 12, 9], inTorres([2, 8, 1, 2, 5, 2, 2, 101]), [5, 2]],
  [heat(1), [23, 5, 37], inTorres([1, 6, 2, 1, 37, 2, 2, 99]), [7]],
  [acoustic(MEDIUM), [13, 7, 9], inTorres([1, 4, 1, 1, 9, 2, 1, 99, 1]), [5]],
  [wave(4), [19, 7, 11], inVolumeTorres([4, 2, 2, 2, 2, 1, 4, 1]), [9]],
  [heat(1), [11, 29, 5], inVolumeTorres([4, 2, 1, 1, 2, 2, 6, 2]), [7, 9], { boundary: "periodic" }],
  [acoustic(MEDIUM), [13, 9, 11], inVolumeTorres([4, 2, 2, 2, 1, 1, 4, 1]), [5]],
  [wave(2, PLANE), [37, 23], inPlaneTorres([4, 4, 2, 2, 2, 1, 1]), [11, 9], { boundary: "periodic" }],
  [heat(1, PLANE), [37, 53], inPlaneTorres([4, 4, 2, 1, 0, 0, 0]), [9, 2]],
  [heat1d(), [1, 1, 1001], onLine("classic", [64, 4]), [9], { boundary: "periodic" }],
  [heat1d(), [1, 1, 160], onLine("swept", [16, 2, 16]), [45], { boundary: "insulated" }],
  [ks(5), [1, 1, 96], onLine("swept", [16, 2, 4]), [13], { boundary: "periodic" }],
  [heat1d(), [1, 1, 78], onLine("swept-register", [12, 2, 11]), [23], { boundary: "periodic" }],
];

const POINTS: readonly Row[] = [
  [wholeNumberWave(2), [11, 7, 9], inSteps([4, 2, 2]), [5, 3]],
  [wholeNumberWave(2), [11, 7, 9], inVolumeTorres([4, 2, 1, 1, 2, 2, 8, 2]), [11, 3]],
  [wholeNumberMedium(1), [13, 7, 9], inTorres([1, 4, 1, 1, 9, 2, 1, 99, 1]), [5, 3]],
  [wholeNumberMaxwell(), [7, 9, 11], inMarches([2, 4, 5, 2, 0, 1]), [2]],
];

testRows(WHOLE, { precision: "f64" });
testRows(NOISE, { precision: "f64", isReal: true });
testRows(POINTS.map(([stencil, grid, way, runs]) => [stencil, grid, way, runs, { points: { every: 2 } }]), {
  precision: "f64",
});
