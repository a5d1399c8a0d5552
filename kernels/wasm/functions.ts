/**
 * Functions of a WebAssembly module, written with binaryen: their parameters, locals and loops, and expressions as
 * vectors of four cells, one `f32x4` instruction an operation, in the expression's own order.
 *
 * @module
 */
import type binaryen from "npm:binaryen@^132.0.0";
import { type Algebra, type Expression, foldShared, type Tap } from "../expression.ts";

/** A node of binaryen's tree. A tree is used once: what is needed twice is written twice. */
export type Node = binaryen.ExpressionRef;

/** Where a function is added: the library, loaded, and the module being written. */
export interface Target {
  readonly library: typeof binaryen;
  readonly module: binaryen.Module;
}

export interface Local {
  get(): Node;
  set(value: Node): Node;
  /** Sets it, and is its value. */
  tee(value: Node): Node;
}

/**
 * A loop over from ≤ index < to, in steps of `most` while that many are left, then one by one. The name must be no other
 * loop's of the function.
 */
export function forEach(
  target: Target,
  { name, index, from, to, most = 1 }: {
    readonly name: string;
    readonly index: Local;
    readonly from: Local;
    readonly to: Local;
    readonly most?: number;
  },
  body: (step: number) => readonly Node[],
): Node[] {
  const m = target.module;
  const loops = [...new Set([most, 1])].map((step) => {
    const label = `${name} by ${step}`;
    const isOver = m.i32.gt_s(m.i32.add(index.get(), m.i32.const(step)), to.get());
    const lines = [m.br_if(`no ${label}`, isOver), ...body(step), advance(target, index, step), m.br(label)];
    return m.block(`no ${label}`, [m.loop(label, m.block(null, lines))]);
  });
  return [index.set(from.get()), ...loops];
}

export type Declare = (type: "i32" | "f32" | "v128") => Local;

interface IndexFunction<Names extends string> {
  readonly name: string;
  /** Parameters, all i32 but those of `floats`. */
  readonly parameters: readonly Names[];
  /** @default {none} */
  readonly floats?: readonly Names[];
  write(parameters: Readonly<Record<Names, Local>>, declare: Declare): readonly Node[];
}

/** Adds and exports a function of byte offsets, indices and numbers, without a result. */
export function addIndexFunction<Names extends string>(
  { library, module: m }: Target,
  { name, parameters, floats = [], write }: IndexFunction<Names>,
): void {
  const types: number[] = [];
  const declare: Declare = (type) => {
    const place = types.length, wasmType = library[type];
    types.push(wasmType);
    return {
      get: () => m.local.get(place, wasmType),
      set: (value) => m.local.set(place, value),
      tee: (value) => m.local.tee(place, value, wasmType),
    };
  };
  const entries = parameters.map((name) => [name, declare(floats.includes(name) ? "f32" : "i32")]);
  const named = Object.fromEntries(entries) as Record<Names, Local>;
  const body = m.block(null, [...write(named, declare)]);
  const taken = library.createType(types.slice(0, parameters.length));
  m.addFunction(name, taken, library.none, types.slice(parameters.length), body);
  m.addFunctionExport(name, name);
}

/**
 * A value to be written; of what is used once also a product's factors, which may be fused with a sum, and a
 * comparison's mask, which a choice takes.
 */
interface Value {
  write(): Node;
  readonly factors?: readonly [Value, Value];
  mask?(): Node;
}

/** Writes some expressions as often as a loop needs them. */
export class VectorWriter {
  readonly #m: Target["module"];
  readonly #fusion: Fusion | undefined;
  readonly #expressions: readonly Expression[];
  readonly #declare: Declare;
  readonly #constants: ReadonlyMap<number, Local>;
  readonly #signal: Local | undefined;
  readonly #shared: Local[] = [];

