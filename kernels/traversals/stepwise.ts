/**
 * Stepwise: one dispatch a time step, one thread a cell, every tap read from memory through the caches. The
 * baseline, and what every other traversal is verified against.
 *
 * @module
 */
import { reachOf, readsPrevious, type Tap, tapsOf } from "../expression.ts";
import { type Layout, layOut } from "../layout.ts";
import { cellsOf, type Problem } from "../stencils/stencil.ts";
import { declareLayout, declareLevels } from "../wgsl/declare.ts";
import { declareWrap, wrapWorkgroups } from "../wgsl/wrap_pads.ts";
import { wgsl } from "../wgsl/template.ts";
import { updateWriter } from "../wgsl/write_update.ts";
import type { Dispatch, GpuPlan, Shader, Traversal } from "./traversal.ts";
import { exceededLimit, workgroupShapes } from "./workgroup_limits.ts";

/** One dispatch a step; the shape of its workgroups is all there is to choose. */
export const stepwise: Traversal = {
  name: "stepwise",
  title: "one dispatch a time step, one thread a cell",
  refuse: () => undefined,
  parameterLists: ({ grid }, limits) => workgroupShapes(grid, limits),
  infeasible(problem, { threadsZ, threadsY, threadsX }, limits) {
    const [nx, ny, nz] = problem.grid;
    return exceededLimit(limits, {
      layout: stepwiseLayout(problem),
      workgroup: [threadsZ, threadsY, threadsX],
      workgroupBytes: 0,
      workgroups: [Math.ceil(nz / threadsZ), Math.ceil(ny / threadsY), Math.ceil(nx / threadsX)],
    });
  },
  demand(problem, { threadsZ, threadsY, threadsX }) {
    const levels = readsPrevious(problem.stencil.update) ? 2 : 1;
    return {
      bytesPerUpdate: 4 * (levels + 1),
      redundancy: 1,
      registersPerThread: 32,
      threadsPerWorkgroup: threadsZ * threadsY * threadsX,
      workgroupBytes: 0,
      workgroupsPerDispatch: Math.ceil(cellsOf(problem.grid) / (threadsZ * threadsY * threadsX)),
      dispatchesPerStep: problem.boundary === "zero" ? 1 : 2,
      // Lines of memory are shared by threads side by side along z, and slices best by workgroups one after
      // another; the powers fit an H100 (orders 2 and 4, 256x1x1 … 256x2x2, 2026-11-21).
      cachedReadsPerUpdate: (tapsOf(problem.stencil.update).length - levels + 1) *
        Math.max(1, 256 / threadsZ) ** 0.15 * threadsX ** 0.33 *
        Math.max(1, threadsZ * threadsY * threadsX / 256) ** 0.2,
    };
  },
  plan(problem, { threadsZ, threadsY, threadsX }) {
    const shape = [threadsZ, threadsY, threadsX] as const;
    const label = `stepwise ${shape.join("x")}`;
    const layout = stepwiseLayout(problem);
    return planSteps({ label, problem, layout, shader: stepShader(problem, layout, shape), shape });
  },
};

/** Pads as wide as the taps reach. */
export function stepwiseLayout({ grid, boundary, stencil }: Problem): Layout {
  const { x, y, z } = reachOf(stencil.update);
  return layOut(grid, { pad: [x, y, z], sharedPads: boundary === "zero" });
}

/** The shader of one step on any layout whose pads hold what the taps reach. */
export function stepShader(
  { stencil }: Problem,
  layout: Layout,
  [threadsZ, threadsY, threadsX]: readonly [number, number, number],
): Shader {
  const { constants, write } = updateWriter(stencil.update);
  const read = ({ offset: [x, y, z], ago }: Tap): string =>
    `${ago === 0 ? "now" : "before"}[cell${plus(x, "SLICE")}${plus(y, "PITCH")}${plus(z, "1")}]`;
  const code = wgsl`
    // ${stencil.title}: one step, one thread a cell; the pads around the grid make branches unnecessary.
    ${declareLayout(layout)}
    ${constants}
    ${declareLevels()}

    @compute @workgroup_size(${threadsZ}, ${threadsY}, ${threadsX})
    fn main(@builtin(global_invocation_id) id: vec3u) {
      let z = i32(id.x); let y = i32(id.y); let x = i32(id.z);
      if (z >= NZ || y >= NY || x >= NX) { return; }
      let cell = ORIGIN + x * SLICE + y * PITCH + z;
      before[cell] = ${write(read)};
    }
  `;
  return { label: `step ${threadsZ}x${threadsY}x${threadsX}`, code };
}

/** " + 3 * SLICE", " - SLICE", or nothing. */
function plus(count: number, stride: string): string {
  if (count === 0) return "";
  const size = Math.abs(count);
  const term = stride === "1" ? `${size}` : size === 1 ? stride : `${size} * ${stride}`;
  return `${count < 0 ? " - " : " + "}${term}`;
}

/** A plan of one dispatch a step, followed on a periodic boundary by one that renews the pads. */
export function planSteps(
  { label, problem, layout, shader, shape, workgroups }: {
    label: string;
    problem: Problem;
    layout: Layout;
    shader: Shader;
    /** Cells per workgroup along z, y, x. */
    shape: readonly [number, number, number];
    /** @default {as many as cover the grid with `shape`} */
    workgroups?: readonly [number, number, number];
  },
): GpuPlan {
  const [nx, ny, nz] = problem.grid;
  const cover = workgroups ??
    [Math.ceil(nz / shape[0]), Math.ceil(ny / shape[1]), Math.ceil(nx / shape[2])] as const;
  const wrap = problem.boundary === "zero" ? undefined : declareWrap(problem, layout);
  return {
    label,
    layout,
    shaders: wrap === undefined ? [shader] : [shader, wrap],
    dispatches(steps, start) {
      const list: Dispatch[] = [];
      for (let step = start; step < start + steps; step++) {
        const flipped = step % 2 === 1;
        list.push({ shader: 0, workgroups: cover, flipped, uniforms: [] });
        if (wrap !== undefined) {
          list.push({ shader: 1, workgroups: wrapWorkgroups(problem), flipped: !flipped, uniforms: [] });
        }
      }
      return list;
    },
  };
}
