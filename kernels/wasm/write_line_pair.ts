/**
 * `pair`: two rows of a line in one pass over memory. The first row's vectors stay in locals, where the second row's
 * taps cut them out by shuffles; only the second row is stored. What a neighbour will need of the first row, its
 * ends, is made by `row0` beside it.
 *
 * The second row takes the place of the one that the first is made from, where a step is one sub-step: the pass
 * stores behind what it still reads.
 *
 * @module
 */
import { type Algebra, type Expression, foldShared, type Tap } from "../expression.ts";
import type { Layout } from "../layout.ts";
import { expressionsOf, reachOf, tapsOf, type Update } from "../update.ts";
import type { Local, Node, Target } from "./box_function.ts";
import { CELL, VECTOR } from "./rows.ts";

/** Vectors in the body of the loop. */
const VECTORS = 4;

/**
 * Whether two rows can be made in one pass: steps of one sub-step, whose taps reach at most a vector's width. Heat gains
 * 1.4; the two sub-steps of the flattened Kuramoto–Sivashinsky scheme, whose arithmetic fills the time, lost a tenth
 * (AMD EPYC, Zen 5, 2026-11-21).
 */
export function canPair(update: Update): boolean {
  const { substeps } = update;
  return substeps.length === 1 && substeps[0].length === 1 && reachOf(update).z <= 4;
}

