/**
 * A concentration that a steady flow carries along while it diffuses: c_t + ∇·(w c) = D ∇²c. The velocity is a material,
 * given on the faces between cells; what leaves one cell through a face enters the next, so that the sum is kept.
 * Upwind fluxes, first order.
 *
 *     deno task tune --stencil ./examples/advection_diffusion.ts --boundary periodic
 *
 * @module
 */
import { add, equation, maximum, minimum, multiply, sine, subtract, type Value } from "../mod.ts";

/** DΔt/h², and the largest wΔt/h along an axis. */
const DIFFUSION = 0.05, SPEED = 0.2;

/** A flow along one axis, forth and back across another: it has no sources. */
const across = (place: Value) => multiply(SPEED, sine(multiply(2 * Math.PI, place)));

export default equation({
  name: "advection-diffusion",
  fields: { c: [0, 1] },
  materials: {
    wx: (_x, y) => across(y),
    wy: (_x, _y, z) => across(z),
    wz: (x) => across(x),
  },
  step({ c, wx, wy, wz }) {
    // what passes from a cell to the next one along an axis
    const flux = (velocity: Value, from: Value, to: Value) =>
      add(
        multiply(maximum(velocity, 0), from),
        multiply(minimum(velocity, 0), to),
        multiply(DIFFUSION, subtract(from, to)),
      );
    return {
      c: add(
        c,
        subtract(flux(wx.at(-1, 0, 0), c.at(-1, 0, 0), c), flux(wx, c, c.at(1, 0, 0))),
        subtract(flux(wy.at(0, -1, 0), c.at(0, -1, 0), c), flux(wy, c, c.at(0, 1, 0))),
        subtract(flux(wz.at(0, 0, -1), c.at(0, 0, -1), c), flux(wz, c, c.at(0, 0, 1))),
      ),
    };
  },
});
