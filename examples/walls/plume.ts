/** What a flow carries in from the left in puffs, and out on the right; below and above are walls. */
import { add, derivative, equation, exponential, type Expression, insulated } from "../../mod.ts";
import { laplacian, multiply, sine, subtract, value } from "../../mod.ts";
import type { Scene } from "./show.ts";

const upwind = { side: "backward", order: 1 } as const;
const stencil = equation({
  name: "plume",
  dimensions: 2,
  fields: { c: [0, 1] },
  step({ c }) {
    const carried = multiply(-0.4, derivative(c, "x", upwind));
    return { c: add(c, multiply(0.05, laplacian(c)), carried) };
  },
});
const shape = { y: (y: Expression) => exponential(multiply(-60, subtract(y, 0.5), subtract(y, 0.5))) };
const puffs = value((step) => add(0.5, multiply(0.5, sine(multiply(0.08, step)))), { shape });
const boundary = { x: [puffs, insulated()], y: insulated() } as const;
const setup = { grid: [96, 32], steps: 600, shows: ["c", 0, 1] } as const;
export default { stencil, boundary, start: {}, ...setup } satisfies Scene;
