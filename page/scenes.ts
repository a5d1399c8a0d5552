/**
 * What can be watched: equations with presets, brushes and colours.
 *
 * @module
 */
import * as facet from "../mod.ts";
import type { Boundaries, Expression, FieldTap, Stencil } from "../mod.ts";

const { acoustic, add, along, divide, equation, heat, life, maximum, multiply, stencilOf, subtract } = facet;

/** A value by place, from 0 to 1 down and across. */
export type Preset = (down: number, across: number) => number;

/** An equation to watch. */
export interface Scene {
  readonly title: string;
  readonly help: string;
  /** Cells around the picture that absorb waves. */
  readonly edges: number;
  /** Planes of cells behind each other; more than 1 in three dimensions. */
  readonly depth: number;
  readonly boundary: Boundaries;
  /** The field that is drawn, and the values at the ends of its colours. */
  readonly shown: string;
  readonly range: readonly [low: number, high: number];
  /** What brushes and presets paint: a material, or a field as it is at the start. */
  readonly paints: string;
  /** Values to paint with. */
  readonly brushes: readonly (readonly [title: string, value: number])[];
  /** What a picture starts with. */
  readonly presets: readonly (readonly [title: string, at: Preset])[];
  /** The source that a tap sets, and what it sends in each step after that. */
  readonly source?: readonly [name: string, signature: readonly number[]];
  /** Other fields, where they do not start at 0. */
  readonly starts?: Readonly<Record<string, number>>;
  stencil(): Stencil;
}

/** Cells of edges; metres from cell to cell; Hz of the source; seconds a step, whatever is painted. */
const EDGES = 24, SPACING = 10, FREQUENCY = 20, TIME_STEP = 1e-3;

/** A plane of cells among zeros. */
const PLANE = { edges: 0, depth: 1, boundary: "zero" } as const;

const RICKER = Array.from({ length: 2 / FREQUENCY / TIME_STEP }, (_, n) => {
  const a = (Math.PI * FREQUENCY * (n * TIME_STEP - 1 / FREQUENCY)) ** 2;
  return (1 - 2 * a) * Math.exp(-a);
});

/** A number from 0 to 1 that is the same everywhere and looks like chance. */
const scattered = (i: number): number => (Math.sin(i * 12.9898) * 43758.5453) % 1 / 2 + 0.5;

const inEllipse = (down: number, across: number, [y, x, ry, rx]: readonly number[]): boolean =>
  ((down - y!) / ry!) ** 2 + ((across - x!) / rx!) ** 2 < 1;

const layers: Preset = (down, across) =>
  1500 + 600 * Math.max(0, Math.min(4, Math.floor(5 * (down + 0.06 * Math.sin(7 * across)))));

const lens = (inside: number, outside: number): Preset => (y, x) =>
  inEllipse(y, x, [0.5, 0.5, 0.34, 0.1]) ? inside : outside;

const salt: Preset = (y, x) =>
  inEllipse(y, x, [0.55, 0.5, 0.2, 0.24]) || inEllipse(y, x, [0.8, 0.56, 0.3, 0.1])
    ? 4500
    : Math.min(3300, layers(y, x));

const city: Preset = (y, x) => {
  const i = Math.floor(9 * x), isWide = Math.abs(9 * x - i - 0.5) < 0.33;
  return isWide && y > 0.85 - 0.6 * scattered(i + 1) ? 4500 : 1500;
};

const drops = (low: number, high: number): Preset => (y, x) =>
  scattered(Math.floor(12 * y) * 31 + Math.floor(20 * x)) > 0.9 ? high : low;

const slits: Preset = (y, x) =>
  Math.abs(x - 0.5) < 0.01 && Math.abs(Math.abs(y - 0.5) - 0.1) > 0.02 ? 1e6 : 1;

const rings: Preset = (y, x) => Math.sin(40 * Math.hypot(0.6 * (y - 0.5), x - 0.5)) > 0 ? 1 : 0;

const soup: Preset = (y, x) => scattered(Math.floor(997 * y) * 1009 + Math.floor(1499 * x)) > 0.7 ? 1 : 0;

/** Gosper's glider gun, row by row, in a field of 70 × 110 cells. */
const GUN =
  "24|22,24|12,13,20,21,34,35|11,15,20,21,34,35|0,1,10,16,20,21|0,1,10,14,16,17,22,24|10,16,24|11,15|12,13"
    .split("|").map((row) => row.split(",").map(Number));

const gun: Preset = (y, x) => GUN[Math.floor(70 * y) - 8]?.includes(Math.floor(110 * x) - 8) ? 1 : 0;

const VELOCITIES = Object.entries({ water: 1500, sand: 2000, limestone: 3000, salt: 4500 })
  .map(([rock, speed]) => [`${rock}, ${speed} m/s`, speed] as const);

const MEDIA = Object.entries({
  layers,
  water: () => 1500,
  "a lens": lens(1500, 3000),
  "a salt body": salt,
  "a city": city,
});

const sound = (depth: number): Omit<Scene, "title" | "help"> => ({
  ...PLANE,
  edges: EDGES,
  depth,
  shown: "p",
  range: depth === 1 ? [-2, 2] : [-0.3, 0.3],
  paints: "velocity",
  brushes: VELOCITIES,
  presets: MEDIA,
  source: ["s", RICKER],
  stencil() {
    const dimensions = depth === 1 ? 2 : 3, velocity = [1500, 4500] as const;
    return acoustic({ dimensions, order: 4, velocity, spacing: SPACING, timeStep: TIME_STEP, edges: EDGES });
  },
});

