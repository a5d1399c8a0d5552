/**
 * DiamondTorre (Levchenko, Perepelkina, Zakirov, Computation 2016, 4(3), 29, §4–6): many time steps of a tile
 * in one pass over memory.
 *
 * Geometry. u = x + y, v = x − y. With S the stencil's slope, the largest |Δx| + |Δy| of a tap, a **tile** is
 * the square [U, U+W) × [V, V+W) in u and v, W = 2·S·DTS: in x–y a diamond of W²/2 cells. A **torre** is a
 * stack of tiles, the **tiers**, one time step each; every tier lies S further along u and v, that is S cells
 * further along x. A torre needs nothing but what the two torres at its right leave behind, and torres of one
 * row (same x, W apart in y) need nothing of each other: a row is a dispatch, the **stage**; each workgroup
 * computes one torre; the stages go from right to left, W/2 cells a stage, every other one shifted by W/2 in y.
 *
 * A tier in local coordinates a = u − U, b = v − V, both in [0, W), a + b even; F at t, G at t−1:
 * - it needs F on [−S, W+S)²; the last tier left [−S, W−S)² in registers, the rest is loaded;
 * - it needs G on [0, W)², in registers, for it was F one tier ago;
 * - new values with a < 2S or b < 2S are stored: the next-but-one tier no longer covers them.
 * A cell left behind is one step older in one array than in the other: exactly what the left neighbours load.
 *
 * Threads run along z and exchange their values through workgroup memory, a chunk of cells between two
 * barriers, in two halves by turns. Cells of a tile are visited by growing max(a, b), so that those that wait
 * for loads come last.
 *
 * Edges. Everything outside the grid is zero and must stay zero: tiers that touch an edge in x or y set what
 * lies outside to zero before it is stored or used (a branch that is the same for the whole workgroup); tiers
 * wholly outside in x are left out; lanes beyond the end of z are kept zero.
 *
 * @module
 */
import { reachOf, readsPrevious, type Tap, tapsOf } from "../expression.ts";
import { type Layout, layOut } from "../layout.ts";
import type { Problem } from "../stencils/stencil.ts";
import { declareLayout } from "../wgsl/declare.ts";
import { wgsl } from "../wgsl/template.ts";
import { type UpdateWriter, updateWriter } from "../wgsl/write_update.ts";
import { stepShader } from "./stepwise.ts";
import type { Dispatch, GpuPlan, Parameters, Shader, Traversal } from "./traversal.ts";
import { exceededLimit } from "./workgroup_limits.ts";

/** Lookahead that puts every load at the start of its tier. */
const EARLIEST = 99;

/** A cell of a tile in the torre's local coordinates. */
type Place = readonly [a: number, b: number];

