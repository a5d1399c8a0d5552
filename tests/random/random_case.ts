/**
 * A case as plain data: an equation, a grid, what computes it, and a script of calls. What is drawn, run, judged, shrunk
 * and printed as a program.
 *
 * @module
 */
import type { Definition } from "../../kernels/definition.ts";
import type { Configuration } from "../../tuner/configuration.ts";

export type Boundary = "zero" | "periodic" | "insulated";

/** Values of cells: those of a hash of the cell, whole or real numbers; one spike; or the same everywhere. */
export type Pattern =
  | { readonly kind: "whole"; readonly seed: number; readonly least: number; readonly count: number }
  | {
    readonly kind: "real";
    readonly seed: number;
    readonly least: number;
    readonly most: number;
    /** Of a profile these cells, from the first until before the second, are 0. */
    readonly zeros?: readonly [first: number, end: number];
  }
  | { readonly kind: "spike"; readonly at: readonly number[]; readonly value: number; readonly other: number }
  | { readonly kind: "same"; readonly value: number };

export type Interpolation = "linear" | "sinc";

/** What is placed between cells. */
interface Placed {
  readonly positions: readonly (readonly number[])[];
  readonly interpolation?: Interpolation;
  /** Each position counts this much more for every cell along x: 1 + slope · x. */
  readonly slope?: number;
}

/** A call of a solver. */
export type Call =
  | {
    readonly call: "write";
    readonly name: string;
    readonly values: Pattern;
    readonly ago?: 1;
    readonly x?: number;
    readonly slices?: number;
    /** Whether the values are given as a list. */
    readonly isList?: boolean;
  }
  | { readonly call: "run"; readonly steps: number }
  | { readonly call: "sources"; readonly name: string; readonly signatures: readonly (readonly number[])[] }
    & Placed
  | {
    readonly call: "receivers";
    readonly name: string;
    readonly every: number;
    readonly takes?: "samples" | readonly number[];
  } & Placed
  | {
    readonly call: "snapshots";
    readonly name: string;
    readonly every: number;
    readonly stride: number;
    readonly box?: { readonly low: readonly number[]; readonly size: readonly number[] };
  }
  | { readonly call: "reset" }
  /** Saves, and goes on in a solver that is made of what was saved. */
  | { readonly call: "continue" }
  | {
    readonly call: "initialise";
    readonly kind: "noise" | "integers" | "binary" | "zero";
    readonly seed: number;
  }
  | {
    readonly call: "read";
    readonly name: string;
    readonly ago?: 1;
    readonly x?: number;
    readonly slices?: number;
  }
  | { readonly call: "traces" }
  | { readonly call: "spectra" };

/** What computes a case. */
export type Where =
  | {
    readonly on: "solver";
    readonly configuration: Configuration;
    /** Bytes that a binding, and maybe a buffer, may have: a level lies in several sections. */
    readonly sections?: { readonly bytes: number; readonly isBuffer: boolean };
    /** Whether the levels lie in buffers of the caller. */
    readonly hasBuffers?: boolean;
    /** Whether sources and receivers can be added to a problem that says nothing of them. */
    readonly canAddPoints?: boolean;
  }
  | {
    readonly on: "ranks";
    readonly parts: readonly number[];
    readonly exchangeEvery: number;
    /** Whether each rank has two parts that take turns. @default {false} */
    readonly inTurns?: boolean;
    /** How fast the ranks are. */
    readonly rates: readonly number[];
    readonly workers: number;
    /** Each rank's. */
    readonly configurations: readonly Configuration[];
    readonly canAddPoints?: boolean;
  };

export interface RandomCase {
  readonly seed: number;
  readonly definition: Definition;
  /** Cells along the equation's own axes. */
  readonly grid: readonly number[];
  /** Along the own axes. */
  readonly boundary: readonly Boundary[];
  readonly steps: number;
  readonly survey?: { readonly sources: number; readonly receivers: number; readonly every?: number };
  readonly where: Where;
  /** Cells that devices hand each other at once. @default {as users have it} */
  readonly pieceCells?: number;
  /** Whether each call is made without waiting for the one before. */
  readonly isHasty?: boolean;
  readonly calls: readonly Call[];
}

/** Whether its worker computes in the thread that started it, as in a page that may share no memory. */
export function isUnshared({ seed, where }: RandomCase): boolean {
  const workers = where.on === "ranks" ? where.workers : where.configuration.share.cpuWorkers;
  return workers === 1 && seed % 8 !== 0;
}

/** What a call gave. */
export type Outcome =
  | { readonly values: ArrayLike<number> }
  | { readonly lists: readonly ArrayLike<number>[] }
  /** What fields and materials start from, by name: of both levels where there are two. */
  | { readonly start: Readonly<Record<string, readonly ArrayLike<number>[]>> }
  | { readonly error: string }
  | undefined;

/** All that came back from a case. */
export interface Outcomes {
  /** What the solver held when it was created, and then of each call. */
  readonly calls: readonly Outcome[];
  /** What callbacks got, by the index of the call that gave them. */
  readonly taken: readonly {
    readonly by: number;
    /** The step of a snapshot, the number of the first sample. */
    readonly first: number;
    readonly size?: readonly number[];
    readonly values: ArrayLike<number>;
  }[];
  /** Why there is no solver. */
  readonly refused?: string;
}

/** A 32-bit hash of a cell, from 0 to 1. */
function hashOf(x: number, y: number, z: number, seed: number): number {
  let bits = Math.imul(x * 31 + y * 1009 + z * 9176 + seed * 7919 | 0, 0x9e3779b1);
  bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d);
  bits = Math.imul(bits ^ (bits >>> 12), 0x297a2d39);
  return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32;
}

/** The value of a cell. */
export function patternAt(pattern: Pattern, [x = 0, y = 0, z = 0]: readonly number[]): number {
  switch (pattern.kind) {
    case "whole":
      return pattern.least + Math.floor(hashOf(x, y, z, pattern.seed) * pattern.count);
    case "real":
      if (pattern.zeros && x >= pattern.zeros[0] && x < pattern.zeros[1]) return 0;
      return pattern.least + hashOf(x, y, z, pattern.seed) * (pattern.most - pattern.least);
    case "spike": {
      const [i = 0, j = 0, k = 0] = pattern.at;
      return x === i && y === j && z === k ? pattern.value : pattern.other;
    }
    case "same":
      return pattern.value;
  }
}

/** Whether an equation reads what lies before the newest level. */
export function readsBefore(definition: Definition): boolean {
  return JSON.stringify(definition.substeps).includes('["before"');
}

/** The own axes in a plan: 0, 1, 2; of two dimensions 0 and 2; of a line three are given. */
export function axesOf({ dimensions }: Pick<Definition, "dimensions">): readonly number[] {
  return dimensions === 2 ? [0, 2] : [0, 1, 2];
}

/** Along x, y, z of a definition what is given along the own axes. */
export function planar<T>(own: readonly T[], between: T): [T, T, T] {
  return own.length === 2 ? [own[0]!, between, own[1]!] : [own[0]!, own[1]!, own[2]!];
}

/** Fields that solvers read and write. */
export function visibleFields({ fields, layers = [] }: Definition): string[] {
  return fields.slice(0, fields.length - layers.length).map(({ name }) => name);
}
