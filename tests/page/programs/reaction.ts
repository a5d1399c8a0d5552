import { add, along, createSolver, equation, insulated, multiply, subtract, value } from "../../../mod.ts";

const stencil = equation({
  name: "gray-scott",
  dimensions: 2,
  fields: { u: [0, 1], v: [0, 0.5] },
  materials: { feed: along("x", [0.01, 0.08]), kill: along("x", [0.04, 0.07]) },
  step({ u, v, feed, kill }) {
    const spreadU = subtract(add(u.at(1), u.at(-1), u.at(0, 1), u.at(0, -1)), multiply(4, u));
    const spreadV = subtract(add(v.at(1), v.at(-1), v.at(0, 1), v.at(0, -1)), multiply(4, v));
    const reaction = multiply(u, v, v);
    return {
      u: add(u, multiply(0.16, spreadU), multiply(feed, subtract(1, u)), multiply(-1, reaction)),
      v: add(v, multiply(0.08, spreadV), reaction, multiply(-1, v, add(feed, kill))),
    };
  },
});

await using solver = await createSolver({
  stencil,
  grid: [200, 320],
  boundary: { x: { u: [insulated(), value(1)], v: [insulated(), value(0)] }, y: "periodic" },
});
await solver.write("u", 1);
await solver.write("v", (x, y) => Math.hypot(x - 100, y - 160) < 20 ? 0.5 : 0);
await solver.write("feed", 0.035);
await solver.write("kill", 0.06);
const { cellsPerSecond } = await solver.run(1000);
console.log(await solver.read("v"), cellsPerSecond);
