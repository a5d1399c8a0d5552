import { THOROUGH } from "../thorough.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readProfile } from "../../tuner/profile/store.ts";
import { mpirun, solveFlags, testUnderMpi } from "../ranks/mpirun.ts";
import { assertRefused, inDirectory, runCommand } from "./run_task.ts";
import "../own_thread.ts";

const ON_CPU = ["--no-gpu", "--cpu-workers", "1"];
const PLAYED = ["--grid", "40x33", "--boundary", "periodic,insulated", "--steps", "6", ...ON_CPU];

/** Runs a command that ends well, and says nothing of a plan's three axes. */
async function done(...[name = "", ...args]: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(name, args);
  assertEquals(code, 0, stderr);
  assert(!/40x1x33|periodic,periodic/.test(stdout + stderr), stdout + stderr);
  return stdout;
}

Deno.test("a plane is tuned, qualified, reported, exported and imported, always with two numbers", () =>
  inDirectory(async (directory) => {
    const [out, t4, again, page] = ["p.json", "t4.json", "again.json", "p.html"].map((name) =>
      `${directory}/${name}`
    );
    for (const stencil of [["life"], ["./examples/gray_scott_2d.ts"]]) {
      const said = await done(
        "tune",
        "--stencil",
        ...stencil,
        ...PLAYED,
        "--budget",
        "1",
        "--out",
        out!,
        "--quiet",
      );
      assertStringIncludes(said, "grid 40x33, periodic,insulated boundary");
    }
    const { entries } = await readProfile(out!);
    assertEquals(
      entries.map(({ problem: { stencil, rule, grid, boundary, definition } }) => {
        return [stencil, rule, `${grid}`, `${boundary}`, definition?.dimensions];
      }),
      [
        ["life", "3/2-3", "40,33", "periodic,insulated", undefined],
        ["gray-scott-2d", undefined, "40,33", "periodic,insulated", 2],
      ],
    );
    assertStringIncludes(await done("qualify", "--profile", out!, "--numerics"), "Qualified: 2 right");
    await done("report", "--profile", out!, "--out", page!);
    assertStringIncludes(await Deno.readTextFile(page!), "grid 40x33");
    await done("export", "--profile", out!, "--entry", "1", "--format", "t4", "--out", t4!);
    await done("import", "--from", t4!, "--out", again!);
    assertEquals((await readProfile(again!)).entries, [entries[0]!]);
    assertStringIncludes(await done("replay", "--space", `${out}.journal.jsonl`, "--seeds", "1"), "40x33");
  }));

Deno.test("space and solve say what they take", async () => {
  assertStringIncludes(await done("space", "--stencil", "heat", "--grid", "40x33"), "grid 40x33");
  const solved = await done("solve", "--stencil", "wave", ...PLAYED, "--verify");
  assertStringIncludes(solved, "bit for bit");
  for (const mode of [[], ["--set", "mode=te"]]) {
    const light = ["--stencil", "maxwell", "--grid", "24x20", "--set", "edges=pml3", ...mode];
    assertStringIncludes(await done("solve", ...light, "--steps", "6", ...ON_CPU, "--verify"), "bit for bit");
  }
  const wanted = "wanted XxYxZ with whole numbers", inSpace = "./examples/anisotropic_diffusion.ts";
  await assertRefused("tune", [[["--stencil", inSpace, "--grid", "40x33"], wanted]]);
  const both = "wanted XxYxZ or XxY with whole numbers";
  await assertRefused("space", [[["--stencil", "wave", "--grid", "4096x4096x1x1"], both]]);
  await assertRefused("solve", [[
    ["--stencil", "wave", "--grid", "40x33", "--decompose", "1x1x1"],
    "wanted XxY with",
  ]]);
});

testUnderMpi("two ranks solve on a plane or a layer, and parts have the grid's numbers", async (launcher) => {
  const kind = [
    "--stencil",
    "life",
    "--steps",
    "6",
    "--no-gpu",
    "--cpu-workers",
    "1",
    "--exchange-every",
    "2",
  ];
  for (const layer of [[], [1]]) {
    const [grid, cut] = [[24, 20, ...layer], [1, 2, ...layer]].map((cells) => cells.join("x"));
    const args = [...kind, "--grid", grid!, "--decompose", cut!, "--verify", "--json"];
    const { code, stdout, stderr } = await mpirun(launcher, 2, [...solveFlags(), ...args]);
    assertEquals([code, stderr], [0, ""]);
    const { decompose, ranks, verification, problem } = JSON.parse(stdout), none = layer.map(() => 0);
    assertEquals([decompose, problem.grid, verification.maxError], [[1, 2, ...layer], [24, 20, ...layer], 0]);
    assertEquals(ranks.map(({ low, size }: Record<string, number[]>) => [low, size]), [
      [[0, 0, ...none], [24, 10, ...layer]],
      [[0, 10, ...none], [24, 10, ...layer]],
    ]);
  }
  const deep = [...solveFlags(), ...kind.slice(0, -1), "11", "--grid", "24x20", "--decompose", "1x2"];
  const { code, stderr } = await mpirun(launcher, 2, deep);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "Cannot cut the grid into 1x2 parts");
  assertStringIncludes(stderr, "found 24x20");
}, { ignore: !THOROUGH });
