/**
 * Points in marches of several steps a pass. Each workgroup has a list (`point_lists.ts`), by the slices that its march
 * reaches, by what it makes there and by rows of threads: an entry begins with (x · values + index) · rows + row, as the
 * pass makes that one of a slice's values when the march is at x. Workgroups without a list have a loop without points.
 *
 * A cell in a rim is computed by several workgroups, and one beyond an end that holds images wherever it is an image: a
 * source is added in all of them. Only the workgroup that stores a cell records it.
 *
 * @module
 */
import { placePoints, type Points } from "../../points.ts";
import { remembered } from "../../remembered.ts";
import type { SliceRange } from "../../sections.ts";
import { alongAxes, type Boundary, imageOf, type Problem } from "../../stencils/stencil.ts";
import type { Update } from "../../update.ts";
import { times } from "../../wgsl/declare.ts";
import { declarePoints, HEAD_VECTORS } from "../../wgsl/points.ts";
import { wgsl } from "../../wgsl/template.ts";
import { type Ends, type March, type MarchShape, ownThreads } from "./shape.ts";
import { beginOf, type ListEntry, NEVER, packLists, type PlacedRow, visitRows } from "../point_lists.ts";

/** What a pass makes in a slice, in this order: its plane, in which sub-step, of which field, and in which step. */
const madeIn = remembered(({ fields, substeps }: Update) => {
  const all = substeps.flatMap((substep, stage) => substep.map(({ field: plane }) => ({ stage, plane })));
  const steps = all.length / fields.length;
  return all.map(({ stage, plane }) => {
    // the last step's are the fields' own, and planes beyond them those of the steps before
    const field = plane % fields.length, step = ((plane - field) / fields.length + steps - 1) % steps;
    return { plane, stage, field, step };
  });
});

/** A row of a workgroup's column, which may store it. */
interface RimmedRow extends PlacedRow {
  readonly isOwn: boolean;
}

/**
 * The table of a problem's points.
 *
 * @param sections the slices that each section owns; `workgroups`: of such a section
 */
export function tabulateMarches(
  { grid: [nx, ny, nz], boundary }: Pick<Problem, "grid" | "boundary">,
  shape: MarchShape & { readonly update: Update },
  sections: readonly { readonly own: SliceRange; readonly workgroups: readonly [number, number, number] }[],
  points: Points,
): Int32Array<ArrayBuffer> {
  const { update, zPerThread, threadsZ, threadsY, haloY, haloZ, slices, queues: { leads, warmUp } } = shape;
  const [alongX, alongY, alongZ] = alongAxes(boundary), [across, rows] = sections[0]!.workgroups;
  const inY = placesOf([ny, alongY], rows, { cells: 1, threads: threadsY, halo: haloY });
  const inZ = placesOf([nz, alongZ], across, { cells: zPerThread, threads: threadsZ, halo: haloZ });
  // those of materials are only read, by no march
  const count = update.fields.length, made = madeIn(update);
  const placed = placePoints(points).filter(({ field }) => field < count);
  const ofSlice = Map.groupBy(placed, ({ cell: [x], field }) => x * count + field);
  /** By workgroup of a piece, and its row, what it has of a slice: its rows if the slice is stored, and if it is not. */
  const rowsOf = (plane: number) => {
    const columns = new Map<number, RimmedRow[]>();
    for (const { cell: [, y, z], added, recorded } of ofSlice.get(plane) ?? []) {
      for (const row of inY.get(y) ?? []) {
        for (const { group, place, isOwn } of inZ.get(z) ?? []) {
          const w = (row.group * across + group) * threadsY + row.place;
          if (!columns.has(w)) columns.set(w, []);
          columns.get(w)!.push({ z: place, added, recorded, isOwn: isOwn && row.isOwn });
        }
      }
    }
    return [...columns].sort(([v], [w]) => v - w).map(([w, column]) => {
      column.sort((p, q) => p.z - q.z);
      const rowsIf = (isStored: boolean): PlacedRow[] =>
        column.map((row) => isStored && row.isOwn ? row : { ...row, recorded: -1 })
          .filter(({ added, recorded }) => added >= 0 || recorded >= 0);
      return [w, rowsIf(true), rowsIf(false)] as const;
    });
  };
  const inSlice = new Map([...ofSlice.keys()].map((plane) => [plane, rowsOf(plane)]));
  const entries: ListEntry[] = [];
  let lists = 0;
  for (const { own: [from, to], workgroups: [, , pieces] } of sections) {
    for (let piece = 0; piece < pieces; piece++, lists += across * rows) {
      const first = piece * slices, last = Math.min(first + slices, to - from);
      for (let x = first - warmUp; x < last; x++) {
        for (const [i, { stage, field }] of made.entries()) {
          const slice = x + leads[stage]!, cell = imageOf(from + slice, nx, alongX);
          for (
            const [w, stored, inRim] of inSlice.get(cell === undefined ? -1 : cell * count + field) ?? []
          ) {
            const rows = slice >= first && slice < last ? stored : inRim;
            const place = (x * made.length + i) * threadsY + w % threadsY;
            if (rows.length > 0) entries.push([lists + Math.floor(w / threadsY), place, rows]);
          }
        }
      }
    }
  }
  return packLists(lists, entries);
}

