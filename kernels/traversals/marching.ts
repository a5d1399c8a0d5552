/**
 * Marching (the FDTD3d way: Micikevicius, GPGPU-2, 2009): a workgroup covers a y–z tile and marches along x,
 * the slowest axis. Each thread keeps the cells ahead of and behind its own in a register queue; the tile of
 * the present slice lies in workgroup memory with its halo. Each value of F(t) is read from memory about once.
 *
 * @module
 */
import type { Tap } from "../expression.ts";
import type { Layout } from "../layout.ts";
import type { Problem } from "../stencils/stencil.ts";
import { expressionsOf, onlyExpression, reachOf, readsPrevious, tapsOf } from "../update.ts";
import { declareLayout, declareLevels } from "../wgsl/declare.ts";
import { wgsl } from "../wgsl/template.ts";
import { updateWriter } from "../wgsl/write_update.ts";
import { planSteps, stepwiseLayout } from "./stepwise.ts";
import type { Parameters, Shader, Traversal } from "./traversal.ts";
import { exceededLimit, powersOfTwo } from "./workgroup_limits.ts";

/** One dispatch a step; the tile's shape and the number of pieces the march is cut into are to choose. */
export const marching: Traversal = {
  name: "marching",
  title: "workgroups march along x, a tile in workgroup memory, the axis in registers",
  refuse({ stencil }) {
    if (onlyExpression(stencil.update) === undefined) return "several fields";
    const taps = tapsOf(stencil.update);
    if (taps.some(({ ago, offset }) => ago === 1 && offset.some((d) => d !== 0))) {
      return "a tap one step ago lies off the cell itself: only the newest level is in the tile";
    }
    if (taps.some(({ offset: [x, y, z] }) => x !== 0 && (y !== 0 || z !== 0))) {
      return "a tap lies off the axes along x: only the present slice is in the tile";
    }
    if (taps.some(({ offset: [, y, z] }) => y !== 0 && z !== 0)) {
      return "a tap lies off the axes in the tile: its halo has no corners";
    }
  },
  parameterLists({ grid: [nx, ny, nz] }, limits) {
    return {
      threadsZ: powersOfTwo(8, Math.min(256, limits.maxComputeWorkgroupSizeX)).filter((z) =>
        z < 2 * nz || z === 8
      ),
      threadsY: powersOfTwo(1, Math.min(32, limits.maxComputeWorkgroupSizeY)).filter((y) => y < 2 * ny),
      pieces: powersOfTwo(1, Math.min(16, nx)),
    };
  },
  infeasible(problem, parameters, limits) {
    const { threadsZ, threadsY } = parameters;
    return exceededLimit(limits, {
      layout: stepwiseLayout(problem),
      workgroup: [threadsZ, threadsY, 1],
      workgroupBytes: tileOf(problem, parameters).bytes,
      workgroups: workgroupsOf(problem, parameters),
    });
  },
  demand(problem, parameters) {
    const { threadsZ, threadsY, pieces } = parameters;
    const reach = reachOf(problem.stencil.update);
    const levels = readsPrevious(problem.stencil.update) ? 2 : 1;
    // Halo cells come from memory too. Along z they cost most: whole sectors of 32 bytes, loaded by few threads;
    // the weights fit an H100 at order 2 (2026-11-21: tiles 32, 64, 128, 256 wide 106, 127, 138, 161 Gcells/s).
    const halo = 0.5 * reach.y / threadsY + 32 * Math.ceil(reach.z / 8) / threadsZ;
    const restart = 2 * reach.x * pieces / problem.grid[0];
    return {
      bytesPerUpdate: 4 * (levels + 1 + restart + halo),
      redundancy: 1,
      registersPerThread: 24 + 2 * reach.x + 1,
      threadsPerWorkgroup: threadsZ * threadsY,
      workgroupBytes: tileOf(problem, parameters).bytes,
      workgroupsPerDispatch: workgroupsOf(problem, parameters).reduce((a, b) => a * b),
      dispatchesPerStep: problem.boundary === "zero" ? 1 : 2,
      exchangesPerUpdate: 1 + 2 * reach.y + 2 * reach.z,
    };
  },
  plan(problem, parameters) {
    const layout = stepwiseLayout(problem);
    const { threadsZ, threadsY, pieces } = parameters;
    return planSteps({
      label: `marching ${threadsZ}x${threadsY}, ${pieces} pieces`,
      problem,
      layout,
      shaders: [marchShader(problem, layout, parameters)],
      shape: [threadsZ, threadsY, sliceCount(problem, parameters)],
      workgroups: workgroupsOf(problem, parameters),
    });
  },
};

/** Slices that one workgroup marches over. */
function sliceCount({ grid: [nx] }: Problem, { pieces }: Parameters): number {
  return Math.ceil(nx / pieces);
}