/** Torres: the tile's size, the torre's height and how the kernel is written are to choose. */
export const diamondTorre: Traversal = {
  name: "diamond-torre",
  title: "torres of diamond tiles: many time steps in one pass over memory",
  refuse({ stencil, boundary }) {
    if (boundary !== "zero") {
      return "torres advance from one end of x to the other: a periodic boundary has no end to start from";
    }
    const taps = tapsOf(stencil.update);
    if (taps.some(({ ago, offset }) => ago === 1 && offset.some((d) => d !== 0))) {
      return "a tap one step ago lies off the cell itself: a torre keeps only the cell's own";
    }
    if (taps.some(({ offset: [x, y, z] }) => z !== 0 && (x !== 0 || y !== 0))) {
      return "a tap lies off the axes along z: threads exchange only a cell's own column";
    }
    if (reachOf(stencil.update).diamond === 0) return "no tap reaches along x or y: there is nothing to tile";
  },
  parameterLists(problem) {
    const slope = reachOf(problem.stencil.update).diamond;
    const exact = (zPerThread: number): number => Math.ceil(problem.grid[2] / zPerThread);
    return {
      dts: [1, 2, 3, 4, 5, 6, 7, 8].filter((dts) => 2 * slope * slope * dts * dts <= 128 || dts === 1),
      nt: [8, 16, 24, 32, 48, 64, 96, 128, 192].filter((nt) => nt === 8 || nt <= problem.steps),
      zPerThread: [1, 2, 4],
      threads: [...new Set([1, 2, 4].flatMap((n) => [exact(n), Math.ceil(exact(n) / 32) * 32]))],
      // what did best on an H100 first (2026-11-21): the model does not tell these apart
      chunk: [8, 4, 16, 2],
      unroll: [1, 2, 4],
      lookahead: [EARLIEST, 1, 0],
    };
  },
  infeasible(problem, parameters, limits) {
    const { nt, zPerThread, threads, chunk, unroll, lookahead } = parameters;
    const shape = shapeOf(problem, parameters);
    const nz = problem.grid[2], lanes = threads * zPerThread;
    if (lanes < nz) return `${threads} threads of ${zPerThread} cells do not cover ${nz} cells along z`;
    const least = Math.ceil(nz / zPerThread);
    if (threads !== least && threads !== Math.ceil(least / 32) * 32) {
      return `${threads} threads are more than ${nz} cells along z need`;
    }
    if (unroll !== 1 && unroll % 2 !== 0) {
      return `unroll ${unroll} is odd: the two arrays would not swap back`;
    }
    if (unroll === 1 && lookahead !== EARLIEST) return "with unroll 1 every load is at the start of its tier";
    if (nt % unroll !== 0) return `Nt ${nt} is not a multiple of unroll ${unroll}`;
    if (chunk > shape.tile.length && chunk !== 2) {
      return `a chunk of ${chunk} is more than the tile's ${shape.tile.length} cells`;
    }
    const tooLong = 40_000;
    const written = unroll * shape.tile.length * (tapsOf(problem.stencil.update).length + 6);
    if (written > tooLong) {
      return `${written} operations in the loop's body, more than the ${tooLong} that compile in time`;
    }
    return exceededLimit(limits, {
      layout: shape.layout,
      workgroup: [threads, 1, 1],
      workgroupBytes: 2 * shape.perChunk * shape.slotLength * zPerThread * 4,
      workgroups: [torresInRow(problem, shape.width, 0), 1, 1],
    });
  },
  demand(problem, parameters) {
    const { nt, zPerThread, threads, unroll } = parameters;
    const { slope, width, tile, needed, held, perChunk, slotLength } = shapeOf(problem, parameters);
    const previous = readsPrevious(problem.stencil.update);
    const perTier = (needed.length - held.length) +
      tile.filter(([a, b]) => a < 2 * slope || b < 2 * slope).length;
    const ends = 2 * (held.length + (previous ? tile.length : 0));
    const [nx] = problem.grid;
    // Torres cut by the ends of x start and end inside the grid: as many more ends as stages overlap them.
    const tiers = Math.max(1, Math.min(nt, problem.steps));
    const stages = Math.ceil((nx + slope * tiers + width) / (width / 2));
    const tierRatio = (nx * 2 / width) * tiers / stages;
    return {
      bytesPerUpdate: 4 * (perTier + ends / tierRatio) / tile.length,
      redundancy: 1,
      registersPerThread: zPerThread * (needed.length + (previous ? tile.length : 0)) + 20,
      threadsPerWorkgroup: threads,
      workgroupBytes: 2 * perChunk * slotLength * zPerThread * 4,
      workgroupsPerDispatch: torresInRow(problem, width, 0),
      dispatchesPerStep: stages / tiers,
      exchangesPerUpdate: (1 + tapsAlongZ(problem, zPerThread)) / zPerThread,
      loopInstructions: unroll *
        (tile.length * (zPerThread * tapsOf(problem.stencil.update).length + 2) + 2 * perTier),
    };
  },
  plan(problem, parameters) {
    return planTorres(problem, parameters);
  },
};

