/**
 * How cells enter and leave the tiles of torres in three dimensions: see `volume_torre.ts` for the order.
 *
 * @module
 */
import type { Layout } from "../../layout.ts";
import { declareLayout, LINEAR_THREADS, linearWorkgroups, strides } from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { declareBuffer, shaderOf } from "../../wgsl/shader.ts";
import type { Crossing, Order } from "../storage.ts";
import type { Section } from "../../sections.ts";
import type { Update } from "../../update.ts";
import { enterMaterials } from "./coefficients.ts";
import type { VolumeExtent, VolumePiece } from "./lattice.ts";

/** Functions that tell where a thread's block of a tile is, and where a tile's elements begin in a level. */
export function declarePlaces(piece: VolumePiece, { first, across: [ny, nz] }: VolumeExtent): string {
  const { threads, elements, tile, slope, width } = piece;
  return wgsl`
    const S = ${slope}; const W = ${width}; const M = ${tile}; const TILES_Y = ${ny}; const TILES_Z = ${nz};
    const THREADS = ${threads};
    fn blockOf(thread: i32) -> vec3i {
      let packed = table[1 + ${piece.rounds} * THREADS + thread];
      return vec3i(packed & 255, (packed >> 8u) & 255, packed >> 16u);
    }
    fn levelAt(X: i32, Y: i32, Z: i32) -> i32 {
      return ((((X - (${first})) >> 1u) * TILES_Y + Y) * TILES_Z + Z) * ${elements.length * threads};
    }
  `;
}

/** The order, for canonical cells in these sections; F(t − 1) lies as much further along x as a tile moves in a tier. */
export function volumeOrder(
  piece: VolumePiece,
  extent: VolumeExtent,
  {
    layout,
    sections = [{ layout, x: 0, slices: [-layout.pad[0], layout.grid[0] + layout.pad[0]] }],
    update,
    parts,
  }: {
    readonly layout: Layout;
    readonly sections?: readonly Pick<Section, "layout" | "x" | "slices">[] | undefined;
    readonly update: Update;
    readonly parts: readonly number[];
  },
): Order {
  const { elements, threads, patch: [pa, pb, pc], slope } = piece,
    { first } = extent,
    { grid: [nx] } = layout;
  const crossings = (shift: number): Pick<Order, "enter" | "leave"> => {
    const crossing = (label: string, moved: string, copy: string): Crossing[] =>
      parts.flatMap((length, part) =>
        sections.map(({ layout: its, x: start }, section): Crossing => ({
          part,
          section,
          workgroups: linearWorkgroups(length / 2),
          shader: shaderOf(
            `${label} ${part}, ${section}`,
            wgsl`
              // Cells ${label} tiles in three dimensions, two a thread.
              ${declareLayout(its)}
              @group(0) @binding(0) var<storage, read_write> level: array<vec2f>;
              @group(0) @binding(1) var<storage, read_write> canonical: array<f32>;
              ${declareBuffer("table", "array<i32>")}
              ${declarePlaces(piece, extent)}
              @compute @workgroup_size(${LINEAR_THREADS})
              fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
                let own = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
                if (own >= ${length / 2}) { return; }
                let at = own + ${part * parts[0]! / 2};
                let element = at / THREADS % ${elements.length}; let number = at / ${
              elements.length * threads
            };
                let Z = number % TILES_Z; let Y = number / TILES_Z % TILES_Y;
                let X = 2 * (number / (TILES_Y * TILES_Z)) + ${first} + ((Y + Z - (${first})) & 1);
                let inPatch = vec3i(element / ${pb * pc}, element / ${pc} % ${pb}, element % ${pc});
                let j = blockOf(at % THREADS) * vec3i(${pa}, ${pb}, ${pc}) + inPatch;
                let y = M * Y - S + j.y - j.x; let z = M * Z - S + j.z - j.x;
                ${moved}
                for (var i = 0; i < 2; i++) {
                  let x = M * X + moved + j.y + j.z + i${strides(shift, "1")};
                  let cell = ORIGIN + (x${strides(-start, "1")}) * SLICE + y * PITCH + z;
                  let isGrid = u32(x) < ${nx}u && u32(y) < u32(NY) && u32(z) < u32(NZ);
                  let isHere = isGrid && u32(x${strides(-start, "1")}) < u32(NX);
                  ${copy}
                }
              }
            `,
          ),
        }))
      );
    return {
      // the tiles of what enters have not moved
      enter: crossing(
        "enter",
        "let moved = 0; if (at == 0) { table[0] = 0; }",
        "if (isHere) { level[own][i] = canonical[cell]; } else if (!isGrid) { level[own][i] = 0.0f; }",
      ),
      leave: crossing("leave", "let moved = table[0];", "if (isHere) { canonical[cell] = level[own][i]; }"),
    };
  };
  const before = piece.hasPrevious && { before: crossings(slope) };
  const { enter, leave } = crossings(0);
  return {
    length: extent.length,
    parts,
    enter: [...enter, ...enterMaterials({ update, layout, sections })],
    leave,
    ...before,
  };
}
