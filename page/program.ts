/**
 * The program in TypeScript that computes a picture's scene without the page.
 *
 * @module
 */
import { wordsOf } from "./own_equation.ts";
import type { Picture } from "./picture.ts";
import type { Scene } from "../examples/scenes.ts";
import type { AxisWalls, Wall } from "../mod.ts";
import { isWall } from "./sides.ts";
import { problemOf } from "./simulation.ts";

/** Walls as a program makes them. */
export function textOfWalls(walls: AxisWalls | Wall): string {
  if (typeof walls === "string") return JSON.stringify(walls);
  if (Array.isArray(walls)) return `[${walls.map(textOfWalls).join(", ")}]`;
  if (!isWall(walls)) {
    return `{ ${Object.entries(walls).map(([name, one]) => `${name}: ${textOfWalls(one)}`).join(", ")} }`;
  }
  const { a, g, at, damping } = walls;
  if (damping) {
    return `absorbing({ cells: ${damping.cells}, courant: ${damping.courant} })`;
  }
  const words = [a === 0 && g === 0 ? [] : `${g}`, at === "face" ? [] : `{ at: "${at}" }`].flat();
  return `${a !== 0 ? "value" : g === 0 ? "insulated" : "flux"}(${words.join(", ")})`;
}

/** A few lines that compute a scene: where the picture has what was painted, they have a disc. */
export function programOf(scene: Scene, picture: Picture, text: string): string {
  const { size, parameters } = picture;
  const { shown, paints, brushes, source, starts = {} } = scene,
    { grid, boundary, edges } = problemOf(scene, picture);
  const walls = Object.entries(boundary).map(([axis, one]) => `${axis}: ${textOfWalls(one)}`).join(", ");
  const [x, y] = [grid[0], grid.at(-1)!].map((cells) => Math.floor(cells / 2)),
    [low, high] = [0, -1].map((i) => brushes.at(i)![1]);
  const disc = `(x, ${
    grid.length > 2 ? "_y, y" : "y"
  }) => Math.hypot(x - ${x}, y - ${y}) < 20 ? ${high} : ${low}`;
  const write = (name: string, value: string | number) => `await solver.write("${name}", ${value});`;
  const lines = [
    ...Object.entries(starts).map(([name, at]) => write(name, at(0.5, 0.5, size))),
    write(paints, paints === shown || source === undefined ? disc : low!),
    ...(paints === shown || source ? [] : [write(shown, disc)]),
    ...Object.entries(scene.parameters ?? {}).filter(([name]) => name !== "frequency")
      .map(([name, usual]) => write(name, parameters?.[name] ?? usual[3])),
    ...(source
      ? [
        `await solver.addSources("${source[0]}", [[${
          grid.map((cells) => Math.floor(cells / 2)).join(", ")
        }]], wave);`,
      ]
      : []),
  ];
  const frequency = (parameters?.frequency ?? scene.parameters?.frequency?.[3] ?? 0) / 1000;
  const words = [...new Set([...wordsOf(`${text}${walls}`), "createSolver"])].sort();
  const wave =
    `const wave = Array.from({ length: 1000 }, (_, n) => Math.sin(2 * Math.PI * ${frequency} * n));\n`;
  return `import { ${words.join(", ")} } from "@facet/facet";

${text.replace(/^export default\b/m, "const stencil =").trim()}

await using solver = await createSolver({
  stencil,
  grid: [${grid.join(", ")}],
  boundary: { ${walls} },${edges === "around" ? `\n  edges: "around",` : ""}
});
${source ? wave : ""}${lines.join("\n")}
const { cellsPerSecond } = await solver.run(1000);
console.log(await solver.read("${shown}"), cellsPerSecond);
`;
}
