import type { Ago, Offset, Tap } from "../expression.ts";
import type { Layout } from "../layout.ts";
import { type Substep, tapsOf } from "../update.ts";
import { type Declare, type Local, type Node, range, type Target } from "./functions.ts";
import { CELL, VECTOR } from "./rows.ts";

interface TapSource {
  readonly layout: Layout;
  readonly m: Target["module"];
  /** Points to the first cell of the turn, plane 0, in the array that receives F(t+1). */
  readonly write: Local;
  readonly declare: Declare;
}

/** A vector's place: an array, a plane, and the offset of its first cell. */
type Place = Pick<Tap, "offset" | "ago" | "plane">;

/**
 * Points to the lowest byte that some loads read, `lowest` bytes from the first cell of the turn, plane 0: the constant
 * offsets of loads are unsigned.
 */
interface Pointer {
  readonly ago: Ago;
  readonly lowest: number;
  readonly local: Local;
}

/**
 * Rows that have pointers of their own. Where the engine checks bounds by instructions, as V8 does in Deno, an access
 * compares its pointer with the memory's size less its offset: that is one number for all rows of a vector instead of one
 * for each. More pointers than these leave the registers.
 */
const MOST_POINTERS = 18;

/** How a sub-step's taps are read: as loads, or as vectors and shuffles of held rows. */
export class TapReader {
  readonly #source: TapSource;
  /** Taps of held rows, by row. */
  readonly #held = new Map<string, Tap[]>();
  readonly #locals = new Map<string, Local>();
  readonly #pointers = new Map<string, Pointer>();
  readonly #hasOwnPointers: boolean;

  constructor(substep: Substep, source: TapSource) {
    this.#source = source;
    const taps = tapsOf(substep).filter(({ ago }) => ago !== 1);
    const rows = Map.groupBy(taps, rowName);
    for (const [name, row] of rows) if (row.length >= 3) this.#held.set(name, row);
    this.#hasOwnPointers = rows.size <= MOST_POINTERS;
    for (const [name, together] of Map.groupBy(taps, (tap) => this.#pointerName(tap))) {
      const firstBytes = together.map((tap) => {
        return this.#bytes(this.#held.has(rowName(tap)) ? { ...tap, offset: aligned(tap.offset) } : tap);
      });
      const lowest = Math.min(...firstBytes);
      this.#pointers.set(name, { ago: together[0]!.ago, lowest, local: source.declare("i32") });
    }
  }

  /** Pointers to set for each row, and to advance with it. */
  get pointers(): readonly Pointer[] {
    return [...this.#pointers.values()];
  }

  #pointerName(place: Place): string {
    return this.#hasOwnPointers ? rowName(place) : `${place.ago}`;
  }

  /** Loads the vectors of held rows that so many vectors of cells need. */
  hold(vectors: number): Node[] {
    return this.#neededBy(vectors).map((place) => this.#local(place).set(this.#load(place)));
  }

  /** The same in turns of a loop, which keep what the next one needs: before all, at the start of each, at its end. */
  holdInTurns(vectors: number): Record<"before" | "start" | "end", () => Node[]> {
    const needed = this.#neededBy(vectors), names = new Set(needed.map(placeName));
    const ahead = ({ offset: [x, y, z], ...place }: Place): Place => {
      return { ...place, offset: [x, y, z + 4 * vectors] };
    };
    const kept = needed.filter((place) => names.has(placeName(ahead(place))));
    const load = (place: Place): Node => this.#local(place).set(this.#load(place));
    return {
      before: () => kept.map(load),
      start: () => needed.filter((place) => !kept.includes(place)).map(load),
      end: () => kept.map((place) => this.#local(place).set(this.#local(ahead(place)).get())),
    };
  }

  /** The vectors of held rows, by z. */
  #neededBy(vectors: number): Place[] {
    const needed = new Map<string, Place>();
    for (const tap of [...this.#held.values()].flat()) {
      const [x, y, z] = tap.offset;
      for (let cell = z; cell < z + 4 * vectors; cell++) {
        const place = { ...tap, offset: aligned([x, y, cell]) };
        needed.set(placeName(place), place);
      }
    }
    return [...needed.values()].sort((a, b) => a.offset[2] - b.offset[2]);
  }

  /** The four values of a tap for the cells of a vector. */
  read(tap: Tap, vector: number): Node {
    const { m, layout, write } = this.#source;
    const [x, y, z] = tap.offset;
    if (tap.ago === 1) {
      return m.v128.load(tap.plane * layout.plane * CELL + vector * VECTOR, CELL, write.get());
    }
    const cell = z + 4 * vector;
    if (!this.#held.has(rowName(tap))) return this.#load({ ...tap, offset: [x, y, cell] });
    const low: Place = { ...tap, offset: aligned([x, y, cell]) };
    const shift = (cell - low.offset[2]) * CELL;
    if (shift === 0) return this.#local(low).get();
    const high: Place = { ...tap, offset: [x, y, low.offset[2] + 4] };
    const bytes = range(VECTOR).map((byte) => byte + shift);
    return m.i8x16.shuffle(this.#local(low).get(), this.#local(high).get(), bytes);
  }

  #load(place: Place): Node {
    const { lowest, local } = this.#pointers.get(this.#pointerName(place))!;
    return this.#source.m.v128.load(this.#bytes(place) - lowest, CELL, local.get());
  }

  #local(place: Place): Local {
    const name = placeName(place);
    const local = this.#locals.get(name) ?? this.#source.declare("v128");
    this.#locals.set(name, local);
    return local;
  }

  #bytes({ offset: [x, y, z], plane }: Place): number {
    const { slice, pitch, plane: perPlane } = this.#source.layout;
    return (x * slice + plane * perPlane + y * pitch + z) * CELL;
  }
}

/** The vector that holds the cell. */
function aligned([x, y, z]: Offset): Offset {
  return [x, y, 4 * Math.floor(z / 4)];
}

function rowName({ offset: [x, y], ago, plane }: Place): string {
  return `${ago} ${plane} ${x},${y}`;
}

function placeName(place: Place): string {
  return `${rowName(place)},${place.offset[2]}`;
}
