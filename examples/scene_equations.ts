/**
 * The equations of the scenes, in words that a visitor may take over: the page shows their text, which names nothing but the
 * library's own words. x runs down, y across. Parameters are axis profiles, the same in every cell: a solver can change them
 * while it runs.
 *
 * @module
 */
import { acoustic, add, along, divide, equation, life, minimum } from "../mod.ts";
import { multiply, sine, subtract } from "../mod.ts";

export const sound = acoustic({
  dimensions: 2,
  order: 4,
  velocity: [1500, 4500], // m/s, by cell
  spacing: 10, // m
  timeStep: 1e-3, // s
  edges: 0, // the picture's sides absorb
});

export const volume = acoustic({
  dimensions: 3,
  order: 4,
  velocity: [1500, 4500],
  spacing: 10,
  timeStep: 1e-3,
  edges: 0,
});

// reaction and diffusion: Pearson, Science 1993, 261
export const grayScott = equation({
  name: "gray-scott",
  dimensions: 2,
  fields: { u: [0, 1], v: [0, 0.5] },
  materials: { feed: along("x", [0.01, 0.08]), kill: along("x", [0.04, 0.07]) },
  step({ u, v, feed, kill }) {
    const spreadU = subtract(add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1)), multiply(4, u));
    const spreadV = subtract(add(v.at(1), v.at(-1), v.at(0, 1), v.at(0, -1)), multiply(4, v));
    const reaction = multiply(u, v, v);
    return {
      u: add(u, multiply(0.16, spreadU), multiply(feed, subtract(1, u)), multiply(-1, reaction)),
      v: add(v, multiply(0.08, spreadV), reaction, multiply(-1, v, add(feed, kill))),
    };
  },
});

// the complex equation of Ginzburg and Landau: oscillators that spread
export const ginzburgLandau = equation({
  name: "ginzburg-landau",
  dimensions: 2,
  fields: { a: [-1, 1], b: [-1, 1] },
  materials: { beta: along("x", [-1, 1]), gamma: along("x", [-2, 2]) },
  step({ a, b, beta, gamma }) {
    const spreadA = subtract(add(a.at(1), a.at(-1), a.at(0, 1), a.at(0, -1)), multiply(4, a));
    const spreadB = subtract(add(b.at(1), b.at(-1), b.at(0, 1), b.at(0, -1)), multiply(4, b));
    const square = add(multiply(a, a), multiply(b, b));
    const growA = subtract(a, multiply(square, subtract(a, multiply(gamma, b))));
    const growB = subtract(b, multiply(square, add(b, multiply(gamma, a))));
    return {
      a: add(a, multiply(0.1, add(growA, subtract(spreadA, multiply(beta, spreadB))))),
      b: add(b, multiply(0.1, add(growB, add(spreadB, multiply(beta, spreadA))))),
    };
  },
});

// Schrödinger's: a the real part, b the imaginary one, half a step apart (Visscher, 1991)
export const schroedinger = equation({
  name: "schroedinger",
  dimensions: 2,
  fields: { a: [-1, 1], b: [-1, 1] },
  materials: { potential: [0, 1] },
  step({ a, b, potential }) {
    const spreadB = subtract(add(b.at(1), b.at(-1), b.at(0, 1), b.at(0, -1)), multiply(4, b));
    const [up, down, left, right] = [a.next(-1), a.next(1), a.next(0, -1), a.next(0, 1)];
    const spreadA = subtract(add(up, down, left, right), multiply(4, a.next()));
    return [
      { a: add(a, multiply(0.2, subtract(multiply(potential, b), multiply(0.5, spreadB)))) },
      { b: subtract(b, multiply(0.2, subtract(multiply(potential, a.next()), multiply(0.5, spreadA)))) },
    ];
  },
});

export const sineGordon = equation({
  name: "sine-gordon",
  dimensions: 2,
  fields: { u: [-7, 7] },
  materials: { damping: along("x", [0, 0.1]) },
  step({ u, damping }) {
    const spread = subtract(add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1)), multiply(4, u));
    const push = subtract(multiply(0.25, spread), multiply(0.01, sine(u)));
    const kept = multiply(subtract(1, damping), subtract(u, u.before()));
    return { u: add(u, kept, push) };
  },
});

// waves on water of any depth, or of sound between walls, where it is 0
export const water = equation({
  name: "water",
  dimensions: 2,
  fields: { h: [-1, 1] },
  materials: { depth: [0, 1] },
  sources: { s: [-1, 1] },
  step({ h, depth, s }) {
    const flow = (x = 0, y = 0) => multiply(minimum(depth, depth.at(x, y)), subtract(h.at(x, y), h));
    const push = multiply(0.4, add(flow(1, 0), flow(-1, 0), flow(0, 1), flow(0, -1)));
    return { h: add(subtract(multiply(2, h), h.before()), push, multiply(depth, s)) };
  },
});

// Maxwell's, the electric field across the picture; c Δt = h/2 (Yee, 1966)
export const light = equation({
  name: "light",
  dimensions: 2,
  fields: { e: [-1, 1], hx: [-1, 1], hy: [-1, 1] },
  materials: { permittivity: [1, 9] },
  sources: { j: [-1, 1] },
  step({ e, hx, hy, permittivity, j }) {
    const curl = subtract(subtract(hx.next(), hx.next(0, -1)), subtract(hy.next(), hy.next(-1)));
    return [
      {
        hx: add(hx, multiply(0.5, subtract(e.at(0, 1), e))),
        hy: subtract(hy, multiply(0.5, subtract(e.at(1), e))),
      },
      { e: add(e, divide(multiply(0.5, add(curl, j)), permittivity)) },
    ];
  },
});

// Maxwell's, the electric field in the picture's plane: rods are antennas
export const antenna = equation({
  name: "antenna",
  dimensions: 2,
  fields: { ex: [-1, 1], ey: [-1, 1], h: [-1, 1] },
  materials: { permittivity: [1, 9] },
  sources: { j: [-1, 1] },
  step({ ex, ey, h, permittivity, j }) {
    const curl = subtract(subtract(ex.at(0, 1), ex), subtract(ey.at(1), ey));
    const [alongX, alongY] = [subtract(h.next(), h.next(0, -1)), subtract(h.next(), h.next(-1))];
    return [
      { h: add(h, multiply(0.5, curl)) },
      {
        ex: add(ex, divide(multiply(0.5, add(alongX, j)), permittivity)),
        ey: subtract(ey, divide(multiply(0.5, alongY), permittivity)),
      },
    ];
  },
});

export const gameOfLife = life("3/2-3", { dimensions: 2 });

export const heat = equation({
  name: "heat",
  dimensions: 2,
  fields: { u: [0, 1] },
  materials: { diffusivity: along("x", [0, 0.24]) },
  step({ u, diffusivity }) {
    const spread = subtract(add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1)), multiply(4, u));
    return { u: add(u, multiply(diffusivity, spread)) };
  },
});
