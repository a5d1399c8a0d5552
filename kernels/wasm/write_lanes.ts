/**
 * The functions that sweep a line in lanes: `sweep` makes the rows of a valley or a triangle; `toLanes` and `fromLanes`
 * copy points between the line and its lanes; `renew` fills the pads.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import type { Update } from "../update.ts";
import type { Local, Node, Target } from "./box_function.ts";
import { addLanePair, addLaneRow, canPair } from "./lane_rows.ts";
import { addSweep } from "./lane_sweep.ts";
import { laneImages, laneOffset, type Lanes } from "./lanes.ts";
import { CELL, VECTOR } from "./rows.ts";
import { addIndexFunction, whileLeft } from "./vector_writer.ts";

/** What {@linkcode addLanes} adds. */
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

/** A line and its lanes. */
export interface LaneSource {
  readonly update: Update;
  readonly layout: Layout;
  readonly lanes: Lanes;
  readonly ends: "insulated" | "periodic";
}

/** Adds the functions. */
export function addLanes(target: Target, source: LaneSource): void {
  const { update: { substeps }, lanes } = source;
  substeps.forEach((substep, index) => addLaneRow(target, { substep, lanes, index }));
  if (canPair(source.update)) addLanePair(target, { substep: substeps[0]!, lanes });
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
      const isMade = (position: number): Node =>
        m.i32.and(
          m.i32.ge_s(m.i32.const(position), begin.get()),
          m.i32.lt_s(m.i32.const(position), end.get()),
        );
      return [
        start.set(planeStart(m, lanes, { lanes: array, plane })),
        // only what was made: another worker may be writing the others
        ...sources.map((position) =>
          m.if(
            m.i32.or(isMade(position), isMade(position - lanes.length)),
            m.block(
              null,
              images.filter(({ from }) => from.position === position).map(({ from, to }) =>
                m.f32.store(
                  laneOffset(lanes, to),
                  CELL,
                  start.get(),
                  m.f32.load(laneOffset(lanes, from), CELL, start.get()),
                )
              ),
            ),
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
        vector.set(m.i32.add(planeStart(m, lanes, { lanes: packed, plane }), scaled(VECTOR))),
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
          line.set(m.i32.add(line.get(), m.i32.const(CELL))),
          vector.set(m.i32.add(vector.get(), m.i32.const(VECTOR))),
        ]),
      ];
    },
  });
}

/** The byte offset at which a plane of lanes begins. */
function planeStart(
  m: Target["module"],
  { plane: bytes }: Lanes,
  { lanes, plane }: { readonly lanes: Local; readonly plane: Local },
): Node {
  return m.i32.add(lanes.get(), m.i32.mul(plane.get(), m.i32.const(bytes)));
}
