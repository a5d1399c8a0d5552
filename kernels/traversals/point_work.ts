/**
 * Points of plans that compute step by step: a dispatch after each sub-step, for the points of the fields that it makes, a
 * thread a point.
 *
 * @module
 */
import { indexOf, type Layout } from "../layout.ts";
import type { Offset } from "../expression.ts";
import type { Precise } from "../precision.ts";
import { type PlacedPoint, placePoints, type Point, type Points } from "../points.ts";
import type { SliceRange } from "../sections.ts";
import { alongAxes, imageOf, type Problem } from "../stencils/stencil.ts";
import { type Substep, tapsOf } from "../update.ts";
import { declareLevels, LINEAR_THREADS, linearWorkgroups } from "../wgsl/declare.ts";
import { declarePoints, HEAD_VECTORS } from "../wgsl/points.ts";
import { wgsl } from "../wgsl/template.ts";
import type { Level } from "./section_work.ts";
import { type Shader, shaderOf } from "../wgsl/shader.ts";
import type { PointGroup, PointTable } from "./storage.ts";
import type { Dispatch, GpuPlan } from "./traversal.ts";

/** Words of a point: its index in the section's array, its rows in what is added and recorded, and one that is not used. */
const WORDS = 4;

/** What a section computes: its slices, and where the first of them lies in its array. */
interface OwnSlices {
  readonly own: SliceRange;
  readonly layout: Layout;
}

type PlanPoints = NonNullable<GpuPlan["points"]>;

/** How a plan tells points apart: by field, or also by slice; the problem of a plan that computes all sub-steps in a pass. */
interface PlanOptions {
  readonly bySlice?: boolean;
  readonly again?: Problem;
}

/** How a plan finds points in its sections; `shader`: {@linkcode pointShader}'s place. */
export function pointPlan(
  sections: readonly OwnSlices[],
  shader: number,
  options: PlanOptions = {},
): PlanPoints {
  return {
    tabulate: (points) => tabulate(points, sections, options),
    sample: ({ groups }, start) =>
      groups.filter(({ field }) => field >= 0).map((group) => ({
        ...atGroup(shader, group, { step: 0, level: start % 2 === 0 ? 0 : 1 }),
        section: group.section,
      })),
  };
}

/** A table that begins with other words. */
export function appendTable(before: Int32Array, { words, groups }: PointTable): PointTable {
  const shift = Math.ceil(before.length / WORDS), whole = new Int32Array(shift * WORDS + words.length);
  whole.set(before);
  whole.set(words, shift * WORDS);
  return {
    words: whole,
    groups: groups.map((group) => ({ ...group, first: group.first + shift, end: group.end + shift })),
  };
}

/** What adds to a group's points and records them, once their level is made; the step is counted from the list's first. */
export function atGroup(
  shader: number,
  group: PointGroup,
  { step, level }: { readonly step: number; readonly level: Level },
): Dispatch {
  return { ...overGroup(shader, group, [step]), flipped: level === 0 };
}

/** A dispatch over a group, a thread each. */
export function overGroup(
  shader: number,
  { first, end }: PointGroup,
  others: readonly number[],
): Omit<Dispatch, "flipped"> {
  return { shader, workgroups: linearWorkgroups(end - first), uniforms: [first, end, ...others] };
}

/** The table of points, by section and field, and of cells that are computed again, by section and sub-step. */
function tabulate(
  points: Points,
  sections: readonly OwnSlices[],
  { bySlice, again }: PlanOptions,
): PointTable {
  const words: number[] = [], groups: PointGroup[] = [], placed = placePoints(points);
  const changed = again === undefined ? [] : changedCells(again, points.added);
  for (const [section, { own: [from, to], layout }] of sections.entries()) {
    const inside = placed.filter(({ cell: [x] }) => x >= from && x < to);
    const together = ({ field, cell: [x] }: PlacedPoint): string => `${field} ${bySlice ? x : ""}`;
    for (const alike of Map.groupBy(inside, together).values()) {
      const first = words.length / WORDS, [{ field }] = alike as [PlacedPoint];
      for (const { cell: [x, y, z], added, recorded } of alike) {
        words.push(indexOf(layout, [x - from, y, z], field), added, recorded, 0);
      }
      const slices = [alike[0]!.cell[0], alike.at(-1)!.cell[0] + 1] as const;
      groups.push({ field, section, first, end: first + alike.length, slices });
    }
    for (const [substep, cells] of changed.entries()) {
      const within = cells.filter(([x]) => x >= from && x < to), first = words.length / WORDS;
      if (within.length === 0) continue;
      for (const [x, y, z] of within) words.push(x - from, y, z, 0);
      const slices = [within[0]![0], within.at(-1)![0] + 1] as const;
      groups.push({ field: -1, section, first, end: first + within.length, slices, again: substep });
    }
  }
  return { words: Int32Array.from(words), groups };
}

/** Cells in which each sub-step reads what a source added to an earlier one, by x. */
function changedCells({ stencil: { update }, grid, boundary }: Problem, added: readonly Point[]): Offset[][] {
  const along = alongAxes(boundary), [, ny, nz] = grid;
  const changed = Map.groupBy(added, ({ field }) => field) as Map<number, { readonly cell: Offset }[]>;
  return update.substeps.map((substep) => {
    const found = new Set<number>();
    for (const { plane, ago, offset } of tapsOf(substep)) {
      for (const { cell } of ago === -1 ? changed.get(plane) ?? [] : []) {
        const [x, y, z] = cell.map((at, axis) => imageOf(at - offset[axis]!, grid[axis]!, along[axis]!));
        if (x !== undefined && y !== undefined && z !== undefined) found.add((x * ny + y) * nz + z);
      }
    }
    const cells = [...found].sort((a, b) => a - b).map((
      index,
    ): Offset => [Math.floor(index / (ny * nz)), Math.floor(index / nz) % ny, index % nz]);
    for (const { field } of substep) {
      changed.set(field, [...changed.get(field) ?? [], ...cells.map((cell) => ({ cell }))]);
    }
    return cells;
  });
}

/** The groups of the fields that were just made. */
export function groupsOf(table: PointTable | undefined, made: Substep): readonly PointGroup[] {
  return table?.groups.filter(({ field }) => made.some((assignment) => assignment.field === field)) ?? [];
}

/** Adds to a group's points and records them. */
export function pointShader(of: Precise): Shader {
  const code = wgsl`
    // Adds to points and records them, a thread a point.
    struct Group { first: i32, end: i32, step: i32 }
    ${declareLevels()}
    @group(0) @binding(2) var<uniform> group: Group;
    ${declarePoints()}

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let i = group.first + i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (i >= group.end) { return; }
      let its = points[${HEAD_VECTORS} + i];
      before[its.x] = atPoint(before[its.x], its.y, its.z, group.step);
    }
  `;
  return shaderOf("points", code, of);
}
