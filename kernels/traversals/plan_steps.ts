/**
 * Plans of one dispatch a shader, section and step: of stepwise, of marches, of lines, and of steps that other plans leave over.
 *
 * @module
 */
import { storedUpdate } from "../layers.ts";
import type { Layout } from "../layout.ts";
import { atGroup, groupsOf, overGroup, pointPlan, pointShader } from "./point_work.ts";
import {
  layoutWithin,
  type Section,
  type SectionLimits,
  sectionsOf,
  type Twin,
  twinsOf,
} from "../sections.ts";
import { alongAxes, type AxisBoundaries, imageOf, isAllZero, type Problem } from "../stencils/stencil.ts";
import { stepReach, type Update } from "../update.ts";
import { timeUniforms } from "../wgsl/declare.ts";
import { declareWrap, wrapWorkgroups } from "../wgsl/wrap_pads.ts";
import { stepNeeds } from "./window_passage.ts";
import { copyShaders, type Level, SectionWork } from "./section_work.ts";
import { featureBuffers } from "../wgsl/feature_buffers.ts";
import type { Shader } from "../wgsl/shader.ts";
import type { Dispatch, GpuPlan } from "./traversal.ts";
import { againShader } from "./step_shader.ts";
/** What {@linkcode planSteps} makes a plan of. */
export interface StepPlan {
  readonly label: string;
  readonly problem: Problem;
  /** What a single step is, where the problem's update has several, as far as pads are renewed. @default {the problem's} */
  readonly update?: Update;
  readonly layout: Layout;
  readonly limits?: SectionLimits | undefined;
  /** @default {as few as the limits allow} */
  readonly sections?: readonly Section[];
  /** The shaders of a step on some slices of the grid as a problem of its own, whose first slice is the grid's `first`. */
  shadersOf(part: Problem, layout: Layout, first: number, twins: readonly Twin[]): Shader[];
  /** Whether such a shader, the only one of a step, also stores what its section's twins hold. @default {false} */
  readonly fillsTwins?: boolean;
  workgroupsOf(part: Problem): Dispatch["workgroups"];
  /** Slices that a dispatch reads before and after those that it writes. @default {as far as a step reaches} */
  readonly reach?: number;
  /** @default {where they are not zeros} */
  readonly renewsPads?: boolean;
  /** What a section's shaders are given at a step, counted from the list's first. @default {the signal} */
  uniformsOf?(section: number, step: number): readonly number[];
}

