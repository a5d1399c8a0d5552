/**
 * Points in torres. For each place that a tile can have, the table lists the columns of cells with points that it covers; a
 * tier whose list is empty pays one branch. In a column all points between the lowest and the highest have an entry by z,
 * so that each thread finds its own.
 *
 * The table: where the list of each x and y of a tile begins, and where the last one ends; the lists, a column an entry:
 * place, lowest z, number of z, where its rows are; the rows, by z: those in what is added and recorded. All are counted
 * in words from the table's head.
 *
 * @module
 */
import { placePoints, type Points } from "../points.ts";
import type { Problem } from "../stencils/stencil.ts";
import { cellType, plus, times } from "../wgsl/declare.ts";
import { HEAD_WORDS } from "../wgsl/points.ts";
import { wgsl } from "../wgsl/template.ts";
import { square, type TorreShape } from "./torre_shape.ts";

const ENTRY_WORDS = 4, ROW_WORDS = 2;

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
  const rows = rowsOfTiles({ grid }, width),
    lists = Array.from({ length: (nx + width - 1) * rows }, () => [] as number[]);
  const placed = placePoints(points), places = square(0, width);
  const begin = lists.length + 1, columns: { readonly at: number; readonly words: number[] }[] = [];
  let end = 0;
  for (const column of Map.groupBy(placed, ({ cell: [x, y] }) => `${x} ${y}`).values()) {
    const { cell: [x, y, lowest] } = column[0]!, count = column.at(-1)!.cell[2] - lowest + 1;
    const words = new Array<number>(ROW_WORDS * count).fill(-1);
    for (const { cell: [, , z], added, recorded } of column) {
      words.splice(ROW_WORDS * (z - lowest), ROW_WORDS, added, recorded);
    }
    columns.push({ at: end, words });
    places.forEach(([a, b], place) => {
      const tileX = x - (a + b) / 2 + width - 1, tileY = (y - (a - b) / 2) / (width / 2);
      if (!Number.isInteger(tileY) || tileY < 0 || tileY >= rows) return;
      lists[tileX * rows + tileY]!.push(place, lowest, count, end);
    });
    end += words.length;
  }
  const listed = lists.reduce((sum, { length }) => sum + length, 0), firstRow = begin + listed;
  const table = new Int32Array(firstRow + end);
  let at = begin;
  lists.forEach((list, i) => {
    table[i] = at;
    table.set(list, at);
    for (let rowsAt = at + 3; rowsAt < at + list.length; rowsAt += ENTRY_WORDS) table[rowsAt]! += firstRow;
    at += list.length;
  });
  table[begin - 1] = at;
  for (const { at, words } of columns) table.set(words, firstRow + at);
  return table;
}

/** What finds the list of a tier, one of those in the loop's body, at its beginning: the loads take their time. */
export function findPoints({ width }: TorreShape, tier: number): string {
  return wgsl`
    let list${tier} = ${HEAD_WORDS} + (clamp(x, 1 - W, NX - 1) + W - 1) * TILE_ROWS + y / ${width / 2};
    let listBegin${tier} = points[list${tier}];
    let listEnd${tier} = select(listBegin${tier}, points[list${tier} + 1], x > -W && x < NX);
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
  const lanes = Array.from({ length: zPerThread }, (_, lane) => {
    const value = zPerThread === 1 ? "value" : `value.${"xyzw"[lane]}`;
    return wgsl`
      {
        let z = ${plus(times(zPerThread, "thread"), lane)} - points[entry + 1];
        if (z >= 0 && z < points[entry + 2]) {
          let rows = ${HEAD_WORDS} + points[entry + 3] + ${ROW_WORDS} * z;
          ${value} = atPoint(${value}, points[rows], points[rows + 1], row.y / W + tier${
      tier > 0 ? ` + ${tier}` : ""
    });
        }
      }
    `;
  });
  return wgsl`
    for (var i = listBegin${tier}; i < listEnd${tier}; i += ${ENTRY_WORDS}) {
      let entry = ${HEAD_WORDS} + i;
      let place = points[entry];
      var value = ${cellType(zPerThread)}();
      switch place {
        ${eachPlace((name) => `value = ${name};`)}
        default: {}
      }
      ${lanes.join("\n")}
      switch place {
        ${eachPlace((name) => `${name} = value;`)}
        default: {}
      }
    }
  `.trimEnd();
}
