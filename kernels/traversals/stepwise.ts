/**
 * Stepwise: one dispatch a time step (or a sub-step, where a step has several), one thread a cell, every tap read
 * from memory through the caches. The baseline, and what every other traversal is verified against.
 *
 * @module
 */
import { type Layout, layOut } from "../layout.ts";
import { alongAxes, cellsOf, isAllZero, type Problem } from "../stencils/stencil.ts";
import {
  expressionsOf,
  planesOf,
  stepReach,
  type Substep,
  tapsOf,
  type Update,
  valuesMoved,
} from "../update.ts";
import { declareLayout, declareLevels, declareTime, elementOf, plus, timeUniforms } from "../wgsl/declare.ts";
import { declareWrap, wrapWorkgroups } from "../wgsl/wrap_pads.ts";
import { wgsl } from "../wgsl/template.ts";
import { updateWriter } from "../wgsl/write_update.ts";
import type { Dispatch, GpuPlan, ParametersOf, Shader, Traversal } from "./traversal.ts";
import { exceededLimit, workgroupShapes } from "./workgroup_limits.ts";

type StepwiseParameters = ParametersOf<"threadsZ" | "threadsY" | "threadsX">;

/** One dispatch a sub-step; the shape of its workgroups is all there is to choose. */
export const stepwise: Traversal = {
  name: "stepwise",
  title: "one dispatch a time step, one thread a cell",
  refuse: () => undefined,
  parameterLists: ({ grid }, limits) => workgroupShapes(grid, limits),
  infeasible(problem, { threadsZ, threadsY, threadsX }, limits) {
    const shape = [threadsZ, threadsY, threadsX] as const;
    return exceededLimit(limits, {
      layout: stepwiseLayout(problem),
      workgroup: shape,
      workgroupBytes: 0,
      workgroups: workgroupsOf(problem, shape),
    });
  },
  demand(problem, { threadsZ, threadsY, threadsX }) {
    const { update } = problem.stencil;
    const values = valuesMoved(update);
    return {
      bytesPerUpdate: 4 * values,
      registersPerThread: 32,
      threadsPerWorkgroup: threadsZ * threadsY * threadsX,
      workgroupBytes: 0,
      workgroupsPerDispatch: Math.ceil(cellsOf(problem.grid) / (threadsZ * threadsY * threadsX)),
      dispatchesPerStep: update.substeps.length * (isAllZero(problem.boundary) ? 1 : 2),
      // Lines of memory are shared by threads side by side along z, and slices best by workgroups one after
      // another; the powers fit an H100 (orders 2 and 4, 256x1x1 … 256x2x2, 2026-11-21).
      cachedReadsPerUpdate: cachedReads(update) *
        Math.max(1, 256 / threadsZ) ** 0.15 * threadsX ** 0.33 *
        Math.max(1, threadsZ * threadsY * threadsX / 256) ** 0.2,
    };
  },
  plan(problem, { threadsZ, threadsY, threadsX }) {
    const shape = [threadsZ, threadsY, threadsX] as const;
    const label = `stepwise ${shape.join("x")}`, layout = stepwiseLayout(problem);
    const shaders = stepShaders(problem, layout, shape);
    return planSteps({ label, problem, layout, shaders, workgroups: workgroupsOf(problem, shape) });
  },
} satisfies Traversal<StepwiseParameters>;

/** Pads as wide as a whole step reaches: enough for sub-steps one by one, and for all in one pass. */
export function stepwiseLayout({ grid, boundary, stencil: { update } }: Problem): Layout {
  const { x, y, z } = stepReach(update);
  return layOut(grid, {
    pad: [x, y, z],
    sharedPads: alongAxes(boundary)[2] === "zero",
    planes: planesOf(update),
  });
}

function workgroupsOf(
  { grid: [nx, ny, nz] }: Problem,
  [threadsZ, threadsY, threadsX]: Dispatch["workgroups"],
): Dispatch["workgroups"] {
  return [Math.ceil(nz / threadsZ), Math.ceil(ny / threadsY), Math.ceil(nx / threadsX)];
}

/** The shaders of a step, one a sub-step, on any layout whose pads hold what the taps reach. */
export function stepShaders(
  { stencil: { title, update } }: Problem,
  layout: Layout,
  [threadsZ, threadsY, threadsX]: readonly [number, number, number],
): Shader[] {
  return update.substeps.map((substep, index) => {
    const { constants, write } = updateWriter(expressionsOf(substep));
    const { lines, values } = write({ tap: elementOf });
    const part = update.substeps.length === 1 ? "one step" : `sub-step ${index}`;
    const code = wgsl`
      // ${title}: ${part}, one thread a cell; the pads around the grid make branches unnecessary.
      ${declareLayout(layout)}
      ${constants}
      ${declareLevels()}
      ${declareTime(substep)}

      @compute @workgroup_size(${threadsZ}, ${threadsY}, ${threadsX})
      fn main(@builtin(global_invocation_id) id: vec3u) {
        let z = i32(id.x); let y = i32(id.y); let x = i32(id.z);
        if (z >= NZ || y >= NY || x >= NX) { return; }
        let cell = ORIGIN + x * SLICE + y * PITCH + z;
        ${lines.join("\n")}
        ${storeValues(substep, values)}
      }
    `;
    return { label: `step ${threadsZ}x${threadsY}x${threadsX}`, code };
  });
}

/**
 * Reads per update that the caches should serve. The time they take grows with the square of the reads of one array,
 * and adds up over arrays: the root of the sum of squares stands for all.
 */
function cachedReads(update: Update): number {
  const reads = new Map<string, number>();
  update.substeps.forEach((substep, i) => {
    for (const { plane, ago } of tapsOf(substep)) {
      const array = `${i} ${plane} ${ago}`;
      reads.set(array, (reads.get(array) ?? 0) + 1);
    }
  });
  return Math.hypot(...[...reads.values()].filter((count) => count > 1));
}

/** Lines that store a sub-step's values; all are computed before the first is stored. */
export function storeValues(substep: Substep, values: readonly string[]): string {
  const target = (field: number): string => `before[${plus("cell", field, "PLANE")}]`;
  const [only, ...others] = substep;
  if (only !== undefined && others.length === 0) return `${target(only.field)} = ${values[0]};`;
  return [
    ...values.map((value, i) => `let new${i} = ${value};`),
    ...substep.map(({ field }, i) => `${target(field)} = new${i};`),
  ].join("\n");
}

/** A plan of one dispatch a shader and step, each followed by one that renews the pads where they hold images. */
export function planSteps(
  { label, problem, layout, shaders, workgroups, renewsPads = !isAllZero(problem.boundary) }:
    & Pick<GpuPlan, "label" | "layout" | "shaders">
    & { problem: Problem; workgroups: Dispatch["workgroups"]; renewsPads?: boolean },
): GpuPlan {
  const { update } = problem.stencil;
  const wrap = renewsPads ? declareWrap(problem, layout) : undefined;
  return {
    label,
    layout,
    shaders: wrap === undefined ? shaders : [...shaders, wrap],
    dispatches(steps, start) {
      const list: Dispatch[] = [];
      for (let step = start; step < start + steps; step++) {
        const flipped = step % 2 === 1;
        const uniforms = timeUniforms(update, step);
        for (let shader = 0; shader < shaders.length; shader++) {
          list.push({ shader, workgroups, flipped, uniforms });
          if (wrap === undefined) continue;
          const whole = wrapWorkgroups(problem);
          list.push({ shader: shaders.length, workgroups: whole, flipped: !flipped, uniforms: [] });
        }
      }
      return list;
    },
  };
}
