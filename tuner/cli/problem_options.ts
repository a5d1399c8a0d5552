import { fileURLToPath } from "node:url";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import {
  BOUNDARIES,
  boundariesOf,
  type Equation,
  type Grid,
  isBoundaryOf,
  type OwnBoundaries,
  type OwnGrid,
  planned,
  shortBoundary,
  type Stencil,
  type VariantValue,
  type Walls,
} from "../../kernels/stencils/stencil.ts";
import { plannedProblem } from "../../kernels/planned_problem.ts";
import { TRAVERSALS } from "../../kernels/traversals/all.ts";
import { detectDevice, type DeviceDescription } from "../devices/device.ts";
import { type PrecisionName, PRECISIONS } from "../../kernels/precision.ts";
import { takeWantedGpu } from "../devices/gpu_choice.ts";
import { isModule, loadEquation } from "./load_equation.ts";
import { RequestError } from "../problem/request_error.ts";
import { readWalls, WALLS_HELP } from "./read_walls.ts";
import {
  MAX_STEPS,
  type ResolvedProblem,
  resolveProblem,
  THREE_BOUNDARIES,
  wantedBoundary,
} from "../problem/resolve_problem.ts";
import {
  type COMMON,
  count,
  type EarlierValues,
  gridOf,
  number,
  oneOf,
  type Options,
  readLine,
  readText,
  type Refuse,
  sidesOf,
  type Values,
  workers,
  wrongValue,
} from "./options.ts";

/** Sources or receivers at most. */
const MAX_POINTS = 1_000_000;

const TRAVERSAL_NAMES = TRAVERSALS.map(({ name }) => name);

/** What is set of the equation by `--set NAME=VALUE`. */
type Setting = readonly [name: string, text: string];

/** Settings with an option of their own. */
const SHORT = ["order", "delta"] as const;

const namesOf = (equations: readonly Equation[]): string => equations.map(({ name }) => name).join(", ");

const PLANAR = EQUATIONS.filter(({ dimensions }) => dimensions?.includes(2));
const SETTINGS = EQUATIONS.map((equation) => `${equation.name}: ${settingsOf(equation).join(", ")}`);

/** Which problem to compute, and what may compute it. */
export const PROBLEM = {
  stencil: {
    value: "NAME|FILE",
    help: `equation: ${namesOf(EQUATIONS)}, or a module that exports yours by default, such as ./mine.ts`,
    read: readEquation,
    reads: (text: string) => isModule(text) ? [text.startsWith("file:") ? fileURLToPath(text) : text] : [],
    default: `${EQUATIONS[0]!.name} (3D)`, // a grid of two numbers wants a name
  },
  order: shortSetting("order"),
  delta: shortSetting("delta"),
  set: {
    value: "NAME=VALUE",
    help: `an option of the equation, such as courant=0.3 (${SETTINGS.join("; ")})`,
    read: readSetting,
    repeatable: true,
  },
  grid: {
    value: "XxYxZ|XxY|N",
    help: `cells along x, y, z; of --stencil ${namesOf(PLANAR)} or yours x, y; ` +
      "N alone: a cube, a square or a line's points (default: a grid that suits the device)",
    read(text: string, refuse: Refuse, earlier: EarlierValues): OwnGrid {
      const { name, dimensions = [3] } = earlier.stencil as Equation;
      // without a name the default one has three
      const isUnnamed = name === EQUATIONS[0]!.name && dimensions.length === 1 && /^\d+x\d+$/.test(text);
      const hint = isUnnamed ? `; of XxY name the equation, --stencil ${name}` : "";
      const refused: Refuse = (wanted, found) => refuse(wanted + hint, found);
      return (dimensions[0] === 1 ? readLine : sidesOf(...dimensions))(text, refused, earlier);
    },
  },
  boundary: {
    value: "NAME|X,Y,Z|WALLS",
    help: boundaryHelp(),
    read(text: string, refuse: Refuse, earlier: EarlierValues): OwnBoundaries | Walls {
      const stencil = chosenStencil(earlier);
      if (text.includes("=")) return readWalls(text, stencil, refuse);
      const words = text.split(","), boundary = words.length === 1 ? text : words;
      const isPlan = stencil.dimensions === 2 && words.length === 3;
      if (!isPlan && isBoundaryOf(stencil, boundary)) return shortBoundary(boundary);
      return refuse(wantedBoundary(stencil));
    },
  },
  edges: {
    value: "within|around",
    help: "where edges that absorb lie: within the grid, or in cells around it (default: within)",
    read: oneOf(["within", "around"] as const),
  },
  precision: {
    value: "f32|f64",
    help: "numbers that all values are: f64 takes twice the memory (default: f32)",
    read: oneOf(Object.keys(PRECISIONS) as PrecisionName[]),
  },
  sources: count(
    "sources, spread over the grid, of an equation that declares some (default 0)",
    0,
    MAX_POINTS,
  ),
  receivers: count("receivers, each recorded at every step (default 0)", 0, MAX_POINTS),
  steps: count("time steps of a run (default: as many as suit the traversals)", 1, MAX_STEPS),
  traversal: {
    value: "NAME",
    help: `of the GPU's traversals, try only this: ${TRAVERSAL_NAMES.join(", ")} (default: all)`,
    read: oneOf(TRAVERSAL_NAMES),
    repeatable: true,
  },
  cpuWorkers: workers(
    "workers on the CPU, 0 for the GPU alone (default: one per core, one fewer beside a GPU)",
    0,
  ),
  gpu: {
    value: "INDEX|NAME|PCI",
    help: "which GPU, as doctor lists them (default: FACET_GPU, or the one that WebGPU offers)",
    read: readText,
    notWith: { "--no-gpu": "the GPU is left out" },
  },
  noGpu: { help: "leave the GPU out", notWith: { "--cpu-workers 0": "nothing is left that could compute" } },
} as const satisfies Options;

