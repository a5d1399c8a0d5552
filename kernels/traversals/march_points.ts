/**
 * Points in marches of several steps a pass in two dimensions. Each workgroup has a list (`point_lists.ts`), by the slices
 * that its march reaches and by steps: an entry begins with x · steps + step, as the step is made when the march is at x.
 * Workgroups without a list have a loop without points.
 *
 * A cell in a rim is computed by several workgroups, and one beyond an end that holds images wherever it is an image: a
 * source is added in all of them. Only the workgroup that stores a cell records it.
 *
 * @module
 */
import { placePoints, type Points } from "../points.ts";
import type { SliceRange } from "../sections.ts";
import { alongAxes, imageOf, type Problem } from "../stencils/stencil.ts";
import { times } from "../wgsl/declare.ts";
import { HEAD_VECTORS } from "../wgsl/points.ts";
import { wgsl } from "../wgsl/template.ts";
import { type MarchShape, ownThreads } from "./march_shader.ts";
import { beginOf, enterRows, packLists, type PlacedRow, type RowsAt, visitRows } from "./point_lists.ts";

/** Where a list ends: no march comes there. */
const NEVER = 2 ** 31 - 1;

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
  { grid: [nx, , nz], boundary }: Pick<Problem, "grid" | "boundary">,
  shape: MarchShape,
  sections: readonly { readonly own: SliceRange; readonly workgroups: readonly [number, number, number] }[],
  points: Points,
): Int32Array<ArrayBuffer> {
  const { zPerThread, threadsZ, haloZ, slices, queues: { leads, warmUp } } = shape;
  const [alongX, , alongZ] = alongAxes(boundary), across = sections[0]!.workgroups[0];
  const own = zPerThread * ownThreads(threadsZ, haloZ),
    rim = zPerThread * haloZ[0],
    width = zPerThread * threadsZ;
  // those of materials are only read, by no march
  const placed = placePoints(points).filter(({ field }) => field === 0);
  const ofSlice = Map.groupBy(placed, ({ cell: [x] }) => x), entered: number[] = [];
  const images = Map.groupBy(
    Array.from({ length: (across - 1) * own + width }, (_, i) => i - rim),
    (z) => imageOf(z, nz, alongZ),
  );
  /** By workgroup along z what it has of a slice's rows: where they are if it stores the slice, and if it does not. */
  const found = new Map<number, (readonly [number, stored: RowsAt | undefined, rim: RowsAt | undefined])[]>();
  const rowsOf = (x: number) => {
    const columns = new Map<number, RimmedRow[]>();
    for (const { cell: [, , cell], added, recorded } of ofSlice.get(x) ?? []) {
      for (const z of images.get(cell) ?? []) {
        const first = Math.max(0, Math.ceil((z + rim - width + 1) / own));
        for (let w = first; w < across && w * own <= z + rim; w++) {
          const place = z + rim - w * own, isOwn = z === cell && place >= rim && place < rim + own;
          if (!columns.has(w)) columns.set(w, []);
          columns.get(w)!.push({ z: place, added, recorded, isOwn });
        }
      }
    }
    return [...columns].map(([w, its]) => {
      its.sort((p, q) => p.z - q.z);
      const enter = (isStored: boolean): RowsAt | undefined => {
        const rows = its.map((row) => isStored && row.isOwn ? row : { ...row, recorded: -1 })
          .filter(({ added, recorded }) => added >= 0 || recorded >= 0);
        return rows.length === 0 ? undefined : enterRows(entered, rows);
      };
      return [w, enter(true), enter(false)] as const;
    });
  };
  const lists = sections.flatMap(({ own: [from, to], workgroups: [, , pieces] }) =>
    Array.from({ length: pieces }, (_, piece) => {
      const first = piece * slices, last = Math.min(first + slices, to - from);
      const its = Array.from({ length: across }, (): number[] => []);
      for (let x = first - warmUp; x < last; x++) {
        for (const [step, lead] of leads.entries()) {
          const slice = x + lead, cell = imageOf(from + slice, nx, alongX);
          if (cell === undefined || !ofSlice.has(cell)) continue;
          if (!found.has(cell)) found.set(cell, rowsOf(cell));
          for (const [w, stored, inRim] of found.get(cell)!) {
            const rows = slice >= first && slice < last ? stored : inRim;
            if (rows !== undefined) its[w]!.push(x * leads.length + step, ...rows);
          }
        }
      }
      for (const list of its) if (list.length > 0) list.push(NEVER, 0, 0, 0);
      return its;
    }).flat()
  );
  return packLists(lists, entered);
}

/** What a pass is given: steps of the list before it, and the number of lists before its section's. */
export const SERIES = wgsl`
  struct Series { step: i32, lists: i32 }
  @group(0) @binding(2) var<uniform> series: Series;
`;

/** Lines that find a workgroup's list. */
export function findList(across: number): string {
  return wgsl`
    let list = series.lists + i32(w.z) * ${across} + i32(w.x);
    let begin = ${beginOf("list")};
    var next = ${HEAD_VECTORS} + begin;
    var entry = select(vec4i(${NEVER}), points[next], begin > 0);
  `.trimEnd();
}

/** Lines that come to the points of a step's new `value`, as the march is `turn` slices further than x. */
export function visitList(
  value: string,
  turn: number,
  step: number,
  { zPerThread, queues: { leads } }: MarchShape,
): string {
  const steps = leads.length;
  return wgsl`
    if (entry.x == ${times(steps, "x")} + ${turn * steps + step}) {
      let above = ${times(zPerThread, "column")} - entry.y;
      ${visitRows(zPerThread, { value, step: `series.step + ${step}` })}
      next += 1;
      entry = points[next];
    }
  `.trimEnd();
}
