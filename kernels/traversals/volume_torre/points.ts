/**
 * Points in torres of tiles in three dimensions. For each place that a tile can have the table lists the cells with points that
 * it covers (`../point_lists.ts`), each with its thread and its number among the thread's cells; a tier whose list is empty
 * pays one branch. Behind the lists, all points for samples: x, y, z; the row in what is recorded, with the field.
 *
 * @module
 */
import { type PlacedPoint, placePoints, type Points } from "../../points.ts";
import type { Grid, Problem } from "../../stencils/stencil.ts";
import { LINEAR_THREADS } from "../../wgsl/declare.ts";
import { declarePoints, HEAD_VECTORS, seriesAccess } from "../../wgsl/points.ts";
import { declareTwin, type Shader, shaderOf } from "../../wgsl/shader.ts";
import { wgsl } from "../../wgsl/template.ts";
import { beginOf, type ListEntry, packLists } from "../point_lists.ts";
import { appendTable, overGroup } from "../point_work.ts";
import type { PointTable } from "../storage.ts";
import type { GpuPlan } from "../traversal.ts";
import type { Materials } from "./materials.ts";
import { spreadOverBanks, type VolumeExtent, type VolumePiece } from "./lattice.ts";
import { declareCells, declareTable } from "./order.ts";

/** More than any thread and number of a cell, and than any thread. */
const MORE = 2 ** 20, THREAD_NUMBERS = 1024;

interface Lattice {
  readonly problem: Problem;
  readonly piece: VolumePiece;
  readonly extent: VolumeExtent;
}

/** The table of a problem's points. */
function tabulateTiles({ problem: { grid: [nx] }, piece, extent }: Lattice, points: Points): PointTable {
  const { tile, width, slope, patch, elements } = piece,
    { across: [tilesY, tilesZ] } = extent,
    perTile = nx + width;
  const threads = new Map(spreadOverBanks(piece).map((block, thread) => [`${block}`, thread]));
  const numbers = new Map(elements.map((element, i) => [`${element}`, i]));
  const placed = placePoints(points), lists = tilesY * tilesZ * perTile;
  const tilesAt = (at: number, tiles: number): number[] =>
    [0, 1].map((next) => Math.floor((at + slope) / tile) + next).filter((one) => one < tiles);
  function* entriesOf({ cell: [x, y, z], added, recorded }: PlacedPoint): Generator<ListEntry> {
    for (const tileY of tilesAt(y, tilesY)) {
      for (const tileZ of tilesAt(z, tilesZ)) {
        const inY = y - tile * tileY + slope, inZ = z - tile * tileZ + slope;
        for (let a = Math.max(0, -inY, -inZ); a < Math.min(tile, tile - inY, tile - inZ); a++) {
          const element = [a, a + inY, a + inZ];
          const thread = threads.get(`${element.map((value, i) => Math.floor(value / patch[i]!))}`)!;
          const number = numbers.get(`${element.map((value, i) => value % patch[i]!)}`)!;
          for (const parity of [0, 1]) {
            const tileX = x - (2 * a + inY + inZ + parity),
              place = thread + THREAD_NUMBERS * (2 * number + parity);
            yield [(tileY * tilesZ + tileZ) * perTile + tileX + width, place, { z, added, recorded }];
          }
        }
      }
    }
  }
  const ofField = placed.values().filter(({ field }) => field === 0);
  const words = placed.flatMap(({ field, cell, recorded }) => [...cell, recorded * MOST_PLANES + field]);
  const group = { field: 0, section: 0, first: 0, end: placed.length, slices: [0, nx] as const };
  return appendTable(packLists(lists, ofField.flatMap(entriesOf), MORE), {
    words: Int32Array.from(words),
    groups: [group],
  });
}

/** More than there are fields and materials. */
const MOST_PLANES = 64;

