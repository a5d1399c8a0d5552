/**
 * A node's diamond on the host, for `hybrid.ts`: plain loops over rows, rounded to f32 after every operation like the
 * oracle.
 *
 * @module
 */
import { fold } from "../expression.ts";
import type { Boundary } from "../stencils/stencil.ts";
import type { Update } from "../update.ts";
import { lineShape, madeBy, rowTap } from "./line.ts";

/** A diamond across the line's ends. */
export interface HostDiamond {
  readonly update: Update;
  readonly boundary: Boundary;
  /** W. */
  readonly points: number;
  /** Rows above this one are left out; row 1 is the valley's first. */
  readonly lastRow: number;
}

/** The outermost E points of each row of a triangle, as `swept_shader.ts` stores them. */
export interface DiamondEdges {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

/** What a diamond leaves. */
export interface DiamondResult extends DiamondEdges {
  /** The rows of the last step inside the diamond: where each begins in the node, and its points. */
  readonly stored: readonly {
    readonly field: number;
    readonly begin: number;
    readonly values: Float32Array;
  }[];
}

/**
 * Computes the diamond of the node whose middle lies at the line's ends.
 *
 * @param edges the left neighbour's right edge, and the right neighbour's left one
 */
export function diamondOnHost(
  { update, boundary, points, lastRow }: HostDiamond,
  edges: DiamondEdges,
): DiamondResult {
  const { substeps, reach, edge, rows: places } = lineShape(update);
  const rows = points / (2 * reach), centre = points / 2;
  const kept = Array.from({ length: places }, () => new Float32Array(points + 2 * reach));
  const rowAt = (row: number): Float32Array => kept[row % places]!;
  for (let j = 0; j < rows; j++) {
    const rightAt = centre + reach * j + reach, leftAt = centre - reach * j - edge + reach;
    for (let e = 0; e < edge; e++) {
      if (leftAt + e >= 0) rowAt(j)[leftAt + e] = edges.left[j * edge + e]!;
      if (rightAt + e < points + 2 * reach) rowAt(j)[rightAt + e] = edges.right[j * edge + e]!;
    }
  }
  let row = 0, c = 0;
  /** Insulated ends lie in the middle of the node. */
  const image = (to: number): number => {
    if (boundary !== "insulated" || (c < centre) === (to < centre)) return to;
    return c >= centre ? points - to : points - 2 - to;
  };
  const round = Math.fround;
  type Value = () => number;
  const substepAt = (row: number): number => (row - 1) % substeps;
  const evaluate = update.substeps.map((_, index) =>
    fold<Value>(madeBy(update, index).value, {
      tap: (tap) => {
        const { offset, back } = rowTap(update, index, tap);
        return () => rowAt(row - back + places)[image(c + offset) + reach]!;
      },
      constant: (value) => {
        const rounded = round(value);
        return () => rounded;
      },
      signal: () => () => 0,
      add: (left, right) => () => round(left() + right()),
      subtract: (left, right) => () => round(left() - right()),
      multiply: (left, right) => () => round(left() * right()),
      atLeast: (left, right) => () => left() >= right() ? 1 : 0,
    })
  );
  const stored: DiamondResult["stored"][number][] = [];
  for (row = 1; row < 2 * rows && row <= lastRow; row++) {
    const half = reach * Math.min(row, 2 * rows - row), begin = centre - half;
    const made = rowAt(row), value = evaluate[substepAt(row)]!;
    for (c = begin; c < centre + half; c++) made[c + reach] = value();
    if (row <= lastRow - substeps) continue;
    const { field } = madeBy(update, substepAt(row));
    stored.push({ field, begin, values: made.slice(begin + reach, begin + 2 * half + reach) });
  }
  const left = new Float32Array(rows * edge), right = new Float32Array(rows * edge);
  for (let j = 0; j < rows; j++) {
    const from = rowAt(rows + j), begin = reach * j + reach, end = points - reach * j + reach;
    left.set(from.subarray(begin, begin + edge), j * edge);
    right.set(from.subarray(end - edge, end), j * edge);
  }
  return { left, right, stored };
}
