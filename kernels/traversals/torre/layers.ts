/**
 * Fields in layers (`../layers.ts`) in torres, such as a PML's memory: tiles do not hold them. A tier reads them where they
 * lie, in the cells where it makes the fields that they belong to, and stores them there; no other cell reads them.
 *
 * A tier whose tiles touch layers along x or y computes all of them. Any other leaves those out, and has those along z,
 * whose ends every torre meets.
 *
 * @module
 */
import { tapsIn } from "../../expression.ts";
import {
  besideLayers,
  blockOf,
  blocksOf,
  blockValues,
  type LayerBlock,
  layered,
  layersShare,
  storedUpdate,
} from "../../layers.ts";
import { remembered } from "../../remembered.ts";
import type { Problem } from "../../stencils/stencil.ts";
import { isLayered, planesOf, type Update } from "../../update.ts";
import { cellType, plus, times } from "../../wgsl/declare.ts";
import type { Resolver, UpdateWriter } from "../../wgsl/write_update.ts";
import { declareLayers } from "../../wgsl/layers.ts";
import type { TorreShape } from "./shape.ts";
import type { Cell } from "./visit.ts";

/** Fields in layers beside those that tiles hold. */
export interface TorreLayers {
  /** With all of them, as a plan stores it; and without those along x and y. */
  readonly whole: Update;
  readonly usual: Update;
  /** Each one's field in the tiles. */
  readonly owners: ReadonlyMap<number, number>;
  /** Values of the buffers that hold them, of either level; and those that a cell has, at the mean of all. */
  readonly length: number;
  readonly share: number;
}

/** A problem as tiles hold it, and what they do not. */
export interface Tiled {
  readonly problem: Problem;
  readonly layers?: TorreLayers;
}

/**
 * Layers are left out of tiles where each field in them belongs to one other of its sub-step, and reads nothing more; not
 * in a window, whose sections hold none.
 */
export function tiled(problem: Problem, limits?: { readonly windowBytes?: number | undefined }): Tiled {
  return layered(problem) === 0 || limits?.windowBytes !== undefined ? { problem } : findTiled(problem);
}

const findTiled = remembered((problem: Problem): Tiled => {
  const whole = storedUpdate(problem), { layers: _, ...update } = besideLayers(whole, []);
  const owners = new Map<number, number>(), made = whole.substeps.flat();
  for (const substep of whole.substeps) {
    for (const { field, value } of substep.filter(({ field }) => isLayered(whole, field))) {
      const readers = made.filter((assignment) =>
        !isLayered(whole, assignment.field) && tapsIn([assignment.value]).some(({ plane }) => plane === field)
      );
      const own = readers.length === 1 && substep.includes(readers[0]!)
        ? update.substeps.flat().find((assignment) => assignment.field === readers[0]!.field)
        : undefined;
      if (own === undefined) return { problem };
      const all = tapsIn([own.value, value]).filter(({ plane }) => !isLayered(whole, plane));
      if (all.length > tapsIn([own.value]).length) return { problem };
      owners.set(field, own.field);
    }
  }
  return {
    problem: { ...problem, stencil: { ...problem.stencil, update } },
    layers: {
      whole,
      usual: besideLayers(whole, [2]),
      owners,
      length: blockValues(blocksOf(problem)),
      share: layersShare(problem),
    },
  };
});

/** Why a torre cannot have fields in layers with some cells a thread along z, and tiles of some size; undefined if it can. */
export function whyUnlayered(
  problem: Problem,
  { width, spread }: Pick<TorreShape, "width" | "spread">,
  zPerThread: number,
): string | undefined {
  for (const { axis, cells } of blocksOf(problem)) {
    const between = problem.grid[axis] - 2 * cells;
    if (axis === 2 && [cells, problem.grid[2]].some((count) => count % zPerThread !== 0)) {
      return `zPerThread ${zPerThread}: a multiple is wanted of ${cells} cells in layers and ${
        problem.grid[2]
      } along z`;
    }
    if (axis < 2 && between > 0 && between < width + spread[axis as 0 | 1]) {
      return `tiles of ${width} cells touch layers at both ends, which are ${between} apart`;
    }
  }
  const { grid: [, , nz] } = problem;
  return nz % zPerThread === 0
    ? undefined
    : `zPerThread ${zPerThread}: a multiple is wanted of ${nz} cells along z`;
}

/** A cell of a tier, and what the names of its lines begin with. */
type LayeredCell = Cell & { readonly prefix: string };

/** How a torre's shader writes layers. */
export type LayerWriter = ReturnType<typeof layerWriter>;

