/**
 * What lies beyond the sides of a picture.
 *
 * @module
 */
import { type Scene, type Side, ZERO } from "../examples/scenes.ts";
import type { AxisEnds, AxisWalls, Wall } from "../mod.ts";
import type { Picture } from "./picture.ts";

/** What lies beyond both ends of an axis, and the cells that the grid has there beside the picture's. */
export interface Beyond {
  readonly walls: AxisWalls;
  readonly before: number;
  readonly after: number;
}

export const isWall = (side: object): side is Wall => "at" in side && typeof side.at === "string";
const cellsOf = (side: object): number => isWall(side) ? side.damping?.cells ?? 0 : 0;

/** The same of each of the grid's axes; in three dimensions the depth has what the scene has. */
export function beyondOf({ sides, depth, stencil }: Scene, { walls = [] }: Pick<Picture, "walls">): Beyond[] {
  const at = (side: number): Side => (sides[walls[side] ?? 0] ?? sides[0]!)[1], usual = sides[0]![1];
  const deep: [Side, Side][] = depth === 1 ? [] : [[usual, usual]];
  return [[at(0), at(1)], ...deep, [at(2), at(3)]].map(([low, high]): Beyond => {
    const none = { before: 0, after: 0 };
    if (low === "periodic" || high === "periodic") return { walls: "periodic", ...none };
    if (low === ZERO && high === ZERO) return { walls: "zero", ...none };
    const of = (name: string): AxisEnds => {
      const [one, other] = [low!, high!].map((side) => isWall(side) ? side : side[name] ?? ZERO);
      return one === other ? one! : [one!, other!];
    };
    const areAlike = isWall(low!) && isWall(high!), names = stencil.update.fields;
    const walls = areAlike ? of("") : Object.fromEntries(names.map((name) => [name, of(name)]));
    return { walls, before: cellsOf(low!), after: cellsOf(high!) };
  });
}
