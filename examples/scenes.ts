/**
 * The scenes that the page shows, as data: equations with a look, parameters, brushes and pictures to start with.
 *
 *     deno task page --serve
 *
 * @module
 */
import { absorbing, flux, insulated, mirror, type Stencil, value, type Wall } from "../mod.ts";
import * as equations from "./scene_equations.ts";

/** A place in thousandths of the picture's height (down) and width (across). */
export type Place = readonly [down: number, across: number];

/** A value by place: from 0 to 1 down and across, and the cells of the picture down and across. */
export type Preset = (down: number, across: number, size: readonly [rows: number, columns: number]) => number;

/** What lies beyond a side: a wall for all fields or, by name, for some among zeros; or the other side. */
export type Side = Wall | Readonly<Record<string, Wall>> | "periodic";

/** An equation to watch. */
export interface Scene {
  readonly title: string;
  readonly help: string;
  /** The equation as people write it. */
  readonly formula: string;
  readonly stencil: Stencil;
  /** What may lie beyond each side; the first is what does unless the visitor chooses. */
  readonly sides: readonly (readonly [title: string, side: Side])[];
  /** How many times fewer cells than other scenes it has. */
  readonly coarse?: number;
  /** Planes of cells behind each other; more than 1 in three dimensions. */
  readonly depth: number;
  /** The field that is drawn, the values at the ends of its colours, and which colours. */
  readonly shown: string;
  readonly range: readonly [low: number, high: number];
  readonly map: string;
  /** What brushes and presets paint: a material, or a field as it is at the start. */
  readonly paints: string;
  /** Values to paint with. */
  readonly brushes: readonly (readonly [title: string, value: number])[];
  /** What a picture starts with. */
  readonly presets: readonly (readonly [title: string, at: Preset])[];
  /** Axis profiles by name; `frequency` is the source's, in cycles per 1,000 steps. */
  readonly parameters?: Readonly<
    Record<string, readonly [title: string, least: number, most: number, value: number]>
  >;
  /** The source that a tap sets, and what it sends in each step after that, at a frequency. */
  readonly source?: readonly [name: string, signature: (frequency: number) => readonly number[]];
  readonly sources?: readonly Place[];
  readonly receivers?: readonly Place[];
  /** Other fields, where they do not start at 0. */
  readonly starts?: Readonly<Record<string, Preset>>;
  /** Steps of a frame at first, as a power of two. */
  readonly speed?: number;
}

/** Zeros beyond the outermost cells. */
export const ZERO: Wall = value(0, { at: "beyond" });

export const JOINED = ["joined to the other side", "periodic"] as const;

/** Sides that waves leave, which go `courant` cells in a step. */
const leaving = (courant: number, cells = 24) => ["absorbing", absorbing({ cells, courant })] as const;

/** Sides of waves of one field, as people write it. */
const waves = (field: string, ...how: Parameters<typeof leaving>): Scene["sides"] => [
  leaving(...how),
  [`hard wall: ∂${field}/∂n = 0`, mirror("even")],
  [`held at ${field} = 0`, mirror("odd")],
  JOINED,
];

/** A plane of cells. */
export const PLANE = { depth: 1, map: "blue to yellow" } as const;
export const WAVES = { map: "ice and fire" } as const;

/** Ricker's wavelet twenty times, and a wave that rises and stays for 20,000 steps. */
const pulses = (frequency: number): readonly number[] =>
  Array.from({ length: 12_000 }, (_, n) => {
    const a = (Math.PI * (frequency * (n % 600) / 1000 - 1)) ** 2;
    return (1 - 2 * a) * Math.exp(-a);
  });
const train = (strength: number) => (frequency: number): readonly number[] =>
  Array.from({ length: 20_000 }, (_, n) => {
    const periods = frequency * n / 1000;
    return strength * Math.sin(2 * Math.PI * periods) * Math.min(1, periods / 3, (20_000 - n) / 500);
  });

/** A number from 0 to 1 that is the same everywhere and looks like chance. */
const scattered = (i: number): number => (Math.sin(i * 12.9898) * 43758.5453) % 1 / 2 + 0.5;

const inEllipse = (down: number, across: number, [y, x, ry, rx]: readonly number[]): boolean =>
  ((down - y!) / ry!) ** 2 + ((across - x!) / rx!) ** 2 < 1;

/** Cells from the picture's middle: down, across, and away; units of a height are the same in every picture. */
export const fromMiddle = (y: number, x: number, [rows, columns]: readonly number[]) => {
  const [down, across] = [y - 0.5, (x - 0.5) * columns! / rows!];
  return { down, across, away: Math.hypot(down, across) };
};

const layers: Preset = (down, across) =>
  1500 + 600 * Math.max(0, Math.min(4, Math.floor(5 * (down + 0.06 * Math.sin(7 * across)))));

