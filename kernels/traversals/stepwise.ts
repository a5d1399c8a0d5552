/**
 * Stepwise: one dispatch a time step (or a sub-step, where a step has several), one thread a cell, every tap read
 * from memory through the caches. The baseline, and what every other traversal is verified against.
 *
 * @module
 */
import { AMONG_ZEROS, EVERYTHING } from "../capability.ts";
import type { Tap } from "../expression.ts";
import { profileReads } from "../axis_profiles.ts";
import { blocksOf, blockValues, layered, layersShare, storedUpdate } from "../layers.ts";
import { type Layout, layOut } from "../layout.ts";
import { remembered } from "../remembered.ts";
import { atGroup, groupsOf, overGroup, pointPlan, pointShader } from "./point_work.ts";
import {
  layoutWithin,
  type Section,
  type SectionLimits,
  sectionsOf,
  type Twin,
  twinsOf,
} from "../sections.ts";
import {
  alongAxes,
  type AxisBoundaries,
  cellsOf,
  imageOf,
  isAllZero,
  type Problem,
} from "../stencils/stencil.ts";
import {
  expressionsOf,
  planesOf,
  profileTapsOf,
  reachOf,
  stepReach,
  type Substep,
  tapsOf,
  type Update,
  valuesMoved,
} from "../update.ts";
import {
  declareLayout,
  declareLevels,
  declareTime,
  elementOf,
  LINEAR_THREADS,
  plus,
  timeUniforms,
} from "../wgsl/declare.ts";
import { declareTable, HEAD_VECTORS } from "../wgsl/points.ts";
import { declareWrap, wrapWorkgroups } from "../wgsl/wrap_pads.ts";
import { wgsl } from "../wgsl/template.ts";
import { updateWriter } from "../wgsl/write_update.ts";
import { passageNeeds, planPassage, stepNeeds } from "./window_passage.ts";
import { copyShaders, type Level, SectionWork } from "./section_work.ts";
import { bindLayers, type LayerAccess, layerAccess, scratchWithLayers } from "./layer_storage.ts";
import { declareProfiles, pointBuffers, stepProfile, withProfiles } from "./profile_storage.ts";
import type { Shader } from "./storage.ts";
import type { Dispatch, GpuPlan, ParametersOf, Traversal } from "./traversal.ts";
import { exceededLimit, workgroupShapes } from "./workgroup_limits.ts";

type StepwiseParameters = ParametersOf<"threadsZ" | "threadsY" | "threadsX">;

/** One dispatch a sub-step; the shape of its workgroups is all there is to choose. */
export const stepwise: Traversal = {
  name: "stepwise",
  title: "one dispatch a time step, one thread a cell",
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
    const update = storedUpdate(problem);
    const substeps = update.substeps.length, cells = cellsOf(problem.grid), [, , nz] = problem.grid;
    const shape = workgroupsOf(problem, [threadsZ, threadsY, threadsX]);
    const threads = threadsZ * threadsY * threadsX, workgroups = shape.reduce((a, b) => a * b);
    const inLayers = layersShare(problem), moved = valuesMoved(update) + 2 * inLayers;
    const taps = update.substeps.flatMap(tapsOf).length;
    const profiles = profileReads(update).length;
    const { x, y, z } = reachOf(update);
    const { pieces, part } = rowsAcross(threadsZ, Math.min(threadsZ, nz), z);
    const stored = update.fields.length + inLayers;
    return {
      bytesPerUpdate: 4 * moved,
      registers: { plain: 32 },
      threadsPerWorkgroup: threads,
      workgroupBytes: 0,
      workgroupsPerDispatch: workgroups,
      rounds: {
        instructions: (3 * (taps + profiles) + 2 * stored) / substeps,
        barriers: 0,
        rows: moved * pieces / substeps,
        hits: (taps + profiles + stored - moved) * pieces / substeps,
        exchanges: 0,
        // many small workgroups wait, so that others compute meanwhile
        waits: {},
        nearWaits: 1,
        nearBytes: 4 * moved * (1 + part),
        cells: cells / (workgroups * substeps),
        busyThreads: cells / workgroups,
        strays: {
          sliceBytes: x,
          rowBytes: y * y / threadsY,
          endBytes: z > 0 ? 1 / threadsZ : 0,
          layerBytes: threadsX - 1,
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
      const shaders = stepShaders(problem, layout, shape, true);
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
      shadersOf: (part, its, first) =>
        stepShaders(part, its, shape, false, stepProfile(problem, first), { problem, first }),
      workgroupsOf: (part) => workgroupsOf(part, shape),
    });
  },
} satisfies Traversal<StepwiseParameters>;

