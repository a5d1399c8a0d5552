import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { expectedKernel, fitKernel, logLikelihood } from "../../tuner/search/fit_kernel.ts";
import { type Kernel, LatticeCovariance, type ProcessInputs } from "../../tuner/search/lattice_kernel.ts";
import { LatticeProcess } from "../../tuner/search/lattice_process.ts";
import { seededRandom } from "../../tuner/measuring/seeded_random.ts";

const INPUTS: ProcessInputs = {
  groups: [0, 0, 0, 0, 0, 1, 1],
  places: [[0, 0], [1, 0], [2, 0], [0, 1], [4, 1], [0], [3]],
  prior: [1, 1.2, 1.1, 0.8, 0.7, 2, 2.1],
};

const KERNEL: Kernel = { lengths: [[2, 1], [3]], noise: 0.01, level: 1, trend: 0.2, group: 0.5 };

/** The covariance as the header of `lattice_kernel.ts` defines it. */
function covariance(i: number, j: number, { groups, places, prior }: ProcessInputs = INPUTS): number {
  const centre = prior.reduce((a, b) => a + b) / prior.length;
  const shared = KERNEL.level + KERNEL.trend * (prior[i]! - centre) * (prior[j]! - centre);
  if (groups[i] !== groups[j]) return shared;
  const steps = places[i]!.map((at, k) => Math.abs(at - places[j]![k]!) / KERNEL.lengths[groups[i]!]![k]!);
  return shared + KERNEL.group + steps.reduce((product, step) => product * Math.exp(-step), 1);
}

/** Solves A x = b and tells log det A, by elimination without pivoting: A is positive definite. */
function solve(
  matrix: readonly number[][],
  right: readonly number[],
): { x: number[]; logDeterminant: number } {
  const a = matrix.map((row, i) => [...row, right[i]]), n = a.length;
  let logDeterminant = 0;
  for (let k = 0; k < n; k++) {
    logDeterminant += Math.log(a[k]![k]!);
    for (let i = 0; i < n; i++) {
      if (i === k) continue;
      const factor = a[i]![k]! / a[k]![k]!;
      for (let j = k; j <= n; j++) a[i]![j]! -= factor * a[k]![j]!;
    }
  }
  return { x: a.map((row, i) => row[n]! / row[i]!), logDeterminant };
}

Deno.test("mean and deviation are those of the textbook, whatever is known in whatever order", () => {
  const known = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6], { minLength: 1 });
  const values = fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: 7, maxLength: 7 });
  fc.assert(fc.property(known, values, (order, targets) => {
    const process = new LatticeProcess(INPUTS, KERNEL);
    for (const i of order) process.observe(i, targets[i]!);
    const matrix = order.map((i) => order.map((j) => covariance(i, j) + (i === j ? KERNEL.noise : 0)));
    const off = order.map((i) => targets[i]! - INPUTS.prior[i]!);
    const { x } = solve(matrix, off);
    const squares = x.reduce((sum, one, i) => sum + one * off[i]!, 0);
    const scale = (squares + 4 * 0.36) / (order.length + 4);
    for (let i = 0; i < 7; i++) {
      const cross = order.map((j) => covariance(i, j));
      const mean = INPUTS.prior[i]! + cross.reduce((sum, one, k) => sum + one * x[k]!, 0);
      const explained = solve(matrix, cross).x.reduce((sum, one, k) => sum + one * cross[k]!, 0);
      assertAlmostEquals(process.mean[i]!, mean, 1e-9);
      assertAlmostEquals(process.deviation(i) ** 2, (covariance(i, i) - explained) * scale, 1e-9);
    }
  }));
});

Deno.test("the likelihood of a kernel is that of the textbook", () => {
  const known = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6], { minLength: 1 });
  const values = fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: 7, maxLength: 7 });
  fc.assert(fc.property(known, values, (order, all) => {
    const at = <T>(list: readonly T[]): T[] => order.map((i) => list[i]!);
    const inputs = { groups: at(INPUTS.groups), places: at(INPUTS.places), prior: at(INPUTS.prior) };
    const targets = at(all), count = order.length;
    const matrix = order.map((_, i) =>
      order.map((_, j) => covariance(i, j, inputs) + (i === j ? KERNEL.noise : 0))
    );
    const off = targets.map((value, i) => value - inputs.prior[i]!);
    const { x, logDeterminant } = solve(matrix, off);
    const scale = (x.reduce((sum, one, i) => sum + one * off[i]!, 0) + 4 * 0.36) / (count + 4);
    const expected = -logDeterminant / 2 - (count + 4) / 2 * Math.log(scale);
    const shared = new LatticeCovariance(inputs), residuals = Float64Array.from(off);
    logLikelihood({ ...KERNEL, lengths: [[1, 7], [2]] }, shared, residuals); // leaves nothing behind
    assertAlmostEquals(logLikelihood(KERNEL, shared, residuals), expected, 1e-9);
  }));
});

Deno.test("what is expected makes deviations smaller and moves no mean, in whatever order it comes or is given up", () => {
  const order = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6], { minLength: 3 });
  const split = fc.record({ asked: fc.nat(), told: fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6]) });
  const values = fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: 7, maxLength: 7 });
  fc.assert(fc.property(order, split, values, (asked, { asked: count, told }, targets) => {
    const first = asked.slice(0, 1 + count % asked.length);
    const process = new LatticeProcess(INPUTS, KERNEL);
    for (const i of first) process.expect(i);
    assertEquals([...process.mean], INPUTS.prior);
    // some come, some are given up, some stay expected, and what was never asked for comes too
    const come = told.slice(0, 3), gone = told.slice(3, 5).filter((i) => first.includes(i));
    told.slice(0, 5).forEach((i) => come.includes(i) ? process.observe(i, targets[i]!) : process.giveUp(i));
    const expected = first.filter((i) => !come.includes(i) && !gone.includes(i));
    const fresh = new LatticeProcess(INPUTS, KERNEL);
    for (const i of come) fresh.observe(i, targets[i]!);
    const { mean } = fresh, alone = mean.map((_, i) => fresh.deviation(i));
    for (const i of expected) fresh.expect(i);
    for (let i = 0; i < 7; i++) {
      assertAlmostEquals(process.mean[i]!, mean[i]!, 1e-9);
      assertAlmostEquals(process.deviation(i), fresh.deviation(i), 1e-6);
      assert(process.deviation(i) <= alone[i]! + 1e-6);
      if (expected.includes(i)) assert(process.deviation(i) < 0.2 * alone[i]!);
    }
  }));
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
