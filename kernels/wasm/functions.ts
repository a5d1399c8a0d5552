/**
 * Functions of a WebAssembly module: their parameters, locals and loops, and expressions as vectors of cells, one
 * `f32x4` or `f64x2` instruction an operation, in the expression's own order.
 *
 * @module
 */
import { type Algebra, type Expression, foldShared, type ProfileTap, type Tap } from "../expression.ts";
import {
  block,
  branch,
  branchIf,
  type Code,
  FLOATS,
  i32,
  Local,
  loop,
  type ModuleFunction,
  v128,
} from "./instructions.ts";
import { type Precise, type Precision, type PrecisionName, precisionOf } from "../precision.ts";

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
  readonly floats?: Readonly<Partial<Record<Names, PrecisionName>>>;
  write(parameters: Readonly<Record<Names, Local>>, declare: Declare): readonly Code[];
}

/** A function of byte offsets, indices and numbers. */
export function indexFunction<Names extends string>(
  { name, parameters: names, floats, write }: IndexFunction<Names>,
): ModuleFunction {
  const parameters = names.map((name) => new Local(floats?.[name] ?? "i32")),
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
  readonly #isFused: boolean;
  readonly #precision: Precision;
  readonly #constants = new Map<number, Local>();
  readonly #signal: Local | undefined;
  readonly #shared: Local[] = [];

  /**
   * @param options the update's precision; `signal` holds its signal in all lanes, where any is read; `fused` fuses products
   *   with sums
   */
  constructor(
    private readonly expressions: readonly Expression[],
    private readonly declare: Declare,
    { precision, signal, fused = false }: Precise & { readonly signal?: Local; readonly fused?: boolean } =
      {},
  ) {
    this.#isFused = fused;
    this.#precision = precisionOf({ precision });
    this.#signal = signal;
    // declares the constants
    this.write(() => [], () => [], () => []);
  }

  /** To come before anything that is written. */
  setConstants(): Code[] {
    const float = FLOATS[this.#precision.name];
    return [...this.#constants].map(([value, local]) => local.set(float.splat(float.const(value))));
  }

  /** One vector of each expression, and what is done to it, such as storing it. */
  write(
    read: (tap: Tap) => Code,
    use: (value: Code, index: number) => Code,
    readProfile?: (tap: ProfileTap) => Code,
  ): Code[] {
    const { name: precision, round, bits: [mantissa, bias] } = this.#precision, float = FLOATS[precision];
    const before: Code[] = [];
    type Operation = (left: Code, right: Code) => Code;
    const join = (operation: Operation) => (left: Value, right: Value): Value => ({
      write: () => operation(left.write(), right.write()),
    });
    const alone = (operation: (of: Code) => Code) => (of: Value): Value => ({
      write: () => operation(of.write()),
    });
    const number = (value: number): Code => {
      const local = this.#constants.get(value) ?? this.declare("v128");
      this.#constants.set(value, local);
      return local.get();
    };
    const compare = (operation: Operation) => (left: Value, right: Value): Value => {
      const mask = (): Code => operation(left.write(), right.write());
      return { write: () => v128.and(mask(), number(1)), mask };
    };
    /** The product of `product`'s factors added to, or subtracted from, the other; undefined where it is none. */
    const fuse = (
      operation: "relaxed_madd" | "relaxed_nmadd",
      product: Value,
      other: Value,
    ): Value | undefined => {
      const { factors } = product;
      if (!this.#isFused || factors === undefined) return undefined;
      return { write: () => float[operation](factors[0].write(), factors[1].write(), other.write()) };
    };
    const sum = join(float.add), difference = join(float.sub), product = join(float.mul);
    // the exponent's bits as the last ones of a number
    const shift = i32.const(mantissa), one = 2 ** mantissa;
    const algebra: Algebra<Value> = {
      precision,
      tap: (tap) => ({ write: () => read(tap) }),
      ...(readProfile && { profile: (tap) => ({ write: () => readProfile(tap) }) }),
      constant: (value) => ({ write: () => number(round(value)) }),
      signal: () => ({ write: () => this.#signal!.get() }),
      add: (left, right) =>
        fuse("relaxed_madd", right, left) ?? fuse("relaxed_madd", left, right) ?? sum(left, right),
      subtract: (left, right) => fuse("relaxed_nmadd", right, left) ?? difference(left, right),
      multiply: (left, right) => ({ ...product(left, right), factors: [left, right] }),
      divide: join(float.div),
      // right < left ? right : left, one instruction on x86
      minimum: join(float.pmin),
      maximum: join(float.pmax),
      atLeast: compare(float.ge),
      greater: compare(float.gt),
      absolute: alone(float.abs),
      squareRoot: alone(float.sqrt),
      floor: alone(float.floor),
      // in f32 n + 127 are the last bits of 2²³ + 127 + n, and the exponent's bits of 2ⁿ
      powerOfTwo: alone((of) => float.shl(float.add(of, number(one + bias)), shift)),
      exponentOf: alone((of) =>
        float.sub(v128.or(float.shr_u(float.abs(of), shift), number(one)), number(one + bias))
      ),
      choose(condition, then, otherwise) {
        const mask = condition.mask ?? (() => float.ne(condition.write(), number(0)));
        return { write: () => v128.bitselect(then.write(), otherwise.write(), mask()) };
      },
    };
    let used = 0;
    const values = foldShared(this.expressions, algebra, (value) => {
      const local = this.#shared[used] ??= this.declare("v128");
      used++;
      before.push(local.set(value.write()));
      return { write: () => local.get() };
    });
    return [...before, ...values.map((value, i) => use(value.write(), i))];
  }
}

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
