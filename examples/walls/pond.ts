/** Rings on a pond without shores: what reaches an end leaves, but for the quay on the left, which reflects. */
import { absorbing, add, equation, laplacian, mirror, multiply, subtract } from "../../mod.ts";
import type { Scene } from "./show.ts";

const courant = 0.5, open = absorbing({ cells: 24, courant });
const stencil = equation({
  name: "pond",
  dimensions: 2,
  fields: { u: [-1, 1] },
  step({ u }) {
    const pull = multiply(courant ** 2, laplacian(u, { order: 4 }));
    return { u: add(subtract(multiply(2, u), u.before()), pull) };
  },
});
const boundary = { x: [mirror("even"), open], y: open } as const;
const start = { u: (x: number, y: number) => Math.exp(-((x - 40) ** 2 + (y - 64) ** 2) / 8) };
const setup = { grid: [128, 128], isWave: true, steps: 130, shows: ["u", -0.1, 0.1] } as const;
export default { stencil, boundary, start, ...setup } satisfies Scene;
