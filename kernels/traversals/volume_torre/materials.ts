/**
 * Materials of torres of tiles in three dimensions, in copies of their own. One has them as the canonical cells lie: there a
 * tile reads them where its torre begins. Another has what enters tiles later, in their order: for each column of tiles and
 * each place of a tile along x an element a thread, side by side, as neighbouring threads' cells lie in rows that are far
 * apart. It takes some four times the memory; where few buffers do not hold it, the first is read.
 *
 * @module
 */
import type { Tap } from "../../expression.ts";
import type { Layout } from "../../layout.ts";
import type { Precise } from "../../precision.ts";
import type { Section } from "../../sections.ts";
import type { Stencil } from "../../stencils/stencil.ts";
import { declareLayout, LINEAR_THREADS, linearWorkgroups, plus } from "../../wgsl/declare.ts";
import { declareBuffer, shaderOf } from "../../wgsl/shader.ts";
import { wgsl } from "../../wgsl/template.ts";
import type { Crossing } from "../storage.ts";
import { materialTaps } from "./coefficients.ts";
import { enteringAt, upTo, type VolumeExtent, type VolumePiece } from "./lattice.ts";

/** Buffers of what enters tiles: of each, a thread keeps what it loaded until it is used. */
const MOST_ENTERING = 2;

/** Values that a place's lanes are padded to, so that they begin with a sector of the caches. */
const SECTOR = 8;

export type Materials = ReturnType<typeof materialsOf>;

/** @param most values of a buffer at most; `left`: buffers that shaders may have for copies */
export function materialsOf(
  { update }: Pick<Stencil, "update">,
  layout: Layout,
  { piece, extent }: { readonly piece: VolumePiece; readonly extent: VolumeExtent },
  { most, left }: { readonly most: number; readonly left: number },
) {
  const { grid: [nx], pad: [padX], plane, pitch, slice: whole } = layout;
  const slice = update.materials.length * plane, origin = padX * slice + layout.origin - padX * whole;
  const cells = inBuffers("materials", slice && slice * (nx + 2 * padX) + pitch, most);
  const placeOf = ({ plane: its, offset: [x, y, z] }: Tap, at: string): string =>
    plus(at, (its - update.fields.length) * plane + x * slice + y * pitch + z);

  const taps = materialTaps(update).map(({ tap }) => tap), { slope, tile, entering } = piece;
  const [ny, nz] = extent.across,
    firstLane = (parity: number): number =>
      taps.length * entering.slice(0, parity).reduce((sum, { length }) => sum + length, 0);
  const lanes = Math.ceil(firstLane(2) / SECTOR) * SECTOR;
  // every x to which tiles come is a multiple of this; what enters one that begins further before the grid lies outside, too
  const by = tile % slope === 0 ? slope : 1, before = by * Math.ceil((2 * tile + 3 * slope) / by);
  const column = lanes * Math.ceil((nx + before) / by), all = ny * nz * column;
  const isOrdered = all <= Math.min(MOST_VALUES, most * Math.min(MOST_ENTERING, left - cells.parts.length));
  const front = inBuffers("entering", isOrdered ? all : 0, most), entered = isOrdered ? front : cells;
  return {
    slice,
    pitch,
    origin,
    parts: [...cells.parts, ...front.parts],
    /** The longest array. */
    length: Math.max(cells.length, front.length),
    cellDeclarations: cells.declarations,
    declarations: `${cells.declarations}\n${front.declarations}`,
    /** Names of what a thread has loaded of a tap: one of each buffer. */
    namesOf: (name: string): string[] =>
      entered.parts.map((_, part) => `${name}${part === 0 ? "" : `_${part}`}`),
    /** Text of a material beside a cell whose place among all cells is `at`. */
    cell: (tap: Tap, at: string): string => cells.value(placeOf(tap, at), cells.loads(placeOf(tap, at))),
    /** Text of where a thread finds what enters in a round: its element is the one of a lane, a cell beside the tile's corner. */
    begin: (parity: number, lane: string, [x, y, z]: readonly string[]): string =>
      isOrdered
        ? `(Y * TILES_Z + Z) * ${column} + ${firstLane(parity)} + ${lane}`
        : `${origin} + ${x} * ${slice} + ${y} * ${pitch} + ${z}`,
    /** Texts that load it of the i-th tap for the tile at x, and of the value of what was loaded. */
    enter(parity: number, begin: string, i: number, x: string) {
      const at = isOrdered
        ? plus(`${begin} + max(0, ${plus(x, before)}) / ${by} * ${lanes}`, i * entering[parity]!.length)
        : placeOf(taps[i]!, `${begin} + ${x} * ${slice}`);
      return { loads: entered.loads(at), value: (loaded: readonly string[]) => entered.value(at, loaded) };
    },
    /** What fills the copies, the first from the canonical cells of sections; `table`: the declaration of the table. */
    fill: (sections: readonly Pick<Section, "layout" | "slices">[], table: string): Crossing[] => [
      ...sections.flatMap(({ layout: its, slices }, section) =>
        cells.parts.flatMap(({ name, begin, length }): Crossing[] => {
          const [low, high] = slices.map((x) => (x + padX) * slice) as [number, number];
          const from = Math.max(low, begin), count = Math.min(high, begin + length) - from;
          const code = wgsl`
            ${declareLayout(its)}
            @group(0) @binding(1) var<storage, read_write> canonical: array<f32>;
            fn valueAt(own: i32) -> f32 {
              let value = own + ${from - low};
              return canonical[value / ${slice} * SLICE + ${whole - slice} + value % ${slice}];
            }
          `;
          return count <= 0 ? [] : [{ section, ...filling(name, from - begin, count, code, layout) }];
        })
      ),
      ...front.parts.map(({ name, begin, length }) => {
        const elements = entering.flatMap((its, parity) =>
          taps.map((tap, i) => {
            const lane = firstLane(parity) + i * its.length;
            const words = enteringAt(piece, parity) + Math.ceil(its.length / piece.threads) * piece.threads;
            return `if (lane >= ${lane}) { word = wordAt(lane + ${words - lane}); at = ${
              placeOf(tap, `${origin + (slope + parity) * slice}`)
            }; }`;
          })
        );
        const code = wgsl`
          ${table}
          ${cells.declarations}
          fn valueAt(own: i32) -> f32 {
            let value = own + ${begin}; let lane = value % ${lanes};
            let x = value % ${column} / ${lanes} * ${by} - ${before};
            let y = ${tile} * (value / ${column} / ${nz}) - ${slope}; let z = ${tile} * (value / ${column} % ${nz}) - ${slope};
            var word = 0; var at = 0;
            ${elements.join("\n")}
            let a = word & 255; let b = (word >> 8u) & 255; let c = word >> 16u;
            at += (x + b + c) * ${slice} + (y + b - a) * ${pitch} + z + c - a;
            return ${cells.value("at", cells.loads("at"))};
          }
        `;
        return filling(name, 0, length, code, layout);
      }),
    ],
  };
}