/** Reads of other threads' slots that one cell's taps along z take. */
function tapsAlongZ({ stencil }: Problem, zPerThread: number): number {
  const { z } = reachOf(stencil.update);
  return 2 * Math.ceil(z / zPerThread);
}

/** Everything about a torre that follows from the problem and the parameters. */
interface Shape {
  readonly slope: number;
  /** W, cells along u and v. */
  readonly width: number;
  readonly tile: readonly Place[];
  /** Places whose F the last tier left in registers. */
  readonly held: readonly Place[];
  /** Places whose F a tier reads. */
  readonly needed: readonly Place[];
  readonly perChunk: number;
  /** Threads of a slot and, at each end, those of the rim that stay zero. */
  readonly slotLength: number;
  readonly rim: number;
  readonly layout: Layout;
}

function shapeOf({ stencil, grid }: Problem, { dts, zPerThread, threads, chunk, unroll }: Parameters): Shape {
  const reach = reachOf(stencil.update);
  const slope = reach.diamond;
  const width = 2 * slope * dts;
  const rim = Math.ceil(reach.z / zPerThread);
  const tile = square(0, width);
  const alongX = width + slope * (unroll + 1); // tiers widened to whole rounds, and what they load ahead
  const lanes = threads * zPerThread;
  return {
    slope,
    width,
    tile,
    held: square(-slope, width - slope),
    needed: square(-slope, width + slope),
    perChunk: Math.min(chunk, tile.length),
    slotLength: threads + 2 * rim,
    rim,
    layout: layOut(grid, {
      pad: [alongX, width + slope, Math.max(reach.z, lanes - grid[2])],
      align: 32,
      sharedPads: true,
    }),
  };
}

/** The places of [from, to)², those that need the least of what is loaded first. */
function square(from: number, to: number): Place[] {
  const places: Place[] = [];
  for (let a = from; a < to; a++) {
    for (let b = from; b < to; b++) if ((a + b) % 2 === 0) places.push([a, b]);
  }
  return places.sort((p, q) => Math.max(...p) - Math.max(...q) || p[0] - q[0] || p[1] - q[1]);
}

/** Torres whose tile meets the grid along y, in a row whose first torre is centred at y = shift. */
function torresInRow({ grid: [, ny] }: Problem, width: number, shift: number): number {
  return Math.max(0, Math.floor((ny - 1 + width / 2 - 1 - shift) / width) + 1);
}

function planTorres(problem: Problem, parameters: Parameters): GpuPlan {
  const { dts, nt, zPerThread, threads, chunk, unroll, lookahead } = parameters;
  const shape = shapeOf(problem, parameters);
  const { slope, width, layout } = shape;
  const [nx, ny, nz] = problem.grid;
  const single = [Math.min(64, threads), 1, 1] as const;
  const label = `diamond-torre DTS=${dts} Nt=${nt} z=${zPerThread} threads=${threads} chunk=${chunk} ` +
    `unroll=${unroll} lookahead=${lookahead}`;
  const addStages = (list: Dispatch[], tiers: number, start: number): void => {
    const lowest = -(slope * (tiers - 1) + width - 1);
    for (let x = nx - 1, k = 0; x >= lowest; x -= width / 2, k++) {
      const shift = k % 2 === 0 ? 0 : width / 2;
      const torres = torresInRow(problem, width, shift);
      // Tiers that meet the grid, widened to whole rounds of the loop.
      const first = Math.max(0, Math.ceil((1 - width - x) / slope));
      const last = Math.min(tiers, Math.floor((nx - 1 - x) / slope) + 1);
      const from = Math.floor(first / unroll) * unroll;
      const to = Math.min(tiers, Math.ceil(last / unroll) * unroll);
      if (torres === 0 || from >= to) continue;
      list.push({
        shader: 0,
        workgroups: [torres, 1, 1],
        flipped: (start + from) % 2 === 1,
        uniforms: [x + slope * from, shift, to - from],
      });
    }
  };
  return {
    label,
    layout,
    shaders: [torreShader(problem, parameters, shape), stepShader(problem, layout, single)],
    dispatches(steps, start) {
      const list: Dispatch[] = [];
      let step = start;
      const left = () => start + steps - step;
      while (left() >= unroll) {
        const tiers = Math.min(nt, Math.floor(left() / unroll) * unroll);
        addStages(list, tiers, step);
        step += tiers;
      }
      // Fewer steps than the loop's body: one at a time.
      for (; left() > 0; step++) {
        const cover = [Math.ceil(nz / single[0]), ny, nx] as const;
        list.push({ shader: 1, workgroups: cover, flipped: step % 2 === 1, uniforms: [] });
      }
      return list;
    },
  };
}

