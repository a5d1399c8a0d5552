/**
 * Periodic and insulated boundaries: after each step the pads receive the opposite side of the grid, or the grid
 * mirrored about its outermost cells, each axis as its own boundary says.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import { planesOf, stepReach } from "../update.ts";
import { alongAxes, type Boundary, type Problem } from "../stencils/stencil.ts";
import { declareBuffer, type Shader, shaderOf } from "./shader.ts";
import { declareLayout, declareLevels, LINEAR_THREADS, linearWorkgroups, plus, times } from "./declare.ts";
import { wgsl } from "./template.ts";

/** Widths of the pads to renew along x, y, z: the reach of a step where the pads are images of the grid. */
function wrapWidths({ stencil, boundary }: Problem): [number, number, number] {
  const { x, y, z } = stepReach(stencil.update), along = alongAxes(boundary);
  const widthOf = (reach: number, axis: number): number => along[axis] === "zero" ? 0 : reach;
  return [widthOf(x, 0), widthOf(y, 1), widthOf(z, 2)];
}

/** Pad cells of a plane in the three slabs: x pads in full, y pads between them, z pads between those. */
function slabCells(problem: Problem): [number, number, number] {
  const [nx, ny, nz] = problem.grid;
  const [wx, wy, wz] = wrapWidths(problem);
  return [2 * wx * (ny + 2 * wy) * (nz + 2 * wz), nx * 2 * wy * (nz + 2 * wz), nx * ny * 2 * wz];
}

export function wrapWorkgroups(problem: Problem): [number, number, number] {
  const perPlane = slabCells(problem).reduce((sum, cells) => sum + cells, 0);
  return linearWorkgroups(planesOf(problem.stencil.update) * perPlane);
}

/** The cell that cell i of an axis without end is an image of, mirrored about cells 0 and n − 1. */
const MIRRORED = wgsl`
  fn mirrored(i: i32, n: i32) -> i32 {
    let period = max(1, 2 * (n - 1));
    let folded = wrapped(i, period);
    return min(folded, period - folded) % n;
  }
`;

/**
 * The shader that fills the pads of the newest level: one thread a pad cell, edges and corners too.
 *
 * @param array what it fills instead, a scratch buffer that it alone binds
 */
export function declareWrap(problem: Problem, layout: Layout, array = "now"): Shader {
  const [wx, wy, wz] = wrapWidths(problem);
  const [inX, inY, inZ] = slabCells(problem);
  const perPlane = inX + inY + inZ;
  const hasPlanes = layout.planes > 1;
  const along = alongAxes(problem.boundary);
  const isMirrored = along.includes("insulated");
  const image = ["x", "y", "z"].map((axis, i) => {
    if (along[i] === "zero") return `cell.${axis}`;
    return `${along[i] === "insulated" ? "mirrored" : "wrapped"}(cell.${axis}, N${axis.toUpperCase()})`;
  });
  const periods = times(Math.max(1, wx, wy, wz), "n");
  const origin = hasPlanes ? "ORIGIN + plane" : "ORIGIN";
  const wholeRow = "let z = i % (NZ + 2 * WZ) - WZ;\ni /= NZ + 2 * WZ;";
  const slabs = [
    {
      cells: inX,
      body: `${wholeRow}\ncell = vec3i(padded(i / (NY + 2 * WY), WX, NX), i % (NY + 2 * WY) - WY, z);`,
    },
    { cells: inY, body: `${wholeRow}\ncell = vec3i(i / (2 * WY), padded(i % (2 * WY), WY, NY), z);` },
    {
      cells: inZ,
      body: "let z = padded(i % (2 * WZ), WZ, NZ);\ni /= 2 * WZ;\ncell = vec3i(i / NY, i % NY, z);",
    },
  ];
  let before = 0;
  const branches = slabs.filter(({ cells }) => cells > 0).map(({ cells, body }) => {
    const first = before === 0 ? "" : `i -= ${before};`;
    before += cells;
    return wgsl`
      if (i < ${before}) {
        ${first}
        ${body}
      }
    `.trimEnd();
  });
  const code = wgsl`
    // Fills the pads with images of the grid: ${along.join(", ")}; grids thinner than the pads repeat.
    ${declareLayout(layout)}
    const WX = ${wx}; const WY = ${wy}; const WZ = ${wz};
    ${declareLevels()}
    ${array === "now" ? "" : declareBuffer(array)}

    // The i-th cell of a pad pair of width w around n cells: -w … -1, n … n+w-1.
    fn padded(i: i32, w: i32, n: i32) -> i32 { return select(i - w, i - w + n, i >= w); }
    // Vulkan leaves the remainder of a negative number open, and NVIDIA takes it as unsigned: i is made positive first.
    fn wrapped(i: i32, n: i32) -> i32 { return (i + ${periods}) % n; }
    ${isMirrored ? MIRRORED : ""}

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      var i = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      ${hasPlanes ? `let plane = i / ${perPlane} * PLANE;\ni %= ${perPlane};` : ""}
      ${hasPlanes ? "if (plane >= SLICE) { return; }" : ""}
      var cell = vec3i();
      ${[...branches, "{\n  return;\n}"].join(" else ")}
      let image = vec3i(${image.join(", ")});
      let source = ${origin} + image.x * SLICE + image.y * PITCH + image.z;
      ${array}[${origin} + cell.x * SLICE + cell.y * PITCH + cell.z] = ${array}[source];
    }
  `;
  return shaderOf("wrap pads", code, layout);
}

/** Text of the cell that one of an axis of n cells, `beyond` more on either side, is an image of. */
export function imageText(name: string, n: number, beyond: number, boundary: Boundary): string {
  if (boundary === "zero") return name;
  const period = boundary === "periodic" ? n : Math.max(1, 2 * (n - 1));
  const folded = `(${plus(name, Math.ceil(beyond / period) * period - beyond)}) % ${period}`;
  return plus(boundary === "periodic" ? folded : `min(${folded}, ${period} - ${folded}) % ${n}`, beyond);
}
