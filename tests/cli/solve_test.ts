import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { readArray, writeArray } from "../../mod.ts";
import { life } from "../../kernels/stencils/life.ts";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import { RequestError } from "../../tuner/problem/request_error.ts";
import { checkParts } from "../../tuner/solver/plan_ranks.ts";
import { judge } from "../../tuner/cli/on_ranks.ts";
import { renderSolve, solveRecord } from "../../tuner/cli/solve.ts";
import { fitLines } from "../../tuner/cli/terminal.ts";
import { HAS_ADAPTER } from "../test_on_gpu.ts";
import { mpirun, solveFlags, testUnderMpi } from "../ranks/mpirun.ts";
import { THOROUGH } from "../thorough.ts";
import { assertRefused, inDirectory, runCommand } from "./run_task.ts";

const KIND = ["--stencil", "life", "--no-gpu", "--cpu-workers", "1"];
const SMALL = [...KIND, "--grid", "13x9x10", "--steps", "6"];

for (
  const [ranks, cut, precision] of [
    [2, "1x2x1", "f64"],
    ...THOROUGH ? [[8, "2x2x2", "f32"]] as const : [],
  ] as const
) {
  testUnderMpi(`solve on ${ranks} ranks equals one in ${precision}, bit for bit`, async (launcher) => {
    const args = [
      ...SMALL,
      "--boundary",
      "periodic",
      "--decompose",
      cut,
      "--exchange-every",
      "2",
      "--verify",
      "--precision",
      precision,
    ];
    const { code, stdout, stderr } = await mpirun(launcher, ranks, [...solveFlags(), ...args, "--json"]);
    assertEquals([code, stderr], [0, ""]);
    const result = JSON.parse(stdout);
    assertEquals([result.decompose, result.exchangeEvery, result.ranks.length], [
      cut.split("x").map(Number),
      2,
      ranks,
    ]);
    assertEquals([result.verification.maxError, result.verification.against], [0, "one rank"]);
  });
}

testUnderMpi("a wrong request is said once, whatever the number of ranks", async (launcher) => {
  const { code, stderr } = await mpirun(launcher, 2, [...solveFlags(), "--decompose", "3x1x1"]);
  assertEquals([code, stderr.match(/^facet: /gm)?.length], [2, 1]);
  assertStringIncludes(stderr, "wanted as many parts as there are ranks: found 3x1x1 for 2 ranks");
});

const FORMULA = ["--stencil", "heat", "--grid", "8x4x4", "--no-gpu", "--cpu-workers", "1", "--initial"];

for (
  const [wrong, args, message] of [
    ["profile", ["solve", "--profile", "none.json"], "Cannot read none.json: there is no such file"],
    ["GPU", ["solve", "--gpu", "no such"], 'Cannot take GPU "no such"'],
    ["checkpoint", ["solve", "--checkpoint", "none/state"], "Cannot write none/state: there is no folder"],
    ["drawing", ["scaling", "--out", "tests"], "Cannot write tests: it is a folder"],
    // in the cells of one rank alone
    [
      "formula",
      ["solve", ...FORMULA, "F=1/floor(4*x)", "--decompose", "2x1x1"],
      "Cannot write F: numbers that f32 can hold are wanted: found Infinity at (0, 0, 0)",
    ],
  ] as const
) {
  const ignore = !THOROUGH && !["GPU", "drawing", "formula"].includes(wrong);
  testUnderMpi(`a ${wrong} that cannot be used is said once, before any work`, async (launcher) => {
    const { code, stderr } = await mpirun(launcher, 2, [...solveFlags().slice(0, -1), ...args]);
    assertEquals([code, stderr.match(/^facet: .*$/gm)?.length], [2, 1], stderr);
    assertStringIncludes(stderr, `facet: ${message}`);
  }, { ignore });
}

Deno.test("solve alone exchanges nothing, and verifies itself", async () => {
  const { code, stdout } = await runCommand("solve", [...SMALL, "--verify"]);
  assertEquals(code, 0);
  assertMatch(
    stdout,
    /^On 1 CPU worker\nConfiguration: CPU, 1 worker, \S.*\n\n[\d.]+ \S+ by/m,
  );
  assertMatch(stdout, /^Verified: all slices equal those of one rank, bit for bit$/m);
});

