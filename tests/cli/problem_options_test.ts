import { absorbing, flux, insulated, mirror, robin, value, type Walls } from "../../mod.ts";
import { withWalls } from "../../kernels/walls.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { EQUATIONS } from "../../kernels/stencils/all.ts";
import { definitionOf, hashOf, stencilOf } from "../../kernels/definition.ts";
import grayScott from "../../examples/gray_scott_2d.ts";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { elastic } from "../../kernels/stencils/elastic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { heat1d } from "../../kernels/stencils/heat_1d.ts";
import { ks } from "../../kernels/stencils/ks.ts";
import { wave } from "../../kernels/stencils/wave.ts";
import { life } from "../../kernels/stencils/life.ts";
import type { Grid, Stencil } from "../../kernels/stencils/stencil.ts";
import type { Values } from "../../tuner/cli/options.ts";
import { parseOptions, renderHelp } from "../../tuner/cli/parse_options.ts";
import { SIMULATED_DEVICE } from "../devices/simulated_session.ts";
import { OPTIONS as SPACE } from "../../tuner/cli/space.ts";
import { OPTIONS, resolveSizes } from "../../tuner/cli/tune.ts";
import { fitLines } from "../../tuner/cli/terminal.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { capture } from "./run_task.ts";

const [WAVE] = EQUATIONS;

async function parse(...args: string[]): Promise<Values<typeof OPTIONS>> {
  return (await parseOptions(args, OPTIONS))!;
}

/** What is said of a wrong request, before any work. */
async function messageOf(...args: string[]): Promise<string> {
  const resolve = async () => (await resolveSizes(await parse(...args), SIMULATED_DEVICE))[0];
  const { message } = await assertRejects(resolve, RequestError);
  assert(!message.includes("\n"), message);
  return message;
}

Deno.test("tune without options is the wave equation for a minute", async () => {
  assertEquals(await parse(), {
    stencil: { ...WAVE!, dimensions: [3] },
    order: undefined,
    delta: undefined,
    set: [],
    grid: [],
    sizes: undefined,
    boundary: undefined,
    edges: undefined,
    precision: undefined,
    sources: undefined,
    receivers: undefined,
    steps: undefined,
    traversal: [],
    cpuWorkers: undefined,
    gpu: undefined,
    noGpu: false,
    deviceMemory: undefined,
    strategy: "auto",
    budget: { timeNs: 60e9 },
    startShare: undefined,
    seed: 1,
    out: undefined,
    resume: false,
    json: false,
    quiet: false,
    verbose: false,
  });
});

Deno.test("tune takes every option of the contract", async () => {
  const args = "--stencil wave --order=14 --set courant=0.3 --grid 17x19x23 --boundary periodic --steps 31 " +
    "--traversal stepwise --traversal diamond-torre --traversal stepwise --strategy random --budget 500 " +
    "--cpu-workers 1 --device-memory 1.5GiB --seed 42 --start-share 0.25 --out a/b.json --resume --json --quiet";
  assertEquals(await parse(...args.split(" ")), {
    stencil: WAVE!,
    order: 14,
    delta: undefined,
    set: [["courant", "0.3"]],
    grid: [[17, 19, 23]],
    sizes: undefined,
    boundary: "periodic",
    edges: undefined,
    precision: undefined,
    sources: undefined,
    receivers: undefined,
    steps: 31,
    traversal: ["stepwise", "diamond-torre"],
    cpuWorkers: 1,
    gpu: undefined,
    noGpu: false,
    deviceMemory: 1.5 * 2 ** 30,
    strategy: "random",
    budget: { evaluations: 500 },
    startShare: 0.25,
    seed: 42,
    out: "a/b.json",
    resume: true,
    json: true,
    quiet: true,
    verbose: false,
  });
  assertEquals((await parse("--no-gpu")).noGpu, true);
});

Deno.test("more workers than cores are asked for, and one for each core is taken, with a word", async () => {
  const cores = navigator.hardwareConcurrency, took: (number | undefined)[] = [];
  const { stderr } = await capture([1, cores, cores + 1, 999].map((workers) => async () => {
    took.push((await parse("--cpu-workers", `${workers}`)).cpuWorkers);
    return 0;
  }));
  assertEquals(took, [1, cores, cores, cores]);
  const each = `${cores} worker${cores === 1 ? "" : "s"}, one for each core`;
  assertEquals(stderr, [cores + 1, 999].map((n) => `facet: --cpu-workers ${n}: ${each}\n`).join(""));
});