const salt: Preset = (y, x, size) =>
  inEllipse(y, x, [0.55, 0.5, 0.2, 0.24]) || inEllipse(y, x, [0.8, 0.56, 0.3, 0.1])
    ? 4500
    : Math.min(3300, layers(y, x, size));

const lens = (inside: number, outside: number): Preset => (y, x, size) => {
  const { down, across } = fromMiddle(y, x, size);
  return Math.max(Math.hypot(down, across + 0.25), Math.hypot(down, across - 0.25)) < 0.45 ? inside : outside;
};

export const drops = (low: number, high: number): Preset => (y, x) =>
  scattered(Math.floor(12 * y) * 31 + Math.floor(20 * x)) > 0.9 ? high : low;

const noise: Preset = (y, x) => 0.2 * scattered(Math.floor(997 * y) * 1009 + Math.floor(1499 * x)) - 0.1;

const slits = (wall: number, open: number): Preset => (y, x) =>
  Math.abs(x - 0.5) < 0.01 && Math.abs(Math.abs(y - 0.5) - 0.08) > 0.03 ? wall : open;

const rings: Preset = (y, x, size) => Math.sin(30 * fromMiddle(y, x, size).away) > 0 ? 1 : 0;

const soup: Preset = (y, x) => noise(y, x, [1, 1]) > 0.04 ? 1 : 0;

/** Gosper's glider gun, row by row, in a field of 70 × 110 cells. */
const GUN =
  "24|22,24|12,13,20,21,34,35|11,15,20,21,34,35|0,1,10,16,20,21|0,1,10,14,16,17,22,24|10,16,24|11,15|12,13"
    .split("|").map((row) => row.split(",").map(Number));

const gun: Preset = (y, x) => GUN[Math.floor(70 * y) - 8]?.includes(Math.floor(110 * x) - 8) ? 1 : 0;

/** Streets between houses, and a square. */
const city: Preset = (y, x, size) => {
  const { down, across, away } = fromMiddle(y, x, size),
    [i, j] = [Math.floor(6 * down), Math.floor(6 * across)];
  const [south, east] = [0, 1].map((k) => 0.2 + 0.3 * scattered(i * 7 + j * 13 + k));
  return 6 * down - i > south! && 6 * across - j > east! && away > 0.14 ? 0 : 1;
};

/** A coast with a harbour behind two piers, and an island. */
const harbour: Preset = (y, x) => {
  if (Math.abs(x - 0.6) < 0.012 && Math.abs(y - 0.5) > 0.1) return 0;
  const shore = 0.9 + 0.05 * Math.sin(9 * y), island = Math.hypot(0.6 * (y - 0.3), x - 0.38);
  const depth = Math.min(1, 6 * (shore - x), 9 * (island - 0.05));
  return depth < 0.1 ? 0 : depth;
};

/** A reflector, the rod that is driven, and directors: where they are and how long, in wavelengths of 40 cells. */
const RODS = [[-0.25, 0.5], [0, 0.42], [0.25, 0.26], [0.5, 0.26], [0.75, 0.26]] as const;
const yagi: Preset = (y, x, [rows, columns]) => {
  const [down, across] = [
    Math.floor(y * rows) - Math.floor(rows / 2),
    Math.floor(x * columns) - Math.floor(0.4 * columns),
  ];
  const isRod = RODS.some(([at, length]) =>
    across === Math.round(40 * at) && Math.abs(down) <= 20 * length && (at !== 0 || down !== 0)
  );
  return isRod ? 1e6 : 1;
};

const spirals = (part: 0 | 1): Preset => (y, x, size) => {
  const { down, across } = fromMiddle(y, x, size);
  // a product of complex numbers, one for each centre, clockwise and anticlockwise by turns
  const phase = [[-0.2, -0.5], [0.25, -0.1], [-0.15, 0.35], [0.3, 0.6]]
    .reduce((sum, [y0, x0], i) => sum + (-1) ** i * Math.atan2(down - y0!, across - x0!), 0);
  return part === 0 ? Math.cos(phase) : Math.sin(phase);
};

/** A packet of waves of ten cells that moves to the right, at half a step between its two parts. */
const packet = (part: 0 | 1): Preset => (y, x, [rows, columns]) => {
  const [down, across] = [(y - 0.5) * rows, (x - 0.22) * columns], wave = 2 * Math.PI / 10 * across;
  return Math.exp(-(down ** 2 + across ** 2) / (0.1 * rows) ** 2) *
    (part === 0 ? Math.cos(wave) : Math.sin(wave));
};

/** A ring within which u is one turn further. */
const soliton: Preset = (y, x, size) =>
  4 * Math.atan(Math.exp(Math.min(30, (0.42 - fromMiddle(y, x, size).away) * size[0] / 5)));