/** Values that a shader counts. */
export const MOST_VALUES = 2 ** 31 - 1;

/** A dispatch that fills a part of a copy, a value a thread. */
function filling(name: string, begin: number, count: number, valueAt: string, of: Precise) {
  const code = wgsl`
    // Fills a copy of materials, one value a thread.
    ${valueAt}
    ${declareBuffer(name)}
    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let own = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (own >= ${count}) { return; }
      ${plus(`${name}[own`, begin)}] = valueAt(own);
    }
  `;
  return { shader: shaderOf(`fill ${name}`, code, of), workgroups: linearWorkgroups(count) };
}

/** Values in as few buffers as hold them. */
function inBuffers(name: string, length: number, most: number) {
  const lengths = length === 0 ? [] : partsOf(length, most);
  const parts = lengths.map((own, i) => {
    return { name: `${name}${i}`, begin: i * lengths[0]!, length: own, lives: "field" as const };
  });
  return {
    length,
    parts,
    declarations: parts.map(({ name }) => declareBuffer(name, "array<f32>", { space: "storage, read" })).join(
      "\n",
    ),
    /**
     * Texts that load the value of a place: one of each buffer, as a load within a branch would be waited for. Where a buffer has
     * no such place, all threads load the same.
     */
    loads: (at: string): string[] =>
      parts.map(({ name, begin, length }) =>
        `${name}[${parts.length === 1 ? at : `clamp(${plus(at, -begin)}, 0, ${length - 1})`}]`
      ),
    /** Text of the value, of what was loaded. */
    value: (at: string, loaded: readonly string[]): string =>
      loaded.reduce((before, its, part) => `select(${before}, ${its}, ${at} >= ${parts[part]!.begin})`),
  };
}

/** Lengths of parts that hold so many values, all but the last of them as many as they may. */
export function partsOf(length: number, most: number): number[] {
  return upTo(Math.max(1, Math.ceil(length / most))).map((i) => Math.min(most, length - i * most));
}
