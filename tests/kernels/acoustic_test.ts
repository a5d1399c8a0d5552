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
import { dampedSound } from "./damped_sound.ts";
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

Deno.test("edges are 1.7 wavelengths of the fastest wave wide, and fewer than 2.5 cells per shortest one get a warning", () => {
  assertEquals(acousticEdges({ velocity: [1500, 2000], spacing: 10, frequency: 15 }), 23);
  assertEquals(acousticEdges({ velocity: [1500, 4000], spacing: 10, frequency: 15 }), 46);
  const medium = { velocity: [1500, 4000], frequency: 15 } as const;
  assertEquals(acousticWarning({ ...medium, spacing: 16 }), undefined);
  const warning = acousticWarning({ ...medium, spacing: 20 })!;
  assertMatch(
    warning,
    /^2.0 cells per shortest wavelength are too few: 2.5 are wanted, .* 12.0 Hz .* 16.0 m$/,
  );
});

Deno.test("edges absorb at a rate that is quadratic at both ends of each axis, with none at a free surface", () => {
  const edges = [14, 0, 6] as const, n = 40, timeStep = 1e-3;
  for (const surface of ["absorbing", "free"] as const) {
    const { update } = acoustic({ velocity: [1000, 2000], timeStep, edges, surface });
    const [dx, , dz] = profilesOf(update),
      valuesOf = (one: typeof dx) => Array.from({ length: n }, (_, i) => placed(one!, [n, n, n])!(i, i, i));
    assertEquals([dx!.axis, dz!.axis], [0, 2]);
    const along = (width: number, isFree = false) =>
      Array.from(
        { length: n },
        (_, i) =>
          timeStep / 10 * 3 / width * (1.75 + 0.24 * Math.log(width)) *
          (Math.max(0, isFree ? 0 : width - i - 0.5, i + 0.5 - (n - width)) / width) ** 2,
      );
    valuesOf(dx).forEach((value, i) => assertAlmostEquals(value, along(14)[i]!, 1e-12));
    valuesOf(dz).forEach((value, i) => assertAlmostEquals(value, along(6, surface === "free")[i]!, 1e-12));
    assert(valuesOf(dx)[0]! > 0);
  }
});

/** Whether a symmetric matrix with these numbers on its diagonal and beside it has no eigenvalue below 0. */
function isPositive(diagonal: readonly number[], beside: readonly number[]): boolean {
  let pivot = 1;
  return diagonal.every((value, i) => (pivot = value + 1e-9 - (i > 0 ? beside[i - 1]! ** 2 / pivot : 0)) > 0);
}

Deno.test("matched edges have no negative energy, and move no limit of the time step, whatever the densities and ends", () => {
  let state = 3;
  const toss = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 31;
  for (const end of ["zero", "insulated"] as const) {
    for (
      const [width, apart] of [
        [1, 1],
        [3, 1],
        [12, 1],
        [40, 1],
        [4, 3],
        [12, 3],
        [24, 3],
        [6, 12],
        [12, 12],
        [30, 12],
      ] as const
    ) {
      const medium = {
        velocity: [1, 1],
        spacing: 1,
        ...(apart > 1 && { density: [1, apart] as const }),
      } as const;
      const timeStep = acousticTimeStep(medium), n = 2 * width + 4;
      const profiles = profilesOf(acoustic({ ...medium, timeStep, edges: [width, 0, 0] }).update);
      const [d, ...others] = profiles.map((one) =>
        Array.from({ length: n }, (_, i) => placed(one, [n, 1, 1])!(i, 0, 0))
      );
      for (let trial = 0; trial < (apart > 1 ? 40 : 1); trial++) {
        const rho = Array.from({ length: n }, () => toss() ? apart : 1);
        // cells whose ends are their centres count half
        const size = rho.map((_, i) => end === "insulated" && (i === 0 || i === n - 1) ? 0.5 : 1);
        const face = (i: number, j: number) =>
          2 / (rho[i]! + (rho[j] ?? (end === "zero" ? 0 : rho[j < 0 ? 1 : n - 2]!)));
        const spread = rho.map((_, i) => {
          const [low, high] = [face(i, i - 1), face(i, i + 1)];
          const [p, m] = apart > 1
            ? [low * others[0]![i]! + high * others[1]![i]!, d![i]! ** 2]
            : [low + high, others[0]![i]!];
          return size[i]! * (p - m / timeStep ** 2 / rho[i]!);
        });
        const held = d!.map((value, i) => size[i]! * (value / timeStep) ** 2 / rho[i]!);
        const beside = rho.slice(1).map((_, i) => face(i, i + 1));
        const what = `${width} cells, ${end}, densities ${apart} apart`;
        assert(isPositive(spread.map((value, i) => value + held[i]!), beside), `${what}: energy`);
        const room = spread.map((value, i) => 4 * size[i]! / rho[i]! + held[i]! - value);
        assert(isPositive(room, beside), `${what}: time step`);
      }
    }
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

Deno.test("a definition of sound with damping, as of 0.1.0, keeps its hash; the profiles of its edges are gone", () => {
  const kept = stencilOf(JSON.parse(JSON.stringify(definitionOf(dampedSound(4)))));
  assertEquals(hashOf(kept.update), "91f307520463109c");
  const names = profilesOf(acoustic({ edges: 3 }).update).map(({ name }) => name);
  assertEquals(names, ["ex", "mx", "ey", "my", "ez", "mz"]);
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
