/**
 * Materials of torres of tiles in three dimensions, in copies of their own. One has them as the canonical cells lie: there a
 * tile reads them where its torre begins. Another has what enters tiles later, in their order: for each column of tiles and
 * each place of a tile along x an element a thread, side by side, as neighbouring threads' cells lie in rows that are far
 * apart. It takes some four times the memory; a buffer has some of the rounds, of all columns or those of a **share** along y,
 * which has dispatches of its own. Where no share's holds a round, the first copy is read.
 *
 * Packed (`packing.ts`), two values lie in a word: neighbours along z, or elements of neighbouring threads.
 *
 * @module
 */
import type { Tap } from "../../expression.ts";
import type { Layout } from "../../layout.ts";
import { type Precise, precisionOf } from "../../precision.ts";
import type { Section } from "../../sections.ts";
import type { Stencil } from "../../stencils/stencil.ts";
import type { Update } from "../../update.ts";
import { declareLayout, LINEAR_THREADS, linearWorkgroups, plus } from "../../wgsl/declare.ts";
import { NUMBER_OF, packedPlanes, packingText, readsZeros, unpacked } from "../../wgsl/packing.ts";
import { declareBuffer, shaderOf } from "../../wgsl/shader.ts";
import { wgsl } from "../../wgsl/template.ts";
import type { Order } from "../storage.ts";
import { materialTaps } from "./coefficients.ts";
import { enteringAt, upTo, type VolumeExtent, type VolumePiece } from "./lattice.ts";

/** Values that a place's lanes are padded to, so that they begin with a sector of the caches. */
const SECTOR = 16;

/** Shares of the columns at most. */
const MOST_SHARES = 4;

/** Values that a shader counts. */
export const MOST_VALUES = 2 ** 31 - 1;

export type Materials = ReturnType<typeof materialsOf>;

/** A round in which threads read what enters of a tap, an element each: its lanes in a buffer. */
interface Round {
  readonly parity: number;
  readonly n: number;
  readonly tap: number;
  readonly lanes: number;
  readonly buffer: number;
  readonly first: number;
}

