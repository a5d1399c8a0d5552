/**
 * Fields that differ from 0 in the outer cells of an axis alone, as a PML's memory: where plans store them so. Those of
 * the same cells lie together in a **block**, a grid of its own without what is between the two ends.
 *
 * @module
 */
import { type Axis, constant, type Expression, fold, TREE } from "./expression.ts";
import { type Layout, layOut } from "./layout.ts";
import { remembered } from "./remembered.ts";
import type { Grid, Problem } from "./stencils/stencil.ts";
import { isLayered, type Layer, profileTapsOf, type Update } from "./update.ts";

/** Some fields' layers. */
export interface LayerBlock extends Layer {
  /** The first of them. */
  readonly layer: number;
  /** Where their values lie among those of all blocks; its planes are the fields. */
  readonly layout: Layout;
}

/** How many of a problem's fields plans store in layers: none of a part of a grid, whose ends may be others. */
export function layered({ stencil: { update: { layers = [] } }, isPart = false }: LayeredProblem): number {
  return isPart ? 0 : layers.length;
}

/** The names of fields that are stored in all cells, and so read and written from outside. */
export function wholeFields({ fields, layers = [] }: Update): readonly string[] {
  return fields.slice(0, fields.length - layers.length);
}

/**
 * Where a profile must be what its formula says, so that a field in layers stays 0 beyond them.
 *
 * @param n cells along the profile's axis
 * @returns the field, its layers, and the profile's cells from `first` until before `end`; undefined where any value will do
 */
export function fixedBeyondLayers({ fields, layers = [], substeps }: Update, profile: number, n: number):
  | { readonly field: string; readonly cells: number; readonly first: number; readonly end: number }
  | undefined {
  const found = layers.flatMap(({ axis, cells }, i) => {
    const field = fields.length - layers.length + i,
      own = substeps.flat().filter((assignment) => assignment.field === field);
    return profileTapsOf(own).filter((tap) => tap.profile === profile && tap.axis === axis && 2 * cells < n)
      .map(({ offset }) => ({
        field: fields[field]!,
        cells,
        first: cells + offset,
        end: n - cells + offset,
      }));
  });
  if (found.length === 0) return undefined;
  const first = Math.min(...found.map((layer) => layer.first)),
    end = Math.max(...found.map((layer) => layer.end));
  return { ...found[0]!, first, end };
}

type LayeredProblem = Pick<Problem, "stencil" | "isPart">;

/** The blocks of a problem's fields in layers. */
export function blocksOf(problem: LayeredProblem & Pick<Problem, "grid">): readonly LayerBlock[] {
  return blocksOn(problem.stencil.update, problem.grid, layered(problem));
}

const blocksOn = remembered((update: Update, grid: Grid, count: number): readonly LayerBlock[] => {
  const { layers = [] } = update, blocks: LayerBlock[] = [];
  let origin = 0;
  for (let first = 0, end = 0; first < count; first = end) {
    const { axis, cells } = layers[first]!;
    while (end < count && layers[end]!.axis === axis && layers[end]!.cells === cells) end++;
    const corner = grid.with(axis, Math.min(2 * cells, grid[axis])) as unknown as Grid;
    const layout = layOut(corner, {
      pad: [0, 0, 0],
      align: 1,
      planes: end - first,
      precision: update.precision,
    });
    blocks.push({ axis, cells, layer: first, layout: { ...layout, origin } });
    origin += 8 * Math.ceil(layout.length / 8);
  }
  return blocks;
});

/** The block of a field in layers, counted from their first: with its number, and the field's plane there. */
export function blockOf(blocks: readonly LayerBlock[], layer: number) {
  const index = blocks.findLastIndex((block) => block.layer <= layer), block = blocks[index]!;
  return { ...block, block: index, plane: layer - block.layer };
}

/** Values of all blocks. */
export function blockValues(blocks: readonly LayerBlock[]): number {
  return blocks.reduce((sum, { layout: { length } }) => sum + 8 * Math.ceil(length / 8), 0);
}

/** The update that such a plan computes: the planes of fields in layers follow all others. */
export function storedUpdate(problem: LayeredProblem): Update {
  const { stencil: { update } } = problem;
  return layered(problem) === 0 ? update : reordered(update);
}

const reordered = remembered((update: Update): Update => {
  const { fields, materials, layers = [], ranges } = update, full = fields.length - layers.length;
  const placeOf = (plane: number): number =>
    plane < full ? plane : plane < fields.length ? plane + materials.length : plane - layers.length;
  const again = (of: Expression): Expression =>
    fold<Expression>(of, {
      ...TREE,
      tap: (tap) => ({ ...tap, plane: placeOf(tap.plane) }),
      partial: (of, offset) => ({ kind: "partial", of: again(of), offset }),
    });
  return {
    ...update,
    fields: fields.slice(0, full),
    ...(ranges && { ranges: ranges.slice(0, full) }),
    substeps: update.substeps.map((substep) =>
      substep.map(({ field, value }) => ({ field: placeOf(field), value: again(value) }))
    ),
  };
});

/** What such an update, as a plan stores it, computes in cells that only layers of some axes hold: others are 0 there. */
export const besideLayers: (update: Update, axes: readonly Axis[]) => Update = remembered((update, axes) => {
  const { fields, materials, layers = [] } = update, first = fields.length + materials.length;
  const isZeroThere = (plane: number): boolean =>
    isLayered(update, plane) && !axes.includes(layers[plane - first]!.axis);
  const ofLayers = update.substeps.flat().filter(({ field }) => isZeroThere(field));
  const made = new Set(ofLayers.map(({ value }) => JSON.stringify(value)));
  const zero = constant(0), isZero = (node: Expression) => node.kind === "constant" && node.value === 0;
  const known = new Map<Expression, Expression>();
  const again = (node: Expression): Expression => {
    const found = known.get(node) ?? simpler(node);
    known.set(node, found);
    return found;
  };
  const simpler = (node: Expression): Expression => {
    if (made.has(JSON.stringify(node))) return zero;
    if (node.kind === "tap") return isZeroThere(node.plane) ? zero : node;
    if (!("operands" in node)) return node;
    const operands = node.operands.map(again), [left, right] = operands;
    if (node.kind === "add" && isZero(left!)) return right!;
    return (node.kind === "add" || node.kind === "subtract") && isZero(right!)
      ? left!
      : { ...node, operands };
  };
  const substeps = update.substeps.map((substep) =>
    substep.filter(({ field }) => !isZeroThere(field)).map(({ field, value }) => ({
      field,
      value: again(value),
    }))
  );
  return { ...update, substeps };
});

/** Values that a cell has of fields in layers, at the mean of all. */
export function layersShare(problem: LayeredProblem & Pick<Problem, "grid">): number {
  const { stencil: { update: { layers = [] } }, grid } = problem;
  return layers.slice(0, layered(problem)).reduce(
    (sum, { axis, cells }) => sum + Math.min(1, 2 * cells / grid[axis]),
    0,
  );
}
