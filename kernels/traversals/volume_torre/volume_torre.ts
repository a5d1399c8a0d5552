/**
 * DiamondTorre in three dimensions and time with a tile in all of them: a workgroup holds a diamond tile of x, y and z and
 * moves it along x, S cells a time step, so that it needs no rows and few registers.
 *
 * Geometry. Forms a = x − y − z, b = x + y − z, c = x − y + z, all of one parity: the lattice of an abstract by DiamondTorre's
 * authors for d = 3, two cells an element. A tile is M³ elements, [0, W) along each form with W = 2M. A tier begins with
 * F(t) of the tile and makes F(t+1) of the one at S further along x, and so along each form: in local coordinates a cell is
 * made of what lies at [0, 2S] beyond it. Torres whose places along the forms have one sum, a **stage**, depend on none of
 * each other, only on those of the stage before.
 *
 * A thread holds a patch of elements in registers, F(t) and F(t − 1); others read F(t) in workgroup memory, all cells at once
 * or, in two **phases**, even and odd ones by turns, which halves the memory. F(t − 1) of a cell is what F(t) at 2S further
 * along the forms was a tier before. The **front**, [0, M+S)³ without the tile, comes through FArSh: a lane for each torre and
 * direction, from which the torre takes what its neighbour further along that form left, and puts its own first elements in
 * the same places, tier by tier. It is loaded several tiers ahead. Where no torre came before there are zeros.
 *
 * Levels. A tile is one piece of memory, an element a thread after the other. Tiles of a level begin o cells further along
 * x than the first ones, where o is S times the steps that are done, modulo W: a buffer holds o. So a band may have any
 * number of tiers. A level of F(t − 1) has its cells S further along x, as the tile's registers do.
 *
 * `coefficients.ts` describes how materials move with tiles, `lean.ts` axis profiles, `points.ts` sources and receivers,
 * `images.ts` other ends.
 *
 * @module
 */
import {
  A_FIELD_IN_A_TILE,
  AMONG_ZEROS,
  capabilities,
  type Limitation,
  refuseUnlike,
  wrongParameters,
} from "../../capability.ts";
import { profilesOf } from "../../axis_profiles.ts";
import { precisionOf } from "../../precision.ts";
import { operationsOf, type Update } from "../../update.ts";
import { USUAL_BUFFERS } from "../../device_limits.ts";
import { isAllZero, type Problem } from "../../stencils/stencil.ts";
import { type SectionLimits, sectionsOf } from "../../sections.ts";
import { wgsl } from "../../wgsl/template.ts";
import { declareBuffer, type Shader, shaderOf } from "../../wgsl/shader.ts";
import { seriesAccess } from "../../wgsl/points.ts";
import { featureBuffers } from "../../wgsl/feature_buffers.ts";
import { stepwiseLayout } from "../step_shader.ts";
import type { Dispatch, ParametersOf, Traversal } from "../traversal.ts";
import { exceededLimit } from "../workgroup_limits.ts";
import { extentOf, farshOf, pieceOf, slopeOf, tableOf } from "./lattice.ts";
import { materialTaps } from "./coefficients.ts";
import { hasLean, leanBytes } from "./lean.ts";
import { materialsOf, MOST_VALUES, partsOf } from "./materials.ts";
import { imagesShader, widened } from "./images.ts";
import { declareTable, valuesInTiles } from "./order.ts";
import { COMMON, type ParameterWords } from "../parameter.ts";
import { packedPlanes } from "../../wgsl/packing.ts";
import { sampleShader, tilePoints } from "./points.ts";
import { dispatchesOf, pace, scheduleVolume, workOf } from "./schedule.ts";
import { volumeTorreShader } from "./shader.ts";

