/**
 * What lies beyond the sides of a picture.
 *
 * @module
 */
import { type Scene, type Side, ZERO } from "../examples/scenes.ts";
import type { AxisEnds, AxisWalls, OpenProblem, Wall, Walls } from "../mod.ts";
import type { Picture } from "./picture.ts";

export const isWall = (side: object): side is Wall => "at" in side && typeof side.at === "string";

/** What lies around the picture: cells that absorb lie beside it; in three dimensions the depth has what the scene has. */
export function beyondOf(
  { sides, depth, stencil }: Scene,
  { walls = [] }: Pick<Picture, "walls">,
): Required<Pick<OpenProblem, "edges">> & { readonly boundary: Walls } {
  const at = (side: number): Side => (sides[walls[side] ?? 0] ?? sides[0]!)[1], usual = sides[0]![1];
  const deep: [Side, Side][] = depth === 1 ? [] : [[usual, usual]];
  const made = [[at(0), at(1)], ...deep, [at(2), at(3)]].map(([low, high]): AxisWalls => {
    if (low === "periodic" || high === "periodic") return "periodic";
    if (low === ZERO && high === ZERO) return "zero";
    const of = (name: string): AxisEnds => {
      const [one, other] = [low!, high!].map((side) => isWall(side) ? side : side[name] ?? ZERO);
      return one === other ? one! : [one!, other!];
    };
    const areAlike = isWall(low!) && isWall(high!), names = stencil.update.fields;
    return areAlike ? of("") : Object.fromEntries(names.map((name) => [name, of(name)]));
  });
  const absorb = JSON.stringify(made).includes('"damping"');
  return {
    boundary: Object.fromEntries(made.map((one, i) => ["xyz"[i], one])) as unknown as Walls,
    edges: absorb ? "around" : "within",
  };
}
