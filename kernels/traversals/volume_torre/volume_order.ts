/**
 * How cells enter and leave the tiles of torres in three dimensions: see `volume_torre.ts` for the order.
 *
 * @module
 */
import type { Layout } from "../../layout.ts";
import { declareLayout, LINEAR_THREADS, linearWorkgroups, strides } from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { type Crossing, type Order, SCRATCH_BINDING } from "../storage.ts";
import { roundsOf, type VolumeExtent, type VolumePiece } from "./volume_lattice.ts";

/** The plan's scratch buffers. */
export const LANES = 0, TABLE = 1, MOVED = 2;

/** Functions that tell where a thread's block of a tile is, and where a tile's elements begin in a level. */
export function declarePlaces(piece: VolumePiece, { first, across: [ny, nz] }: VolumeExtent): string {
  const { threads, elements, tile, slope, width } = piece;
  return wgsl`
    const S = ${slope}; const W = ${width}; const M = ${tile}; const TILES_Y = ${ny}; const TILES_Z = ${nz};
    const THREADS = ${threads};
    fn blockOf(thread: i32) -> vec3i {
      let packed = table[${2 * roundsOf(piece).length} * THREADS + thread];
      return vec3i(packed & 255, (packed >> 8u) & 255, packed >> 16u);
    }
    fn levelAt(X: i32, Y: i32, Z: i32) -> i32 {
      return ((((X - (${first})) >> 1u) * TILES_Y + Y) * TILES_Z + Z) * ${elements.length * threads};
    }
  `;
}

/** The order; a level of F(t − 1) lies as much further along x as a tile moves in a tier. */
export function volumeOrder(piece: VolumePiece, extent: VolumeExtent, canonical: Layout): Order {
  const { elements, threads, patch: [pa, pb, pc], slope } = piece, { first } = extent;
  const crossing = (label: string, shift: number, copy: string): Crossing => ({
    workgroups: linearWorkgroups(extent.length / 2),
    shader: {
      label,
      scratch: [TABLE, MOVED],
      code: wgsl`
        // Cells ${label} tiles in three dimensions, two a thread.
        ${declareLayout(canonical)}
        @group(0) @binding(0) var<storage, read_write> level: array<vec2f>;
        @group(0) @binding(1) var<storage, read_write> canonical: array<f32>;
        @group(0) @binding(${SCRATCH_BINDING}) var<storage, read> table: array<i32>;
        @group(0) @binding(${SCRATCH_BINDING + 1}) var<storage, read> moved: array<i32>;
        ${declarePlaces(piece, extent)}
        fn canonicalAt(x: i32, y: i32, z: i32) -> f32 {
          if (u32(x) >= u32(NX) || u32(y) >= u32(NY) || u32(z) >= u32(NZ)) { return 0.0f; }
          return canonical[ORIGIN + x * SLICE + y * PITCH + z];
        }
        fn setCanonical(x: i32, y: i32, z: i32, value: f32) {
          if (u32(x) >= u32(NX) || u32(y) >= u32(NY) || u32(z) >= u32(NZ)) { return; }
          canonical[ORIGIN + x * SLICE + y * PITCH + z] = value;
        }
        @compute @workgroup_size(${LINEAR_THREADS})
        fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
          let at = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
          if (at >= ${extent.length / 2}) { return; }
          let element = at / THREADS % ${elements.length}; let number = at / ${elements.length * threads};
          let Z = number % TILES_Z; let Y = number / TILES_Z % TILES_Y;
          let row = number / (TILES_Y * TILES_Z);
          let X = 2 * row + ${first} + ((Y + Z - (${first})) & 1);
          let own = vec3i(element / ${pb * pc}, element / ${pc} % ${pb}, element % ${pc});
          let j = blockOf(at % THREADS) * vec3i(${pa}, ${pb}, ${pc}) + own;
          let x = M * X + moved[0] + j.y + j.z${strides(shift, "1")};
          let y = M * Y - S + j.y - j.x; let z = M * Z - S + j.z - j.x;
          ${copy}
        }
      `,
    },
  });
  const crossings = (shift: number): Pick<Order, "enter" | "leave"> => ({
    enter: crossing("enter", shift, "level[at] = vec2f(canonicalAt(x, y, z), canonicalAt(x + 1, y, z));"),
    leave: crossing(
      "leave",
      shift,
      "let pair = level[at]; setCanonical(x, y, z, pair.x); setCanonical(x + 1, y, z, pair.y);",
    ),
  });
  const { hasPrevious } = piece;
  return { length: extent.length, ...crossings(0), ...(hasPrevious && { before: crossings(slope) }) };
}
