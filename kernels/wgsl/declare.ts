/**
 * Declarations that shaders have in common: the grid's numbers and the two arrays of time levels.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import { wgsl } from "./template.ts";

/** Workgroups of a linear dispatch over `items`, in two dimensions since one holds at most 65,535. */
export function linearWorkgroups(items: number, threads: number): [number, number, number] {
  const groups = Math.max(1, Math.ceil(items / threads));
  const rows = Math.ceil(groups / 65_535);
  return [Math.ceil(groups / rows), rows, 1];
}

/** The grid and its place in memory as `const` lines. */
export function declareLayout({ grid: [nx, ny, nz], pitch, slice, origin }: Layout): string {
  return wgsl`
    const NX = ${nx}; const NY = ${ny}; const NZ = ${nz};
    const ORIGIN = ${origin}; const SLICE = ${slice}; const PITCH = ${pitch};
  `;
}

/** The two arrays: `now` holds F(t), `before` holds F(t−1) and receives F(t+1). */
export function declareLevels(): string {
  return wgsl`
    @group(0) @binding(0) var<storage, read_write> now: array<f32>;
    @group(0) @binding(1) var<storage, read_write> before: array<f32>;
  `;
}