Deno.test("one number is a cube, or the points of a line", async () => {
  const cases: [args: string, grid: Grid][] = [
    ["--grid 256", [256, 256, 256]],
    ["--stencil elastic --grid 48", [48, 48, 48]],
    ["--stencil heat-1d --grid 256", [1, 1, 256]],
    ["--grid 256x1x1", [256, 1, 1]],
  ];
  for (const [args, grid] of cases) assertEquals((await parse(...args.split(" "))).grid, [grid]);
});

Deno.test("two numbers are a grid of two dimensions, of built-in equations too", async () => {
  const first = async (args: string) => {
    const [resolved] = await resolveSizes(await parse(...args.split(" ")), SIMULATED_DEVICE);
    return resolved.problem;
  };
  const own = new URL("../../examples/gray_scott_2d.ts", import.meta.url).pathname;
  const cases: [args: string, stencil: Stencil, grid: Grid][] = [
    ["--stencil wave --grid 30x26", wave(2, { dimensions: 2 }), [30, 1, 26]],
    ["--stencil wave --grid 30x26 --order 4 --set courant=0.5", wave(4, { dimensions: 2, courant: 0.5 }), [
      30,
      1,
      26,
    ]],
    ["--stencil heat --grid 30x26", heat(1, { dimensions: 2 }), [30, 1, 26]],
    ["--stencil life --grid 30x26", life("3/2-3", { dimensions: 2 }), [30, 1, 26]],
    ["--stencil acoustic --grid 80x90", acoustic({ dimensions: 2 }), [80, 1, 90]],
    [`--stencil ${own} --grid 64`, stencilOf(definitionOf(grayScott)), [64, 1, 64]],
    ["--stencil wave --grid 30x26 --grid 9x9x9", wave(2, { dimensions: 2 }), [30, 1, 26]],
  ];
  for (const [args, stencil, grid] of cases) {
    const found = await first(args);
    assertEquals([hashOf(found.stencil.update), found.grid], [hashOf(stencil.update), grid], args);
  }
  const { boundary } = await first("--stencil wave --grid 30x26 --boundary periodic,insulated");
  assertEquals(boundary, ["periodic", "periodic", "insulated"]);
  const walls: readonly (readonly [string, Walls])[] = [
    ["x=periodic/y=value:1,flux:-0.5@centre", { x: "periodic", y: [value(1), flux(-0.5, { at: "centre" })] }],
    ["y=insulated@face", { x: "zero", y: insulated() }],
    ["x.F=odd,even/y=robin:1:2:3", { x: { F: [mirror("odd"), mirror("even")] }, y: robin(1, 2, 3) }],
    ["x=absorbing:9:0.5", { x: absorbing({ cells: 9, courant: 0.5 }), y: "zero" }],
  ];
  for (const [text, boundary] of walls) {
    const found = await first(`--stencil wave --grid 30x26 --boundary ${text}`);
    const wanted = withWalls({ stencil: wave(2, { dimensions: 2 }), grid: [30, 26], boundary });
    assertEquals(hashOf(found.stencil.update), hashOf(wanted.stencil.update), text);
  }
  const several = await resolveSizes(
    await parse("--stencil", "wave", "--grid", "30x26", "--grid", "9x9x9"),
    SIMULATED_DEVICE,
  );
  assertEquals(several.map(({ problem: { stencil } }) => stencil.dimensions), [2, 3]);
});

Deno.test("budgets are times or evaluations", async () => {
  const cases: [string, Values<typeof OPTIONS>["budget"]][] = [
    ["60s", { timeNs: 60e9 }],
    ["2m", { timeNs: 120e9 }],
    ["1.5h", { timeNs: 5400e9 }],
    ["250ms", { timeNs: 250e6 }],
    ["7", { evaluations: 7 }],
  ];
  for (const [text, budget] of cases) assertEquals((await parse("--budget", text)).budget, budget);
});

