import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import type { Values } from "../../tuner/cli/options.ts";
import { parseOptions, renderHelp } from "../../tuner/cli/parse_options.ts";
import { OPTIONS as SPACE } from "../../tuner/cli/space.ts";
import { OPTIONS } from "../../tuner/cli/tune.ts";
import { layOut } from "../../tuner/cli/terminal.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";

const [WAVE, HEAT] = EQUATIONS;

function parse(...args: string[]): Values<typeof OPTIONS> {
  return parseOptions(args, OPTIONS)!;
}

function messageOf(...args: string[]): string {
  const { message } = assertThrows(() => parse(...args), RequestError);
  assert(!message.includes("\n"), message);
  return message;
}

/** Options of the equations that are not given. */
const NONE = {
  order: undefined,
  courant: undefined,
  delta: undefined,
  fourier: undefined,
  rule: undefined,
  medium: undefined,
  points: undefined,
  dt: undefined,
};

Deno.test("tune without options is the wave equation for a minute", () => {
  assertEquals(parse(), {
    stencil: WAVE!,
    ...NONE,
    grid: undefined,
    boundary: undefined,
    steps: undefined,
    traversal: [],
    cpuWorkers: undefined,
    noGpu: false,
    strategy: "auto",
    budget: { timeNs: 60e9 },
    startShare: undefined,
    seed: 1,
    out: undefined,
    resume: false,
    json: false,
    quiet: false,
  });
});

Deno.test("tune takes every option of the contract", () => {
  const args = "--stencil wave --order=14 --courant 0.3 --grid 17x19x23 --boundary periodic --steps 31 " +
    "--traversal stepwise --traversal diamond-torre --traversal stepwise --strategy random --budget 500 " +
    "--cpu-workers 3 --seed 42 --start-share 0.25 --out a/b.json --resume --json --quiet";
  assertEquals(parse(...args.split(" ")), {
    stencil: WAVE!,
    ...NONE,
    order: 14,
    courant: 0.3,
    grid: [17, 19, 23],
    boundary: "periodic",
    steps: 31,
    traversal: ["stepwise", "diamond-torre"],
    cpuWorkers: 3,
    noGpu: false,
    strategy: "random",
    budget: { evaluations: 500 },
    startShare: 0.25,
    seed: 42,
    out: "a/b.json",
    resume: true,
    json: true,
    quiet: true,
  });
  assertEquals(parse("--no-gpu").noGpu, true);
});

Deno.test("budgets are times or evaluations", () => {
  const cases: [string, Values<typeof OPTIONS>["budget"]][] = [
    ["60s", { timeNs: 60e9 }],
    ["2m", { timeNs: 120e9 }],
    ["1.5h", { timeNs: 5400e9 }],
    ["250ms", { timeNs: 250e6 }],
    ["7", { evaluations: 7 }],
  ];
  for (const [text, budget] of cases) assertEquals(parse("--budget", text).budget, budget);
});

