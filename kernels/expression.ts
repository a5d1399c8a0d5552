/**
 * The language in which the update of a cell is written, once.
 *
 * An expression is a tree of **taps** (the value of a neighbour now or one step ago), constants, sums,
 * differences and products. It has no text of its own: whoever needs one folds the tree with an
 * {@linkcode Algebra}. The oracle folds it to a number, the WGSL writer to shader text, the WebAssembly
 * writer to instructions, the error bound to a count of roundings.
 *
 * @module
 */

/** Where a tap lies from the cell that is updated, in cells along x, y, z. */
export type Offset = readonly [x: number, y: number, z: number];

/** The value of one cell that an update reads. */
export interface Tap {
  /** What tells a tap from other nodes. */
  readonly kind: "tap";
  /** Where it lies from the updated cell. */
  readonly offset: Offset;
  /** 0: the newest time level, t. 1: the level before, t − 1. */
  readonly ago: 0 | 1;
}

/** An update of a cell as a tree. */
export type Expression =
  | Tap
  | { readonly kind: "constant"; readonly value: number }
  | { readonly kind: "add" | "subtract" | "multiply"; readonly left: Expression; readonly right: Expression };

/** How to turn each kind of node into a `T`; what {@linkcode fold} needs. */
export interface Algebra<T> {
  tap(tap: Tap): T;
  constant(value: number): T;
  add(left: T, right: T): T;
  subtract(left: T, right: T): T;
  multiply(left: T, right: T): T;
}

/** The cell at `offset`, now (`ago` = 0) or one step ago (`ago` = 1). */
export function tap(x: number, y: number, z: number, ago: 0 | 1 = 0): Tap {
  return { kind: "tap", offset: [x, y, z], ago };
}

/** A number; every target rounds it to its own precision. */
export function constant(value: number): Expression {
  return { kind: "constant", value };
}

/** The sum of the terms, from left to right: ((a + b) + c) + … */
export function add(first: Expression, ...rest: Expression[]): Expression {
  return rest.reduce((left, right): Expression => ({ kind: "add", left, right }), first);
}

/** left − right */
export function subtract(left: Expression, right: Expression): Expression {
  return { kind: "subtract", left, right };
}

/** left · right */
export function multiply(left: Expression, right: Expression): Expression {
  return { kind: "multiply", left, right };
}

/** Replaces every node of the tree, leaves first, by what the algebra makes of it. */
export function fold<T>(expression: Expression, algebra: Algebra<T>): T {
  switch (expression.kind) {
    case "tap":
      return algebra.tap(expression);
    case "constant":
      return algebra.constant(expression.value);
    default:
      return algebra[expression.kind](fold(expression.left, algebra), fold(expression.right, algebra));
  }
}

/** Every tap of the expression once, in the order of first appearance. */
export function tapsOf(expression: Expression): Tap[] {
  const found = new Map<string, Tap>();
  const visit = (node: Expression): void => {
    if (node.kind === "tap") {
      found.set(`${node.offset},${node.ago}`, node);
    } else if (node.kind !== "constant") {
      visit(node.left);
      visit(node.right);
    }
  };
  visit(expression);
  return [...found.values()];
}

/** How far an update sees. */
export interface Reach {
  /** Cells along each axis. */
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** Largest |Δx| + |Δy| of any tap: the slope of a diamond torre. */
  readonly diamond: number;
}

/** How far the taps of the expression lie from the updated cell. */
export function reachOf(expression: Expression): Reach {
  const reach = { x: 0, y: 0, z: 0, diamond: 0 };
  for (const { offset: [x, y, z] } of tapsOf(expression)) {
    reach.x = Math.max(reach.x, Math.abs(x));
    reach.y = Math.max(reach.y, Math.abs(y));
    reach.z = Math.max(reach.z, Math.abs(z));
    reach.diamond = Math.max(reach.diamond, Math.abs(x) + Math.abs(y));
  }
  return reach;
}

/** Whether the update reads the level before the newest one, t − 1. */
export function readsPrevious(expression: Expression): boolean {
  return tapsOf(expression).some((tap) => tap.ago === 1);
}

/** What rounding can do to one evaluation: see `models/error_bound.ts`. */
export interface Arithmetic {
  /** Additions, subtractions and multiplications of one update: its flops. */
  readonly operations: number;
  /** Most roundings that any one tap's value passes through. */
  readonly depth: number;
  /** Σ|weight| over the taps: the largest |result| when every |tap| is at most 1. */
  readonly magnitude: number;
}

/** Counts operations, the deepest chain of roundings and the sum of absolute weights. */
export function arithmeticOf(expression: Expression): Arithmetic {
  const join = (product: boolean) => (a: Arithmetic, b: Arithmetic): Arithmetic => ({
    operations: a.operations + b.operations + 1,
    depth: Math.max(a.depth, b.depth) + 1,
    magnitude: product ? a.magnitude * b.magnitude : a.magnitude + b.magnitude,
  });
  return fold<Arithmetic>(expression, {
    tap: () => ({ operations: 0, depth: 0, magnitude: 1 }),
    constant: (value) => ({ operations: 0, depth: 1, magnitude: Math.abs(value) }),
    add: join(false),
    subtract: join(false),
    multiply: join(true),
  });
}
