/**
 * Packed materials on a GPU, as `kernels/packing.ts` says: texts that make numbers of values and values of numbers.
 *
 * @module
 */
import { BEYOND, type Packing, packingOf } from "../packing.ts";
import { PRECISIONS } from "../precision.ts";
import { tapsOf, type Update } from "../update.ts";
import { wgsl } from "./template.ts";

const { literal: f32 } = PRECISIONS.f32;

/** The planes that torres may read packed, in their order. */
export function packedPlanes({ fields, materials, precision }: Update, packed = 0) {
  const all = materials.map(({ packed }, i) => packed && { plane: fields.length + i, ...packingOf(packed) });
  return packed === 1 && precision !== "f64" ? all.filter((one) => one !== undefined) : [];
}

/** Text of `width` values of what `numbers` names; `hasZeros`: whether some are of zeros beyond the grid. */
export function unpacked(
  { unit, least }: Packing,
  width: number,
  { numbers, hasZeros }: { readonly numbers: string; readonly hasZeros: boolean },
): string {
  const type = width === 1 ? "f32" : `vec${width}f`, integers = width === 1 ? "u32" : `vec${width}u`;
  // a number in place of the last bits of 2²³ is as much more, without a conversion
  const offset = f32((least - 2 ** 23) * unit);
  const value = `bitcast<${type}>(${numbers} | ${integers}(0x4b000000u)) * ${f32(unit)} + ${offset}`;
  return hasZeros ? `select(${value}, ${type}(), ${numbers} == ${integers}(${BEYOND}u))` : value;
}

/** Whether a packed material is read beside the cell, where zeros may lie that are no values of it. */
export function readsZeros(update: Update, plane: number, { least, most }: Packing): boolean {
  const isAside = tapsOf(update).some((tap) => tap.plane === plane && tap.offset.some((by) => by !== 0));
  return isAside && (least > 0 || most < 0);
}

/** Text of the vector by which `numberOf` packs a value; `first`: a number of one's own. */
export function packingText({ least, most, unit }: Packing, first = 0): string {
  return `vec4f(${[first, least * unit, 1 / unit, most - least].map(f32).join(", ")})`;
}

/** The function that makes a number of a value. */
export const NUMBER_OF = wgsl`
  fn numberOf(value: f32, packing: vec4f) -> u32 {
    let number = (value - packing.y) * packing.z + 0.5f;
    return select(${BEYOND}u, u32(number), number >= 0.0f && number < packing.w + 1.0f);
  }
`;
