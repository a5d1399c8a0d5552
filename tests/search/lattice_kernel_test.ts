import { assert, assertAlmostEquals } from "@std/assert";
import { expectedKernel, fitKernel } from "../../tuner/search/fit_kernel.ts";
import { type Kernel, LatticeCovariance, type ProcessInputs } from "../../tuner/search/lattice_kernel.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";

const INPUTS: ProcessInputs = {
  groups: [0, 0, 0, 0, 0, 1, 1],
  places: [[0, 0], [1, 0], [2, 0], [0, 1], [4, 1], [0], [3]],
  prior: [1, 1.2, 1.1, 0.8, 0.7, 2, 2.1],
};

const KERNEL: Kernel = { lengths: [[2, 1], [3]], noise: 0.01, level: 1, trend: 0.2, group: 0.5 };

/** The covariance as the header of `lattice_kernel.ts` defines it. */
function between(i: number, j: number): number {
  const { groups, prior } = INPUTS, centre = prior.reduce((a, b) => a + b) / prior.length;
  const shared = KERNEL.level + KERNEL.trend * (prior[i]! - centre) * (prior[j]! - centre);
  return groups[i] === groups[j] ? shared + KERNEL.group + lattice(i, j) : shared;
}

/** What of it falls with the steps between two candidates of one traversal. */
function lattice(i: number, j: number): number {
  const { groups, places } = INPUTS;
  const steps = places[i]!.map((at, k) => Math.abs(at - places[j]![k]!) / KERNEL.lengths[groups[i]!]![k]!);
  return steps.reduce((product, step) => product * Math.exp(-step), 1);
}

Deno.test("the covariance of candidates is as defined, whatever kernels were tried before", () => {
  const lattice = new LatticeCovariance(INPUTS);
  lattice.of({ ...KERNEL, lengths: [[1, 7], [2]] }).row(0, 0);
  const { variances, row, noise } = lattice.of(KERNEL);
  for (let i = 0; i < 7; i++) {
    const all = row(i, 0);
    for (let j = 0; j < 7; j++) assertAlmostEquals(all[j]!, between(i, j), 1e-12);
    assertAlmostEquals(variances[i]!, between(i, i), 1e-12);
    assertAlmostEquals(noise(i), KERNEL.noise, 1e-12);
  }
});
Deno.test("where models predict, half of what candidates of one traversal have in common is how alike their errors are", () => {
  const likeness = (i: number, j: number) => 1 / (1 + Math.abs(i - j));
  const { row, variances } = new LatticeCovariance({ ...INPUTS, likeness }).of(KERNEL), all = row(1, 0);
  for (let j = 0; j < 5; j++) {
    assertAlmostEquals(all[j]!, between(1, j) + (likeness(1, j) - lattice(1, j)) / 2, 1e-12);
  }
  for (let j = 5; j < 7; j++) assertAlmostEquals(all[j]!, between(1, j), 1e-12);
  assertAlmostEquals(variances[1]!, all[1]!, 1e-12);
});

Deno.test("the fitted kernel sees which parameter matters", () => {
  const draw = seededRandom(1);
  const places = Array.from({ length: 60 }, () => [Math.floor(8 * draw()), Math.floor(8 * draw())]);
  const levels = Array.from({ length: 8 }, draw);
  const values = places.map(([matters]) => levels[matters!]!);
  const inputs = { groups: places.map(() => 0), places, prior: places.map(() => 0) };
  const start = expectedKernel([[5, 5]]);
  const [matters, other] = fitKernel(inputs, values, { start, expected: start }).lengths[0]! as [
    number,
    number,
  ];
  assert(matters < other, `${matters}, ${other}`);
  assert(other > start.lengths[0]![1]!);
});
