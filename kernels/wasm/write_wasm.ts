/**
 * The writer for the CPU: an update as a WebAssembly module with 128-bit SIMD over an imported shared memory.
 *
 * Each operation of the expression becomes one `f32x4` instruction, in the expression's own order: the results equal
 * those of the f32 oracle bit for bit. **Fused**, a product that is added or subtracted and that sum are one instruction
 * of relaxed SIMD, which rounds once where the CPU has one: results differ by rounding, and not at all on whole numbers.
 *
 * A row with three taps or more is **held**: its aligned vectors are loaded into locals, and a tap between two
 * of them is cut out by a shuffle (`palignr` on x86). For order 14 that makes 3 loads a vector of the 15 in the
 * cell's own row, and the step 1.3 times faster (AMD EPYC, Zen 5, 2026-11-21).
 *
 * @module
 */
import type { Ago } from "../expression.ts";
import { expressionsOf, planesOf, reachOf, type Substep, tapsOf } from "../update.ts";
import {
  addBoxFunction,
  advance,
  type BoxScope,
  type Local,
  type Node,
  range,
  type Target,
  VectorWriter,
  writeModule,
} from "./functions.ts";
import { addCopyRows, addWrapRows, CELL, rowAddress, VECTOR, type WasmSource, wrapRow } from "./rows.ts";
import { TapReader } from "./tap_reader.ts";

/**
 * What the module exports. Arrays are byte offsets into the memory, multiples of 16, of F(t) and of the
 * array that holds F(t−1) and receives F(t+1). Boxes are cells x0 ≤ x < x1 and y0 ≤ y < y1, whole rows.
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
export async function writeWasm(source: WasmSource): Promise<Uint8Array<ArrayBuffer>> {
  checkSource(source);
  return await writeModule((target) => {
    source.update.substeps.forEach((substep, index) =>
      addBoxFunction(target, {
        name: `step${index}`,
        parameters: ["current", "next", "signal"],
        alongX: source.alongX ?? false,
        floats: ["signal"],
        write: (scope) => writeSubstep(target, source, substep, scope),
      })
    );
    addWrapRows(target, source);
    addCopyRows(target, source);
  }, source);
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

function writeSubstep(
  target: Target,
  source: WasmSource,
  substep: Substep,
  { parameters: { current, next, signal }, x, y, declare, forEachRow }: BoxScope<
    "current" | "next" | "signal"
  >,
): Node[] {
  const { module: m } = target, { layout } = source;
  const vectorsPerLoop = vectorsFor(substep);
  const cells = layout.grid[2];
  const turns = Math.floor(cells / (4 * vectorsPerLoop));
  const left = cells - turns * 4 * vectorsPerLoop;
  const whole = Math.floor(left / 4), lanes = left % 4;

  const row = declare("i32"), write = declare("i32"), end = declare("i32");
  const starts = new Map<Ago, Local>([[0, declare("i32")], [-1, declare("i32")]]);
  const signals = declare("v128");
  const writer = new VectorWriter(target, expressionsOf(substep), declare, { signal: signals, ...source });
  const taps = new TapReader(substep, { layout, m, write, declare });

  const updateVector = (vector: number, use: (value: Node, index: number) => Node): Node[] =>
    writer.writeEach((tap) => taps.read(tap, vector), use);
  /** Bytes from a cell of plane 0 to that of each assignment's field. */
  const offsets = substep.map(({ field }) => field * layout.plane * CELL);
  // where one field's t + 1 may replace a t − 1 that the next one reads, all are made before the first is stored
  const isTogether = substep.length > 1 && tapsOf(substep).some(({ ago }) => ago === 1);
  const together = isTogether ? substep.map(() => declare("v128")) : [];
  const storeVector = (vector: number): Node[] => {
    const store = (value: Node, i: number): Node =>
      m.v128.store(offsets[i]! + vector * VECTOR, CELL, write.get(), value);
    if (!isTogether) return updateVector(vector, store);
    return [
      ...updateVector(vector, (value, i) => together[i]!.set(value)),
      ...together.map((value, i) => store(value.get(), i)),
    ];
  };
  const pointers = [write, ...taps.pointers.map(({ local }) => local)];

  const held = taps.holdInTurns(vectorsPerLoop);
  const loop = turns === 0 ? [] : [
    ...held.before(),
    end.set(m.i32.add(write.get(), m.i32.const(turns * vectorsPerLoop * VECTOR))),
    m.loop(
      "vectors",
      m.block(null, [
        ...held.start(),
        ...range(vectorsPerLoop).flatMap(storeVector),
        ...held.end(),
        ...pointers.map((pointer) => advance(target, pointer, vectorsPerLoop * VECTOR)),
        m.br_if("vectors", m.i32.lt_u(write.get(), end.get())),
      ]),
    ),
  ];
  // the last one to three cells: a whole vector is computed, its first lanes are stored
  const storeRest = (): Node[] => {
    const tails: Local[] = [];
    const made = updateVector(whole, (value, i) => (tails[i] = declare("v128")).set(value));
    const stores = tails.flatMap((tail, i) => {
      const at = offsets[i]! + whole * VECTOR;
      return [
        ...(lanes >= 2 ? [m.v128.store64_lane(at, CELL, 0, write.get(), tail.get())] : []),
        ...(lanes % 2 === 1
          ? [m.v128.store32_lane(at + (lanes - 1) * CELL, CELL, lanes - 1, write.get(), tail.get())]
          : []),
      ];
    });
    return [...made, ...stores];
  };
  return [
    ...writer.setConstants(),
    signals.set(m.f32x4.splat(signal.get())),
    forEachRow([
      row.set(rowAddress(m, layout, { array: next, x: x.get(), y: y.get() })),
      write.set(row.get()),
      starts.get(0)!.set(rowAddress(m, layout, { array: current, x: x.get(), y: y.get() })),
      starts.get(-1)!.set(row.get()),
      ...taps.pointers.map(({ ago, lowest, local }) =>
        local.set(m.i32.add(starts.get(ago)!.get(), m.i32.const(lowest | 0)))
      ),
      ...loop,
      ...taps.hold(Math.ceil(left / 4)),
      ...range(whole).flatMap(storeVector),
      ...(lanes === 0 ? [] : storeRest()),
      ...substep.flatMap(({ field }) => wrapRow(m, source, row, field)),
    ]),
  ];
}

/**
 * Vectors in the body of the loop: 4 for up to 32 taps, else 2, which on an AMD EPYC (Zen 5), 2026-11-21, is best or
 * within 5% of the best for all orders of the wave equation (6 and more lose up to 40%); 1 for several fields.
 */
function vectorsFor(substep: Substep): number {
  if (substep.length > 1) return 1;
  return tapsOf(substep).length <= 32 ? 4 : 2;
}
