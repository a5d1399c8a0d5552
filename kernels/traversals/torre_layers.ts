/**
 * Fields in layers (`../layers.ts`) in torres, such as a PML's memory: tiles do not hold them. A tier reads them where they
 * lie, in the cells where it makes the fields that they belong to, and stores them there; no other cell reads them.
 *
 * A tier whose tiles touch layers along x or y computes all of them. Any other leaves those out, and has those along z,
 * whose ends every torre meets.
 *
 * @module
 */
import { tapsIn } from "../expression.ts";
import { besideLayers, blocksOf, blockValues, layered, layersShare, storedUpdate } from "../layers.ts";
import { remembered } from "../remembered.ts";
import type { Problem } from "../stencils/stencil.ts";
import { isLayered, type Substep, type Update } from "../update.ts";
import { cellType, plus } from "../wgsl/declare.ts";
import type { Resolver, UpdateWriter } from "../wgsl/write_update.ts";
import { layerAccess, type LayerRead } from "./layer_storage.ts";
import type { Place, TorreShape } from "./torre_shape.ts";
import type { Cell } from "./torre_visit.ts";

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
  for (const { field, value } of made.filter(({ field }) => isLayered(whole, field))) {
    const readers = made.filter((one) =>
      !isLayered(whole, one.field) && tapsIn([one.value]).some(({ plane }) => plane === field)
    );
    const [owner] = readers, own = update.substeps.flat().find((one) => one.field === owner?.field);
    const isBeside = whole.substeps.some((substep) =>
      [owner, field].every((one) => substep.some((made) => made === one || made.field === one))
    );
    if (own === undefined || readers.length > 1 || !isBeside) return { problem };
    const taps = tapsIn([own.value]), all = tapsIn([own.value, value]);
    if (all.filter(({ plane }) => !isLayered(whole, plane)).length > taps.length) return { problem };
    owners.set(field, own.field);
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

/** A cell of a tier, and what the names of its lines begin with. */
type LayeredCell = Cell & { readonly prefix: string };

/** How a torre's shader writes layers. */
export type LayerWriter = ReturnType<typeof layerWriter>;

/**
 * Writes what a tier makes where there are layers.
 *
 * @param problem the whole grid; `bound`: scratch buffers that the shader binds before the layers
 */
export function layerWriter(
  problem: Problem,
  { whole, usual, owners }: TorreLayers,
  { width, spread }: Pick<TorreShape, "width" | "spread">,
  { zPerThread, z, bound }: { readonly zPerThread: number; readonly z: string; readonly bound: number },
) {
  const access = layerAccess(problem, bound, zPerThread, "odd"), blocks = blocksOf(problem);
  const cellsAlong = (axis: number) =>
    Math.max(0, ...blocks.filter((one) => one.axis === axis).map(({ cells }) => cells));
  const [alongX, alongY] = [cellsAlong(0), cellsAlong(1)], isBeside = alongX + alongY > 0;
  const indicesAt = ([a, b]: Place) => [plus("x", (a + b) / 2), plus("y", (a - b) / 2), z] as const;
  /** What an update makes of some fields and of what belongs to them. */
  const partOf = ({ substeps }: Update, made: Substep): Substep => {
    const all = substeps.flat(), fields = made.map(({ field }) => field);
    const its = fields.map((field) => all.find((one) => one.field === field)!);
    return [...its, ...all.filter(({ field }) => fields.includes(owners.get(field) ?? -1))];
  };
  const alwaysRead = ({ made, place, prefix }: LayeredCell): LayerRead => {
    return { planes: access.needed(partOf(usual, made)), at: indicesAt(place), prefix };
  };
  return {
    declarations: access.declarations,
    /** Lines before all tiers, and before each, that find whether its tiles touch layers along x or y. */
    start: alongY > 0
      ? [`let nearY = y - W / 2 + ${1 - spread[1]} < ${alongY} || y + W / 2 > NY - ${alongY};`]
      : [],
    tier: !isBeside ? [] : [`let isNear = ${
      [
        ...alongY > 0 ? ["nearY"] : [],
        ...alongX > 0 ? [`x < ${alongX}`, `x + ${width + spread[0]} > NX - ${alongX}`] : [],
      ].join(" || ")
    };`],
    /** Lines that read what cells always need. */
    read: (cells: readonly LayeredCell[]): string[] => access.readTogether(cells.map(alwaysRead)),
    /**
     * Lines that make the fields of cells after that, and texts of their values. What is done everywhere is in one piece, so
     * that a compiler may mix the cells.
     */
    write(writer: UpdateWriter, cells: readonly (LayeredCell & { readonly resolver: Resolver })[]) {
      const nameOf = ({ made, prefix }: LayeredCell) => made.map(({ field }) => `${prefix}v${field}`);
      const make = (update: Update): string[] => {
        const parts = cells.map((cell) => partOf(update, cell.made));
        const others = cells.map((cell, i): LayerRead => {
          const { planes: always, ...read } = alwaysRead(cell);
          return { ...read, planes: access.needed(parts[i]!).filter((plane) => !always.includes(plane)) };
        });
        const lines = cells.flatMap(({ resolver, ...cell }, i) => {
          const { prefix } = cell, part = parts[i]!, names = nameOf(cell);
          const { lines, values } = writer.write(
            { ...resolver, tap: (tap) => access.tap(tap.plane, prefix) ?? resolver.tap(tap) },
            part.map(({ value }) => value),
          );
          return [
            ...lines,
            ...part.map(({ field }, i) => `${names[i] ?? access.tap(field, prefix)} = ${values[i]};`),
          ];
        });
        return [...access.readTogether(others), ...lines, ...access.storeTogether(others)];
      };
      const type = cellType(zPerThread);
      return {
        lines: [
          ...cells.flatMap(nameOf).map((name) => `var ${name}: ${type};`),
          ...isBeside ? ["if (isNear) {", ...make(whole), "} else {", ...make(usual), "}"] : make(whole),
          ...access.storeTogether(cells.map(alwaysRead)),
        ],
        values: cells.map(nameOf),
      };
    },
  };
}
