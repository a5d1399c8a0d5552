/**
 * What a GPU runs of torres: a dispatch for each wave, by sections, and steps that are too few for the loop's body.
 *
 * @module
 */
import { holdsAll, layoutWithin, type Section, type SectionLimits, sectionsOf } from "../../sections.ts";
import type { Problem } from "../../stencils/stencil.ts";
import { appendTable, pointPlan, pointShader } from "../point_work.ts";
import { seriesAccess } from "../../wgsl/points.ts";
import { featureBuffers } from "../../wgsl/feature_buffers.ts";
import { copyShaders, SectionWork } from "../section_work.ts";
import { planSteps } from "../plan_steps.ts";
import { stepShaders } from "../step_shader.ts";
import { tiled } from "./layers.ts";
import { packMaterials } from "./packed.ts";
import { scheduleTorres, slicesOfRow, torreNeeds, type TorreRow } from "../waves.ts";
import { tabulateTorres } from "./points.ts";
import { torreShader } from "./shader.ts";
import { shapeOf, type TorreParameters, type TorreShape } from "./shape.ts";
import type { Dispatch, GpuPlan } from "../traversal.ts";

/** The plan of torres; without limits a level lies in one array however large it is. */
export function planTorres(given: Problem, parameters: TorreParameters, limits?: SectionLimits): GpuPlan {
  const { problem, layers } = tiled(given, limits);
  const { threads, nt, bands = 1, unroll } = parameters;
  const shape = shapeOf(problem, parameters, layers), { layout } = shape;
  const sections = sectionsOf(layout, torreNeeds(parameters, shape), limits), isCut = sections.length > 1;
  const isWindow = limits?.windowBytes !== undefined;
  const values = Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" ");
  const label = `diamond-torre ${values}`;
  const packing = packMaterials(problem, parameters, shape); // of whole levels alone
  const { hasSignal, hasPoints, hasSeries } = seriesAccess(problem);
  const torre = torreShader(problem, parameters, shape, {
    isCut,
    ...(layers && { layers: { ...layers, given } }),
  });
  const shaders = [torre, ...packing ? [packing.shader] : copyShaders(sections)];
  const inSections = sections.map((section) => {
    return { own: section.own, layout: isCut ? layoutWithin(layout, section, section.own) : layout };
  });
  if (hasPoints) shaders.push(pointShader(layout));
  const singly = pointPlan(hasPoints ? inSections : [], shaders.length - 1);
  const remainder = unroll === 1 ? undefined : planSteps({
    label,
    problem,
    layout,
    sections,
    shadersOf(part, layout, first) {
      return stepShaders(part, layout, [remainderThreads(threads), 1, 1], { whole: problem, first });
    },
    workgroupsOf: (part) => remainderWorkgroups(part, threads),
  });
  return {
    label,
    storage: {
      layout,
      ...((isCut || isWindow) && { sections }),
      scratch: [...featureBuffers(problem, hasSeries, layers && given), ...packing ? [packing.scratch] : []],
    },
    shaders: [...shaders, ...remainder?.shaders ?? []],
    ...(hasSeries && {
      points: {
        ...singly,
        hasSignal,
        ...(hasPoints && {
          tabulate: (points) => appendTable(tabulateTorres(problem, shape, points), singly.tabulate(points)),
        }),
      },
    }),
    ...(isWindow && { passageSteps: nt * bands }),
    dispatches(count, start, table, order) {
      const schedule = scheduleTorres(problem, { ...parameters, ...order }, count);
      const work = new SectionWork(isWindow ? [] : sections, layout, 1);
      const touches = { section: 0, ranges: [], levels: [] };
      if (packing && schedule.waves.length > 0) work.add(packing.dispatch, touches);
      let last = sections.length - 1;
      for (const wave of schedule.waves) {
        for (const { section, rows } of bySection(wave, sections, shape, isWindow ? last : undefined)) {
          last = section;
          const before = sections[section]!.slices[0] + layout.pad[0];
          const torres = Math.max(...rows.map(({ torres }) => torres));
          const dispatch: Dispatch = {
            shader: 0,
            workgroups: layers ? [rows.length, torres, 1] : [torres, rows.length, 1],
            flipped: start % 2 === 1,
            uniforms: rows.flatMap(({ x, y, tiers, step }) => [
              x,
              hasSeries ? y + step * shape.width : y,
              tiers,
              before,
            ]),
          };
          work.add(dispatch, { section, levels: [0, 1], ranges: rows.map((row) => slicesOfRow(row, shape)) });
        }
      }
      const { steps } = schedule, left = table && { ...table, steps };
      const rest = remainder?.dispatches(count - steps, start + steps, left) ?? [];
      return [
        ...work.finish(),
        ...rest.map((dispatch) => ({ ...dispatch, shader: shaders.length + dispatch.shader })),
      ];
    },
  };
}

/**
 * The rows of a wave by the sections that hold what they touch, as few as possible; in a window, where one holds all: the
 * `last` one or an earlier one.
 */
function bySection(
  wave: readonly TorreRow[],
  sections: readonly Section[],
  shape: TorreShape,
  last: number | undefined,
): { section: number; rows: readonly TorreRow[] }[] {
  if (sections.length === 1) return [{ section: 0, rows: wave }];
  if (last !== undefined) {
    const isIn = (section: Section) => wave.every((row) => holdsAll(section, slicesOfRow(row, shape)));
    return [{ section: sections.findLastIndex((section, i) => i <= last && isIn(section)), rows: wave }];
  }
  const groups: { section: number; rows: TorreRow[] }[] = [];
  for (const row of wave.toSorted((a, b) => a.x - b.x)) {
    const range = slicesOfRow(row, shape);
    const isIn = (section: number): boolean => holdsAll(sections[section]!, range);
    const last = groups.at(-1);
    if (last !== undefined && isIn(last.section)) last.rows.push(row);
    else groups.push({ section: sections.findLastIndex((_, section) => isIn(section)), rows: [row] });
  }
  return groups;
}

/** Threads along z of the steps that are too few for the loop's body. */
function remainderThreads(threads: number): number {
  return Math.min(64, threads);
}

/** Workgroups of such a step. */
export function remainderWorkgroups(
  { grid: [nx, ny, nz] }: Problem,
  threads: number,
): [number, number, number] {
  return [Math.ceil(nz / remainderThreads(threads)), ny, nx];
}
