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
import type { Problem } from "../stencils/stencil.ts";
import { stepReach } from "../update.ts";
import { profileScratch } from "./profile_storage.ts";
import type { Shader } from "./storage.ts";
import type { Dispatch, GpuPlan } from "./traversal.ts";

/** Slices that a dispatch touches at least: one with what its taps reach. */
export function stepNeeds({ stencil: { update } }: Pick<Problem, "stencil">): SectionNeeds {
  return { span: 2 * stepReach(update).x + 1 };
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
    shaders: readonly Shader[];
    workgroupsOf(part: Problem): Dispatch["workgroups"];
  },
): GpuPlan {
  const { grid: [nx, ny, nz], stencil: { update } } = problem, reach = stepReach(update).x;
  const scratch = profileScratch(problem);
  const needs = passageNeeds(problem, layout, limits), sections = sectionsOf(layout, needs, limits);
  return {
    label,
    storage: { layout, sections, ...(scratch.length > 0 && { scratch }) },
    passageSteps: needs.steps,
    shaders,
    dispatches(steps, start) {
      const list: Dispatch[] = [];
      for (const [section, { slices: [first] }] of [...sections.entries()].reverse()) {
        const next = sections[section + 1]?.slices[0];
        for (let step = 0; step < steps; step++) {
          const shift = reach * (step + 2);
          const from = section === 0 ? 0 : Math.min(nx, Math.max(0, first + shift));
          const to = next === undefined ? nx : Math.min(nx, Math.max(0, next + shift));
          if (from >= to) continue;
          const workgroups = workgroupsOf({ ...problem, grid: [to - from, ny, nz] });
          const uniforms = [from, to, first + layout.pad[0]];
          list.push({ shader: 0, workgroups, flipped: (start + step) % 2 === 1, uniforms, section });
        }
      }
      return list;
    },
  };
}
