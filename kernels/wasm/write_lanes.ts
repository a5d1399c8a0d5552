import type { Layout } from "../layout.ts";
import { reachOf, type Update } from "../update.ts";
import {
  addIndexFunction,
  advance,
  type Local,
  type Node,
  range,
  type Target,
  whileLeft,
} from "./functions.ts";
import { addLanePair, addLaneRow, canPair } from "./lane_rows.ts";
import { type LaneImage, laneImages, laneOffset, type Lanes } from "./lanes.ts";
import { CELL, VECTOR } from "./rows.ts";

/** The functions that sweep a line in lanes. */
export interface LaneExports {
  /**
   * Makes `count` rows from number `row` ≥ 1 on: the first has vectors begin ≤ i < end, where those below 0 lie at the
   * lanes' other end, and every other `move` fewer at each end than the one before. Of rows before the last may be
   * stored no more than what other parts need.
   *
   * @param even byte offset of the lanes of even steps; `odd` of odd ones
   */
  sweep(
    even: number,
    odd: number,
    row: number,
    begin: number,
    end: number,
    move: number,
    count: number,
  ): void;
  /** Copies vectors begin ≤ i < end of a plane from the line at `array`, a byte offset, to the lanes at `lanes`. */
  toLanes(array: number, lanes: number, plane: number, begin: number, end: number): void;
  /** And back. */
  fromLanes(array: number, lanes: number, plane: number, begin: number, end: number): void;
  /** Renews those pads of a plane, lanes at `lanes`, whose sources lie in begin ≤ i < end. */
  renew(lanes: number, plane: number, begin: number, end: number): void;
}

export interface LaneSource {
  readonly update: Update;
  /** Of the line; the pads hold at least the update's reach. */
  readonly layout: Layout;
  readonly lanes: Lanes;
  /** What the pads are images of. */
  readonly ends: "insulated" | "periodic";
}

export function addLanes(target: Target, source: LaneSource): void {
  const { update: { substeps }, lanes } = source;
  substeps.forEach((substep, index) => addLaneRow(target, substep, lanes, index));
  if (canPair(source.update)) addLanePair(target, substeps[0]!, lanes);
  addRenew(target, source);
  addSweep(target, source);
  addTranspose(target, source, "toLanes");
  addTranspose(target, source, "fromLanes");
}

function addRenew(target: Target, { layout, lanes, ends }: LaneSource): void {
  const { module: m } = target;
  const images = laneImages(lanes, layout.grid[2], ends);
  const sources = [...new Set(images.map(({ from: { position } }) => position))].sort((a, b) => a - b);
  addIndexFunction(target, {
    name: "renew",
    parameters: ["lanes", "plane", "begin", "end"],
    write({ lanes: array, plane, begin, end }, declare) {
      const start = declare("i32");
      const isMade = (position: number): Node => {
        const at = (): Node => m.i32.const(position);
        return m.i32.and(m.i32.ge_s(at(), begin.get()), m.i32.lt_s(at(), end.get()));
      };
      const copy = ({ from, to }: LaneImage): Node => {
        const value = m.f32.load(laneOffset(lanes, from), CELL, start.get());
        return m.f32.store(laneOffset(lanes, to), CELL, start.get(), value);
      };
      return [
        start.set(planeStart(m, lanes, array, plane)),
        // only what was made: another worker may be writing the others
        ...sources.map((position) =>
          m.if(
            m.i32.or(isMade(position), isMade(position - lanes.length)),
            m.block(null, images.filter(({ from }) => from.position === position).map(copy)),
          )
        ),
      ];
    },
  });
}