function torreShader(problem: Problem, parameters: Parameters, shape: Shape): Shader {
  const { dts, zPerThread, threads, unroll } = parameters;
  const { slope, width, layout, tile, held, rim, perChunk, slotLength } = shape;
  const previous = readsPrevious(problem.stencil.update);
  const type = zPerThread === 1 ? "f32" : `vec${zPerThread}f`;
  const writer = updateWriter(problem.stencil.update);
  const start = [
    ...held.map((place) => `var ${register("f", place)} = now[base${at(place)}];`),
    ...(previous ? tile.map((place) => `var ${register("g", place)} = before[base${at(place)}];`) : []),
  ].join("\n");
  // What is still only in registers at the top, in the coordinates of the tier after the last.
  const finishInto = (current: string, other: string): string =>
    [
      ...square(slope, width - slope).map((place) =>
        `${current}[base${at(place)}] = ${register("f", place)};`
      ),
      ...(previous
        ? square(0, width - 2 * slope).map((place) => `${other}[base${at(place)}] = ${register("g", place)};`)
        : []),
    ].join("\n");
  const finish = unroll > 1
    ? finishInto("now", "before")
    : eitherWay("stage.tiers % 2 == 1", finishInto("before", "now"), finishInto("now", "before"));
  const threadCells = zPerThread === 1 ? "" : ` / ${zPerThread}`;
  const laneNumbers = Array.from({ length: zPerThread }, (_, lane) => lane);
  const beyond = threads * zPerThread > problem.grid[2];
  const lanesInside = laneNumbers.map((lane) => `thread * ${zPerThread} + ${lane} < NZ`).join(", ");
  const code = wgsl`
    // ${problem.stencil.title}: a torre per workgroup, ${zPerThread} cells along z per thread.
    ${declareLayout(layout)}
    const DTS = ${dts}; const S = ${slope}; const W = ${width};
    const SLICE_T = SLICE${threadCells}; const PITCH_T = PITCH${threadCells}; // in cells of a thread
    ${writer.constants}
    struct Stage { x: i32, y: i32, tiers: i32 } // base of the row's first torre at its first tier
    @group(0) @binding(0) var<storage, read_write> now: array<${type}>;
    @group(0) @binding(1) var<storage, read_write> before: array<${type}>;
    @group(0) @binding(2) var<uniform> stage: Stage;
    var<workgroup> exchange: array<array<${type}, ${slotLength}>, ${2 * perChunk}>;

    @compute @workgroup_size(${threads})
    fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
      let thread = i32(l.x);
      let slot = thread + ${rim};
      let y = stage.y + i32(w.x) * W;
      let acrossY = y - W / 2 + 1 < 0 || y + W / 2 > NY;
      var x = stage.x;
      var base = ORIGIN${threadCells} + x * SLICE_T + y * PITCH_T + thread;
      ${
    beyond ? `let inside = ${zPerThread === 1 ? lanesInside : `vec${zPerThread}<bool>(${lanesInside})`};` : ""
  }
      ${start}
      for (var tier = 0; tier < stage.tiers; tier += ${unroll}) {
        ${writeTiers(problem, parameters, shape, writer, beyond)}
      }
      ${finish}
    }
  `;
  return { label: `torre ${type} DTS=${dts}`, code };
}

