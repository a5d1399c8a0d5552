/**
 * Weighted sums over all cells of a box in two dimensions, every weight another one: what temporal blocking is measured
 * by where no symmetry saves a product.
 *
 * @module
 */
import { add, equation, multiply, type Stencil } from "../../mod.ts";

/** A box of (2 · radius + 1)² cells; the weights are positive and add up to 1, so that values stay bounded. */
export function box(radius: number): Stencil {
  const width = 2 * radius + 1, cells = Array.from({ length: width * width }, (_, i) => i);
  const sum = cells.reduce((total, i) => total + width * width + i, 0);
  return equation({
    name: `box-${radius}`,
    dimensions: 2,
    fields: { F: [-1, 1] },
    step: ({ F }) => {
      const [first, second, ...others] = cells.map((i) =>
        multiply((width * width + i) / sum, F.at(Math.floor(i / width) - radius, i % width - radius))
      );
      return { F: add(first!, second!, ...others) };
    },
  });
}
