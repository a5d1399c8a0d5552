import { along, equation } from "../../kernels/equation.ts";
import type { Expression } from "../../kernels/expression.ts";
import { add, divide, maximum, multiply, subtract } from "../../kernels/operations.ts";
import { laplacian } from "../../kernels/operators.ts";
import type { Stencil } from "../../kernels/stencils/stencil.ts";
import { acousticTimeStep } from "../../kernels/stencils/acoustic.ts";

/** Sound with quadratic damping in 30 cells, as `acoustic` was up to 0.1.0, of which definitions, profiles and rates are kept. */
export function dampedSound(order: number, edges = 30): Stencil {
  const spacing = 10, timeStep = 0.9 * acousticTimeStep({ order });
  const peak = 3 * Math.log(1 / 3e-3) * 4500 / (edges * spacing) * timeStep / 2;
  const damping = (i: Expression, n: Expression) => {
    const depth = divide(
      maximum(0, subtract(edges - 0.5, i), subtract(i, subtract(n, edges + 0.5))),
      edges,
    );
    return multiply(peak, depth, depth);
  };
  return equation({
    name: "acoustic",
    variant: { order },
    title: `sound in metres and seconds, order ${order}`,
    dimensions: 3,
    fields: { p: [-1, 1] },
    materials: {
      velocity: { within: [1500, 4500] },
      dx: along("x", damping),
      dy: along("y", damping),
      dz: along("z", damping),
    },
    sources: { s: [-1, 1] },
    step({ p, velocity: v, dx, dy, dz, s }) {
      const spread = multiply((timeStep / spacing) ** 2, laplacian(p, { order }));
      const push = multiply(multiply(v, v), add(spread, multiply(timeStep ** 2, s)));
      const r = divide(1, add(1, dx, dy, dz));
      return { p: add(p.before(), multiply(r, add(multiply(2, subtract(p, p.before())), push))) };
    },
  });
}
