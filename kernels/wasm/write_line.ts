/**
 * The CPU's kernels of a line: `row0`, `row1`, … make a piece of a sub-step's row in place, for classic. The swept rule
 * has the line in lanes, where `lanes0`, … do so: see `lane_rows.ts`. Both equal the oracle bit for bit.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import { expressionsOf, reachOf, readsPrevious, readsSignal, type Substep, type Update } from "../update.ts";
import {
  addIndexFunction,
  advance,
  type Local,
  type Node,
  range,
  type Target,
  VectorWriter,
  whileLeft,
  writeModule,
} from "./functions.ts";
import { addLaneRow } from "./lane_rows.ts";
import type { Lanes } from "./lanes.ts";
import { CELL, VECTOR } from "./rows.ts";

/** What the module exports; arrays are byte offsets: F(t), and the one that receives F(t+1). */
export interface LineExports {
  /** Sub-step i for the points begin ≤ z < end of a row. */
  [row: `row${number}`]: (current: number, next: number, begin: number, end: number) => void;
  /** With lanes: sub-step i for their vectors begin ≤ i < end. */
  [lanes: `lanes${number}`]: (current: number, next: number, begin: number, end: number) => void;
}

/**
 * Vectors of four points in the body of the loop. Taps between aligned vectors are loaded: shuffles, as in
 * `write_step.ts`, are no faster here (KS 2.21 ns a vector and step with shuffles, 2.12 with loads; AMD EPYC, Zen 5,
 * 2026-11-21).
 */
const VECTORS = 4;

/**
 * Writes the module of a grid of 1×1×N points; without lanes for classic only. It imports `facet.memory`, shared, and
 * exports {@linkcode LineExports}.
 *
 * @throws {RangeError} when the grid is no line, or the update needs more than fields and a step's own rows
 */
export async function writeLine(
  { update, layout, lanes }: {
    readonly update: Update;
    /** Of the line; the pads hold at least the update's reach. */
    readonly layout: Layout;
    readonly lanes?: Lanes | undefined;
  },
): Promise<Uint8Array<ArrayBuffer>> {
  const [nx, ny] = layout.grid;
  const reach = reachOf(update);
  if (nx !== 1 || ny !== 1 || reach.x > 0 || reach.y > 0 || layout.pad[2] < reach.z) {
    const found = `${layout.grid.join("x")} with pads of ${layout.pad[2]}`;
    throw new RangeError(
      `Cannot write the kernel of a line: the grid must be 1x1xN with pads of ${reach.z}: it is ${found}`,
    );
  }
  if (update.materials.length > 0 || readsSignal(update) || readsPrevious(update)) {
    throw new RangeError(
      "Cannot write the kernel of a line: materials, signals and F(t-1) are not read there",
    );
  }
  return await writeModule((target) => {
    update.substeps.forEach((substep, index) => addRow(target, { layout, substep, index }));
    if (lanes === undefined) return;
    update.substeps.forEach((substep, index) => addLaneRow(target, substep, lanes, index));
  });
}

function addRow(
  target: Target,
  { layout, substep, index }: { layout: Layout; substep: Substep; index: number },
): void {
  const { module: m } = target;
  addIndexFunction(target, {
    name: `row${index}`,
    parameters: ["current", "next", "begin", "end"],
    write({ current, next, begin, end }, declare) {
      const left = declare("i32");
      const writer = new VectorWriter(target, expressionsOf(substep), declare);
      // pointers lie at the lowest point that is read, so that no offset is negative
      const reach = reachOf(substep).z;
      const bytesTo = (plane: number, vector: number, offset = 0): number =>
        (plane * layout.plane + reach + offset) * CELL + vector * VECTOR;
      const make = (vector: number, use: (value: Node, index: number) => Node): Node[] =>
        writer.write(
          ({ offset: [, , z], ago, plane }) =>
            m.v128.load(bytesTo(plane, vector, z), CELL, (ago === 0 ? current : next).get()),
          use,
        );
      const store = (vector: number): Node[] =>
        make(vector, (value, i) => m.v128.store(bytesTo(substep[i]!.field, vector), CELL, next.get(), value));
      const loop = (name: string, vectors: number): Node =>
        whileLeft(target, { name, left, step: 4 * vectors }, [
          ...range(vectors).flatMap(store),
          ...[current, next].map((pointer) => advance(target, pointer, vectors * VECTOR)),
        ]);
      // the last one to three points: a whole vector is made, its first lanes are stored
      const rest = (): Node[] => {
        const tails: Local[] = [];
        const has = (points: number): Node => m.i32.and(left.get(), m.i32.const(points));
        return [
          ...make(0, (value, i) => (tails[i] = declare("v128")).set(value)),
          ...tails.map((tail, i) => {
            const at = bytesTo(substep[i]!.field, 0);
            return m.if(
              has(2),
              m.block(null, [
                m.v128.store64_lane(at, CELL, 0, next.get(), tail.get()),
                m.if(has(1), m.v128.store32_lane(at + 2 * CELL, CELL, 2, next.get(), tail.get())),
              ]),
              m.v128.store32_lane(at, CELL, 0, next.get(), tail.get()),
            );
          }),
        ];
      };
      const start = (array: Local): Node => {
        const lowest = m.i32.add(array.get(), m.i32.const((layout.origin - reach) * CELL));
        return array.set(m.i32.add(lowest, m.i32.shl(begin.get(), m.i32.const(2))));
      };
      return [
        left.set(m.i32.sub(end.get(), begin.get())),
        ...writer.setConstants(),
        ...[current, next].map(start),
        loop("vectors", VECTORS),
        loop("vector", 1),
        m.if(m.i32.gt_s(left.get(), m.i32.const(0)), m.block(null, rest())),
      ];
    },
  });
}
