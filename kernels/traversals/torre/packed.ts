/**
 * Packed materials of torres, in a scratch buffer: two neighbours along z a word, rows as in a level. A shader makes them
 * of a level's cells at the start of each list of dispatches, since cells may be written between two of them.
 *
 * @module
 */
import type { Problem } from "../../stencils/stencil.ts";
import type { Update } from "../../update.ts";
import { LINEAR_THREADS, linearWorkgroups, plus } from "../../wgsl/declare.ts";
import { NUMBER_OF, packedPlanes, packingText, readsZeros, unpacked } from "../../wgsl/packing.ts";
import { wgsl } from "../../wgsl/template.ts";
import { declareBuffer, shaderOf } from "../../wgsl/shader.ts";
import type { Scratch } from "../storage.ts";
import type { TorreParameters, TorreShape } from "./shape.ts";
import type { Dispatch } from "../traversal.ts";

/** How a torre's shader finds packed materials. */
export type PackedAccess = ReturnType<typeof packedAccess>;

/** What of packed materials a torre's shader declares, and how it reads them. */
export function packedAccess(
  update: Update,
  { zPerThread, packed }: TorreParameters,
  { layout }: TorreShape,
) {
  const all = packedPlanes(update, packed), isAny = all.length > 0;
  const indexOf = (plane: number): number => all.findIndex((packing) => packing.plane === plane);
  const { plane: planeSize, pad: [padX], origin, slice } = layout, ownSlice = all.length * planeSize;
  const words = zPerThread === 2 ? "u32" : "vec2u", numbers = `vec${zPerThread}u`, type = `vec${zPerThread}f`;
  const halves = (zPerThread === 2 ? ["words"] : ["words.x", "words.y"])
    .flatMap((word) => [`${word} & 0xffffu`, `${word} >> 16u`]).join(", ");
  const functions = all.map((packing, i) => {
    const hasZeros = readsZeros(update, packing.plane, packing);
    return wgsl`
      fn unpack${i}(words: ${words}) -> ${type} {
        let numbers = ${numbers}(${halves});
        return ${unpacked(packing, zPerThread, { numbers: "numbers", hasZeros })};
      }
    `;
  });
  return {
    declarations: !isAny ? "" : wgsl`
      const SLICE_P = ${ownSlice / zPerThread};
      const ORIGIN_P = ${(padX * ownSlice + origin - padX * slice) / zPerThread};
      ${declareBuffer("packed", `array<${words}>`, { space: "storage, read" })}
      ${functions.join("\n")}
    `,
    /** Lines before all tiers, and after each. */
    start: isAny ? ["var word = ORIGIN_P + x * SLICE_P + y * PITCH_T + thread;"] : [],
    onward: isAny ? ["word += S * SLICE_P;"] : [],
    /** Text that loads the words of a plane `by` elements from that of a column; undefined for planes that lie elsewhere. */
    load: (plane: number, by: number, column: string) =>
      indexOf(plane) < 0 ? undefined : `packed[${plus(plus(column, indexOf(plane), "PLANE_T"), by)}]`,
    /** Text of the values of what was loaded. */
    read: (plane: number, loaded: string) =>
      indexOf(plane) < 0 ? loaded : `unpack${indexOf(plane)}(${loaded})`,
  };
}

/** The buffer, and the plan's second shader, which fills it, two cells a thread; undefined where a torre reads nothing packed. */
export function packMaterials(problem: Problem, { packed }: TorreParameters, { layout }: TorreShape) {
  const all = packedPlanes(problem.stencil.update, packed);
  if (all.length === 0) return undefined;
  const { grid: [nx], pad: [padX], slice, pitch, plane: planeSize } = layout;
  const perSlice = all.length * planeSize / 2, words = perSlice * (nx + 2 * padX);
  const packings = all.map((packing) => packingText(packing, packing.plane));
  const code = wgsl`
    // Packs materials: see kernels/packing.ts.
    @group(0) @binding(0) var<storage, read_write> now: array<f32>;
    ${declareBuffer("packed", "array<u32>")}

    ${NUMBER_OF}

    @compute @workgroup_size(${LINEAR_THREADS})
    fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
      let word = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
      if (word >= ${words}) { return; }
      var packings = array<vec4f, ${all.length}>(${packings.join(", ")});
      let inSlice = word % ${perSlice};
      let packing = packings[inSlice / ${planeSize / 2}];
      let slice = word / ${perSlice} * ${slice} + i32(packing.x) * ${planeSize};
      let cell = slice + 2 * (inSlice % ${planeSize / 2});
      packed[word] = numberOf(now[cell], packing) | (numberOf(now[cell + 1], packing) << 16u);
    }
  `;
  // behind the last row there are zeros, as behind any
  const scratch: Scratch = { name: "packed", length: words + pitch, lives: "list" };
  const shader = shaderOf("pack materials", code, {});
  // both arrays of a level hold the materials
  const dispatch: Dispatch = { shader: 1, workgroups: linearWorkgroups(words), flipped: false, uniforms: [] };
  return { scratch, shader, dispatch };
}
