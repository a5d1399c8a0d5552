/**
 * What a torre reads of materials, and when. Both arrays of a level hold the same ones, and no step changes them, so
 * that they can be read from `now` at any time. Which of two forms is faster depends on the registers that F leaves:
 *
 * - read again: every tier reads what its cells need from the caches, where a torre's materials stay, some cells ahead.
 * - held: values come with the tile's leading edge, at the start of a tier, and move from place to place in registers, as
 *   those of F do, until the tile has passed.
 *
 * Of packed materials (`packed.ts`) either loads and holds words, and makes values of them wherever cells read them.
 *
 * @module
 */
import { tapsIn } from "../../expression.ts";
import { remembered } from "../../remembered.ts";
import type { Assignment, Update } from "../../update.ts";
import { lanesAt } from "../../wgsl/declare.ts";
import { alongX, keyAt, type Place, shifted, tilesOf } from "../tiles.ts";
import type { TorreParameters } from "./shape.ts";
import { type Cell, cellsOf } from "./visit.ts";

/** Cells by which loads precede their use where values are read again: a cache answers while these are computed. */
export const CELLS_AHEAD = 12;

/** What a thread reads at once: of a material at a place its cells along z, or those `by` elements further. */
export interface Element {
  readonly plane: number;
  readonly place: Place;
  readonly by: number;
}

/** What is loaded before a cell is computed: for this tier, and for the next in that tier's coordinates. */
export interface MaterialLoads {
  readonly now: Element[];
  readonly next: Element[];
}

export interface MaterialVisit {
  /** What registers hold when a tier begins; each comes before the one whose value it takes. */
  readonly carried: readonly Element[];
  /** By cell of the tier, as they are visited. */
  readonly loads: readonly MaterialLoads[];
}

/** What the cells of a tile read, and what of that the last tier did not. */
interface MaterialNeeds {
  readonly elements: readonly Element[];
  readonly entering: readonly Element[];
  /** The same as rows of memory: what lies further along z is not another one. */
  readonly rows: readonly Element[];
  readonly enteringRows: readonly Element[];
}

/** A number that two elements share exactly if they are the same. */
export function elementKey({ plane, place, by }: Element): number {
  return keyAt(place, 64 * plane + by + 32);
}

/** Where an element's value was one tier ago. */
export function behind(element: Element, slope: number): Element {
  return { ...element, place: shifted(element.place, slope, 0) };
}

/** The elements that cells read, by growing x. */
function elementsAt(update: Update, zPerThread: number, cells: readonly Cell[]): Element[] {
  const found = new Map<number, Element>();
  for (const assignment of update.substeps.flat()) {
    for (const { plane, offset: [x, y, z] } of materialTaps(assignment, update.fields.length)) {
      for (const { place, made } of cells) {
        if (!made.includes(assignment)) continue;
        for (const { by } of lanesAt(z, zPerThread)) {
          const element = { plane, place: shifted(place, x, y), by };
          found.set(elementKey(element), element);
        }
      }
    }
  }
  return [...found.values()].sort((a, b) => alongX(a.place, b.place));
}

const materialTaps = remembered(({ value }: Assignment, fields: number) =>
  tapsIn([value]).filter(({ plane }) => plane >= fields)
);

export const materialNeeds: (
  update: Update,
  dts: number,
  zPerThread: number,
) => MaterialNeeds = remembered((update, dts, zPerThread) => {
  const { slope } = tilesOf(update, dts);
  const cells = [...update.substeps.keys()].flatMap((substep) => cellsOf(update, dts, substep));
  const elements = elementsAt(update, zPerThread, cells);
  const enteringOf = (some: readonly Element[]): Element[] => {
    const keys = new Set(some.map(elementKey));
    return some.filter((element) => !keys.has(elementKey(behind(element, slope))));
  };
  const rows = new Map(
    elements.map((element) => ({ ...element, by: 0 })).map((element) => [elementKey(element), element]),
  );
  const enteringRows = enteringOf([...rows.values()]);
  return { elements, entering: enteringOf(elements), rows: [...rows.values()], enteringRows };
});

/** When a tier loads what of materials, whose cells are visited in this order. */
export function visitMaterials(
  update: Update,
  { dts, zPerThread, held }: Pick<TorreParameters, "dts" | "zPerThread" | "held">,
  cells: readonly Cell[],
): MaterialVisit {
  const { elements, entering } = materialNeeds(update, dts, zPerThread);
  const loads = cells.map((): MaterialLoads => ({ now: [], next: [] }));
  /** The first cell that reads an element. */
  const readers = new Map<number, number>();
  for (const [index, cell] of cells.entries()) {
    for (const key of elementsAt(update, zPerThread, [cell]).map(elementKey)) {
      if (!readers.has(key)) readers.set(key, index);
    }
  }
  const carried = elements.filter((element) => {
    if (held === 1) {
      if (entering.includes(element)) loads[0]!.now.push(element);
      return !entering.includes(element);
    }
    const at = readers.get(elementKey(element))! - CELLS_AHEAD;
    if (at >= 0) loads[at]!.now.push(element);
    else loads[Math.max(0, at + cells.length)]!.next.push(element);
    return at < 0;
  });
  return { carried, loads };
}
