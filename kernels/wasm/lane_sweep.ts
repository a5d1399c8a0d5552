/**
 * `sweep`: the rows of a valley or a triangle in lanes, in order, two at a time where possible.
 *
 * @module
 */
import { reachOf, type Update } from "../update.ts";
import type { Local, Node, Target } from "./box_function.ts";
import { canPair } from "./lane_rows.ts";
import type { Lanes } from "./lanes.ts";
import { addIndexFunction, whileLeft } from "./vector_writer.ts";

/** Fewest vectors for a pass over two rows. */
const LEAST_PASS = 8;

/** Adds `sweep`, as `LaneExports` describes it; `lanes0` …, `lanePair` and `renew` are there already. */
export function addSweep(
  target: Target,
  { update, lanes: { length } }: { readonly update: Update; readonly lanes: Lanes },
): void {
  const { module: m } = target, { substeps } = update, reach = reachOf(update).z;
  const { constant, plus, both, call } = shortcuts(target);
  addIndexFunction(target, {
    name: "sweep",
    parameters: ["even", "odd", "row", "begin", "end", "move", "count"],
    write({ even, odd, row, begin, end, move, count }, declare) {
      const turn = declare("i32"), low = declare("i32"), high = declare("i32");
      const isAcross = (): Node => m.i32.lt_s(begin.get(), constant(0));
      const next = (): Node[] => [
        turn.set(m.i32.rem_u(plus(turn, 1), constant(2 * substeps.length))),
        begin.set(m.i32.add(begin.get(), move.get())),
        end.set(m.i32.sub(end.get(), move.get())),
      ];
      /** One row from array to array. */
      const makeRow = (index: number, from: Local, to: Local): Node => {
        const piece = (first: Node, last: Node): Node =>
          call(`lanes${index}`, [from.get(), to.get(), first, last]);
        const touchesEnds = m.i32.or(
          m.i32.le_s(begin.get(), constant(reach)),
          m.i32.ge_s(end.get(), constant(length - reach)),
        );
        const least = m.select(m.i32.lt_s(end.get(), constant(0)), plus(end, length), constant(length));
        return m.block(null, [
          m.if(
            isAcross(),
            m.block(null, [piece(plus(begin, length), least), piece(constant(0), end.get())]),
            piece(begin.get(), end.get()),
          ),
          m.if(
            touchesEnds,
            call("renew", [to.get(), constant(substeps[index]![0]!.field), begin.get(), end.get()]),
          ),
        ]);
      };
      /**
       * Two rows, the second in place of the one they are made from. Of the first are stored what neighbours need, its
       * outermost 2·reach vectors, and what the ends' images need.
       */
      const makePair = (from: Local, to: Local): Node => {
        const field = constant(substeps[0]![0]!.field), width = 2 * reach;
        const first = (a: Node, b: Node): Node => call("lanes0", [from.get(), to.get(), a, b]);
        const second = (a: Node, b: Node): Node => call("lanes0", [to.get(), from.get(), a, b]);
        const pass = (a: Node, b: Node): Node => call("lanePair", [from.get(), a, b]);
        return m.block(null, [
          low.set(m.select(isAcross(), plus(begin, length), begin.get())),
          high.set(end.get()),
          first(low.get(), plus(low, width)),
          first(plus(high, -width), high.get()),
          m.if(
            isAcross(),
            m.block(null, [
              first(constant(length - width), constant(length)),
              first(constant(0), constant(width)),
              call("renew", [to.get(), field, constant(-width), constant(width)]),
              pass(plus(low, reach), constant(length - reach)),
              pass(constant(reach), plus(high, -reach)),
            ]),
            pass(plus(low, reach), plus(high, -reach)),
          ),
          // what a valley's second row has beyond the pass; nothing in a triangle
          second(m.i32.add(low.get(), move.get()), plus(low, reach)),
          second(plus(high, -reach), m.i32.sub(high.get(), move.get())),
          m.if(
            isAcross(),
            m.block(null, [
              second(constant(length - reach), constant(length)),
              second(constant(0), constant(reach)),
              call("renew", [
                from.get(),
                m.copyExpression(field),
                m.i32.add(begin.get(), move.get()),
                m.i32.sub(end.get(), move.get()),
              ]),
            ]),
          ),
          ...next(),
          count.set(plus(count, -1)),
        ]);
      };
      /** Whether two rows are wide enough, and clear of the lanes' ends or well across them. */
      const isPair = (): Node => {
        const margin = 2 * reach + 1, least = LEAST_PASS + 4 * reach;
        const isWide = both(
          m.i32.le_s(begin.get(), constant(-least)),
          m.i32.ge_s(end.get(), constant(least)),
        );
        const isInside = both(
          both(m.i32.ge_s(begin.get(), constant(margin)), m.i32.le_s(end.get(), constant(length - margin))),
          m.i32.ge_s(m.i32.sub(end.get(), begin.get()), constant(least)),
        );
        return both(m.i32.ge_s(count.get(), constant(2)), m.i32.or(isWide, isInside));
      };
      const make = (index: number, [from, to]: readonly [Local, Local]): Node =>
        canPair(update)
          ? m.if(isPair(), makePair(from, to), makeRow(index, from, to))
          : makeRow(index, from, to);
      const turns = substeps.length * 2;
      return [
        turn.set(m.i32.rem_u(plus(row, -1), constant(turns))),
        whileLeft(target, { name: "rows", left: count, step: 1 }, [
          Array.from({ length: turns }, (_, i) => i).reduceRight(
            (otherwise, i) =>
              m.if(
                m.i32.eq(turn.get(), constant(i)),
                make(i % substeps.length, i < substeps.length ? [even, odd] : [odd, even]),
                otherwise,
              ),
            m.nop(),
          ),
          ...next(),
        ]),
      ];
    },
  });
}

/** Short names for what is written most. */
function shortcuts({ module: m, library }: Target): {
  constant(value: number): Node;
  plus(local: Local, value: number): Node;
  both(a: Node, b: Node): Node;
  call(name: string, operands: Node[]): Node;
} {
  return {
    constant: (value) => m.i32.const(value),
    plus: (local, value) => m.i32.add(local.get(), m.i32.const(value)),
    both: (a, b) => m.i32.and(a, b),
    call: (name, operands) => m.call(name, operands, library.none),
  };
}