/** The hooks of points in a torre's tiers; `step`: counted from the list's first. */
export function volumePoints(problem: Problem, { elements }: VolumePiece) {
  const series = seriesAccess(problem);
  return {
    ...series,
    declarations: !series.hasPoints ? series.declarations : wgsl`
      ${series.declarations}
      /** Where the list of a tile at x begins, of a column of tiles; 0: it has no points. */
      fn listOf(column: i32, x: i32) -> i32 {
        let list = column * (NX + W) + clamp(x, -W, NX - 1) + W;
        return select(0, ${beginOf("list")}, x > -W && x < NX);
      }
    `,
    /** Lines that add to the points of a tile whose tier is made, and record them. */
    made(step: string): string[] {
      if (!series.hasPoints) return [];
      const eachCell = (lineOf: (name: string) => string): string =>
        elements.flatMap((_, i) =>
          [0, 1].map((parity) => `case ${2 * i + parity}: { ${lineOf(`h${i}_${parity}`)} }`)
        ).join("\n");
      return [wgsl`
        {
          for (var i = listOf(Y * TILES_Z + Z, x); i > 0;) {
            let entry = points[${HEAD_VECTORS} + i];
            let place = entry.x % ${MORE};
            i = select(0, i + 1, entry.x >= ${MORE});
            if (place % ${THREAD_NUMBERS} == thread) {
              var value = 0.0f;
              switch place / ${THREAD_NUMBERS} {
                ${eachCell((name) => `value = ${name};`)}
                default: {}
              }
              value = atPoint(value, entry.y, entry.z, ${step});
              switch place / ${THREAD_NUMBERS} {
                ${eachCell((name) => `${name} = value;`)}
                default: {}
              }
            }
          }
        }
      `];
    },
  };
}

/** How the plan finds points; `shader`: the place of {@linkcode sampleShader}; `others`: parts of a level after the first. */
export function tilePoints(
  lattice: Lattice,
  shader: number,
  others: readonly number[],
): NonNullable<GpuPlan["points"]> {
  return {
    tabulate: (points) => tabulateTiles(lattice, points),
    sample({ groups: [group] }, start) {
      return [{ ...overGroup(shader, group!, []), flipped: start % 2 === 1, others }];
    },
  };
}

/** Records the values of points as they are, a thread each. */
export function sampleShader(
  { problem: { stencil: { update } }, piece, extent }: Lattice,
  { materials, parts, beyond }: {
    readonly materials: Materials;
    readonly parts: readonly number[];
    readonly beyond: Grid;
  },
): Shader {
  const { origin, slice, pitch } = materials;
  const others = parts.slice(1).flatMap((_, i) =>
    [`now${i + 1}`, `before${i + 1}`].map((level) => declareTwin(level, "f32"))
  );
  const ofMaterials = update.materials.map((_, i) => {
    const tap = { kind: "tap", plane: i + 1, ago: 0, offset: [0, 0, 0] } as const;
    return `case ${i + 1}: { value = ${materials.cell(tap, "at")}; }`;
  });
  const code = wgsl`
    // Records values of points, a thread a point.
    struct Group { first: i32, end: i32 }
    @group(0) @binding(0) var<storage, read_write> now0: array<f32>;
    @group(0) @binding(1) var<storage, read_write> before0: array<f32>;
    @group(0) @binding(2) var<uniform> group: Group;
    ${declareTable(piece)}
    ${materials.cellDeclarations}
    ${declarePoints()}
    ${others.join("\n")}
    ${declareCells(piece, extent)}

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let i = group.first + i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (i >= group.end) { return; }
      let its = points[${HEAD_VECTORS} + i];
      let row = its.w / ${MOST_PLANES};
      if (its.w < 0) { return; }
      var value = 0.0f;
      let at = ${origin} + its.x * ${slice} + its.y * ${pitch} + its.z;
      switch its.w % ${MOST_PLANES} {
        ${ofMaterials.join("\n")}
        default: {
          let level = valueOf(its.xyz + vec3i(${beyond.join(", ")}), wordAt(0));
          switch level / ${parts[0]!} {
            ${
    parts.map((_, i) => `${i === 0 ? "default" : `case ${i}`}: { value = now${i}[level % ${parts[0]!}]; }`)
      .join("\n")
  }
          }
        }
      }
      value = atPoint(value, -1, row, 0);
    }
  `;
  return shaderOf("sample points", code, update);
}
