/**
 * The writer for the CPU: an update as a WebAssembly module with 128-bit SIMD over an imported shared memory.
 *
 * Each operation of the expression becomes one `f32x4` or `f64x2` instruction, in the expression's own order: the results
 * equal those of the oracle bit for bit. **Fused**, a product that is added or subtracted and that sum are one instruction
 * of relaxed SIMD, which rounds once where the CPU has one: results differ by rounding, and not at all on whole numbers.
 *
 * Rows of several slices, and of small ones several rows, are made at a time, so that what neighbours share is loaded
 * once: see `turnFor` and `turn_memory.ts`.
 *
 * @module
 */
import type { Offset } from "../expression.ts";
import { precisionOf } from "../precision.ts";
import { expressionsOf, planesOf, profileTapsOf, reachOf, type Substep, tapsOf } from "../update.ts";
import { forEach, indexFunction, range, VectorWriter } from "./functions.ts";
import { type Code, FLOATS, type ModuleFunction, writeModule } from "./instructions.ts";
import { copyRows, VECTOR, type WasmSource, wrapRows } from "./rows.ts";
import { type RowTurn, TurnMemory } from "./turn_memory.ts";

/**
 * What the module exports. Arrays are byte offsets into the memory, multiples of 16, of F(t) and of the
 * array that holds F(t−1) and receives F(t+1); behind each lie the packed axis profiles. Boxes are cells x0 ≤ x < x1 and y0 ≤ y < y1, whole rows.
 */
export interface WasmExports {
  /**
   * Sub-step i as `step{i}(current, next, signal, x0, x1, y0, y1)`: updates a box of the grid; unless z is of zeros it also
   * fills the new rows' pads. The signal is the update's at this step, 0 where it has none.
   */
  [step: `step${number}`]: (...operands: [number, number, number, number, number, number, number]) => void;
  /** Fills the z pads of a box's rows with the images. */
  wrapRows(array: number, x0: number, x1: number, y0: number, y1: number): void;
  /** Fills a box of pad rows, whose coordinates lie outside the grid, with the rows that they are images of, z pads too. */
  copyRows(array: number, x0: number, x1: number, y0: number, y1: number): void;
}

/** Bytes that must exist in the memory before and after each array: the outermost vectors may read past its ends. */
export const GUARD_BYTES = VECTOR;

/**
 * Writes the module. It imports `facet.memory`, shared, and exports {@linkcode WasmExports}.
 *
 * @throws {RangeError} when the layout has thinner pads than the taps reach, or the update reads a neighbour's
 *   F(t−1), which its F(t+1) may already have overwritten
 */
export function writeWasm(source: WasmSource): Uint8Array<ArrayBuffer> {
  checkSource(source);
  const { update, layout } = source;
  // the slices that a turn reads, or those of both arrays of a single slice
  const leastBytes = Math.min(2 * reachOf(update).x + 4, 2 + 4 * layout.pad[0]) * layout.slice *
    precisionOf(layout).bytes;
  const substeps = update.substeps.map((substep, index) => substepFunction(source, substep, index));
  return writeModule([...substeps, wrapRows(source), copyRows(source)], leastBytes);
}

function checkSource({ update, layout }: WasmSource): void {
  const refuse = (wrong: boolean, wanted: string): void => {
    if (wrong) throw new RangeError(`Cannot write the WebAssembly module: ${wanted}`);
  };
  const planes = planesOf(update);
  refuse(layout.planes !== planes, `the layout must have ${planes} planes: it has ${layout.planes}`);
  const reach = reachOf(update);
  const [x, y, z] = layout.pad;
  refuse(
    x < reach.x || y < reach.y || z < reach.z || layout.pitch - z - layout.grid[2] < reach.z,
    `the pads must hold the taps' reach ${reach.x}, ${reach.y}, ${reach.z}: current pads are ${x}, ${y}, ${z}`,
  );
  const early = tapsOf(update).find(({ ago, offset }) => ago === 1 && offset.some((cells) => cells !== 0));
  refuse(
    early !== undefined,
    "F(t+1) takes the place of F(t−1), so that only the cell itself can be read there: " +
      `current tap is at ${early?.offset.join(", ")}`,
  );
}

