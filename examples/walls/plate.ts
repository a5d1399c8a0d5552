/** A heated plate: 1 on the left, heat that flows in on the right, insulated below and above. */
import { add, equation, flux, insulated, laplacian, multiply, value } from "../../mod.ts";
import type { Scene } from "./show.ts";

const stencil = equation({
  name: "plate",
  dimensions: 2,
  fields: { u: [0, 2] },
  step: ({ u }) => ({ u: add(u, multiply(0.2, laplacian(u))) }),
});
const boundary = { x: [value(1), flux(0.05)], y: insulated() } as const;
const start = { u: (x: number, y: number) => Math.hypot(x - 12, y - 8) < 6 ? 2 : 0 };
const setup = { grid: [24, 16], steps: 400, shows: ["u", 0, 2.2] } as const;
export default { stencil, boundary, start, ...setup } satisfies Scene;
