/**
 * Marching (the FDTD3d way: Micikevicius, GPGPU-2, 2009): a workgroup covers a y–z tile and marches along x, the
 * slowest axis. Each thread keeps the values ahead of and behind its own cell in registers, so that each value is
 * read from memory about once. Neighbours in the slice are read through the caches, or from a tile in workgroup
 * memory.
 *
 * docs/traversals.md says what becomes of partial sums of a slice and of sub-steps, which are fused: there, threads at the
 * rim of a workgroup only compute what their neighbours need, and two workgroups compute those cells. Several steps in
 * one pass are written as sub-steps, too.
 *
 * @module
 */
import { type Tap, tapsIn } from "../../expression.ts";
import { capabilities, refusalOf, WITHOUT_INSULATED, wrongParameters } from "../../capability.ts";
import { blocksOf, blockValues, layersShare, storedUpdate } from "../../layers.ts";
import type { Layout } from "../../layout.ts";
import { precisionOf } from "../../precision.ts";
import { isCut, sectionsOf } from "../../sections.ts";
import { isAllZero, type Problem } from "../../stencils/stencil.ts";
import { remembered } from "../../remembered.ts";
import {
  expressionsOf,
  isLayered,
  operationsOf,
  profileTapsOf,
  reachOf,
  stepReach,
  tapsOf,
  type Update,
} from "../../update.ts";
import { deepOf, depthsOf, piecesOf, repeated, rimmedThreads, rowsOf } from "./depth.ts";
import { carried } from "./carried.ts";
import { isCarried, isKept } from "../../partial_sums.ts";
import { isPaired, queuesOf, staggered } from "./queues.ts";
import { endsOf, PAIR, planeShader, turnsOf } from "./plane_shader.ts";
import { marchShader, tilesReadBy } from "./shader.ts";
import { type Ends, type MarchShape, ownThreads } from "./shape.ts";
import { tabulateMarches } from "./points.ts";
import { appendTable } from "../point_work.ts";
import { planSteps, type StepPlan } from "../plan_steps.ts";
import { stepwiseLayout } from "../step_shader.ts";
import type { Dispatch, GpuPlan, ParametersOf, Traversal } from "../traversal.ts";
import { declareWrap, wrapWorkgroups } from "../../wgsl/wrap_pads.ts";
import { stepNeeds } from "../window_passage.ts";
import { COMMON, type ParameterWords } from "../parameter.ts";
import {
  exceededLimit,
  powersOfTwo,
  refuseVector,
  rowsAcross,
  WORKGROUP_PARAMETERS,
} from "../workgroup_limits.ts";

/** Sectors that memory moves together: what lies beyond a row's end takes as many. */
const SECTORS_AT_ONCE = 2;

const PARAMETERS = {
  zPerThread: [...COMMON.cells, { unit: "cell", isLater: true }],
  threadsZ: WORKGROUP_PARAMETERS.threadsZ,
  threadsY: WORKGROUP_PARAMETERS.threadsY,
  pieces: ["Pieces", "parts of x that workgroups march through side by side", { unit: "piece" }],
  tile: ["Neighbours from", "where a thread reads its neighbours in a slice", {
    values: { 0: "the caches", 1: "workgroup memory" },
    isLater: true,
  }],
  ahead: ["Loaded ahead", "slices loaded before they are used", { unit: "slice", isLater: true }],
  depth: ["Steps per march", "time steps in one pass over memory; each costs threads at the rim", {
    unit: "step",
    role: "pass",
    isLater: true,
  }],
  exchange: [
    "Ends through",
    "how threads of several steps a march get the cells beyond their own, in two dimensions",
    {
      values: { 0: "workgroup memory", 1: "shuffles within a SIMD group" },
      features: { 1: "subgroups" },
      role: "writing",
      isLater: true,
    },
  ],
} as const satisfies ParameterWords;

type MarchParameters = ParametersOf<keyof typeof PARAMETERS>;

