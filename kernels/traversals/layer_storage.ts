/**
 * Fields in layers on a GPU: of each level a scratch buffer, the plan's last two, holds the blocks of `../layers.ts`.
 *
 * @module
 */
import { blocksOf, blockValues, storedUpdate } from "../layers.ts";
import { alongAxes, type Problem } from "../stencils/stencil.ts";
import { isLayered, type Substep, tapsOf } from "../update.ts";
import { cellType, plus } from "../wgsl/declare.ts";
import { wgsl } from "../wgsl/template.ts";
import { scratchOf } from "./profile_storage.ts";
import { type Scratch, SCRATCH_BINDING, type Shader, type Storage } from "./storage.ts";

/** The scratch buffers of a plan that stores layers, and of its profiles and points. */
export function scratchWithLayers(problem: Problem, others = scratchOf(problem)): Pick<Storage, "scratch"> {
  const length = blockValues(blocksOf(problem));
  if (length === 0) return others;
  const layers = ["even", "odd"].map((level): Scratch => {
    return { label: `layers of ${level} levels`, length, lives: "layers" };
  });
  return { scratch: [...others.scratch ?? [], ...layers] };
}

/** A step's shader with the layers of F(t) and F(t + 1) bound behind its others, t even or odd. */
export function bindLayers(
  problem: Problem,
  shader: Shader,
  isOdd: boolean,
  others = scratchOf(problem),
): Shader {
  if (blocksOf(problem).length === 0) return shader;
  const even = (others.scratch ?? []).length, pair = isOdd ? [even + 1, even] : [even, even + 1];
  return { ...shader, scratch: [...shader.scratch ?? [], ...pair] };
}

/** How a shader finds layers. */
export type LayerAccess = ReturnType<typeof layerAccess>;

/** Planes to read in the cells from these indices of the whole grid on, and what the names of their lines begin with. */
export interface LayerRead {
  readonly planes: readonly number[];
  readonly at: readonly [x: string, y: string, z: string];
  readonly prefix: string;
}

/** Cells that indices may lie before the grid at most. */
const BEFORE = 256;

/**
 * What of layers a shader of a problem's steps declares, and lines that read and write them.
 *
 * @param problem the whole grid; `bound`: scratch buffers that the shader binds before them; `width`: cells of a thread along z;
 *   `odd`: where this holds, the step is from t + 1 to t + 2
 */
