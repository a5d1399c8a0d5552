/** Shallow water between solid walls: a hump runs out and comes back. Velocities lie on the faces between cells. */
import { add, derivative, divergence, equation, insulated, multiply, subtract, value } from "../../mod.ts";
import type { Scene } from "./show.ts";

const back = { stagger: "backward" } as const, pull = { stagger: "forward", spacing: 1 / 0.3 } as const; // Δt = 0.3
const free = insulated(), solid = [value(0, { at: "beyond" }), value(0, { at: "centre" })] as const;
const stencil = equation({
  name: "basin",
  dimensions: 2,
  fields: { h: [0.9, 1.1], u: [-0.1, 0.1], v: [-0.1, 0.1] },
  step({ h, u, v }) {
    const flows = [multiply(u.next(), 0.15, add(h, h.at(1))), multiply(v.next(), 0.15, add(h, h.at(0, 1)))];
    return [
      { u: subtract(u, derivative(h, "x", pull)), v: subtract(v, derivative(h, "y", pull)) },
      { h: subtract(h, divergence(flows, back)) },
    ];
  },
});
const boundary = { x: { h: free, u: solid, v: free }, y: { h: free, u: free, v: solid } };
const h = (x: number, y: number) => 1 + 0.2 * Math.exp(-((x - 30) ** 2 + (y - 20) ** 2) / 40);
const setup = { grid: [96, 64], steps: 180, shows: ["h", 0.96, 1.06] } as const;
export default { stencil, boundary, start: { h }, ...setup } satisfies Scene;