/** One dispatch a step; the workgroup's shape, the pieces of the march, and the tile are to choose. */
export const marching: Traversal = {
  name: "marching",
  title: "workgroups march along x, the axis in registers, all sub-steps or several steps in one pass",
  parameters: PARAMETERS,
  capabilities: capabilities(
    [
      "dimensions volume grid fields whole-fields sub-steps materials profiles signal previous diagonal-taps",
      "slanted-taps sideways-taps reach shared-sub-steps early-fields points early-sources",
    ],
    {
      window: "marches do not pass through a window",
      "previous-neighbours": "a march may have overwritten it",
    },
    {
      where: {
        "sub-steps": {
          boundaries: WITHOUT_INSULATED,
          cannot: {
            boundary:
              "several sub-steps and insulated ends: what the first computes beyond them would not be mirrored",
            previous: "with several sub-steps that level is overwritten too early",
          },
        },
      },
    },
  ),
  parameterLists(problem, limits) {
    const [nx, ny, nz] = problem.grid;
    const { maxComputeWorkgroupSizeX: mostZ, maxComputeWorkgroupSizeY: mostY } = limits;
    const alone = {
      zPerThread: [4, 2, 1],
      threadsZ: powersOfTwo(4, Math.min(256, mostZ, Math.max(4, 2 * nz - 1))),
      threadsY: powersOfTwo(1, Math.min(32, mostY, 2 * ny - 1)),
      pieces: ny === 1 ? piecesOf(Math.min(512, nx)) : powersOfTwo(1, Math.min(64, nx)),
      tile: [0, 1],
      ahead: [0, 1],
    };
    const depths = deepRefusal(problem) === undefined ? depthsOf(problem) : undefined;
    // as many threads as cover z without rest, with those of the rim
    const threadsZ = rimmedThreads(nz, (zPerThread) => {
      const { haloZ: [low, high] } = formOf(problem, zPerThread, 0, 0, depths === undefined ? 1 : 2);
      return low + high;
    }).filter((threads) => threads <= Math.min(256, mostZ));
    const threadsY = ny === 1
      ? []
      : threadsZ.flatMap(rowsOf).filter((rows) => rows >= 4 && rows <= Math.min(32, mostY));
    return {
      ...(depths && { depth: depths }),
      ...alone,
      threadsZ: [...new Set([...alone.threadsZ, ...threadsZ])],
      threadsY: [...new Set([...alone.threadsY, ...threadsY])],
      ...(depths && ny === 1 && limits.subgroupSize && { exchange: [0, 1] }),
    };
  },
  infeasible(problem, parameters, limits) {
    const { zPerThread = 1, threadsZ, threadsY, pieces, tile, ahead = 0, depth = 1, exchange } = parameters;
    const noVector = refuseVector(zPerThread);
    if (noVector !== undefined) return noVector;
    const shallow = depth > 1 ? deepRefusal(problem) : undefined;
    if (shallow !== undefined) return { ...shallow, message: `depth ${depth}: ${shallow.message}` };
    // Life, 512³, two steps: 456 Gcells/s, with a tile 323, without loads ahead 410 (H100, 2026-11-22)
    if (depth > 1 && (tile === 1 || ahead === 0)) {
      return wrongParameters(
        "several steps a pass: a tile of loaded values costs more rim than it saves, and loads ahead always gain",
      );
    }
    const form = formOf(problem, zPerThread, tile, ahead, depth), threads = threadsZ * threadsY;
    const { subgroupSize } = limits;
    if (exchange === 1 && subgroupSize === undefined) {
      return wrongParameters("shuffles need subgroups, all of one size: this device grants none");
    }
    if (exchange === 1 && !(form.isPlane && threadsZ === subgroupSize)) {
      return wrongParameters(
        "shuffles serve several steps a pass in two dimensions, in rows as long as a SIMD group: " +
          `found ${depth} steps, ${threadsZ} threads, groups of ${subgroupSize}`,
      );
    }
    const { haloY, haloZ, rimY, rimZ, isRimmed, layout } = form;
    const arePowers = isPower(threadsZ) && isPower(threadsY) && isPower(pieces);
    if (parameters.depth !== undefined && !isRimmed && !arePowers) {
      return wrongParameters(
        `${threadsZ}x${threadsY} threads, ${pieces} pieces: without a rim, powers of two are wanted`,
      );
    }
    if (isRimmed && (depth > 1 || threads > 64) && threads < 0.9 * 2 ** Math.ceil(Math.log2(threads))) {
      return wrongParameters(
        `${threadsZ}x${threadsY} threads: with a rim, workgroups that nearly fill a power of two are wanted`,
      );
    }
    const { z: reach } = form.reach;
    if (form.isPlane && reach > zPerThread) {
      return wrongParameters(
        `${zPerThread} cells a thread, as taps reach ${reach}: several steps a pass exchange with the next thread only`,
      );
    }
    if (isPaired(form.update) && isCut(layout, limits)) {
      return wrongParameters(`depth ${depth}: passes in pairs take levels in one piece`);
    }
    if (ownThreads(threadsZ, haloZ) <= 0 || ownThreads(threadsY, haloY) <= 0) {
      return wrongParameters(
        `all of the ${threadsZ}x${threadsY} threads lie in the rim (${haloZ} along z, ${haloY} along y)`,
      );
    }
    if (threadsZ < rimZ || threadsY < rimY) {
      return wrongParameters(
        `${threadsZ}x${threadsY} threads are too few to load a rim (${rimZ} along z, ${rimY} along y)`,
      );
    }
    if (threadsZ > 8 && ownThreads(threadsZ / 4, haloZ) * zPerThread >= problem.grid[2]) {
      return wrongParameters(
        `${threadsZ} threads of ${zPerThread} cells are more than ${problem.grid[2]} cells along z need`,
      );
    }
    const registers = registersOf(form), needed = registers * threads;
    if (needed > REGISTERS) {
      return wrongParameters(`${needed} registers in a workgroup: a multiprocessor has ${REGISTERS}`);
    }
    if (form.isPlane && registers > THREAD_REGISTERS) {
      return wrongParameters(`${registers} registers in a thread: it can have ${THREAD_REGISTERS}`);
    }
    if (tile === 1 && !form.keepsNow) {
      return wrongParameters("a tile has no use: no tap reads a neighbour in the slice");
    }
    const shape = shapeOf(problem, parameters);
    return exceededLimit(limits, {
      layout,
      scratch: shape.scratch,
      ...shape.needs,
      workgroup: [threadsZ, threadsY, 1],
      workgroupBytes: tileBytes(shape),
      workgroups: workgroupsOf(problem, shape),
    });
  },
  demand(problem, parameters) {
    const shape = shapeOf(problem, parameters);
    const { update, zPerThread, threadsZ, threadsY, isTiled, ahead, slices, queues, depth, isPlane } = shape;
    const { fill, operations, profiles, rimY, rimZ, inLayers, isRimmed, hasPoints, reach: { y, z } } = shape;
    const { neighbours, reads, tiled, ...counted } = shape.counted, arrays = counted.arrays + inLayers;
    const workgroups = workgroupsOf(problem, shape);
    const [across, along] = workgroups, threads = threadsZ * threadsY;
    const [, ny, nz] = problem.grid;
    const computed = across * threadsZ * zPerThread * along * threadsY / (ny * nz);
    const { pieces, part, ends } = rowsAcross(threadsZ, Math.min(threadsZ * zPerThread, nz), z, update);
    const { bytes } = precisionOf(update);
    // what else a tile's threads load, and what of a slice neighbours read, too
    const rim = isTiled ? (threadsZ + 2 * rimZ) * (threadsY + 2 * rimY) / threads - 1 : 0;
    const loads = arrays + rim + (isTiled ? 0 : reads),
      stored = isPaired(update) ? 2 : update.fields.length + inLayers;
    const rowEnds = isRimmed ? 0 : SECTORS_AT_ONCE * neighbours * ends;
    const shared = isRimmed ? (computed - 1) * arrays : neighbours * 2 * y / threadsY;
    const total = workgroups.reduce((a, b) => a * b);
    const count = 1 / depth, isAlone = isAllZero(problem.boundary);
    // a body of several slices moves no value, and threads exchange what lies at their ends, four values at a time
    const moved = isPlane && turnsOf(queues) > 1 ? 0 : fill;
    const exchanged = isPlane ? 2 * tiled * z : zPerThread * tiled;
    const instructions = 2 * (loads + stored + profiles) + zPerThread * (operations + moved) +
      (isPlane ? exchanged / 4 : tiled);
    return {
      bytesPerValue: bytes,
      bytesPerUpdate: bytes * (arrays + stored) / depth,
      registers: { plain: registersOf(shape), masks: depth > 1 ? 1 : 0 },
      threadsPerWorkgroup: threads,
      workgroupBytes: tileBytes(shape),
      workgroupsPerDispatch: total,
      // a body of one slice compiles fast; with points there is a second loop, twice as long
      ...(isPlane && { loopInstructions: (hasPoints ? 3 : 1) * turnsOf(queues) * instructions }),
      rounds: {
        instructions,
        operations: zPerThread * depth * operationsOf(problem.stencil.update),
        barriers: isPlane ? 1 : shape.tiles.filter(({ length }) => length > 0).length,
        rows: (loads + stored) * pieces,
        exchanges: exchanged,
        waits: { waitNs: ahead === 0 ? 1 : 0 },
        nearWaits: 1,
        nearBytes: bytes / depth *
          (computed * (arrays * (1 + part) + fill / slices + (isRimmed ? 0 : shared) + rowEnds) +
            stored * (1 + part)),
        cells: depth * problem.grid[0] * ny * nz / (total * slices),
        busyThreads: threads,
        again: {
          // filling its queues, a march reads slices of the one before it
          bytesPerUpdate: {
            before: bytes * fill / slices / depth,
            drift: bytes * (shared + rowEnds) / depth,
          },
          workgroups: across * along,
          workgroupBytes: 2 * bytes * threads * zPerThread * slices,
        },
        dispatches: [
          { count, workgroups: total, rounds: slices, fills: queues.warmUp },
          ...(isAlone ? [] : [{ count, workgroups: 0, rounds: 0 }]),
        ],
      },
    };
  },
  plan(problem, parameters, limits) {
    const { zPerThread = 1, threadsZ, threadsY, pieces, tile, ahead = 0, depth = 1, exchange } = parameters;
    const deepest = shapeOf(problem, parameters), { needs, padded, layout } = deepest;
    const tiled = tile === 1 ? ", tile" : "", by = exchange === 1 ? ", shuffles" : "";
    const deep = depth > 1 ? `, ${depth} steps deep${by}` : "";
    const label =
      `marching ${threadsZ}x${threadsY} of ${zPerThread}, ${pieces} pieces${tiled}, ${ahead} ahead${deep}`;
    const sections = sectionsOf(layout, needs, limits);
    const { stencil: { update } } = problem;
    const planOf = (shape: Shape, problem: Problem, uniformsOf?: StepPlan["uniformsOf"]): GpuPlan =>
      planSteps({
        label,
        problem,
        update,
        layout,
        sections,
        reach: (needs.span - 1) / 2,
        // passes of several steps copy seldom; images and layers lie in pads and buffers that no march fills
        fillsTwins: shape.depth === 1 && isAllZero(problem.boundary) && !layout.layered,
        shadersOf(part, layout, first, twins) {
          const whole = { first, slices: problem.grid[0], twins };
          const itsShape = { ...shape, workgroups: workgroupsOf(part, shape) };
          return [
            shape.isPlane
              ? planeShader(part, layout, itsShape, whole)
              : marchShader(part, layout, itsShape, whole),
          ];
        },
        workgroupsOf: (part) => workgroupsOf(part, shape),
        ...(uniformsOf && { uniformsOf }),
      });
    const alone = planOf(shapeOf(problem, { ...parameters, depth: 1 }), padded);
    if (depth === 1) return alone;
    const parts = sections.map(({ own }) => {
      const [first, end] = own, grid = [end - first, ...problem.grid.slice(1)] as unknown as Problem["grid"];
      return { own, workgroups: workgroupsOf({ ...problem, grid }, deepest) };
    });
    const single: GpuPlan = alone.points === undefined ? alone : {
      ...alone,
      points: {
        ...alone.points,
        tabulate: (points) =>
          appendTable(tabulateMarches(problem, deepest, parts, points), alone.points!.tabulate(points)),
      },
    };
    if (isPaired(deepest.update)) return pairedPlan(padded, layout, { shape: deepest, single, label });
    const lists = parts.map((_, i) =>
      parts.slice(0, i).reduce((sum, { workgroups: [z, y, x] }) => sum + z * y * x, 0)
    );
    const { survey: _, ...unwatched } = padded, before = single.shaders.length;
    const whole = planOf(
      deepest,
      unwatched,
      deepest.hasPoints ? (section, pass) => [pass * depth, lists[section]!] : undefined,
    );
    return {
      ...single,
      label,
      shaders: [...single.shaders, ...whole.shaders],
      dispatches(count, start, table) {
        // The last step is single, so that F(t − 1) is there as well. Passes of an even depth go by twos: step t is in the
        // array of t's parity.
        const times = Math.max(0, Math.floor((count - 1) / depth));
        const passes = depth % 2 === 0 ? times - times % 2 : times;
        const steps = passes * depth, left = table && { ...table, steps };
        return [
          ...whole.dispatches(passes, start).map((dispatch) => ({
            ...dispatch,
            shader: before + dispatch.shader,
          })),
          ...single.dispatches(count - steps, start + steps, left),
        ];
      },
    };
  },
} satisfies Traversal<MarchParameters>;

