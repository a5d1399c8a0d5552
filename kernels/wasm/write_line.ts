/**
 * The CPU's kernels of a line: `row0`, `row1`, … make a piece of a sub-step's row in place, for classic. The swept rule
 * has the line in lanes, where `lanes0`, … do so: see `lane_rows.ts`. Both equal the oracle bit for bit.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import { precisionOf } from "../precision.ts";
import { expressionsOf, reachOf, readsPrevious, readsSignal, type Substep, type Update } from "../update.ts";
import { advance, indexFunction, range, VectorWriter, whileLeft } from "./functions.ts";
import { type Code, i32, type Local, type ModuleFunction, v128, when, writeModule } from "./instructions.ts";
import { laneRow } from "./lane_rows.ts";
import type { Lanes } from "./lanes.ts";
import { VECTOR } from "./rows.ts";

/** What the module exports; arrays are byte offsets: F(t), and the one that receives F(t+1). */
export interface LineExports {
  /** Sub-step i for the points begin ≤ z < end of a row. */
  [row: `row${number}`]: (current: number, next: number, begin: number, end: number) => void;
  /** With lanes: sub-step i for their vectors begin ≤ i < end. */
  [lanes: `lanes${number}`]: (current: number, next: number, begin: number, end: number) => void;
}

/**
 * Vectors in the body of the loop. Taps between aligned vectors are loaded: shuffles, as in
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
export function writeLine(
  { update, layout, lanes }: {
    readonly update: Update;
    /** The line's layout; its pads hold at least the update's reach. */
    readonly layout: Layout;
    readonly lanes?: Lanes | undefined;
  },
): Uint8Array<ArrayBuffer> {
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
  return writeModule([
    ...update.substeps.map((substep, index) => plainRow(layout, substep, index)),
    ...lanes === undefined ? [] : update.substeps.map((substep, index) => laneRow(substep, lanes, index)),
  ]);
}

function plainRow(layout: Layout, substep: Substep, index: number): ModuleFunction {
  const { bytes, lanes } = precisionOf(layout);
  return indexFunction({
    name: `row${index}`,
    parameters: ["current", "next", "begin", "end"],
    write({ current, next, begin, end }, declare) {
      const left = declare("i32");
      const writer = new VectorWriter(expressionsOf(substep), declare, layout);
      // pointers lie at the lowest point that is read, so that no offset is negative
      const reach = reachOf(substep).z;
      const bytesTo = (plane: number, vector: number, offset = 0): number =>
        (plane * layout.plane + reach + offset) * bytes + vector * VECTOR;
      const make = (vector: number, use: (value: Code, index: number) => Code): Code[] =>
        writer.write(
          ({ offset: [, , z], ago, plane }) =>
            v128.load(bytesTo(plane, vector, z), (ago === 0 ? current : next).get()),
          use,
        );
      const store = (vector: number): Code[] =>
        make(vector, (value, i) => v128.store(bytesTo(substep[i]!.field, vector), next.get(), value));
      const loop = (vectors: number): Code =>
        whileLeft({ left, step: lanes * vectors }, [
          ...range(vectors).flatMap(store),
          ...[current, next].map((pointer) => advance(pointer, vectors * VECTOR)),
        ]);
      // the last points: a whole vector is made, its first lanes are stored
      const rest = (): Code[] => {
        const tails: Local[] = [];
        const has = (points: number): Code => i32.and(left.get(), i32.const(points));
        return [
          ...make(0, (value, i) => (tails[i] = declare("v128")).set(value)),
          ...tails.map((tail, i) => {
            const at = bytesTo(substep[i]!.field, 0);
            return lanes === 2 ? v128.store64_lane(at, 0, next.get(), tail.get()) : when(
              has(2),
              [
                v128.store64_lane(at, 0, next.get(), tail.get()),
                when(has(1), [v128.store32_lane(at + 2 * bytes, 2, next.get(), tail.get())]),
              ],
              [v128.store32_lane(at, 0, next.get(), tail.get())],
            );
          }),
        ];
      };
      const start = (array: Local): Code => {
        const lowest = i32.add(array.get(), i32.const((layout.origin - reach) * bytes));
        return array.set(i32.add(lowest, i32.shl(begin.get(), i32.const(Math.log2(bytes)))));
      };
      return [
        left.set(i32.sub(end.get(), begin.get())),
        ...writer.setConstants(),
        ...[current, next].map(start),
        loop(VECTORS),
        loop(1),
        when(i32.gt_s(left.get(), i32.const(0)), rest()),
      ];
    },
  });
}
