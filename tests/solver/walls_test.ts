/**
 * Where walls lie on a solver: the plate of docs/equations.md, on the CPU's ways.
 *
 * @module
 */
import { assertAlmostEquals, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { add, createSolver, equation, flux, insulated, laplacian, multiply, value } from "../../mod.ts";
import type { AxisBoundaries, Boundary, Walls } from "../../mod.ts";
import "../own_thread.ts";

const PLATE = equation({
  name: "plate",
  fields: { u: [0, 1] },
  step: ({ u }) => ({ u: add(u, multiply(0.15, laplacian(u))) }),
});
const N = 8, ROUND = { y: "periodic", z: "periodic" } as const;

/** The steady values along x, as the CPU finds them. */
async function steady(boundary: AxisBoundaries | Walls, traversal: string): Promise<number[]> {
  const problem = { stencil: PLATE, grid: [N, 2, 2] as const, boundary, steps: 8 };
  const parameters: Record<string, number> = traversal === "stepwise"
    ? {}
    : { tiles: 1, levels: 1, block: 4 };
  const share = { cpuSlices: N, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const configuration = { traversal, parameters, share };
  await using solver = await createSolver(problem, { device: null, configuration });
  await solver.write("u", 0.3);
  await solver.run(1800);
  const field = await solver.read("u");
  return Array.from({ length: N }, (_, x) => field[4 * x]!);
}

Deno.test("walls lie at faces, centres or beyond: steady slopes between them say where", async () => {
  const cases: readonly (readonly [AxisBoundaries | Walls, (x: number) => number])[] = [
    [["zero", "periodic", "periodic"], () => 0],
    [["insulated", "periodic", "periodic"], () => 0.3],
    [{ x: insulated(), ...ROUND }, () => 0.3],
    [{ x: [value(0.5), flux(0.03)], ...ROUND }, (x) => 0.5 + 0.03 * (x + 0.5)],
    [{ x: [value(0.5, { at: "centre" }), flux(0.03, { at: "centre" })], ...ROUND }, (x) => 0.5 + 0.03 * x],
    [{ x: [value(0), value(0.9, { at: "beyond" })], ...ROUND }, (x) => 0.9 * (x + 0.5) / (N + 0.5)],
  ];
  for (const [boundary, exact] of cases) {
    for (const traversal of ["stepwise", "diamond-wavefront"]) {
      const found = await steady(boundary, traversal);
      found.forEach((one, x) => assertAlmostEquals(one, exact(x), 1e-4, JSON.stringify(boundary)));
    }
  }
});

Deno.test("walls that make no sense are refused by name of what cannot be done", async () => {
  const boundary = { x: value(NaN), ...ROUND };
  await assertRejects(
    () => createSolver({ stencil: PLATE, grid: [4, 4, 4], boundary }, { device: null }),
    Error,
    "Cannot create the solver: the walls: x, field u: a number, or a function of the step, is wanted",
  );
});

Deno.test("where a wall meets a word, along x, a tap beyond both reads a wall's image, or the zeros", async () => {
  const stencil = equation({
    name: "diagonal",
    dimensions: 2,
    fields: { u: [0, 1] },
    step: ({ u }) => ({ u: u.at(2, -1) }),
  });
  /** The cell of the wall that the tap sees from cell i; undefined: none. */
  const images: readonly (readonly [Boundary, (i: number) => number | undefined])[] = [
    ["periodic", (i) => (i + 2) % N],
    ["insulated", (i) => i + 2 < N ? i + 2 : 2 * (N - 1) - (i + 2)],
    ["zero", (i) => i + 2 < N ? i + 2 : undefined],
  ];
  for (const [x, imageOf] of images) {
    const wall = value(0.5, { shape: { x: (place) => add(1, place) } });
    const boundary = { x, y: [wall, insulated()] } as const;
    await using solver = await createSolver({ stencil, grid: [N, 2], boundary }, { device: null });
    await solver.write("u", (x) => x / 4);
    await solver.run(1);
    const field = await solver.read("u");
    for (let i = 0; i < N; i++) {
      const image = imageOf(i), wanted = image === undefined ? 0 : 1 + (image + 0.5) / N - image / 4;
      assertAlmostEquals(field[2 * i]!, wanted, 1e-6, `${x}, cell ${i}`);
    }
  }
});

Deno.test("weights of operators are those of f64 beside a source, too", async () => {
  const stencil = equation({
    name: "fed",
    dimensions: 2,
    fields: { u: [0, 1] },
    sources: { s: [0, 1] },
    step: ({ u, s }) => ({ u: add(u, multiply(0.1, laplacian(u)), s) }),
  });
  const problem = { stencil, grid: [4, 4], boundary: "zero", precision: "f64" } as const;
  await using solver = await createSolver(problem, { device: null });
  await solver.write("u", (x, y) => x === 1 && y === 1 ? 1 : 0);
  await solver.run(1);
  assertAlmostEquals((await solver.read("u"))[4 * 1 + 2]!, 0.1, 1e-15);
});

Deno.test("a source adds nothing to cells that keep a wall's value, and what it counts by is mirrored at walls", async () => {
  const stencil = equation({
    name: "fed",
    dimensions: 2,
    fields: { u: [0, 1] },
    materials: { m: [0, 4] },
    sources: { s: [0, 1] },
    step: ({ u, m, s }) => ({ u: add(u, multiply(m.at(0, 1), s)) }),
  });
  const boundary = { x: value(0.25, { at: "centre" }), y: insulated() } as const;
  for (const traversal of ["stepwise", "diamond-wavefront"]) {
    const share = { cpuSlices: 4, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
    const parameters: Record<string, number> = traversal === "stepwise"
      ? {}
      : { tiles: 1, levels: 1, block: 4 };
    const configuration = { traversal, parameters, share };
    const problem = { stencil, grid: [4, 4], boundary, survey: { sources: 1, receivers: 0 } } as const;
    await using solver = await createSolver(problem, { device: null, configuration });
    await solver.write("m", (_x, y) => 1 + y);
    await solver.addSources("s", [[0.5, 2.5]], [1]);
    await solver.run(1);
    // a quarter of the source in each of four cells: of two on the wall; by the material above, of which 4 is its own image
    const wanted = [0.25, 0.25, 0.25, 0.25, 0, 0, 1, 1, 0, 0, 0, 0, 0.25, 0.25, 0.25, 0.25];
    assertEquals([...await solver.read("u")], wanted, traversal);
  }
});

Deno.test("an option that no wall has is refused", () => {
  assertThrows(
    () => value(1, { place: "centre" } as never),
    RangeError,
    "wanted of the options at, shape: found place",
  );
});