/** Passes by twos: from the levels to scratch buffers, and back to them. */
function pairedPlan(
  problem: Problem,
  layout: Layout,
  { shape, single, label }: { shape: Shape; single: GpuPlan; label: string },
): GpuPlan {
  const before = single.shaders.length, { pads = [] } = single;
  const workgroups = workgroupsOf(problem, shape);
  const passes = (["to pair", "from pair"] as const).map((pass) =>
    planeShader(problem, layout, { ...shape, workgroups }, undefined, pass)
  );
  const wraps = pads.length === 0 ? [] : PAIR.map((array) => declareWrap(problem, layout, array));
  return {
    ...single,
    label,
    // a pass reads pads, which are never written
    storage: {
      layout,
      scratch: [
        ...single.storage.scratch!,
        ...PAIR.map((name) => ({ name, length: layout.length, lives: "field" as const })),
      ],
    },
    shaders: [...single.shaders, ...passes, ...wraps],
    dispatches(count, start, table) {
      const pairs = Math.floor(count / (2 * shape.depth)), steps = pairs * 2 * shape.depth;
      const left = table && { ...table, steps };
      const pass = (shader: number, step: number): Dispatch => {
        return {
          shader: before + shader,
          workgroups,
          flipped: start % 2 === 1,
          uniforms: shape.hasPoints ? [step, 0] : [],
        };
      };
      return [
        ...Array.from({ length: pairs }, (_, i): Dispatch[] => {
          const step = 2 * i * shape.depth, first = pass(0, step);
          return [
            first,
            ...wraps.map((_, i) => ({
              ...first,
              shader: before + 2 + i,
              workgroups: wrapWorkgroups(problem),
            })),
            pass(1, step + shape.depth),
            ...pads,
          ];
        }).flat(),
        ...single.dispatches(count - steps, start + steps, left),
      ];
    },
  };
}

