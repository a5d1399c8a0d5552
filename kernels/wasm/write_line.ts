/**
 * The CPU's kernel of a line: `row0`, `row1`, … make a piece of a sub-step's row, anywhere and of any length, from
 * points that may lie anywhere, so that triangles and valleys of the swept rule can be cut as they come.
 *
 * Like `write_wasm.ts` it writes one `f32x4` instruction an operation, and nothing is fused: bit for bit the oracle.
 *
 * @module
 */
import { type Algebra, foldShared, type Tap } from "../expression.ts";
import type { Layout } from "../layout.ts";
import { reachOf, readsPrevious, readsSignal, type Substep, type Update } from "../update.ts";
import type { Local, Node, Target } from "./box_function.ts";
import { CELL, VECTOR } from "./rows.ts";
import { addPair, addPairs, canPair, constantsOf } from "./write_line_pair.ts";

/** Makes points z0 ≤ z < z1 of a row. Arrays are byte offsets: F(t), and the one that receives F(t+1). */
export type LineRow = (current: number, next: number, z0: number, z1: number) => void;

/** What the module exports: sub-step i as `row{i}`, and where it is possible two rows in one pass. */
export interface LineExports {
  [row: `row${number}`]: LineRow;
  /** Rows 1 and 2 from `current`, of which only the second is stored: see `write_line_pair.ts`. */
  readonly pair?: LineRow;
  /** Many pairs, and what is needed of their first rows: see `addPairs`. */
  readonly pairs?: LinePairs;
  readonly pairsAcross?: LinePairs;
}

/** Makes pairs of rows one on top of the other. */
export type LinePairs = (
  current: number,
  next: number,
  begin: number,
  end: number,
  move: number,
  count: number,
) => void;

/** What {@linkcode writeLine} translates. */
export interface LineSource {
  readonly update: Update;
  /** Of a grid of 1×1×N points; the pads along z hold at least the update's reach. */
  readonly layout: Layout;
  /** What the pads are images of. */
  readonly ends: "insulated" | "periodic";
}

/** Vectors of four points in the body of the loop. */
const VECTORS = 4;

/**
 * Writes the module. It imports `facet.memory`, shared, and exports {@linkcode LineExports}.
 *
 * @returns the module's bytes
 * @throws {RangeError} when the grid is no line, or the update needs more than fields and a step's own rows
 *
 * @example
 * ```ts
 * import { writeLine } from "./write_line.ts";
 * import { layOut } from "../layout.ts";
 * import { heat1d } from "../stencils/heat_1d.ts";
 * import { assert } from "@std/assert";
 *
 * const layout = layOut([1, 1, 100], { pad: [0, 0, 1] });
 * assert(WebAssembly.validate(await writeLine({ update: heat1d().update, layout, ends: "insulated" })));
 * ```
 */
export async function writeLine({ update, layout, ends }: LineSource): Promise<Uint8Array<ArrayBuffer>> {
  const [nx, ny] = layout.grid;
  const reach = reachOf(update);
  if (nx !== 1 || ny !== 1 || reach.x > 0 || reach.y > 0 || layout.pad[2] < reach.z) {
    throw new RangeError(
      `Cannot write the kernel of a line: the grid must be 1x1xN with pads of ${reach.z}: it is ${
        layout.grid.join("x")
      } with pads of ${layout.pad[2]}`,
    );
  }
  if (update.materials.length > 0 || readsSignal(update) || readsPrevious(update)) {
    throw new RangeError(
      "Cannot write the kernel of a line: materials, signals and F(t-1) are not read there",
    );
  }
  const { default: library } = await import("binaryen");
  const module = new library.Module();
  try {
    const { Features } = library;
    module.setFeatures(Features.Atomics | Features.SIMD128 | Features.BulkMemory | Features.BulkMemoryOpt);
    module.setMemory(1, 65536, null, [], true);
    module.addMemoryImport("0", "facet", "memory", true);
    update.substeps.forEach((substep, index) => addRow({ library, module }, { layout, substep, index }));
    if (canPair(update)) {
      addPair({ library, module }, update, layout);
      addPairs({ library, module }, { update, layout, ends });
    }
    if (!module.validate()) throw new Error("Cannot write the kernel of a line: it is not valid");
    return new Uint8Array(module.emitBinary());
  } finally {
    module.dispose();
  }
}