/** Where workgroups have each cell of an axis, itself or an image of it: places from their first cell. */
function placesOf(
  [n, boundary]: readonly [number, Boundary],
  groups: number,
  { cells, threads, halo }: { readonly cells: number; readonly threads: number; readonly halo: Ends },
): Map<number, { readonly group: number; readonly place: number; readonly isOwn: boolean }[]> {
  const own = cells * ownThreads(threads, halo), rim = cells * halo[0];
  const found: ReturnType<typeof placesOf> = new Map();
  for (let group = 0; group < groups; group++) {
    for (let place = 0; place < cells * threads; place++) {
      const at = group * own + place - rim, cell = imageOf(at, n, boundary);
      if (cell === undefined) continue;
      if (!found.has(cell)) found.set(cell, []);
      found.get(cell)!.push({ group, place, isOwn: at === cell && place >= rim && place < rim + own });
    }
  }
  return found;
}

/** How a pass's shader comes to points: its list's next `entry` waits until the march makes that place. */
export function pointAccess(
  { zPerThread, threadsY, update, hasPoints, workgroups: [across, rows] }: March,
) {
  const made = madeIn(update);
  return {
    /** With what a pass is given: steps of the list before it, and the number of lists before its section's. */
    declarations: !hasPoints ? "" : wgsl`
      struct Series { step: i32, lists: i32 }
      @group(0) @binding(2) var<uniform> series: Series;
      ${declarePoints()}
    `,
    /** Lines that find a workgroup's list. */
    start: !hasPoints ? "" : wgsl`
      let list = series.lists + (i32(w.z) * ${rows} + i32(w.y)) * ${across} + i32(w.x);
      let begin = ${beginOf("list")};
      var next = ${HEAD_VECTORS} + begin;
      var entry = select(vec4i(${NEVER}), points[next], begin > 0);
    `.trimEnd(),
    /** Lines that come to the points of a plane's new `value`, as the march is `turn` slices further than x. */
    made(value: string, turn: number, plane: number): string {
      const index = made.findIndex((value) => value.plane === plane), { step } = made[index]!;
      const at = `${times(made.length, "x")} + ${turn * made.length + index}`;
      const isHere = threadsY === 1 ? "" : `row + ${times(threadsY, `(${at})`)} == entry.x && `;
      return wgsl`
        ${threadsY === 1 ? `if (entry.x == ${at}) {` : `while (entry.x < ${threadsY} * (${at} + 1)) {`}
          let above = ${times(zPerThread, "column")} - entry.y;
          ${visitRows(zPerThread, { value, step: `series.step + ${step}`, isHere })}
          next += 1;
          entry = points[next];
        }
      `.trimEnd();
    },
  };
}