Deno.test("a wrong request is one line: option, wanted, found", () => {
  const cases: [args: string, message: string][] = [
    [
      "--grid 0x5x5",
      'Cannot use --grid: wanted XxYxZ with whole numbers of at least 1, as 384x256x256: found "0x5x5"',
    ],
    ["--grid 5x5", 'found "5x5"'],
    ["--grid 5x5x5x5", 'found "5x5x5x5"'],
    ["--grid 5x5x-5", 'found "5x5x-5"'],
    ["--grid 1e3x5x5", "found"],
    ["--grid NaNxNaNxNaN", "found"],
    [`--grid ${"9".repeat(400)}x1x1`, "wanted XxYxZ"],
    ["--order 3", 'Cannot use --order: wanted one of 2, 4, 6, 8, 10, 12, 14: found "3"'],
    ["--order two", 'found "two"'],
    ["--order 0x2", 'found "0x2"'],
    ["--order 16", 'found "16"'],
    [
      "--steps 0",
      'Cannot use --steps: wanted a whole number from 1 to 10000: found "0"',
    ],
    ["--steps 1.5", 'found "1.5"'],
    ["--steps NaN", 'found "NaN"'],
    ["--steps -5", 'found "-5"'],
    ["--budget -1s", 'wanted a time as 60s or 2m, or a number of evaluations as 500: found "-1s"'],
    ["--budget 0", 'found "0"'],
    ["--budget 0s", 'found "0s"'],
    ["--budget 1.5", 'found "1.5"'],
    ["--budget 60sec", 'found "60sec"'],
    ["--budget NaN", 'found "NaN"'],
    ["--budget 1e9", 'found "1e9"'],
    ["--courant 0.6", "at most 0.577350, the stability limit of order 2"],
    ["--order 14 --courant 0.5", "the stability limit of order 14"],
    ["--courant 0", "wanted a number above 0"],
    ["--courant -0.1", 'found "-0.1"'],
    ["--courant NaN", 'found "NaN"'],
    ["--boundary open", "wanted one of zero, periodic, insulated, or one for each axis, as zero,"],
    ["--boundary zero,periodic", 'found "zero,periodic"'],
    ["--boundary zero,zero,open", 'found "zero,zero,open"'],
    ["--stencil ks --boundary periodic,periodic,zero", 'wanted periodic: found "periodic,periodic,zero"'],
    [
      "--rule 5/2-7",
      "Cannot use --rule with --stencil wave: it belongs to life",
    ],
    ["--stencil life --rule 5/7-2", "wanted BORN/SURVIVES, numbers or ranges"],
    ["--stencil life --courant 0.1", "it belongs to wave and elastic"],
    [
      "--stencil elastic --medium rock",
      'Cannot use --medium: wanted one of scattered, uniform: found "rock"',
    ],
    ["--stencil elastic --courant 0.5", "at most 0.494872, the stability limit of medium scattered"],
    [
      "--stencil maxwell",
      'Cannot use --stencil: wanted one of wave, heat, life, elastic, heat-1d, ks: found "maxwell"',
    ],
    ["--stencil heat --order 4", "Cannot use --order with --stencil heat: it belongs to wave"],
    ["--delta 2", "Cannot use --delta with --stencil wave: it belongs to heat"],
    ["--stencil heat --delta 5", 'Cannot use --delta: wanted one of 1, 2, 3, 4: found "5"'],
    ["--stencil heat --fourier 0.2", "at most 0.166667, the stability limit of delta 1"],
    ["--fourier 0.1", "Cannot use --fourier with --stencil wave"],
    ["--stencil ks --fourier 0.1", "Cannot use --fourier with --stencil ks: it belongs to heat"],
    ["--stencil heat-1d --fourier 0.6", "at most 0.500000, the stability limit: found"],
    ["--stencil heat-1d --points 3", "Cannot use --points with --stencil heat-1d: it belongs to ks"],
    ["--stencil ks --points 4", 'Cannot use --points: wanted one of 5, 3: found "4"'],
    ["--stencil ks --boundary insulated", 'Cannot use --boundary: wanted periodic: found "insulated"'],
    ["--stencil heat-1d --boundary zero", 'wanted one of insulated, periodic: found "zero"'],
    ["--stencil ks --grid 2x2x64", 'wanted a whole number of points, at least 1, as 65536: found "2x2x64"'],
    ["--stencil ks --grid 0", 'found "0"'],
    ["--grid 4096", "wanted XxYxZ"],
    ["--traversal swep", 'swept-register, hybrid: found "swep"'],
    ["--strategy guess", "wanted one of auto, exhaustive"],
    ["--cpu-workers 2.5", 'found "2.5"'],
    ["--cpu-workers 99999", "wanted a whole number from 0 to 1024"],
    ["--no-gpu --cpu-workers 0", "nothing is left that could compute"],
    ["--no-gpu --strategy random", "Cannot use --strategy with --no-gpu"],
    ["--seed=3 --no-gpu", "Cannot use --seed with --no-gpu"],
    ["--no-gpu --start-share 0.2", "Cannot use --start-share with --no-gpu: nothing is shared"],
    ["--start-share 0.2 --cpu-workers 0", "Cannot use --start-share with --cpu-workers 0"],
    ["--seed 4294967296", "wanted a whole number from 0 to 4294967295"],
    ["--start-share 1.1", "wanted a number from 0 to 1"],
    ["--start-share -0.1", 'found "-0.1"'],
    ["--order 2 --order 4", "--order"],
    ["--grid", "--grid"],
    ["--grid --json", "--grid"],
    ["--out=", "--out"],
    ["wave", "wave"],
    ["--json=yes", "--json"],
    ["--resume=yes", "--resume"],
    ["--gpu", "--gpu"],
    ["--boundry zero", "did you mean --boundary?"],
    ["--ordre 4", "did you mean --order?"],
    ["-x", "-x"],
  ];
  for (const [args, message] of cases) assertStringIncludes(messageOf(...args.split(" ")), message);
});

Deno.test("heat has its own variant and time step", () => {
  const { stencil, delta, fourier } = parse("--stencil", "heat", "--delta", "3", "--fourier", "0.05");
  assertEquals([stencil, delta, fourier], [HEAT, 3, 0.05]);
});

Deno.test("equations in one dimension take points, their own boundaries, and share the Fourier number", () => {
  const rod = parse("--stencil", "heat-1d", "--grid", "4096", "--fourier", "0.4");
  assertEquals([rod.grid, rod.boundary, rod.fourier], [[1, 1, 4096], undefined, 0.4]);
  assertEquals(parse("--stencil=heat-1d", "--boundary", "periodic").boundary, "periodic");
  assertEquals(parse("--boundary", "zero,zero,insulated").boundary, ["zero", "zero", "insulated"]);
  assertEquals(parse("--boundary", "zero,zero,zero").boundary, "zero");
  const field = parse("--stencil", "ks", "--grid", "1x1x2048", "--points", "3", "--dt", "0.005");
  assertEquals([field.grid, field.points, field.dt], [[1, 1, 2048], 3, 0.005]);
});

Deno.test("help shows the options of every equation, and fits a wide terminal", () => {
  const help = layOut(renderHelp({ usage: "", about: "" }, OPTIONS), 110);
  for (const name of Object.keys(NONE)) assertStringIncludes(help, `--${name} `);
  for (const shown of ["default 60s", "default 2)", "default 1)", "default zero", "diamond-torre"]) {
    assertStringIncludes(help, shown);
  }
  assert(help.split("\n").every((line) => line.length <= 110));
});

Deno.test("space takes the options of the problem only", () => {
  const options = parseOptions(["--order", "4", "--json", "--traversal", "marching"], SPACE)!;
  assertEquals([options.order, options.json, options.traversal], [4, true, ["marching"]]);
  assertThrows(() => parseOptions(["--budget", "60s"], SPACE), RequestError, "Unknown option --budget");
});