/** Options of {@linkcode PROBLEM} that some commands lack. */
type Left = "precision" | "traversal" | "cpuWorkers" | "gpu" | "noGpu" | "sources" | "receivers";

/** The values of {@linkcode PROBLEM}, as far as a command takes them. */
export type ProblemValues =
  & Omit<Values<typeof PROBLEM>, Left>
  & Partial<Pick<Values<typeof PROBLEM>, Left>>
  & Partial<Pick<Values<typeof COMMON>, "deviceMemory">>;

/** Checks that this machine, or the one given, can do what the options ask for; `action` is as `tune`. */
export async function resolveOptions(
  action: string,
  values: ProblemValues,
  machine?: DeviceDescription,
): Promise<ResolvedProblem> {
  const { traversal: traversals, noGpu, sources = 0, receivers = 0 } = values;
  if (!noGpu && machine === undefined) await takeWantedGpu(values.gpu);
  const stencil = chosenStencil(values), { precision = stencil.update.precision } = values;
  const survey = sources + receivers > 0 ? { sources, receivers } : undefined;
  const wish = { ...values, stencil, precision, survey, traversals, gpu: !noGpu };
  return resolveProblem(action, wish, machine ?? await detectDevice({ precision }));
}

/** The stencil of the equation with all that is set of it. */
export function chosenStencil(values: EarlierValues): Stencil {
  const { variant, modes, timeStep, create } = values.stencil as Equation;
  // of several grids the first says which
  const all = [values.grid].flat() as readonly unknown[], own = Array.isArray(all[0]) ? all[0] : all;
  const dimensions = own.length === 2 ? 2 : undefined;
  const short = SHORT.flatMap((name): Setting[] =>
    values[name] === undefined ? [] : [[name, `${values[name]}`]]
  );
  const given = [...short, ...(values.set ?? []) as readonly Setting[]], settings = new Map(given);
  const twice = given.find(([name, text]) => settings.get(name) !== text);
  if (twice !== undefined) {
    const found = given.filter(([name]) => name === twice[0]).map(([, text]) => text).join(" and ");
    throw new RequestError(`Cannot use --set ${twice[0]}: it can only be given once: found ${found}`);
  }
  const refuse = (name: string) => (wanted: string): never => {
    throw wrongValue(`set ${name}`, wanted, settings.get(name)!);
  };
  const chosen = variant && settings.get(variant.name);
  const value = chosen === undefined
    ? (dimensions === 2 ? variant?.planar : undefined) ?? variant?.default
    : variant!.read(chosen, dimensions) ?? refuse(variant!.name)(variant!.wanted);
  const mode = settings.get("mode"),
    isMode = mode === undefined || (dimensions === 2 && modes?.includes(mode));
  if (!isMode) refuse("mode")(`one of ${modes!.join(", ")}, and a grid XxY`);
  const step = timeStep && settings.get(timeStep.name);
  if (step === undefined) return create(value, undefined, dimensions, mode);
  const limit = timeStep!.limit(value, dimensions),
    of = variant === undefined ? "" : ` of ${variant.name} ${value}`;
  const wanted = `a number above 0 and at most ${limit.toFixed(6)}, the stability limit${of}`;
  const isStable = (value: number): boolean => value > 0 && value <= limit;
  return create(value, number(wanted, isStable)(step, refuse(timeStep!.name), values), dimensions, mode);
}

