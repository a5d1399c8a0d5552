/**
 * Functions of a WebAssembly module: their parameters, locals and loops, and expressions as vectors of four cells, one
 * `f32x4` instruction an operation, in the expression's own order.
 *
 * @module
 */
import { type Algebra, type Expression, foldShared, type ProfileTap, type Tap } from "../expression.ts";
import {
  block,
  branch,
  branchIf,
  type Code,
  f32,
  f32x4,
  i32,
  i32x4,
  Local,
  loop,
  type ModuleFunction,
  v128,
} from "./instructions.ts";

/** A loop over from ≤ index < to, in steps of `most` while that many are left, then one by one. */
export function forEach(
  { index, from, to, most = 1 }: {
    readonly index: Local;
    readonly from: Local;
    readonly to: Local;
    readonly most?: number;
  },
  body: (step: number) => readonly Code[],
): Code[] {
  const loops = [...new Set([most, 1])].map((step) => {
    const isOver = i32.gt_s(i32.add(index.get(), i32.const(step)), to.get());
    return block([loop([branchIf(1, isOver), ...body(step), advance(index, step), branch(0)])]);
  });
  return [index.set(from.get()), ...loops];
}

export type Declare = (type: Local["type"]) => Local;

interface IndexFunction<Names extends string> {
  readonly name: string;
  /** Parameters, all i32 but those of `floats`. */
  readonly parameters: readonly Names[];
  /** @default {none} */
  readonly floats?: readonly Names[];
  write(parameters: Readonly<Record<Names, Local>>, declare: Declare): readonly Code[];
}

/** A function of byte offsets, indices and numbers. */
export function indexFunction<Names extends string>(
  { name, parameters: names, floats = [], write }: IndexFunction<Names>,
): ModuleFunction {
  const parameters = names.map((name) => new Local(floats.includes(name) ? "f32" : "i32")),
    locals: Local[] = [];
  const declare: Declare = (type) => {
    const local = new Local(type);
    locals.push(local);
    return local;
  };
  const named = Object.fromEntries(names.map((name, i) => [name, parameters[i]])) as Record<Names, Local>;
  return { name, parameters, locals, body: write(named, declare) };
}

/**
 * A value to be written; of what is used once also a product's factors, which may be fused with a sum, and a
 * comparison's mask, which a choice takes.
 */
interface Value {
  write(): Code;
  readonly factors?: readonly [Value, Value];
  mask?(): Code;
}

/** Writes some expressions as often as a loop needs them. */
export class VectorWriter {
  readonly #fusion: Fusion | undefined;
  readonly #expressions: readonly Expression[];
  readonly #declare: Declare;
  readonly #constants = new Map<number, Local>();
  readonly #signal: Local | undefined;
  readonly #shared: Local[] = [];

  /** @param options `signal` holds the update's signal in all lanes, where any is read; `fused` fuses products with sums */
  constructor(
    expressions: readonly Expression[],
    declare: Declare,
    { signal, fused = false }: { readonly signal?: Local; readonly fused?: boolean } = {},
  ) {
    this.#fusion = fused ? FUSION : undefined;
    this.#signal = signal;
    this.#expressions = expressions;
    this.#declare = declare;
    // declares the constants
    this.write(() => [], () => [], () => []);
  }

  /** To come before anything that is written. */
  setConstants(): Code[] {
    return [...this.#constants].map(([value, local]) => local.set(f32x4.splat(f32.const(value))));
  }

  /** One vector of each expression, and what is done to it, such as storing it. */
  write(
    read: (tap: Tap) => Code,
    use: (value: Code, index: number) => Code,
    readProfile?: (tap: ProfileTap) => Code,
  ): Code[] {
    const fusion = this.#fusion, before: Code[] = [];
    type Operation = (left: Code, right: Code) => Code;
    const join = (operation: Operation) => (left: Value, right: Value): Value => ({
      write: () => operation(left.write(), right.write()),
    });
    const alone = (operation: (of: Code) => Code) => (of: Value): Value => ({
      write: () => operation(of.write()),
    });
    const number = (value: number): Code => {
      const local = this.#constants.get(value) ?? this.#declare("v128");
      this.#constants.set(value, local);
      return local.get();
    };
    const compare = (operation: Operation) => (left: Value, right: Value): Value => {
      const mask = (): Code => operation(left.write(), right.write());
      return { write: () => v128.and(mask(), number(1)), mask };
    };
    /** The product of `product`'s factors added to, or subtracted from, the other; undefined where it is none. */
    const fuse = (operation: keyof Fusion, product: Value, other: Value): Value | undefined => {
      const { factors } = product;
      if (fusion === undefined || factors === undefined) return undefined;
      return { write: () => fusion[operation](factors[0].write(), factors[1].write(), other.write()) };
    };
    const sum = join(f32x4.add), difference = join(f32x4.sub), product = join(f32x4.mul);
    const algebra: Algebra<Value> = {
      tap: (tap) => ({ write: () => read(tap) }),
      ...(readProfile && { profile: (tap) => ({ write: () => readProfile(tap) }) }),
      constant: (value) => ({ write: () => number(Math.fround(value)) }),
      signal: () => ({ write: () => this.#signal!.get() }),
      add: (left, right) => fuse("add", right, left) ?? fuse("add", left, right) ?? sum(left, right),
      subtract: (left, right) => fuse("subtract", right, left) ?? difference(left, right),
      multiply: (left, right) => ({ ...product(left, right), factors: [left, right] }),
      divide: join(f32x4.div),
      // right < left ? right : left, one instruction on x86
      minimum: join(f32x4.pmin),
      maximum: join(f32x4.pmax),
      atLeast: compare(f32x4.ge),
      greater: compare(f32x4.gt),
      absolute: alone(f32x4.abs),
      squareRoot: alone(f32x4.sqrt),
      floor: alone(f32x4.floor),
      // n + 127 are the last bits of 2²³ + 127 + n, and the exponent's bits of 2ⁿ
      powerOfTwo: alone((of) => i32x4.shl(f32x4.add(of, number(2 ** 23 + 127)), i32.const(23))),
      exponentOf: alone((of) => {
        const bits = i32x4.shr_u(f32x4.abs(of), i32.const(23));
        return f32x4.sub(v128.or(bits, number(2 ** 23)), number(2 ** 23 + 127));
      }),
      choose(condition, then, otherwise) {
        const mask = condition.mask ?? (() => f32x4.ne(condition.write(), number(0)));
        return { write: () => v128.bitselect(then.write(), otherwise.write(), mask()) };
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
type Fusion = Readonly<Record<"add" | "subtract", (a: Code, b: Code, c: Code) => Code>>;

const FUSION: Fusion = { add: f32x4.relaxed_madd, subtract: f32x4.relaxed_nmadd };

/** Adds a constant to a pointer or counter. */
export function advance(local: Local, amount: number): Code {
  return local.set(i32.add(local.get(), i32.const(amount)));
}

/** A loop over `left` points or vectors, `step` at a time while there are as many. */
export function whileLeft(
  { left, step }: { readonly left: Local; readonly step: number },
  body: readonly Code[],
): Code {
  const again = branchIf(0, i32.ge_s(left.get(), i32.const(step)));
  return block([
    branchIf(0, i32.lt_s(left.get(), i32.const(step))),
    loop([...body, left.set(i32.sub(left.get(), i32.const(step))), again]),
  ]);
}

/** 0, 1, 2, … */
export function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}