/** A branch that is the same for the whole workgroup. */
function eitherWay(condition: string, yes: string, no: string): string {
  return yes === "" ? "" : wgsl`
    if (${condition}) {
      ${yes}
    } else {
      ${no}
    }
  `.trimEnd();
}

/**
 * The loop's body: `unroll` tiers, then the registers take the places of the next round's first tier. In an
 * even number of tiers the two arrays swap back, so that each tier knows which it reads; a single tier asks.
 */
function writeTiers(
  problem: Problem,
  { unroll, lookahead, zPerThread }: Parameters,
  { slope, width, tile, held, needed, perChunk }: Shape,
  writer: UpdateWriter,
  beyond: boolean,
): string {
  const previous = readsPrevious(problem.stencil.update);
  const lines: string[] = [];
  let f = new Map(held.map((place) => [`${place}`, register("f", place)]));
  let g = new Map(previous ? tile.map((place) => [`${place}`, register("g", place)]) : []);
  const chunks = Array.from(
    { length: Math.ceil(tile.length / perChunk) },
    (_, i) => tile.slice(i * perChunk, (i + 1) * perChunk),
  );
  const isLoaded = ([a, b]: Place): boolean => a >= width - slope || b >= width - slope;
  /** The first chunk that reads a place. */
  const readers = new Map<string, number>();
  chunks.forEach((chunk, index) => {
    for (const place of chunk) {
      for (const { offset: [x, y], ago } of tapsOf(problem.stencil.update)) {
        const key = `${shifted(place, x, y)}`;
        if (ago === 0 && !readers.has(key)) readers.set(key, index);
      }
    }
  });
  let half = 0;
  for (let tier = 0; tier < unroll; tier++) {
    const [source, target] = tier % 2 === 0 ? ["now", "before"] : ["before", "now"];
    const next = new Map<string, string>();
    const loads = needed.filter(isLoaded);
    lines.push(`// tier ${tier}: ${source} → ${target}`);
    if (unroll === 1) {
      const loadFrom = (array: string): string =>
        loads.map((place) => `${register("l0", place)} = ${array}[base${at(place)}];`).join("\n");
      for (const place of loads) {
        f.set(`${place}`, register("l0", place));
        lines.push(`var ${register("l0", place)}: ${zPerThread === 1 ? "f32" : `vec${zPerThread}f`};`);
      }
      lines.push("let odd = tier % 2 == 1;", eitherWay("odd", loadFrom("before"), loadFrom("now")));
    }
    chunks.forEach((chunk, index) => {
      for (const place of unroll === 1 ? [] : loads) {
        const reader = readers.get(`${place}`) ?? chunks.length - 1; // where none: the next tier's G
        if (Math.max(0, reader - lookahead) !== index) continue;
        const name = register(`l${tier}`, place);
        lines.push(`let ${name} = ${source}[base${at(place)}];`);
        f.set(`${place}`, name);
      }
      const slotOf = (i: number): number => half * perChunk + i;
      chunk.forEach((place, i) => lines.push(`exchange[${slotOf(i)}][slot] = ${f.get(`${place}`)};`));
      lines.push("workgroupBarrier();");
      chunk.forEach((place, i) => {
        const own = f.get(`${place}`)!;
        const read = ({ offset: [x, y, z], ago }: Tap): string => {
          if (ago === 1) return g.get(`${place}`)!;
          return z === 0
            ? f.get(`${shifted(place, x, y)}`)!
            : alongZ(own, `exchange[${slotOf(i)}]`, z, zPerThread);
        };
        const value = writer.write(read);
        const name = register(`n${tier}`, place);
        lines.push(`var ${name} = ${beyond ? zeroUnless("inside", value, zPerThread) : value};`);
        next.set(`${place}`, name);
      });
      half = 1 - half;
    });
    lines.push(...zeroOutside(tile, next, width, zPerThread));
    const storeInto = (array: string): string =>
      tile.filter(([a, b]) => a < 2 * slope || b < 2 * slope)
        .map((place) => `${array}[base${at(place)}] = ${next.get(`${place}`)};`).join("\n");
    lines.push(unroll === 1 ? eitherWay("odd", storeInto("now"), storeInto("before")) : storeInto(target));
    lines.push("x += S;", "base += S * SLICE_T;");
    const onward = ([a, b]: Place): string => `${[a + slope, b + slope]}`;
    if (previous) g = new Map(tile.map((place) => [`${place}`, f.get(onward(place))!]));
    f = new Map(held.map((place) => [`${place}`, next.get(onward(place))!]));
  }
  // Two chunks in turn share nothing; an odd number of them would meet its own half in the next round.
  if (half === 1) lines.push("workgroupBarrier();");
  if (previous) { for (const place of tile) lines.push(`${register("g", place)} = ${g.get(`${place}`)};`); }
  for (const place of held) lines.push(`${register("f", place)} = ${f.get(`${place}`)};`);
  return lines.join("\n");
}