function workgroupsOf(problem: Problem, parameters: Parameters): [number, number, number] {
  const [nx, ny, nz] = problem.grid;
  const slices = sliceCount(problem, parameters);
  return [Math.ceil(nz / parameters.threadsZ), Math.ceil(ny / parameters.threadsY), Math.ceil(nx / slices)];
}

/** The tile with its halo, twice: while some threads still read one, others fill the other. */
function tileOf({ stencil }: Problem, { threadsZ, threadsY }: Parameters) {
  const { y, z } = reachOf(stencil.update);
  const rows = threadsY + 2 * y, columns = threadsZ + 2 * z;
  return { rows, columns, bytes: 2 * rows * columns * 4 };
}

function marchShader(problem: Problem, layout: Layout, parameters: Parameters): Shader {
  const { stencil } = problem;
  const { threadsZ, threadsY } = parameters;
  const { x: reachX, y: reachY, z: reachZ } = reachOf(stencil.update);
  const { rows, columns } = tileOf(problem, parameters);
  const { constants, write } = updateWriter(expressionsOf(stencil.update));
  /** The queue's register that holds the cell `ahead` slices from the present one. */
  const queue = (ahead: number): string =>
    ahead < 0 ? `behind${-ahead}` : ahead > 0 ? `ahead${ahead}` : "here";
  const read = ({ offset: [x, y, z], ago }: Tap): string => {
    if (ago === 1) return "before[cell]";
    if (y === 0 && z === 0) return queue(x);
    return `tile[row${signed(y)}][column${signed(z)}]`;
  };
  const slots = Array.from({ length: 2 * reachX + 1 }, (_, i) => i - reachX);
  const declareQueue = slots.map((k) =>
    k === reachX ? `var ${queue(k)} = 0.0f;` : `var ${queue(k)} = now[cell${signed(k, "SLICE")}];`
  ).join("\n");
  const advanceQueue = slots.slice(0, -1).map((k) => `${queue(k)} = ${queue(k + 1)};`).join("\n");
  const loadHalo = [
    ...loads(
      2 * reachY,
      threadsY,
      "local.y",
      (i) =>
        `let r = select(${i} + ${threadsY}, ${i}, ${i} < ${reachY});
       tile[half + r][local.x + ${reachZ}] = now[cell + (r - ${reachY} - local.y) * PITCH];`,
    ),
    ...loads(
      2 * reachZ,
      threadsZ,
      "local.x",
      (i) =>
        `let c = select(${i} + ${threadsZ}, ${i}, ${i} < ${reachZ});
       tile[row][c] = now[cell + c - ${reachZ} - local.x];`,
    ),
  ].join("\n");
  const code = wgsl`
    // ${stencil.title}: one step; each workgroup marches along x over ${
    sliceCount(problem, parameters)
  } slices.
    ${declareLayout(layout)}
    const SLICES = ${sliceCount(problem, parameters)};
    const ROWS = ${rows}; const COLUMNS = ${columns};
    ${constants}
    ${declareLevels()}
    var<workgroup> tile: array<array<f32, COLUMNS>, ${2 * rows}>;

    @compute @workgroup_size(${threadsZ}, ${threadsY})
    fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
      let local = vec2i(l.xy);
      let z = i32(w.x) * ${threadsZ} + local.x;
      let y = i32(w.y) * ${threadsY} + local.y;
      let first = i32(w.z) * SLICES;
      let last = min(first + SLICES, NX);
      let mine = z < NZ && y < NY;
      let column = local.x + ${reachZ};
      var half = 0;
      var cell = ORIGIN + first * SLICE + y * PITCH + z;
      ${declareQueue}
      for (var x = first; x < last; x++) {
        ${reachX > 0 ? `${queue(reachX)} = now[cell + ${reachX} * SLICE];` : `${queue(0)} = now[cell];`}
        let row = half + local.y + ${reachY};
        tile[row][column] = here;
        ${loadHalo}
        workgroupBarrier();
        if (mine) { before[cell] = ${write({ tap: read }).values[0]}; }
        ${advanceQueue}
        cell += SLICE;
        half = ROWS - half; // the other tile: one barrier a slice is enough
      }
    }
  `;
  return { label: `march ${threadsZ}x${threadsY}`, code };
}

/** Blocks in which `threads` threads together handle items 0 … count−1, each its own, `threads` apart. */
function loads(count: number, threads: number, thread: string, body: (item: string) => string): string[] {
  return Array.from({ length: Math.ceil(count / threads) }, (_, round) => {
    const item = round === 0 ? thread : `(${thread} + ${round * threads})`;
    const guard = (round + 1) * threads > count ? `if (${item} < ${count}) ` : "";
    return `${guard}{\n  ${body(item).replace(/\n\s*/, "\n  ")}\n}`;
  });
}

/** " + 3", " - 2 * SLICE", or nothing. */
function signed(count: number, stride?: string): string {
  if (count === 0) return "";
  return ` ${count < 0 ? "-" : "+"} ${Math.abs(count)}${stride === undefined ? "" : ` * ${stride}`}`;
}
