/**
 * `lanes0`, `lanes1`, …: a piece of a sub-step's row of a line in lanes. A plane's vectors pass through a **window** of
 * locals: each is loaded once, and every tap that reads it finds it there. The loop's body is as many vectors as the
 * window holds, or a multiple, so that none is ever moved.
 *
 * Kuramoto–Sivashinsky: 3 loads a vector of a step instead of 11, and 1.56 ns instead of 2.29, where its 13 additions
 * alone take 1.55 (two a cycle at 4.2 GHz; AMD EPYC, Zen 5, 2026-11-21).
 *
 * @module
 */
import type { Tap } from "../expression.ts";
import { expressionsOf, type Substep, tapsOf } from "../update.ts";
import type { Local, Node, Target } from "./box_function.ts";
import { laneOffset, type Lanes } from "./lanes.ts";
import { VECTOR } from "./rows.ts";
import { addIndexFunction, type Declare, VectorWriter, whileLeft } from "./vector_writer.ts";

/** Vectors in the loop's body at least: it shares their counting. */
const LEAST_VECTORS = 5;

/** The vectors of one plane that a row reads. */
interface Window {
  readonly place: Pick<Tap, "ago" | "plane">;
  /** The furthest that is read, and one place for each vector up to there. */
  readonly last: number;
  readonly locals: readonly Local[];
}

/**
 * Adds `lanes{index}(current, next, begin, end)`: vectors begin ≤ i < end. Arrays are byte offsets of the lanes of F(t),
 * and of those that receive F(t+1).
 */
export function addLaneRow(
  target: Target,
  { substep, lanes, index }: { readonly substep: Substep; readonly lanes: Lanes; readonly index: number },
): void {
  const { module: m } = target;
  addIndexFunction(target, {
    name: `lanes${index}`,
    parameters: ["current", "next", "begin", "end"],
    isInner: true,
    write({ current, next, begin, end }, declare) {
      const left = declare("i32");
      const writer = new VectorWriter(target, expressionsOf(substep), declare);
      const windows = windowsOf(substep, declare);
      const size = Math.max(1, ...windows.map(({ locals }) => locals.length));
      // pointers lie `pad` vectors before the next one, so that no offset is negative
      const at = (plane: number, position: number): number =>
        plane * lanes.plane + laneOffset(lanes, { position, lane: 0 });
      const load = ({ ago, plane }: Window["place"], position: number): Node =>
        m.v128.load(at(plane, position), VECTOR, (ago === 0 ? current : next).get());
      const holderOf = ({ ago, plane }: Tap): Window | undefined =>
        windows.find(({ place }) => place.ago === ago && place.plane === plane);
      const inWindow = ({ last, locals }: Window, position: number): Local =>
        locals[(position - last + 2 * locals.length - 1) % locals.length];
      const make = (vector: number): Node[] => {
        const { before, values } = writer.write((tap) => {
          const window = holderOf(tap), position = vector + tap.offset[2];
          return window === undefined ? load(tap, position) : inWindow(window, position).get();
        });
        return [
          ...windows.map((window) =>
            inWindow(window, vector + window.last).set(load(window.place, vector + window.last))
          ),
          ...before,
          ...values.map((value, i) => m.v128.store(at(substep[i].field, vector), VECTOR, next.get(), value)),
        ];
      };
      const advance = (vectors: number): Node[] =>
        [current, next].map((array) => array.set(m.i32.add(array.get(), m.i32.const(vectors * VECTOR))));
      const atBegin = (array: Local): Node =>
        array.set(m.i32.add(array.get(), m.i32.shl(begin.get(), m.i32.const(4))));
      /** All but the furthest, which every vector loads itself. */
      const held = ({ last, locals }: Window): number[] =>
        Array.from({ length: locals.length - 1 }, (_, i) => last - locals.length + 1 + i);
      const many = size * Math.ceil(LEAST_VECTORS / size);
      return [
        left.set(m.i32.sub(end.get(), begin.get())),
        ...writer.setConstants(),
        ...[current, next].map(atBegin),
        ...windows.flatMap((window) =>
          held(window).map((position) => inWindow(window, position).set(load(window.place, position)))
        ),
        whileLeft(target, { name: "vectors", left, step: many }, [
          ...Array.from({ length: many }, (_, vector) => make(vector)).flat(),
          ...advance(many),
        ]),
        whileLeft(target, { name: "vector", left, step: 1 }, [
          ...make(0),
          ...windows.flatMap((window) =>
            held(window).map((position) =>
              inWindow(window, position).set(inWindow(window, position + 1).get())
            )
          ),
          ...advance(1),
        ]),
      ];
    },
  });
}

/** One for every plane of which several vectors are read, all of the same size. */
function windowsOf(substep: Substep, declare: Declare): Window[] {
  const groups = new Map<string, Tap[]>();
  for (const tap of tapsOf(substep)) {
    const key = `${tap.ago} ${tap.plane}`;
    groups.set(key, [...groups.get(key) ?? [], tap]);
  }
  const read = [...groups.values()].filter((taps) => taps.length > 1).map((taps) => {
    const offsets = taps.map(({ offset: [, , z] }) => z);
    return {
      place: taps[0],
      last: Math.max(...offsets),
      span: 1 + Math.max(...offsets) - Math.min(...offsets),
    };
  });
  const size = Math.max(0, ...read.map(({ span }) => span));
  return read.map(({ place, last }) => ({
    place,
    last,
    locals: Array.from({ length: size }, () => declare("v128")),
  }));
}