/**
 * Writes what a tier makes where there are layers. A tile touches them at one end of an axis: there the places of all its
 * cells in a block are as far from each other as in the grid.
 *
 * @param problem the whole grid; `isRow`: text that is true
 *   for threads in the grid, where some are not
 */
export function layerWriter(
  problem: Problem,
  { whole, usual, owners }: TorreLayers,
  { width, spread }: Pick<TorreShape, "width" | "spread">,
  { zPerThread, isRow }: { readonly zPerThread: number; readonly isRow: string },
) {
  const { grid } = problem, blocks = blocksOf(problem), type = cellType(zPerThread);
  const z = times(zPerThread, "thread"), first = planesOf(whole);
  /** Cells that a block has at an end. */
  const extent = ({ axis, cells }: LayerBlock): number => 2 * cells < grid[axis] ? cells : grid[axis];
  /** Lines that find where the layer at a tile's, or a thread's, end of an axis begins, and its own place in the block. */
  const ends = blocks.map((layers, block) => {
    const { axis, cells } = layers, n = grid[axis], at = ["x", "y", z][axis]!;
    if (extent(layers) === n) return `let from${block} = 0; let own${block} = ${at};`;
    const isHigh = `${at} >= ${cells + (axis === 1 ? width / 2 - 1 + spread[1] : 0)}`;
    return [
      `let from${block} = select(0, ${n - cells}, ${isHigh});`,
      `let own${block} = ${at} - select(0, ${n - 2 * cells}, ${isHigh});`,
    ].join("\n");
  });
  const base = blocks.map(({ axis, layout: { origin, slice, pitch } }, block) => {
    const [x, y] = ["x", "y"].map((name, i) => axis === i ? `own${block}` : name);
    const along = axis === 2 ? `own${block}` : z;
    const sum = `${origin} + ${x} * ${slice} + ${y} * ${pitch} + ${along}`;
    return `let at${block} = ${zPerThread === 1 ? sum : `(${sum}) / ${zPerThread}`};`;
  });
  /** Lines that find whether a tile or, along z, a thread touches a block. */
  const near = blocks.map((layers, block) => {
    const { axis } = layers, cells = extent(layers), n = grid[axis];
    if (axis === 2) return `let near${block} = u32(${z} - from${block}) < ${cells}u;`;
    const [begin, end] = axis === 0
      ? ["x", `x + ${width + spread[0]}`]
      : [plus("y - W / 2", 1 - spread[1]), "y + W / 2"];
    return `let near${block} = ${begin} < ${cells} || ${end} > ${n - cells};`;
  });
  const across = blocks.flatMap(({ axis }, block) => axis === 2 ? [] : [`near${block}`]);
  /** The line that finds whether cells of a tile are in the grid, or in a block along its axis, and the name of what it finds. */
  const check = (axis: 0 | 1, cells: number, block: number) => {
    const name = "xy"[axis]!, layers = blocks[block]!, isOwn = layers.axis === axis;
    const found = `in${name}${isOwn ? block : ""}_${cells < 0 ? `m${-cells}` : cells}`;
    const from = isOwn ? `${name} - from${block}` : name, count = isOwn ? extent(layers) : grid[axis];
    return { name: found, line: `let ${found} = u32(${plus(from, cells)}) < ${count}u;` };
  };
  /** A plane's value in a cell: its name, where it lies, and what must hold for it to be there. */
  const valueOf = (plane: number, { place: [a, b], prefix }: LayeredCell) => {
    const place = blockOf(blocks, plane - first), { block, layout: { slice, pitch, plane: size } } = place;
    const x = (a + b) / 2, y = (a - b) / 2, by = x * slice + y * pitch + place.plane * size;
    const checks = [check(0, x, block), check(1, y, block)];
    return { block, name: `${prefix}m${plane}`, index: plus(`at${block}`, by / zPerThread), checks };
  };
  type LayerValue = ReturnType<typeof valueOf>;
  const isAlongZ = ({ block }: LayerValue): boolean => blocks[block]!.axis === 2;
  const eitherWay = (lineOf: (now: string, before: string) => string[]): string[] => [
    "if (odd) {",
    ...lineOf("layersBefore", "layersNow"),
    "} else {",
    ...lineOf("layersNow", "layersBefore"),
    "}",
  ];
  /** Lines in a branch for each block, taken where a tile or, along z, a thread touches it. */
  const byBlock = (
    values: readonly LayerValue[],
    linesOf: (values: readonly LayerValue[]) => string[],
  ): string[] =>
    [...Map.groupBy(values, ({ block }) => block)].flatMap(([block, inBlock]) => [
      `if (near${block}) {`,
      ...linesOf(inBlock),
      "}",
    ]);
  /** What an update makes of some fields and of what belongs to them, and the values of layers that it needs. */
  const partOf = ({ substeps }: Update, cell: LayeredCell) => {
    const all = substeps.flat(), fields = cell.made.map(({ field }) => field);
    const first = fields.map((field) => all.find((value) => value.field === field)!);
    const part = [...first, ...all.filter(({ field }) => fields.includes(owners.get(field) ?? -1))];
    const planes = new Set(tapsIn(part.map(({ value }) => value)).map(({ plane }) => plane));
    return {
      part,
      values: [...planes].filter((plane) => isLayered(whole, plane)).map((plane) => valueOf(plane, cell)),
    };
  };
  return {
    declarations: declareLayers(type),
    /** Lines before all tiers, and before each. */
    start: blocks.flatMap(({ axis }, block) => axis === 0 ? [] : [ends[block]!, near[block]!]),
    tier: [
      ...blocks.flatMap(({ axis }, i) => [...axis === 0 ? [ends[i]!, near[i]!] : [], base[i]!]),
      `let isNear = ${[...across, "acrossY", "x < 0", `x + ${width + spread[0]} > NX`].join(" || ")};`,
    ],
    /** Lines that read what cells always need. */
    read(cells: readonly LayeredCell[]): string[] {
      const values = cells.flatMap((cell) => partOf(usual, cell).values);
      return [
        ...values.map(({ name }) => `var ${name} = ${type}();`),
        ...byBlock(
          values,
          (inBlock) => eitherWay((now) => inBlock.map(({ name, index }) => `${name} = ${now}[${index}];`)),
        ),
      ];
    },
    /**
     * Lines that make the fields of cells after that, and texts of their values. What is done everywhere is in one piece, so
     * that a compiler may mix the cells.
     */
    write(writer: UpdateWriter, cells: readonly (LayeredCell & { readonly resolver: Resolver })[]) {
      const nameOf = ({ made, prefix }: LayeredCell) => made.map(({ field }) => `${prefix}v${field}`);
      const make = (update: Update): string[] => {
        const parts = cells.map((cell) => partOf(update, cell)),
          values = parts.flatMap(({ values }) => values);
        const others = values.filter((value) => !isAlongZ(value));
        const lines = cells.flatMap((cell, i) => {
          const { prefix, resolver } = cell, { part } = parts[i]!, names = nameOf(cell);
          const { lines, values } = writer.write({
            ...resolver,
            tap: (tap) => isLayered(whole, tap.plane) ? `${prefix}m${tap.plane}` : resolver.tap(tap),
          }, part.map(({ value }) => value));
          return [
            ...lines,
            ...part.map(({ field }, i) => `${names[i] ?? `${prefix}m${field}`} = ${values[i]};`),
          ];
        });
        const where = ({ checks }: LayerValue): string => checks.map(({ name }) => name).join(" & ");
        const load = (now: string) => (value: LayerValue): string =>
          `${value.name} = select(${type}(), ${now}[${value.index}], ${where(value)});`;
        const store = (before: string) => ({ name, index }: LayerValue) => `${before}[${index}] = ${name};`;
        const storeWhere = (before: string) => ([where, alike]: [string, LayerValue[]]): string[] => [
          `if (${where}) {`,
          ...alike.map(store(before)),
          "}",
        ];
        /** What is done everywhere lies in the grid. */
        const storeAll = (inBlock: readonly LayerValue[]): string[] =>
          eitherWay((_, before) =>
            update === usual
              ? inBlock.map(store(before))
              : [...Map.groupBy(inBlock, where)].flatMap(storeWhere(before))
          );
        const stored = byBlock(others, storeAll);
        return [
          ...update === usual ? [] : new Set(values.flatMap(({ checks }) => checks.map(({ line }) => line))),
          ...others.map(({ name }) => `var ${name} = ${type}();`),
          ...byBlock(others, (inBlock) => eitherWay((now) => inBlock.map(load(now)))),
          ...lines,
          ...isRow === "" ? stored : [`if (${isRow}) {`, ...stored, "}"],
          ...byBlock(values.filter(isAlongZ), storeAll),
        ];
      };
      return {
        lines: [
          ...cells.flatMap(nameOf).map((name) => `var ${name}: ${type};`),
          "if (isNear) {",
          ...make(whole),
          "} else {",
          ...make(usual),
          "}",
        ],
        values: cells.map(nameOf),
      };
    },
  };
}
