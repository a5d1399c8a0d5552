/**
 * A program outside the repository: it knows the package by its name and a profile, and solves on the device that is
 * there. The profiles are those of strangers, with larger limits than most devices have.
 *
 * @module
 */
import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { join } from "node:path";
import { detectDevice, type Profile, type ProfileEntry } from "../mod.ts";
import { ENTRY, PROBLEM, PROFILE } from "./profile/sample_profile.ts";
import { defaultProfilePath } from "../tuner/profile/own_profile.ts";

const ROOT = join(import.meta.dirname!, "..");

/** What the program prints, by problem and profile. */
interface Report {
  readonly match: string;
  readonly message: string;
  readonly traversal: string;
  readonly error: number;
}

const PROGRAM = `
import { chooseConfiguration, createSolver, openDevice, readProfile, runReference, wave } from "@facet/facet";

async function solve(device, { configuration, match, message }, problem) {
  const { grid: [nx, ny, nz], boundary, stencil } = problem;
  const exact = stencil.planeWave(problem.grid, [1, 2, 1]);
  await using solver = await createSolver(device, problem, configuration, { timeoutMs: 120_000 });
  const cells = [];
  for (let x = 0; x < nx; x++) for (let y = 0; y < ny; y++) for (let z = 0; z < nz; z++) cells.push([x, y, z]);
  const level = (step) => Float32Array.from(cells, (cell) => exact.at(cell, step));
  await solver.write("F", level(0));
  await solver.write("F", level(-1), { ago: 1 });
  const steps = 30;
  await solver.run(steps);
  // with a frame of zeros a plane wave is no solution: there the oracle tells what is right
  const expected = boundary === "periodic" ? level(steps) : runReference(
    { current: level(0), previous: level(-1) },
    { update: stencil.update, grid: problem.grid, boundary, steps },
  ).current;
  const result = await solver.read("F");
  const error = result.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i])), 0);
  return { match, message, traversal: configuration.traversal, error };
}

// what a grid of 25×40×30 cells and 32 KiB of workgroup memory have room for
const FITTING = { dts: 1, nt: 8, bands: 1, zPerThread: 1, threads: 30, chunk: 4, unroll: 1, loads: "tier start" };
const device = await openDevice();
const reports = {};
for (const path of Deno.args) {
  const profile = await readProfile(path);
  for (const [boundary, order] of [["periodic", 2], ["periodic", 4], ["zero", 4]]) {
    const problem = { stencil: wave(order), grid: [25, 40, 30], boundary, steps: 10 };
    reports[[path.split("/").at(-1), boundary, order].join(" ")] = await solve(device, chooseConfiguration(profile, problem, device), problem);
    // a torre that was measured elsewhere runs here, at this grid and within these limits
    const share = { cpuSlices: 0, gpuSlices: 25, exchangeEvery: 10, cpuWorkers: 0 };
    const { configuration } = profile.entries.find((entry) => entry.problem.order === order);
    const parameters = { ...configuration.parameters, ...FITTING };
    if (boundary !== "zero" || device === null) continue;
    const torre = { configuration: { ...configuration, parameters, share }, match: "none", message: "a torre" };
    reports[[path.split("/").at(-1), "torre", order].join(" ")] = await solve(device, torre, problem);
  }
}
console.log(JSON.stringify(reports));
device?.destroy();
`;

/** The profile of a GPU of this device's own vendor that has twice of everything. */
function stranger(profile: Profile, gpu: { vendor: string; isFallbackAdapter: boolean }): Profile {
  const own = profile.device.gpu!;
  const limits = Object.fromEntries(
    Object.entries(own.limits).map(([name, value]) => [name, 2 * value]),
  ) as unknown as typeof own.limits;
  const description = "A larger one of the same vendor";
  const identity = { vendor: gpu.vendor, architecture: "", isFallback: gpu.isFallbackAdapter };
  // threads and chunks that do not suit this grid, beside those that were measured
  const [first, second, ...entries] = profile.entries as [ProfileEntry, ProfileEntry, ...ProfileEntry[]];
  const parameters = { ...second.configuration.parameters, dts: 1, threads: 512, chunk: 16 };
  const larger = { ...second, configuration: { ...second.configuration, parameters }, tieSet: [] };
  return {
    ...profile,
    device: { ...profile.device, gpu: { ...own, ...identity, description, limits } },
    entries: [first, larger, ...entries],
  };
}

