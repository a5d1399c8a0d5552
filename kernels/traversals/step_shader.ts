/**
 * A step on any layout whose pads hold what its taps reach: one thread a cell, a shader a sub-step.
 *
 * @module
 */
import type { Tap } from "../expression.ts";
import { layered, storedUpdate } from "../layers.ts";
import { type Layout, layOut } from "../layout.ts";
import { remembered } from "../remembered.ts";
import { alongAxes, type Problem } from "../stencils/stencil.ts";
import { expressionsOf, planesOf, stepReach, type Substep } from "../update.ts";
import {
  declareLayout,
  declareLevels,
  declareTime,
  elementOf,
  LINEAR_THREADS,
  plus,
} from "../wgsl/declare.ts";
import { declareTable, HEAD_VECTORS } from "../wgsl/points.ts";
import { wgsl } from "../wgsl/template.ts";
import { updateWriter } from "../wgsl/write_update.ts";
import { type LayerAccess, layerAccess } from "../wgsl/layers.ts";
import { profileAccess } from "../wgsl/profiles.ts";
import { type Shader, shaderOf } from "../wgsl/shader.ts";
/** Pads as wide as a whole step reaches: enough for sub-steps one by one, and for all in one pass. */
export const stepwiseLayout = remembered((problem: Problem): Layout => {
  const { grid, boundary } = problem, update = storedUpdate(problem), { x, y, z } = stepReach(update);
  return layOut(grid, {
    precision: update.precision,
    pad: [x, y, z],
    sharedPads: alongAxes(boundary)[2] === "zero",
    planes: planesOf(update),
    fields: update.fields.length,
    layered: layered(problem),
  });
});

/** The slices that a dispatch of a passage computes, how many lie before its section's, and the signal. */
const WINDOW_SLICES = wgsl`
  struct Slices { first: i32, end: i32, before: i32, signal: f32 }
  @group(0) @binding(2) var<uniform> slices: Slices;
`;

/**
 * The shaders of a step, one a sub-step, on any layout whose pads hold what the taps reach.
 *
 * @param whole the grid of which it computes slices from the `first` on
 */
export function stepShaders(
  problem: Problem,
  layout: Layout,
  [threadsZ, threadsY, threadsX]: readonly [number, number, number],
  { isInWindow = false, whole = problem, first = 0 }: {
    readonly isInWindow?: boolean;
    readonly whole?: Problem;
    readonly first?: number;
  } = {},
): Shader[] {
  const { stencil: { title, update: given } } = problem,
    layers = layout.layered ? layerAccess(whole) : undefined;
  const update = layers ? storedUpdate(whole) : given, cell = [plus("x", first), "y", "z"] as const;
  return update.substeps.map((substep, index) => {
    const { constants, write } = updateWriter(expressionsOf(substep), given);
    const signal = isInWindow ? "slices.signal" : "time.signal";
    const profiles = profileAccess(given, whole.grid, { of: substep });
    const tap = (one: Tap) => layers?.read(one.plane) ?? elementOf(one);
    const { lines, values } = write({ tap, profile: profiles.read(cell), signal });
    const part = update.substeps.length === 1 ? "one step" : `sub-step ${index}`;
    const code = wgsl`
      // ${title}: ${part}, one thread a cell; the pads around the grid make branches unnecessary.
      ${declareLayout(layout)}
      ${constants}
      ${declareLevels()}
      ${isInWindow ? WINDOW_SLICES : declareTime(substep)}
      ${profiles.declarations}
      ${layers?.declarations ?? ""}

      @compute @workgroup_size(${threadsZ}, ${threadsY}, ${threadsX})
      fn main(@builtin(global_invocation_id) id: vec3u) {
        let z = i32(id.x); let y = i32(id.y); let x = i32(id.z)${isInWindow ? " + slices.first" : ""};
        if (z >= NZ || y >= NY || x >= ${isInWindow ? "slices.end" : "NX"}) { return; }
        let cell = ORIGIN + ${isInWindow ? "(x - slices.before)" : "x"} * SLICE + y * PITCH + z;
        ${layers?.start(substep, cell).join("\n") ?? ""}
        ${lines.join("\n")}
        ${storeValues(substep, values, layers)}
      }
    `;
    return shaderOf(`step ${threadsZ}x${threadsY}x${threadsX}`, code, given);
  });
}

/** The shader that computes a sub-step again in listed cells: where a pass of all sub-steps did not know a source. */
export function againShader(problem: Problem, layout: Layout, substep: Substep, first: number): Shader {
  const { constants, write } = updateWriter(expressionsOf(substep), layout);
  const profiles = profileAccess(problem.stencil.update, problem.grid, { of: substep });
  const layers = layout.layered ? layerAccess(problem) : undefined,
    place = [plus("x", first), "y", "z"] as const;
  const tap = (one: Tap) => layers?.read(one.plane) ?? elementOf(one);
  const { lines, values } = write({ tap, profile: profiles.read(place), signal: "group.signal" });
  const code = wgsl`
    // ${problem.stencil.title}: a sub-step again, one thread a cell of a list.
    struct Group { first: i32, end: i32, signal: f32 }
    ${declareLayout(layout)}
    ${constants}
    ${declareLevels()}
    @group(0) @binding(2) var<uniform> group: Group;
    ${profiles.declarations}
    ${layers?.declarations ?? ""}
    ${declareTable()}

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let i = group.first + i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (i >= group.end) { return; }
      let its = points[${HEAD_VECTORS} + i];
      let x = its.x; let y = its.y; let z = its.z;
      let cell = ORIGIN + x * SLICE + y * PITCH + z;
      ${layers?.start(substep, place).join("\n") ?? ""}
      ${lines.join("\n")}
      ${storeValues(substep, values, layers)}
    }
  `;
  return shaderOf("a sub-step again", code, layout);
}

/** Lines that store a sub-step's values; all are computed before the first is stored. */
export function storeValues(
  substep: Substep,
  values: readonly string[],
  layers?: Pick<LayerAccess, "made">,
): string {
  const target = (field: number): string => `before[${plus("cell", field, "PLANE")}]`;
  const [only, ...others] = substep;
  if (only !== undefined && others.length === 0) return `${target(only.field)} = ${values[0]};`;
  return [
    ...values.map((value, i) => `let new${i} = ${value};`),
    ...substep.flatMap(({ field }, i) => layers?.made(field, `new${i}`) ?? `${target(field)} = new${i};`),
  ].join("\n");
}
