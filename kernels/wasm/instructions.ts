/**
 * The instructions that the CPU's kernels are made of, and the module around them, in WebAssembly's binary format.
 *
 * @module
 */

import { type Precision, type PrecisionName, PRECISIONS } from "../precision.ts";

const TYPES = { i32: 0x7f, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;

/** A parameter or local of a function: in code it stands for its index, which is known when all are declared. */
export class Local {
  constructor(readonly type: keyof typeof TYPES) {}

  get(): Code {
    return [0x20, this];
  }

  set(value: Code): Code {
    return [...value, 0x21, this];
  }

  /** Sets it, and is its value. */
  tee(value: Code): Code {
    return [...value, 0x22, this];
  }
}

/** Bytes of instructions that leave one value on the stack, or none. */
export type Code = readonly (number | Local)[];

/** LEB128: seven bits a byte, the lowest first. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [value % 128 + 128, ...unsigned(Math.floor(value / 128))];
}

function signed(value: number): number[] {
  return value >= -64 && value < 64 ? [value & 127] : [value & 127 | 128, ...signed(value >> 7)];
}

type Unary = (value: Code) => Code;
type Binary = (left: Code, right: Code) => Code;
type Ternary = (a: Code, b: Code, c: Code) => Code;

const vector = (code: number): number[] => [0xfd, ...unsigned(code)];
const unary = (opcode: Code): Unary => (value) => [...value, ...opcode];
const binary = (opcode: Code): Binary => (left, right) => [...left, ...right, ...opcode];
const ternary = (opcode: Code): Ternary => (a, b, c) => [...a, ...b, ...c, ...opcode];

/** What follows a memory instruction: values are aligned to 2² bytes, offsets are not negative. */
const at = (offset: number): number[] => [2, ...unsigned(offset)];
const load = (opcode: Code) => (offset: number, pointer: Code) => unary([...opcode, ...at(offset)])(pointer);
const store = (opcode: Code) => (offset: number, pointer: Code, value: Code) =>
  binary([...opcode, ...at(offset)])(pointer, value);
const storeLane = (opcode: Code) => (offset: number, lane: number, pointer: Code, value: Code) =>
  binary([...opcode, ...at(offset), lane])(pointer, value);

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(value)],
  lt_s: binary([0x48]),
  lt_u: binary([0x49]),
  gt_s: binary([0x4a]),
  ge_s: binary([0x4e]),
  add: binary([0x6a]),
  sub: binary([0x6b]),
  mul: binary([0x6c]),
  rem_s: binary([0x6f]),
  and: binary([0x71]),
  shl: binary([0x74]),
};

export const v128 = {
  load: load(vector(0)),
  store: store(vector(11)),
  store32_lane: storeLane(vector(90)),
  store64_lane: storeLane(vector(91)),
  and: binary(vector(78)),
  or: binary(vector(80)),
  bitselect: ternary(vector(82)),
  /** 16 bytes of the 32 of both. */
  shuffle: (low: Code, high: Code, bytes: readonly number[]) => binary([...vector(13), ...bytes])(low, high),
};

/** `f32x4` or `f64x2`, shifts of their bits as integers, and one value of them: by the first numbers of groups of instructions. */
function floats(
  [constant, read, write]: readonly [number, number, number],
  [splat, compare, floor, abs, madd, shift]: readonly [number, number, number, number, number, number],
  { Values }: Precision,
) {
  return {
    const: (value: number): Code => [constant, ...new Uint8Array(Values.from([value]).buffer)],
    load: load([read]),
    store: store([write]),
    splat: unary(vector(splat)),
    ne: binary(vector(compare + 1)),
    gt: binary(vector(compare + 3)),
    ge: binary(vector(compare + 5)),
    floor: unary(vector(floor)),
    abs: unary(vector(abs)),
    sqrt: unary(vector(abs + 3)),
    add: binary(vector(abs + 4)),
    sub: binary(vector(abs + 5)),
    mul: binary(vector(abs + 6)),
    div: binary(vector(abs + 7)),
    pmin: binary(vector(abs + 10)),
    pmax: binary(vector(abs + 11)),
    /** a·b + c */
    relaxed_madd: ternary(vector(madd)),
    /** c − a·b */
    relaxed_nmadd: ternary(vector(madd + 1)),
    shl: binary(vector(shift)),
    shr_u: binary(vector(shift + 2)),
  };
}

