/**
 * Periodic and insulated boundaries: after each step the pads receive the opposite side of the grid, or the grid
 * mirrored about its outermost cells.
 *
 * @module
 */
import type { Layout } from "../layout.ts";
import { planesOf, stepReach } from "../update.ts";
import { periodicAxes, type Problem } from "../stencils/stencil.ts";
import type { Shader } from "../traversals/traversal.ts";
import { declareLayout, declareLevels, linearWorkgroups } from "./declare.ts";
import { wgsl } from "./template.ts";

const THREADS = 256;

/** Widths of the pads to renew along x, y, z: the reach of a step where the pads are images of the grid. */
function wrapWidths({ stencil, boundary }: Problem): [number, number, number] {
  const { x, y, z } = stepReach(stencil.update);
  const periodic = periodicAxes(boundary);
  const isImage = (axis: number): boolean => boundary === "insulated" || periodic[axis];
  return [x, y, z].map((reach, axis) => isImage(axis) ? reach : 0) as [number, number, number];
}

/** Pad cells of a plane in the three slabs: x pads in full, y pads between them, z pads between those. */
function slabCells(problem: Problem): [number, number, number] {
  const [nx, ny, nz] = problem.grid;
  const [wx, wy, wz] = wrapWidths(problem);
  return [2 * wx * (ny + 2 * wy) * (nz + 2 * wz), nx * 2 * wy * (nz + 2 * wz), nx * ny * 2 * wz];
}

/** Workgroups of the shader of {@linkcode declareWrap}. */
export function wrapWorkgroups(problem: Problem): [number, number, number] {
  const perPlane = slabCells(problem).reduce((sum, cells) => sum + cells, 0);
  return linearWorkgroups(planesOf(problem.stencil.update) * perPlane, THREADS);
}

/** The cell that cell i of an axis without end is an image of, mirrored about cells 0 and n − 1. */
const MIRRORED = wgsl`
  fn mirrored(i: i32, n: i32) -> i32 {
    let period = max(1, 2 * (n - 1));
    let folded = wrapped(i, period);
    return min(folded, period - folded) % n;
  }
`;

/** The shader that fills the pads of the newest level: one thread a pad cell, edges and corners too. */
export function declareWrap(problem: Problem, layout: Layout): Shader {
  const [wx, wy, wz] = wrapWidths(problem);
  const [inX, inY, inZ] = slabCells(problem);
  const perPlane = inX + inY + inZ;
  const planes = planesOf(problem.stencil.update);
  const isMirrored = problem.boundary === "insulated", image = isMirrored ? "mirrored" : "wrapped";
  const code = wgsl`
    // Fills the pads with ${
    isMirrored ? "the grid mirrored" : "the opposite side of the grid"
  }; grids thinner than the pads repeat.
    ${declareLayout(layout)}
    const WX = ${wx}; const WY = ${wy}; const WZ = ${wz};
    ${declareLevels()}

    // The i-th cell of a pad pair of width w around n cells: -w … -1, n … n+w-1.
    fn padded(i: i32, w: i32, n: i32) -> i32 { return select(i - w, i - w + n, i >= w); }
    // Vulkan leaves the remainder of a negative number open, and NVIDIA takes it as unsigned: i is made positive first.
    fn wrapped(i: i32, n: i32) -> i32 { return (i + ${Math.max(1, wx, wy, wz)} * n) % n; }
    ${isMirrored ? MIRRORED : ""}

    @compute @workgroup_size(${THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      var i = i32(id.x + id.y * groups.x * ${THREADS}u);
      ${planes === 1 ? "" : `let plane = i / ${perPlane} * PLANE;\ni %= ${perPlane};`}
      ${planes === 1 ? "" : `if (plane >= SLICE) { return; }`}
      var cell = vec3i();
      if (i < ${inX}) {
        let z = i % (NZ + 2 * WZ) - WZ;
        i /= NZ + 2 * WZ;
        cell = vec3i(padded(i / (NY + 2 * WY), WX, NX), i % (NY + 2 * WY) - WY, z);
      } else if (i < ${inX + inY}) {
        i -= ${inX};
        let z = i % (NZ + 2 * WZ) - WZ;
        i /= NZ + 2 * WZ;
        cell = vec3i(i / ${Math.max(1, 2 * wy)}, padded(i % ${Math.max(1, 2 * wy)}, WY, NY), z);
      } else if (i < ${perPlane}) {
        i -= ${inX + inY};
        let z = padded(i % ${Math.max(1, 2 * wz)}, WZ, NZ);
        i /= ${Math.max(1, 2 * wz)};
        cell = vec3i(i / NY, i % NY, z);
      } else {
        return;
      }
      let to = ORIGIN${planes === 1 ? "" : " + plane"} + cell.x * SLICE + cell.y * PITCH + cell.z;
      let source = to + (${image}(cell.x, NX) - cell.x) * SLICE + (${image}(cell.y, NY) - cell.y) * PITCH +
        ${image}(cell.z, NZ) - cell.z;
      now[to] = now[source];
    }
  `;
  return { label: "wrap pads", code };
}
