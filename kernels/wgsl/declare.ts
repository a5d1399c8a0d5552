/**
 * Declarations that shaders have in common: the grid's numbers and the two arrays of time levels.
 *
 * @module
 */
import type { Tap } from "../expression.ts";
import type { Layout } from "../layout.ts";
import { readsSignal, type Substep, type Update } from "../update.ts";
import { wgsl } from "./template.ts";

/** Workgroups of a linear dispatch over `items`, in two dimensions since one holds at most 65,535. */
export function linearWorkgroups(items: number, threads: number): [number, number, number] {
  const groups = Math.max(1, Math.ceil(items / threads));
  const rows = Math.ceil(groups / 65_535);
  return [Math.ceil(groups / rows), rows, 1];
}

/** The grid and its place in memory as `const` lines. */
export function declareLayout({ grid: [nx, ny, nz], pitch, planes, plane, slice, origin }: Layout): string {
  return wgsl`
    const NX = ${nx}; const NY = ${ny}; const NZ = ${nz};
    const ORIGIN = ${origin}; const SLICE = ${slice}; const PITCH = ${pitch};
    ${planes === 1 ? "" : `const PLANES = ${planes}; const PLANE = ${plane};`}
  `;
}

/** The two arrays: `now` holds F(t), `before` holds F(t−1) and receives F(t+1). */
export function declareLevels(): string {
  return wgsl`
    @group(0) @binding(0) var<storage, read_write> now: array<f32>;
    @group(0) @binding(1) var<storage, read_write> before: array<f32>;
  `;
}

/** The uniform that holds the update's signal; nothing for an update without one. */
export function declareTime(update: Update | Substep): string {
  return !readsSignal(update) ? "" : wgsl`
    struct Time { signal: f32 }
    @group(0) @binding(2) var<uniform> time: Time;
  `;
}

/** The uniforms of {@linkcode declareTime} for a step. */
export function timeUniforms(update: Update, step: number): number[] {
  if (update.signal === undefined) return [];
  return [...new Int32Array(Float32Array.of(update.signal(step)).buffer)];
}

/** The array element that a tap reads, relative to `cell`, the index of the updated cell in plane 0. */
export function elementOf({ offset: [x, y, z], ago, plane }: Tap): string {
  const place = `${strides(plane, "PLANE")}${strides(x, "SLICE")}${strides(y, "PITCH")}${strides(z, "1")}`;
  return `${ago === 0 ? "now" : "before"}[cell${place}]`;
}

/** " + 3 * SLICE", " - SLICE", or nothing. */
export function strides(count: number, stride: string): string {
  if (count === 0) return "";
  const size = Math.abs(count);
  const term = stride === "1" ? `${size}` : size === 1 ? stride : `${size} * ${stride}`;
  return `${count < 0 ? " - " : " + "}${term}`;
}
