/**
 * Classic: stepwise on a line, each value read from and written to memory (Magee, Niemeyer, §IV.D); the swept rule is
 * measured against it. Near the ends a thread reads the points that the pads would be images of, so no second
 * dispatch renews the pads.
 *
 * @module
 */
import { profileReads } from "../../axis_profiles.ts";
import type { Problem } from "../../stencils/stencil.ts";
import { precisionOf } from "../../precision.ts";
import { expressionsOf, operationsOf, tapsOf, valuesMoved } from "../../update.ts";
import {
  declareLayout,
  declareLevels,
  declareTime,
  elementOf,
  linearWorkgroups,
  strides,
} from "../../wgsl/declare.ts";
import { wgsl } from "../../wgsl/template.ts";
import { updateWriter } from "../../wgsl/write_update.ts";
import { hasInsulatedEnds, LINE, LINE_PARAMETERS } from "../line.ts";
import { planSteps } from "../plan_steps.ts";
import { storeValues } from "../step_shader.ts";
import { profileAccess } from "../../wgsl/profiles.ts";
import { type Shader, shaderOf } from "../../wgsl/shader.ts";
import type { ParametersOf, Traversal } from "../traversal.ts";
import { exceededLimit, powersOfTwo } from "../workgroup_limits.ts";
import { lineLayout, sideOf } from "../line.ts";

type ClassicParameters = ParametersOf<keyof typeof LINE_PARAMETERS>;

/** One dispatch a sub-step on a line; its parameters are threads a workgroup and points a thread. */
export const classic: Traversal = {
  name: "classic",
  title: "a line of points, one dispatch a sub-step",
  dimensions: 1,
  parameters: LINE_PARAMETERS,
  capabilities: LINE,
  parameterLists({ grid: [, , nz] }, limits) {
    const most = Math.min(1024, limits.maxComputeWorkgroupSizeX, Math.max(32, 2 * nz - 1));
    return { threads: powersOfTwo(32, most), points: [1, 2, 4] };
  },
  infeasible(problem, { threads, points }, limits) {
    return exceededLimit(limits, {
      layout: lineLayout(problem),
      workgroup: [threads, 1, 1],
      workgroupBytes: 0,
      workgroups: linearWorkgroups(problem.grid[2], threads * points),
    });
  },
  demand(problem, { threads, points }) {
    const { update } = problem.stencil, { bytes } = precisionOf(update);
    const substeps = update.substeps.length, profiles = profileReads(update).length;
    const taps = (update.substeps.flatMap(tapsOf).length + profiles) / substeps;
    const values = valuesMoved(update), [, , nz] = problem.grid;
    const workgroups = Math.ceil(nz / (threads * points));
    return {
      bytesPerValue: bytes,
      bytesPerUpdate: bytes * values,
      registers: { plain: 24 + 2 * bytes * points },
      threadsPerWorkgroup: threads,
      workgroupBytes: 0,
      workgroupsPerDispatch: workgroups,
      rounds: {
        instructions: 3 * taps + 2,
        barriers: 0,
        operations: operationsOf(update) / substeps,
        rows: taps + 1,
        exchanges: 0,
        waits: { waitNs: 1 },
        nearWaits: 1,
        nearBytes: bytes * values,
        cells: nz / (workgroups * points * substeps),
        busyThreads: Math.min(threads, nz),
        dispatches: [{ count: substeps, workgroups, rounds: points }],
      },
    };
  },
  plan(problem, parameters) {
    const { threads, points } = parameters, nz = problem.grid[2];
    return planSteps({
      label: `classic ${threads}x${points} on ${nz}`,
      problem,
      layout: lineLayout(problem),
      shadersOf: () =>
        problem.stencil.update.substeps.map((_, index) => classicShader(problem, index, parameters)),
      workgroupsOf: () => linearWorkgroups(nz, threads * points),
      renewsPads: false,
    });
  },
} satisfies Traversal<ClassicParameters>;

function classicShader(problem: Problem, index: number, { threads, points }: ClassicParameters): Shader {
  const { stencil: { title, update } } = problem;
  const substep = update.substeps[index]!;
  const { constants, write } = updateWriter(expressionsOf(substep), update);
  const profiles = profileAccess(update, problem.grid, { of: substep });
  const offsets = new Set(tapsOf(substep).map(({ offset: [, , z] }) => z).filter((z) => z !== 0));
  const images = [...offsets].map((z) => `let ${sideOf(z)} = ORIGIN + image(z${strides(z, "1")});`);
  const { lines, values } = write({
    profile: profiles.read(["0", "0", "z"]),
    tap: (tap) => {
      const { offset: [, , z], ago, plane } = tap;
      if (z === 0) return elementOf(tap);
      return `${ago === 0 ? "now" : "before"}[${sideOf(z)}${strides(plane, "PLANE")}]`;
    },
  });
  const perGroup = threads * points;
  const code = wgsl`
    // ${title}: sub-step ${index}, ${points} points a thread.
    ${declareLayout(lineLayout(problem))}
    ${constants}
    ${declareLevels()}
    ${declareTime(substep)}
    ${profiles.declarations}

    ${imageFunction(problem)}

    @compute @workgroup_size(${threads})
    fn main(
      @builtin(local_invocation_index) thread: u32,
      @builtin(workgroup_id) w: vec3u,
      @builtin(num_workgroups) groups: vec3u,
    ) {
      let first = i32(w.x + w.y * groups.x) * ${perGroup} + i32(thread);
      for (var z = first; z < min(first + ${perGroup}, NZ); z += ${threads}) {
        let cell = ORIGIN + z;
        ${images.join("\n")}
        ${lines.join("\n")}
        ${storeValues(substep, values)}
      }
    }
  `;
  return shaderOf(`classic ${threads}x${points}`, code, update);
}

/** The point that lies where z would, for a z up to one length beyond the ends. */
function imageFunction(problem: Problem): string {
  const [right, left] = hasInsulatedEnds(problem) ? ["2 * (NZ - 1) - z", "-z"] : ["z - NZ", "z + NZ"];
  return wgsl`
    fn image(z: i32) -> i32 {
      let right = select(z, ${right}, z >= NZ);
      return select(right, ${left}, z < 0);
    }
  `;
}