/** Adds `pair(current, next, z0, z1)`: the second row's points z0 ≤ z < z1. */
export function addPair({ library, module: m }: Target, update: Update, layout: Layout): void {
  const types: number[] = [];
  const declare = (type: "i32" | "v128"): Local => {
    const place = types.length, wasmType = library[type];
    types.push(wasmType);
    return { get: () => m.local.get(place, wasmType), set: (value) => m.local.set(place, value) };
  };
  const [current, next, z0, z1] = Array.from({ length: 4 }, () => declare("i32"));
  const left = declare("i32");
  const isStep = update.substeps.length === 1;
  const [first] = update.substeps[0], second = isStep ? first : update.substeps[1][0];
  const constants = new Map(constantsOf(expressionsOf(update)).map((value) => [value, declare("v128")]));
  // one vector lies before the first point: all offsets from there are positive
  const before = 4 + Math.max(...tapsOf(update).map(({ offset: [, , z] }) => Math.abs(z)));
  const bytesAt = (plane: number, block: number, offset = 0): number =>
    (plane * layout.plane + before + offset) * CELL + block * VECTOR;
  /** The vectors of the first row: of blocks −1 to VECTORS, counted from the pointers. */
  const made = Array.from({ length: VECTORS + 2 }, () => declare("v128"));
  const blockOf = (block: number): Local => made[block + 1];
  const shared: Local[] = [];
  const write = (value: Expression, read: (tap: Tap) => Node): { lines: Node[]; value: Node } => {
    const lines: Node[] = [];
    const join = (operation: (l: Node, r: Node) => Node) => (l: () => Node, r: () => Node) => () =>
      operation(l(), r());
    const algebra: Algebra<() => Node> = {
      tap: (tap) => () => read(tap),
      constant: (value) => () => constants.get(Math.fround(value))!.get(),
      signal: () => () => m.f32x4.splat(m.f32.const(0)),
      add: join((l, r) => m.f32x4.add(l, r)),
      subtract: join((l, r) => m.f32x4.sub(l, r)),
      multiply: join((l, r) => m.f32x4.mul(l, r)),
      atLeast: join((l, r) => m.v128.and(m.f32x4.ge(l, r), m.f32x4.splat(m.f32.const(1)))),
    };
    let used = 0;
    const [result] = foldShared([value], algebra, (one) => {
      const local = shared[used] ??= declare("v128");
      used++;
      lines.push(local.set(one()));
      return () => local.get();
    });
    return { lines, value: result() };
  };
  const load = (plane: number, block: number, offset: number): Node =>
    m.v128.load(bytesAt(plane, block, offset), CELL, current.get());
  const makeFirst = (block: number): Node[] => {
    const { lines, value } = write(first.value, ({ plane, offset: [, , z] }) => load(plane, block, z));
    return [...lines, blockOf(block).set(value)];
  };
  const readMade = (block: number, offset: number): Node => {
    if (offset === 0) return blockOf(block).get();
    const low = offset < 0 ? block - 1 : block, shift = (offset < 0 ? 4 + offset : offset) * CELL;
    if (shift === 0) return blockOf(low).get();
    const bytes = Array.from({ length: VECTOR }, (_, byte) => byte + shift);
    return shift === VECTOR
      ? blockOf(low + 1).get()
      : m.i8x16.shuffle(blockOf(low).get(), blockOf(low + 1).get(), bytes);
  };
  const makeSecond = (block: number): { lines: Node[]; value: Node } =>
    write(
      second.value,
      ({ ago, plane, offset: [, , z] }) => isStep || ago === -1 ? readMade(block, z) : load(plane, block, z),
    );
  /** What receives the second row. */
  const target = isStep ? current : next;
  const at = (block: number): number => bytesAt(second.field, block);
  const advance = (points: number): Node[] => [
    ...(isStep ? [current] : [current, next]).map((pointer) =>
      pointer.set(m.i32.add(pointer.get(), m.i32.const(points * CELL)))
    ),
    left.set(m.i32.sub(left.get(), m.i32.const(points))),
  ];
  const loop = (name: string, vectors: number): Node =>
    m.block(`no ${name}`, [
      m.br_if(`no ${name}`, m.i32.lt_s(left.get(), m.i32.const(4 * vectors))),
      m.loop(
        name,
        m.block(null, [
          ...Array.from({ length: vectors }, (_, i) => i).flatMap((block) => {
            const before = makeFirst(block + 1);
            const { lines, value } = makeSecond(block);
            // stored at once: the loads of the next blocks begin behind it
            return [...before, ...lines, m.v128.store(at(block), CELL, target.get(), value)];
          }),
          blockOf(-1).set(blockOf(vectors - 1).get()),
          blockOf(0).set(blockOf(vectors).get()),
          ...advance(4 * vectors),
          m.br_if(name, m.i32.ge_s(left.get(), m.i32.const(4 * vectors))),
        ]),
      ),
    ]);
  const rest = (): Node[] => {
    const tail = declare("v128");
    const before = makeFirst(1);
    const { lines, value } = makeSecond(0);
    const has = (points: number): Node => m.i32.and(left.get(), m.i32.const(points));
    return [
      ...before,
      ...lines,
      tail.set(value),
      m.if(
        has(2),
        m.block(null, [
          m.v128.store64_lane(at(0), CELL, 0, target.get(), tail.get()),
          m.if(has(1), m.v128.store32_lane(at(0) + 2 * CELL, CELL, 2, target.get(), tail.get())),
        ]),
        m.v128.store32_lane(at(0), CELL, 0, target.get(), tail.get()),
      ),
    ];
  };
  const start = (array: Local): Node =>
    array.set(
      m.i32.add(
        m.i32.add(array.get(), m.i32.const((layout.origin - before) * CELL)),
        m.i32.shl(z0.get(), m.i32.const(2)),
      ),
    );
  const body = m.block(null, [
    left.set(m.i32.sub(z1.get(), z0.get())),
    ...[...constants].map(([value, local]) => local.set(m.f32x4.splat(m.f32.const(value)))),
    start(current),
    start(next),
    ...makeFirst(-1),
    ...makeFirst(0),
    loop("vectors", VECTORS),
    loop("vector", 1),
    m.if(m.i32.gt_s(left.get(), m.i32.const(0)), m.block(null, rest())),
  ]);
  m.addFunction("pair", library.createType(types.slice(0, 4)), library.none, types.slice(4), body);
  m.addFunctionExport("pair", "pair");
}

/** What {@linkcode addPairs} needs to know of the line. */
export interface PairedLine {
  readonly update: Update;
  readonly layout: Layout;
  /** What the pads are images of. */
  readonly ends: "insulated" | "periodic";
}