/** Reaction and diffusion in the plane (Pearson, Science 1993, 261). */
function grayScott(): Stencil {
  const laplacian = (of: FieldTap): Expression =>
    subtract(add(of.at(-1), of.at(1), of.at(0, -1), of.at(0, 1)), multiply(4, of));
  return equation({
    name: "gray-scott",
    dimensions: 2,
    fields: { u: [0, 1], v: [0, 0.5] },
    step({ u, v }) {
      const reaction = multiply(u, v, v);
      return {
        u: add(u, subtract(multiply(0.16, laplacian(u)), reaction), multiply(0.035, subtract(1, u))),
        v: add(v, subtract(multiply(0.08, laplacian(v)), multiply(0.095, v)), reaction),
      };
    },
  });
}

/** Light whose electric field stands on the picture (Yee, 1966), c Δt = h/2, with matched absorbing edges. */
function light(): Stencil {
  const loss = (i: Expression, n: Expression): Expression => {
    const depth = divide(maximum(0, subtract(EDGES, i), subtract(i, subtract(n, EDGES + 1))), EDGES);
    return multiply(0.2, depth, depth);
  };
  return equation({
    name: "light",
    dimensions: 2,
    fields: { e: [-1, 1], hx: [-1, 1], hy: [-1, 1] },
    materials: { permittivity: [1, 9], dx: along("x", loss), dy: along("y", loss) },
    sources: { j: [-1, 1] },
    step({ e, hx, hy, permittivity, dx, dy, j }) {
      const kept = subtract(1, add(dx, dy));
      const curl = subtract(subtract(hx.next(), hx.next(0, -1)), subtract(hy.next(), hy.next(-1)));
      return [
        {
          hx: multiply(kept, add(hx, multiply(0.5, subtract(e.at(0, 1), e)))),
          hy: multiply(kept, subtract(hy, multiply(0.5, subtract(e.at(1), e)))),
        },
        { e: multiply(kept, add(e, divide(multiply(0.5, add(curl, j)), permittivity))) },
      ];
    },
  });
}

/** All scenes by name, the first is shown first. */
export const SCENES: Readonly<Record<string, Scene>> = {
  sound: {
    ...sound(1),
    title: "Sound in a medium",
    help: "Paint rock and salt; tap to set off a source; place receivers and watch their traces.",
  },
  volume: {
    ...sound(48),
    title: "Sound in three dimensions",
    help: "What you paint reaches through the whole depth; the picture is a cut through its middle.",
  },
  reaction: {
    ...PLANE,
    boundary: "periodic",
    title: "Reaction and diffusion",
    help: "Gray and Scott's model: paint the one substance that makes more of itself out of the other.",
    shown: "v",
    range: [0, 0.4],
    paints: "v",
    brushes: [["catalyst", 0.5], ["none", 0]],
    presets: [["drops", drops(0, 0.5)], ["empty", () => 0]],
    starts: { u: 1 },
    stencil: grayScott,
  },
  life: {
    ...PLANE,
    title: "The game of life",
    help: "Conway's rule: a cell is born beside three others, and lives on beside two or three.",
    shown: "F",
    range: [0, 1],
    paints: "F",
    brushes: [["alive", 1], ["dead", 0]],
    presets: [["a glider gun", gun], ["soup", soup], ["empty", () => 0]],
    stencil: () => life("3/2-3", { dimensions: 2 }),
  },
  heat: {
    ...PLANE,
    title: "Heat",
    help: "Paint what is hot; everything else is cold, and stays cold beyond the rim.",
    shown: "F",
    range: [0, 1],
    paints: "F",
    brushes: [["hot", 1], ["cold", 0]],
    presets: [["rings", rings], ["cold", () => 0]],
    stencil: () => heat(1, { dimensions: 2 }),
  },
  light: {
    ...PLANE,
    edges: EDGES,
    title: "Light and glass",
    help: "Maxwell's equations: paint glass, tap to set off a lamp.",
    shown: "e",
    range: [-0.1, 0.1],
    paints: "permittivity",
    brushes: [["air", 1], ["glass, n = 1.5", 2.25], ["diamond, n = 2.4", 5.8], ["mirror", 1e6]],
    presets: [["a lens", lens(2.25, 1)], ["two slits", slits], ["air", () => 1]],
    source: [
      "j",
      Array.from({ length: 400 }, (_, n) => Math.sin(0.22 * n) * Math.sin(Math.PI * n / 400) ** 2),
    ],
    stencil: light,
  },
};

/** The scene of an equation of the visitor's own, as its definition; its first field is drawn and painted. */
export function ownScene(definition: unknown): Scene {
  const stencil = stencilOf(definition as Parameters<typeof stencilOf>[0]),
    { fields, ranges } = stencil.update;
  const [low, high] = ranges?.[0] ?? [0, 1], [name = ""] = fields;
  if (stencil.dimensions === 1) throw new RangeError("Equations of two or three dimensions are wanted here");
  const drop: Preset = (y, x) =>
    low + (high - low) * Math.exp(-300 * (0.4 * (y - 0.5) ** 2 + (x - 0.5) ** 2));
  return {
    ...PLANE,
    depth: stencil.dimensions === 2 ? 1 : 32,
    boundary: stencil.boundaries?.[0] ?? "periodic",
    title: "Your equation",
    help: "",
    shown: name,
    range: [low, high],
    paints: name,
    brushes: [[`${high}`, high], [`${low}`, low]],
    presets: [["a drop", drop], ["drops", drops(low, high)]],
    stencil: () => stencil,
  };
}
