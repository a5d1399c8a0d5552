import { add, along, createSolver, equation, insulated, multiply, subtract, value } from "../../../mod.ts";

const stencil = equation({
  name: "heat",
  dimensions: 2,
  fields: { u: [0, 1] },
  materials: { diffusivity: along("x", [0, 0.24]) },
  step({ u, diffusivity }) {
    const spread = subtract(add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1)), multiply(4, u));
    return { u: add(u, multiply(diffusivity, spread)) };
  },
});

await using solver = await createSolver({
  stencil,
  grid: [200, 320],
  boundary: { x: [value(1), insulated()], y: [insulated(), value(0, { at: "beyond" })] },
});
await solver.write("u", (x, y) => Math.hypot(x - 100, y - 160) < 20 ? 1 : 0);
await solver.write("diffusivity", 0.2);
const { cellsPerSecond } = await solver.run(1000);
console.log(await solver.read("u"), cellsPerSecond);
