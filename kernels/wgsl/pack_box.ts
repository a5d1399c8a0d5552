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

/** Text of a cell's place among canonical cells, by its `plane`, `y`, `z` and this text of x. */
function canonicalCell({ planes }: Layout, x: string): string {
  return `ORIGIN + ${x} * SLICE${planes === 1 ? "" : " + plane * PLANE"} + y * PITCH + z`;
}

/** Lines that find the value of a cell in a part of a level, which has those from `begin` to before `end`. */
function ownValue({ place }: OwnValues, begin: string | number, end: string | number): string {
  return wgsl`
    let value = ${place} - ${begin};
    if (value < 0 || value >= ${end} - ${begin}) { return; }
  `;
}

/** Copies between a level at binding 0 and an array at binding 1: these lines treat what has the number `i`. */
function copyShader(
  name: "pack" | "unpack" | "enter" | "leave",
  layout: Layout,
  [array, declarations, lines]: readonly [array: "piece" | "canonical", declarations: string, lines: string],
): Shader {
  const code = wgsl`
    ${declareLayout(layout)}
    @group(0) @binding(0) var<storage, read_write> level: array<f32>;
    @group(0) @binding(1) var<storage, read_write> ${array}: array<f32>;
    ${declarations}

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let i = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      ${lines}
    }
  `;
  return shaderOf(name, code, layout);
}

/**
 * Copies a run of a box's cells, one a thread, counted plane by plane, then x, y, z. Binding 0: the level; binding 1: the piece;
 * binding 2: the box (its first cell, its cells along the axes, its first plane), the run (its first cell in the box, its
 * cells, where they lie in the piece), and the slices of this level that count, from the first to before the last; of a
 * level in an order of the plan's own the values that this part of it has, and whether it is F(t − 1).
 */
export function packShader(layout: Layout, direction: "pack" | "unpack", own?: OwnValues): Shader {
  const declarations = wgsl`
    struct Run {
      x: i32, y: i32, z: i32, nx: i32, ny: i32, nz: i32, plane: i32,
      first: i32, count: i32, at: i32, begin: i32, end: i32, ago: i32,
    }
    @group(0) @binding(2) var<uniform> run: Run;
    ${own?.declarations ?? ""}
  `;
  const find = own
    ? `let ago = run.ago; ${ownValue(own, "run.begin", "run.end")}`
    : `if (x < run.begin || x >= run.end) { return; } let value = ${canonicalCell(layout, "x")};`;
  const lines = wgsl`
    if (i >= run.count) { return; }
    let row = (run.first + i) / run.nz;
    let z = run.z + (run.first + i) % run.nz;
    let y = run.y + row % run.ny;
    let x = run.x + row / run.ny % run.nx;
    let plane = run.plane + row / run.ny / run.nx;
    ${find}
    ${direction === "pack" ? "piece[run.at + i] = level[value];" : "level[value] = piece[run.at + i];"}
  `;
  return copyShader(direction, layout, ["piece", declarations, lines]);
}

/**
 * Copies a level's fields to or from an order of the plan's own, a cell a thread. Binding 0: that part of the level; binding 1:
 * canonical cells, from slice x of the grid on; `range`: the part's values.
 */
export function crossShader(
  layout: Layout,
  { x, values, ago = 0, range, direction }: {
    readonly x: number;
    readonly values: OwnValues;
    readonly ago?: 0 | 1 | undefined;
    readonly range: readonly [begin: number, end: number];
    readonly direction: "enter" | "leave";
  },
): Shader {
  const lines = wgsl`
    if (u32(i) >= ${fieldsIn(layout) * cellsOf(layout.grid)}u) { return; }
    let plane = i / (NX * NY * NZ);
    let z = i % NZ; let y = i / NZ % NY; let own = i / (NY * NZ) % NX;
    let x = own${strides(x, "1")};
    let ago = ${ago};
    ${ownValue(values, ...range)}
    let cell = ${canonicalCell(layout, "own")};
    ${direction === "enter" ? "level[value] = canonical[cell];" : "canonical[cell] = level[value];"}
  `;
  return copyShader(direction, layout, ["canonical", values.declarations, lines]);
}
