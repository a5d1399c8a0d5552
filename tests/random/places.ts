/**
 * Places between cells, as docs/reference.md has them: the cells that stand for a place, with their weights.
 *
 * @module
 */

/** A cell of a definition's grid, and what it counts. */
export interface Weighted {
  readonly cell: readonly [number, number, number];
  readonly weight: number;
}

/** How places lie. */
export interface Place {
  readonly grid: readonly [number, number, number];
  readonly boundary: readonly string[];
  readonly interpolation: "linear" | "sinc";
  /** How far from the cells a field lies. */
  readonly stagger: readonly number[];
  /** What lies above z = −½: images of reversed sign, of the same sign, or what the boundary says. */
  readonly surface: "odd" | "even" | "none";
}

/** The cell that cell `i` of an axis has the value of; undefined where zeros lie. */
export function imageOf(i: number, n: number, boundary: string): number | undefined {
  if (i >= 0 && i < n) return i;
  if (boundary === "zero") return undefined;
  if (boundary === "periodic") return (i % n + n) % n;
  // mirrored about the outermost cells until it is inside
  if (n === 1) return 0;
  let at = i;
  while (at < 0 || at >= n) at = at < 0 ? -at : 2 * (n - 1) - at;
  return at;
}

/** The modified Bessel function of the first kind, I₀. */
function besselI0(x: number): number {
  let sum = 0;
  for (let k = 60, factor = 0; k >= 0; k--) {
    factor = 1;
    for (let i = 1; i <= k; i++) factor *= (x / 2) ** 2 / (i * i);
    sum += factor;
  }
  return sum;
}

/** Cells along an axis that stand for a place there. */
function weightsOf(at: number, interpolation: "linear" | "sinc"): [cell: number, weight: number][] {
  const below = Math.floor(at);
  if (below === at) return [[at, 1]];
  if (interpolation === "linear") return [[below, 1 - (at - below)], [below + 1, at - below]];
  const b = 6.31, radius = 4;
  return Array.from({ length: 2 * radius }, (_, i) => {
    const cell = below - radius + 1 + i, far = at - cell;
    const window = besselI0(b * Math.sqrt(1 - (far / radius) ** 2)) / besselI0(b);
    return [cell, window * Math.sin(Math.PI * far) / (Math.PI * far)];
  });
}

/** The cells that stand for a position, in cells along x, y, z. */
export function cellsOfPlace(
  position: readonly number[],
  { grid, boundary, interpolation, stagger, surface }: Place,
): Weighted[] {
  const [xs, ys, zs] = position.map((at, axis) => {
    const kept = new Map<number, number>();
    for (const [cell, weight] of weightsOf(at - stagger[axis]!, interpolation)) {
      const isAbove = axis === 2 && cell < 0 && surface !== "none";
      // the surface is z = −½: a field that lies there has cell −k as the image of k, others −k − 1
      const mirrored = isAbove ? (stagger[2] === 0 ? -1 - cell : -cell) : cell;
      const image = imageOf(mirrored, grid[axis]!, boundary[axis]!);
      const sign = isAbove && surface === "odd" ? -1 : 1;
      if (image !== undefined) kept.set(image, (kept.get(image) ?? 0) + sign * weight);
    }
    return [...kept];
  }) as [[number, number][], [number, number][], [number, number][]];
  return xs.flatMap(([x, atX]) =>
    ys.flatMap(([y, atY]) => zs.map(([z, atZ]): Weighted => ({ cell: [x, y, z], weight: atX * atY * atZ })))
  );
}
