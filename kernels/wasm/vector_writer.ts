/**
 * Functions of the module, and expressions as vectors of four cells: one `f32x4` instruction an operation, in the
 * expression's own order, nothing fused. So results equal those of the f32 oracle bit for bit.
 *
 * @module
 */
import { type Algebra, type Expression, foldShared, type Tap } from "../expression.ts";
import type { Local, Node, Target } from "./box_function.ts";

/** Declares a local of the function that is being written. */
export type Declare = (type: "i32" | "f32" | "v128") => Local;

/** A function to add. */
export interface IndexFunction<Names extends string> {
  readonly name: string;
  /** Parameters, all i32 but those of `floats`. */
  readonly parameters: readonly Names[];
  /** @default {none} */
  readonly floats?: readonly Names[];
  /** @default {false} called only by others of the module */
  readonly isInner?: boolean;
  write(parameters: Readonly<Record<Names, Local>>, declare: Declare): readonly Node[];
}

/** Adds, and exports, a function of byte offsets, indices and numbers, without a result. */
export function addIndexFunction<Names extends string>(
  { library, module: m }: Target,
  { name, parameters, floats = [], isInner = false, write }: IndexFunction<Names>,
): void {
  const types: number[] = [];
  const declare: Declare = (type) => {
    const place = types.length, wasmType = library[type];
    types.push(wasmType);
    return { get: () => m.local.get(place, wasmType), set: (value) => m.local.set(place, value) };
  };
  const typeOf = (name: Names): "i32" | "f32" => floats.includes(name) ? "f32" : "i32";
  const named = Object.fromEntries(
    parameters.map((name) => [name, declare(typeOf(name))]),
  ) as Record<Names, Local>;
  const body = m.block(null, [...write(named, declare)]);
  const taken = library.createType(types.slice(0, parameters.length));
  m.addFunction(name, taken, library.none, types.slice(parameters.length), body);
  if (!isInner) m.addFunctionExport(name, name);
}

/** Writes some expressions as often as a loop needs them. */
export class VectorWriter {
  readonly #m: Target["module"];
  readonly #expressions: readonly Expression[];
  readonly #declare: Declare;
  readonly #constants: ReadonlyMap<number, Local>;
  readonly #signal: Local | undefined;
  readonly #shared: Local[] = [];

  /** @param signal holds the update's signal in all lanes; undefined where none is read */
  constructor({ module }: Target, expressions: readonly Expression[], declare: Declare, signal?: Local) {
    this.#m = module;
    this.#signal = signal;
    this.#expressions = expressions;
    this.#declare = declare;
    this.#constants = new Map(constantsOf(expressions).map((value) => [value, declare("v128")]));
  }

  /** To come before anything that is written. */
  setConstants(): Node[] {
    const m = this.#m;
    return [...this.#constants].map(([value, local]) => local.set(m.f32x4.splat(m.f32.const(value))));
  }

  /** One vector of each expression, and what must be set before those are read. */
  write(read: (tap: Tap) => Node): { before: Node[]; values: Node[] } {
    const m = this.#m, before: Node[] = [];
    const join =
      (operation: (left: Node, right: Node) => Node) => (left: () => Node, right: () => Node) => () =>
        operation(left(), right());
    const algebra: Algebra<() => Node> = {
      tap: (tap) => () => read(tap),
      constant: (value) => () => this.#constants.get(Math.fround(value))!.get(),
      signal: () => () => this.#signal!.get(),
      add: join((left, right) => m.f32x4.add(left, right)),
      subtract: join((left, right) => m.f32x4.sub(left, right)),
      multiply: join((left, right) => m.f32x4.mul(left, right)),
      atLeast: join((left, right) => m.v128.and(m.f32x4.ge(left, right), this.#constants.get(1)!.get())),
    };
    let used = 0;
    const values = foldShared(this.#expressions, algebra, (value) => {
      const local = this.#shared[used] ??= this.#declare("v128");
      used++;
      before.push(local.set(value()));
      return () => local.get();
    });
    return { before, values: values.map((value) => value()) };
  }
}

/** The different constants, rounded to f32; a comparison takes a 1. */
function constantsOf(expressions: readonly Expression[]): number[] {
  const found = new Set<number>();
  const visit = (node: Expression): void => {
    if (node.kind === "constant") found.add(Math.fround(node.value));
    if (node.kind === "atLeast") found.add(1);
    if (node.kind === "partial") visit(node.of);
    if ("left" in node) [node.left, node.right].forEach(visit);
  };
  expressions.forEach(visit);
  return [...found];
}

/** A loop over `left` points or vectors, so many at a time while there are as many. */
export function whileLeft(
  { module: m }: Target,
  { name, left, step }: { readonly name: string; readonly left: Local; readonly step: number },
  body: readonly Node[],
): Node {
  return m.block(`no ${name}`, [
    m.br_if(`no ${name}`, m.i32.lt_s(left.get(), m.i32.const(step))),
    m.loop(
      name,
      m.block(null, [
        ...body,
        left.set(m.i32.sub(left.get(), m.i32.const(step))),
        m.br_if(name, m.i32.ge_s(left.get(), m.i32.const(step))),
      ]),
    ),
  ]);
}