testUnderMpi(
  "a checkpoint of another problem or with a changed bit ends solve at once",
  (launcher) =>
    inDirectory(async (directory) => {
      const path = `${directory}/state`, keeping = ["--checkpoint", path], grid = ["--grid", "13x9x10"];
      const solve = (more: readonly string[]) => mpirun(launcher, 2, [...solveFlags(), ...KIND, ...more]);
      assertEquals((await solve([...grid, "--steps", "6", ...keeping])).code, 0);
      const refused = async (args: readonly string[], message: string): Promise<void> => {
        const { code, stdout, stderr } = await solve([...args, ...keeping]);
        assertEquals([code, stdout, stderr.match(/^facet: .*$/gm)], [2, "", [`facet: ${message}`]]);
      };
      await refused(["--grid", "9x9x10"], `Cannot replace ${path}: wanted grid 9x9x10: found 13x9x10`);
      const bytes = await Deno.readFile(path), damaged = "it is damaged: its checksum differs";
      bytes[bytes.length * 3 >> 2]! ^= 0x40;
      await Deno.writeFile(path, bytes);
      await refused([...grid, "--steps", "9", "--restart"], `Cannot go on from ${path}: ${damaged}`);
      assertEquals(await Deno.readFile(path), bytes);
    }),
);

testUnderMpi("two ranks on one GPU are said first and in the result", async (launcher) => {
  const args = [...solveFlags(), "--gpu", "0", "--stencil", "life", "--grid", "12x8x8", "--steps", "2"];
  const { code, stdout, stderr } = await mpirun(launcher, 2, [...args, "--decompose", "2x1x1"]);
  assertEquals(code, 0, stderr);
  const shared = "(one GPU, which 2 ranks share and use by turns)";
  const lines = stderr.replace(/\s+/g, " ").split("facet: rank ").slice(1).sort();
  assertEquals(lines.map((line) => [line.slice(0, 2), line.includes(shared)]), [["0:", true], ["1:", true]]);
  assertMatch(
    stdout.replace(/\s+/g, " "),
    /2 ranks: 2 × .* \(one GPU, which 2 ranks share and use by turns\) Conf/,
  );
}, { ignore: !HAS_ADAPTER });

Deno.test("solve in f64 reads and writes arrays of f64, and goes on from its checkpoints alone", () =>
  inDirectory(async (directory) => {
    const at = (name: string) => `${directory}/${name}`, checkpoint = ["--checkpoint", at("state")];
    const solve = (steps: number, ...args: string[]) =>
      runCommand("solve", [
        ...["--grid", "6x5x7", "--no-gpu", "--cpu-workers", "1", "--precision", "f64", "--quiet"],
        ...["--steps", `${steps}`, ...args],
      ]);
    const values = Float64Array.from({ length: 210 }, (_, i) => Math.sin(i));
    await writeArray(at("u.npy"), { shape: [6, 5, 7], values });
    const begun = ["--initial", `F=${at("u.npy")}`];
    assertEquals((await solve(9, ...begun, "--out", at("whole.npy"))).code, 0);
    assertEquals((await solve(4, ...begun, ...checkpoint)).code, 0);
    assertEquals((await solve(9, ...checkpoint, "--restart", "--out", at("parts.npy"))).code, 0);
    const [whole, parts] = await Promise.all(
      ["whole", "parts"].map((name) => readArray(at(`${name}.npy`), { precision: "f64" })),
    );
    assertEquals(whole, parts);
    assertEquals(whole!.converted, undefined);
    assert(whole!.values.some((value) => Math.fround(value) !== value));
    const { code, stderr } = await runCommand("solve", ["--grid", "6x5x7", ...checkpoint, "--restart"]);
    assertEquals([code, stderr.includes("wanted precision f32: found f64")], [2, true]);
  }));