/** Pads as wide as a whole step reaches: enough for sub-steps one by one, and for all in one pass. */
export const stepwiseLayout = remembered((problem: Problem): Layout => {
  const { grid, boundary } = problem, update = storedUpdate(problem), { x, y, z } = stepReach(update);
  return layOut(grid, {
    pad: [x, y, z],
    sharedPads: alongAxes(boundary)[2] === "zero",
    planes: planesOf(update),
    fields: update.fields.length,
    layered: layered(problem),
  });
});

/** Workgroups of a dispatch of {@linkcode stepShaders}. */
function workgroupsOf(
  { grid: [nx, ny, nz] }: Problem,
  [threadsZ, threadsY, threadsX]: Dispatch["workgroups"],
): Dispatch["workgroups"] {
  return [Math.ceil(nz / threadsZ), Math.ceil(ny / threadsY), Math.ceil(nx / threadsX)];
}

/** The slices that a dispatch of a passage computes, how many lie before its section's, and the signal. */
const WINDOW_SLICES = wgsl`
  struct Slices { first: i32, end: i32, before: i32, signal: f32 }
  @group(0) @binding(2) var<uniform> slices: Slices;
`;

/**
 * The shaders of a step, one a sub-step, on any layout whose pads hold what the taps reach.
 *
 * @param profile reads profiles at the shader's x, y, z; `stored`: the grid whose layers it stores, and its first slice there
 */
export function stepShaders(
  problem: Problem,
  layout: Layout,
  [threadsZ, threadsY, threadsX]: readonly [number, number, number],
  isInWindow = false,
  profile = stepProfile(problem),
  stored?: { readonly problem: Problem; readonly first: number },
): Shader[] {
  const { stencil: { title, update: whole } } = problem,
    update = stored ? storedUpdate(stored.problem) : whole;
  return update.substeps.map((substep, index) => {
    const { constants, write } = updateWriter(expressionsOf(substep));
    const signal = isInWindow ? "slices.signal" : "time.signal";
    const layers = stored && layerAccess(stored.problem, profileTapsOf(substep).length > 0 ? 1 : 0);
    const tap = (one: Tap) => layers?.tap(one.plane) ?? elementOf(one);
    const { lines, values } = write({ tap, profile, signal });
    const part = update.substeps.length === 1 ? "one step" : `sub-step ${index}`;
    const code = wgsl`
      // ${title}: ${part}, one thread a cell; the pads around the grid make branches unnecessary.
      ${declareLayout(layout)}
      ${constants}
      ${declareLevels()}
      ${isInWindow ? WINDOW_SLICES : declareTime(substep)}
      ${declareProfiles(substep)}
      ${layers?.declarations ?? ""}

      @compute @workgroup_size(${threadsZ}, ${threadsY}, ${threadsX})
      fn main(@builtin(global_invocation_id) id: vec3u) {
        let z = i32(id.x); let y = i32(id.y); let x = i32(id.z)${isInWindow ? " + slices.first" : ""};
        if (z >= NZ || y >= NY || x >= ${isInWindow ? "slices.end" : "NX"}) { return; }
        let cell = ORIGIN + ${isInWindow ? "(x - slices.before)" : "x"} * SLICE + y * PITCH + z;
        ${layers?.read(substep, [plus("x", stored!.first), "y", "z"]).join("\n") ?? ""}
        ${lines.join("\n")}
        ${storeValues(substep, values, layers)}
      }
    `;
    return withProfiles(substep, { label: `step ${threadsZ}x${threadsY}x${threadsX}`, code });
  });
}

/** The shader that computes a sub-step again in listed cells: where a pass of all sub-steps did not know a source. */
function againShader(problem: Problem, layout: Layout, substep: Substep, first: number): Shader {
  const { constants, write } = updateWriter(expressionsOf(substep));
  const { lines, values } = write({
    tap: elementOf,
    profile: stepProfile(problem, first),
    signal: "group.signal",
  });
  const profiles = declareProfiles(substep), [table] = pointBuffers(problem);
  const code = wgsl`
    // ${problem.stencil.title}: a sub-step again, one thread a cell of a list.
    struct Group { first: i32, end: i32, signal: f32 }
    ${declareLayout(layout)}
    ${constants}
    ${declareLevels()}
    @group(0) @binding(2) var<uniform> group: Group;
    ${profiles}
    ${declareTable(profiles === "" ? 0 : 1)}

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let i = group.first + i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (i >= group.end) { return; }
      let its = points[${HEAD_VECTORS} + i];
      let x = its.x; let y = its.y; let z = its.z;
      let cell = ORIGIN + x * SLICE + y * PITCH + z;
      ${lines.join("\n")}
      ${storeValues(substep, values)}
    }
  `;
  return withProfiles(substep, { label: "a sub-step again", code, scratch: [table!] });
}

