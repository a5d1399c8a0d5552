import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertLess,
  assertLessOrEqual,
  assertThrows,
} from "@std/assert";
import { hashOf } from "../../kernels/definition.ts";
import { acoustic, acousticTimeStep, acousticWarning } from "../../kernels/stencils/acoustic.ts";
import { secondDerivative } from "../../kernels/weights.ts";
import { changeOf } from "../../kernels/stencils/dispersion.ts";
import { elastic, elasticScheme, elasticTimeStep, elasticWarning } from "../../kernels/stencils/elastic.ts";
import { maxwell, maxwellWarning, SPEED_OF_LIGHT } from "../../kernels/stencils/maxwell.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";
import "../own_thread.ts";

const velocity = 2000, spacing = 10, frequency = velocity / (9 * spacing);

for (const [order, courant, cells] of [[2, 0.4, 20], [4, 0.4, 100], [8, 0.5, 80], [8, 0.25, 100]] as const) {
  Deno.test(`a wavelet changes on its way as the dispersion says: order ${order}, vΔt/h = ${courant}`, async () => {
    const timeStep = courant * spacing / velocity,
      medium = { order, velocity: [velocity, velocity], spacing } as const;
    const stencil = acoustic({ ...medium, timeStep, edges: 0, dimensions: 2 });
    const share = { cpuSlices: 400, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
    const problem = { stencil, grid: [400, 2], boundary: ["zero", "periodic"], steps: 100 } as const;
    await using solver = await createSolver(null, problem, { traversal: "stepwise", parameters: {}, share });
    await solver.write("velocity", velocity);
    // a plane sends the integral of its signature
    const signature = Array.from({ length: Math.ceil(2.4 / frequency / timeStep) }, (_, n) => {
      const a = Math.PI * frequency * (n * timeStep - 1.2 / frequency);
      return (2 * a ** 3 - 3 * a) * Math.exp(-(a ** 2));
    });
    await solver.addSources("s", [[60, 0], [60, 1]], signature);
    await solver.addReceivers("p", [[100, 0], [100 + cells, 0]]);
    await solver.run(Math.round((cells + 40 + 60) / courant) + signature.length);
    const [near, far] = await solver.traces(), shift = cells / courant;
    let changed = 0, all = 0;
    for (let t = shift; t < far!.length; t++) {
      changed += (far![t]! - near![t - shift]!) ** 2;
      all += near![t - shift]! ** 2;
    }
    const scheme = { sides: secondDerivative(order).sides, spacing, timeStep, dimensions: 1 as 2 };
    const predicted = changeOf(scheme, { frequency, velocity, distance: cells * spacing });
    assertLess(
      Math.abs(Math.sqrt(changed / all) / predicted - 1),
      0.2,
      `${Math.sqrt(changed / all)} ${predicted}`,
    );
  });
}

Deno.test("a time step follows from the accuracy that is wanted, and what cannot be reached is refused", () => {
  const medium = { order: 8, velocity: [1500, 3000], spacing: 10 } as const,
    timeStep = 0.9 * acousticTimeStep(medium);
  const wanted = { accuracy: 0.03, frequency: 12, distance: 3000 } as const,
    way = { ...wanted, velocity: 1500 };
  const scheme = { sides: secondDerivative(8).sides, spacing: 10, dimensions: 3 } as const;
  const found = Array.from({ length: 40 }, (_, i) => timeStep * 2 ** (-i / 8))
    .find((timeStep) => changeOf({ ...scheme, timeStep }, way) <= 0.03)!;
  assertLess(found, timeStep);
  const hash = hashOf(acoustic({ ...medium, timeStep: found }).update);
  assertEquals(hashOf(acoustic({ ...medium, timeStep: wanted }).update), hash);
  assertEquals(
    hashOf(acoustic({ ...medium, timeStep: { ...wanted, accuracy: 0.9 } }).update),
    hashOf(acoustic(medium).update),
  );
  const refused = (make: () => unknown, message: string) => assertThrows(make, RangeError, message);
  refused(() => acoustic({ ...medium, order: 2, timeStep: wanted }), "accuracy must be at least");
  refused(() => acoustic({ ...medium, timeStep: { ...wanted, distance: 0 } }), "distance must be above 0");
  refused(() => acoustic({ ...medium, timeStep: { ...wanted, far: 1 } as never }), "far");
  const rock = { velocity: [1500, 3000], spacing: 5 } as const, s = 1500 / Math.sqrt(3);
  const slow = changeOf({
    sides: elasticScheme({}).sides,
    spacing: 5,
    dimensions: 3,
    timeStep: 0.9 * elasticTimeStep(rock),
  }, { ...way, velocity: s });
  assertEquals(
    hashOf(elastic({ ...rock, timeStep: { ...wanted, accuracy: slow } }).update),
    hashOf(elastic(rock).update),
  );
  refused(
    () => elastic({ ...rock, timeStep: { ...wanted, accuracy: 1e-6 } }),
    "elastic stencil: accuracy must be at least",
  );
  const glass = { permittivity: [1, 4], spacing: 1e-3 } as const,
    light = { accuracy: 0.4, frequency: 8e9, distance: 0.1 };
  refused(
    () => maxwell({ ...glass, timeStep: { ...light, accuracy: 1e-6 } }),
    "maxwell stencil: accuracy must be at least",
  );
  refused(
    () => maxwell({ ...glass, timeStep: 1e-12, courant: 0.3 }),
    "courant or timeStep must be given, not both",
  );
  assertEquals(
    hashOf(maxwell({ ...glass, timeStep: 0.3 * 1e-3 / SPEED_OF_LIGHT }).update),
    hashOf(maxwell({ ...glass, courant: 0.3 * 1e-3 / SPEED_OF_LIGHT * SPEED_OF_LIGHT / 1e-3 }).update),
  );
  assert(maxwell({ ...glass, timeStep: light }).update.substeps.length === 2);
  // Levander's differences, twice
  assertAlmostEquals(
    elasticScheme({}).sides.reduce((sum, side, i) => sum + side * (i + 1) ** 2, 0),
    1,
    1e-15,
  );
});

Deno.test("warnings say how much a wavelet changes over the distance, and what halves that", () => {
  const medium = { order: 8, velocity: [2000, 2000], spacing: 10, frequency: 25, distance: 480 } as const;
  const warning = acousticWarning(medium)!,
    step = Number(/a time step of ([\d.]+) s halves that/.exec(warning)![1]);
  assertEquals(
    warning.includes("of 25 Hz by 34% on its way of 480 m at 2000 m/s, 6.0 wavelengths: "),
    true,
    warning,
  );
  assert(acousticWarning({ ...medium, distance: 2000 })!.includes("on its way of 2000 m at 2000 m/s"));
  const way = { frequency: 25, distance: 480, velocity: 2000 },
    scheme = { sides: secondDerivative(8).sides, spacing: 10 };
  assertLessOrEqual(changeOf({ ...scheme, dimensions: 3, timeStep: step }, way), 0.171);
  assertEquals(acousticWarning({ ...medium, timeStep: step / 2 }), undefined);
  assertEquals(acousticWarning({ ...medium, distance: undefined }), undefined);
  const coarse = { order: 2, velocity: [2000, 2000], spacing: 10, frequency: 12, distance: 3000 } as const;
  assertEquals(acousticWarning(coarse)!.endsWith(": order 4 halves that"), true, acousticWarning(coarse));
  const timeStep = 0.9 * elasticTimeStep({ velocity: [1500, 3000] });
  assertEquals(elasticWarning(1000, 8, 10, { distance: 100, timeStep }), undefined);
  assertEquals(elasticWarning(1000, 8, 10, { distance: 5000, timeStep })!.includes("halves that"), true);
  const dense = { permittivity: [1, 300], spacing: 1e-3 } as const;
  assertEquals(
    maxwellWarning({ ...dense, frequency: 5e9 })!.startsWith("1.4 cells per shortest wavelength"),
    true,
  );
  assertEquals(maxwellWarning({ ...dense, frequency: 5e8 }), undefined);
  assertEquals(maxwellWarning({ ...dense, frequency: 1e9, distance: 0.5 })!.includes("a spacing of"), true);
});