Deno.test("solve says that sharing loses, and by how much", () => {
  const plan = {
    parts: [2, 1, 1] as const,
    exchangeEvery: 4,
    extents: [0, 5].map((x) => ({ low: [x, 0, 0], size: [5, 10, 10] } as const)),
  };
  const costs = [0.8, 1].map((ns) => {
    const updates = [{ steps: 4, ns: 2 * ns }, { steps: 8, ns }];
    return { updates, shapes: {}, shrinks: false, exchange: [0, 0, 0] as const };
  });
  const textOf = (wallNs: number, profiled = 0, left?: Parameters<typeof renderSolve>[0]["left"]): string => {
    const run = { steps: 10, wallNs, computeNs: wallNs / 2, exchangeNs: wallNs / 2, travelNs: wallNs };
    const round = { computeNs: 1, exchangeNs: 1, roundNs: 2 };
    const solved = {
      problem: { stencil: life(), grid: [10, 10, 10], boundary: "zero", steps: 10 } as const,
      plan: { plan, costs, round, stepNs: 1000, measuredNs: 1000 },
      runs: [run, run],
      profiled,
      names: ["a", "b"],
      configurations: [],
      verification: undefined,
      left,
      fields: {},
      step: 10,
      files: [],
    };
    assertEquals(solveRecord(solved).leftOut, left ?? null);
    assertEquals(solveRecord(solved).alone.cellsPerSecond, profiled || 1.25e9);
    return fitLines(renderSolve(solved), Infinity);
  };
  // 10,000 updates: alone they take 8 µs
  assertStringIncludes(
    textOf(80_000),
    "\nSharing loses: one device alone, by its cell updates in rounds of 8 steps, reaches 1.25 Gcells/s, 10× as much",
  );
  assert(!textOf(7000).includes("loses"));
  const first =
    "Rank 0 computes alone, in 2.00 ms a step: 3 ranks would take 8.00 ms (--decompose has all compute)\n";
  const left = { ranks: 3, stepNs: 8e6, aloneNs: 2e6 };
  assertEquals(textOf(7000, 0, left).slice(0, first.length), first);
  assertStringIncludes(
    textOf(7000, 1e10),
    "one device alone, by its profile, reaches 10.0 Gcells/s, 7.0× as much",
  );
});

Deno.test("scaling is refused on one rank", () =>
  assertRefused("scaling", [[["--grid", "8x8x8"], "wanted 2 ranks or more, started by mpirun: found 1"]]));

Deno.test("solve refuses what no ranks can do", () =>
  assertRefused("solve", [
    [["--grid", "8x8x8", "--decompose", "2x1x1"], "found 2x1x1 for 1 rank"],
    [
      ["--grid", "8x8x8", "--checkpoint", "x", "--restart"],
      "Cannot go on from x: wanted a checkpoint: found no such file",
    ],
    [
      ["--checkpoint", "x", "--restart", "--seed", "7"],
      "the checkpoint has the seed that its run began with",
    ],
    [["--exchange-every", "0"], "wanted a whole number from 1 to 10000"],
  ]));

Deno.test("parts thinner than their ghost zones are refused before any work", () => {
  const problem: Problem = { stencil: life(), grid: [9, 9, 9], boundary: "zero", steps: 9 };
  checkParts(problem, 2, { exchangeEvery: 4 });
  const message = "wanted each part at least as thick as its ghost zones of 5 steps: found 9x9x9";
  assertThrows(() => checkParts(problem, 2, { exchangeEvery: 5 }), RequestError, message);
  assertThrows(() => checkParts(problem, 1, { parts: [2, 1, 1] }), RequestError, "found 2x1x1 for 1 rank");
  assertThrows(() => checkParts(problem, 1, { exchangeEvery: 0.5 }), RequestError, "found 0.5");
});

Deno.test("ranks that were not asked for the same name the odd one", () => {
  const request = { version: "1", grid: "8x8x8" }, fault = { text: "Cannot solve: no", exitCode: 2 };
  assertEquals(judge([{ request }, { request }]), undefined);
  assertEquals(judge([{ request, fault }, { request, fault }]), fault);
  assertEquals(judge([{ request }, { request, fault }]), { text: "rank 1: Cannot solve: no", exitCode: 3 });
  assertEquals(judge([{ request, fault }, { request }]), { text: "rank 0: Cannot solve: no", exitCode: 3 });
  assertEquals(judge([{ request }, { request: { ...request, grid: "8x8x9" } }]), {
    text: "rank 1: all ranks must have the same grid: found 8x8x9, rank 0 has 8x8x8",
    exitCode: 3,
  });
});