/** What the caches move at once. */
const SECTOR_BYTES = 32;

/**
 * Of workgroups with this number of threads along z, and of cells in their rows: the pieces of rows that a SIMD group
 * covers; what is moved beside a row's values, since caches move sectors; and what lies beyond the ends of its rows, as
 * parts of a row.
 */
export function rowsAcross(
  threadsZ: number,
  cells: number,
  reach: number,
): Record<"pieces" | "part" | "ends", number> {
  const isWhole = 32 % threadsZ === 0 || threadsZ % 32 === 0, sector = SECTOR_BYTES / (4 * cells);
  return {
    pieces: isWhole ? Math.max(1, 32 / threadsZ) : 1 + 31 / threadsZ,
    part: sector,
    ends: 2 * sector * Math.ceil(4 * reach / SECTOR_BYTES),
  };
}

/** Lines that store a sub-step's values; all are computed before the first is stored. */
export function storeValues(
  substep: Substep,
  values: readonly string[],
  layers?: Pick<LayerAccess, "store">,
): string {
  const target = (field: number): string => `before[${plus("cell", field, "PLANE")}]`;
  const [only, ...others] = substep;
  if (only !== undefined && others.length === 0) return `${target(only.field)} = ${values[0]};`;
  return [
    ...values.map((value, i) => `let new${i} = ${value};`),
    ...substep.flatMap(({ field }, i) => layers?.store(field, `new${i}`) ?? `${target(field)} = new${i};`),
  ].join("\n");
}

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
  const stored: Problem = layout.layered ? problem : { ...problem, isPart: true }, shaders: Shader[] = [];
  /** The place of a shader, which sections may share. */
  const place = (shader: Shader): number => {
    const bound = `${shader.scratch}`;
    const known = shaders.findIndex(({ code, scratch }) => code === shader.code && `${scratch}` === bound);
    return known >= 0 ? known : shaders.push(shader) - 1;
  };
  const parts = sections.map((section, i) => {
    const { own: [first, end] } = section, twins = fillsTwins ? twinsOf(sections, i) : [];
    const part: Problem = { ...problem, grid: [end - first, ny, nz] };
    const its = isCut ? layoutWithin(layout, section, section.own) : layout;
    const made = shadersOf(part, its, first, twins), isFused = made.length < update.substeps.length;
    const again = problem.survey === undefined || !isFused || layout.layered
      ? []
      : update.substeps.map((substep, i) => i === 0 ? 0 : place(againShader(problem, its, substep, first)));
    const steps = [false, true].map((isOdd) =>
      made.map((shader) => place(bindLayers(stored, shader, isOdd)))
    );
    return { section, part, its, steps, again, twins: twins.map(({ section }) => section) };
  });
  // along x the pads' images may lie in another section
  const [alongX, alongY, alongZ] = alongAxes(boundary);
  const inSection: AxisBoundaries = [isCut ? "zero" : alongX, alongY, alongZ];
  const wraps = parts.map(({ part, its }) =>
    renewsPads && !isAllZero(inSection)
      ? place(declareWrap({ ...part, boundary: inSection }, its))
      : undefined
  );
  const copies = shaders.push(...copyShaders(sections)) - copyShaders(sections).length;
  const atPoints = problem.survey === undefined ? undefined : place(pointShader(pointBuffers(problem)));
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
  const owned = parts.map(({ section: { own }, its }) => ({ own, layout: its }));
  const passes = parts[0]!.steps[0]!.length, isFused = passes < update.substeps.length;
  return {
    label,
    storage: { layout, ...(isCut && { sections }), ...scratchWithLayers(stored) },
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
            const shader = steps[flipped ? 1 : 0]![substep]!, workgroups = workgroupsOf(part);
            const its = uniformsOf?.(section, step - start) ?? uniforms;
            const dispatch = {
              shader,
              workgroups,
              flipped,
              uniforms: its,
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
