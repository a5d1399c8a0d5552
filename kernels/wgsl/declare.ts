/**
 * Declarations that shaders have in common: the grid's numbers and the two arrays of time levels.
 *
 * @module
 */
import type { Tap } from "../expression.ts";
import type { Layout } from "../layout.ts";
import { precisionOf } from "../precision.ts";
import { readsSignal, signalAt, type Substep, type Update } from "../update.ts";
import { wgsl } from "./template.ts";

/** Threads a workgroup of shaders that treat one item a thread. */
export const LINEAR_THREADS = 256;

/** Workgroups of a linear dispatch over `items`, in two dimensions since one holds at most 65,535. */
export function linearWorkgroups(items: number, threads = LINEAR_THREADS): [number, number, number] {
  const groups = Math.max(1, Math.ceil(items / threads));
  const rows = Math.ceil(groups / 65_535);
  return [Math.ceil(groups / rows), rows, 1];
}

/** The type of `width` cells along z. */
export function cellType(width: number): string {
  return width === 1 ? "f32" : `vec${width}f`;
}

/** The grid and its place in memory as `const` lines; the latter in elements of `width` cells along z. */
export function declareLayout(layout: Layout, width = 1): string {
  const { grid: [nx, ny, nz], planes } = layout;
  const origin = layout.origin / width, slice = layout.slice / width;
  const pitch = layout.pitch / width, plane = layout.plane / width;
  const unit = width === 1 ? "" : ` // in elements of ${width} cells`;
  return wgsl`
    const NX = ${nx}; const NY = ${ny}; const NZ = ${nz};
    const ORIGIN = ${origin}; const SLICE = ${slice}; const PITCH = ${pitch};${unit}
    ${planes === 1 ? "" : `const PLANES = ${planes}; const PLANE = ${plane};`}
  `;
}

/** The two arrays: `now` holds F(t), `before` holds F(t−1) and receives F(t+1). */
export function declareLevels(width = 1): string {
  return wgsl`
    @group(0) @binding(0) var<storage, read_write> now: array<${cellType(width)}>;
    @group(0) @binding(1) var<storage, read_write> before: array<${cellType(width)}>;
  `;
}

/** A cell of a thread: the element `by` further along z, and which of its cells. */
export interface Lane {
  readonly by: number;
  readonly lane: number;
}

/** The cells `distance` further along z than those of a thread with `width` of them. */
export function lanesAt(distance: number, width: number): Lane[] {
  return Array.from({ length: width }, (_, own) => {
    const by = Math.floor((own + distance) / width);
    return { by, lane: own + distance - by * width };
  });
}

/** The values of a thread's cells `distance` further along z; `element` is the text of the one `by` elements further. */
export function alongZ(distance: number, width: number, element: (by: number) => string): string {
  if (distance % width === 0) return element(distance / width);
  const lanes = lanesAt(distance, width).map(({ by, lane }) => `${element(by)}.${"xyzw"[lane]}`);
  return `${cellType(width)}(${lanes.join(", ")})`;
}

/** The uniform that holds the update's signal; nothing for an update without one. */
export function declareTime(update: Update | Substep): string {
  return !readsSignal(update) ? "" : wgsl`
    struct Time { signal: f32 }
    @group(0) @binding(2) var<uniform> time: Time;
  `;
}

/** The uniforms of {@linkcode declareTime} for a step, behind others. */
export function timeUniforms(update: Update, step: number, ...others: readonly number[]): number[] {
  if (update.signal === undefined) return [...others];
  const { Values, bytes } = precisionOf(update);
  const own = new Int32Array(new Values([signalAt(update, step)]).buffer);
  return [...others, ...others.length % (bytes / 4) === 0 ? [] : [0], ...own];
}

/** The array element that a tap reads, relative to `cell`, the index of the updated cell in plane 0. */
export function elementOf(
  { offset: [x, y, z], ago, plane }: Tap,
  arrays: readonly [now: string, before: string] = LEVELS,
): string {
  const place = `${strides(plane, "PLANE")}${strides(x, "SLICE")}${strides(y, "PITCH")}${strides(z, "1")}`;
  return `${arrays[ago === 0 ? 0 : 1]}cell${place}]`;
}

/** Where F(t) and F(t−1) begin. */
const LEVELS = ["now[", "before["] as const;

/** `cell + 3 * SLICE`, `column - 1`, or where it starts from. */
export function plus(from: string, count: number, stride = "1"): string {
  return `${from}${strides(count, stride)}`;
}

/** `4 * element`, or the factor alone. */
export function times(count: number, factor: string): string {
  return count === 1 ? factor : `${count} * ${factor}`;
}

/** A value for each of a thread's cells along z, as `vec2<bool>(a, b)`; the value itself where there is one cell. */
export function lanesOf(type: string, width: number, value: (lane: number) => string): string {
  if (width === 1) return value(0);
  return `vec${width}<${type}>(${Array.from({ length: width }, (_, lane) => value(lane)).join(", ")})`;
}

/** " + 3 * SLICE", " - SLICE", or nothing. */
export function strides(count: number, stride: string): string {
  if (count === 0) return "";
  const size = Math.abs(count);
  const term = stride === "1" ? `${size}` : times(size, stride);
  return `${count < 0 ? " - " : " + "}${term}`;
}