const PARAMETERS = {
  side: ["Side of a tile", "elements of two cells along each of the tile's three forms", {
    unit: "element",
    role: "tile",
  }],
  patchA: ["Elements along a", "elements that a thread keeps side by side along x − y − z", {
    unit: "element",
  }],
  patchB: ["Elements along b", "elements that a thread keeps side by side along x + y − z", {
    unit: "element",
  }],
  patchC: ["Elements along c", "elements that a thread keeps side by side along x − y + z", {
    unit: "element",
  }],
  phases: ["Phases", "turns in which threads exchange values in a time step", {
    values: { 1: "all cells at once", 2: "even and odd cells by turns, in half the workgroup memory" },
  }],
  ahead: ["Loaded ahead", "time steps by which what other torres left is loaded early", { unit: "step" }],
  nt: [...COMMON.steps, { unit: "step", role: "pass" }],
  bands: [...COMMON.bands, { unit: "band", role: "pass" }],
  packed: COMMON.packed,
} as const satisfies ParameterWords;

type VolumeParameters = ParametersOf<Exclude<keyof typeof PARAMETERS, "packed">> & {
  readonly packed?: number;
};

/** Registers of a multiprocessor. */
const REGISTERS = 65_536;

/** Values of a thread beside cells and fronts: places, lanes and the grid's edge. */
const OTHER_REGISTERS = 24;

/** Instructions of an operation: some products are added in the same one. */
const FUSED = 0.8;

/** How much of a wait for a tier's loads is left where they are one tier ahead: on an H200 986, 1,068 and 1,105 Gcells/s with 1, 2 and 4. */
const WAIT_AHEAD = 0.4;

/** Bytes that move for an image: the sector that holds the cell, and its own value in and out. */
const IMAGE_BYTES = 40;

/** What a plan has of tiles; with ends that hold images a run is done in rounds, in which each band runs once. */
function shapeOf(problem: Problem, values: VolumeParameters) {
  const { stencil: { update }, boundary, steps } = problem,
    { side, patchA, patchB, patchC, phases, nt, bands } = values;
  const piece = pieceOf(update, side, patchA, patchB, patchC, phases);
  const { beyond, wide } = widened(problem, piece.slope * nt * bands);
  const round = isAllZero(boundary) ? Infinity : nt * bands;
  return {
    piece,
    extent: extentOf(piece, wide.grid),
    beyond,
    wide,
    round,
    run: Math.max(1, Math.min(steps, round)),
  };
}

const WITHOUT_IMAGES: Limitation = {
  boundaries: AMONG_ZEROS,
  cannot: { boundary: "images hold values of the field alone" },
};

