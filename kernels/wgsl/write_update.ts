/**
 * The WGSL writer: an update as shader text. The traversal says, by a tap resolver, where each tap's value is:
 * in a register, in workgroup memory, in the field's array.
 *
 * @module
 */
import { type Expression, fold, type Tap } from "../expression.ts";

/** Text that reads the value of a tap. */
export type TapResolver = (tap: Tap) => string;

/** An update ready to be written into a shader. */
export interface UpdateWriter {
  /** The update's weights as `const` lines, for the top of the shader. */
  readonly constants: string;
  /** The update as an expression of type f32, or vecNf where the resolver's text has that type. */
  write(resolve: TapResolver): string;
}

/** Text of a node, and how strongly its outermost operator binds: sums 1, products 2, the rest 3. */
interface Piece {
  readonly text: string;
  readonly binds: 1 | 2 | 3;
}

/** Prepares an update for writing; its constants are named W0, W1, … in order of appearance. */
export function updateWriter(update: Expression): UpdateWriter {
  const names = new Map<number, string>();
  const nameOf = (value: number): string => {
    const name = names.get(value) ?? `W${names.size}`;
    names.set(value, name);
    return name;
  };
  const within = (piece: Piece, atLeast: number): string =>
    piece.binds >= atLeast ? piece.text : `(${piece.text})`;
  const write = (resolve: TapResolver): string =>
    fold<Piece>(update, {
      tap: (tap) => ({ text: resolve(tap), binds: 3 }),
      constant: (value) => ({ text: nameOf(value), binds: 3 }),
      add: (left, right) => ({ text: `${within(left, 1)} + ${within(right, 2)}`, binds: 1 }),
      subtract: (left, right) => ({ text: `${within(left, 1)} - ${within(right, 2)}`, binds: 1 }),
      multiply: (left, right) => ({ text: `${within(left, 2)} * ${within(right, 3)}`, binds: 2 }),
    }).text;
  write(() => ""); // names every constant before the declarations are asked for
  const constants = [...names].map(([value, name]) => `const ${name} = ${writeFloat(value)};`).join("\n");
  return { constants, write };
}

/** An f32 literal that is exactly the f32 nearest to the value. */
export function writeFloat(value: number): string {
  const text = `${Math.fround(value)}`;
  return /[.e]/.test(text) ? `${text}f` : `${text}.0f`;
}
