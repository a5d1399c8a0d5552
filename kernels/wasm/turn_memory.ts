import { layProfiles } from "../axis_profiles.ts";
import type { Offset, ProfileTap, Tap } from "../expression.ts";
import { type Precision, precisionOf } from "../precision.ts";
import { profileTapsOf, type Substep, tapsOf } from "../update.ts";
import { type Declare, range } from "./functions.ts";
import { branchIf, type Code, FLOATS, i32, type Local, loop, v128 } from "./instructions.ts";
import { rowAddress, VECTOR, type WasmSource, wrapRow } from "./rows.ts";

/** What a turn of the loop along z computes: `vectors` vectors of each of x · y neighbouring rows. */
export interface RowTurn {
  readonly x: number;
  readonly y: number;
  readonly vectors: number;
}

/** The arrays: F(t), and the one that holds F(t−1) and receives F(t+1). */
type Arrays = Readonly<Record<"current" | "next", Local>>;

/** Pointers into the arrays, and into the axis profiles behind them where any along z are read. */
type Pointers = Arrays & { readonly profiles?: Local };

/**
 * A vector's place: an array, a plane, and the offset of its first cell from the turn's first cell. Of profile p along z
 * the plane is −1 − p, and all rows have it alike.
 */
type TapPlace = Pick<Tap, "offset" | "ago" | "plane">;

/**
 * How a turn reads and stores its cells. What several of its vectors need is loaded once, just before it is needed first,
 * and stays in a local; of a row with three taps or more whole aligned vectors are loaded, of which shuffles (`palignr` on
 * x86) cut out the others, and the next turn finds in locals what this one has loaded for it.
 *
 * Where the engine checks bounds by instructions, as V8 does in Deno, an access costs three of them, so that even locals
 * which leave the registers pay.
 */
export class TurnMemory {
  readonly #source: WasmSource;
  readonly #precision: Precision;
  readonly #turn: RowTurn;
  /** Each points to the lowest byte that is accessed, since constant offsets are unsigned: so far from the first cell. */
  readonly #pointers: Pointers;
  readonly #lowest: Readonly<Record<keyof Pointers, number>>;
  /** Where each profile's cell 0 lies, behind the array. */
  readonly #starts: readonly number[];
  /** Values of profiles along x and y, the same in all lanes of a row. */
  readonly #alike = new Map<
    string,
    { readonly local: Local; readonly tap: ProfileTap; readonly by: number }
  >();
  /** Rows whose taps are cut out of aligned vectors. */
  readonly #aligned = new Set<string>();
  /** Vectors that are kept in locals; what the next turn needs of them; and those that are loaded by now. */
  readonly #shared = new Map<string, Local>();
  readonly #kept: readonly TapPlace[];
  #loaded = new Set<string>();

