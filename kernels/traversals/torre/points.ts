/**
 * Points in torres. For each place that a tile can have, by y and x so that those of a torre's tiers lie side by side, the
 * table lists the columns of cells with points that it covers (`point_lists.ts`); a tier whose list is empty pays one branch.
 * An entry begins with the column's place in the tile, with MORE added unless it is the last.
 *
 * @module
 */
import { type PlacedPoint, placePoints, type Point, type Points } from "../../points.ts";
import type { Problem } from "../../stencils/stencil.ts";
import { cellType, plus, times } from "../../wgsl/declare.ts";
import { HEAD_VECTORS, seriesAccess } from "../../wgsl/points.ts";
import { wgsl } from "../../wgsl/template.ts";
import { beginOf, type ListEntry, packLists, visitRows } from "../point_lists.ts";
import { type Place, tileOf } from "../tiles.ts";
import type { TorreShape } from "./shape.ts";

/** More than any place. */
const MORE = 2 ** 16;

/** The table of a problem's points. */
export function tabulateTorres(
  { grid: [nx, ny] }: Pick<Problem, "grid">,
  shape: TorreShape,
  points: Points,
): Int32Array<ArrayBuffer> {
  const { width, cells, spread } = shape, firstX = 1 - width - spread[0], perRow = nx - firstX;
  // places of a tile along y, half a tile apart, that meet the grid
  const tileRows = Math.floor((ny + width / 2 - 2 + spread[1]) / (width / 2)) + 1;
  const columnOf = ({ field, cell: [x, y] }: Point): string => `${field} ${x} ${y}`;
  // those of materials are only read, by no torre
  const placed = placePoints(points).filter(({ field }) => field < shape.corners.length);
  function* entriesOf(column: readonly PlacedPoint[]): Generator<ListEntry> {
    const { field, cell: [x, y] } = column[0]!;
    const rows = column.map((point) => ({ ...point, z: point.cell[2] }));
    for (const [place, [a, b]] of tileOf(shape, field).entries()) {
      const tileX = x - (a + b) / 2 - firstX, tileY = (y - (a - b) / 2) / (width / 2);
      if (!Number.isInteger(tileY) || tileY < 0 || tileY >= tileRows) continue;
      yield [tileY * perRow + tileX, field * cells + place, rows];
    }
  }
  const columns = Map.groupBy(placed, columnOf).values();
  return packLists(tileRows * perRow, columns.flatMap(entriesOf), MORE);
}

/** How a torre's shader finds points. */
export type TorrePoints = ReturnType<typeof torrePoints>;

/** The hooks of points in a torre; `tier`: of the loop's body. */
export function torrePoints(problem: Problem, shape: TorreShape, zPerThread: number) {
  const series = seriesAccess(problem), stepOf = (tier: number) => `row.y / W + ${plus("tier", tier)}`;
  return {
    ...series,
    start: (tier: number): string[] => series.start(`signal${tier}`, stepOf(tier)),
    /** Lines that add to the points of the fields that a tier has just made, and record them; `nameOf`: of their new values. */
    made(fields: readonly number[], tier: number, nameOf: (place: Place, field: number) => string): string[] {
      if (!series.hasPoints) return [];
      const names = fields.flatMap((field) =>
        tileOf(shape, field).map((place, i) => [field * shape.cells + i, nameOf(place, field)] as const)
      );
      const eachPlace = (lineOf: (name: string) => string): string =>
        names.map(([place, name]) => `case ${place}: { ${lineOf(name)} }`).join("\n");
      const { width, corners, spread: [further] } = shape, areAll = fields.length === corners.length;
      // of other fields it holds nothing yet; to continue from within the switch llvmpipe compiles wrongly (elastic waves)
      const visit = areAll ? `${tier}` : `${tier}_${fields[0]}`;
      const lanes = visitRows(zPerThread, {
        value: "value",
        step: stepOf(tier),
        after: ["isAddedTo = isAddedTo || its.x >= 0;"],
      });
      return [wgsl`
        let tile${visit} = y / ${width / 2} * (${plus("NX + W", further - 1)}) + clamp(x, ${
        plus("1 - W", -further)
      }, NX - 1) + ${plus("W", further - 1)};
        let first${visit} = ${beginOf(`tile${visit}`)};
        for (var i = select(0, first${visit}, x > ${plus("-W", -further)} && x < NX); i > 0;) {
          let entry = points[${HEAD_VECTORS} + i];
          let place = entry.x % ${MORE};
          i = select(0, i + 1, entry.x >= ${MORE});
          let above = ${times(zPerThread, "thread")} - entry.y;
          if (above > ${-zPerThread} && above < entry.z) {
            var isAddedTo = false;
            ${areAll ? "" : "var isMade = true;"}
            var value = ${cellType(zPerThread)}();
            switch place {
              ${eachPlace((name) => `value = ${name};`)}
              default: ${areAll ? "{}" : "{ isMade = false; }"}
            }
            ${areAll ? lanes : `if (isMade) {\n${lanes}\n}`}
            if (isAddedTo) {
              switch place {
                ${eachPlace((name) => `${name} = value;`)}
                default: {}
              }
            }
          }
        }
      `.trimEnd()];
    },
  };
}
