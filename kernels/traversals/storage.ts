/**
 * What a plan needs of a device's memory. Everything outside of a plan speaks **canonical** cells: x slowest, z fastest,
 * where the layout says. A plan may keep them in an order of its own, and then says how they enter it and leave it.
 *
 * @module
 */
import { fieldsIn, type Layout } from "../layout.ts";
import { remembered } from "../remembered.ts";
import { cellsOf } from "../stencils/stencil.ts";
import { linearWorkgroups } from "../wgsl/declare.ts";
import { crossShader, type OwnValues } from "../wgsl/pack_box.ts";
import type { Shader } from "../wgsl/shader.ts";
import type { Section, SliceRange } from "../sections.ts";

/** A buffer beside the levels: what dispatches hand each other, or values that no step changes. */
export interface Scratch {
  /** What shaders call it; of two that swap places with the levels, where these are not swapped. */
  readonly name: string;
  /** Values of 4 bytes. */
  readonly length: number;
  /**
   * How long its content must live. `layers`: as long as a level's, even or odd ones, of which it holds the fields in layers
   * as `../layers.ts` says. `list`: as long as one list of dispatches, which begins with anything. `field`: until
   * cells are set anew; then it begins with zeros, before they enter. `points`: until there are other points, which say
   * how long it is (../wgsl/points.ts). `profiles`: it holds the update's axis profiles, packed as `axis_profiles.ts` says,
   * and whoever owns the field sets it. `plan`: as long as the plan's; it begins with what it `holds`.
   */
  readonly lives: "list" | "field" | "points" | "profiles" | "layers" | "plan";
  /** @default {zeros} */
  readonly holds?: Int32Array<ArrayBuffer>;
}

/** Points of a field in a section: places in the table from `first` to before `end`. */
export interface PointGroup {
  readonly field: number;
  readonly section: number;
  readonly first: number;
  readonly end: number;
  /** Slices in which they lie. */
  readonly slices: SliceRange;
  /** Of cells, not points: the sub-step that is computed again there. Their field is −1. */
  readonly again?: number;
}

/** Where a plan finds points. */
export interface PointTable {
  /** What the table's buffer holds after its head. */
  readonly words: Int32Array<ArrayBuffer>;
  readonly groups: readonly PointGroup[];
  /** Steps of the list before those whose dispatches are wanted. @default {0} */
  readonly steps?: number;
}

/** A dispatch that copies a level; it has no uniforms. Binding 0: it in the plan's own order; 1: its canonical cells. */
export interface Crossing {
  readonly direction: "enter" | "leave";
  /** F(t) or F(t − 1). @default {either} */
  readonly ago?: 0 | 1;
  /** The part of the order, and the section of the canonical cells, that it copies between. @default {0} */
  readonly part?: number;
  readonly section?: number;
  readonly shader: Shader;
  readonly workgroups: readonly [number, number, number];
}

/** An order of cells that is a plan's own, of both levels. */
export interface Order {
  /** Values of a level, with whatever pads it has in this order, which begin with zeros. */
  readonly length: number;
  /** Values of each part where a level lies in several buffers, all of them but the last of the same length. @default {one part} */
  readonly parts?: readonly number[];
  /** How a shader finds the fields' values. */
  readonly values: OwnValues;
  /** What sets scratch buffers from canonical materials, as F(t) enters. @default {[]} */
  readonly materials?: readonly Omit<Crossing, "direction">[];
}

/** The buffers of a plan. */
export interface Storage {
  /** Where the canonical cells lie in each of the two levels; of materials behind the fields; of fields in layers nowhere. */
  readonly layout: Layout;
  /** The arrays that each level really lies in. @default {one, the layout itself} */
  readonly sections?: readonly Section[];
  /** @default {[]} */
  readonly scratch?: readonly Scratch[];
  /** @default {the cells lie as the layout says} */
  readonly order?: Order;
}

/** What carries levels between an order of the plan's own and canonical cells. */
export const crossingsOf: (storage: Storage) => readonly Crossing[] = remembered((storage) => {
  const { layout, sections = [{ layout, x: 0 }], order } = storage;
  if (order === undefined) return [];
  const { values, length, parts = [length] } = order, isAlike = !/\bago\b/.test(values.place);
  const all = sections.flatMap(({ layout: its, x }, section) =>
    parts.flatMap((own, part) =>
      (isAlike ? [undefined] : [0, 1] as const).flatMap((ago) =>
        (["enter", "leave"] as const).map((direction): Crossing => {
          const [begin, workgroups] = [part * parts[0]!, linearWorkgroups(cellsOf(its.grid) * fieldsIn(its))];
          const shader = crossShader(its, { x, values, ago, range: [begin, begin + own], direction });
          return { direction, ...(ago !== undefined && { ago }), part, section, shader, workgroups };
        })
      )
    )
  );
  return [...all, ...(order.materials ?? []).map((one) => ({ ...one, direction: "enter", ago: 0 }) as const)];
});

/** All shaders of a plan; those that enter and leave an order of its own come last. */
export function shadersOf(
  { shaders, storage }: { readonly shaders: readonly Shader[]; readonly storage: Storage },
): readonly Shader[] {
  return [...shaders, ...crossingsOf(storage).map(({ shader }) => shader)];
}

/** Layers of F(t) and of what F(t + 1) replaces: as their levels they lie in one buffer where t is even, else in the other. */
export const LAYERS = ["layersNow", "layersBefore"] as const;

/** The place among a plan's scratch buffers of what a shader calls by a name; `flipped`: where its dispatch swaps levels. */
export function scratchNamed({ scratch = [] }: Storage, called: string, flipped = false): number {
  const layers: readonly string[] = LAYERS, level = layers.indexOf(called);
  const name = flipped && level >= 0 ? layers[1 - level] : called;
  return scratch.findIndex((buffer) => buffer.name === name);
}
