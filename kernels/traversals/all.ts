/**
 * Every traversal there is. A new one is a folder of its own and a line here.
 *
 * @module
 */
import { classic } from "./classic/classic.ts";
import { diamondTorre } from "./torre/diamond_torre.ts";
import { marching } from "./marching/marching.ts";
import { planeTorre } from "./plane_torre/plane_torre.ts";
import { stepwise } from "./stepwise/stepwise.ts";
import { swept } from "./swept/swept.ts";
import { sweptRegister } from "./swept/register.ts";
import type { Coordinates, Parameters, Traversal } from "./traversal.ts";
import { volumeTorre } from "./volume_torre/volume_torre.ts";

/** The baseline first. */
export const TRAVERSALS: readonly Traversal[] = [
  stepwise,
  marching,
  diamondTorre,
  planeTorre,
  volumeTorre,
  classic,
  swept,
  sweptRegister,
];

/** The traversal of that name; throws a RangeError if there is none. */
export function traversalNamed(name: string): Traversal {
  const found = TRAVERSALS.find((traversal) => traversal.name === name);
  if (found === undefined) {
    const names = TRAVERSALS.map((traversal) => traversal.name).join(", ");
    throw new RangeError(`Cannot find the traversal: name must be one of ${names}: current value is ${name}`);
  }
  return found;
}

/** Where a configuration lies along the axes of a search; what Facet does not know has one for each parameter. */
export function coordinatesOf(traversal: string, parameters: Parameters): Coordinates {
  return TRAVERSALS.find(({ name }) => name === traversal)?.axes?.coordinates(parameters) ??
    parameters as Coordinates;
}