Deno.test("a program outside the repository chooses, solves, and matches the plane wave", async () => {
  const folder = await Deno.makeTempDir({ prefix: "facet-outside-" });
  try {
    await Deno.writeTextFile(
      join(folder, "deno.json"),
      JSON.stringify({ imports: { "@facet/facet": "jsr:@facet/facet@^0.1.0" }, links: [ROOT] }),
    );
    await Deno.writeTextFile(join(folder, "main.js"), PROGRAM);
    const wave = join(ROOT, "fixtures/h100/wave.json");
    const { checksum: _, ...profile } = JSON.parse(await Deno.readTextFile(wave));
    const adapter = await navigator.gpu?.requestAdapter() ?? null;
    const info = adapter?.info ?? { vendor: "0", isFallbackAdapter: false };
    const large = join(folder, "stranger.json");
    await Deno.writeTextFile(large, JSON.stringify(stranger(profile, info)));

    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--allow-read", "--allow-sys", "main.js", wave, large],
      cwd: folder,
      env: { XDG_RUNTIME_DIR: Deno.env.get("XDG_RUNTIME_DIR") ?? "/tmp" },
    }).output();
    const text = new TextDecoder();
    assert(stdout.length > 0, text.decode(stderr));
    const reports: Record<string, Report> = JSON.parse(text.decode(stdout));
    assertEquals(Object.keys(reports).length, adapter === null ? 6 : 8);
    for (const [what, { error, message }] of Object.entries(reports)) {
      assertLess(error, 1e-4, `${what}: ${message}`);
    }
    if (adapter === null) return;
    // a device that Facet ships rates of is known better by these; one in software leaves it to the CPU
    const grades = info.isFallbackAdapter ? /^default$/ : /^same-(vendor|device)$/;
    assertMatch(reports["stranger.json zero 4"]!.match, grades);
    assertEquals(reports["stranger.json torre 4"]!.traversal, "diamond-torre");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a program imports mod.ts by its path, without a deno.json and with any", async () => {
  const folder = await Deno.makeTempDir({ prefix: "facet-outside-" });
  const program = `
    import { createSolver, wave } from "${new URL("../mod.ts", import.meta.url)}";
    const problem = { stencil: wave(2), grid: [6, 6, 6], boundary: "periodic", steps: 3 };
    await using solver = await createSolver(problem, { device: null });
    await solver.write("F", 1);
    await solver.run(1);
    const [first] = await solver.read();
    console.log(Math.round(first));`;
  try {
    await Deno.writeTextFile(join(folder, "main.js"), program);
    const names = { zod: "./none.ts", "@std/assert": "./none.ts", "@facet/facet": `${ROOT}/mod.ts` };
    // beside the packages of others
    await Deno.mkdir(join(folder, "node_modules"));
    await Deno.writeTextFile(join(folder, "package.json"), JSON.stringify({ dependencies: { none: "1" } }));
    const line = '"nodeModulesDir": "none"';
    assert((await Deno.readTextFile(join(ROOT, "README.md"))).includes(line));
    await Deno.writeTextFile(
      join(folder, "deno.json"),
      JSON.stringify({ imports: names, ...JSON.parse(`{${line}}`) }),
    );
    for (const flags of [["--no-config"], []]) {
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-prompt", "--cached-only", "--allow-read", ...flags, "main.js"],
        cwd: folder,
      }).output();
      const text = new TextDecoder();
      // F(t−1) is zero: 2·1 − 0, and the sums of the neighbours' differences are zero
      assertEquals(text.decode(stdout).trim(), "2", text.decode(stderr));
      // Deno warns of what only a root may have in the deno.json of a folder that another's names point to
      assert(!text.decode(stderr).includes("Warning"), text.decode(stderr));
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Prints how each problem is solved that a program has nothing more to say of, or why it is not. */
const ALONE = `
import { createSolver, wave } from "${new URL("../mod.ts", import.meta.url)}";
for (const options of [undefined, { device: null }, { device: null, profile: [] }]) {
  try {
    const problem = { stencil: wave(2), grid: [6, 5, 4], boundary: "periodic" };
    await using solver = await createSolver(problem, options);
    await solver.write("F", 1);
    await solver.write("F", 1, { ago: 1 });
    await solver.run(20);
    const off = (await solver.read()).reduce((most, value) => Math.max(most, Math.abs(value - 1)), 0);
    const { configuration: { share: { cpuSlices } }, choice: { match, message } } = solver;
    console.log(off < 1e-4, cpuSlices, match, message);
  } catch ({ name, message }) {
    console.log(name, message);
  }
}`;

Deno.test("a problem is enough: its solver finds the device, and the profile that tune wrote here", async () => {
  const folder = await Deno.makeTempDir({ prefix: "facet-outside-" });
  const run = async (flags: readonly string[], env = {}): Promise<string[]> => {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--no-config", "--cached-only", ...flags, join(folder, "main.js")],
      cwd: folder,
      env: { XDG_RUNTIME_DIR: Deno.env.get("XDG_RUNTIME_DIR") ?? "/tmp", ...env },
    }).output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n");
    assertEquals(lines.length, 3, new TextDecoder().decode(stderr));
    return lines;
  };
  try {
    await Deno.writeTextFile(join(folder, "main.js"), ALONE);
    const [alone, onCpu, untold] = await run(["--allow-read", "--allow-sys"]);
    assertMatch(alone!, /^true [06] (default|same-)/); // whatever device there is
    assertMatch(onCpu!, /^true 6 default .*no measurement in the profile fits$/);
    assertEquals(untold, onCpu);

    // as tune names it, of this problem on this CPU
    const { gpu: _, ...device } = await detectDevice(), sample = sampleOf([6, 5, 4]);
    const own = { ...device, gpu: null, measured: { copyBytesPerSecond: null } };
    const path = join(folder, defaultProfilePath(own));
    await Deno.mkdir(join(folder, "profiles"));
    await Deno.writeTextFile(path, JSON.stringify({ ...sample, device: own }));
    const tuned = await run(["--allow-read", "--allow-sys"]);
    assertMatch(tuned[1]!, /^true 6 same-architecture the CPU alone: measured for this problem/);
    assertEquals(tuned[2], untold);
    const elsewhere = join(folder, "elsewhere.json"), environment = "--allow-env=FACET_PROFILE";
    await Deno.rename(path, elsewhere);
    const named = await run(["--allow-read", "--allow-sys", environment], { FACET_PROFILE: elsewhere });
    assertEquals(named.slice(1), tuned.slice(1));

    const lost = await run(["--allow-read", "--allow-sys", environment], { FACET_PROFILE: "none.json" });
    const missing = "ProfileError Cannot read none.json, which FACET_PROFILE names: there is no such file";
    assertEquals(lost, [missing, missing, untold]);
    const modules = `--allow-read=${join(ROOT, "tuner")},${join(ROOT, "kernels")},${join(ROOT, "models")}`;
    const [, blind] = await run([modules, "--allow-sys"]);
    assertMatch(blind!, /; no profile was found: Deno looks for it with --allow-read=profiles$/);
    const [, bare] = await run([]);
    assertMatch(bare!, /^SolverError Cannot create the solver: the CPU workers .* add --allow-read=.*worker/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** A profile of one entry: this grid, stepwise on the CPU. */
function sampleOf(grid: readonly [number, number, number]): Profile {
  const share = { cpuSlices: grid[0], gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 };
  const configuration = { traversal: "stepwise", parameters: {}, share };
  const problem = { ...PROBLEM, grid, boundary: "periodic", steps: 2000 } as const;
  const { costModel: _, ...entry } = ENTRY, rated = { configuration, cellsPerSecond: 1e9 };
  const tieSet = [{ ...rated, confidence95: null }];
  return { ...PROFILE, entries: [{ ...entry, problem, configuration, tieSet, balance: [] }] };
}
