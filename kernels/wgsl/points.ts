/**
 * How shaders add to points and record them. Three scratch buffers: the **table**, which begins with a head and says where
 * points are; what is **added**, a row a step; what is **recorded**, a row a sample.
 *
 * @module
 */
import type { Problem } from "../stencils/stencil.ts";
import { readsSignal } from "../update.ts";
import type { Scratch } from "../traversals/storage.ts";
import { declareBuffer } from "./shader.ts";
import { wgsl } from "./template.ts";

/** The buffers; they are as long as the points ask for. */
export const POINT_BUFFERS: readonly Scratch[] = ["points", "added", "recorded"]
  .map((name) => ({ name, length: 1, lives: "points" }));

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

/**
 * The hooks of shaders that compute several steps in a dispatch: they read the signal where points find what is added, whose
 * rows end with it, and so have the buffers for it alone.
 */
export function seriesAccess({ survey, stencil: { update } }: Pick<Problem, "survey" | "stencil">) {
  const hasPoints = survey !== undefined, hasSignal = readsSignal(update), hasSeries = hasPoints || hasSignal;
  return {
    hasPoints,
    hasSignal,
    hasSeries,
    declarations: hasSeries ? declarePoints() : "",
    /** Lines that read the signal by a name; `step`: counted from the list's first. */
    start: (name: string, step: string): string[] =>
      hasSignal ? [`let ${name} = added[(${step} + 1) * points[0].x - 1];`] : [],
  };
}