/** What a march's shader is written from, and what it keeps. */
type Shape = ReturnType<typeof shapeOf>;

function shapeOf(problem: Problem, parameters: MarchParameters) {
  const { zPerThread = 1, threadsZ, threadsY, pieces, tile = 0, ahead = 0, depth = 1 } = parameters;
  const form = formOf(problem, zPerThread, tile, ahead, depth);
  const slices = Math.ceil(problem.grid[0] / pieces);
  return { ...form, threadsZ, threadsY, slices, shuffles: parameters.exchange === 1 };
}

/** What does not depend on threads and pieces. */
const formOf = remembered((
  problem: Problem,
  zPerThread: number,
  tile: number,
  givenAhead: number,
  depth: number,
) => {
  const isTiled = tile === 1, isPlane = depth > 1 && problem.grid[1] === 1;
  const update = staggered(repeated(carried(storedUpdate(problem)), depth));
  // a slice of the plane's march takes less time than the memory: heat, 16384², 2,041 Gcells/s and 2,165 (H200, 2026-11-23)
  const ahead = isPlane ? 2 : givenAhead;
  const parts = partsOf(update, zPerThread, isTiled || isPlane, ahead, isPlane);
  // the pads that a pass needs are images of the grid as far as all of its steps reach
  const padded = depth === 1 || isAllZero(problem.boundary)
    ? problem
    : { ...problem, stencil: { ...problem.stencil, update } };
  return {
    ...parts,
    isPlane,
    isRimmed: [...parts.haloY, ...parts.haloZ].some((threads) => threads > 0),
    hasPoints: depth > 1 && problem.survey !== undefined,
    update,
    depth,
    zPerThread,
    isTiled,
    ahead,
    counted: readsOf(update, zPerThread, isTiled, ahead, isPlane),
    reach: reachOf(update),
    padded,
    layout: stepwiseLayout(padded),
    scratch: blockValues(blocksOf(problem)),
    inLayers: layersShare(problem),
    needs: { ...stepNeeds(problem), span: 2 * stepReach(update).x + 1 },
  };
});