function addTranspose(target: Target, { layout, lanes }: LaneSource, name: "toLanes" | "fromLanes"): void {
  const { module: m } = target;
  addIndexFunction(target, {
    name,
    parameters: ["array", "lanes", "plane", "begin", "end"],
    write({ array, lanes: packed, plane, begin, end }, declare) {
      const left = declare("i32"), line = declare("i32"), vector = declare("i32"), held = declare("v128");
      const scaled = (bytes: number): Node => m.i32.shl(begin.get(), m.i32.const(Math.log2(bytes)));
      const linePlane = m.i32.mul(plane.get(), m.i32.const(layout.plane * CELL));
      const at = laneOffset(lanes, { position: 0, lane: 0 });
      const lineAt = (start: number): number => (layout.origin + start) * CELL;
      return [
        left.set(m.i32.sub(end.get(), begin.get())),
        line.set(m.i32.add(m.i32.add(array.get(), linePlane), scaled(CELL))),
        vector.set(m.i32.add(planeStart(m, lanes, packed, plane), scaled(VECTOR))),
        whileLeft(target, { name: "vectors", left, step: 1 }, [
          ...(name === "toLanes"
            ? [
              ...lanes.starts.map((start, lane) =>
                held.set(m.v128.load32_lane(lineAt(start), CELL, lane, line.get(), held.get()))
              ),
              m.v128.store(at, VECTOR, vector.get(), held.get()),
            ]
            : [
              held.set(m.v128.load(at, VECTOR, vector.get())),
              ...lanes.starts.map((start, lane) =>
                m.v128.store32_lane(lineAt(start), CELL, lane, line.get(), held.get())
              ),
            ]),
          advance(target, line, CELL),
          advance(target, vector, VECTOR),
        ]),
      ];
    },
  });
}

/** The byte offset at which a plane of lanes begins. */
function planeStart(m: Target["module"], { plane: bytes }: Lanes, array: Local, plane: Local): Node {
  return m.i32.add(array.get(), m.i32.mul(plane.get(), m.i32.const(bytes)));
}

/** Fewest vectors for a pass over two rows. */
const LEAST_PASS = 8;

/** Adds `sweep`; `lanes0` …, `lanePair` and `renew` are there already. */
function addSweep(target: Target, { update, lanes: { length } }: LaneSource): void {
  const { module: m } = target, { substeps } = update, reach = reachOf(update).z;
  const constant = (value: number): Node => m.i32.const(value);
  const plus = (local: Local, value: number): Node => m.i32.add(local.get(), constant(value));
  const isMost = (local: Local, value: number): Node => m.i32.le_s(local.get(), constant(value));
  const isLeast = (local: Local, value: number): Node => m.i32.ge_s(local.get(), constant(value));
  const both = (a: Node, b: Node): Node => m.i32.and(a, b);
  const call = (name: string, operands: Node[]): Node => m.call(name, operands, target.library.none);
  addIndexFunction(target, {
    name: "sweep",
    parameters: ["even", "odd", "row", "begin", "end", "move", "count"],
    write({ even, odd, row, begin, end, move, count }, declare) {
      const turn = declare("i32"), low = declare("i32"), high = declare("i32");
      const turns = 2 * substeps.length;
      const isAcross = (): Node => m.i32.lt_s(begin.get(), constant(0));
      /** The ends of the next row. */
      const inner = (): [Node, Node] => {
        return [m.i32.add(begin.get(), move.get()), m.i32.sub(end.get(), move.get())];
      };
      const next = (): Node[] => {
        const [low, high] = inner();
        return [turn.set(m.i32.rem_u(plus(turn, 1), constant(turns))), begin.set(low), end.set(high)];
      };
      const makeRow = (index: number, from: Local, to: Local): Node => {
        const piece = (first: Node, last: Node): Node =>
          call(`lanes${index}`, [from.get(), to.get(), first, last]);
        const touchesEnds = m.i32.or(isMost(begin, reach), isLeast(end, length - reach));
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
              call("renew", [from.get(), m.copyExpression(field), ...inner()]),
            ]),
          ),
          ...next(),
          advance(target, count, -1),
        ]);
      };
      /** Whether two rows are wide enough, and clear of the lanes' ends or well across them. */
      const isPair = (): Node => {
        const margin = 2 * reach + 1, least = LEAST_PASS + 4 * reach;
        const isWide = both(isMost(begin, -least), isLeast(end, least));
        const isInside = both(
          both(isLeast(begin, margin), isMost(end, length - margin)),
          m.i32.ge_s(m.i32.sub(end.get(), begin.get()), constant(least)),
        );
        return both(isLeast(count, 2), m.i32.or(isWide, isInside));
      };
      const make = (index: number, [from, to]: readonly [Local, Local]): Node =>
        canPair(update)
          ? m.if(isPair(), makePair(from, to), makeRow(index, from, to))
          : makeRow(index, from, to);
      return [
        turn.set(m.i32.rem_u(plus(row, -1), constant(turns))),
        whileLeft(target, { name: "rows", left: count, step: 1 }, [
          range(turns).reduceRight(
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