  /** @param pointers locals that it may set */
  constructor(
    source: WasmSource,
    { substep, turn, declare, pointers }: {
      readonly substep: Substep;
      readonly turn: RowTurn;
      readonly declare: Declare;
      readonly pointers: Pointers;
    },
  ) {
    this.#source = source, this.#turn = turn, this.#pointers = pointers;
    this.#precision = precisionOf(source.update);
    const { lanes } = this.#precision;
    this.#starts = layProfiles(source.update, source.layout.grid).starts;
    const profiles = profileTapsOf(substep);
    const taps = [...tapsOf(substep), ...profiles.filter(({ axis }) => axis === 2).map(alongZ)];
    for (const tap of profiles.filter(({ axis }) => axis < 2)) {
      for (const at of this.rows) {
        const by = tap.offset + at[tap.axis], name = `${tap.profile} ${by}`;
        if (!this.#alike.has(name)) this.#alike.set(name, { local: declare("v128"), tap, by });
      }
    }
    for (const row of Map.groupBy(taps, rowName).values()) {
      if (row.length >= 3) { for (const by of this.rows) this.#aligned.add(rowName(moved(row[0]!, by))); }
    }
    const read = this.rows.flatMap(([x, y]) =>
      range(turn.vectors).flatMap((vector) =>
        taps.flatMap((tap) => this.#vectorsOf(moved(tap, [x, y, lanes * vector])))
      )
    );
    const uses = Map.groupBy(read, placeName);
    // by z: each takes its value from one further on, which takes its own after that
    this.#kept = [...uses.values()].map(([place]) => place!)
      .filter((place) => uses.has(placeName(this.#ahead(place))))
      .sort((a, b) => a.offset[2] - b.offset[2]);
    const keptNames = new Set(
      this.#kept.flatMap((place) => [placeName(place), placeName(this.#ahead(place))]),
    );
    for (const [name, { length }] of uses) {
      if (length > 1 || keptNames.has(name)) this.#shared.set(name, declare("v128"));
    }
    const stored = substep.map(({ field }): TapPlace => ({ ago: 1, plane: field, offset: [0, 0, 0] }));
    const lowestIn = (array: keyof Pointers): number =>
      Math.min(
        ...[...read, ...stored].filter((place) => arrayOf(place) === array).map((slot) => this.#bytes(slot)),
      );
    this.#lowest = { current: lowestIn("current"), next: lowestIn("next"), profiles: lowestIn("profiles") };
  }

  /** The rows of a turn: offsets of their first cells. */
  get rows(): readonly Offset[] {
    const { x, y } = this.#turn;
    return range(x).flatMap((x) => range(y).map((y): Offset => [x, y, 0]));
  }

  /** Points to the cells of the rows from (x, y) on, z = 0. */
  start(arrays: Arrays, row: Readonly<Record<"x" | "y", Local>>): Code[] {
    const { layout } = this.#source, { profiles } = this.#pointers, { bytes, name } = this.#precision;
    const float = FLOATS[name];
    const point = (name: keyof Arrays): Code => {
      const first = rowAddress(layout, { array: arrays[name], x: row.x.get(), y: row.y.get() });
      return this.#pointers[name].set(i32.add(first, i32.const(this.#lowest[name] | 0)));
    };
    const lines = [point("current"), point("next")];
    const behind = (cells: number): Code => i32.add(arrays.current.get(), i32.const(cells * bytes | 0));
    for (const { local, tap: { profile, axis }, by } of this.#alike.values()) {
      const address = i32.add(
        behind(layout.length + this.#starts[profile]! + by),
        i32.shl((axis === 0 ? row.x : row.y).get(), i32.const(Math.log2(bytes))),
      );
      lines.push(local.set(float.splat(float.load(0, address))));
    }
    const alongZ = profiles?.set(behind(layout.length + this.#lowest.profiles / bytes));
    return alongZ === undefined ? lines : [...lines, alongZ];
  }

  /** A loop of `turns` turns, which leaves the pointers behind the last; `body` writes one. */
  loop(turns: number, end: Local, body: () => Code[]): Code[] {
    if (turns === 0) return [];
    const { current, next, profiles } = this.#pointers, { vectors } = this.#turn;
    const move = (pointer: Local, turns: number): Code =>
      i32.add(pointer.get(), i32.const(turns * vectors * VECTOR));
    const before = this.#kept.map((place) => this.#localOf(place).set(this.#load(place)));
    this.#loaded = new Set(this.#kept.map(placeName));
    return [
      ...before,
      end.set(move(next, turns)),
      loop([
        ...body(),
        ...this.#kept.map((place) => this.#localOf(place).set(this.#localOf(this.#ahead(place)).get())),
        ...[current, next, ...(profiles ? [profiles] : [])].map((pointer) => pointer.set(move(pointer, 1))),
        branchIf(0, i32.lt_u(next.get(), end.get())),
      ]),
    ];
  }

  /** To come after the loop: nothing is in its local. */
  forget(): void {
    this.#loaded = new Set();
  }

  /** The values of a tap for the vector that begins at an offset. */
  read(tap: TapPlace, at: Offset): Code {
    const place = moved(tap, at), [low, high] = this.#vectorsOf(place).map((part) => this.#vector(part));
    if (high === undefined) return low!;
    const { bytes, lanes } = this.#precision, shift = (place.offset[2] & lanes - 1) * bytes;
    return v128.shuffle(low!, high, range(VECTOR).map((byte) => byte + shift));
  }

  /** The values of a profile for the vector that begins at an offset. */
  readProfile(tap: ProfileTap, at: Offset): Code {
    const { profile, axis, offset } = tap;
    if (axis === 2) return this.read(alongZ(tap), at);
    return this.#alike.get(`${profile} ${offset + at[axis]}`)!.local.get();
  }

  /** Stores the first `cells` values of a vector, all if not said otherwise. */
  store(field: number, at: Offset, value: Local, cells = this.#precision.lanes as number): Code[] {
    const { next } = this.#pointers, { bytes, lanes } = this.#precision;
    const first = this.#bytes({ ago: 1, plane: field, offset: at }) - this.#lowest.next;
    if (cells === lanes) return [v128.store(first, next.get(), value.get())];
    const last = cells - 1;
    return [
      ...(cells * bytes >= 8 ? [v128.store64_lane(first, 0, next.get(), value.get())] : []),
      ...(cells * bytes % 8 > 0
        ? [v128.store32_lane(first + last * bytes, last, next.get(), value.get())]
        : []),
    ];
  }

  /** Fills the z pads of the fields that were made, in rows of which the pointers have passed `turns` turns. */
  wrap(substep: Substep, turns: number): Code[] {
    const passed = turns * this.#turn.vectors * VECTOR + this.#lowest.next;
    return substep.flatMap(({ field }) =>
      this.rows.flatMap((row) =>
        wrapRow(this.#source, {
          row: this.#pointers.next,
          bytes: this.#bytes({ ago: 1, plane: field, offset: row }) - passed,
        })
      )
    );
  }

  /** The vector at a place, or the two aligned ones that have a part of it each. */
  #vectorsOf(place: TapPlace): TapPlace[] {
    const { lanes } = this.#precision, shift = place.offset[2] & lanes - 1;
    if (shift === 0 || !this.#aligned.has(rowName(place))) return [place];
    return [moved(place, [0, 0, -shift]), moved(place, [0, 0, lanes - shift])];
  }

  #vector(place: TapPlace): Code {
    const name = placeName(place), local = this.#shared.get(name);
    if (local === undefined) return this.#load(place);
    if (this.#loaded.has(name)) return local.get();
    this.#loaded.add(name);
    return local.tee(this.#load(place));
  }

  #load(place: TapPlace): Code {
    const array = arrayOf(place);
    return v128.load(this.#bytes(place) - this.#lowest[array], this.#pointers[array]!.get());
  }

  #localOf(place: TapPlace): Local {
    return this.#shared.get(placeName(place))!;
  }

  /** Where it lies for the next turn. */
  #ahead(place: TapPlace): TapPlace {
    return moved(place, [0, 0, this.#precision.lanes * this.#turn.vectors]);
  }

  #bytes({ offset: [x, y, z], plane }: TapPlace): number {
    const { slice, pitch, plane: perPlane } = this.#source.layout, { bytes } = this.#precision;
    if (plane < 0) return (this.#starts[-1 - plane]! + z) * bytes;
    return (x * slice + plane * perPlane + y * pitch + z) * bytes;
  }
}

function arrayOf({ ago, plane }: TapPlace): keyof Pointers {
  if (plane < 0) return "profiles";
  return ago === 0 ? "current" : "next";
}

function moved({ offset: [x, y, z], ago, plane }: TapPlace, by: Offset): TapPlace {
  if (plane < 0) return { ago, plane, offset: [0, 0, z + by[2]] };
  return { ago, plane, offset: [x + by[0], y + by[1], z + by[2]] };
}

function alongZ({ profile, offset }: ProfileTap): TapPlace {
  return { ago: 0, plane: -1 - profile, offset: [0, 0, offset] };
}

function rowName({ offset: [x, y], ago, plane }: TapPlace): string {
  return `${ago} ${plane} ${x},${y}`;
}

function placeName(place: TapPlace): string {
  return `${rowName(place)},${place.offset[2]}`;
}
