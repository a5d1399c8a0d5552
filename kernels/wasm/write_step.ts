/**
 * The `step` function: the update of every cell of a box.
 *
 * A row with three taps or more is **held**: its aligned vectors are loaded into locals, and a tap between two
 * of them is cut out by a shuffle (`palignr` on x86). For order 14 that makes 3 loads a vector of the 15 in the
 * cell's own row, and the step 1.3 times faster (AMD EPYC, Zen 5, 2026-11-21).
 *
 * @module
 */
import { type Expression, fold, type Offset, tapsOf } from "../expression.ts";
import type { Layout } from "../layout.ts";
import { addBoxFunction, type BoxScope, type Local, type Node, type Target } from "./box_function.ts";
import { CELL, rowAddress, VECTOR, wrapRow } from "./rows.ts";
import type { WasmSource } from "./wasm_source.ts";

/** Adds `step(current, next, x0, x1, y0, y1)`. */
export function addStep(target: Target, source: WasmSource): void {
  addBoxFunction(target, { name: "step", arrays: 2, write: (scope) => writeStep(target, source, scope) });
}

function writeStep({ module: m }: Target, source: WasmSource, scope: BoxScope): Node[] {
  const { update, layout, boundaries } = source;
  const { arrays: [current, next], x, y, declare, forEachRow } = scope;
  const vectorsPerLoop = source.vectorsPerLoop ?? (tapsOf(update).length <= 32 ? 4 : 2);
  const cells = layout.grid[2];
  const turns = Math.floor(cells / (4 * vectorsPerLoop));
  const left = cells - turns * 4 * vectorsPerLoop;
  const whole = Math.floor(left / 4), lanes = left % 4;

  const row = declare("i32"), read = declare("i32"), write = declare("i32"), end = declare("i32");
  const tail = declare("v128");
  const constants = new Map(constantsOf(update).map((value) => [value, declare("v128")]));
  const taps = new TapReader(update, { layout, m, read, declare });

  const updateVector = (vector: number): Node =>
    fold<Node>(update, {
      tap: ({ offset, ago }) =>
        ago === 0 ? taps.read(offset, vector) : m.v128.load(vector * VECTOR, CELL, write.get()),
      constant: (value) => constants.get(Math.fround(value))!.get(),
      add: (left, right) => m.f32x4.add(left, right),
      subtract: (left, right) => m.f32x4.sub(left, right),
      multiply: (left, right) => m.f32x4.mul(left, right),
    });
  const storeVector = (vector: number): Node =>
    m.v128.store(vector * VECTOR, CELL, write.get(), updateVector(vector));
  const advance = (pointer: Local): Node =>
    pointer.set(m.i32.add(pointer.get(), m.i32.const(vectorsPerLoop * VECTOR)));

  const loop = turns === 0 ? [] : [
    end.set(m.i32.add(write.get(), m.i32.const(turns * vectorsPerLoop * VECTOR))),
    m.loop(
      "vectors",
      m.block(null, [
        ...taps.hold(vectorsPerLoop),
        ...range(vectorsPerLoop).map(storeVector),
        advance(read),
        advance(write),
        m.br_if("vectors", m.i32.lt_u(write.get(), end.get())),
      ]),
    ),
  ];
  // the last one to three cells: a whole vector is computed, its first lanes are stored
  const at = whole * VECTOR;
  const rest = lanes === 0 ? [] : [
    tail.set(updateVector(whole)),
    ...(lanes >= 2 ? [m.v128.store64_lane(at, CELL, 0, write.get(), tail.get())] : []),
    ...(lanes % 2 === 1
      ? [m.v128.store32_lane(at + (lanes - 1) * CELL, CELL, lanes - 1, write.get(), tail.get())]
      : []),
  ];
  return [
    ...[...constants].map(([value, local]) => local.set(m.f32x4.splat(m.f32.const(value)))),
    forEachRow([
      row.set(rowAddress(m, layout, { array: next, x: x.get(), y: y.get() })),
      write.set(row.get()),
      read.set(
        m.i32.add(
          rowAddress(m, layout, { array: current, x: x.get(), y: y.get() }),
          m.i32.const(taps.lowest | 0),
        ),
      ),
      ...loop,
      ...taps.hold(Math.ceil(left / 4)),
      ...range(whole).map(storeVector),
      ...rest,
      ...(boundaries[2] === "periodic" ? wrapRow(m, source, row) : []),
    ]),
  ];
}

