/**
 * Classic: one dispatch a sub-step, every value read from and written to memory (Magee, Niemeyer, §IV.D). What the
 * swept rule is measured against. Where stepwise renews the pads with a dispatch of its own, a thread near the ends
 * here reads the points that the pads would be images of.
 *
 * @module
 */
import { type Layout, layOut } from "../layout.ts";
import type { Problem } from "../stencils/stencil.ts";
import { expressionsOf, planesOf, reachOf, type Substep, tapsOf, valuesMoved } from "../update.ts";
import { declareLayout, declareLevels, declareTime, strides, timeUniforms } from "../wgsl/declare.ts";
import { wgsl } from "../wgsl/template.ts";
import { updateWriter } from "../wgsl/write_update.ts";
import { asLine, refuseLine } from "./line.ts";
import type { Dispatch, GpuPlan, Parameters, Shader, Traversal } from "./traversal.ts";
import { exceededLimit, powersOfTwo } from "./workgroup_limits.ts";

/** One dispatch a sub-step on a line; threads a workgroup and points a thread are to choose. */
export const classic: Traversal = {
  name: "classic",
  title: "a line of points, one dispatch a sub-step",
  dimensions: 1,
  refuse: (problem) => refuseLine(asLine(problem)),
  parameterLists({ grid: [, , nz] }, limits) {
    return {
      threads: powersOfTwo(32, Math.min(1024, limits.maxComputeWorkgroupSizeX)).filter((threads) =>
        threads === 32 || threads < 2 * nz
      ),
      points: [1, 2, 4],
    };
  },
  infeasible(problem, parameters, limits) {
    return exceededLimit(limits, {
      layout: lineLayout(problem),
      workgroup: [parameters.threads, 1, 1],
      workgroupBytes: 0,
      workgroups: workgroupsOf(problem, parameters),
    });
  },
  demand(problem, { threads, points }) {
    const { update } = problem.stencil;
    const taps = update.substeps.reduce((sum, substep) => sum + tapsOf(substep).length, 0);
    const values = update.substeps.reduce((sum, substep) => sum + valuesMoved(substep), 0);
    return {
      bytesPerUpdate: 4 * values,
      redundancy: 1,
      registersPerThread: 24 + 8 * points,
      threadsPerWorkgroup: threads,
      workgroupBytes: 0,
      workgroupsPerDispatch: Math.ceil(problem.grid[2] / (threads * points)),
      dispatchesPerStep: update.substeps.length,
      cachedReadsPerUpdate: taps - values + update.fields.length + 1,
    };
  },
  plan(problem, parameters) {
    const { grid: [, , nz], stencil: { update } } = problem;
    const layout = lineLayout(problem);
    const shaders = update.substeps.map((_, index) => classicShader(problem, index, parameters));
    const workgroups = workgroupsOf(problem, parameters);
    return {
      label: `classic ${parameters.threads}x${parameters.points} on ${nz}`,
      layout,
      shaders,
      dispatches(steps, start) {
        const list: Dispatch[] = [];
        for (let step = start; step < start + steps; step++) {
          const uniforms = timeUniforms(update, step);
          for (let shader = 0; shader < shaders.length; shader++) {
            list.push({ shader, workgroups, flipped: step % 2 === 1, uniforms });
          }
        }
        return list;
      },
    } satisfies GpuPlan;
  },
};

/** A line; its pads are not read, but whoever fills a field renews them. */
export function lineLayout({ grid, stencil: { update } }: Pick<Problem, "grid" | "stencil">): Layout {
  return layOut(grid, { pad: [0, 0, reachOf(update).z], planes: planesOf(update) });
}

/** In two dimensions, since one holds at most 65,535. */
function workgroupsOf(
  { grid: [, , nz] }: Problem,
  { threads, points }: Parameters,
): [number, number, number] {
  const groups = Math.ceil(nz / (threads * points));
  const rows = Math.ceil(groups / 65_535);
  return [Math.ceil(groups / rows), rows, 1];
}

function classicShader(problem: Problem, index: number, { threads, points }: Parameters): Shader {
  const { stencil: { title, update }, boundary } = problem;
  const substep: Substep = update.substeps[index];
  const { constants, write } = updateWriter(expressionsOf(substep));
  const offsets = [...new Set(tapsOf(substep).map(({ offset: [, , z] }) => z))];
  const nameOf = (offset: number): string =>
    offset < 0 ? `left${-offset}` : offset > 0 ? `right${offset}` : "z";
  const { lines, values } = write({
    tap: ({ offset: [, , z], ago, plane }) =>
      `${ago === 0 ? "now" : "before"}[ORIGIN${strides(plane, "PLANE")} + ${nameOf(z)}]`,
  });
  const code = wgsl`
    // ${title}: sub-step ${index}, ${points} points a thread.
    ${declareLayout(lineLayout(problem))}
    ${constants}
    ${declareLevels()}
    ${declareTime(substep)}

    ${imageFunction(boundary)}

    @compute @workgroup_size(${threads})
    fn main(
      @builtin(local_invocation_index) thread: u32,
      @builtin(workgroup_id) w: vec3u,
      @builtin(num_workgroups) groups: vec3u,
    ) {
      let first = i32(w.x + w.y * groups.x) * ${threads * points} + i32(thread);
      for (var z = first; z < min(first + ${threads * points}, NZ); z += ${threads}) {
        ${
    offsets.filter((offset) => offset !== 0).map((o) => `let ${nameOf(o)} = image(z + ${o});`).join("\n")
  }
        ${lines.join("\n")}
        ${values.map((value, i) => `let new${i} = ${value};`).join("\n")}
        ${substep.map(({ field }, i) => `before[ORIGIN${strides(field, "PLANE")} + z] = new${i};`).join("\n")}
      }
    }
  `;
  return { label: `classic ${threads}x${points}`, code };
}

/** The point of the line that a point within one length beyond its ends is an image of. */
function imageFunction(boundary: Problem["boundary"]): string {
  if (boundary === "insulated") {
    return wgsl`
      fn image(z: i32) -> i32 {
        let right = select(z, 2 * (NZ - 1) - z, z >= NZ);
        return select(right, -z, z < 0);
      }
    `;
  }
  return wgsl`
    fn image(z: i32) -> i32 {
      let right = select(z, z - NZ, z >= NZ);
      return select(right, z + NZ, z < 0);
    }
  `;
}
