import { assert, assertAlmostEquals, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import { secondDerivative, spreadOf } from "../../kernels/weights.ts";
import {
  acoustic,
  acousticEdges,
  acousticTimeStep,
  acousticWarning,
} from "../../kernels/stencils/acoustic.ts";
import { WAVE_ORDERS } from "../../kernels/stencils/wave.ts";
import { profilesOf } from "../../kernels/axis_profiles.ts";
import { placed, reachOf } from "../../kernels/update.ts";

Deno.test("the largest stable time step follows from the model", () => {
  for (const order of WAVE_ORDERS) {
    const limit = acousticTimeStep({ order, velocity: [1000, 3000], spacing: 12.5 });
    // the shortest wave along all axes at once: (vΔt/h)² · 3S = 4
    assertAlmostEquals((3000 * limit / 12.5) ** 2 * 3 * spreadOf(secondDerivative(order)), 4, 1e-12);
    const build = (timeStep: number) => acoustic({ order, velocity: [1000, 3000], spacing: 12.5, timeStep });
    assertEquals(reachOf(build(limit).update).z, order / 2);
    assertThrows(() => build(1.001 * limit), RangeError, "stability limit");
  }
});

Deno.test("edges are 2.3 wavelengths of the fastest wave wide, and fewer than 2.5 cells per shortest one get a warning", () => {
  assertEquals(acousticEdges({ velocity: [1500, 2000], spacing: 10, frequency: 15 }), 31);
  assertEquals(acousticEdges({ velocity: [1500, 4000], spacing: 10, frequency: 15 }), 62);
  const medium = { velocity: [1500, 4000], frequency: 15 } as const;
  assertEquals(acousticWarning({ ...medium, spacing: 16 }), undefined);
  const warning = acousticWarning({ ...medium, spacing: 20 })!;
  assertMatch(
    warning,
    /^2.0 cells per shortest wavelength are too few: 2.5 are wanted, .* 12.0 Hz .* 16.0 m$/,
  );
});

Deno.test("damping is quadratic at both ends of each axis, and there is none at a free surface", () => {
  const edges = [4, 0, 6] as const, n = 20;
  for (const surface of ["absorbing", "free"] as const) {
    const { update } = acoustic({ velocity: [1000, 2000], timeStep: 1e-3, edges, surface });
    const [dx, dz] = profilesOf(update),
      valuesOf = (one: typeof dx) => Array.from({ length: n }, (_, i) => placed(one!, [n, n, n])!(i, i, i));
    const strength = 3 * Math.log(1 / 0.003) * 2000 / (2 * 10) * 1e-3;
    assertEquals([dx!.axis, dz!.axis], [0, 2]);
    const along = (width: number, isFree = false) =>
      Array.from(
        { length: n },
        (_, i) =>
          strength / width * (Math.max(0, isFree ? 0 : width - i - 0.5, i + 0.5 - (n - width)) / width) ** 2,
      );
    valuesOf(dx).forEach((value, i) => assertAlmostEquals(value, along(4)[i]!, 1e-12));
    valuesOf(dz).forEach((value, i) => assertAlmostEquals(value, along(6, surface === "free")[i]!, 1e-12));
    assert(valuesOf(dx)[0]! > 0);
  }
});

Deno.test("a definition makes the same sound again, with its surface", () => {
  const stencil = acoustic({ order: 6, edges: 8, surface: "free", density: [1000, 2000] });
  const read = stencilOf(JSON.parse(JSON.stringify(definitionOf(stencil))));
  assertEquals([hashOf(read.update), read.surface], [hashOf(stencil.update), "free"]);
  assertThrows(
    () => stencilOf({ ...definitionOf(stencil), surface: "rough" }),
    RangeError,
    "surface: free, a list of fields, or nothing",
  );
});

Deno.test("a medium that makes no sense is refused in one line", () => {
  const refusals: [Parameters<typeof acoustic>[0], string][] = [
    [{ order: 3 }, "order must be 2, 4, 6, 8, 10, 12, 14: current value is 3"],
    [
      { velocity: [0, 2000] },
      "velocity must be the lowest, above 0, and the highest: current value is 0,2000",
    ],
    [{ velocity: [3000, 2000] }, "current value is 3000,2000"],
    [{ spacing: NaN }, "spacing must be above 0: current value is NaN"],
    [{ velocity: 1500 as unknown as [number, number] }, "and the highest: current value is 1500"],
    [{ density: [0, 2000] }, "density must be the lowest, above 0, and the highest: current value is 0,2000"],
    [{ density: [2000, 1000] }, "current value is 2000,1000"],
    [{ edges: -1 }, "edges must be"],
    [{ edges: 2.5 }, "edges must be"],
    [{ surface: "rough" as "free" }, "surface must be absorbing or free: current value is rough"],
  ];
  for (const [options, message] of refusals) assertThrows(() => acoustic(options), RangeError, message);
});