/** @param bytes of a buffer at most; `left`: buffers that shaders may have for copies; `packed`: 1 where all are packed */
export function materialsOf(
  { update }: Pick<Stencil, "update">,
  layout: Layout,
  { piece, extent }: { readonly piece: VolumePiece; readonly extent: VolumeExtent },
  { bytes, left, packed = 0 }: {
    readonly bytes: number;
    readonly left: number;
    readonly packed?: number | undefined;
  },
) {
  const { grid: [nx], pad: [padX], plane, pitch, slice: whole } = layout;
  const slice = update.materials.length * plane, origin = padX * slice + layout.origin - padX * whole;
  const form = formOf(update, packed),
    perBuffer = Math.floor(bytes / (precisionOf(layout).bytes / form.inWord));
  const most = 2 * Math.floor(Math.min(MOST_VALUES, perBuffer) / 2),
    length = slice && slice * (nx + 2 * padX) + pitch;
  const cells = length === 0
    ? []
    : partsOf(length, most).map((own, i) => form.buffer(`materials${i}`, i * most, own));
  const placeOf = ({ plane: its, offset: [x, y, z] }: Tap, at: string): string =>
    plus(at, (its - update.fields.length) * plane + x * slice + y * pitch + z);
  /** Texts that load what has a place among all cells, from each part: a load within a branch would be waited for. */
  const loadsAt = (at: string): string[] =>
    cells.map(({ name, begin, length }) =>
      form.load(name, cells.length === 1 ? at : `clamp(${plus(at, -begin)}, 0, ${length - 1})`)
    );
  /** Text of what was loaded from the part that has the place. */
  const wordAt = (at: string, loaded: readonly string[]): string =>
    loaded.reduce((before, its, part) => `select(${before}, ${its}, ${at} >= ${cells[part]!.begin})`);

  const taps = materialTaps(update).map(({ tap }) => tap),
    { slope, tile, threads } = piece,
    [ny, nz] = extent.across;
  // every x to which tiles come is a multiple of this; what enters one that begins further before the grid lies outside, too
  const by = tile % slope === 0 ? slope : 1, before = by * Math.ceil((2 * tile + 3 * slope) / by);
  const places = Math.ceil((nx + before) / by);
  /** The rounds, and lanes of buffers, where as many rows of columns lie in one. */
  const lay = (rows: number) => {
    const mostLanes = SECTOR * Math.floor(most / (rows * nz * places) / SECTOR);
    const rounds: Round[] = [], lanesOf: number[] = [];
    for (const [parity, { length }] of piece.entering.entries()) {
      for (let n = 0; n * threads < length; n++) {
        for (const tap of taps.keys()) {
          const lanes = Math.min(threads, length - n * threads),
            first = 2 * Math.ceil((lanesOf.at(-1) ?? Infinity) / 2);
          if (first + lanes > mostLanes) lanesOf.push(0);
          const buffer = lanesOf.length - 1;
          rounds.push({ parity, n, tap, lanes, buffer, first: 2 * Math.ceil(lanesOf[buffer]! / 2) });
          lanesOf[buffer] = rounds.at(-1)!.first + lanes;
        }
      }
    }
    return { rows, rounds, lanesOf, fits: threads <= mostLanes && lanesOf.length <= left - cells.length };
  };
  const ways = upTo(MOST_SHARES).map((i) => lay(Math.ceil(ny / (i + 1))));
  const { rows, rounds, lanesOf, fits: isOrdered } = ways.find(({ fits }) => fits) ?? ways[0]!;
  const shares = upTo(isOrdered ? Math.ceil(ny / rows) : 1).map((share) => ({
    /** Its first row, how many it has, and what the plan calls a buffer. */
    from: share * rows,
    rows: isOrdered ? Math.min(rows, ny - share * rows) : ny,
    nameOf: (name: string): string => share > 0 && name.startsWith("entering") ? `${name}_${share}` : name,
  }));
  const entering = isOrdered
    ? lanesOf.map((used, i) => ({
      lanes: SECTOR * Math.ceil(used / SECTOR),
      buffer: i,
      ...form.buffer(`entering${i}`, 0, 0),
    }))
    : [];
  const enteringOf = shares.flatMap(({ from, rows, nameOf }) =>
    entering.map(({ lanes, buffer, name }) => ({
      lanes,
      buffer,
      from,
      ...form.buffer(nameOf(name), 0, rows * nz * places * lanes),
    }))
  );
  return {
    slice,
    pitch,
    origin,
    buffers: [...cells, ...enteringOf].map(({ scratch }) => scratch),
    /** How many of them a torre's shader binds, and those that serve rows of columns. */
    bound: cells.length + entering.length,
    shares,
    /** Values of all cells. */
    length,
    cellDeclarations: [...cells.map(({ declaration }) => declaration), form.functions].join("\n"),
    declarations: [...[...cells, ...entering].map(({ declaration }) => declaration), form.functions].join(
      "\n",
    ),
    /** Text of a material beside a cell whose place among all cells is `at`. */
    cell: (tap: Tap, at: string): string =>
      form.value(tap, wordAt(placeOf(tap, at), loadsAt(placeOf(tap, at))), placeOf(tap, at)),
    /** Lines before those that read what enters; of a round whose element is a cell beside the tile's corner. */
    start: (from: number): string =>
      isOrdered ? `let column = (${from === 0 ? "Y" : `(Y - ${from})`} * TILES_Z + Z) * ${places};` : "",
    startOf: (name: string, [x, y, z]: readonly string[]): string =>
      isOrdered ? "" : `let in${name} = ${origin} + ${x} * ${slice} + ${y} * ${pitch} + ${z};`,
    /** How many variables a thread keeps what it has loaded of a tap in a round in. */
    kept: isOrdered ? 1 : cells.length,
    /** Texts that load it for the tile at x, and of the value of what was loaded. */
    enter(parity: number, n: number, i: number, x: string) {
      const own = rounds.find((one) => one.parity === parity && one.n === n && one.tap === i)!,
        tap = taps[i]!;
      if (!isOrdered) {
        const at = placeOf(tap, `in${parity}_${n} + ${x} * ${slice}`);
        return {
          loads: loadsAt(at),
          value: (loaded: readonly string[]) => form.value(tap, wordAt(at, loaded), at),
        };
      }
      const { name, lanes } = entering[own.buffer]!,
        thread = own.lanes < threads ? `min(thread, ${own.lanes - 1})` : "thread";
      const at = plus(`(column + max(0, ${plus(x, before)}) / ${by}) * ${lanes} + ${thread}`, own.first);
      return {
        loads: [form.load(name, at)],
        value: ([loaded]: readonly string[]) => form.value(tap, loaded!, thread),
      };
    },
    /** What fills the copies, the first from the canonical cells of sections; `table`: the declaration of the table. */
    fill: (
      sections: readonly Pick<Section, "layout" | "slices">[],
      table: string,
    ): NonNullable<Order["materials"]> => [
      ...sections.flatMap(({ layout: its, slices }, section) =>
        cells.flatMap((part) => {
          const [low, high] = slices.map((x) => (x + padX) * slice) as [number, number];
          const from = Math.max(low, part.begin), count = Math.min(high, part.begin + part.length) - from;
          const lines = wgsl`
            let inSlices = value + ${part.begin - low}; let inSlice = inSlices % ${slice};
            let found = canonical[inSlices / ${slice} * SLICE + ${whole - slice} + inSlice];
            return ${form.store("found", `inSlice / ${plane}`)};
          `;
          const declarations = wgsl`
            ${declareLayout(its)}
            @group(0) @binding(1) var<storage, read_write> canonical: array<f32>;
          `;
          return count <= 0
            ? []
            : [{ section, ...form.fill(part, [from - part.begin, count], declarations, lines, layout) }];
        })
      ),
      ...enteringOf.map((one) => {
        const elements = rounds.filter((its) => its.buffer === one.buffer).map(
          ({ parity, n, tap, first }) => {
            const words = enteringAt(piece, parity) +
              Math.ceil(piece.entering[parity]!.length / threads + n) * threads;
            return `if (lane >= ${first}) { word = wordAt(lane + ${words - first}); at = ${
              placeOf(taps[tap]!, `${origin + (slope + parity) * slice}`)
            }; }`;
          },
        );
        const ofY = plus(`${tile} * (column / ${nz})`, tile * one.from - slope);
        const lines = wgsl`
          let lane = value % ${one.lanes}; let column = value / ${one.lanes} / ${places};
          let x = value / ${one.lanes} % ${places} * ${by} - ${before};
          let y = ${ofY}; let z = ${tile} * (column % ${nz}) - ${slope};
          var word = 0; var at = 0;
          ${elements.join("\n")}
          let a = word & 255; let b = (word >> 8u) & 255; let c = word >> 16u;
          at += (x + b + c) * ${slice} + (y + b - a) * ${pitch} + z + c - a;
          return ${form.raw(wordAt("at", loadsAt("at")), "at")};
        `;
        const declarations = [table, ...cells.map(({ declaration }) => declaration)].join("\n");
        return form.fill(one, [0, one.length], declarations, lines, layout);
      }),
    ],
  };
}

