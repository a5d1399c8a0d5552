/**
 * A traversal for tests alone, whose plan keeps cells in an order of its own: x fastest, planes slowest, no pads, and
 * materials apart. A step computes into a scratch buffer; a second dispatch moves the values to the level.
 *
 * @module
 */
import { type Layout, layOut } from "../../../kernels/layout.ts";
import { alongAxes, cellsOf, type Problem } from "../../../kernels/stencils/stencil.ts";
import { stepwise } from "../../../kernels/traversals/stepwise/stepwise.ts";
import { declareBuffer, type Shader, shaderOf } from "../../../kernels/wgsl/shader.ts";
import type { GpuPlan, Traversal } from "../../../kernels/traversals/traversal.ts";
import { expressionsOf, planesOf } from "../../../kernels/update.ts";
import {
  declareLayout,
  declareLevels,
  declareTime,
  LINEAR_THREADS,
  linearWorkgroups,
  timeUniforms,
} from "../../../kernels/wgsl/declare.ts";
import { updateWriter } from "../../../kernels/wgsl/write_update.ts";

export const transposed: Traversal = { ...stepwise, name: "transposed", plan: (problem) => planOf(problem) };

/** What a mutant changes: where values lie, and what it is replaced with. */
type Change = readonly [from: string, to: string];

export function planOf(problem: Problem, change: Change = ["", ""]): GpuPlan {
  const { grid: [nx, ny, nz], stencil: { update } } = problem, { fields, materials, substeps } = update;
  const cells = nx * ny * nz, planes = planesOf(update);
  const layout = layOut(problem.grid, { pad: [1, 0, 0], planes, fields: fields.length });
  const [from, to] = change, place = "plane * CELLS + (z * NY + y) * NX + x".replace(from, to);
  return {
    label: `transposed ${nx}x${ny}x${nz}`,
    storage: {
      layout,
      scratch: [
        { name: "made", length: fields.length * cells, lives: "list" },
        { name: "materials", length: Math.max(1, materials.length) * cells, lives: "field" },
      ],
      order: {
        length: fields.length * cells,
        values: { declarations: "const CELLS = NX * NY * NZ;", place },
        materials: materials.length === 0 ? [] : [materialsOf(problem, layout)],
      },
    },
    shaders: substeps.flatMap((_, index) => stepShaders(problem, index)),
    dispatches: (steps, start) =>
      Array.from(
        { length: steps },
        (_, i) =>
          substeps.flatMap((_, index) =>
            [2 * index, 2 * index + 1].map((shader) => ({
              shader,
              workgroups: linearWorkgroups(cells),
              flipped: (start + i) % 2 === 1,
              uniforms: timeUniforms(update, start + i),
            }))
          ),
      ).flat(),
  };
}

const MAIN = `@compute @workgroup_size(${LINEAR_THREADS})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let at = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
  let x = at % NX; let y = at / NX % NY; let z = at / (NX * NY) % NZ;`;

/** Carries the materials of every cell from the canonical order to this one. */
function materialsOf({ stencil: { update }, grid }: Problem, layout: Layout) {
  const { fields, materials } = update, values = cellsOf(grid) * materials.length;
  const shader = shaderOf(
    "materials",
    `
${declareLayout(layout)}
const CELLS = NX * NY * NZ;
@group(0) @binding(1) var<storage, read_write> canonical: array<f32>;
${declareBuffer("materials")}
${MAIN}
  let plane = ${fields.length} + at / CELLS;
  if (at >= ${values}) { return; }
  materials[at] = canonical[ORIGIN + x * SLICE + plane * PLANE + y * PITCH + z];
}`,
    update,
  );
  return { shader, workgroups: linearWorkgroups(values) };
}

/** A sub-step into the scratch buffer, and from there to the level. */
function stepShaders(
  { stencil: { update }, grid: [nx, ny, nz], boundary }: Problem,
  index: number,
): Shader[] {
  const substep = update.substeps[index]!, { fields } = update;
  const { constants, write } = updateWriter(expressionsOf(substep), update);
  const { lines, values } = write({
    tap: ({ plane, ago, offset: [x, y, z] }) => {
      const place = `vec3i(x, y, z) + vec3i(${x}, ${y}, ${z})`;
      if (plane >= fields.length) return `material(${plane - fields.length}, ${place})`;
      return `${ago === 0 ? "now" : "before"}At(${plane}, ${place})`;
    },
  });
  const along = alongAxes(boundary), counts = ["NX", "NY", "NZ"];
  const isPeriodic = `vec3<bool>(${along.map((one) => one === "periodic").join(", ")})`;
  const reader = (name: string, array: string): string => `
fn ${name}(plane: i32, beyond: vec3i) -> f32 {
  let sizes = vec3i(${counts.join(", ")});
  let cell = select(beyond, (beyond + 8 * sizes) % sizes, ${isPeriodic});
  if (any(cell < vec3i(0)) || any(cell >= sizes)) { return 0.0f; }
  return ${array}[plane * CELLS + (cell.z * NY + cell.y) * NX + cell.x];
}`;
  const head = `
const NX = ${nx}; const NY = ${ny}; const NZ = ${nz}; const CELLS = NX * NY * NZ;
${declareLevels()}
${declareBuffer("made")}`;
  const each = (line: (field: number, i: number) => string): string =>
    substep.map(({ field }, i) => line(field, i)).join("\n");
  return [
    shaderOf(
      `sub-step ${index}`,
      `${head}
${declareBuffer("materials")}
${constants}
${declareTime(substep)}
${reader("nowAt", "now")}${reader("beforeAt", "before")}${reader("material", "materials")}
${MAIN}
  if (at >= CELLS) { return; }
  ${lines.join("\n")}
  ${each((field, i) => `made[${field} * CELLS + at] = ${values[i]};`)}
}`,
      update,
    ),
    shaderOf(
      `store ${index}`,
      `${head}
${MAIN}
  if (at >= CELLS) { return; }
  ${each((field) => `before[${field} * CELLS + at] = made[${field} * CELLS + at];`)}
}`,
      update,
    ),
  ];
}
