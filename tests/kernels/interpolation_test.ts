import { assertAlmostEquals } from "@std/assert";
import { type Surroundings, visitCells, weightsAround, weightsAt } from "../../kernels/interpolation.ts";
import type { Boundary } from "../../kernels/stencils/stencil.ts";

/** The value of any cell of a line of values, far beyond both ends: written from the boundary's words. */
function beyond(line: readonly number[], boundary: Boundary, i: number): number {
  const { length } = line;
  if (i >= 0 && i < length) return line[i]!;
  if (boundary === "zero") return 0;
  if (boundary === "periodic") return beyond(line, boundary, i < 0 ? i + length : i - length);
  if (length === 1) return line[0]!;
  return beyond(line, boundary, i < 0 ? -i : 2 * (length - 1) - i);
}

Deno.test("a place near a free surface is made of the grid's own cells, however few the layers and whatever the far end", () => {
  const images: Surroundings["image"][] = [undefined];
  for (const sum of [0, -1] as const) images.push({ sum, sign: 1 }, { sum, sign: -1 });
  for (const boundary of ["zero", "periodic", "insulated"] as const) {
    for (const nz of [1, 2, 3, 4, 9]) {
      const line = Array.from({ length: nz }, (_, i) => Math.sin(3 * i + 1));
      for (const image of images) {
        const valueOf = (i: number): number =>
          image && i < 0 ? image.sign * beyond(line, boundary, image.sum - i) : beyond(line, boundary, i);
        for (const interpolation of ["linear", "sinc"] as const) {
          for (const z of [-0.5, 0, 0.3, nz - 1.5, nz - 1]) {
            const what = `${z} of ${nz} layers, ${boundary}, ${interpolation}, ${JSON.stringify(image)}`;
            let found = 0;
            visitCells(
              weightsAround([0, 0, z], interpolation, { grid: [1, 1, nz], boundary, image }),
              (_, __, z, weight) => found += weight * (line[z] ?? NaN),
            );
            const wanted = weightsAt(z, interpolation)
              .reduce((sum, { cell, weight }) => sum + weight * valueOf(cell), 0);
            assertAlmostEquals(found, wanted, 1e-12, what);
          }
        }
      }
    }
  }
});
