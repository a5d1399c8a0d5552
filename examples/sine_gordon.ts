/**
 * The sine–Gordon equation, u_tt = Δu − sin u: solitons, such as fluxons in long Josephson junctions. v = u_t is half a
 * step behind u (leapfrog, second order).
 *
 *     deno task tune --stencil ./examples/sine_gordon.ts --boundary periodic
 *
 * @module
 */
import { add, equation, multiply, sine, type Stencil } from "../mod.ts";

/** The time step is below the spacing divided by √3. */
export function sineGordon(spacing: number, timeStep: number): Stencil {
  return equation({
    name: "sine-gordon",
    variant: { spacing, timeStep },
    fields: { u: [-3, 3], v: [-1, 1] },
    step({ u, v }) {
      const sides = add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1), u.at(0, 0, 1), u.at(0, 0, -1));
      const spread = multiply(1 / spacing ** 2, add(sides, multiply(-6, u)));
      return [
        { v: add(v, multiply(timeStep, add(spread, multiply(-1, sine(u))))) },
        { u: add(u, multiply(timeStep, v.next())) },
      ];
    },
  });
}

export default sineGordon(0.2, 0.1);
