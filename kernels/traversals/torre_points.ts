/**
 * Points in torres. For each place that a tile can have, the table lists the columns of cells with points that it covers; a
 * tier whose list is empty pays one branch. In a column all points between the lowest and the highest have a row by z, so
 * that each thread finds its own, and threads without one have read four numbers.
 *
 * The table, in vectors of four numbers: for each x and y of a tile where its list begins and ends, two of them in a vector;
 * the lists, a column a vector: place, lowest z, number of z, where its rows are; the rows, two z in a vector: those in what
 * is added and recorded. All are counted in vectors from the table's head.
 *
 * @module
 */
import { placePoints, type Points } from "../points.ts";
import type { Problem } from "../stencils/stencil.ts";
import { cellType, plus, times } from "../wgsl/declare.ts";
import { HEAD_VECTORS } from "../wgsl/points.ts";
import { wgsl } from "../wgsl/template.ts";
import { square, type TorreShape } from "./torre_shape.ts";

/** Numbers of a vector, and of the row of a z. */
const VECTOR = 4, ROW = 2;

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
  const tileRows = rowsOfTiles({ grid }, width);
  const lists = Array.from({ length: (nx + width - 1) * tileRows }, (): number[] => []);
  const begin = Math.ceil(lists.length * 2 / VECTOR), entered: number[] = [];
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
      lists[tileX * tileRows + tileY]!.push(place, lowest, count, rowsAt);
    });
  }
  const firstRow = begin + lists.reduce((sum, { length }) => sum + length, 0) / VECTOR;
  const table = new Int32Array(VECTOR * firstRow + entered.length);
  let at = begin;
  lists.forEach((list, i) => {
    table.set(list, VECTOR * at);
    for (let rows = VECTOR * at + 3; rows < VECTOR * at + list.length; rows += VECTOR) {
      table[rows]! += firstRow;
    }
    table.set([at, at += list.length / VECTOR], 2 * i);
  });
  table.set(entered, VECTOR * firstRow);
  return table;
}

/** What finds the list of a tier, one of those in the loop's body, at its beginning: the load takes its time. */
export function findPoints({ width }: TorreShape, tier: number): string {
  return wgsl`
    let tile${tier} = (clamp(x, 1 - W, NX - 1) + W - 1) * TILE_ROWS + y / ${width / 2};
    let two${tier} = points[${HEAD_VECTORS} + tile${tier} / 2];
    let its${tier} = select(two${tier}.xy, two${tier}.zw, tile${tier} % 2 == 1);
    let list${tier} = select(vec2i(), its${tier}, x > -W && x < NX);
  `.trimEnd();
}

/** The number of places along y, for {@linkcode findPoints}. */
export function declareTileRows(problem: Problem, { width }: TorreShape): string {
  return `const TILE_ROWS = ${rowsOfTiles(problem, width)};`;
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
    for (var i = list${tier}.x; i < list${tier}.y; i++) {
      let entry = points[${HEAD_VECTORS} + i];
      let above = ${times(zPerThread, "thread")} - entry.y;
      if (above > ${-zPerThread} && above < entry.z) {
        var isAddedTo = false;
        var value = ${cellType(zPerThread)}();
        switch entry.x {
          ${eachPlace((name) => `value = ${name};`)}
          default: {}
        }
        ${lanes.join("\n")}
        if (isAddedTo) {
          switch entry.x {
            ${eachPlace((name) => `${name} = value;`)}
            default: {}
          }
        }
      }
    }
  `.trimEnd();
}