function isPower(count: number): boolean {
  return Number.isInteger(Math.log2(count));
}

/** Why a problem cannot have several steps a pass. */
const deepRefusal = remembered((problem: Problem) => refusalOf(deepOf(problem), problem));

/** Queues, tiles and register counts of a march: the same for every grid, so cached by update. */
const partsOf = remembered((
  update: Update,
  zPerThread: number,
  isTiled: boolean,
  ahead: number,
  isPlane: boolean,
) => {
  const queues = queuesOf(update, { isTiled, ahead, isPlane });
  const tiles = update.substeps.map((substep, i) => tilesReadBy(substep, i, queues, isTiled));
  const lengths = [...queues.columns, ...queues.sums].map(({ low, high }) => high - low);
  const fill = lengths.reduce((sum, length) => sum + length, 0);
  return {
    ...rimOf(update, zPerThread, isTiled),
    tiles,
    queues,
    tileCount: tiles.flat().length,
    /** Whether a tile holds values of the newest level. */
    keepsNow: tiles.flat().some(({ ago }) => ago === 0),
    /** What it adds up for a cell: a sum that is kept once, in the slice where it is found. */
    operations: update.substeps.reduce((sum, substep) =>
      sum + tapsIn(expressionsOf(substep), isKept).length, 0) +
      queues.sums.reduce((sum, { of }) => sum + tapsIn([of], isCarried).length, 0),
    /** Values of profiles that it reads in every slice: those along y and z stay in registers. */
    profiles: update.substeps.flatMap(profileTapsOf).filter(({ axis }) => axis === 0).length,
    /** Slices that it reads before its first cell. */
    fill,
    /** Values that a thread keeps for each of its cells. */
    held: fill + queues.columns.length + queues.sums.filter(({ isPart }) => !isPart).length +
      profileTapsOf(update).filter(({ axis }) => axis !== 0).length,
  };
});