/**
 * Adds `pairs(current, next, begin, end, move, count)`: so many pairs, one on top of the other, with all that
 * neighbours need of their first rows. The first row of the first pair has points begin ≤ z < end, the second row
 * `move` fewer at each end, and so on; `move` is the reach in a triangle, minus the reach in a valley.
 *
 * And `pairsAcross`, the same for rows that begin at `begin`, go on from the line's end at its beginning, and end
 * before `end`: both sides' first rows are made, and their images in the pads, before any second row reads them.
 */
export function addPairs({ library, module: m }: Target, { update, layout, ends }: PairedLine): void {
  const reach = reachOf(update).z, width = 2 * reach, points = layout.grid[2];
  const [current, next, begin, end, move, count] = Array.from({ length: 6 }, (_, place): Local => ({
    get: () => m.local.get(place, library.i32),
    set: (value) => m.local.set(place, value),
  }));
  const plus = (local: Local, cells: number): Node => m.i32.add(local.get(), m.i32.const(cells));
  const at = (cell: number) => (): Node => m.i32.const(cell);
  const call = (name: string, [from, to]: readonly [Local, Local], first: Node, last: Node): Node =>
    m.call(name, [from.get(), to.get(), first, last], library.none);
  const there = [current, next] as const, back = [next, current] as const;
  const twice = (): Node => m.i32.shl(move.get(), m.i32.const(1));
  /** What a valley's second row has beyond the pass; nothing in a triangle. */
  const sides = (): Node[] => [
    call("row0", back, m.i32.add(begin.get(), move.get()), plus(begin, reach)),
    call("row0", back, plus(end, -reach), m.i32.sub(end.get(), move.get())),
  ];
  const first = (): Node[] => [
    call("row0", there, begin.get(), plus(begin, width)),
    call("row0", there, plus(end, -width), end.get()),
  ];
  const [low, high] = [at(0), at(points)];
  /** Both ends of a row, and their images. */
  const middle = (arrays: readonly [Local, Local], cells: number): Node[] => [
    call("row0", arrays, at(points - cells)(), high()),
    call("row0", arrays, low(), at(cells)()),
    ...renew(arrays[1]),
  ];
  const renew = (array: Local): Node[] =>
    Array.from({ length: reach }, (_, i) => i + 1).flatMap((k) => {
      const images = ends === "insulated"
        ? [[-k, k], [points - 1 + k, points - 1 - k]]
        : [[-k, points - k], [points - 1 + k, k - 1]];
      const bytes = (cell: number): number => (layout.origin + cell) * CELL;
      return images.map(([to, from]) =>
        m.f32.store(bytes(to), CELL, array.get(), m.f32.load(bytes(from), CELL, array.get()))
      );
    });
  const add = (name: string, lines: Node[]): void => {
    const body = m.block("done", [
      m.br_if("done", m.i32.le_s(count.get(), m.i32.const(0))),
      m.loop(
        "pairs",
        m.block(null, [
          ...lines,
          begin.set(m.i32.add(begin.get(), twice())),
          end.set(m.i32.sub(end.get(), twice())),
          count.set(plus(count, -1)),
          m.br_if("pairs", m.i32.gt_s(count.get(), m.i32.const(0))),
        ]),
      ),
    ]);
    const types = library.createType(Array<number>(6).fill(library.i32));
    m.addFunction(name, types, library.none, [], body);
    m.addFunctionExport(name, name);
  };
  add("pairs", [...first(), call("pair", there, plus(begin, reach), plus(end, -reach)), ...sides()]);
  add("pairsAcross", [
    ...first(),
    ...middle(there, width),
    call("pair", there, plus(begin, reach), at(points - reach)()),
    call("pair", there, at(reach)(), plus(end, -reach)),
    ...sides(),
    ...middle(back, reach),
  ]);
}

/** The different constants, rounded to f32. */
export function constantsOf(expressions: readonly Expression[]): number[] {
  const found = new Set<number>();
  const visit = (node: Expression): void => {
    if (node.kind === "constant") found.add(Math.fround(node.value));
    else if (node.kind === "partial") visit(node.of);
    else if ("left" in node) [node.left, node.right].forEach(visit);
  };
  expressions.forEach(visit);
  return [...found];
}
