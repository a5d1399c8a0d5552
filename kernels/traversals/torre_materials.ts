/**
 * What a torre reads of materials, and when. Both arrays of a level hold the same ones, and no step changes them, so
 * that they can be read from `now` at any time. Which of two forms is faster depends on the registers that F leaves:
 *
 * - `AGAIN`: every tier reads what its cells need from the caches, where a torre's materials stay, a few cells ahead;
 *   what its first cells need is loaded at the end of the tier before.
 * - `HELD`: values come with the tile's leading edge and move from place to place in registers, as those of F do, until
 *   the tile has passed.
 *
 * @module
 */
import { remembered } from "../remembered.ts";
import { tapsOf, type Update } from "../update.ts";
import { lanesAt } from "../wgsl/declare.ts";
import { alongX, type Place, shifted, square, TIER_AHEAD } from "./torre_shape.ts";

/** Values of the parameter `materials`. */
export const AGAIN = 0, HELD = 1;

/** Cells by which loads precede their use where they are read again. */
const AHEAD = 4;

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
  /** What registers hold when a tier begins; where values move, each comes before the one whose value it takes. */
  readonly carried: readonly Element[];
  /** By cell of the tier, as they are visited. */
  readonly loads: readonly MaterialLoads[];
}

/** The elements that the cells of a tile read, and those that its leading edge meets first; rows count an element once. */
interface MaterialNeeds {
  readonly elements: readonly Element[];
  readonly entering: readonly Element[];
  readonly rows: number;
  readonly enteringRows: number;
}

/** A text that two elements share exactly if they are the same. */
export function elementKey({ plane, place, by }: Element): string {
  return `${plane} ${by} ${place}`;
}

/** Where an element's value was one tier ago. */
export function behind(element: Element, slope: number): Element {
  return { ...element, place: shifted(element.place, slope, 0) };
}

/** The elements that cells read, by growing x. */
function elementsAt(update: Update, zPerThread: number, cells: readonly Place[]): Element[] {
  const found = new Map<string, Element>();
  for (const { plane, offset: [x, y, z] } of tapsOf(update)) {
    if (plane < update.fields.length) continue;
    for (const cell of cells) {
      for (const { by } of lanesAt(z, zPerThread)) {
        const element = { plane, place: shifted(cell, x, y), by };
        found.set(elementKey(element), element);
      }
    }
  }
  return [...found.values()].sort((a, b) => alongX(a.place, b.place));
}

export const materialNeeds: (
  update: Update,
  slope: number,
  width: number,
  zPerThread: number,
) => MaterialNeeds = remembered((update, slope, width, zPerThread) => {
  const elements = elementsAt(update, zPerThread, square(0, width));
  const enteringOf = (some: readonly Element[]): Element[] => {
    const keys = new Set(some.map(elementKey));
    return some.filter((one) => !keys.has(elementKey(behind(one, slope))));
  };
  const rows = new Map(elements.map((one) => [elementKey({ ...one, by: 0 }), { ...one, by: 0 }]));
  return {
    elements,
    entering: enteringOf(elements),
    rows: rows.size,
    enteringRows: enteringOf([...rows.values()]).length,
  };
});

/** When a tier loads what of materials: `chunks` are its cells, chunk by chunk. */
export function visitMaterials(
  update: Update,
  { slope, width, zPerThread, materials, lookahead }: Record<
    "slope" | "width" | "zPerThread" | "materials" | "lookahead",
    number
  >,
  chunks: readonly (readonly Place[])[],
): MaterialVisit {
  const { elements, entering } = materialNeeds(update, slope, width, zPerThread);
  const isLoaded = new Set((materials === HELD ? entering : elements).map(elementKey));
  const cells = chunks.flat(), loads = cells.map((): MaterialLoads => ({ now: [], next: [] }));
  const firstOf = (chunk: number): number => chunks.slice(0, Math.max(0, chunk)).flat().length;
  const readers = new Map<string, number>();
  for (const [index, cell] of cells.entries()) {
    for (const key of elementsAt(update, zPerThread, [cell]).map(elementKey)) {
      if (!readers.has(key)) readers.set(key, index);
    }
  }
  const carried = elements.filter((element) => {
    const key = elementKey(element), reader = readers.get(key)!;
    if (!isLoaded.has(key)) return true;
    const chunk = chunks.findIndex((_, i) => reader < firstOf(i + 1));
    const at = materials !== HELD
      ? reader - AHEAD
      : lookahead === TIER_AHEAD
      ? -cells.length
      : firstOf(chunk - lookahead);
    if (at < 0) loads[Math.max(0, at + cells.length)]!.next.push(element);
    else loads[at]!.now.push(element);
    return at < 0;
  });
  return { carried, loads };
}