/** What {@linkcode TapReader} reads with. */
interface TapSource {
  readonly layout: Layout;
  readonly m: Target["module"];
  /** Points {@linkcode TapReader.lowest} bytes from the first cell of the turn. */
  readonly read: Local;
  declare(type: "v128"): Local;
}

/** Turns taps of F(t) into loads, or into vectors and shuffles of held rows. */
class TapReader {
  readonly #source: TapSource;
  /** Offsets of all taps along z, by row, of held rows. */
  readonly #held = new Map<string, Offset[]>();
  readonly #locals = new Map<string, Local>();
  /** Bytes from the cell to the lowest byte read, at most 0: the constant offsets of loads are unsigned. */
  readonly lowest: number;

  constructor(update: Expression, source: TapSource) {
    this.#source = source;
    const offsets = tapsOf(update).filter(({ ago }) => ago === 0).map(({ offset }) => offset);
    for (const offset of offsets) {
      const row = offsets.filter(([x, y]) => x === offset[0] && y === offset[1]);
      if (row.length >= 3) this.#held.set(rowName(offset), row);
    }
    this.lowest = Math.min(0, ...offsets.map(([x, y, z]) => this.#bytes([x, y, 4 * Math.floor(z / 4)])));
  }

  /** Loads the vectors of held rows that so many vectors of cells need. */
  hold(vectors: number): Node[] {
    const needed = new Map<string, Offset>();
    for (const [x, y, z] of [...this.#held.values()].flat()) {
      for (let cell = z; cell < z + 4 * vectors; cell++) {
        const aligned: Offset = [x, y, 4 * Math.floor(cell / 4)];
        needed.set(String(aligned), aligned);
      }
    }
    return [...needed.values()].sort((a, b) => a[2] - b[2])
      .map((offset) => this.#local(offset).set(this.#load(offset)));
  }

  /** The four values at `offset` from the cells of a vector. */
  read([x, y, z]: Offset, vector: number): Node {
    const cell = z + 4 * vector;
    if (!this.#held.has(rowName([x, y, z]))) return this.#load([x, y, cell]);
    const aligned = 4 * Math.floor(cell / 4), shift = (cell - aligned) * CELL;
    const low = this.#local([x, y, aligned]);
    if (shift === 0) return low.get();
    const high = this.#local([x, y, aligned + 4]);
    return this.#source.m.i8x16.shuffle(low.get(), high.get(), range(VECTOR).map((byte) => byte + shift));
  }

  #load(offset: Offset): Node {
    const { m, read } = this.#source;
    return m.v128.load(this.#bytes(offset) - this.lowest, CELL, read.get());
  }

  #local(aligned: Offset): Local {
    const name = String(aligned);
    const local = this.#locals.get(name) ?? this.#source.declare("v128");
    this.#locals.set(name, local);
    return local;
  }

  #bytes([x, y, z]: Offset): number {
    const { slice, pitch } = this.#source.layout;
    return (x * slice + y * pitch + z) * CELL;
  }
}

function rowName([x, y]: Offset): string {
  return `${x},${y}`;
}

/** The different constants of the update, rounded to f32. */
function constantsOf(update: Expression): number[] {
  const found = new Set<number>();
  const visit = (node: Expression): void => {
    if (node.kind === "constant") found.add(Math.fround(node.value));
    else if (node.kind !== "tap") [node.left, node.right].forEach(visit);
  };
  visit(update);
  return [...found];
}

function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}
