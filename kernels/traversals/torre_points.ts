/**
 * Points in torres. For each place that a tile can have, the table lists the columns of cells with points that it covers; a
 * tier whose list is empty pays one branch. In a column all points between the lowest and the highest have a row by z, so
 * that each thread finds its own, and threads without one have read four numbers.
 *
 * The table, in vectors of four numbers: for each y and x of a tile where its list begins, 0 without one, four of them in a
 * vector, so that those of a torre's tiers lie side by side; the lists, a column a vector: place, with MORE added unless it
 * is the last, lowest z, number of z, where its rows are; the rows, two z in a vector: those in what is added and recorded.
 * All are counted in vectors from the table's head.
 *
 * @module
 */
import { placePoints, type Points } from "../points.ts";
import type { Problem } from "../stencils/stencil.ts";
import { cellType, plus, times } from "../wgsl/declare.ts";
import { HEAD_VECTORS } from "../wgsl/points.ts";
import { wgsl } from "../wgsl/template.ts";
import { square, type TorreShape } from "./torre_shape.ts";

/** Numbers of a vector, and of the row of a z; more than any place. */
const VECTOR = 4, ROW = 2, MORE = 2 ** 16;

/** Places of a tile along y, half a tile apart, that meet the grid. */
function rowsOfTiles({ grid: [, ny] }: Pick<Problem, "grid">, width: number): number {
  return Math.floor((ny + width / 2 - 2) / (width / 2)) + 1;
}

/** The table of a problem's points. */
export function tabulateTorres(
  { grid, grid: [nx] }: Pick<Problem, "grid">,
  { width }: TorreShape,
  points: Points,
): Int32Array<ArrayBuffer> {
  const tileRows = rowsOfTiles({ grid }, width), perRow = nx + width - 1;
  const lists = Array.from({ length: tileRows * perRow }, (): number[] => []);
  const begin = Math.ceil(lists.length / VECTOR), entered: number[] = [];
  for (const column of Map.groupBy(placePoints(points), ({ cell: [x, y] }) => `${x} ${y}`).values()) {
    const { cell: [x, y, lowest] } = column[0]!, count = column.at(-1)!.cell[2] - lowest + 1;
    const rowsAt = entered.length / VECTOR,
      rows = new Array<number>(VECTOR * Math.ceil(count * ROW / VECTOR)).fill(-1);
    for (const { cell: [, , z], added, recorded } of column) {
      rows.splice(ROW * (z - lowest), ROW, added, recorded);
    }
    entered.push(...rows);
    square(0, width).forEach(([a, b], place) => {
      const tileX = x - (a + b) / 2 + width - 1, tileY = (y - (a - b) / 2) / (width / 2);
      if (!Number.isInteger(tileY) || tileY < 0 || tileY >= tileRows) return;
      lists[tileY * perRow + tileX]!.push(MORE + place, lowest, count, rowsAt);
    });
  }
  const firstRow = begin + lists.reduce((sum, { length }) => sum + length, 0) / VECTOR;
  const table = new Int32Array(VECTOR * firstRow + entered.length);
  let at = begin;
  lists.forEach((list, i) => {
    if (list.length === 0) return;
    list[list.length - VECTOR]! -= MORE;
    table.set(list, VECTOR * at);
    for (let rows = VECTOR * at + 3; rows < VECTOR * at + list.length; rows += VECTOR) {
      table[rows]! += firstRow;
    }
    table[i] = at;
    at += list.length / VECTOR;
  });
  table.set(entered, VECTOR * firstRow);
  return table;
}

/** Adds to the points of a tier's new values, which `next` names by their places, and records them. */
export function visitPoints(
  next: ReadonlyMap<string, string>,
  { width }: TorreShape,
  { zPerThread, tier }: { readonly zPerThread: number; readonly tier: number },
): string {
  const names = square(0, width).map((place) => next.get(`${place}`)!);
  const eachPlace = (lineOf: (name: string) => string): string =>
    names.map((name, place) => `case ${place}: { ${lineOf(name)} }`).join("\n");
  const step = `row.y / W + ${plus("tier", tier)}`;
  const lanes = Array.from({ length: zPerThread }, (_, lane) => {
    const value = zPerThread === 1 ? "value" : `value.${"xyzw"[lane]}`, z = plus("above", lane);
    return wgsl`
      if (${z} >= 0 && ${z} < entry.z) {
        let rows = points[${HEAD_VECTORS} + entry.w + (${z}) / 2];
        let its = select(rows.xy, rows.zw, (${z}) % 2 == 1);
        ${value} = atPoint(${value}, its.x, its.y, ${step});
        isAddedTo = isAddedTo || its.x >= 0;
      }
    `.trimEnd();
  });
  return wgsl`
    let tile${tier} = y / ${width / 2} * (NX + W - 1) + clamp(x, 1 - W, NX - 1) + W - 1;
    let first${tier} = points[${HEAD_VECTORS} + tile${tier} / ${VECTOR}][tile${tier} % ${VECTOR}];
    for (var i = select(0, first${tier}, x > -W && x < NX); i > 0;) {
      let entry = points[${HEAD_VECTORS} + i];
      let place = entry.x % ${MORE};
      i = select(0, i + 1, entry.x >= ${MORE});
      let above = ${times(zPerThread, "thread")} - entry.y;
      if (above > ${-zPerThread} && above < entry.z) {
        var isAddedTo = false;
        var value = ${cellType(zPerThread)}();
        switch place {
          ${eachPlace((name) => `value = ${name};`)}
          default: {}
        }
        ${lanes.join("\n")}
        if (isAddedTo) {
          switch place {
            ${eachPlace((name) => `${name} = value;`)}
            default: {}
          }
        }
      }
    }
  `.trimEnd();
}
