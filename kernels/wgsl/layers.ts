/**
 * Fields in layers on a GPU: of each level a scratch buffer holds the blocks of `../layers.ts`.
 *
 * @module
 */
import { blockOf, blocksOf, blockValues, storedUpdate } from "../layers.ts";
import { alongAxes, type Problem } from "../stencils/stencil.ts";
import { isLayered, type Substep, tapsOf } from "../update.ts";
import { cellType, plus } from "./declare.ts";
import { wgsl } from "./template.ts";
import { declareBuffer } from "./shader.ts";
import { LAYERS, type Scratch } from "../traversals/storage.ts";

/** The scratch buffers of a problem's layers; none for one without. */
export function layerBuffers(problem: Problem): Scratch[] {
  const length = blockValues(blocksOf(problem));
  return length === 0 ? [] : LAYERS.map((name) => ({ name, length, lives: "layers" }));
}

/** The layers of F(t) and F(t + 1) in a shader. */
export function declareLayers(type: string): string {
  return LAYERS.map((name) => declareBuffer(name, `array<${type}>`)).join("\n");
}

/** How a shader finds layers. */
export type LayerAccess = ReturnType<typeof layerAccess>;

/** Cells that indices may lie before the grid at most. */
const BEFORE = 256;

/**
 * What of layers a shader of a problem's steps declares, and lines that read and write them.
 *
 * @param problem the whole grid; `width`: cells of a thread along z
 */
export function layerAccess(problem: Problem, width = 1) {
  const update = storedUpdate(problem), blocks = blocksOf(problem), { grid } = problem;
  const along = alongAxes(problem.boundary), first = update.fields.length + update.materials.length;
  // threads whose cells are all in the same layer or in none move them at once
  const isWhole = blocks.every(({ axis, cells, layout: { grid: its } }) =>
    [grid[2], its[2], ...(axis === 2 ? [cells] : [])].every((count) => count % width === 0)
  );
  const lanes = isWhole ? width : 1, pieces = Array.from({ length: width / lanes }, (_, i) => i);
  const at = ["x", "y", "z"].map((name, i) => {
    const n = grid[i]!;
    return along[i] === "periodic" ? `((${name} + ${n * Math.ceil(BEFORE / n)}) % ${n})` : name;
  });
  const find = blocks.map(({ axis, cells, layout: { origin, slice, pitch } }, block) => {
    const n = grid[axis], between = n - 2 * cells, own = at[axis]!;
    const outside = at.flatMap((one, i) => along[i] === "periodic" ? [] : [`u32(${one}) >= ${grid[i]}u`]);
    if (between > 0) outside.push(`(${own} >= ${cells} && ${own} < ${n - cells})`);
    const folded = `select(${own}, ${own} - ${between}, ${own} >= ${n - cells})`;
    const [x, y, z] = between > 0 ? at.with(axis, folded) : at, whole = lanes === 1 ? "" : ` / ${lanes}`;
    return wgsl`
      // Where a cell's values lie in block ${block}; -1 for cells that have none.
      fn layer${block}(x: i32, y: i32, z: i32) -> i32 {
        ${outside.length === 0 ? "" : `if (${outside.join(" || ")}) { return -1; }`}
        return (${origin} + ${x!} * ${slice} + ${y!} * ${pitch} + ${z!})${whole};
      }
    `;
  });
  const cellsOf = (piece: number): string => pieces.length === 1 ? "" : `.${"xyzw"[piece]}`;
  /** The block of a plane, and the plane's place there. */
  const placeOf = (plane: number) => blockOf(blocks, plane - first);
  const elementOf = (layered: number, piece: number, prefix: string): string => {
    const { block, plane, layout } = placeOf(layered);
    return plus(`${prefix}at${block}_${piece}`, plane, `${layout.plane / lanes}`);
  };
  const type = cellType(lanes);
  return {
    declarations: blocks.length === 0 ? "" : wgsl`
      ${declareLayers(type)}
      ${find.join("\n")}
    `,
    /** Lines that read what a sub-step needs of layers, in the cells from these indices of the whole grid on. */
    start(substep: Substep, [x, y, z]: readonly [x: string, y: string, z: string], prefix = ""): string[] {
      const planes = [...tapsOf(substep).map(({ plane }) => plane), ...substep.map(({ field }) => field)];
      const needed = [...new Set(planes)].filter((plane) => isLayered(update, plane));
      return [...Map.groupBy(needed, (plane) => placeOf(plane).block)].flatMap(([block, its]) => [
        ...its.map((plane) => `var ${prefix}m${plane} = ${cellType(width)}();`),
        ...pieces.flatMap((piece) => [
          `let ${prefix}at${block}_${piece} = layer${block}(${x}, ${y}, ${plus(z, piece)});`,
          `if (${prefix}at${block}_${piece} >= 0) {`,
          ...its.map((plane) =>
            `  ${prefix}m${plane}${cellsOf(piece)} = layersNow[${elementOf(plane, piece, prefix)}];`
          ),
          "}",
        ]),
      ]);
    },
    /** What such a line has made of a plane; undefined for planes that lie elsewhere. */
    read: (plane: number, prefix = "") => isLayered(update, plane) ? `${prefix}m${plane}` : undefined,
    /** Lines that store a new value where the condition holds, after those that read. */
    made(
      plane: number,
      value: string,
      conditions: readonly string[] = [],
      prefix = "",
    ): string[] | undefined {
      if (!isLayered(update, plane)) return undefined;
      return pieces.map((piece) => {
        // a thread may begin in the grid and end in its image
        const inGrid = piece > 0 && along[2] === "periodic" ? [`${plus("z", piece)} < ${grid[2]}`] : [];
        const where = [`${prefix}at${placeOf(plane).block}_${piece} >= 0`, ...conditions, ...inGrid];
        const target = `layersBefore[${elementOf(plane, piece, prefix)}]`;
        return `if (${where.join(" && ")}) { ${target} = ${value}${cellsOf(piece)}; }`;
      });
    },
  };
}