function addRow(
  { library, module: m }: Target,
  { layout, substep, index }: { layout: Layout; substep: Substep; index: number },
): void {
  const types: number[] = [];
  const declare = (type: "i32" | "v128"): Local => {
    const place = types.length, wasmType = library[type];
    types.push(wasmType);
    return { get: () => m.local.get(place, wasmType), set: (value) => m.local.set(place, value) };
  };
  const [current, next, z0, z1] = Array.from({ length: 4 }, () => declare("i32"));
  const expressions = substep.map(({ value }) => value);
  const constants = new Map(constantsOf(expressions).map((value) => [value, declare("v128")]));
  const left = declare("i32");
  // the lowest point that is read, so that all offsets from it are positive
  const reach = reachOf(substep).z, base = layout.origin - reach;
  const shared: Local[] = [];
  const load = ({ offset: [, , z], ago, plane }: Tap, vector: number): Node => {
    const bytes = (plane * layout.plane + z + reach) * CELL + vector * VECTOR;
    return m.v128.load(bytes, CELL, (ago === 0 ? current : next).get());
  };
  const make = (vector: number): { before: Node[]; values: Node[] } => {
    const before: Node[] = [];
    const join = (operation: (l: Node, r: Node) => Node) => (l: () => Node, r: () => Node) => () =>
      operation(l(), r());
    const algebra: Algebra<() => Node> = {
      tap: (tap) => () => load(tap, vector),
      constant: (value) => () => constants.get(Math.fround(value))!.get(),
      signal: () => () => m.f32x4.splat(m.f32.const(0)),
      add: join((l, r) => m.f32x4.add(l, r)),
      subtract: join((l, r) => m.f32x4.sub(l, r)),
      multiply: join((l, r) => m.f32x4.mul(l, r)),
      atLeast: join((l, r) => m.v128.and(m.f32x4.ge(l, r), m.f32x4.splat(m.f32.const(1)))),
    };
    let used = 0;
    const values = foldShared(expressions, algebra, (value) => {
      const local = shared[used] ??= declare("v128");
      used++;
      before.push(local.set(value()));
      return () => local.get();
    });
    return { before, values: values.map((value) => value()) };
  };
  const bytesTo = (field: number, vector: number): number =>
    (field * layout.plane + reach) * CELL + vector * VECTOR;
  const store = (vector: number): Node[] => {
    const { before, values } = make(vector);
    return [
      ...before,
      ...values.map((value, i) => m.v128.store(bytesTo(substep[i].field, vector), CELL, next.get(), value)),
    ];
  };
  /** Points left, and both pointers at the next one. */
  const advance = (points: number): Node[] => [
    ...[current, next].map((pointer) => pointer.set(m.i32.add(pointer.get(), m.i32.const(points * CELL)))),
    left.set(m.i32.sub(left.get(), m.i32.const(points))),
  ];
  const loop = (name: string, vectors: number): Node =>
    m.block(`no ${name}`, [
      m.br_if(`no ${name}`, m.i32.lt_s(left.get(), m.i32.const(4 * vectors))),
      m.loop(
        name,
        m.block(null, [
          ...Array.from({ length: vectors }, (_, vector) => store(vector)).flat(),
          ...advance(4 * vectors),
          m.br_if(name, m.i32.ge_s(left.get(), m.i32.const(4 * vectors))),
        ]),
      ),
    ]);
  // the last one to three points: a whole vector is made, its first lanes are stored
  const rest = (): Node[] => {
    const { before, values } = make(0);
    const tails = values.map(() => declare("v128"));
    const lane = (points: number, stores: Node[]): Node =>
      m.if(m.i32.and(left.get(), m.i32.const(points)), m.block(null, stores));
    return [
      ...before,
      ...values.map((value, i) => tails[i].set(value)),
      ...tails.map((tail, i) =>
        m.if(
          m.i32.and(left.get(), m.i32.const(2)),
          m.block(null, [
            m.v128.store64_lane(bytesTo(substep[i].field, 0), CELL, 0, next.get(), tail.get()),
            lane(1, [
              m.v128.store32_lane(bytesTo(substep[i].field, 0) + 2 * CELL, CELL, 2, next.get(), tail.get()),
            ]),
          ]),
          m.v128.store32_lane(bytesTo(substep[i].field, 0), CELL, 0, next.get(), tail.get()),
        )
      ),
    ];
  };
  const start = (array: Local): Node =>
    array.set(
      m.i32.add(
        m.i32.add(array.get(), m.i32.const(base * CELL)),
        m.i32.shl(z0.get(), m.i32.const(2)),
      ),
    );
  const body = m.block(null, [
    left.set(m.i32.sub(z1.get(), z0.get())),
    ...[...constants].map(([value, local]) => local.set(m.f32x4.splat(m.f32.const(value)))),
    start(current),
    start(next),
    loop("vectors", VECTORS),
    loop("vector", 1),
    m.if(m.i32.gt_s(left.get(), m.i32.const(0)), m.block(null, rest())),
  ]);
  const name = `row${index}`;
  m.addFunction(name, library.createType(types.slice(0, 4)), library.none, types.slice(4), body);
  m.addFunctionExport(name, name);
}
