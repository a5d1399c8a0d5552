import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { parseSpaceOptions, parseTuneOptions, type TuneOptions } from "../../tuner/cli/tune_options.ts";
import { UserError } from "../../tuner/cli/user_error.ts";

const [WAVE, HEAT] = EQUATIONS;

const CHOICES = {
  traversals: ["stepwise", "marching", "diamond-torre"],
  strategies: ["exhaustive", "random"],
};

function parse(...args: string[]): TuneOptions {
  const options = parseTuneOptions(args, CHOICES);
  assert(!("help" in options));
  return options;
}

function messageOf(...args: string[]): string {
  const { message } = assertThrows(() => parseTuneOptions(args, CHOICES), UserError);
  assert(!message.includes("\n"), message);
  return message;
}

Deno.test("tune without options is the wave equation of order 2 for a minute", () => {
  assertEquals(parse(), {
    equation: WAVE,
    variant: 2,
    timeStep: undefined,
    grid: undefined,
    boundary: "zero",
    steps: undefined,
    traversals: [],
    strategy: "exhaustive",
    budget: { timeNs: 60e9 },
    cpuWorkers: undefined,
    gpu: true,
    seed: 1,
    startShare: 0.1,
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
    equation: WAVE,
    variant: 14,
    timeStep: 0.3,
    grid: [17, 19, 23],
    boundary: "periodic",
    steps: 31,
    traversals: ["stepwise", "diamond-torre"],
    strategy: "random",
    budget: { evaluations: 500 },
    cpuWorkers: 3,
    gpu: true,
    seed: 42,
    startShare: 0.25,
    out: "a/b.json",
    resume: true,
    json: true,
    quiet: true,
  });
  assertEquals(parse("--no-gpu").gpu, false);
});

Deno.test("budgets are times or evaluations", () => {
  const cases: [string, TuneOptions["budget"]][] = [
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
      'Cannot use --grid: wanted XxYxZ with whole numbers >= 1, as 384x256x256: found "0x5x5"',
    ],
    ["--grid 9999999x9999999x9999999", "wanted at most 2147483647 cells, what a buffer can hold"],
    ["--grid 5x5", 'found "5x5"'],
    ["--grid 5x5x5x5", 'found "5x5x5x5"'],
    ["--grid 5x5x-5", 'found "5x5x-5"'],
    ["--grid 1e3x5x5", "found"],
    ["--grid NaNxNaNxNaN", "found"],
    [`--grid ${"9".repeat(400)}x1x1`, "wanted at most 2147483647 cells"],
    ["--order 3", 'Cannot use --order: wanted one of 2, 4, 6, 8, 10, 12, 14: found "3"'],
    ["--order two", 'found "two"'],
    ["--order 0x2", 'found "0x2"'],
    ["--order 16", 'found "16"'],
    [
      "--steps 0",
      'Cannot use --steps: wanted a whole number from 1 to 10000, beyond which rates no longer change: found "0"',
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
    ["--boundary open", 'wanted one of zero, periodic: found "open"'],
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
    ["--stencil ks --grid 2x2x64", 'wanted a whole number >= 1 of points, as 65536: found "2x2x64"'],
    ["--stencil ks --grid 0", 'found "0"'],
    ["--grid 4096", "wanted XxYxZ"],
    ["--traversal swept", 'wanted one of stepwise, marching, diamond-torre: found "swept"'],
    ["--strategy genetic", 'wanted one of exhaustive, random: found "genetic"'],
    ["--cpu-workers 2.5", 'found "2.5"'],
    ["--cpu-workers 99999", "wanted a whole number from 0 to 1024"],
    ["--no-gpu --cpu-workers 0", "nothing is left that could compute"],
    ["--no-gpu --strategy random", "Cannot use --strategy beside --no-gpu"],
    ["--seed=3 --no-gpu", "Cannot use --seed beside --no-gpu"],
    ["--no-gpu --start-share 0.2", "Cannot use --start-share beside --no-gpu: nothing is shared"],
    ["--start-share 0.2 --cpu-workers 0", "Cannot use --start-share beside --cpu-workers 0"],
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
  const { equation, variant, timeStep } = parse("--stencil", "heat", "--delta", "3", "--fourier", "0.05");
  assertEquals([equation, variant, timeStep], [HEAT, 3, 0.05]);
  assertEquals(parse("--stencil=heat").variant, 1);
});

Deno.test("equations in one dimension take points, their own boundaries, and share the Fourier number", () => {
  const rod = parse("--stencil", "heat-1d", "--grid", "4096", "--fourier", "0.4");
  assertEquals([rod.grid, rod.boundary, rod.variant, rod.timeStep], [
    [1, 1, 4096],
    "insulated",
    undefined,
    0.4,
  ]);
  assertEquals(parse("--stencil=heat-1d", "--boundary", "periodic").boundary, "periodic");
  const field = parse("--stencil", "ks", "--grid", "1x1x2048", "--points", "3", "--dt", "0.005");
  assertEquals([field.grid, field.boundary, field.variant, field.timeStep], [
    [1, 1, 2048],
    "periodic",
    3,
    0.005,
  ]);
});

Deno.test("help lists every option with its default, and nothing that is not there yet", () => {
  const request = parseTuneOptions(["--help"], CHOICES);
  assert("help" in request);
  const names = [
    "stencil",
    "order",
    "courant",
    "delta",
    "fourier",
    "rule",
    "medium",
    "points",
    "dt",
    "grid",
    "boundary",
    "steps",
    "traversal",
    "cpu-workers",
    "no-gpu",
  ];
  const more = ["strategy", "budget", "start-share", "seed", "out", "resume", "json", "quiet", "help"];
  for (const name of [...names, ...more]) assertStringIncludes(request.help, `--${name}`);
  for (
    const shown of [
      "default 60s",
      "default 2)",
      "default 1)",
      "default zero",
      "diamond-torre",
      "exhaustive, random",
    ]
  ) {
    assertStringIncludes(request.help, shown);
  }
  for (const later of ["maxwell"]) {
    assert(!request.help.includes(later), later);
  }
  assert(request.help.split("\n").every((line) => line.length <= 120));
});

Deno.test("space takes the options of the problem only", () => {
  const options = parseSpaceOptions(["--order", "4", "--json", "--traversal", "marching"], CHOICES);
  assert(!("help" in options));
  assertEquals([options.variant, options.json, options.traversals], [4, true, ["marching"]]);
  const wrong = assertThrows(() => parseSpaceOptions(["--budget", "60s"], CHOICES), UserError);
  assertStringIncludes(wrong.message, "--budget");
  const help = parseSpaceOptions(["--help"], CHOICES);
  assert("help" in help && !help.help.includes("--budget"));
});
