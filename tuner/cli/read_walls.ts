import {
  BOUNDARIES,
  ownAxes,
  type Stencil,
  type Wall,
  type WallPlace,
  type Walls,
} from "../../kernels/stencils/stencil.ts";
import { absorbing, flux, insulated, mirror, robin, value, type WallOptions } from "../../kernels/walls.ts";
import { madeFor } from "../problem/resolve_problem.ts";
import type { Refuse } from "./options.ts";

/** What walls are written as. */
export const WALLS_HELP =
  "walls, such as x=value:1,flux:0.05@centre/y=insulated@face/z.u=odd: value:G, flux:G, " +
  "insulated, even, odd, robin:A:B:G, absorbing:CELLS:COURANT; axes that are not named have the equation's default";

/** Walls by name, with the numbers that follow. */
const MADE: Readonly<
  Record<string, readonly [numbers: number, (numbers: readonly number[], options: WallOptions) => Wall]>
> = {
  value: [1, ([g], options) => value(g!, options)],
  flux: [1, ([g], options) => flux(g!, options)],
  insulated: [0, (_, options) => insulated(options)],
  even: [0, (_, options) => mirror("even", options)],
  odd: [0, (_, options) => mirror("odd", options)],
  robin: [3, ([a, b, g], options) => robin(a!, b!, g!, options)],
  absorbing: [2, ([cells, courant]) => absorbing({ cells: cells!, courant: courant! })],
};

/** Walls from text: for each axis, or of a field `x.u`, a word, a wall, or one for each end. */
export function readWalls(text: string, stencil: Stencil, refuse: Refuse): Walls {
  const { dimensions = 3, update: { fields } } = stencil,
    axes = dimensions === 1 ? ["x"] : ownAxes(dimensions);
  const walls: Record<string, unknown> = {};
  for (const part of text.split("/")) {
    const [, axis = "", field, ends = ""] = /^(\w)(?:\.([^=]+))?=(.+)$/.exec(part) ?? [];
    const isKnown = axes.some((one) => one === axis) && (field === undefined || fields.includes(field));
    if (!isKnown) {
      refuse(`AXIS=WALLS or AXIS.FIELD=WALLS, of ${axes.join(", ")} and ${fields.join(", ")}`, part);
    }
    const read = ends.split(",").map((one) => readWall(one, refuse));
    const pair = read.length === 1 ? read[0] : read;
    if (field === undefined) walls[axis] = pair;
    else {
      const before = walls[axis], rest = Object.fromEntries(fields.map((name) => [name, "zero"]));
      const known = typeof before === "object" && !Array.isArray(before) && !("at" in before!)
        ? before
        : rest;
      walls[axis] = { ...known, [field]: pair };
    }
  }
  return walls;
}

/** A word, or a wall. */
function readWall(text: string, refuse: Refuse): Wall | string {
  if (BOUNDARIES.some((word) => word === text)) return text;
  const [written, at] = text.split("@") as [string, WallPlace | undefined],
    [name = "", ...numbers] = written.split(":");
  const made = Object.hasOwn(MADE, name) ? MADE[name]! : undefined;
  const isRead = numbers.length === made?.[0] &&
    numbers.every((one) => one !== "" && Number.isFinite(Number(one)));
  if (!isRead) return refuse(WALLS_HELP, text);
  return madeFor("use --boundary", () => made![1](numbers.map(Number), at === undefined ? {} : { at }));
}
