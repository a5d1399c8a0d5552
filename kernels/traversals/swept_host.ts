/**
 * A node's diamond on the host, for the traversal that leaves the split node to it: plain loops over rows, rounded to
 * f32 after every operation like the oracle.
 *
 * @module
 */
import { fold } from "../expression.ts";
import type { Boundary } from "../stencils/stencil.ts";
import type { Update } from "../update.ts";
import { lineShape, rowTap } from "./line.ts";

/** A diamond across the line's ends. */
export interface HostDiamond {
  readonly update: Update;
  readonly boundary: Boundary;
  /** W. */
  readonly points: number;
  /** Rows above this one, counted from the one below the valley's first, are left out. */
  readonly lastRow: number;
}

/** What a diamond leaves. */
export interface DiamondResult {
  /** Edges as in `swept.ts`: E points of each row of the triangle. */
  readonly left: Float32Array;
  readonly right: Float32Array;
  /** The last step's rows as far as they lie in the diamond: where each begins in the node, and its points. */
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
  edges: { readonly left: Float32Array; readonly right: Float32Array },
): DiamondResult {
  const { substeps, reach, edge, rows: places } = lineShape(update);
  const rows = points / (2 * reach), centre = points / 2;
  const kept = Array.from({ length: places }, () => new Float32Array(points + 2 * reach));
  for (let i = 0; i < rows * edge; i++) {
    const j = Math.floor(i / edge), e = i % edge;
    const leftAt = centre - reach * j - edge + e + reach, rightAt = centre + reach * j + e + reach;
    if (leftAt >= 0) kept[j % places][leftAt] = edges.left[i];
    if (rightAt < points + 2 * reach) kept[j % places][rightAt] = edges.right[i];
  }
  let row = 0, c = 0;
  /** Insulated ends lie in the middle of the node. */
  const image = (to: number): number => {
    if (boundary !== "insulated" || (c < centre) === (to < centre)) return to;
    return c >= centre ? points - to : points - 2 - to;
  };
  const round = Math.fround;
  type Value = () => number;
  const evaluate = update.substeps.map(([{ value }], index) =>
    fold<Value>(value, {
      tap: (tap) => {
        const { offset, back } = rowTap(update, index, tap);
        return () => kept[(row - back + places) % places][image(c + offset) + reach];
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
    const substep = (row - 1) % substeps, half = reach * Math.min(row, 2 * rows - row);
    const made = kept[row % places], value = evaluate[substep];
    for (c = centre - half; c < centre + half; c++) made[c + reach] = value();
    if (row <= lastRow - substeps) continue;
    const begin = centre - half;
    const values = made.slice(begin + reach, begin + 2 * half + reach);
    stored.push({ field: update.substeps[substep][0].field, begin, values });
  }
  const left = new Float32Array(rows * edge), right = new Float32Array(rows * edge);
  for (let i = 0; i < rows * edge; i++) {
    const j = Math.floor(i / edge), e = i % edge, from = kept[(rows + j) % places];
    left[i] = from[reach * j + e + reach];
    right[i] = from[points - reach * j - edge + e + reach];
  }
  return { left, right, stored };
}
