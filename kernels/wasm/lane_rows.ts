/**
 * `lanes0`, `lanes1`, …: a piece of a sub-step's row of a line in lanes.
 *
 * Windows of locals save loads (see {@linkcode Window}): Kuramoto–Sivashinsky needs 3 a vector and step instead of 11, and
 * takes 1.56 ns instead of 2.29; its 13 additions alone take 1.55, two a cycle at 4.2 GHz (AMD EPYC, Zen 5, 2026-11-21).
 *
 * @module
 */
import type { Tap } from "../expression.ts";
import { expressionsOf, type Substep, tapsOf } from "../update.ts";
import { advance, type Declare, indexFunction, range, VectorWriter, whileLeft } from "./functions.ts";
import { type Code, i32, type Local, type ModuleFunction, v128 } from "./instructions.ts";
import { laneOffset, type Lanes } from "./lanes.ts";
import { VECTOR } from "./rows.ts";

/**
 * `lanes{index}(current, next, begin, end)`: vectors begin ≤ i < end. Arrays are byte offsets of the lanes of F(t),
 * and of those that receive F(t+1).
 */
export function laneRow(substep: Substep, lanes: Lanes, index: number): ModuleFunction {
  return indexFunction({
    name: `lanes${index}`,
    parameters: ["current", "next", "begin", "end"],
    write({ current, next, begin, end }, declare) {
      const left = declare("i32");
      const writer = new VectorWriter(expressionsOf(substep), declare, lanes);
      const read = rowsRead(substep).filter(({ span: { first, last } }) => last > first);
      const size = Math.max(1, ...read.map(({ span: { first, last } }) => 1 + last - first));
      const windows = read.map(({ row, span: { first, last } }) => {
        return { row, first, window: new Window(declare, last, size) };
      });
      const at = (plane: number, position: number): number =>
        plane * lanes.plane + laneOffset(lanes, { position, lane: 0 });
      const load = ({ ago, plane }: Row, position: number): Code =>
        v128.load(at(plane, position), (ago === 0 ? current : next).get());
      const valueOf = (tap: Tap, vector: number): Code => {
        const held = windows.find(({ row }) => row.ago === tap.ago && row.plane === tap.plane);
        const position = vector + tap.offset[2];
        return held === undefined ? load(tap, position) : held.window.at(position).get();
      };
      const make = (vector: number): Code[] => [
        ...windows.map(({ row, window }) =>
          window.at(vector + window.last).set(load(row, vector + window.last))
        ),
        ...writer.write(
          (tap) => valueOf(tap, vector),
          (value, i) => v128.store(at(substep[i]!.field, vector), next.get(), value),
        ),
      ];
      const many = size * Math.ceil(LEAST_VECTORS / size);
      const loop = (vectors: number, body: readonly Code[]): Code =>
        whileLeft({ left, step: vectors }, [
          ...body,
          ...[current, next].map((pointer) => advance(pointer, vectors * VECTOR)),
        ]);
      return [
        left.set(i32.sub(end.get(), begin.get())),
        ...writer.setConstants(),
        ...[current, next].map((array) =>
          array.set(i32.add(array.get(), i32.shl(begin.get(), i32.const(4))))
        ),
        // a window is as wide as the widest: what no tap of its own row reads may lie beyond the pads
        ...windows.flatMap(({ row, first, window }) =>
          window.held.filter((position) => position >= first)
            .map((position) => window.at(position).set(load(row, position)))
        ),
        loop(many, range(many).flatMap(make)),
        loop(1, [...make(0), ...windows.flatMap(({ window }) => window.rotate())]),
      ];
    },
  });
}

/** Vectors in the loop's body at least: they share its counting. */
const LEAST_VECTORS = 5;

/** Places for the vectors from some position up to `last`, counted from the vector that is being made. */
class Window {
  readonly #locals: readonly Local[];

  /** @param last the furthest position, which comes in with every vector */
  constructor(declare: Declare, readonly last: number, size: number) {
    this.#locals = Array.from({ length: size }, () => declare("v128"));
  }

  /** Where the vector at a position is, of those that are held then. */
  at(position: number): Local {
    const size = this.#locals.length;
    return this.#locals[(((position - this.last) % size) + size) % size]!;
  }

  /** What must be there before the first vector: all positions but the furthest. */
  get held(): number[] {
    const size = this.#locals.length;
    return range(size - 1).map((i) => this.last - size + 1 + i);
  }

  /** Moves on by one vector, where the loop's body is no multiple of the window. */
  rotate(): Code[] {
    return this.held.map((position) => this.at(position).set(this.at(position + 1).get()));
  }
}

type Row = Pick<Tap, "ago" | "plane">;

/** The rows that a sub-step reads, and the offsets of the first and last tap in each. */
function rowsRead(
  substep: Substep,
): { readonly row: Row; readonly span: Readonly<Record<"first" | "last", number>> }[] {
  const groups = Map.groupBy(tapsOf(substep), ({ ago, plane }) => `${ago} ${plane}`);
  return [...groups.values()].map((taps) => {
    const offsets = taps.map(({ offset: [, , z] }) => z);
    return { row: taps[0]!, span: { first: Math.min(...offsets), last: Math.max(...offsets) } };
  });
}
