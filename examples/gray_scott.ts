/**
 * The Gray–Scott model of a reaction in three dimensions (Pearson, "Complex patterns in a simple system", Science 1993,
 * 261): v makes more of itself out of u, u is fed, v is removed, and both diffuse.
 *
 *     u_t = D_u ∇²u − uv² + F(1 − u),    v_t = D_v ∇²v + uv² − (F + k)v
 *
 *     deno task tune --stencil ./examples/gray_scott.ts --boundary periodic
 *
 * @module
 */
import { add, equation, type FieldTap, multiply, subtract } from "../mod.ts";

/** Diffusion per step and cell, feed F and removal k per step. */
const DIFFUSION_U = 0.16, DIFFUSION_V = 0.08, FEED = 0.035, REMOVAL = 0.06;

export default equation({
  name: "gray-scott",
  fields: { u: [0, 1], v: [0, 0.5] },
  step({ u, v }) {
    const laplacian = (of: FieldTap) =>
      subtract(
        add(of.at(-1), of.at(1), of.at(0, -1), of.at(0, 1), of.at(0, 0, -1), of.at(0, 0, 1)),
        multiply(6, of),
      );
    const reaction = multiply(u, v, v);
    return {
      u: add(u, subtract(multiply(DIFFUSION_U, laplacian(u)), reaction), multiply(FEED, subtract(1, u))),
      v: add(v, subtract(multiply(DIFFUSION_V, laplacian(v)), multiply(FEED + REMOVAL, v)), reaction),
    };
  },
});