/** Parts along x, y, z, or x, y, as a plan has them; the help says of what. */
export function parts(help: string) {
  return {
    value: "XxYxZ|XxY",
    help,
    read(text: string, refuse: Refuse, earlier: EarlierValues): Grid {
      const grid = (earlier.grid ?? [2, 2, 2]) as OwnGrid, asked = { stencil: chosenStencil(earlier), grid };
      const { stencil } = plannedProblem({ ...asked, boundary: "zero" });
      return planned(stencil, gridOf(stencil.dimensions === 2 ? 2 : 3)(text, refuse, earlier), 1);
    },
  };
}

async function readEquation(text: string, refuse: Refuse, earlier: EarlierValues): Promise<Equation> {
  if (isModule(text)) return await loadEquation(text);
  const name = oneOf(EQUATIONS.map(({ name }) => name))(text.replace(" (3D)", ""), refuse, earlier);
  const found = EQUATIONS.find((equation) => equation.name === name)!;
  return name === text ? found : { ...found, dimensions: [3] };
}

/** The names that `--set` takes of an equation. */
function settingsOf({ variant, modes, timeStep }: Equation): string[] {
  return [variant, modes && { name: "mode" }, timeStep].flatMap((setting) => setting?.name ?? []);
}

function readSetting(text: string, refuse: Refuse, { stencil }: EarlierValues): Setting {
  const equation = stencil as Equation, names = settingsOf(equation);
  if (names.length === 0) throw new RequestError(`Cannot use --set ${text}: ${equation.name} has no options`);
  const [, name = "", value = ""] = /^(\w+)=(.+)$/.exec(text) ?? [];
  if (names.includes(name)) return [name, value];
  return refuse(`an option of ${equation.name}, ${names.map((name) => `${name}=VALUE`).join(" or ")}`);
}

/** The option that is short for `--set`. */
function shortSetting(name: typeof SHORT[number]) {
  const owners = EQUATIONS.filter((equation) => settingsOf(equation).includes(name));
  const { placeholder, title, wanted, default: fallback } = owners[0]!.variant!;
  const names = owners.map((owner) => owner.name);
  return {
    value: placeholder,
    help: `${names.join(", ")}: ${title}: ${wanted} (default ${fallback})`,
    read(text: string, refuse: Refuse, { stencil }: EarlierValues): VariantValue {
      const { name: chosen, variant } = stencil as Equation;
      if (variant?.name === name) return variant.read(text) ?? refuse(variant.wanted);
      throw new RequestError(
        `Cannot use --${name} with --stencil ${chosen}: it belongs to ${names.join(" and ")}`,
      );
    },
  };
}

/** The boundaries of all equations, for `--help`. */
function boundaryHelp(): string {
  const own = EQUATIONS.flatMap(({ name, variant, create }) => {
    const own = boundariesOf(create(variant?.default)).join(", ");
    return own === BOUNDARIES.join(", ") ? [] : [`${name}: ${own}`];
  });
  const all = `around the grid: ${BOUNDARIES.join(", ")} (default ${BOUNDARIES[0]})`;
  return [`${all}, or one for each axis, such as ${THREE_BOUNDARIES}`, ...own, `or ${WALLS_HELP}`].join("; ");
}