  /** @param options `signal` holds the update's signal in all lanes, where any is read; `fused` fuses products with sums */
  constructor(
    target: Target,
    expressions: readonly Expression[],
    declare: Declare,
    { signal, fused = false }: { readonly signal?: Local; readonly fused?: boolean } = {},
  ) {
    this.#m = target.module;
    this.#fusion = fused ? fusionOf(target) : undefined;
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

  /** One vector of each expression, and what is done to it, such as storing it. */
  write(read: (tap: Tap) => Node, use: (value: Node, index: number) => Node): Node[] {
    const m = this.#m, fusion = this.#fusion, before: Node[] = [];
    type Operation = (left: Node, right: Node) => Node;
    const join = (operation: Operation) => (left: Value, right: Value): Value => ({
      write: () => operation(left.write(), right.write()),
    });
    const alone = (operation: (of: Node) => Node) => (of: Value): Value => ({
      write: () => operation(of.write()),
    });
    const number = (value: number): Node => this.#constants.get(value)!.get();
    const compare = (operation: Operation) => (left: Value, right: Value): Value => {
      const mask = (): Node => operation(left.write(), right.write());
      return { write: () => m.v128.and(mask(), number(1)), mask };
    };
    /** The product of `product`'s factors added to, or subtracted from, the other; undefined where it is none. */
    const fuse = (operation: keyof Fusion, product: Value, other: Value): Value | undefined => {
      const { factors } = product;
      if (fusion === undefined || factors === undefined) return undefined;
      return { write: () => fusion[operation](factors[0].write(), factors[1].write(), other.write()) };
    };
    const sum = join(m.f32x4.add), difference = join(m.f32x4.sub), product = join(m.f32x4.mul);
    const algebra: Algebra<Value> = {
      tap: (tap) => ({ write: () => read(tap) }),
      constant: (value) => ({ write: () => number(Math.fround(value)) }),
      signal: () => ({ write: () => this.#signal!.get() }),
      add: (left, right) => fuse("add", right, left) ?? fuse("add", left, right) ?? sum(left, right),
      subtract: (left, right) => fuse("subtract", right, left) ?? difference(left, right),
      multiply: (left, right) => ({ ...product(left, right), factors: [left, right] }),
      divide: join(m.f32x4.div),
      // right < left ? right : left, one instruction on x86
      minimum: join(m.f32x4.pmin),
      maximum: join(m.f32x4.pmax),
      atLeast: compare(m.f32x4.ge),
      greater: compare(m.f32x4.gt),
      absolute: alone(m.f32x4.abs),
      squareRoot: alone(m.f32x4.sqrt),
      choose(condition, then, otherwise) {
        const mask = condition.mask ?? (() => m.f32x4.ne(condition.write(), number(0)));
        return { write: () => m.v128.bitselect(then.write(), otherwise.write(), mask()) };
      },
    };
    let used = 0;
    const values = foldShared(this.#expressions, algebra, (value) => {
      const local = this.#shared[used] ??= this.#declare("v128");
      used++;
      before.push(local.set(value.write()));
      return { write: () => local.get() };
    });
    return [...before, ...values.map((value, i) => use(value.write(), i))];
  }
}

/** a·b added to c, or subtracted from it. */
type Fusion = Readonly<Record<"add" | "subtract", (a: Node, b: Node, c: Node) => Node>>;

/** What binaryen has no functions for, though it writes it: an operation of three vectors is made another one. */
function fusionOf({ library, module: m }: Target): Fusion {
  const { SIMDTernary } = library as unknown as {
    SIMDTernary: { setOp(node: Node, operation: binaryen.Operations): void };
  };
  const make = (operation: binaryen.Operations) => (a: Node, b: Node, c: Node): Node => {
    const node = m.v128.bitselect(a, b, c);
    SIMDTernary.setOp(node, operation);
    return node;
  };
  return { add: make(library.RelaxedMaddVecF32x4), subtract: make(library.RelaxedNmaddVecF32x4) };
}

/** The different constants, rounded to f32; a comparison takes a 1, a choice a 0. */
function constantsOf(expressions: readonly Expression[]): number[] {
  const found = new Set<number>();
  const visit = (node: Expression): void => {
    if (node.kind === "constant") found.add(Math.fround(node.value));
    if (node.kind === "atLeast" || node.kind === "greater") found.add(1);
    if (node.kind === "choose") found.add(0);
    if (node.kind === "partial") visit(node.of);
    if ("operands" in node) node.operands.forEach(visit);
  };
  expressions.forEach(visit);
  return [...found];
}

/** Adds a constant to a pointer or counter. */
export function advance({ module: m }: Target, local: Local, amount: number): Node {
  return local.set(m.i32.add(local.get(), m.i32.const(amount)));
}

/** A loop over `left` points or vectors, `step` at a time while there are as many. */
export function whileLeft(
  { module: m }: Target,
  { name, left, step }: { readonly name: string; readonly left: Local; readonly step: number },
  body: readonly Node[],
): Node {
  const less = left.set(m.i32.sub(left.get(), m.i32.const(step)));
  const again = m.br_if(name, m.i32.ge_s(left.get(), m.i32.const(step)));
  return m.block(`no ${name}`, [
    m.br_if(`no ${name}`, m.i32.lt_s(left.get(), m.i32.const(step))),
    m.loop(name, m.block(null, [...body, less, again])),
  ]);
}

/**
 * Writes a module that imports `facet.memory`, with the functions that `add` adds; returns its bytes.
 *
 * @param options `leastBytes` that the memory has: V8 checks each access at a constant offset beyond them twice
 */
export async function writeModule(
  add: (target: Target) => void,
  { fused = false, leastBytes = 0 }: { readonly fused?: boolean; readonly leastBytes?: number } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  // loaded only where it is used: 15 MB of library, a third of a second
  const { default: library } = await import("npm:binaryen@^132.0.0");
  const module = new library.Module();
  try {
    const { Features } = library;
    const plain = Features.Atomics | Features.SIMD128 | Features.BulkMemory | Features.BulkMemoryOpt;
    module.setFeatures(fused ? plain | Features.RelaxedSIMD : plain);
    module.setMemory(Math.max(1, Math.ceil(leastBytes / 65536)), 65536, null, [], true);
    module.addMemoryImport("0", "facet", "memory", true);
    add({ library, module });
    if (!module.validate()) throw new Error("Cannot write the WebAssembly module: it is not valid");
    return new Uint8Array(module.emitBinary());
  } finally {
    module.dispose();
  }
}

/** 0, 1, 2, … */
export function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}
