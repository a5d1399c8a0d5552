/**
 * The frame of every exported function: parameters, locals, and the loops over the rows of a box.
 *
 * @module
 */
import type binaryen from "binaryen";

/** A node of binaryen's tree. A tree is used once: what is needed twice is written twice. */
export type Node = binaryen.ExpressionRef;

/** Where a function is added: the library, loaded, and the module being written. */
export interface Target {
  readonly library: typeof binaryen;
  readonly module: binaryen.Module;
}

/** A local variable. */
export interface Local {
  get(): Node;
  set(value: Node): Node;
}

/** What the body of a function is written with. */
export interface BoxScope {
  /** The function's parameters before the box, in their order: byte offsets of arrays, numbers. */
  readonly parameters: readonly Local[];
  /** The row's coordinates inside {@linkcode forEachRow}. */
  readonly x: Local;
  readonly y: Local;
  /** A new local. */
  declare(type: "i32" | "v128"): Local;
  /** Runs the body for every x0 ≤ x < x1 and y0 ≤ y < y1. */
  forEachRow(body: readonly Node[]): Node;
}

/** What {@linkcode addBoxFunction} adds. */
export interface BoxFunction {
  readonly name: string;
  /** What it takes before the box. */
  readonly parameters: readonly ("i32" | "f32")[];
  write(scope: BoxScope): readonly Node[];
}

/** Adds and exports a function `name(parameter, …, x0, x1, y0, y1)`, the box of i32, without a result. */
export function addBoxFunction(
  { library, module: m }: Target,
  { name, parameters: wanted, write }: BoxFunction,
): void {
  const types: number[] = [];
  const declare = (type: "i32" | "f32" | "v128"): Local => {
    const index = types.length, wasmType = library[type];
    types.push(wasmType);
    return { get: () => m.local.get(index, wasmType), set: (value) => m.local.set(index, value) };
  };
  const declareMany = (count: number): Local[] => Array.from({ length: count }, () => declare("i32"));
  const parameters = wanted.map(declare);
  const [x0, x1, y0, y1, x, y] = declareMany(6);
  const forEach = (i: Local, from: Local, to: Local, body: readonly Node[]): Node => {
    const label = i === x ? "slices" : "rows";
    return m.block(`no ${label}`, [
      i.set(from.get()),
      m.br_if(`no ${label}`, m.i32.ge_s(from.get(), to.get())),
      m.loop(
        label,
        m.block(null, [
          ...body,
          i.set(m.i32.add(i.get(), m.i32.const(1))),
          m.br_if(label, m.i32.lt_s(i.get(), to.get())),
        ]),
      ),
    ]);
  };
  const body = write({
    parameters,
    x,
    y,
    declare,
    forEachRow: (row) => forEach(x, x0, x1, [forEach(y, y0, y1, row)]),
  });
  const given = wanted.length + 4;
  const signature = library.createType(types.slice(0, given));
  m.addFunction(name, signature, library.none, types.slice(given), m.block(null, [...body]));
  m.addFunctionExport(name, name);
}