/** The tile and what a thread holds of it, the torre's height, and how far fronts are loaded ahead are to choose. */
export const volumeTorre: Traversal = {
  name: "volume-torre",
  title: "torres of diamond tiles in three dimensions: many time steps in one pass over memory",
  dimensions: 3,
  parameters: PARAMETERS,
  capabilities: capabilities(
    [
      "dimensions volume grid materials profiles signal points previous diagonal-taps slanted-taps",
      "sideways-taps",
    ],
    A_FIELD_IN_A_TILE,
    { where: { materials: WITHOUT_IMAGES, profiles: WITHOUT_IMAGES, points: WITHOUT_IMAGES } },
  ),
  parameterLists({ stencil: { update }, steps }) {
    const slope = slopeOf(update), isFar = slope > 2;
    return {
      side: isFar ? [18, 15, 12] : [20, 16, 12, 24, 8],
      patchA: isFar ? [3] : [2, 4],
      patchB: isFar ? [3] : [4, 2],
      patchC: isFar ? [3] : [4, 2],
      phases: [2, 1],
      ahead: slope > 1 && profilesOf(update).length > 0 ? [1, 2, 4] : [4, 2, 1],
      nt: [80, 48, 64, 32, 16].filter((nt) => nt === 16 || nt <= steps),
      bands: [12, 8, 6, 4, 3, 2, 1].filter((bands) => bands <= Math.max(1, Math.floor(steps / 16))),
      ...(update.materials.length > 0 && { packed: isPackable(update) ? [0, 1] : [0] }),
    };
  },
  infeasible(problem, parameters, limits) {
    const { side, patchA, patchB, patchC, ahead, nt, bands, packed } = parameters, { grid: [nx] } = problem;
    const slope = slopeOf(problem.stencil.update), patch = [patchA, patchB, patchC];
    if (slope === 0) {
      return { kind: "reach", message: "no tap of the field reaches a neighbour: there is nothing to tile" };
    }
    if (patch.some((own) => side % own !== 0)) {
      return wrongParameters(`sides of ${side} elements do not divide into patches of ${patch.join(" x ")}`);
    }
    if (patch.some((own) => own < slope)) {
      return wrongParameters(
        `patches of ${patch.join(" x ")} elements are fewer than the ${slope} that taps reach`,
      );
    }
    if (nt % 2 !== 0) return wrongParameters(`Nt ${nt} is odd: the two arrays would not swap back`);
    if (nt % ahead !== 0) {
      return wrongParameters(`Nt ${nt} is no multiple of the ${ahead} time steps loaded ahead`);
    }
    if (packed === 1 && !isPackable(problem.stencil.update)) {
      return wrongParameters(`packed ${packed}: packed materials alone are wanted, in f32`);
    }
    const unlike = refuseUnlike(problem);
    if (unlike !== undefined) return unlike;
    const { piece, extent, run } = shapeOf(problem, parameters),
      { usable } = pace(piece, extent, { nt, bands, steps: run });
    // more than can run at once have no places, so of two numbers that are as good the smaller is tried
    if (bands > 1 && 3 * bands >= 4 * usable) {
      return wrongParameters(`${bands} bands are too many: at most ${usable} can run at once`);
    }
    const needed = registersOf(problem, parameters) * piece.threads;
    if (needed > REGISTERS) {
      return wrongParameters(`${needed} registers in a workgroup: a multiprocessor has ${REGISTERS}`);
    }
    const layout = stepwiseLayout(problem),
      { left, farsh, materials } = memoryOf(problem, parameters, limits);
    const most = Math.max(extent.length, materials.length);
    if (most > MOST_VALUES) {
      return { kind: "limits", message: `${most} values in one array are more than a shader counts` };
    }
    if (left < 1) {
      const levels = `${piece.valueBytes * extent.length} bytes in one time level`;
      const message = `${levels} and ${piece.valueBytes * materials.length} of materials`;
      return { kind: "limits", message: `${message} take too many bindings` };
    }
    return exceededLimit(limits, {
      layout,
      span: 1,
      scratch: farsh[0]!.length,
      workgroup: [piece.threads, 1, 1],
      workgroupBytes: piece.bytes + leanBytes(problem, piece, nt),
      workgroups: [extent.across[0] * extent.thirds, nx],
    });
  },
  demand(problem, parameters) {
    const { grid, stencil: { update } } = problem, { nt, bands, phases, ahead } = parameters;
    const { piece, extent, wide, run } = shapeOf(problem, parameters),
      { threads, cells, front, slope, width } = piece;
    const { height, stages, count, lag } = pace(piece, extent, { nt, bands, steps: run });
    const { tiers, torres } = workOf(piece, extent, wide.grid[0], height);
    const updates = grid[0] * grid[1] * grid[2] * height, inTile = 2 * piece.tile ** 3;
    const { rounds, entering, moves } = piece, levels = piece.hasPrevious ? 2 : 1;
    const entered = Math.max(...entering.map(({ length }) => length));
    const { valueBytes } = piece;
    const handed = 4 * front.reduce((sum, length) => sum + length) +
      materialTaps(update).length * (entered + inTile / height);
    const copied = wide.grid[0] * wide.grid[1] * wide.grid[2] - grid[0] * grid[1] * grid[2];
    const bytes =
      valueBytes * (handed * tiers + 2 * levels * inTile * torres * width / (width + slope * height)) /
        updates +
      IMAGE_BYTES * levels * copied * height / (run * updates);
    // elements of others that a thread reads
    const [a, b, c] = piece.patch, read = (a + slope) * (b + slope) * (c + slope) - a * b * c;
    const exchanges = 2 * (piece.shared.length + read + 2 * rounds) +
      moves * (piece.shared.length + read + entered / threads);
    const instructions = FUSED * cells * (operationsOf(update) + 1) + 4 * rounds;
    const waves = stages + lag * (count - 1);
    return {
      bytesPerValue: valueBytes,
      bytesPerUpdate: bytes,
      registers: { plain: registersOf(problem, parameters) },
      threadsPerWorkgroup: threads,
      workgroupBytes: piece.bytes + leanBytes(problem, piece, nt),
      workgroupsPerDispatch: torres * count / waves,
      loopInstructions: (hasLean(problem) ? 2 : 1) * ahead * instructions,
      rounds: {
        instructions,
        operations: cells * operationsOf(update),
        barriers: 2 * (phases + piece.turns),
        rows: 4 * rounds,
        exchanges,
        waits: { tierWaitNs: WAIT_AHEAD / ahead ** 2 },
        nearWaits: 0,
        nearBytes: bytes,
        cells: updates / tiers,
        busyThreads: threads,
        dispatches: dispatchesOf(piece.shape, wide.grid, nt, bands, run).map((alike) => {
          return { count: alike.count / run, workgroups: alike.torres, rounds: tiers / torres };
        }),
      },
    };
  },
  plan(problem, parameters, limits) {
    const { nt, ahead } = parameters,
      { piece, extent, beyond, wide, round } = shapeOf(problem, parameters);
    const { parts, places: bands, farsh, materials } = memoryOf(problem, parameters, limits);
    const layout = stepwiseLayout(problem);
    const { slope, width } = piece, table = tableOf(piece);
    const cut = sectionsOf(layout, { span: 1 }, limits), sections = cut.length === 1 ? undefined : cut;
    const others = parts.slice(1).map((_, i) => i + 1);
    const { hasSignal, hasSeries } = seriesAccess(problem);
    // tiers of a round of each shader's loop: the last band's may be no multiple of those that are loaded ahead
    const rounds = ahead === 1 ? [1] : [ahead, 1];
    const { shares } = materials, move = shares.length * rounds.length;
    const images = round < Infinity ? imagesShader(problem, { piece, extent, parts, beyond }) : undefined;
    return {
      label: `volume-torre ${
        Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" ")
      }`,
      storage: {
        layout,
        scratch: [
          ...farsh.map(({ name, length }) => ({ name, length, lives: "plan" as const })),
          { name: "table", length: table.length, lives: "plan", holds: table },
          ...materials.buffers,
          ...featureBuffers(problem, hasSeries),
        ],
        order: {
          length: extent.length,
          parts,
          values: valuesInTiles(piece, extent, beyond),
          materials: materials.fill(cut, declareTable(piece)),
        },
        ...(sections && { sections }),
      },
      shaders: [
        ...shares.flatMap(({ from, nameOf }) =>
          rounds.map((ahead) => {
            const shader = volumeTorreShader({
              problem: wide,
              piece,
              extent,
              farsh,
              nt,
              ahead,
              parts,
              materials,
              from,
            });
            return { ...shader, buffers: shader.buffers.map(nameOf) };
          })
        ),
        moveShader(width),
        ...(hasSeries ? [sampleShader({ problem, piece, extent }, { materials, parts, beyond })] : []),
        ...(images ? [images.shader] : []),
      ],
      ...(hasSeries && {
        points: { ...tilePoints({ problem, piece, extent }, move + 1, others), hasSignal },
      }),
      dispatches(steps, start) {
        const list: Dispatch[] = [], flipped = start % 2 === 1, ofRun = { flipped, others };
        for (let begin = 0; begin < steps; begin += round) {
          if (images) {
            list.push({
              ...ofRun,
              shader: move + (hasSeries ? 2 : 1),
              workgroups: images.workgroups,
              uniforms: [begin],
            });
          }
          const count = Math.min(round, steps - begin);
          for (const all of scheduleVolume(piece, extent, { nt, bands, steps: count })) {
            for (const [i, tiers] of rounds.entries()) {
              const alike = all.filter(({ height }) => rounds.find((one) => height % one === 0) === tiers);
              const uniforms = alike.flatMap((row) => [row.stage, row.place, begin + row.step, row.height]);
              for (const [share, { rows }] of alike.length > 0 ? shares.entries() : []) {
                const workgroups = [rows * extent.thirds, alike.length, 1] as const;
                list.push({ ...ofRun, shader: share * rounds.length + i, workgroups, uniforms });
              }
            }
          }
        }
        const moved = slope * steps % width;
        return moved === 0
          ? list
          : [...list, { shader: move, workgroups: [1, 1, 1], flipped, uniforms: [moved] }];
      },
    };
  },
} satisfies Traversal<VolumeParameters>;

