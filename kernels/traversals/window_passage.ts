/**
 * Single steps of a level of which the device holds no more than a window.
 *
 * A passage goes through the sections from the last to the first; each computes as many steps as leave no more than half of
 * its slices in common with the next. Where two sections meet lies a reach further along x with every step, as the tiers
 * of a torre do: slices that a section leaves behind are one step older in one array than in the other, which is
 * what the next section needs.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import { mostSlices, type SectionLimits, type SectionNeeds, sectionsOf } from "../sections.ts";
import { alongAxes, type Problem } from "../stencils/stencil.ts";
import { stepReach } from "../update.ts";
import { timeUniforms } from "../wgsl/declare.ts";
import { atGroup, pointPlan, pointShader } from "./point_work.ts";
import { featureBuffers } from "../wgsl/feature_buffers.ts";
import type { Shader } from "../wgsl/shader.ts";
import type { Dispatch, GpuPlan } from "./traversal.ts";

/** Slices that a dispatch touches at least: one with what its taps reach. Images along x are copied between sections. */
export function stepNeeds(
  { stencil: { update }, boundary }: Pick<Problem, "stencil" | "boundary">,
): SectionNeeds {
  return { span: 2 * stepReach(update).x + 1, apart: alongAxes(boundary)[0] !== "zero" };
}

/** Slices that a passage touches at once, and its steps. */
export function passageNeeds(
  problem: Problem,
  layout: Layout,
  limits: SectionLimits,
): SectionNeeds & { readonly wish: number; readonly steps: number } {
  const reach = Math.max(1, stepReach(problem.stencil.update).x);
  const steps = Math.max(1, Math.floor(mostSlices(layout, limits) / 2 / reach) - 2);
  return { ...stepNeeds(problem), wish: reach * (steps + 2) + 1, steps };
}

/** The plan of such passages, by the shaders of a step in a window. */
export function planPassage(
  { label, problem, layout, limits, shaders, workgroupsOf }: {
    label: string;
    problem: Problem;
    layout: Layout;
    limits: SectionLimits;
    shaders: Shader[];
    workgroupsOf(part: Problem): Dispatch["workgroups"];
  },
): GpuPlan {
  const { grid: [nx, ny, nz], stencil: { update } } = problem, reach = stepReach(update).x;
  const needs = passageNeeds(problem, layout, limits), sections = sectionsOf(layout, needs, limits);
  const atPoints = problem.survey && shaders.push(pointShader(layout)) - 1;
  // all that a section holds of the grid: in a passage it computes some slices in the first steps, others in the last
  const held = sections.map(({ layout, x }) => ({ layout, own: [x, x + layout.grid[0]] as const }));
  return {
    label,
    storage: { layout, sections, scratch: featureBuffers(problem, atPoints !== undefined) },
    passageSteps: needs.steps,
    shaders,
    ...(atPoints !== undefined && { points: pointPlan(held, atPoints, { bySlice: true }) }),
    dispatches(steps, start, table) {
      const list: Dispatch[] = [];
      for (const [section, { slices: [first] }] of [...sections.entries()].reverse()) {
        const next = sections[section + 1]?.slices[0];
        for (let step = 0; step < steps; step++) {
          const shift = reach * (step + 2);
          const from = section === 0 ? 0 : Math.min(nx, Math.max(0, first + shift));
          const to = next === undefined ? nx : Math.min(nx, Math.max(0, next + shift));
          if (from >= to) continue;
          const workgroups = workgroupsOf({ ...problem, grid: [to - from, ny, nz] });
          const flipped = (start + step) % 2 === 1;
          const uniforms = timeUniforms(update, start + step, from, to, first + layout.pad[0]);
          list.push({ shader: 0, workgroups, flipped, uniforms, section });
          for (const group of table?.groups ?? []) {
            const { section: at, slices: [x] } = group, level = flipped ? 0 : 1;
            if (at !== section || x < from || x >= to) continue;
            list.push({ ...atGroup(atPoints!, group, { step, level }), section });
          }
        }
      }
      return list;
    },
  };
}