Deno.test("a wrong request is one line: option, wanted, found", async () => {
  const cases: [args: string, message: string][] = [
    [
      "--grid 0x5x5",
      'Cannot use --grid: wanted XxYxZ with whole numbers of at least 1, such as 384x256x256, or N for a cube: found "0x5x5"',
    ],
    [
      "--grid 0",
      'Cannot use --grid: wanted XxYxZ with whole numbers of at least 1, such as 384x256x256, or N for a cube: found "0"',
    ],
    ["--grid 8x8", 'or N for a cube; of XxY name the equation, --stencil wave: found "8x8"'],
    ["--stencil wave --grid 4096x4096x1x1", "Cannot use --grid: wanted XxYxZ or XxY with"],
    [
      "--stencil wave --grid 9x8 --set courant=0.8",
      "Cannot use --set courant: wanted a number above 0 and at most 0.707107",
    ],
    [
      "--stencil wave --grid 9x8 --boundary zero,periodic,zero",
      "or one for each axis, such as zero,insulated",
    ],
    [
      "--stencil maxwell --grid 9x8 --set mode=tem",
      "Cannot use --set mode: wanted one of tm, te, and a grid XxY",
    ],
    [
      "--stencil maxwell --grid 9x8x7 --set mode=te",
      "Cannot use --set mode: wanted one of tm, te, and a grid XxY",
    ],
    ["--stencil life --grid 9x8 --set rule=9/2-3", "--set rule: wanted BORN/SURVIVES"],
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
    ["--budget -1s", 'wanted a time such as 60s or 2m, or a number of evaluations such as 500: found "-1s"'],
    ["--budget 0", 'found "0"'],
    ["--budget 0s", 'found "0s"'],
    ["--budget 1.5", 'found "1.5"'],
    ["--budget 60sec", 'found "60sec"'],
    ["--budget NaN", 'found "NaN"'],
    ["--budget 1e9", 'found "1e9"'],
    ["--set courant=0.6", "Cannot use --set courant: wanted a number above 0 and at most 0.577350"],
    ["--order 14 --set courant=0.5", "the stability limit of order 14"],
    ["--set courant=0.5 --set order=14", "the stability limit of order 14"],
    ["--set courant=0", "wanted a number above 0"],
    ["--set courant=-0.1", 'found "-0.1"'],
    ["--set courant=NaN", 'found "NaN"'],
    ["--set speed=2", 'an option of wave, order=VALUE or courant=VALUE: found "speed=2"'],
    ["--set courant", 'found "courant"'],
    ["--set courant=", 'found "courant="'],
    ["--set order=3", 'Cannot use --set order: wanted one of 2, 4, 6, 8, 10, 12, 14: found "3"'],
    ["--order 4 --set order=2", "Cannot use --set order: it can only be given once: found 4 and 2"],
    ["--boundary open", "wanted one of zero, periodic, insulated, or one for each axis, such as zero,"],
    ["--boundary zero,periodic", 'found "zero,periodic"'],
    ["--boundary w=zero", 'AXIS=WALLS or AXIS.FIELD=WALLS, of x, y, z and F: found "w=zero"'],
    ["--boundary x.G=odd", "of x, y, z and F"],
    ["--boundary x=value", "value:G, flux:G, insulated, even, odd, robin:A:B:G"],
    ["--boundary x=flux:1:2", 'found "flux:1:2"'],
    ["--boundary x=odd@edge", "the walls: x, field F: a place at the face, the centre, or beyond is wanted"],
    [
      "--boundary x=absorbing:0:0.5",
      "Cannot use --boundary: the walls: absorbing: a whole number of cells is wanted: found 0",
    ],
    ["--boundary zero,zero,open", 'found "zero,zero,open"'],
    ["--stencil ks --boundary periodic,periodic,zero", 'wanted periodic: found "periodic,periodic,zero"'],
    ["--set rule=5/2-7", 'an option of wave, order=VALUE or courant=VALUE: found "rule=5/2-7"'],
    ["--rule 5/2-7", "Unknown option --rule"],
    ["--stencil life --set rule=5/7-2", "wanted BORN/SURVIVES, numbers or ranges"],
    ["--stencil life --set courant=0.1", "an option of life, rule=VALUE"],
    ["--stencil elastic --set medium=rock", "an option of elastic, dt=VALUE"],
    ["--stencil elastic --set dt=0.002", "at most 0.001089, the stability limit"],
    [
      "--stencil navier",
      'Cannot use --stencil: wanted one of wave, heat, life, elastic, acoustic, maxwell, heat-1d, ks: found "navier"',
    ],
    ["--stencil heat --order 4", "Cannot use --order with --stencil heat: it belongs to wave"],
    ["--delta 2", "Cannot use --delta with --stencil wave: it belongs to heat"],
    ["--stencil heat --delta 5", 'Cannot use --delta: wanted one of 1, 2, 3, 4: found "5"'],
    ["--stencil heat --set fourier=0.2", "at most 0.166667, the stability limit of delta 1"],
    ["--stencil heat-1d --set fourier=0.6", "at most 0.500000, the stability limit: found"],
    ["--stencil ks --set points=4", 'Cannot use --set points: wanted one of 5, 3: found "4"'],
    ["--stencil ks --boundary insulated", 'Cannot use --boundary: wanted periodic: found "insulated"'],
    ["--stencil heat-1d --boundary zero", 'wanted one of insulated, periodic: found "zero"'],
    [
      "--stencil ks --grid 2x2x64",
      'wanted a whole number of points, at least 1, such as 65536: found "2x2x64"',
    ],
    ["--stencil ks --grid 0", 'found "0"'],
    ["--traversal swep", 'swept, swept-register: found "swep"'],
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
  for (const [args, message] of cases) assertStringIncludes(await messageOf(...args.split(" ")), message);
});

Deno.test("--set and its short forms make the equation, whatever their order", async () => {
  const stencilOf = async (...args: string[]) =>
    (await resolveSizes(await parse(...args), SIMULATED_DEVICE))[0].problem.stencil;
  const same = async (args: string, stencil: Stencil) => {
    const { update, variant } = await stencilOf("--stencil", ...args.split(" "));
    assertEquals([hashOf(update), variant], [hashOf(stencil.update), stencil.variant], args);
  };
  await same("heat --delta 3 --set fourier=0.05", heat(3, { fourier: 0.05 }));
  await same("heat --set fourier=0.05 --set delta=3", heat(3, { fourier: 0.05 }));
  await same("life --set rule=4/2-7", life("4/2-7"));
  await same("elastic --set dt=0.001", elastic({ timeStep: 0.001 }));
  await same("heat-1d --set fourier=0.4", heat1d({ fourier: 0.4 }));
  await same("ks --set points=3 --set dt=0.005", ks(3, { timeStep: 0.005 }));
});

Deno.test("equations in one dimension take points and their own boundaries", async () => {
  const rod = await parse("--stencil", "heat-1d", "--grid", "4096");
  assertEquals([rod.grid, rod.boundary], [[[1, 1, 4096]], undefined]);
  const along = async (...args: string[]) => (await parse(...args)).boundary;
  assertEquals(await along("--stencil=heat-1d", "--boundary", "periodic"), "periodic");
  assertEquals(await along("--boundary", "zero,zero,insulated"), ["zero", "zero", "insulated"]);
  assertEquals(await along("--boundary", "zero,zero,zero"), "zero");
  assertEquals((await parse("--stencil", "ks", "--grid", "1x1x2048")).grid, [[1, 1, 2048]]);
});

Deno.test("help shows the options of every equation, and fits a wide terminal", () => {
  const help = fitLines(renderHelp({ usage: "", about: "", options: OPTIONS }), 110);
  for (const { name, variant, timeStep } of EQUATIONS) {
    for (const one of [name, variant?.name, timeStep?.name]) assertStringIncludes(help, one ?? "");
  }
  for (
    const shown of [
      "--order N ",
      "--delta N ",
      "--set NAME=VALUE ",
      "default 60s",
      "default 2)",
      "default 1)",
      "default zero",
      "diamond-torre",
    ]
  ) {
    assertStringIncludes(help, shown);
  }
  assert(help.split("\n").every((line) => line.length <= 110));
  const boundary = help.slice(help.indexOf("--boundary"), help.indexOf("--steps"));
  assertEquals(boundary.match(/heat-1d|heat|ks|wave|life|elastic/g), ["heat-1d", "ks"]);
});

Deno.test("space takes the options of the problem only", async () => {
  const options = (await parseOptions(["--order", "4", "--json", "--traversal", "marching"], SPACE))!;
  assertEquals([options.order, options.json, options.traversal], [4, true, ["marching"]]);
  await assertRejects(
    () => parseOptions(["--budget", "60s"], SPACE),
    RequestError,
    "Unknown option --budget",
  );
});
