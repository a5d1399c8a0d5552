/**
 * Waves on shallow water: the depth h, and the momenta p along x and q along y. Rusanov's fluxes: the mean of both sides, less half the jump times the largest speed.
 *
 *     h_t + p_x + q_y = 0,    p_t + (p²/h + ½gh²)_x + (pq/h)_y = 0,    q_t + (pq/h)_x + (q²/h + ½gh²)_y = 0
 *
 *     deno task tune --stencil ./examples/shallow_water.ts --grid 512x512
 *
 * @module
 */
import {
  absolute,
  add,
  divide,
  equation,
  maximum,
  multiply,
  shifted,
  squareRoot,
  subtract,
  type Value,
} from "../mod.ts";

/** Gravity, and Δt/Δx. */
const GRAVITY = 1, RATIO = 0.2;

export default equation({
  name: "shallow-water",
  dimensions: 2,
  boundaries: ["periodic", "insulated"], // no water beyond the ends would divide by zero
  fields: { h: [0.8, 1.2], p: [-0.1, 0.1], q: [-0.1, 0.1] },
  step({ h, p, q }) {
    const pressure = multiply(GRAVITY / 2, h, h), crossFlow = divide(multiply(p, q), h);
    const speed = (momentum: Value) => add(absolute(divide(momentum, h)), squareRoot(multiply(GRAVITY, h)));
    /** What a step changes of a quantity, through the faces along one axis. */
    const change = (quantity: Value, flow: Value, speed: Value, [x, y]: readonly [number, number]) => {
      const through = (side: -1 | 1) => {
        const there = (of: Value) => shifted(of, side * x, side * y);
        const jump = multiply(maximum(speed, there(speed)), subtract(there(quantity), quantity));
        return subtract(jump, multiply(side, add(flow, there(flow))));
      };
      return multiply(RATIO / 2, add(through(-1), through(1)));
    };
    const alongX = (quantity: Value, flow: Value) => change(quantity, flow, speed(p), [1, 0]);
    const alongY = (quantity: Value, flow: Value) => change(quantity, flow, speed(q), [0, 1]);
    return {
      h: add(h, alongX(h, p), alongY(h, q)),
      p: add(p, alongX(p, add(divide(multiply(p, p), h), pressure)), alongY(p, crossFlow)),
      q: add(q, alongX(q, crossFlow), alongY(q, add(divide(multiply(q, q), h), pressure))),
    };
  },
});
