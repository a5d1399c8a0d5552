/**
 * Largest eigenvalues of the schemes in f64 where materials differ strongly from cell to cell, written without the
 * product's kernels, against the time steps that are called stable.
 */
import { assertLess, assertLessOrEqual, assertThrows } from "@std/assert";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { secondDerivative } from "../../kernels/weights.ts";
import { elastic, elasticTimeStep } from "../../kernels/stencils/elastic.ts";
import { WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { randomNumbers } from "./random_equation.ts";

type Cells = readonly { readonly p: number; readonly s: number; readonly rho: number }[];

/** The largest (ωh)² of elastic waves in a periodic n × n section, of order 4, by power iteration from below. */
function largestElastic(cells: Cells, n: number): number {
  const wrap = (i: number): number => (i + n) % n,
    at = (x: number, z: number): number => wrap(x) * n + wrap(z);
  const rho = cells.map((one) => one.rho), mu = cells.map(({ s, rho }) => rho * s * s);
  const lambda = cells.map(({ p, s, rho }) => rho * (p * p - 2 * s * s));
  const mean = (x: number, z: number) => {
    const around = [at(x, z), at(x - 1, z), at(x, z - 1), at(x - 1, z - 1)];
    return around.some((i) => mu[i] === 0) ? 0 : 4 / around.reduce((sum, i) => sum + 1 / mu[i]!, 0);
  };
  /** D along an axis, at the cells or the faces before them. */
  const d = (f: Float64Array, x: number, z: number, axis: 0 | 1, ahead: 0 | 1): number => {
    const g = (k: number) => f[axis === 0 ? at(x + ahead + k, z) : at(x, z + ahead + k)]!;
    return 9 / 8 * (g(0) - g(-1)) - (g(1) - g(-2)) / 24;
  };
  const make = (value: (x: number, z: number) => number) =>
    Float64Array.from({ length: n * n }, (_, i) => value(Math.floor(i / n), i % n));
  const random = randomNumbers(3);
  let vx = make(() => random() - 0.5), vz = make(() => random() - 0.5), norm = 0;
  const shear = make(mean);
  for (let i = 0; i < 150; i++) {
    const along = make((x, z) => d(vx, x, z, 0, 1)), down = make((x, z) => d(vz, x, z, 1, 1));
    const xx = along.map((e, i) => (lambda[i]! + 2 * mu[i]!) * e + lambda[i]! * down[i]!);
    const zz = down.map((e, i) => (lambda[i]! + 2 * mu[i]!) * e + lambda[i]! * along[i]!);
    const xz = make((x, z) => shear[at(x, z)]! * (d(vx, x, z, 1, 0) + d(vz, x, z, 0, 0)));
    vx = make((x, z) => -2 * (d(xx, x, z, 0, 0) + d(xz, x, z, 1, 1)) / (rho[at(x, z)]! + rho[at(x - 1, z)]!));
    vz = make((x, z) => -2 * (d(xz, x, z, 0, 1) + d(zz, x, z, 1, 0)) / (rho[at(x, z)]! + rho[at(x, z - 1)]!));
    norm = Math.sqrt([...vx, ...vz].reduce((sum, v) => sum + v * v, 0));
    [vx, vz] = [vx.map((v) => v / norm), vz.map((v) => v / norm)];
  }
  return norm;
}

Deno.test("elastic's largest step is stable at any contrast of density and stiffness, and one for less contrast is not", () => {
  const n = 6, random = randomNumbers(1);
  let worst = 0;
  for (const contrast of [1.5, 9, 30, 300, 2083, 1e5]) {
    const density = [1.2, 1.2 * contrast] as const, medium = { velocity: [500, 3000], spacing: 1 } as const;
    const stepOf = (density?: readonly [number, number]) =>
      elasticTimeStep({ ...medium, density, dimensions: 2 });
    for (let trial = 0; trial < 9; trial++) {
      const share = [1 / 36, 0.1, 0.3, 0.5][trial % 4]!, isSolid = trial % 2 === 0;
      // heavy cells in the light, stripes, an X as in a chequered box, and one cell alone
      const isHeavy = (i: number) =>
        trial === 0
          ? i === 14
          : trial === 1
          ? i % 3 === 0
          : trial === 2
          ? (i + Math.floor(i / n)) % 3 === 0
          : random() < share;
      const cells = Array.from({ length: n * n }, (_, i) => {
        const p = random() < 0.2 ? 1000 : 3000, s = isSolid && random() < 0.7 ? p * 0.7 * random() : 0;
        return { p, s, rho: density[isHeavy(i) ? 1 : 0] };
      });
      const found = largestElastic(cells, n), square = (step: number) => found * step ** 2 / 4;
      assertLessOrEqual(square(stepOf(density)), 1, `${contrast}, ${trial}`);
      if (contrast === 2083) worst = Math.max(worst, square(stepOf([1, 1])));
    }
  }
  assertLess(1.2, worst); // air beside rock, at the step of rock alone
  const rock = { velocity: [340, 3000], dimensions: 2, density: [1.2, 2500] } as const;
  assertThrows(
    () => elastic({ ...rock, timeStep: elasticTimeStep({ ...rock, density: undefined }) }),
    RangeError,
    "stability limit",
  );
  for (const density of [[0, 1], [2, 1], [1, NaN]] as const) {
    assertThrows(
      () => elastic({ density }),
      RangeError,
      "density must be the lowest, above 0, and the highest",
    );
  }
});

Deno.test("sound in layers of two densities has no negative energy as far apart as may be, and does beyond", () => {
  const n = 24, velocity = [1500, 3000] as const, cut = 11;
  for (const order of WAVE_ORDERS) {
    const { sides } = secondDerivative(order);
    /** The least energy of a step in p, which is 0 in heavy cells of any pattern around it: the form that is worst. */
    const least = (contrast: number): number => {
      const energies = Array.from({ length: 64 }, (_, pattern) => {
        const isHeavy = (i: number) => i >= cut && ((2 * pattern + 1) >> (i - cut) & 1) === 1;
        const p = Array.from({ length: n }, (_, i): number => isHeavy(i) ? 0 : i < cut ? 1 : -1);
        const rho = p.map((_, i) => isHeavy(i) ? contrast : 1);
        return sides.reduce(
          (sum, side, k) =>
            p.slice(k + 1).reduce(
              (sum, other, i) => sum + side * 2 / (rho[i]! + rho[i + k + 1]!) * (other - p[i]!) ** 2,
              sum,
            ),
          0,
        );
      });
      return Math.min(...energies);
    };
    const most = [1e9, 12, 8, 6, 5, 4.5, 4][order / 2 - 1]!;
    assertLess(0, least(most), `${order}`);
    acoustic({ order, velocity, density: [1, most] });
    if (order === 2) continue;
    assertLess(least(2 * most), 0, `${order}`);
    assertThrows(
      () => acoustic({ order, velocity, density: [1, most * 1.01] }),
      RangeError,
      `a factor of ${most}`,
    );
  }
});