/** A plan of one dispatch a shader, section and step, each followed by what renews the pads where they hold images. */
export function planSteps(
  {
    label,
    problem,
    update = problem.stencil.update,
    layout,
    limits,
    sections = sectionsOf(layout, stepNeeds(problem), limits),
    shadersOf,
    workgroupsOf,
    fillsTwins = false,
    reach = stepReach(problem.stencil.update).x,
    renewsPads = !isAllZero(problem.boundary),
    uniformsOf,
  }: StepPlan,
): GpuPlan {
  const { grid: [nx, ny, nz], boundary } = problem, isCut = sections.length > 1;
  const shaders: Shader[] = [];
  /** The place of a shader, which sections may share. */
  const place = (shader: Shader): number => {
    const known = shaders.findIndex(({ code }) => code === shader.code);
    return known >= 0 ? known : shaders.push(shader) - 1;
  };
  const parts = sections.map((section, i) => {
    const { own: [first, end] } = section, twins = fillsTwins ? twinsOf(sections, i) : [];
    const part: Problem = { ...problem, grid: [end - first, ny, nz] };
    const sectionLayout = isCut ? layoutWithin(layout, section, section.own) : layout;
    const made = shadersOf(part, sectionLayout, first, twins), isFused = made.length < update.substeps.length;
    const again = problem.survey === undefined || !isFused
      ? []
      : storedUpdate(problem).substeps.map((substep, i) =>
        i === 0 ? 0 : place(againShader(problem, sectionLayout, substep, first))
      );
    const steps = made.map(place);
    return { section, part, sectionLayout, steps, again, twins: twins.map(({ section }) => section) };
  });
  // along x the pads' images may lie in another section
  const [alongX, alongY, alongZ] = alongAxes(boundary);
  const inSection: AxisBoundaries = [isCut ? "zero" : alongX, alongY, alongZ];
  const wraps = parts.map(({ part, sectionLayout }) =>
    renewsPads && !isAllZero(inSection)
      ? place(declareWrap({ ...part, boundary: inSection }, sectionLayout))
      : undefined
  );
  const copies = shaders.push(...copyShaders(sections)) - copyShaders(sections).length;
  const atPoints = problem.survey === undefined ? undefined : place(pointShader(layout));
  const [padX] = layout.pad;
  const renewPads = (work: SectionWork, level: Level): void => {
    parts.forEach(({ section: { own }, part }, section) => {
      const shader = wraps[section];
      if (shader === undefined) return;
      const workgroups = wrapWorkgroups({ ...part, boundary: inSection });
      const wrap: Dispatch = { shader, workgroups, flipped: level === 1, uniforms: [] };
      work.add(wrap, { section, ranges: [own], levels: [level] });
    });
    if (!isCut || alongX === "zero") return;
    for (let x = -padX; x < nx + padX; x = x === -1 ? nx : x + 1) {
      work.copy(level, imageOf(x, nx, alongX)!, x);
    }
  };
  const work = (): SectionWork => new SectionWork(sections, layout, copies);
  const bothPads = work();
  if (renewsPads) { for (const level of [0, 1] as const) renewPads(bothPads, level); }
  const owned = parts.map(({ section: { own }, sectionLayout }) => ({ own, layout: sectionLayout }));
  const passes = parts[0]!.steps.length, isFused = passes < update.substeps.length;
  return {
    label,
    storage: {
      layout,
      ...(isCut && { sections }),
      scratch: featureBuffers(problem, atPoints !== undefined, layout.layered ? problem : undefined),
    },
    shaders,
    pads: bothPads.finish(),
    ...(atPoints !== undefined && { points: pointPlan(owned, atPoints, isFused ? { again: problem } : {}) }),
    dispatches(steps, start, table) {
      const list = work();
      for (let step = start; step < start + steps; step++) {
        const flipped = step % 2 === 1, level: Level = flipped ? 0 : 1;
        const uniforms = timeUniforms(update, step);
        for (let substep = 0; substep < passes; substep++) {
          parts.forEach(({ section: { own }, part, steps, twins }, section) => {
            const shader = steps[substep]!, workgroups = workgroupsOf(part);
            const numbers = uniformsOf?.(section, step - start) ?? uniforms;
            const dispatch = {
              shader,
              workgroups,
              flipped,
              uniforms: numbers,
              ...(twins.length > 0 && { twins }),
            };
            list.add(dispatch, { section, ranges: [own], levels: [level], reach });
          });
          const passed = isFused
            ? [...update.substeps.entries()]
            : [[substep, update.substeps[substep]!] as const];
          for (const [i, made] of passed) {
            const again = table?.groups.filter((group) => group.again === i) ?? [];
            if (again.length > 0 && renewsPads) renewPads(list, level);
            for (const group of again) {
              const { section, slices } = group, shader = parts[section]!.again[i]!;
              const dispatch = { ...overGroup(shader, group, uniforms), flipped };
              list.add(dispatch, { section, ranges: [slices], levels: [level], reach });
            }
            for (const group of groupsOf(table, made)) {
              const dispatch = atGroup(atPoints!, group, { step: (table!.steps ?? 0) + step - start, level });
              list.add(dispatch, { section: group.section, ranges: [group.slices], levels: [level] });
            }
          }
          if (renewsPads) renewPads(list, level);
        }
      }
      return list.finish();
    },
  };
}
