/**
 * Stepwise: one dispatch a time step (or a sub-step, where a step has several), one thread a cell, every tap read
 * from memory through the caches. The baseline, and what every other traversal is verified against.
 *
 * @module
 */
import { AMONG_ZEROS, EVERYTHING } from "../../capability.ts";
import { profileReads } from "../../axis_profiles.ts";
import { blocksOf, blockValues, layersShare, storedUpdate } from "../../layers.ts";
import { cellsOf, isAllZero, type Problem } from "../../stencils/stencil.ts";
import { precisionOf } from "../../precision.ts";
import { operationsOf, reachOf, tapsOf, valuesMoved } from "../../update.ts";
import { passageNeeds, planPassage, stepNeeds } from "../window_passage.ts";
import type { Dispatch, ParametersOf, Traversal } from "../traversal.ts";
import { exceededLimit, rowsAcross, WORKGROUP_PARAMETERS, workgroupShapes } from "../workgroup_limits.ts";
import { stepShaders, stepwiseLayout } from "../step_shader.ts";
import { planSteps } from "../plan_steps.ts";

type StepwiseParameters = ParametersOf<keyof typeof WORKGROUP_PARAMETERS>;

/** One dispatch a sub-step; the shape of its workgroups is all there is to choose. */
export const stepwise: Traversal = {
  name: "stepwise",
  title: "one dispatch a time step, one thread a cell",
  parameters: WORKGROUP_PARAMETERS,
  capabilities: {
    ...EVERYTHING,
    where: {
      window: {
        boundaries: AMONG_ZEROS,
        cannot: {
          boundary: "only a grid among zeros passes through a window",
          "sub-steps": "only steps of one sub-step pass through a window",
        },
      },
    },
  },
  parameterLists: ({ grid }, limits) => workgroupShapes(grid, limits),
  infeasible(problem, { threadsZ, threadsY, threadsX }, limits) {
    const shape = [threadsZ, threadsY, threadsX] as const, layout = stepwiseLayout(problem);
    if (limits.windowBytes !== undefined && layout.layered) {
      return { kind: "window", message: "the grid passes through a window: its sections hold no layers" };
    }
    return exceededLimit(limits, {
      layout,
      scratch: blockValues(blocksOf(problem)),
      ...(limits.windowBytes === undefined ? stepNeeds(problem) : passageNeeds(problem, layout, limits)),
      workgroup: shape,
      workgroupBytes: 0,
      workgroups: workgroupsOf(problem, shape),
    });
  },
  demand(problem, { threadsZ, threadsY, threadsX }) {
    const update = storedUpdate(problem), { bytes } = precisionOf(update);
    const substeps = update.substeps.length, cells = cellsOf(problem.grid), [, , nz] = problem.grid;
    const shape = workgroupsOf(problem, [threadsZ, threadsY, threadsX]);
    const threads = threadsZ * threadsY * threadsX, workgroups = shape.reduce((a, b) => a * b);
    const inLayers = layersShare(problem), moved = valuesMoved(update) + 2 * inLayers;
    const taps = update.substeps.flatMap(tapsOf).length;
    const profiles = profileReads(update).length;
    const { x, y, z } = reachOf(update);
    const { pieces, part } = rowsAcross(threadsZ, Math.min(threadsZ, nz), z, update);
    const stored = update.fields.length + inLayers;
    return {
      bytesPerValue: bytes,
      bytesPerUpdate: bytes * moved,
      registers: { plain: 32 },
      threadsPerWorkgroup: threads,
      workgroupBytes: 0,
      workgroupsPerDispatch: workgroups,
      rounds: {
        instructions: (3 * (taps + profiles) + 2 * stored) / substeps,
        barriers: 0,
        operations: operationsOf(update) / substeps,
        rows: moved * pieces / substeps,
        hits: (taps + profiles + stored - moved) * pieces / substeps,
        exchanges: 0,
        // many small workgroups wait, so that others compute meanwhile
        waits: {},
        nearWaits: 1,
        nearBytes: bytes * moved * (1 + part),
        cells: cells / (workgroups * substeps),
        busyThreads: cells / workgroups,
        strays: {
          sliceBytes: x,
          rowBytes: y * y / threadsY,
          endBytes: z > 0 ? 1 / threadsZ : 0,
          thickBytes: threadsX - 1,
          threadBytes: threads,
        },
        dispatches: [
          { count: substeps, workgroups, rounds: 1 },
          ...(isAllZero(problem.boundary) ? [] : [{ count: substeps, workgroups: 0, rounds: 0 }]),
        ],
      },
    };
  },
  passageSteps: (problem, _, limits) => passageNeeds(problem, stepwiseLayout(problem), limits).steps,
  plan(problem, { threadsZ, threadsY, threadsX }, limits) {
    const shape = [threadsZ, threadsY, threadsX] as const;
    const label = `stepwise ${shape.join("x")}`, layout = stepwiseLayout(problem);
    if (limits?.windowBytes !== undefined) {
      const shaders = stepShaders(problem, layout, shape, { isInWindow: true });
      return planPassage({
        label,
        problem,
        layout,
        limits,
        shaders,
        workgroupsOf: (part) => workgroupsOf(part, shape),
      });
    }
    return planSteps({
      label,
      problem,
      layout,
      limits,
      shadersOf: (part, layout, first) => stepShaders(part, layout, shape, { whole: problem, first }),
      workgroupsOf: (part) => workgroupsOf(part, shape),
    });
  },
} satisfies Traversal<StepwiseParameters>;

/** Workgroups of a dispatch of {@linkcode stepShaders}. */
function workgroupsOf(
  { grid: [nx, ny, nz] }: Problem,
  [threadsZ, threadsY, threadsX]: Dispatch["workgroups"],
): Dispatch["workgroups"] {
  return [Math.ceil(nz / threadsZ), Math.ceil(ny / threadsY), Math.ceil(nx / threadsX)];
}