/** Instructions by precision. */
export const FLOATS: Readonly<Record<PrecisionName, ReturnType<typeof floats>>> = {
  f32: floats([0x43, 0x2a, 0x38], [19, 65, 104, 224, 261, 171], PRECISIONS.f32),
  f64: floats([0x44, 0x2b, 0x39], [20, 71, 117, 236, 263, 203], PRECISIONS.f64),
};

/** Copies bytes: to, from, how many. */
export const copyMemory: Ternary = ternary([0xfc, 10, 0, 0]);

/** The first where the third is not 0, otherwise the second. */
export const select: Ternary = ternary([0x1b]);

const END = 0x0b;

/** Leaves a block, or starts a loop again: the innermost is 0, the one around it 1. */
export function branch(depth: number): Code {
  return [0x0c, depth];
}

export function branchIf(depth: number, condition: Code): Code {
  return [...condition, 0x0d, depth];
}

export function block(lines: readonly Code[]): Code {
  return [0x02, 0x40, ...lines.flat(), END];
}

/** Runs once, unless a branch goes back to its start. */
export function loop(lines: readonly Code[]): Code {
  return [0x03, 0x40, ...lines.flat(), END];
}

export function when(condition: Code, then: readonly Code[], otherwise: readonly Code[] = []): Code {
  const rest = otherwise.length === 0 ? [] : [0x05, ...otherwise.flat()];
  return [...condition, 0x04, 0x40, ...then.flat(), ...rest, END];
}

/** A function without a result, exported by its name. */
export interface ModuleFunction {
  readonly name: string;
  readonly parameters: readonly Local[];
  readonly locals: readonly Local[];
  readonly body: readonly Code[];
}

const list = (items: readonly number[][]): number[] => [...unsigned(items.length), ...items.flat()];
const sized = (bytes: readonly number[]): number[] => [...unsigned(bytes.length), ...bytes];
const text = (value: string): number[] => sized([...new TextEncoder().encode(value)]);

/** The parameters' types. */
function typeOf({ parameters }: ModuleFunction): number[] {
  return [0x60, ...list(parameters.map(({ type }) => [TYPES[type]])), 0];
}

/** The body, with indices in place of locals. */
function bodyOf({ parameters, locals, body }: ModuleFunction): number[] {
  const indices = new Map([...parameters, ...locals].map((local, i) => [local, unsigned(i)]));
  const declared = list(locals.map(({ type }) => [1, TYPES[type]]));
  const code = body.flat().flatMap((item) => typeof item === "number" ? item : indices.get(item)!);
  return sized([...declared, ...code, END]);
}

/**
 * Writes a module that imports `facet.memory`, shared, and exports the functions.
 *
 * @param leastBytes that the memory has: V8 checks each access at a constant offset beyond them twice
 */
export function writeModule(functions: readonly ModuleFunction[], leastBytes = 0): Uint8Array<ArrayBuffer> {
  const pages = Math.max(1, Math.ceil(leastBytes / 65536));
  const memory = [...text("facet"), ...text("memory"), 2, 3, ...unsigned(pages), ...unsigned(65536)];
  const sections: readonly (readonly [id: number, items: readonly number[][]])[] = [
    [1, functions.map(typeOf)],
    [2, [memory]],
    [3, functions.map((_, i) => unsigned(i))],
    [7, functions.map(({ name }, i) => [...text(name), 0, ...unsigned(i)])],
    [10, functions.map(bodyOf)],
  ];
  const magic = [0, 0x61, 0x73, 0x6d], version = [1, 0, 0, 0];
  const bytes = sections.flatMap(([id, items]) => [id, ...sized(list(items))]);
  return Uint8Array.from([...magic, ...version, ...bytes]);
}