/**
 * Registers of a multiprocessor and of a thread: a workgroup that needs more spills, and what a march spills it moves every
 * slice. In two dimensions, where few threads hold much, reactions in ten steps a pass (287 registers) reached 0.52 of six
 * steps' rate, elastic waves in two steps (339) 0.25 of what was expected; Life in ten (275, not all of them at once) was
 * the fastest (H200, 2026-11-27).
 */
const REGISTERS = 65_536, THREAD_REGISTERS = 280;

function registersOf({ zPerThread, held, hasPoints, update }: ReturnType<typeof formOf>): number {
  // an entry, its place and what is found there
  return 24 + precisionOf(update).bytes / 4 * zPerThread * held + (hasPoints ? 8 : 0);
}

/** A name for what holds a tap's value. */
function arrayOf({ plane, ago }: Pick<Tap, "plane" | "ago">): string {
  return `${plane} ${ago}`;
}

/**
 * Arrays that a thread reads, and the elements that it reads for its cells of one slice: through the caches, where of an
 * array it reads more than its own column, and from tiles.
 */
const readsOf = remembered((
  update: Update,
  zPerThread: number,
  isTiled: boolean,
  ahead: number,
  isPlane: boolean,
): Record<"arrays" | "neighbours" | "reads" | "tiled", number> => {
  const { queues: { sums } } = partsOf(update, zPerThread, isTiled || isPlane, ahead, isPlane);
  const cached = new Map<string, Set<string>>();
  const taps = tapsOf(update).filter(({ plane }) => !isLayered(update, plane));
  const tiled = new Set<string>();
  for (const [i, substep] of update.substeps.entries()) {
    const kept = sums.filter(({ stage }) => stage === i);
    const inSlice = kept.length > 0 ? kept.flatMap(({ of }) => tapsIn([of], isCarried)) : tapsOf(substep);
    for (const { offset: [x, y, z], ago, plane } of inSlice) {
      if (ago === 1 || isLayered(update, plane)) continue;
      for (let lane = 0; lane < zPerThread; lane++) {
        const by = Math.floor((lane + z) / zPerThread);
        if (y === 0 && by === 0) continue;
        const array = arrayOf({ plane, ago });
        if (ago === -1 || isTiled || isPlane) tiled.add(`${array} ${x} ${y} ${by}`);
        else cached.set(array, (cached.get(array) ?? new Set()).add(`${x} ${y} ${by}`));
      }
    }
  }
  return {
    arrays: new Set(taps.filter(({ ago }) => ago >= 0).map(arrayOf)).size,
    neighbours: new Set(
      tapsOf(update).filter(({ ago, offset: [, y, z] }) => ago === 0 && (y !== 0 || z !== 0)).map(arrayOf),
    ).size,
    reads: [...cached.values()].reduce((sum, { size }) => sum + size, 0),
    tiled: tiled.size,
  };
});

