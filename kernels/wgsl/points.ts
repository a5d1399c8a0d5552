/**
 * How shaders add to points and record them. Three scratch buffers: the **table**, which begins with a head and says where
 * points are; what is **added**, a row a step; what is **recorded**, a row a sample.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import type { Scratch } from "../traversals/storage.ts";
import { declareBuffer } from "./shader.ts";
import { wgsl } from "./template.ts";

/** The buffers; they are as long as the points ask for. */
export const POINT_BUFFERS: readonly Scratch[] = ["points", "added", "recorded"]
  .map((name) => ({ name, length: 1, lives: "points" }));

/** Those of a plan with points, or whose shaders read the signal. */
export function pointBuffers({ survey }: Pick<Problem, "survey">, hasSignal = false): readonly Scratch[] {
  return survey !== undefined || hasSignal ? POINT_BUFFERS : [];
}

/** The text of the signal in a step, counted from the list's first: what is added ends with it, where there is one. */
export function signalOf(step: string): string {
  return `added[(${step} + 1) * points[0].x - 1]`;
}

/**
 * Vectors of four numbers before the table's own: one, with the length of a row of what is added, points that are recorded,
 * `every`, and the start's t modulo it.
 */
export const HEAD_VECTORS = 1;

/**
 * The buffers, and what is done at a point in a step, counted from the list's
 * first: `atPoint(value, added, recorded, step)` returns the new value.
 */
export function declarePoints(): string {
  return wgsl`
    ${declareTable()}
    ${declareBuffer("added", "array<f32>", { space: "storage, read" })}
    ${declareBuffer("recorded")}

    fn atPoint(value: f32, addedRow: i32, recordedRow: i32, step: i32) -> f32 {
      var sum = value;
      if (addedRow >= 0) { sum += added[step * points[0].x + addedRow]; }
      let t = points[0].w + step + 1;
      if (recordedRow >= 0 && t % points[0].z == 0) {
        recorded[(t / points[0].z - 1) * points[0].y + recordedRow] = sum;
      }
      return sum;
    }
  `;
}

/** The table alone. */
export function declareTable(): string {
  return declareBuffer("points", "array<vec4i>", { space: "storage, read" });
}