/** The branch of tiers that touch an edge in x or y: what lies outside the grid becomes zero. */
function zeroOutside(
  tile: readonly Place[],
  next: ReadonlyMap<string, string>,
  width: number,
  zPerThread: number,
): string[] {
  const lines: string[] = [];
  const xOf = ([a, b]: Place): number => (a + b) / 2;
  const yOf = ([a, b]: Place): number => (a - b) / 2;
  const named = (y: number): string => y < 0 ? `inY_${-y}` : `inY${y}`;
  for (let x = 0; x < width; x++) lines.push(`let inX${x} = u32(x + ${x}) < u32(NX);`);
  for (let y = 1 - width / 2; y < width / 2; y++) lines.push(`let ${named(y)} = u32(y + ${y}) < u32(NY);`);
  for (const place of tile) {
    const name = next.get(`${place}`)!;
    const inside = `inX${xOf(place)} && ${named(yOf(place))}`;
    lines.push(`${name} = ${zeroUnless(inside, name, zPerThread)};`);
  }
  return ["if (acrossY || x < 0 || x + W > NX) {", ...lines.map((line) => `  ${line}`), "}"];
}

function zeroUnless(condition: string, value: string, zPerThread: number): string {
  return `select(${zPerThread === 1 ? "0.0f" : `vec${zPerThread}f()`}, ${value}, ${condition})`;
}

/** A column's values `distance` further along z, from the threads' slots in workgroup memory. */
function alongZ(own: string, slots: string, distance: number, zPerThread: number): string {
  const neighbour = (by: number): string =>
    `${slots}[slot${by < 0 ? ` - ${-by}` : by > 0 ? ` + ${by}` : ""}]`;
  if (distance % zPerThread === 0) return neighbour(distance / zPerThread);
  const lanes = Array.from({ length: zPerThread }, (_, lane) => {
    const by = Math.floor((lane + distance) / zPerThread);
    const component = "xyzw"[lane + distance - by * zPerThread];
    return `${by === 0 ? own : neighbour(by)}.${component}`;
  });
  return `vec${zPerThread}f(${lanes.join(", ")})`;
}

/** The place that lies Δx, Δy cells from another. */
function shifted([a, b]: Place, x: number, y: number): Place {
  return [a + x + y, b + x - y];
}

/** The name of a place's register; negative coordinates are written with an m. */
function register(prefix: string, place: Place): string {
  return `${prefix}_${place.map((c) => c < 0 ? `m${-c}` : c).join("_")}`;
}

/** The index of a place relative to the torre's base: " + 2 * SLICE_T - PITCH_T", folded by the compiler. */
function at([a, b]: Place): string {
  const x = (a + b) / 2, y = (a - b) / 2;
  const term = (count: number, stride: string): string =>
    count === 0 ? "" : ` ${count < 0 ? "-" : "+"} ${Math.abs(count)} * ${stride}`;
  return term(x, "SLICE_T") + term(y, "PITCH_T");
}
