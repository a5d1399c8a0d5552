/**
 * Ends that are periodic or insulated, in torres of tiles in three dimensions: the tiles cover more than the grid, as much
 * `beyond` either end as the steps of a **round** reach, in which each band runs once. Images are copied there before each
 * round; what the zeros around all that spoil does not reach the grid before the round ends.
 *
 * @module
 */
import { alongAxes, type Grid, type Problem } from "../../stencils/stencil.ts";
import { LINEAR_THREADS, linearWorkgroups } from "../../wgsl/declare.ts";
import { declareTwin, shaderOf } from "../../wgsl/shader.ts";
import { wgsl } from "../../wgsl/template.ts";
import { imageText } from "../../wgsl/wrap_pads.ts";
import { upTo, type VolumeExtent, type VolumePiece } from "./lattice.ts";
import { declareCells, declareTable } from "./order.ts";

/** Cells beyond either end of each axis, and the problem on all of that, among zeros. */
export function widened(problem: Problem, reach: number): { readonly beyond: Grid; readonly wide: Problem } {
  const beyond = alongAxes(problem.boundary).map((one) => one === "zero" ? 0 : reach) as unknown as Grid;
  const grid = problem.grid.map((n, axis) => n + 2 * beyond[axis]!) as unknown as Grid;
  return { beyond, wide: { ...problem, grid, boundary: "zero" } };
}

/** The shader that sets the cells beyond the grid in both levels, two a thread, once the steps of its uniform are done. */
export function imagesShader(
  { boundary, grid, stencil: { update } }: Problem,
  { piece, extent, parts, beyond }: {
    readonly piece: VolumePiece;
    readonly extent: VolumeExtent;
    readonly parts: readonly number[];
    readonly beyond: Grid;
  },
) {
  const along = alongAxes(boundary), pairs = extent.length / 2, all = upTo(parts.length);
  const image = ["x", "y", "z"].map((name, axis) =>
    imageText(`cell.${name}`, grid[axis]!, beyond[axis]!, along[axis]!)
  ).join(", ");
  const others = all.slice(1).flatMap((
    i,
  ) => [declareTwin(`now${i}`, "f32"), declareTwin(`before${i}`, "f32")]);
  const inPart = (index: string, line: (part: number) => string): string =>
    `switch ${index} / ${parts[0]!} { ${
      all.map((i) => `${i === 0 ? "default" : `case ${i}`}: { ${line(i)} }`).join(" ")
    } }`;
  const copy = (level: string, shift: number): string =>
    wgsl`
      {
        let cell = first + vec3i(i + ${shift}, 0, 0);
        if (isOutside(cell)) {
          let image = valueOf(vec3i(${image}), moved + ${shift});
          var value = 0.0f;
          ${inPart("image", (part) => `value = ${level}${part}[image % ${parts[0]!}];`)}
          let own = 2 * at + i;
          ${inPart("own", (part) => `${level}${part}[own % ${parts[0]!}] = value;`)}
        }
      }
    `;
  const low = `vec3i(${beyond.join(", ")})`, size = `vec3i(${grid.join(", ")})`;
  const code = wgsl`
    // Fills what lies beyond the grid with images of it: ${along.join(", ")}.
    struct Steps { done: i32 }
    @group(0) @binding(0) var<storage, read_write> now0: array<f32>;
    @group(0) @binding(1) var<storage, read_write> before0: array<f32>;
    @group(0) @binding(2) var<uniform> steps: Steps;
    ${declareTable(piece)}
    ${others.join("\n")}
    ${declareCells(piece, extent)}
    // Beyond the grid, and no further than images lie.
    fn isOutside(cell: vec3i) -> bool {
      let isAround = all(cell >= vec3i(0)) && all(cell < ${size} + 2 * ${low});
      return isAround && (any(cell < ${low}) || any(cell >= ${low} + ${size}));
    }

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let at = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (at >= ${pairs}) { return; }
      let moved = (wordAt(0) + S * steps.done) % W;
      let first = cellOf(at) + vec3i(moved, 0, 0);
      for (var i = 0; i < 2; i++) {
        ${copy("now", 0)}
        ${piece.hasPrevious ? copy("before", piece.slope) : ""}
      }
    }
  `;
  return { shader: shaderOf("images", code, update), workgroups: linearWorkgroups(pairs) };
}
