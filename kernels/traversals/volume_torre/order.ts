/**
 * Where cells lie in the tiles of torres in three dimensions: see `volume_torre.ts` for the order.
 *
 * @module
 */
import { wgsl } from "../../wgsl/template.ts";
import { declareBuffer } from "../../wgsl/shader.ts";
import type { OwnValues } from "../../wgsl/pack_box.ts";
import type { Grid } from "../../stencils/stencil.ts";
import { enteringAt, type VolumeExtent, type VolumePiece } from "./lattice.ts";

/**
 * The table, and a function that reads it; in a torre's shader a uniform, as storage buffers are few. Tiles whose registers
 * fit a multiprocessor have tables that fit its 64 KiB.
 */
export function declareTable(piece: VolumePiece, space = "storage, read"): string {
  const isUniform = space === "uniform",
    type = isUniform
      ? `array<vec4i, ${Math.ceil((enteringAt(piece, 2) + piece.threads) / 4)}>`
      : "array<i32>";
  return wgsl`
    ${declareBuffer("table", type, { space })}
    fn wordAt(i: i32) -> i32 { return table[${isUniform ? "i >> 2u][i & 3" : "i"}]; }
  `;
}

/** Functions that tell where a thread's block of a tile is, and where a tile's elements begin in a level. */
export function declarePlaces(piece: VolumePiece, { first, across: [ny, nz] }: VolumeExtent): string {
  const { threads, elements, tile, slope, width } = piece;
  return wgsl`
    const S = ${slope}; const W = ${width}; const M = ${tile}; const TILES_Y = ${ny}; const TILES_Z = ${nz};
    const THREADS = ${threads};
    fn blockOf(thread: i32) -> vec3i {
      let packed = wordAt(1 + ${piece.rounds} * THREADS + thread);
      return vec3i(packed & 255, (packed >> 8u) & 255, packed >> 16u);
    }
    fn levelAt(X: i32, Y: i32, Z: i32) -> i32 {
      return ((((X - (${first})) >> 1u) * TILES_Y + Y) * TILES_Z + Z) * ${elements.length * threads};
    }
  `;
}

/** Functions that tell which cell a level has where, and where it has a cell. */
export function declareCells(piece: VolumePiece, extent: VolumeExtent): string {
  const { elements, patch: [pa, pb, pc], blocks: [, nb, nc] } = piece, { first } = extent;
  return wgsl`
    ${declarePlaces(piece, extent)}
    // The first cell of an element, where tiles have not moved.
    fn cellOf(at: i32) -> vec3i {
      let element = at / THREADS % ${elements.length}; let number = at / (${elements.length} * THREADS);
      let Z = number % TILES_Z; let Y = number / TILES_Z % TILES_Y;
      let X = 2 * (number / (TILES_Y * TILES_Z)) + ${first} + ((Y + Z - (${first})) & 1);
      let inPatch = vec3i(element / ${pb * pc}, element / ${pc} % ${pb}, element % ${pc});
      let j = blockOf(at % THREADS) * vec3i(${pa}, ${pb}, ${pc}) + inPatch;
      return vec3i(M * X + j.y + j.z, M * Y - S + j.y - j.x, M * Z - S + j.z - j.x);
    }
    fn tileOf(form: i32) -> i32 { return (form + 1048576 * W) / W - 1048576; }
    // The value of a cell, where tiles have moved.
    fn valueOf(cell: vec3i, moved: i32) -> i32 {
      let x = cell.x - moved;
      let forms = vec3i(x - cell.y - cell.z - 2 * S, x + cell.y - cell.z, x - cell.y + cell.z);
      let tile = vec3i(tileOf(forms.x), tileOf(forms.y), tileOf(forms.z));
      let inTile = forms - W * tile; let j = inTile / 2;
      let block = j / vec3i(${pa}, ${pb}, ${pc}); let own = j % vec3i(${pa}, ${pb}, ${pc});
      let thread = wordAt(${enteringAt(piece, 2)} + (block.x * ${nb} + block.y) * ${nc} + block.z);
      let element = (own.x * ${pb} + own.y) * ${pc} + own.z;
      return 2 * (levelAt(tile.y + tile.z, tile.y - tile.x, tile.z - tile.x) + element * THREADS + thread) + inTile.x % 2;
    }
  `;
}

/** Where a level has its values; `beyond`: cells that the tiles have before the grid, along each axis. */
export function valuesInTiles(piece: VolumePiece, extent: VolumeExtent, beyond: Grid): OwnValues {
  return {
    declarations: wgsl`
      ${declareTable(piece)}
      ${declareCells(piece, extent)}
    `,
    place: `valueOf(vec3i(x, y, z) + vec3i(${beyond.join(", ")}), wordAt(0)${
      piece.hasPrevious ? " + S * ago" : ""
    })`,
  };
}
