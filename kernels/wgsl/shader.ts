/**
 * Shaders and what they bind. While a text is written, its buffers have names alone and its numbers are f32;
 * {@linkcode shaderOf} numbers the buffers once, at its end, whoever runs it finds the plan's buffers by these names, and
 * {@linkcode withNumbers} makes the numbers those of the problem.
 *
 * @module
 */
import { type Precise, precisionOf } from "../precision.ts";

/**
 * One compute pipeline. Bindings: 0 and 1, the arrays of even and odd time levels; 2, the uniforms; from 3 on, buffers by
 * name.
 */
export interface Shader {
  /** The configuration in short, shown by GPU debuggers. */
  readonly label: string;
  readonly code: string;
  /** The names of the plan's buffers that it binds, in the order of their bindings; twice where it has two views of one. */
  readonly buffers: readonly string[];
  /** Arrays of other sections, after these buffers: as many as its dispatches name. */
  readonly twins: number;
}

/** Its first binding of a buffer with a name. */
const FIRST = 3;

const TWIN = "twin";

/**
 * The declaration of a buffer that the plan calls by a name.
 *
 * @param options the address space; `as`: what the text calls it @default {as the plan does}
 */
export function declareBuffer(
  name: string,
  type = "array<f32>",
  { space = "storage, read_write", as = name }: { space?: string; as?: string } = {},
): string {
  return `@buffer(${name}) var<${space}> ${as}: ${type};`;
}

/** That of another section's array. */
export function declareTwin(as: string, type: string): string {
  return declareBuffer(TWIN, `array<${type}>`, { as });
}

/**
 * A text of f32 numbers with those of a precision: their types and literals; f64 literals are as they are, so that constants
 * may be written in full.
 */
export function withNumbers(text: string, of: Precise): string {
  if (precisionOf(of).name === "f32") return text;
  return text.replace(/\bf32\b/g, "f64").replace(/\bvec([234])f\b/g, "vec$1<f64>")
    .replace(/(?<![\w.])(\d[\d.]*(?:e[+-]?\d+)?|0x[\da-f.]+p[+-]?\d+)f\b/g, "$1lf");
}

/** A shader of a text whose buffers have no numbers yet, of f32. */
export function shaderOf(label: string, text: string, of: Precise): Shader {
  const declared = buffersIn(text);
  const buffers = declared.filter((name) => name !== TWIN), twins = declared.length - buffers.length;
  let buffer = FIRST, twin = FIRST + buffers.length;
  const code = withNumbers(text, of).replace(
    /@buffer\((\w+)\)/g,
    (_, name) => `@group(0) @binding(${name === TWIN ? twin++ : buffer++})`,
  );
  return { label, code, buffers, twins };
}

/** The names of the buffers that a text declares, in its order. */
export function buffersIn(text: string): string[] {
  return [...text.matchAll(/@buffer\((\w+)\)/g)].map(([, name]) => name!);
}

/** The bindings of a shader's buffers. */
export function bindingsOf({ buffers, twins }: Pick<Shader, "buffers" | "twins">): number[] {
  return [0, 1, ...Array.from({ length: buffers.length + twins }, (_, i) => FIRST + i)];
}
