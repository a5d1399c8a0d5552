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
import { placePoints, type Point, type Points } from "../points.ts";
import type { Problem } from "../stencils/stencil.ts";
import { cellType, plus, times } from "../wgsl/declare.ts";
import { HEAD_VECTORS } from "../wgsl/points.ts";
import { wgsl } from "../wgsl/template.ts";
import { type Place, tileOf, type TorreShape } from "./torre_shape.ts";

/** Numbers of a vector, and of the row of a z; more than any place. */
const VECTOR = 4, ROW = 2, MORE = 2 ** 16;

/** Places of a tile along y, half a tile apart, that meet the grid. */
function rowsOfTiles({ grid: [, ny] }: Pick<Problem, "grid">, { width, spread }: TorreShape): number {
  return Math.floor((ny + width / 2 - 2 + spread[1]) / (width / 2)) + 1;
}

/** The table of a problem's points. */
export function tabulateTorres(
  { grid, grid: [nx] }: Pick<Problem, "grid">,
  shape: TorreShape,
  points: Points,
): Int32Array<ArrayBuffer> {
  const { width, cells } = shape,
    tileRows = rowsOfTiles({ grid }, shape),
    firstX = 1 - width - shape.spread[0];
  const perRow = nx - firstX, lists = Array.from({ length: tileRows * perRow }, (): number[] => []);
  const begin = Math.ceil(lists.length / VECTOR), entered: number[] = [];
  const columnOf = ({ field, cell: [x, y] }: Point): string => `${field} ${x} ${y}`;
  // those of materials are only read, by no torre
  const placed = placePoints(points).filter(({ field }) => field < shape.corners.length);
  for (const column of Map.groupBy(placed, columnOf).values()) {
    const { field, cell: [x, y, lowest] } = column[0]!, count = column.at(-1)!.cell[2] - lowest + 1;
    const rowsAt = entered.length / VECTOR,
      rows = new Array<number>(VECTOR * Math.ceil(count * ROW / VECTOR)).fill(-1);
    for (const { cell: [, , z], added, recorded } of column) {
      rows.splice(ROW * (z - lowest), ROW, added, recorded);
    }
    entered.push(...rows);
    tileOf(shape, field).forEach(([a, b], place) => {
      const tileX = x - (a + b) / 2 - firstX, tileY = (y - (a - b) / 2) / (width / 2);
      if (!Number.isInteger(tileY) || tileY < 0 || tileY >= tileRows) return;
      lists[tileY * perRow + tileX]!.push(MORE + field * cells + place, lowest, count, rowsAt);
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

/** Adds to the points of the fields that a tier has just made, and records them; `nameOf`: of their new values. */
export function visitPoints(
  fields: readonly number[],
  shape: TorreShape,
  { zPerThread, tier, nameOf }: {
    readonly zPerThread: number;
    readonly tier: number;
    nameOf(place: Place, field: number): string;
  },
): string {
  const names = fields.flatMap((field) =>
    tileOf(shape, field).map((place, i) => [field * shape.cells + i, nameOf(place, field)] as const)
  );
  const eachPlace = (lineOf: (name: string) => string): string =>
    names.map(([place, name]) => `case ${place}: { ${lineOf(name)} }`).join("\n");
  const { width, corners, spread: [further] } = shape, areAll = fields.length === corners.length;
  const visit = areAll ? `${tier}` : `${tier}_${fields[0]}`;
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
    let tile${visit} = y / ${width / 2} * (${plus("NX + W", further - 1)}) + clamp(x, ${
    plus("1 - W", -further)
  }, NX - 1) + ${plus("W", further - 1)};
    let first${visit} = points[${HEAD_VECTORS} + tile${visit} / ${VECTOR}][tile${visit} % ${VECTOR}];
    for (var i = select(0, first${visit}, x > ${plus("-W", -further)} && x < NX); i > 0;) {
      let entry = points[${HEAD_VECTORS} + i];
      let place = entry.x % ${MORE};
      i = select(0, i + 1, entry.x >= ${MORE});
      let above = ${times(zPerThread, "thread")} - entry.y;
      if (above > ${-zPerThread} && above < entry.z) {
        var isAddedTo = false;
        var value = ${cellType(zPerThread)}();
        switch place {
          ${eachPlace((name) => `value = ${name};`)}
          default: ${areAll ? "{}" : "{ continue; }"}
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