/** How copies hold values: as they are, or packed. */
function formOf(update: Update, packed: number) {
  const isPacked = packed === 1, inWord = isPacked ? 2 : 1, type = isPacked ? "u32" : "f32";
  const packings = packedPlanes(update, packed);
  const half = (word: string, at: string): string => `(${word} >> (16u * u32((${at}) & 1))) & 0xffffu`;
  return {
    inWord,
    buffer(name: string, begin: number, length: number) {
      return {
        name,
        begin,
        length,
        declaration: declareBuffer(name, `array<${type}>`, { space: "storage, read" }),
        scratch: { name, length: Math.ceil(length / inWord), lives: "field" as const },
      };
    },
    functions: packings.map((one) => {
      const hasZeros = readsZeros(update, one.plane, one);
      return wgsl`
        fn unpack${one.plane}(number: u32) -> f32 { return ${
        unpacked(one, 1, { numbers: "number", hasZeros })
      }; }
      `;
    }).join("\n"),
    load: (name: string, at: string): string => `${name}[${isPacked ? `(${at}) >> 1u` : at}]`,
    /** Text of a material's value, of the word that has its place. */
    value: ({ plane }: Tap, word: string, at: string): string =>
      isPacked ? `unpack${plane}(${half(word, at)})` : word,
    /** Texts of what a copy has of a value: of one of a material, and of what another copy has. */
    store: (value: string, material: string): string =>
      isPacked ? `numberOf(${value}, packingOf(${material}))` : value,
    raw: (word: string, at: string): string => isPacked ? half(word, at) : word,
    /** A dispatch that fills some values of a buffer, a word a thread; the lines return what it has of a `value`. */
    fill(
      { name }: { readonly name: string },
      [begin, count]: readonly [number, number],
      declarations: string,
      lines: string,
      of: Precise,
    ) {
      const words = Math.ceil(count / inWord);
      const code = wgsl`
        // Fills a copy of materials, one word a thread.
        ${declarations}
        ${declareBuffer(name, `array<${type}>`)}
        ${isPacked ? NUMBER_OF : ""}
        ${
        isPacked
          ? wgsl`
        fn packingOf(material: i32) -> vec4f {
          var packings = array<vec4f, ${packings.length}>(${
            packings.map((one) => packingText(one)).join(", ")
          });
          return packings[material];
        }`
          : ""
      }
        fn storedOf(value: i32) -> ${type} {
          ${lines}
        }
        @compute @workgroup_size(${LINEAR_THREADS})
        fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
          let own = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
          if (own >= ${words}) { return; }
          let value = ${inWord} * own + ${begin};
          ${name}[value / ${inWord}] = ${
        isPacked ? "storedOf(value) | (storedOf(value + 1) << 16u)" : "storedOf(value)"
      };
        }
      `;
      return { shader: shaderOf(`fill ${name}`, code, of), workgroups: linearWorkgroups(words) };
    },
  };
}

/** The lengths of parts that hold `length` values together, each but the last `most` of them. */
export function partsOf(length: number, most: number): number[] {
  return upTo(Math.max(1, Math.ceil(length / most))).map((i) => Math.min(most, length - i * most));
}