export function layerAccess(problem: Problem, bound: number, width = 1, odd = "") {
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
  /** The block of a plane, and the plane's place there. */
  const blockOf = (plane: number) => {
    const layer = plane - first, block = blocks.findLastIndex((one) => one.layer <= layer);
    return { block, its: layer - blocks[block]!.layer };
  };
  const cellsOf = (piece: number): string => pieces.length === 1 ? "" : `.${"xyzw"[piece]}`;
  const elementOf = (plane: number, piece: number, prefix: string): string => {
    const { block, its } = blockOf(plane);
    return plus(`${prefix}at${block}_${piece}`, its, `${blocks[block]!.layout.plane / lanes}`);
  };
  const binding = SCRATCH_BINDING + bound, type = cellType(lanes);
  const eitherWay = (line: (now: string, before: string) => string): string => {
    const usual = line("layersNow", "layersBefore");
    return odd === "" ? usual : `if (${odd}) { ${line("layersBefore", "layersNow")} } else { ${usual} }`;
  };
  /** The values of planes in several cells: their names, places in the buffers, and names and texts of what finds these. */
  const valuesOf = (cells: readonly LayerRead[]) =>
    cells.flatMap(({ planes, at: [x, y, z], prefix }) =>
      planes.flatMap((plane) =>
        pieces.map((piece) => {
          const { block } = blockOf(plane);
          return {
            name: `${prefix}m${plane}${cellsOf(piece)}`,
            index: elementOf(plane, piece, prefix),
            from: `${prefix}at${block}_${piece}`,
            place: `layer${block}(${x}, ${y}, ${plus(z, piece)})`,
          };
        })
      )
    );
  const whereAny = (values: ReturnType<typeof valuesOf>): string =>
    `${[...new Set(values.map(({ from }) => from))].reduce((all, from) => `max(${all}, ${from})`)} >= 0`;
  return {
    declarations: blocks.length === 0 ? "" : wgsl`
      @group(0) @binding(${binding}) var<storage, read_write> layersNow: array<${type}>;
      @group(0) @binding(${binding + 1}) var<storage, read_write> layersBefore: array<${type}>;
      ${find.join("\n")}
    `,
    /** The planes in layers that a sub-step reads or makes. */
    needed(substep: Substep): number[] {
      const planes = [...tapsOf(substep).map(({ plane }) => plane), ...substep.map(({ field }) => field)];
      return [...new Set(planes)].filter((plane) => isLayered(update, plane));
    },
    /** Lines that read planes in layers, in the cells from these indices of the whole grid on. */
    read(
      planes: readonly number[],
      [x, y, z]: readonly [x: string, y: string, z: string],
      prefix = "",
    ): string[] {
      return [...Map.groupBy(planes, (plane) => blockOf(plane).block)].flatMap(([block, its]) => [
        ...its.map((plane) => `var ${prefix}m${plane} = ${cellType(width)}();`),
        ...pieces.flatMap((piece) => [
          `let ${prefix}at${block}_${piece} = layer${block}(${x}, ${y}, ${plus(z, piece)});`,
          `if (${prefix}at${block}_${piece} >= 0) {`,
          ...its.map((plane) =>
            eitherWay((now) =>
              `  ${prefix}m${plane}${cellsOf(piece)} = ${now}[${elementOf(plane, piece, prefix)}];`
            )
          ),
          "}",
        ]),
      ]);
    },
    /** Lines that read planes of several cells: loads one after the other, in one branch of threads that have any. */
    readTogether(cells: readonly LayerRead[]): string[] {
      const values = valuesOf(cells);
      if (values.length === 0) return [];
      const loadFrom = (now: string): string =>
        values.map(({ name, index, from }) => `${name} = select(${type}(), ${now}[${index}], ${from} >= 0);`)
          .join("\n");
      return [
        ...cells.flatMap(({ planes, prefix }) =>
          planes.map((plane) => `var ${prefix}m${plane} = ${cellType(width)}();`)
        ),
        ...new Set(values.map(({ from, place }) => `let ${from} = ${place};`)),
        `if (${whereAny(values)}) {`,
        eitherWay(loadFrom),
        "}",
      ];
    },
    /** Lines that store what was read so again, of the same names. */
    storeTogether(cells: readonly LayerRead[]): string[] {
      const values = valuesOf(cells);
      if (values.length === 0) return [];
      const storeInto = (before: string): string =>
        values.map(({ name, index, from }) => `if (${from} >= 0) { ${before}[${index}] = ${name}; }`).join(
          "\n",
        );
      return [`if (${whereAny(values)}) {`, eitherWay((_, before) => storeInto(before)), "}"];
    },
    /** What such a line has made of a plane; undefined for planes that lie elsewhere. */
    tap: (plane: number, prefix = "") => isLayered(update, plane) ? `${prefix}m${plane}` : undefined,
    /** Lines that store a new value where the condition holds, after those that read. */
    store(
      plane: number,
      value: string,
      conditions: readonly string[] = [],
      prefix = "",
    ): string[] | undefined {
      if (!isLayered(update, plane)) return undefined;
      return pieces.map((piece) => {
        // a thread may begin in the grid and end in its image
        const inGrid = piece > 0 && along[2] === "periodic" ? [`${plus("z", piece)} < ${grid[2]}`] : [];
        const where = [`${prefix}at${blockOf(plane).block}_${piece} >= 0`, ...conditions, ...inGrid];
        const at = elementOf(plane, piece, prefix);
        const line = eitherWay((_, before) => `${before}[${at}] = ${value}${cellsOf(piece)};`);
        return `if (${where.join(" && ")}) { ${line} }`;
      });
    },
  };
}
