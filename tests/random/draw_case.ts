/**
 * A case by chance, the same for the same seed and devices.
 *
 * @module
 */
import {
  atLeast,
  definitionOf,
  type Expression,
  floor,
  flux,
  insulated,
  mirror,
  multiply,
  stencilOf,
  value,
  type Wall,
  type Walls,
} from "../../mod.ts";
import { withWalls } from "../../kernels/walls.ts";
import { reachOf as stencilReach } from "../../kernels/update.ts";
import { Dice } from "./dice.ts";
import { drawEquation, type Style } from "./draw_equation.ts";
import { drawCalls } from "./draw_script.ts";
import { type Bench, type Device, drawWhere } from "./draw_where.ts";
import type { Boundary, RandomCase } from "./random_case.ts";

/** What is drawn from. */
export interface DrawOptions {
  readonly devices: readonly Device[];
  readonly bench: Bench;
  /** Scripts of a case, on one solver. */
  readonly scripts: number;
}

const STYLES: readonly (readonly [number, Style])[] = [
  [4, "free"],
  [3, "cross"],
  [2, "box"],
  [2, "chain"],
  [0.7, "line"],
  [0.8, "sweep"],
  [2, "built-in"],
];

/** What the GPU is to compute with; undefined: whatever can. */
const WISHES: readonly (readonly [number, string | undefined])[] = [
  [2, undefined],
  [0.5, "stepwise"],
  [3, "marching"],
  [3, "diamond-torre"],
  [2, "plane-torre"],
  [3, "volume-torre"],
  [0.4, "classic"],
  [0.4, "swept"],
  [0.4, "swept-register"],
];

/** Equations that traversals with few abilities may have. */
const SUITED: Readonly<Record<string, typeof STYLES>> = {
  "plane-torre": [[4, "cross"], [3, "box"], [1, "built-in"]],
  "volume-torre": [[4, "cross"], [2, "box"], [1, "built-in"]],
  "diamond-torre": [[3, "cross"], [2, "box"], [2, "chain"], [2, "free"], [1.5, "built-in"]],
  classic: [[2, "line"], [1, "sweep"]],
  swept: [[1, "sweep"]],
  "swept-register": [[1, "sweep"]],
};

/** Cells at most: the interpreter visits each in every step. */
const MOST_CELLS = 1500;

const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31];

function drawGrid(dice: Dice, { dimensions }: RandomCase["definition"], reach: number): number[] {
  if (dimensions === 1) {
    return [
      1,
      1,
      dice.weighted([[2, dice.from(2 * reach + 2, 40)], [2, dice.oneOf([64, 96, 128, 192, 256])], [
        1,
        dice.from(40, 300),
      ]]),
    ];
  }
  const axes = dimensions === 2 ? 2 : 3, most = axes === 2 ? 34 : 14;
  const along = (): number =>
    dice.weighted([[5, dice.from(2, most)], [1.2, 1], [1.5, dice.oneOf(PRIMES)], [1, dice.from(1, 4)], [
      0.6,
      dice.from(24, 48),
    ]]);
  for (;;) {
    const grid = Array.from({ length: axes }, along);
    // one layer, or one row
    if (dice.chance(0.12)) grid[dice.below(axes)] = 1;
    if (dice.chance(0.04)) grid.fill(1, 1);
    if (grid.reduce((a, b) => a * b) <= MOST_CELLS) return grid;
  }
}

function drawBoundary(dice: Dice, { dimensions, boundaries, surface }: RandomCase["definition"]): Boundary[] {
  const axes = dimensions === 2 ? 2 : 3;
  if (dimensions === 1) {
    return new Array<Boundary>(3).fill(
      dice.weighted([[2, "periodic"], [2, "insulated"], [0.6, "zero"]] as const),
    );
  }
  const same = dice.weighted<Boundary>([[4, "zero"], [1.5, "periodic"], [1, "insulated"]]),
    isSame = dice.chance(0.55);
  const words = Array.from(
    { length: axes },
    () => isSame ? same : dice.oneOf(["zero", "zero", "periodic", "insulated"] as const),
  );
  const known = words.map((word) => boundaries.includes(word) ? word : boundaries[0]!);
  return surface === undefined ? known : known.with(-1, "zero");
}

