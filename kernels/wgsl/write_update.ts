/**
 * The WGSL writer: updates as shader text. The traversal says, by a tap resolver, where each tap's value is: in a
 * register, in workgroup memory, in the fields' array.
 *
 * @module
 */
import {
  type Algebra,
  eachOperation,
  type Expression,
  foldShared,
  type Offset,
  type Tap,
} from "../expression.ts";
import { type Precise, precisionOf } from "../precision.ts";

/** How {@linkcode UpdateWriter.write} finds what the expressions read. */
export interface Resolver {
  tap(tap: Tap): string;
  /** Text that reads a profile: along z of the type, else an f32. @default {refused} */
  readonly profile?: Algebra<string>["profile"];
  /** Text that reads a partial sum; undefined: it is taken apart. @default {always taken apart} */
  partial?(of: Expression, offset: Offset): string | undefined;
  /** Text that reads the signal. @default {"time.signal"} the uniform of `declareTime` */
  readonly signal?: string;
  /** The type of those texts. @default {"f32"} */
  readonly type?: string;
  /** Starts the names of values that are used again. @default {"e"} */
  readonly prefix?: string;
}

export interface UpdateWriter {
  /** The weights as `const` lines, for the top of the shader. */
  readonly constants: string;
  /** All of the expressions, or the given ones of them: `let` lines of what is used more than once, and their texts. */
  write(
    resolver: Resolver,
    expressions?: readonly Expression[],
  ): Readonly<Record<"lines" | "values", readonly string[]>>;
}

/** Text of a node, and how strongly its outermost operator binds: sums 1, products 2, the rest 3. */
interface Piece {
  readonly text: string;
  readonly binds: 1 | 2 | 3;
  /** Of type f32 even among vectors. */
  readonly isScalar: boolean;
  /** The same of a comparison as a `bool`, until it is kept. */
  readonly condition?: string;
  /** In f64, what it is, if it is a constant: Deno 2.9.6 cannot compile functions of these. */
  readonly number?: number;
}

/** Prepares expressions for writing; their constants are named W0, W1, … in order of appearance. */
export function updateWriter(expressions: readonly Expression[], of: Precise): UpdateWriter {
  const precision = precisionOf(of), [fraction, bias] = precision.bits;
  // numbers of which the bits behind the exponent's are whole ones, and the one whose bits are the exponent's bias
  const whole = `0x${(BigInt(fraction + bias) << BigInt(fraction)).toString(16)}${
    precision.bytes === 4 ? "" : "lu"
  }`;
  const biased = precision.literal(2 ** fraction + bias);
  const names = new Map<number, string>();
  const nameOf = (value: number): string => {
    const name = names.get(value) ?? `W${names.size}`;
    names.set(value, name);
    return name;
  };
  /** A type, that of its bits, and what shifts these by a fraction. */
  const typesOf = (own: string) => {
    const words = own.replace("f", "u"),
      bits = precision.bytes === 4 ? words : words.replace("32", "64").replace(/u$/, "<u64>");
    return { own, bits, shift: `${words}(${fraction})` };
  };
  const within = (piece: Piece, atLeast: number): string =>
    piece.binds >= atLeast ? piece.text : `(${piece.text})`;
  const algebraOf = (
    { tap, profile, partial, signal = "time.signal", type = "f32" }: Resolver,
  ): Algebra<Piece> => {
    const join = (operator: string, binds: 1 | 2) => (left: Piece, right: Piece): Piece => ({
      text: `${within(left, binds)} ${operator} ${within(right, binds + 1)}`,
      binds,
      isScalar: left.isScalar && right.isScalar,
    });
    const vector = (piece: Piece): string => asType(piece, type);
    const value = (text: string, isScalar = false): Piece => ({ text, binds: 3, isScalar });
    const call = (name: string) => (...pieces: Piece[]): Piece => {
      const isScalar = pieces.every((piece) => piece.isScalar);
      return value(`${name}(${pieces.map(isScalar ? ({ text }) => text : vector).join(", ")})`, isScalar);
    };
    const compare = (operator: string) => (left: Piece, right: Piece): Piece => {
      const condition = `${vector(left)} ${operator} ${vector(right)}`;
      return { ...value(`select(${type}(0), ${type}(1), ${condition})`), condition };
    };
    const constant = (number: number): Piece => ({
      ...value(nameOf(number), true),
      ...(precision.bytes === 8 && { number }),
    });
    const algebra: Algebra<Piece> = {
      precision: precision.name,
      tap: (one) => value(tap(one)),
      ...(profile && { profile: (one) => value(profile(one), one.axis !== 2) }),
      constant,
      signal: () => value(signal, true),
      add: join("+", 1),
      subtract: join("-", 1),
      multiply: join("*", 2),
      divide: join("/", 2),
      minimum: call("min"),
      maximum: call("max"),
      atLeast: (left, right) => ({
        ...compare(">=")(left, right),
        ...value(`step(${vector(right)}, ${vector(left)})`),
      }),
      greater: compare(">"),
      absolute: call("abs"),
      squareRoot: call("sqrt"),
      floor: call("floor"),
      // of f32, n + 127 are the last bits of 2²³ + 127 + n, and the exponent's bits of 2ⁿ
      powerOfTwo({ text, isScalar }) {
        const { own, bits, shift } = typesOf(isScalar ? "f32" : type);
        return value(`bitcast<${own}>(bitcast<${bits}>(${text} + ${biased}) << ${shift})`, isScalar);
      },
      exponentOf({ text, isScalar }) {
        const { own, bits, shift } = typesOf(isScalar ? "f32" : type);
        const last = `(bitcast<${bits}>(abs(${text})) >> ${shift}) | ${bits}(${whole})`;
        return value(`(bitcast<${own}>(${last}) - ${biased})`, isScalar);
      },
      choose(one, then, otherwise) {
        const condition = one.condition ?? `${vector(one)} != ${type}(0)`;
        return value(`select(${vector(otherwise)}, ${vector(then)}, ${condition})`);
      },
      partial(of, offset) {
        const text = partial?.(of, offset);
        return text === undefined ? undefined : value(text);
      },
    };
    if (precision.bytes === 4) return algebra;
    const evaluated = eachOperation<Piece>((kind, operate) => (...operands) => {
      const numbers = operands.flatMap(({ number }) => number ?? []);
      return numbers.length === operands.length
        ? constant(operate(...numbers))
        : (algebra[kind] as (...of: Piece[]) => Piece)(...operands);
    });
    return { ...algebra, ...evaluated };
  };
  // names every constant before the declarations are asked for
  foldShared(expressions, algebraOf({ tap: () => "", profile: () => "" }), (piece) => piece);
  const constants = [...names].map(([value, name]) => `const ${name} = ${precision.literal(value)};`).join(
    "\n",
  );
  return {
    constants,
    write(resolver, wanted = expressions) {
      const lines: string[] = [];
      const keep = (piece: Piece): Piece => {
        const { text, isScalar, number } = piece;
        if (number !== undefined) return piece;
        const name = `${resolver.prefix ?? "e"}${lines.length}`;
        lines.push(`let ${name} = ${text};`);
        return { text: name, binds: 3, isScalar };
      };
      const values = foldShared(wanted, algebraOf(resolver), keep);
      return { lines, values: values.map((value) => asType(value, resolver.type)) };
    },
  };
}

function asType({ text, isScalar }: Piece, type = "f32"): string {
  return isScalar && type !== "f32" ? `${type}(${text})` : text;
}
