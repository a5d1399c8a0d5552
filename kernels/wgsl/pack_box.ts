/**
 * Shaders that move boxes of cells between a level and a dense piece of memory, which another device receives or has
 * sent.
 *
 * @module
 */
import { fieldsIn, type Layout } from "../layout.ts";
import { cellsOf } from "../stencils/stencil.ts";
import { declareLayout, LINEAR_THREADS, strides } from "./declare.ts";
import { type Shader, shaderOf } from "./shader.ts";
import { wgsl } from "./template.ts";

/** Texts of a shader that finds values of fields in an order of the plan's own. */
export interface OwnValues {
  readonly declarations: string;
  /** The place in a level, all parts counted, of what its `plane`, `x`, `y` and `z` say; `ago` is 1 of F(t − 1), else 0. */
  readonly place: string;
}

/**
 * Copies a run of a box's cells, one a thread, counted plane by plane, then x, y, z. Binding 0: the level; binding 1: the piece;
 * binding 2: the box (its first cell, its cells along the axes, its first plane), the run (its first cell in the box, its
 * cells, where they lie in the piece), and the slices of this level that count, from the first to before the last; of a
 * level in an order of the plan's own the values that this part of it has, and whether it is F(t − 1).
 */
export function packShader(layout: Layout, direction: "pack" | "unpack", own?: OwnValues): Shader {
  const plane = layout.planes === 1 ? "" : " + plane * PLANE";
  const copy = direction === "pack" ? "piece[at] = level[cell];" : "level[cell] = piece[at];";
  const find = own === undefined
    ? wgsl`
      if (x < run.begin || x >= run.end) { return; }
      let cell = ORIGIN + x * SLICE${plane} + y * PITCH + z;
    `
    : wgsl`
      let ago = run.ago;
      let cell = ${own.place} - run.begin;
      if (cell < 0 || cell >= run.end - run.begin) { return; }
    `;
  const code = wgsl`
    // Copies cells of a box ${direction === "pack" ? "into" : "out of"} a dense piece.
    ${declareLayout(layout)}
    struct Run {
      x: i32, y: i32, z: i32, nx: i32, ny: i32, nz: i32, plane: i32,
      first: i32, count: i32, at: i32, begin: i32, end: i32${own === undefined ? "" : ", ago: i32"},
    }
    @group(0) @binding(0) var<storage, read_write> level: array<f32>;
    @group(0) @binding(1) var<storage, read_write> piece: array<f32>;
    @group(0) @binding(2) var<uniform> run: Run;
    ${own?.declarations ?? ""}

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let i = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (i >= run.count) { return; }
      let row = (run.first + i) / run.nz;
      let z = run.z + (run.first + i) % run.nz;
      let y = run.y + row % run.ny;
      let x = run.x + row / run.ny % run.nx;
      let plane = run.plane + row / run.ny / run.nx;
      ${find}
      let at = run.at + i;
      ${copy}
    }
  `;
  return shaderOf(direction, code, layout);
}

/**
 * Copies a level's fields to or from an order of the plan's own, a cell a thread. Binding 0: that part of the level; binding 1:
 * canonical cells, from slice x of the grid on; `range`: the part's values.
 */
export function crossShader(
  layout: Layout,
  { x, values: { declarations, place }, ago = 0, range: [begin, end], direction }: {
    readonly x: number;
    readonly values: OwnValues;
    readonly ago?: 0 | 1 | undefined;
    readonly range: readonly [begin: number, end: number];
    readonly direction: "enter" | "leave";
  },
): Shader {
  const plane = layout.planes === 1 ? "" : " + plane * PLANE";
  const copy = direction === "enter" ? "level[value] = canonical[cell];" : "canonical[cell] = level[value];";
  const code = wgsl`
    // Cells ${direction} an order of the plan's own.
    ${declareLayout(layout)}
    @group(0) @binding(0) var<storage, read_write> level: array<f32>;
    @group(0) @binding(1) var<storage, read_write> canonical: array<f32>;
    ${declarations}
    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let i = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (u32(i) >= ${fieldsIn(layout) * cellsOf(layout.grid)}u) { return; }
      let plane = i / (NX * NY * NZ);
      let z = i % NZ; let y = i / NZ % NY; let own = i / (NY * NZ) % NX;
      let x = own${strides(x, "1")};
      let ago = ${ago};
      let value = ${place} - ${begin};
      if (value < 0 || value >= ${end - begin}) { return; }
      let cell = ORIGIN + own * SLICE${plane} + y * PITCH + z;
      ${copy}
    }
  `;
  return shaderOf(direction, code, layout);
}
