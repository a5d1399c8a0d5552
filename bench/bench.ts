/**
 * `bench`: measures the CPU's workers, in every order, against the same loops in C; in one dimension the swept rule
 * against classic.
 *
 * @module
 */
import { boundariesOf, type Equation, type Grid, type Stencil } from "../kernels/stencils/stencil.ts";
import { KS_POINTS } from "../kernels/stencils/ks.ts";
import { EQUATIONS } from "../kernels/stencils/all.ts";
import { HEAT_DELTAS } from "../kernels/stencils/heat.ts";
import { WAVE_ORDERS } from "../kernels/stencils/wave.ts";
import { benchGrids } from "./bench_grids.ts";
import { C_COMPILER, NATIVE_COMPILER } from "./native_loops.ts";
import { renderGrids } from "./render_grids.ts";
import { checkFileWritable } from "../tuner/profile/store.ts";
import { benchLines, DEFAULT_CPU_LENGTHS, DEFAULT_LENGTHS, renderLines } from "./bench_lines.ts";
import {
  COMMON,
  type EarlierValues,
  number,
  oneOf,
  type Options,
  type Reader,
  readLine,
  readText,
  type Refuse,
  sidesOf,
  type Values,
  whole,
} from "../tuner/cli/options.ts";
import { isModule, loadEquation } from "../tuner/cli/load_equation.ts";
import { command } from "../tuner/cli/parse_options.ts";
import { writeText } from "../tuner/cli/read_inputs.ts";
import { endWith } from "../tuner/cli/main.ts";
import { EXIT } from "../tuner/cli/report_error.ts";
import { RequestError } from "../tuner/problem/request_error.ts";

/** One of some whole numbers. */
function oneOfNumbers(values: readonly number[]): Reader<number> {
  return number(`one of ${values.join(", ")}`, (value) => values.includes(value));
}

/** Both time levels of the first fit a second-level cache, those of the second no cache of a desktop. */
const DEFAULT_GRIDS: readonly Grid[] = [[64, 64, 64], [256, 256, 256]];

const isLine = ({ variant, create }: Equation): boolean => create(variant?.default).dimensions === 1;

const GRID_EQUATIONS = EQUATIONS.filter(({ name }) => ["wave", "heat"].includes(name));
const LINE_EQUATIONS = EQUATIONS.filter(isLine);

/** Names in one line. */
const named = (equations: readonly Equation[], joint = ", "): string =>
  equations.map(({ name }) => name).join(joint);

const DEFAULT_ORDERS = [2, 4], DEFAULT_DELTAS = [1];

const DEFAULT_WORKERS = 2;

const ONLY_LINES = `it belongs to --stencil ${named(LINE_EQUATIONS, " or ")}`;

const OPTIONS = {
  stencil: {
    value: "NAME|FILE",
    help: `equation: ${named(GRID_EQUATIONS)} (default both); in one dimension ${
      named(LINE_EQUATIONS)
    }; or a module`,
    read: async (text: string, refuse: Refuse, earlier: EarlierValues): Promise<Equation> => {
      if (isModule(text)) return await loadEquation(text);
      const offered = [...GRID_EQUATIONS, ...LINE_EQUATIONS];
      const name = oneOf(offered.map(({ name }) => name))(text, refuse, earlier);
      return offered.find((equation) => equation.name === name)!;
    },
    repeatable: true,
  },
  order: {
    value: "N",
    help: `wave: order in space (default ${DEFAULT_ORDERS.join(", ")})`,
    read: oneOfNumbers(WAVE_ORDERS),
    repeatable: true,
  },
  delta: {
    value: "N",
    help: `heat: reach in space (default ${DEFAULT_DELTAS.join(", ")})`,
    read: oneOfNumbers(HEAT_DELTAS),
    repeatable: true,
  },
  grid: {
    value: "XxYxZ|N",
    help: `cells along x, y, z, or N for a cube (default ${
      DEFAULT_GRIDS.map((grid) => grid.join("x")).join(", ")
    }), or a line's points (default 2048, 4096, … 1048576)`,
    read: (text: string, refuse: Refuse, earlier: EarlierValues) =>
      ((earlier.stencil as Equation[]).some(isLine) ? readLine : sidesOf(3))(text, refuse, earlier) as Grid,
    repeatable: true,
  },
  workers: {
    value: "N",
    help: `workers, and threads of the loops in C on all cores (default ${DEFAULT_WORKERS})`,
    read: whole(1, 1024),
    notWith: { "--no-cpu": "they are the CPU's" },
  },
  points: {
    value: "N",
    help: `ks: points of a sub-step: ${KS_POINTS.join(", ")} (default 5)`,
    read: oneOfNumbers(KS_POINTS),
  },
  steps: {
    value: "N",
    help: "one dimension: time steps of a run on the GPU (default: 16384 sub-steps)",
    read: whole(1, 1_000_000),
    notWith: { "--no-gpu": "they are those of a run on the GPU" },
  },
  noGpu: {
    help: "one dimension: leave the GPU out",
    notWith: { "--no-cpu": "nothing is left that could be measured" },
  },
  noCpu: { help: "one dimension: leave the CPU's workers out" },
  out: { value: "PREFIX", help: "one dimension: write PREFIX.json, and tables to PREFIX.md", read: readText },
  seconds: {
    value: "S",
    help: "time for each order or equation and grid",
    read: number("a number above 0 and at most 3600", (seconds) => seconds > 0 && seconds <= 3600),
    default: "3",
  },
  json: COMMON.json,
} as const satisfies Options;

