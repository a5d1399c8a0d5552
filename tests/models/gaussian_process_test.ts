import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Covariance, GaussianProcess } from "../../models/gaussian_process.ts";

/** Eight points of a plane, each with its own noise. */
const POINTS = [[0, 0], [1, 0], [2, 0.5], [0, 1], [4, 1], [-1, 3], [2.5, 2.5], [1.5, 1]] as const;
const PRIOR = POINTS.map(([x]) => 1 + x / 10), RESIDUAL = { deviation: 0.6, weight: 4 };

type Place = readonly [x: number, y: number];
const between = ([x, y]: Place, [u, v]: Place): number => 1.7 * Math.exp(-((x - u) ** 2 + (y - v) ** 2) / 2);
const noiseOf = (i: number): number => 0.002 * (1 + i);

/** @param places the points of a process @param noise of each */
function covarianceOf(places: readonly Place[] = POINTS, noise: (i: number) => number = noiseOf): Covariance {
  return {
    variances: Float64Array.from(places, (one) => between(one, one)),
    noise,
    row: (i) => Float64Array.from(places, (one) => between(places[i]!, one)),
  };
}

/** Solves A x = b and tells log det A, by elimination without pivoting: A is positive definite. */
function solve(
  matrix: readonly number[][],
  right: readonly number[],
): { x: number[]; logDeterminant: number } {
  const a = matrix.map((row, i) => [...row, right[i]!]), n = a.length;
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

/** What the textbook says of places, over what is expected beforehand: values less that, known in this order. */
function textbook(order: readonly number[], off: readonly number[]) {
  const matrix = order.map((i) =>
    order.map((j) => between(POINTS[i]!, POINTS[j]!) + (i === j ? noiseOf(i) : 0))
  );
  const { x, logDeterminant } = solve(matrix, off),
    product = (a: number[], b: readonly number[]) => a.reduce((sum, one, i) => sum + one * b[i]!, 0);
  return {
    squares: product(x, off),
    logDeterminant,
    mean: (at: Place) => product(x, order.map((i) => between(at, POINTS[i]!))),
    variance(at: Place): number {
      const cross = order.map((i) => between(at, POINTS[i]!));
      return between(at, at) - product(solve(matrix, cross).x, cross);
    },
  };
}

const numbers = POINTS.map((_, i) => i);
const orders = fc.shuffledSubarray(numbers, { minLength: 1 });
const values = fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: 8, maxLength: 8 });
const elsewhere = fc.tuple(fc.double({ min: -5, max: 5, noNaN: true }), fc.constant(0.3));

Deno.test("means and deviations are those of the textbook, of the process's points and of others, in whatever order", () => {
  fc.assert(fc.property(orders, values, elsewhere, (order, targets, beside) => {
    const process = new GaussianProcess(PRIOR, covarianceOf(), RESIDUAL);
    for (const i of order) {
      void process.meanBeside(new Float64Array(8)); // leaves nothing behind
      process.observe(i, targets[i]!);
    }
    const known = textbook(order, order.map((i) => targets[i]! - PRIOR[i]!));
    const scale = (known.squares + 4 * 0.36) / (order.length + 4);
    for (const [i, point] of POINTS.entries()) {
      assertAlmostEquals(process.mean[i]!, PRIOR[i]! + known.mean(point), 1e-9);
      assertAlmostEquals(process.deviation(i) ** 2, known.variance(point) * scale, 1e-9);
    }
    const covariances = Float64Array.from(POINTS, (point) => between(beside, point));
    assertAlmostEquals(process.meanBeside(covariances), known.mean(beside), 1e-9);
    const deviation = process.deviationBeside(covariances, between(beside, beside));
    assertAlmostEquals(deviation ** 2, known.variance(beside) * scale, 1e-9);
  }));
});

Deno.test("a process of all values at once: its likelihood, and what it says of other points, are those of the textbook", () => {
  fc.assert(fc.property(orders, values, elsewhere, (order, targets, beside) => {
    const at = <T>(list: readonly T[]): T[] => order.map((i) => list[i]!);
    const covariance = covarianceOf(at(POINTS), (i) => noiseOf(order[i]!));
    const known = textbook(order, order.map((i) => targets[i]! - PRIOR[i]!)), weight = order.length + 4;
    const process = GaussianProcess.of(at(targets), at(PRIOR), covariance, RESIDUAL);
    const scale = (known.squares + 4 * 0.36) / weight;
    const expected = -known.logDeterminant / 2 - weight / 2 * Math.log(scale);
    assertAlmostEquals(process.logLikelihood, expected, 1e-9);
    const covariances = Float64Array.from(order, (i) => between(beside, POINTS[i]!));
    assertAlmostEquals(process.meanBeside(covariances), known.mean(beside), 1e-9);
    // where the values do not tell how large variances are, they stay as they are
    const sure = GaussianProcess.of(at(targets), at(PRIOR), covariance);
    const deviation = sure.deviationBeside(covariances, between(beside, beside));
    assertAlmostEquals(deviation ** 2, known.variance(beside), 1e-9);
  }));
});

Deno.test("a process knows nothing far away, and what was observed twice counts once more", () => {
  const far = (process: GaussianProcess) => [
    process.meanBeside(new Float64Array(2)),
    process.deviationBeside(new Float64Array(2), 1.7),
  ];
  const twice = GaussianProcess.of([1, 3], [0, 0], covarianceOf([[0, 0], [0, 0]], () => 0.01));
  assertEquals(far(twice), [0, Math.sqrt(1.7)]);
  assertAlmostEquals(twice.meanBeside(new Float64Array(2).fill(1.7)), 2 * 1.7 / (1.7 + 0.005), 1e-9);
});

Deno.test("what is expected makes deviations smaller and moves no mean, in whatever order it comes or is given up", () => {
  const split = fc.record({ asked: fc.nat(), told: fc.shuffledSubarray(numbers) });
  const order = fc.shuffledSubarray(numbers, { minLength: 3 });
  fc.assert(fc.property(order, split, values, (asked, { asked: count, told }, targets) => {
    const first = asked.slice(0, 1 + count % asked.length);
    const process = new GaussianProcess(PRIOR, covarianceOf(), RESIDUAL);
    for (const i of first) process.expect(i);
    assertEquals([...process.mean], PRIOR);
    // some come, some are given up, some stay expected, and what was never asked for comes too
    const come = told.slice(0, 3), gone = told.slice(3, 5).filter((i) => first.includes(i));
    told.slice(0, 5).forEach((i) => come.includes(i) ? process.observe(i, targets[i]!) : process.giveUp(i));
    const expected = first.filter((i) => !come.includes(i) && !gone.includes(i));
    const fresh = new GaussianProcess(PRIOR, covarianceOf(), RESIDUAL);
    for (const i of come) fresh.observe(i, targets[i]!);
    const { mean } = fresh, alone = mean.map((_, i) => fresh.deviation(i));
    for (const i of expected) fresh.expect(i);
    for (const i of numbers) {
      assertAlmostEquals(process.mean[i]!, mean[i]!, 1e-9);
      assertAlmostEquals(process.deviation(i), fresh.deviation(i), 1e-6);
      assert(process.deviation(i) <= alone[i]! + 1e-6);
      if (expected.includes(i)) assert(process.deviation(i) < 0.3 * alone[i]!);
    }
  }));
});
