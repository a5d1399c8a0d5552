/**
 * The frame of every exported function: parameters, locals, and the loops over the rows of a box.
 *
 * @module
 */
import type binaryen from "binaryen";
import { addIndexFunction, type Declare, type IndexFunction } from "./vector_writer.ts";

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
export interface BoxScope<Names extends string> {
  /** The function's parameters before the box: byte offsets of arrays, numbers. */
  readonly parameters: Readonly<Record<Names, Local>>;
  /** The row's coordinates inside {@linkcode forEachRow}. */
  readonly x: Local;
  readonly y: Local;
  readonly declare: Declare;
  /** Runs the body for every x0 ≤ x < x1 and y0 ≤ y < y1. */
  forEachRow(body: readonly Node[]): Node;
}

/** What {@linkcode addBoxFunction} adds. */
export interface BoxFunction<Names extends string> extends Omit<IndexFunction<Names>, "write"> {
  write(scope: BoxScope<Names>): readonly Node[];
}

/** Adds and exports a function `name(parameter, …, x0, x1, y0, y1)`, the box of i32, without a result. */
export function addBoxFunction<Names extends string>(
  target: Target,
  { parameters: given, write, ...rest }: BoxFunction<Names>,
): void {
  const m = target.module;
  const forEach = (
    label: string,
    [i, from, to]: readonly [Local, Local, Local],
    body: readonly Node[],
  ): Node =>
    m.block(`no ${label}`, [
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
  addIndexFunction<Names | "x0" | "x1" | "y0" | "y1">(target, {
    ...rest,
    parameters: [...given, "x0", "x1", "y0", "y1"],
    write(parameters, declare) {
      const x = declare("i32"), y = declare("i32");
      const { x0, x1, y0, y1 } = parameters;
      const forEachRow = (row: readonly Node[]): Node =>
        forEach("slices", [x, x0, x1], [forEach("rows", [y, y0, y1], row)]);
      return write({ parameters, x, y, declare, forEachRow });
    },
  });
}