/** Walls at some ends, of whole numbers where fields are; now and then. */
function drawWalls(
  dice: Dice,
  one: Pick<RandomCase, "definition" | "grid" | "boundary">,
): Pick<RandomCase, "definition" | "grid" | "boundary"> {
  const { definition, grid, boundary } = one, { dimensions, fields, surface, layers } = definition;
  const axes = dimensions === 1 ? [2] : grid.map((_, axis) => axis);
  const { x, y, z } = stencilReach(stencilOf(definition).update),
    reaches = dimensions === 2 ? [x, z] : [x, y, z];
  const isRoomy = axes.every((axis) => grid[axis]! > reaches[axis]!);
  if (surface !== undefined || layers !== undefined || !isRoomy || !dice.chance(0.2)) return one;
  // from the third step on
  const late = (step: Expression) => atLeast(step, 3);
  const wall = (axis: number): Wall => {
    const g = dice.from(-1, 1), at = dice.oneOf(["face", "centre"] as const);
    const side = "xyz"[(axis + 1) % axes.length]!, thirds = (place: Expression) => floor(multiply(3, place));
    const isShaped = axes.length > 1 && dice.chance(0.5);
    return dice.oneOf([
      value(dice.chance(0.3) ? late : g, { at, ...(isShaped && { shape: { [side]: thirds } }) }),
      value(g, { at: "beyond" }),
      flux(g, { at }),
      insulated({ at }),
      mirror("odd", { at }),
    ]);
  };
  const pair = (axis: number): [Wall, Wall] => [wall(axis), wall(axis)];
  const walls = axes.map((axis, own) => {
    if (dice.chance(0.4)) return boundary[axis]!;
    return dice.chance(0.5) ? pair(own) : Object.fromEntries(fields.map(({ name }) => [name, pair(own)]));
  });
  const named = Object.fromEntries(walls.map((its, i) => ["xyz"[i]!, its])) as unknown as Walls;
  let made: ReturnType<typeof withWalls>;
  try {
    made = withWalls({ stencil: stencilOf(definition), grid: grid as never, boundary: named });
  } catch (error) {
    // many diagonal taps of several fields; a signal, or values of two steps
    if (/at most 64 with the materials|one value that changes/.test((error as Error).message)) return one;
    throw error;
  }
  const words =
    (typeof made.boundary === "string" ? grid.map(() => made.boundary) : made.boundary) as Boundary[];
  return { definition: definitionOf(made.stencil), grid, boundary: words };
}

/** The largest offset of a tap. */
function reachOf(definition: RandomCase["definition"]): number {
  const text = JSON.stringify(definition.substeps);
  return Math.max(
    0,
    ...[...text.matchAll(/-?\d+(?=[,\]])/g)].map(([number]) => Math.abs(Number(number))).filter((one) =>
      one <= 8
    ),
  );
}

/** Draws a case; undefined after many tries that no device can compute, which says that something is wrong. */
export function drawCase(seed: number, { devices, bench, scripts }: DrawOptions): RandomCase {
  // devices take turns, so that a few cases have all
  const dice = new Dice(seed), wish = dice.weighted(WISHES), device = devices[seed % devices.length]!;
  for (let i = 0; i < 200; i++) {
    // after many tries, of windows on lines, any traversal
    const wanted = i < 100 ? wish : undefined,
      styles = wanted === undefined ? STYLES : SUITED[wanted] ?? STYLES;
    const drawn = drawEquation(dice, dice.weighted(styles)), reach = reachOf(drawn);
    stencilOf(drawn); // a definition that makes no sense is a fault of the generator
    const open = {
      definition: drawn,
      grid: drawGrid(dice, drawn, reach),
      boundary: drawBoundary(dice, drawn),
    };
    const { definition: inF32, grid, boundary } = drawWalls(new Dice(seed ^ 0x5a11 + i), open);
    // what is packed has 16 bits
    const isF64 = new Dice(seed ^ 0xf64 + i).chance(0.3) && !inF32.materials.some(({ packed }) => packed);
    const definition = isF64 ? { ...inF32, precision: "f64" as const } : inF32;
    const steps = dice.weighted([[1, 1], [1, 2], [2, dice.from(3, 6)], [2, dice.from(7, 16)]]);
    const isLine = definition.dimensions === 1,
      isSurveyed = !isLine && dice.chance(device.endsWith("ranks") || device === "window" ? 0.6 : 0.35);
    const sources = definition.sources === undefined ? 0 : dice.from(0, 2);
    const survey = isSurveyed ? { survey: { sources, receivers: dice.from(0, 3) } } : {};
    const undecided = { seed, definition, grid, boundary, steps, ...survey };
    const where = drawWhere(dice, undecided, i < 150 ? device : dice.oneOf(devices), {
      ...bench,
      wish: wanted,
    });
    if (where === undefined) continue;
    const isHasty = dice.chance(0.2), pieceCells = new Dice(seed ^ 0xce115).oneOf([20, 100, undefined]);
    const one = { ...undecided, where, ...(isHasty && { isHasty }), ...(pieceCells && { pieceCells }) };
    return { ...one, calls: drawCalls(dice, one, scripts) };
  }
  throw new RangeError(`Cannot draw case ${seed}: no device can compute any of 200 problems`);
}