const VELOCITIES = Object.entries({ water: 1500, sand: 2000, limestone: 3000, salt: 4500 })
  .map(([rock, speed]) => [`${rock}, ${speed} m/s`, speed] as const);
const MEDIA = Object.entries({ "a salt body": salt, layers, "a lens": lens(1500, 3000), water: () => 1500 });

const SOUND = {
  ...PLANE,
  // between those of water and of salt
  sides: waves("p", 0.3, 36),
  ...WAVES,
  formula: "∂²p/∂t² = v² Δp + s",
  shown: "p",
  paints: "velocity",
  brushes: VELOCITIES,
  presets: MEDIA,
  parameters: { frequency: ["Frequency", 5, 40, 20] },
  source: ["s", pulses],
} as const;

const WATER = {
  ...PLANE,
  sides: waves("h", 0.63),
  ...WAVES,
  stencil: equations.water,
  formula: "∂²h/∂t² = ∇·(g d ∇h)",
  shown: "h",
  paints: "depth",
} as const;

const FIELDS = {
  ...PLANE,
  ...WAVES,
  paints: "permittivity",
  brushes: [["air", 1], ["glass, n = 1.5", 2.25], ["diamond, n = 2.4", 5.8], ["metal", 1e6]],
} as const;

/** All scenes by name, the first is shown first. */
export const SCENES: Readonly<Record<string, Scene>> = {
  sound: {
    ...SOUND,
    title: "Sound in a salt body",
    help: "Waves from a source near the surface, as in the search for oil. Paint rock and salt.",
    stencil: equations.sound,
    range: [-1, 1],
    sources: [[150, 300]],
    receivers: [[150, 700]],
  },
  reaction: {
    ...PLANE,
    sides: [
      JOINED,
      ["closed: ∂u/∂n = ∂v/∂n = 0", insulated()],
      ["bare: u = 1, v = 0", { u: value(1), v: value(0) }],
    ],
    title: "Spots and stripes",
    help: "Gray and Scott's model: v makes more of itself out of u. Feed and kill decide what grows.",
    formula: "∂u/∂t = 0.16 Δu − uv² + F (1 − u),  ∂v/∂t = 0.08 Δv + uv² − (F + k) v",
    stencil: equations.grayScott,
    shown: "v",
    range: [0, 0.4],
    paints: "v",
    brushes: [["no v", 0], ["v", 0.5]],
    presets: [["drops", drops(0, 0.5)], ["empty", () => 0]],
    parameters: {
      feed: ["Feed F", 0.01, 0.08, 0.035],
      kill: ["Kill k", 0.045, 0.07, 0.06],
    },
    starts: { u: () => 1 },
    speed: 5,
  },
  light: {
    ...FIELDS,
    sides: [leaving(0.5), ["metal", { hx: insulated(), hy: insulated() }], JOINED],
    title: "Light in a lens",
    help: "Maxwell's equations: glass slows light, and a lens gathers it. Tap to set off a lamp.",
    formula: "∂E/∂t = ∇×H / ε,  ∂H/∂t = −∇×E",
    stencil: equations.light,
    shown: "e",
    range: [-0.03, 0.03],
    presets: [["a lens", lens(2.25, 1)], ["two slits", slits(1e6, 1)], ["air", () => 1]],
    parameters: { frequency: ["Frequency", 5, 60, 35] },
    source: ["j", train(1)],
    sources: [[500, 100]],
  },
  schroedinger: {
    ...PLANE,
    ...WAVES,
    sides: [
      ["hard wall: ψ = 0", ZERO],
      ["mirror: ∂ψ/∂n = 0", mirror("even")],
      leaving(0.13),
      JOINED,
    ],
    title: "An electron at two slits",
    help: "Schrödinger's equation: a packet of waves meets a wall. Paint walls in its way.",
    formula: "i ∂ψ/∂t = −½ Δψ + V ψ;  what you see is the real part of ψ",
    stencil: equations.schroedinger,
    shown: "a",
    range: [-0.6, 0.6],
    paints: "potential",
    brushes: [["nothing", 0], ["hill", 0.15], ["wall", 1]],
    presets: [["two slits", slits(1, 0)], ["nothing", () => 0]],
    starts: { a: packet(0), b: packet(1) },
    speed: 3,
  },
  spirals: {
    ...PLANE,
    ...WAVES,
    sides: [JOINED, ["closed: ∂A/∂n = 0", insulated()], ["at rest: A = 0", value(0)]],
    title: "Spirals",
    help: "Ginzburg and Landau's equation: every cell oscillates, and pulls at its neighbours.",
    formula: "∂A/∂t = A + (1 + iβ) ΔA − (1 + iγ) |A|² A",
    stencil: equations.ginzburgLandau,
    shown: "a",
    range: [-1, 1],
    paints: "a",
    brushes: [["behind", -1], ["ahead", 1]],
    presets: [["four centres", spirals(0)], ["noise", noise]],
    parameters: {
      beta: ["β", -1, 1, 0],
      gamma: ["γ", -2, 2, -1],
    },
    starts: { b: spirals(1) },
    speed: 3,
  },
  water: {
    ...WATER,
    title: "Waves in a harbour",
    help: "Shallow water: waves are slower where it is shallow, and bend towards the shore. Paint piers.",
    range: [-0.06, 0.06],
    brushes: [["deep water", 1], ["shallow water", 0.25], ["land", 0]],
    presets: [["a harbour", harbour], ["open water", () => 1]],
    parameters: { frequency: ["Frequency", 5, 40, 25] },
    source: ["s", train(0.06)],
    sources: [[350, 90], [600, 90]],
  },
  city: {
    ...WATER,
    sides: waves("p", 0.63),
    title: "Noise in a city",
    help: "Sound between houses, seen from above. Paint walls against the noise.",
    range: [-0.03, 0.03],
    formula: "∂²p/∂t² = c² Δp between walls",
    brushes: [["air", 1], ["wall", 0]],
    presets: [["streets", city], ["a field", () => 1]],
    parameters: { frequency: ["Frequency", 5, 40, 20] },
    source: ["s", train(0.05)],
    sources: [[500, 500]],
  },
  antenna: {
    ...FIELDS,
    sides: [leaving(0.5), ["metal", { h: insulated() }], JOINED],
    title: "A Yagi antenna",
    help: "Rods of metal, one of them driven: the others send its wave forward. Paint a rod away.",
    formula: "∂E/∂t = ∇×H / ε,  ∂H/∂t = −∇×E",
    stencil: equations.antenna,
    shown: "ex",
    range: [-0.1, 0.1],
    presets: [["five rods", yagi], ["air", () => 1]],
    parameters: { frequency: ["Frequency", 6, 20, 12.5] },
    source: ["j", train(1)],
    sources: [[500, 400]],
  },
  solitons: {
    ...PLANE,
    ...WAVES,
    sides: [["free end: ∂u/∂n = 0", insulated()], ["held at u = 0", value(0)], JOINED],
    title: "A ring soliton",
    help: "The sine–Gordon equation: where u has gone round once, a wall stays. Paint rings of your own.",
    formula: "∂²u/∂t² + γ ∂u/∂t = Δu − sin u",
    stencil: equations.sineGordon,
    shown: "u",
    range: [-3, 3],
    paints: "u",
    brushes: [["no turn", 0], ["one turn", 6.2832]],
    presets: [["a ring", soliton], ["patches", drops(0, 6.2832)], ["rest", () => 0]],
    parameters: { damping: ["Damping γ", 0, 0.02, 0] },
    speed: 3,
  },
  heat: {
    ...PLANE,
    sides: [
      ["cold: u = 0", ZERO],
      ["hot: u = 1", value(1)],
      ["insulated: ∂u/∂n = 0", insulated()],
      ["heated: ∂u/∂n = 0.02", flux(0.02)],
      JOINED,
    ],
    title: "Heat",
    help: "Paint what is hot; everything else is cold. Walls may be cold, hot, insulated or heated.",
    formula: "∂u/∂t = α Δu",
    stencil: equations.heat,
    shown: "u",
    range: [0, 1],
    map: "embers",
    paints: "u",
    brushes: [["cold", 0], ["hot", 1]],
    presets: [["rings", rings], ["cold", () => 0]],
    parameters: { diffusivity: ["Diffusivity α", 0, 0.24, 0.2] },
  },
  life: {
    ...PLANE,
    sides: [["dead cells", ZERO], ["mirror", mirror("even")], JOINED],
    title: "The game of life",
    help: "Conway's rule: a cell is born beside three others, and lives on beside two or three.",
    formula: "born: 3 neighbours, alive on: 2 or 3",
    coarse: 6,
    stencil: equations.gameOfLife,
    shown: "F",
    range: [0, 1],
    paints: "F",
    brushes: [["dead", 0], ["alive", 1]],
    presets: [["soup", soup], ["a glider gun", gun], ["empty", () => 0]],
    speed: 0,
  },
  volume: {
    ...SOUND,
    sides: waves("p", 0.25),
    depth: 48,
    coarse: 9,
    title: "Sound in three dimensions",
    help: "What you paint reaches through the whole depth; the picture is a cut through its middle.",
    stencil: equations.volume,
    range: [-0.2, 0.2],
    sources: [[150, 300]],
    receivers: [[150, 700]],
  },
};
