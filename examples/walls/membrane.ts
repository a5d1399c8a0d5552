/** A quarter of a drum: clamped on the left and below, where it is odd; even about the lines through its middle. */
import { add, equation, laplacian, mirror, multiply, subtract } from "../../mod.ts";
import type { Scene } from "./show.ts";

export const courant = 0.5, n = 40;
const stencil = equation({
  name: "membrane",
  dimensions: 2,
  fields: { u: [-1, 1] },
  step({ u }) {
    const pull = multiply(courant ** 2, laplacian(u, { order: 4 }));
    return { u: add(subtract(multiply(2, u), u.before()), pull) };
  },
});
const quarter = [mirror("odd"), mirror("even")] as const, boundary = { x: quarter, y: quarter };
const mode = (i: number) => Math.sin(3 * Math.PI * (i + 0.5) / (2 * n));
const start = { u: (x: number, y: number) => mode(x) * mode(y) };
const setup = { grid: [n, n], isWave: true, steps: 60, shows: ["u", -1, 1] } as const;
export default { stencil, boundary, start, ...setup } satisfies Scene;
