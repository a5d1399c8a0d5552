/**
 * A flame: fuel Y burns to heat T at Arrhenius' rate, which is next to nothing where it is cold; both diffuse. Lengths and
 * times are those of a flame: at large activation energies β it runs at speed 1.
 *
 *     T_t = ΔT + w,    Y_t = ΔY − w,    w = ½β² Y exp(−β(1 − T)/(1 − α(1 − T)))
 *
 *     deno task tune --stencil ./examples/arrhenius.ts --boundary insulated
 *
 * @module
 */
import { add, divide, equation, exponential, type FieldTap, multiply, subtract } from "../mod.ts";

/** Activation energy β, heat release α, spacing, and time step, which is below a sixth of the spacing's square. */
const ENERGY = 8, RELEASE = 0.8, SPACING = 0.1, STEP = 0.0015;

export default equation({
  name: "arrhenius",
  fields: { T: [0, 1], Y: [0, 1] },
  step({ T, Y }) {
    const spread = (of: FieldTap) => {
      const sides = add(of.at(1), of.at(-1), of.at(0, 1), of.at(0, -1), of.at(0, 0, 1), of.at(0, 0, -1));
      return multiply(STEP / SPACING ** 2, subtract(sides, multiply(6, of)));
    };
    const cold = subtract(1, T),
      exponent = divide(multiply(-ENERGY, cold), subtract(1, multiply(RELEASE, cold)));
    const burnt = multiply(STEP * ENERGY ** 2 / 2, Y, exponential(exponent));
    return { T: add(T, spread(T), burnt), Y: subtract(add(Y, spread(Y)), burnt) };
  },
});
