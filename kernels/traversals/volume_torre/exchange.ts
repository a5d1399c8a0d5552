/**
 * Texts of what threads of a torre find in workgroup memory: see `placesOf` in `lattice.ts`.
 *
 * @module
 */
import type { Triple, VolumePiece } from "./lattice.ts";

/** Lines that make arrays of these names. */
export function declareExchange({ arrays }: VolumePiece, name: string, type: string): string {
  return arrays.map(({ slots, places }, i) =>
    `var<workgroup> ${name}${i}: array<array<${type}, ${places}>, ${slots}>;`
  ).join("\n");
}

/** Text of an element, counted from the thread's corner. */
export function exchanged(
  { arrays, slotOf, placeOf }: VolumePiece,
  element: Triple,
  name = "exchange",
): string {
  const slot = slotOf(element), place = `own${placeOf(element)}`, lows = arrays[0]!.slots;
  return slot < lows ? `${name}0[${slot}][${place}]` : `${name}1[${slot - lows}][${place}]`;
}

/** Does something with an element in a slot that the table says, whichever array has it. */
export function inSlot(
  { arrays }: VolumePiece,
  [slot, place]: readonly [slot: string, place: string],
  act: (element: string) => string,
  name = "exchange",
): string {
  const low = act(`${name}0[${slot}][${place}]`), lows = arrays[0]!.slots;
  if (arrays.length === 1) return low;
  return `if (${slot} < ${lows}) { ${low} } else { ${act(`${name}1[${slot} - ${lows}][${place}]`)} }`;
}
