/**
 * Stable time steps: closed forms, and what the eigenvalues of whole grids' matrices in f64 say.
 *
 * @module
 */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { equation } from "../../kernels/equation.ts";
import {
  add,
  choose,
  divide,
  greater,
  multiply,
  sine,
  subtract,
  type Value,
} from "../../kernels/operations.ts";
import { derivative, laplacian } from "../../kernels/operators.ts";
import { runReference } from "../../kernels/reference.ts";
import { stableTimeStep } from "../../kernels/stability.ts";
import { fourierLimit } from "../../kernels/stencils/heat.ts";
import type { Dimensions, Stencil } from "../../kernels/stencils/stencil.ts";
import { stabilityLimit } from "../../kernels/stencils/wave.ts";
import { differenceWeights } from "../../kernels/weights.ts";

const u = [0, 1] as const, h = 0.25;

const heat = (order: number, dimensions: Dimensions) => (dt: number) =>
  equation({
    name: "heat",
    dimensions,
    fields: { u },
    step: ({ u }) => ({ u: add(u, multiply(dt, laplacian(u, { order, spacing: h }))) }),
  });

const wave = (order: number, dimensions: Dimensions) => (dt: number) =>
  equation({
    name: "wave",
    dimensions,
    fields: { u },
    materials: { speed: { within: [1, 3], of: [2, 2.5] } },
    step: ({ u, speed }) => ({
      u: add(
        subtract(multiply(2, u), u.before()),
        multiply(dt ** 2, speed, speed, laplacian(u, { order, spacing: h })),
      ),
    }),
  });

/** A velocity and a pressure, half a cell and half a step apart. */
const sound = (order: number) => (dt: number) =>
  equation({
    name: "sound",
    dimensions: 2,
    fields: { vx: u, vy: u, p: u },
    step({ vx, vy, p }) {
      const to = { order, stagger: "forward" } as const, back = { order, stagger: "backward" } as const;
      const lost = (v: Value, slope: Value): Value => subtract(v, multiply(dt, slope));
      const slopes = add(derivative(vx.next(), "x", back), derivative(vy.next(), "y", back));
      return [
        { vx: lost(vx, derivative(p, "x", to)), vy: lost(vy, derivative(p, "y", to)) },
        { p: subtract(p, multiply(dt, slopes)) },
      ];
    },
  });

const plume = (spread: number, options: Parameters<typeof derivative>[2]) => (dt: number) =>
  equation({
    name: "plume",
    dimensions: 1,
    fields: { u },
    step: ({ u }) => ({
      u: add(u, multiply(dt * spread, laplacian(u)), multiply(-dt, derivative(u, "x", options))),
    }),
  });

Deno.test("stable time steps are those of closed forms: heat, waves, staggered pairs, upwind and central advection", () => {
  for (const [order, dimensions] of [[2, 2], [8, 2], [4, 3]] as const) {
    const limit = fourierLimit(order / 2, dimensions) * h ** 2;
    assertAlmostEquals(stableTimeStep(heat(order, dimensions)) / limit, 1, 1e-6, `heat ${order}`);
  }
  for (const order of [2, 6]) {
    const courant = stabilityLimit(order, 2) * h / 3;
    assertAlmostEquals(stableTimeStep(wave(order, 2)) / courant, 1, 1e-6, `wave ${order}`);
  }
  for (const order of [2, 4]) {
    const count = order === 2 ? 1 : 2, places = Array.from({ length: 2 * count }, (_, i) => i + 0.5 - count);
    const sum = differenceWeights(places, 1).reduce((all, weight) => all + Math.abs(weight), 0);
    assertAlmostEquals(stableTimeStep(sound(order)), 2 / (sum * Math.SQRT2), 1e-6, `sound ${order}`);
  }
  assertAlmostEquals(stableTimeStep(plume(0, { side: "backward", order: 1 })), 1, 1e-6);
  // central: 2D/v² of long waves
  assertAlmostEquals(stableTimeStep(plume(0.25, {})), 0.5, 1e-3);
});

Deno.test("a step just below the stable one keeps a grid's field, one just above it does not", () => {
  const n = 16;
  for (
    const  of of[
      heat(4, 1),
        wave(6, 1),
        plume(0.3, { side: "backward", order: 2 }),
        plume(0, { side: "backward", order: 1 })
    ]
  ) {
    const largest = stableTimeStep(of);
    const growth = [0.99, 1.02].map((part) => {
      const { update } = of(part * largest),
        values = Float64Array.from(
          { length: n * (1 + update.materials.length) },
          (_, i) => i < n ? sinOf(i) : 3,
        );
      const levels = { current: values, previous: values };
      const { current } = runReference(levels, {
        update,
        grid: [1, 1, n],
        boundary: "periodic",
        steps: 4000,
      });
      return Math.max(...current.subarray(0, n).map(Math.abs));
    });
    assert(growth[0]! < 20 && !(growth[1]! < 1e6), `${of(largest).name}: ${growth}`);
  }
});

function sinOf(i: number): number {
  return Math.sin(12.9898 * i * i) / 2;
}

Deno.test("what no step keeps, any step does, and no symbol has, is said", () => {
  assertThrows(() => stableTimeStep(plume(0, {})), RangeError, "a step, however short");
  const of =
    (step: (planes: Record<"u" | "c", Value>, signal: Value, dt: number) => Value) => (dt: number): Stencil =>
      equation({
        name: "own",
        dimensions: 1,
        fields: { u },
        materials: { c: [0, 1] },
        signal: (step) => sine(step),
        step: ({ u, c }, signal) => ({ u: add(step({ u, c }, signal, dt), signal) }),
      });
  assertEquals(stableTimeStep(of(({ u }, _, dt) => divide(u, 1 + dt))), Infinity);
  const bound = stableTimeStep(
    of(({ u, c }, _, dt) => add(u, multiply(choose(greater(c, 0.5), -2 * dt, -dt), u))),
  );
  assertAlmostEquals(bound, 1, 1e-6);
  for (
    const [step, found] of [
      [({ u }) => multiply(u, u), "a product of two"],
      [({ u }, signal) => multiply(u, signal), "a product with the signal"],
      [({ u }) => sine(u), "sine"],
      [({ u }) => choose(u, 1, 0), "a choice by a field"],
      [({ u }) => divide(1, u), "a product of two"],
    ] as [Parameters<typeof of>[0], string][]
  ) assertThrows(() => stableTimeStep(of(step)), RangeError, found, found);
});
