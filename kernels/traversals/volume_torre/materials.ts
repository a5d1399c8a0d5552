/**
 * Materials of torres of tiles in three dimensions: a copy, where tiles read them as they enter.
 *
 * @module
 */
import type { Tap } from "../../expression.ts";
import type { Layout } from "../../layout.ts";
import type { Section } from "../../sections.ts";
import type { Stencil } from "../../stencils/stencil.ts";
import { declareLayout, LINEAR_THREADS, linearWorkgroups, plus } from "../../wgsl/declare.ts";
import { declareBuffer, shaderOf } from "../../wgsl/shader.ts";
import { wgsl } from "../../wgsl/template.ts";
import type { Crossing } from "../storage.ts";
import { upTo } from "./lattice.ts";

export type Materials = ReturnType<typeof materialsOf>;

/**
 * The copy of materials: as the canonical cells, of which it leaves out the fields, in as many buffers as hold it.
 *
 * @param most values of a buffer at most
 */
export function materialsOf({ update }: Pick<Stencil, "update">, layout: Layout, most = Infinity) {
  const { grid: [nx], pad: [padX], plane, pitch, slice: whole } = layout,
    slice = update.materials.length * plane,
    length = slice === 0 ? 0 : slice * (nx + 2 * padX) + pitch,
    origin = padX * slice + layout.origin - padX * whole;
  const parts = partsOf(length, most), first = parts[0]!;
  const placeOf = ({ plane: its, offset: [x, y, z] }: Tap, at: string): string =>
    plus(at, (its - update.fields.length) * plane + x * slice + y * pitch + z);
  const nameOf = (part: number): string => `materials${part}`;
  return {
    slice,
    pitch,
    origin,
    length,
    parts,
    nameOf,
    declarations: slice === 0
      ? ""
      : parts.map((_, part) => declareBuffer(nameOf(part), "array<f32>", { space: "storage, read" })).join(
        "\n",
      ),
    /**
     * Texts that load a material beside a cell whose place in the copy is `at`: one of each buffer, as a load within a branch
     * would be waited for. Where a buffer has no such place, all threads load the same.
     */
    loads: (tap: Tap, at: string): string[] =>
      parts.map((own, part) => {
        const place = placeOf(tap, at);
        const its = parts.length === 1 ? place : `clamp(${plus(place, -part * first)}, 0, ${own - 1})`;
        return `${nameOf(part)}[${its}]`;
      }),
    /** Text of the value, of what was loaded. */
    value: (tap: Tap, at: string, loaded: readonly string[]): string =>
      loaded.reduce((before, its, part) =>
        `select(${before}, ${its}, ${placeOf(tap, at)} >= ${part * first})`
      ),
  };
}

/** Lengths of parts that hold so many values, all but the last of them as many as they may. */
export function partsOf(length: number, most: number): number[] {
  return upTo(Math.max(1, Math.ceil(length / most))).map((i) => Math.min(most, length - i * most));
}

/** What copies the materials of a section's cells. */
export function enterMaterials(
  { slice, parts, nameOf }: Materials,
  layout: Layout,
  sections: readonly Pick<Section, "layout" | "slices">[],
): Crossing[] {
  if (slice === 0) return [];
  return sections.flatMap(({ layout: its, slices }, section) =>
    parts.flatMap((length, part): Crossing[] => {
      const [first, last] = slices.map((x) => (x + layout.pad[0]) * slice) as [number, number];
      const before = part * parts[0]!, begin = Math.max(first, before), end = Math.min(last, before + length);
      return begin >= end ? [] : [{
        section,
        workgroups: linearWorkgroups(end - begin),
        shader: shaderOf(
          `enter materials ${section}, ${part}`,
          wgsl`
            // Copies materials, one value a thread.
            ${declareLayout(its)}
            @group(0) @binding(1) var<storage, read_write> canonical: array<f32>;
            ${declareBuffer(nameOf(part))}
            @compute @workgroup_size(${LINEAR_THREADS})
            fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
              let own = i32(id.x + id.y * groups.x * ${LINEAR_THREADS}u);
              if (own >= ${end - begin}) { return; }
              let value = own + ${begin - first};
              let cell = value / ${slice} * SLICE + ${layout.slice - slice} + value % ${slice};
              ${nameOf(part)}[own + ${begin - before}] = canonical[cell];
            }
          `,
          layout,
        ),
      }];
    })
  );
}
