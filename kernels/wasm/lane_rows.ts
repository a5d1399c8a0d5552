/**
 * `lanes0`, `lanes1`, …: a piece of a sub-step's row of a line in lanes; and `lanePair`, two rows in one pass.
 *
 * Windows of locals save loads (see {@linkcode Window}): Kuramoto–Sivashinsky needs 3 a vector and step instead of 11, and
 * takes 1.56 ns instead of 2.29; its 13 additions alone take 1.55, two a cycle at 4.2 GHz. Two rows of heat in one pass
 * take 0.26 ns a vector and row, 0.40 one by one; three and more run out of registers and take 0.30 (AMD EPYC, Zen 5,
 * 2026-11-21).
 *
 * @module
 */
import type { Tap } from "../expression.ts";
import { expressionsOf, reachOf, type Substep, tapsOf, type Update } from "../update.ts";
import {
  addIndexFunction,
  advance,
  type Declare,
  type Local,
  type Node,
  range,
  type Target,
  VectorWriter,
  whileLeft,
} from "./functions.ts";
import { laneOffset, type Lanes } from "./lanes.ts";
import { VECTOR } from "./rows.ts";

/**
 * Adds `lanes{index}(current, next, begin, end)`: vectors begin ≤ i < end. Arrays are byte offsets of the lanes of F(t),
 * and of those that receive F(t+1).
 */
export function addLaneRow(target: Target, substep: Substep, lanes: Lanes, index: number): void {
  const { module: m } = target;
  addIndexFunction(target, {
    name: `lanes${index}`,
    parameters: ["current", "next", "begin", "end"],
    write({ current, next, begin, end }, declare) {
      const left = declare("i32"), pointers = [current, next];
      const writer = new VectorWriter(target, expressionsOf(substep), declare);
      const read = rowsRead(substep).filter(({ span: { first, last } }) => last > first);
      const size = Math.max(1, ...read.map(({ span: { first, last } }) => 1 + last - first));
      const windows = read.map(({ row, span: { last } }) => {
        return { row, window: new Window(declare, last, size) };
      });
      const at = (plane: number, position: number): number =>
        plane * lanes.plane + laneOffset(lanes, { position, lane: 0 });
      const load = ({ ago, plane }: Row, position: number): Node =>
        m.v128.load(at(plane, position), VECTOR, (ago === 0 ? current : next).get());
      const valueOf = (tap: Tap, vector: number): Node => {
        const held = windows.find(({ row }) => row.ago === tap.ago && row.plane === tap.plane);
        const position = vector + tap.offset[2];
        return held === undefined ? load(tap, position) : held.window.at(position).get();
      };
      const make = (vector: number): Node[] => [
        ...windows.map(({ row, window }) =>
          window.at(vector + window.last).set(load(row, vector + window.last))
        ),
        ...writer.writeEach(
          (tap) => valueOf(tap, vector),
          (value, i) => m.v128.store(at(substep[i]!.field, vector), VECTOR, next.get(), value),
        ),
      ];
      return [
        left.set(m.i32.sub(end.get(), begin.get())),
        ...writer.setConstants(),
        ...pointers.map((array) => toVector(target, array, begin.get())),
        ...windows.flatMap(({ row, window }) =>
          window.held.map((position) => window.at(position).set(load(row, position)))
        ),
        ...windowLoop(target, { left, size, windows: windows.map(({ window }) => window), make, pointers }),
      ];
    },
  });
}

/** Whether {@linkcode addLanePair} helps: steps have one sub-step and field, and two windows fit the registers. */
export function canPair({ substeps, ...update }: Update): boolean {
  return substeps.length === 1 && substeps[0]!.length === 1 && reachOf({ ...update, substeps }).z <= 2;
}

/**
 * Adds `lanePair(current, begin, end)`: vectors begin ≤ i < end of the second row from `current`, stored in place behind
 * what the pass still reads. The first row is not stored.
 */
export function addLanePair(target: Target, substep: Substep, lanes: Lanes): void {
  const { module: m } = target;
  addIndexFunction(target, {
    name: "lanePair",
    parameters: ["current", "begin", "end"],
    write({ current, begin, end }, declare) {
      const left = declare("i32");
      const writer = new VectorWriter(target, expressionsOf(substep), declare);
      const { span: { first, last } } = rowsRead(substep)[0]!, size = 1 + last - first;
      const source = new Window(declare, 2 * last, size), made = new Window(declare, last, size);
      // the pointer lies `pad` vectors before the next one: taps of taps reach twice as far as the pads
      const at = (position: number): number =>
        laneOffset(lanes, { position: position + lanes.pad, lane: 0 }) +
        substep[0]!.field * lanes.plane;
      const load = (position: number): Node =>
        source.at(position).set(m.v128.load(at(position), VECTOR, current.get()));
      const write = (from: Window, position: number) =>
        writer.write(({ offset: [, , z] }) => from.at(position + z).get());
      const makeFirst = (position: number): Node[] => {
        const { before, values: [value] } = write(source, position);
        return [load(position + last), ...before, made.at(position).set(value!)];
      };
      const make = (vector: number): Node[] => {
        const lines = makeFirst(vector + last);
        const { before, values: [value] } = write(made, vector);
        return [...lines, ...before, m.v128.store(at(vector), VECTOR, current.get(), value!)];
      };
      return [
        left.set(m.i32.sub(end.get(), begin.get())),
        ...writer.setConstants(),
        toVector(target, current, m.i32.sub(begin.get(), m.i32.const(lanes.pad))),
        ...range(size - 1).map((i) => load(2 * first + i)),
        ...made.held.flatMap(makeFirst),
        ...windowLoop(target, { left, size, windows: [source, made], make, pointers: [current] }),
      ];
    },
  });
}

/** Moves a pointer on by so many vectors. */
function toVector({ module: m }: Target, array: Local, vectors: Node): Node {
  return array.set(m.i32.add(array.get(), m.i32.shl(vectors, m.i32.const(4))));
}

/** Vectors in the loop's body at least: they share its counting. */
const LEAST_VECTORS = 5;

/** Places for the vectors from some position up to `last`, counted from the vector that is being made. */
class Window {
  /** The furthest position, which comes in with every vector. */
  readonly last: number;
  readonly #locals: readonly Local[];

  constructor(declare: Declare, last: number, size: number) {
    this.last = last;
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
  rotate(): Node[] {
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

/** A loop over `left` vectors with windows, all of one size. */
function windowLoop(
  target: Target,
  { left, windows, size, make, pointers }: {
    readonly left: Local;
    readonly windows: readonly Window[];
    readonly size: number;
    make(vector: number): Node[];
    readonly pointers: readonly Local[];
  },
): Node[] {
  const many = size * Math.ceil(LEAST_VECTORS / size);
  const moveOn = (vectors: number): Node[] =>
    pointers.map((pointer) => advance(target, pointer, vectors * VECTOR));
  return [
    whileLeft(target, { name: "vectors", left, step: many }, [
      ...range(many).flatMap(make),
      ...moveOn(many),
    ]),
    whileLeft(target, { name: "vector", left, step: 1 }, [
      ...make(0),
      ...windows.flatMap((window) => window.rotate()),
      ...moveOn(1),
    ]),
  ];
}