type Rows = Pick<RowTurn, "x" | "y">;

/** `step{index}`: turns over several rows, and over single ones where fewer are left of the box. */
function substepFunction(source: WasmSource, substep: Substep, index: number): ModuleFunction {
  const most = turnFor(substep, source), { name: precision, lanes } = precisionOf(source.update);
  return indexFunction({
    name: `step${index}`,
    parameters: ["current", "next", "signal", "x0", "x1", "y0", "y1"],
    floats: { signal: precision },
    write({ current, next, signal, x0, x1, y0, y1 }, declare) {
      const row = { x: declare("i32"), y: declare("i32") }, end = declare("i32"), signals = declare("v128");
      const readsAlongZ = profileTapsOf(substep).some(({ axis }) => axis === 2);
      const pointers = {
        current: declare("i32"),
        next: declare("i32"),
        ...(readsAlongZ && { profiles: declare("i32") }),
      };
      const made = substep.map(() => declare("v128"));
      const writer = new VectorWriter(expressionsOf(substep), declare, {
        signal: signals,
        precision,
        ...source,
      });
      /** Whole rows of the grid, `rows` of them from `row` on. */
      const makeRows = (rows: Rows): Code[] => {
        const turn = { ...most, ...rows };
        const memory = new TurnMemory(source, { substep, turn, declare, pointers });
        const makeVector = (at: Offset, cells?: number): Code[] => [
          // where one field's t + 1 may replace a t − 1 that the next one reads, all are made before the first is stored
          ...writer.write(
            (tap) => memory.read(tap, at),
            (value, i) => made[i]!.set(value),
            (tap) => memory.readProfile(tap, at),
          ),
          ...substep.flatMap(({ field }, i) => memory.store(field, at, made[i]!, cells)),
        ];
        const makeVectors = (vectors: number): Code[] =>
          range(vectors).flatMap((i) => memory.rows.flatMap(([x, y]) => makeVector([x, y, lanes * i])));
        const cells = source.layout.grid[2], turns = Math.floor(cells / (lanes * turn.vectors));
        const left = cells - turns * lanes * turn.vectors, whole = Math.floor(left / lanes);
        const last = left % lanes;
        const lines = [
          ...memory.start({ current, next }, row),
          ...memory.loop(turns, end, () => makeVectors(turn.vectors)),
        ];
        memory.forget();
        lines.push(...makeVectors(whole));
        if (last > 0) lines.push(...memory.rows.flatMap(([x, y]) => makeVector([x, y, lanes * whole], last)));
        return [...lines, ...memory.wrap(substep, turns)];
      };
      const ends = { x: { from: x0, to: x1 }, y: { from: y0, to: y1 } };
      const along = (axis: keyof Rows, body: (rows: number) => Code[]): Code[] =>
        forEach({ index: row[axis], ...ends[axis], most: most[axis] }, body);
      return [
        ...writer.setConstants(),
        signals.set(FLOATS[precision].splat(signal.get())),
        ...along("x", (x) => along("y", (y) => makeRows({ x, y }))),
      ];
    },
  });
}

/** Bytes of a slice from which on its rows come from a shared cache or from memory. */
const LARGE_SLICE = 2 ** 16;

/**
 * Rows of a cache that a core has alone are made 2·2 at a time, which takes the fewest loads. Rows of large slices come
 * from further away: there it counts that many streams run on without a jump, so rows are made one after the other, of 4
 * slices at a time, or of 2 where more slices in reach are more than the registers hold. Several fields are too many for
 * them. In two dimensions a slice is a single row: there 4 slices at a time are 1.2 to 1.3 times as fast from memory, and alike
 * in a cache. Measured in turns on an AMD EPYC (Zen 4), 2026-11-22 and 24: `bench/notes/cpu.md`.
 */
function turnFor(substep: Substep, { layout }: WasmSource): RowTurn {
  if (substep.length > 1) return { x: 1, y: 1, vectors: 1 };
  if (layout.grid[1] > 1 && layout.slice * precisionOf(layout).bytes <= LARGE_SLICE) {
    return { x: 2, y: 2, vectors: 2 };
  }
  return { x: reachOf(substep).x <= 2 ? 4 : 2, y: 1, vectors: 2 };
}
