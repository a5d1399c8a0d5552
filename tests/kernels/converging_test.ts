/**
 * Waves of order 8 come closer to the exact ones with the eighth power of the spacing: in f32 down to its rounding, in f64 a
 * thousand times further.
 *
 * @module
 */
import { assertGreater, assertLess } from "@std/assert";
import { wave } from "../../kernels/stencils/wave.ts";
import { createSolver } from "../../tuner/solver/create_solver.ts";

/** Cells a wavelength, and cells that a wave goes in a step. */
const CELLS = [16, 32, 64], COURANT = 0.25;

/** The largest error after two periods, of a wave that only the spacing makes wrong: its steps are taken as they are. */
async function errorOf(n: number, precision: "f32" | "f64"): Promise<number> {
  const stencil = wave(8, { courant: COURANT }), k = 2 * Math.PI / n, steps = 2 * n / COURANT;
  const omega = Math.acos(1 - (COURANT * k) ** 2 / 2);
  using solver = await createSolver({ stencil, grid: [2, 2, n], boundary: "periodic", precision }, {
    device: null,
  });
  const exact = (z: number, step: number) => Math.cos(k * z - omega * step);
  for (const ago of [0, 1] as const) await solver.write("F", (_x, _y, z) => exact(z, -ago), { ago });
  await solver.run(steps);
  const found = await solver.read("F");
  return Math.max(...Array.from(found, (value, i) => Math.abs(value - exact(i % n, steps))));
}

Deno.test("waves of order 8 converge to 1e-10 in f64, where f32 stops above 1e-7", async () => {
  const inF64: number[] = [];
  for (const n of CELLS) inF64.push(await errorOf(n, "f64"));
  inF64.slice(1).forEach((error, i) => assertGreater(Math.log2(inF64[i]! / error), 7.5, `${inF64}`));
  assertLess(inF64.at(-1)!, 1e-10);
  assertGreater(await errorOf(CELLS.at(-1)!, "f32"), 1e-7);
});
