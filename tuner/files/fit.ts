import { type FloatArray, precisionIn } from "../../kernels/precision.ts";
import { refuserOf } from "../problem/request_error.ts";
import { checkEach, type NumberArray } from "./npy.ts";

/** How shapes are written: `512x256`. */
const shown = (shape: readonly number[]): string => shape.join("x") || "a single number";

/** Axes that have more than one number. */
const thick = (shape: readonly number[]): readonly number[] => shape.filter((size) => size > 1);

/**
 * An array's values for a grid, of which an axis with one cell may be missing, and what was made of it then.
 *
 * @throws {RequestError} if it has another shape, or a number that is not finite in its precision
 */
export function fittedTo(
  grid: readonly number[],
  { shape, values }: NumberArray,
  path: string,
): { readonly values: FloatArray; readonly note?: string } {
  const refuse = refuserOf(`use ${path}`), wanted = shown(grid), found = shown(shape);
  if (`${thick(shape)}` !== `${thick(grid)}`) refuse(`an array of ${wanted} is wanted`, found);
  const held = `numbers that ${precisionIn(values).name} can hold are wanted`;
  checkEach({ shape, values }, Number.isFinite, (found) => refuse(held, found));
  return wanted === found ? { values } : { values, note: `${path}: ${found} became ${wanted}` };
}
