/**
 * Diffusion that is faster along some directions than along others, also along a diagonal:
 * u_t = ∇·(D ∇u), D = [[D_xx, D_xy, 0], [D_xy, D_yy, 0], [0, 0, D_zz]], second order in space.
 *
 *     deno task tune --stencil ./examples/anisotropic_diffusion.ts --boundary insulated
 *
 * @module
 */
import { add, equation, multiply, subtract } from "../mod.ts";

/** Elements of DΔt/h². */
const XX = 0.15, YY = 0.1, ZZ = 0.05, XY = 0.06;

export default equation({
  name: "anisotropic-diffusion",
  fields: { u: [0, 1] },
  step({ u }) {
    // differences: a constant stays what it is, whatever the weights
    const along = (x: number, y: number, z: number) =>
      add(subtract(u.at(x, y, z), u), subtract(u.at(-x, -y, -z), u));
    const straight = add(
      multiply(XX, along(1, 0, 0)),
      multiply(YY, along(0, 1, 0)),
      multiply(ZZ, along(0, 0, 1)),
    );
    return { u: add(u, straight, multiply(XY / 2, subtract(along(1, 1, 0), along(1, -1, 0)))) };
  },
});