/**
 * What surrounds the cells of a workgroup, for its tiles: threads that compute what others read, where sub-steps follow
 * each other, or elements that are loaded, where there is one sub-step.
 */
function rimOf(
  { substeps }: Update,
  zPerThread: number,
  isTiled: boolean,
): Pick<MarchShape, "haloY" | "haloZ" | "rimY" | "rimZ"> {
  /** Threads that all sub-steps together read of at the low and the high end of an axis. */
  const endsAlong = (axis: 1 | 2, cells: number): Ends => {
    const reach = (side: -1 | 1): number => {
      // around the cells whose last values are wanted, how far each sub-step's must be right
      const wanted = substeps.map(() => 0);
      let most = 0;
      for (const [i, substep] of [...substeps.entries()].reverse()) {
        for (const { plane, ago, offset } of tapsOf(substep)) {
          if (ago === 1 || (ago === 0 && !isTiled)) continue;
          const far = wanted[i]! + Math.max(0, side * offset[axis]);
          const maker = ago === -1
            ? substeps.findIndex((substep) => substep.some(({ field }) => field === plane))
            : -1;
          if (maker >= 0) wanted[maker] = Math.max(wanted[maker]!, far);
          most = Math.max(most, far);
        }
      }
      return most;
    };
    return [Math.ceil(reach(-1) / cells), Math.ceil(reach(1) / cells)];
  };
  const y = endsAlong(1, 1), z = endsAlong(2, zPerThread);
  return substeps.length === 1
    ? { haloY: [0, 0], haloZ: [0, 0], rimY: Math.max(...y), rimZ: Math.max(...z) }
    : { haloY: y, haloZ: z, rimY: 0, rimZ: 0 };
}

/** Every tile twice: while some threads still read one, others fill the other. */
function tileBytes(
  { tileCount, zPerThread, threadsZ, threadsY, rimY, rimZ, isPlane, update }: Shape,
): number {
  const { bytes } = precisionOf(update);
  if (isPlane) {
    const values = endsOf(update, tileCount).reduce((sum, size) => sum + (size === 3 ? 4 : size), 0);
    return 2 * 2 * bytes * values * threadsZ;
  }
  return 2 * bytes * tileCount * zPerThread * (threadsZ + 2 * rimZ) * (threadsY + 2 * rimY);
}

function workgroupsOf(
  { grid: [nx, ny, nz] }: Problem,
  { zPerThread, threadsZ, threadsY, haloY, haloZ, slices }: MarchShape,
): [number, number, number] {
  return [
    Math.ceil(nz / zPerThread / Math.max(1, ownThreads(threadsZ, haloZ))),
    Math.ceil(ny / Math.max(1, ownThreads(threadsY, haloY))),
    Math.ceil(nx / slices),
  ];
}