/** Runs the command: exit code 1 where the ways to compute differ in any bit. */
export const run = command({
  usage: "deno task bench [OPTIONS]",
  about:
    "Measures the CPU's workers in every order against the same loops in C, on one core and on all, in turns.\n" +
    "Of an equation in one dimension it measures the swept rule against classic, on the GPU and on the workers.",
  options: OPTIONS,
}, async (options) => {
  if (options.stencil.some(isLine)) return await runLines(options);
  for (
    const [name, value] of Object.entries({ points: options.points, steps: options.steps, out: options.out })
  ) {
    if (value !== undefined) throw new RequestError(`Cannot use --${name}: ${ONLY_LINES}`);
  }
  if (options.noGpu) throw new RequestError(`Cannot use --no-gpu: ${ONLY_LINES}`);
  if (options.noCpu) throw new RequestError(`Cannot use --no-cpu: ${ONLY_LINES}`);
  const { workers = DEFAULT_WORKERS, seconds } = options;
  const grids = options.grid.length > 0 ? options.grid : DEFAULT_GRIDS;
  const stencils = stencilsOf(options);
  const comparisons = await benchGrids({ stencils, grids, workers, timeMs: seconds * 1e3 });
  const compilers = { c: C_COMPILER.join(" "), native: NATIVE_COMPILER.join(" ") };
  console.log(
    options.json
      ? JSON.stringify({ compilers, workers, comparisons }, null, 2)
      : renderGrids(comparisons, workers),
  );
  return comparisons.every(({ wrong }) => wrong.length === 0) ? EXIT.done : EXIT.no;
});

/** The equations that are asked for: those of an order or a reach alone belong to it. */
function stencilsOf({ stencil, order, delta }: Values<typeof OPTIONS>): Stencil[] {
  const equations = stencil.length > 0
    ? stencil
    : GRID_EQUATIONS.filter(({ name }) =>
      order.length + delta.length === 0 || (name === "wave" ? order : delta).length > 0
    );
  for (const [option, owner, values] of [["--order", "wave", order], ["--delta", "heat", delta]] as const) {
    if (values.length > 0 && !equations.includes(GRID_EQUATIONS.find(({ name }) => name === owner)!)) {
      throw new RequestError(`Cannot use ${option}: it belongs to --stencil ${owner}`);
    }
  }
  const orders = order.length > 0 ? order : DEFAULT_ORDERS,
    deltas = delta.length > 0 ? delta : DEFAULT_DELTAS;
  return equations.flatMap((equation) => {
    if (GRID_EQUATIONS.includes(equation)) {
      return (equation.name === "wave" ? orders : deltas).map((one) => equation.create(one));
    }
    const own = equation.create(undefined), boundaries = boundariesOf(own);
    if (boundaries.includes("zero")) return [own];
    throw new RequestError(
      `Cannot measure ${own.name}: zeros are wanted around the grid: it takes ${boundaries.join(", ")}`,
    );
  });
}

/** The second part: the swept rule against classic. */
async function runLines(options: Values<typeof OPTIONS>): Promise<number> {
  const { stencil: stencils, workers = DEFAULT_WORKERS, points, steps } = options;
  if (options.order.length + options.delta.length > 0) {
    const option = options.order.length > 0 ? "--order" : "--delta";
    throw new RequestError(`Cannot use ${option}: equations in one dimension have none`);
  }
  const other = stencils.find((equation) => !isLine(equation));
  if (other !== undefined) {
    throw new RequestError(
      `Cannot use --stencil ${other.name} with an equation in one dimension: run them one by one`,
    );
  }
  if (points !== undefined && !stencils.some(({ variant }) => variant?.name === "points")) {
    throw new RequestError("Cannot use --points: it belongs to --stencil ks");
  }
  const lengths = options.grid.length > 0 ? options.grid.map(([, , points]) => points) : undefined;
  const short = lengths?.find((points) => points < 32);
  if (short !== undefined) {
    throw new RequestError(`Cannot use --grid ${short}: wanted at least 32 points, the smallest node`);
  }
  const paths = options.out === undefined ? [] : [`${options.out}.json`, `${options.out}.md`];
  for (const path of paths) await checkFileWritable(path);
  const found = await benchLines({
    stencils: stencils.map(({ variant, create }) =>
      create(variant?.name === "points" ? points ?? variant.default : variant?.default)
    ),
    lengths: lengths ?? DEFAULT_LENGTHS,
    cpuLengths: lengths ?? DEFAULT_CPU_LENGTHS,
    workers: options.noCpu ? 0 : workers,
    gpu: !options.noGpu,
    timeMs: 1e3 * options.seconds,
    steps,
  });
  if (found.gpu.length + found.cpu.length === 0) {
    throw new RequestError(
      "Cannot measure the swept rule: there is no WebGPU adapter, and --no-cpu leaves the CPU out",
    );
  }
  const json = JSON.stringify(found, null, 2);
  for (const [i, text] of [json, renderLines(found, true)].entries()) {
    if (paths[i] !== undefined) await writeText(paths[i], `${text}\n`);
  }
  console.log(options.json ? json : renderLines(found));
  const isRight = found.gpu.every(({ failed }) => failed.length === 0) &&
    found.cpu.every(({ sameBits }) => sameBits);
  return isRight ? EXIT.done : EXIT.no;
}

if (import.meta.main) await endWith(() => run(Deno.args));
