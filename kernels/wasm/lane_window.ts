/**
 * A **window** of locals over a row in lanes, which moves on with the loop: each vector is loaded or made once, for all
 * taps that read it. The loop's body makes as many vectors as the window holds, or a multiple, so none is ever moved.
 *
 * @module
 */
import { type Substep, tapsOf } from "../update.ts";
import type { Tap } from "../expression.ts";
import type { Local, Node, Target } from "./box_function.ts";
import { type Declare, whileLeft } from "./vector_writer.ts";

/** Vectors in the loop's body at least: they share its counting. */
const LEAST_VECTORS = 5;

/** Offsets of the taps that read one row. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** Places for the vectors from some position up to `last`, counted from the vector that is being made. */
export class Window {
  /** The furthest position, which comes in with every vector. */
  readonly last: number;
  readonly #locals: readonly Local[];

  constructor(declare: Declare, { last, size }: { readonly last: number; readonly size: number }) {
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
    return Array.from({ length: size - 1 }, (_, i) => this.last - size + 1 + i);
  }

  /** Moves on by one vector, where the loop's body is no multiple of the window. */
  rotate(): Node[] {
    return this.held.map((position) => this.at(position).set(this.at(position + 1).get()));
  }
}

/** The taps of a sub-step by the row they read, those first whose row several taps read. */
export function rowsRead(
  substep: Substep,
): { readonly row: Pick<Tap, "ago" | "plane">; readonly span: Span }[] {
  const groups = new Map<string, Tap[]>();
  for (const tap of tapsOf(substep)) {
    const key = `${tap.ago} ${tap.plane}`;
    groups.set(key, [...groups.get(key) ?? [], tap]);
  }
  return [...groups.values()].map((taps) => {
    const offsets = taps.map(({ offset: [, , z] }) => z);
    return { row: taps[0]!, span: { first: Math.min(...offsets), last: Math.max(...offsets) } };
  });
}

/**
 * A loop over `left` vectors with windows, all of one size.
 *
 * @param make vector number `vector` of the body
 * @param advance moves the pointers on
 */
export function windowLoop(
  target: Target,
  { left, windows, size }: {
    readonly left: Local;
    readonly windows: readonly Window[];
    readonly size: number;
  },
  { make, advance }: { make(vector: number): Node[]; advance(vectors: number): Node[] },
): Node[] {
  const many = size * Math.ceil(LEAST_VECTORS / size);
  return [
    whileLeft(target, { name: "vectors", left, step: many }, [
      ...Array.from({ length: many }, (_, vector) => make(vector)).flat(),
      ...advance(many),
    ]),
    whileLeft(target, { name: "vector", left, step: 1 }, [
      ...make(0),
      ...windows.flatMap((window) => window.rotate()),
      ...advance(1),
    ]),
  ];
}