/** Registers of a thread: its cells, the fronts that it has loaded ahead, and of two phases what the first has made. */
function registersOf(problem: Problem, parameters: VolumeParameters): number {
  const { piece } = shapeOf(problem, parameters),
    { cells, hasPrevious, phases, coefficients, threads } = piece;
  const kept = coefficients + (hasPrevious ? 2 : 1), loaded = materialTaps(problem.stencil.update).length;
  const entering = piece.entering.reduce((sum, { length }) => sum + Math.ceil(length / threads), 0);
  const fronts = parameters.ahead * (2 * piece.rounds + loaded * entering);
  return OTHER_REGISTERS +
    precisionOf(problem.stencil.update).bytes / 4 * (cells * (kept + (phases - 1) / 4) + fronts);
}

/**
 * Values of each part of a level, as many whole rows of tiles as a binding holds, the copy of materials, and FArSh in what
 * bindings they leave; `left`: how many these are.
 */
function memoryOf(problem: Problem, parameters: VolumeParameters, limits?: SectionLimits) {
  const { piece, extent, run } = shapeOf(problem, parameters);
  const bytes = Math.min(limits?.maxStorageBufferBindingSize ?? Infinity, limits?.maxBufferSize ?? Infinity);
  const { along, across: [ny, nz], length } = extent, row = ny * nz * piece.cells * piece.threads;
  const most = Math.min(along, Math.floor(bytes / (piece.valueBytes * row))),
    count = Math.ceil(along / most);
  const features = featureBuffers(problem, seriesAccess(problem).hasSeries).length;
  const free = (limits?.maxStorageBuffersPerShaderStage ?? USUAL_BUFFERS) - features - 2 * count;
  const materials = materialsOf(problem.stencil, stepwiseLayout(problem), { piece, extent }, {
    bytes,
    left: free - 1,
    packed: parameters.packed,
  });
  const left = free - materials.bound;
  const parts = left < 1 ? [length] : partsOf(along, most).map((tiles) => tiles * row);
  const { places } = pace(piece, extent, { ...parameters, steps: run });
  return {
    left,
    parts,
    places,
    materials,
    farsh: farshOf(piece, extent, parameters.nt * places, { most: left, bytes }),
  };
}

/** Whether all materials may lie packed. */
function isPackable(update: Update): boolean {
  const { materials: { length } } = update;
  return length > 0 && packedPlanes(update, 1).length === length;
}

/** The shader that remembers how far tiles have moved once a list of dispatches is done. */
function moveShader(width: number): Shader {
  return shaderOf(
    "move tiles",
    wgsl`
      struct By { cells: i32 }
      @group(0) @binding(2) var<uniform> by: By;
      ${declareBuffer("table", "array<i32>")}
      @compute @workgroup_size(1)
      fn main() { table[0] = (table[0] + by.cells) % ${width}; }
    `,
    {},
  );
}
