/**
 * Tables of points for workgroups that make several steps: lists, one for each place that asks for its own, whose entries say
 * which cells along z have points; and rows by z, so that each thread finds its own, and threads without one have read four
 * numbers.
 *
 * In vectors of four numbers: where each list begins, 0 without one, four of them in a vector; the lists, an entry a vector:
 * a number of the traversal's own, lowest z, number of z, where its rows are; the rows, two z in a vector: those in what is
 * added and recorded. All are counted in vectors from the table's head.
 *
 * @module
 */
import { plus } from "../wgsl/declare.ts";
import { HEAD_VECTORS } from "../wgsl/points.ts";
import { wgsl } from "../wgsl/template.ts";

/** Numbers of a vector, and of the row of a z. */
const VECTOR = 4;
const ROW = 2;

/** Where a list ends that no `most` ends: more than any place. */
export const NEVER = 2 ** 31 - 1;

/** A z with its rows in what is added and recorded; −1: none. */
export interface PlacedRow {
  readonly z: number;
  readonly added: number;
  readonly recorded: number;
}

/** What a list says of cells of its workgroup: which place they have there, and the rows of a column by z, or those of one cell. */
export type ListEntry = readonly [list: number, place: number, rows: readonly PlacedRow[] | PlacedRow];

/** Puts rows, by z, behind those that are there; returns the last three numbers of an entry. */
function enterRows(entered: number[], column: readonly PlacedRow[]): readonly number[] {
  const lowest = column[0]!.z, count = column.at(-1)!.z - lowest + 1, rowsAt = entered.length / VECTOR;
  const rows = new Array<number>(VECTOR * Math.ceil(count * ROW / VECTOR)).fill(-1);
  for (const { z, added, recorded } of column) rows.splice(ROW * (z - lowest), ROW, added, recorded);
  entered.push(...rows);
  return [lowest, count, rowsAt];
}

/**
 * The table of `count` lists with these entries; columns that are the same array lie there once.
 *
 * @param most more than any place: added to all of a list but the last @default {NEVER ends each list}
 */
export function packLists(
  count: number,
  entries: Iterable<ListEntry>,
  most?: number,
): Int32Array<ArrayBuffer> {
  const lists = new Map<number, number[]>(), entered: number[] = [];
  const known = new Map<unknown, readonly number[]>();
  for (const [list, place, rows] of entries) {
    const isCell = "z" in rows;
    if (!isCell && !known.has(rows)) known.set(rows, enterRows(entered, rows));
    const words = isCell ? [rows.added, rows.recorded, 0] : known.get(rows)!;
    if (!lists.has(list)) lists.set(list, []);
    lists.get(list)!.push(place + (most ?? 0), ...words);
  }
  let at = Math.ceil(count / VECTOR), firstRow = at;
  for (const list of lists.values()) {
    if (most === undefined) list.push(NEVER, 0, 0, 0);
    else list[list.length - VECTOR]! -= most;
    firstRow += list.length / VECTOR;
  }
  const table = new Int32Array(VECTOR * firstRow + entered.length);
  for (const [i, list] of [...lists].sort(([a], [b]) => a - b)) {
    table.set(list.map((number, k) => k % VECTOR === VECTOR - 1 ? number + firstRow : number), VECTOR * at);
    table[i] = at;
    at += list.length / VECTOR;
  }
  table.set(entered, VECTOR * firstRow);
  return table;
}

/** The text of where a list begins. */
export function beginOf(list: string): string {
  return `points[${HEAD_VECTORS} + ${list} / ${VECTOR}][${list} % ${VECTOR}]`;
}

/**
 * Adds to what a thread has of an `entry`, and records it; `above`: its first cell, from the entry's lowest z; `lanes`: its cells.
 *
 * @param value the variable of its cells; `step`: counted from the list's first; `after`: what else is done, with `its` rows;
 *   `isHere`: "… && ", a condition that the thread's cells be of the entry's row
 */
export function visitRows(
  lanes: number,
  { value, step, after = [], isHere = "" }: {
    readonly value: string;
    readonly step: string;
    readonly after?: readonly string[];
    readonly isHere?: string;
  },
): string {
  return Array.from({ length: lanes }, (_, lane) => {
    const z = plus("above", lane), cell = lanes === 1 ? value : `${value}.${"xyzw"[lane]}`;
    return wgsl`
      if (${isHere}${z} >= 0 && ${z} < entry.z) {
        let rows = points[${HEAD_VECTORS} + entry.w + (${z}) / 2];
        let its = select(rows.xy, rows.zw, (${z}) % 2 == 1);
        ${cell} = atPoint(${cell}, its.x, its.y, ${step});
        ${after.join("\n")}
      }
    `.trimEnd();
  }).join("\n");
}
