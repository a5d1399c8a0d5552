/**
 * `tune` as a command: what it writes, prints and refuses. Most of it on a simulated session; once through processes on
 * the GPU, and once on the CPU's workers.
 *
 * @module
 */
import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { formatProfile } from "../../tuner/profile/format_profile.ts";
import { parseOptions } from "../../tuner/cli/parse_options.ts";
import { OPTIONS, resolveSizes, tuneOn, whyTight } from "../../tuner/cli/tune.ts";
import { journalPath, readJournal } from "../../tuner/profile/journal.ts";
import { readProfile } from "../../tuner/profile/store.ts";
import { PROFILE } from "../profile/sample_profile.ts";
import { SIMULATED_DEVICE, SimulatedSession, type Simulation } from "../devices/simulated_session.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { assertRefused, capture, inDirectory, runCommand } from "./run_task.ts";

const SMALL = ["--grid", "24x20x16", "--steps", "12"];

const STEPWISE = ["--traversal", "stepwise", "--cpu-workers", "0"];

/** `tune` with these options on a simulated session. */
function tuning(args: readonly string[], simulation: Simulation = {}): () => Promise<number> {
  return async () => {
    const options = (await parseOptions(args, OPTIONS))!;
    using session = new SimulatedSession(simulation);
    const requested = await resolveSizes(options, SIMULATED_DEVICE);
    return await tuneOn({ session, evaluators: undefined }, options, requested);
  };
}

/** Runs it, and expects that it ends well. */
async function simulate(args: readonly string[], simulation?: Simulation) {
  const { codes, stdout, stderr } = await capture([tuning(args, simulation)]);
  assertEquals(codes, [0], stderr);
  return { stdout, stderr };
}

/** The records of a journal without damage. */
async function recordsOf(profilePath: string) {
  const { records, damaged, torn } = await readJournal(journalPath(profilePath));
  assertEquals([damaged, torn], [[], false]);
  return records;
}

testOnGpu(
  "tune writes a verified entry, measured in processes of its own",
  () =>
    inDirectory(async (directory) => {
      const out = `${directory}/p.json`;
      const args = [...SMALL, ...STEPWISE, "--out", out, "--budget", "2"];
      const { code, stdout, stderr } = await runCommand("tune", [...args, "--json"]);
      assertEquals(code, 0, stderr);
      // on a pipe: what is tuned on what, and a line for each stage, without control characters
      assertMatch(
        stderr,
        /^facet: 2 evaluations; for seconds type 2s\nacoustic wave equation, order 2, grid 24x20x16, on [^\n]+\ndevice\nGPU search: 0\/2\n/,
      );
      assert(!stderr.includes("\r") && !stderr.includes("\x1b"));
      const summary = JSON.parse(stdout);
      const { entries: [entry, ...more] } = await readProfile(out);
      assertEquals([summary.profile, summary.entry, summary.interrupted, more], [out, entry, false, []]);
      assertEquals(entry!.problem, {
        stencil: "wave",
        order: 2,
        hash: "13b3529072927648",
        grid: [24, 20, 16],
        boundary: "zero",
        precision: "f32",
        steps: 12,
      });
      assert(entry!.result.cellsPerSecond > 0);
      assert(entry!.verification.maxError <= entry!.verification.bound);
      assertEquals([entry!.configuration.traversal, entry!.search.evaluated], ["stepwise", 2]);
      const records = await recordsOf(out);
      assertEquals(records.slice(0, 3).map(({ kind }) => kind), ["run", "measurement", "measurement"]);
      assert(records.length > 3, "the final round is in the journal");
    }),
);

Deno.test("tune --no-gpu measures the CPU alone", () =>
  inDirectory(async (directory) => {
    const out = `${directory}/p.json`;
    const args = [...SMALL, "--no-gpu", "--cpu-workers", "1", "--budget", "2", "--out", out];
    const { code, stdout, stderr } = await runCommand("tune", args);
    assertEquals(code, 0, stderr);
    const { device, entries: [entry] } = await readProfile(out);
    assertEquals([device.gpu, device.measured.copyBytesPerSecond], [null, null]);
    const { traversal, share } = entry!.configuration;
    assertEquals(share, { cpuSlices: 24, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 });
    assert(CPU_TRAVERSALS.some(({ name }) => name === traversal), traversal);
    assert(entry!.search.spaceSize >= 2 && entry!.search.evaluated === 2);
    const { against, maxError, bound } = entry!.verification;
    assert(against === "oracle f32" && maxError <= bound);
    assertMatch(stdout, new RegExp(`^(Fastest|Chosen.*): CPU, 1 worker, ${traversal}$`, "m"));
    assertMatch(stdout, new RegExp(`^  CPU ${traversal} .* the (fastest|chosen one)$`, "m"));
    assertStringIncludes(stdout, `\nProfile: ${out}\n`);
    assertMatch(stdout, new RegExp(`deno(@2\\.9\\.6)? task qualify --profile ${out} `));
    const kinds = (await recordsOf(out)).map(({ kind }) => kind);
    assertEquals(kinds.slice(0, 3), ["run", "measurement", "measurement"]);
  }));

Deno.test("a run for another order adds an entry, and the same one replaces it", () =>
  inDirectory(async (directory) => {
    const out = `${directory}/p.json`;
    const args = [...SMALL, ...STEPWISE, "--out", out, "--budget", "3", "--quiet"];
    assertEquals((await simulate(args)).stderr, "");
    const { entries: [first] } = await readProfile(out);
    await simulate([...args, "--order", "4"]);
    const { entries } = await readProfile(out);
    assertEquals([entries[0], entries.map(({ problem }) => problem.order)], [first!, [2, 4]]);
    await simulate([...args, "--seed", "7"]);
    const after = (await readProfile(out)).entries;
    assertEquals(after.map(({ problem, search }) => [problem.order, search.seed]), [[4, 1], [2, 7]]);
    assertEquals((await recordsOf(out)).filter(({ kind }) => kind === "run").length, 3);
  }));

Deno.test("a run that finds less leaves the profile's configuration, and says what it was", () =>
  inDirectory(async (directory) => {
    const out = `${directory}/p.json`;
    const args = [...SMALL, ...STEPWISE, "--strategy", "exhaustive", "--out", out];
    const behave: Simulation["behave"] = (_, { parameters: { threadsZ = 1 } }) => ({
      batchNs: (repetitions) => repetitions * (threadsZ === 4 ? 1e6 : 2e6),
    });
    await simulate([...args, "--budget", "60s"], { behave });
    const { entries: [first] } = await readProfile(out);
    assertEquals(first!.configuration.parameters["threadsZ"], 4);
    const slower: Simulation["behave"] = (_, { parameters: { threadsZ = 1 } }) => ({
      batchNs: (repetitions) => repetitions * (threadsZ === 4 ? 1.001e6 : 2e6),
    });
    const { stdout, stderr } = await simulate([...args, "--budget", "1"], { behave: slower });
    const { entries: [again] } = await readProfile(out);
    assertEquals(again!.configuration, first!.configuration);
    assertStringIncludes(stdout, "\nThe profile had stepwise ");
    assertMatch(stdout, / stays: measured again it runs at .*, and nothing is significantly faster\n/);
    assertMatch(stderr, /^facet: 1 evaluation; for seconds type 1s\n/);
    const timed = await simulate([...args, "--budget", "1s", "--json"], { behave });
    assertMatch(JSON.parse(timed.stdout).earlier, /^stepwise .* stays: /);
    assert(!timed.stderr.includes("for seconds"));
    // for an entry of its own, another file
    await simulate([...args.slice(0, -1), `${directory}/other.json`, "--budget", "1"], { behave });
    const { entries: [other] } = await readProfile(`${directory}/other.json`);
    assert(other!.result.cellsPerSecond < again!.result.cellsPerSecond);
  }));

Deno.test("tune --resume measures nothing again, and something else where the problem is another", () =>
  inDirectory(async (directory) => {
    const out = `${directory}/p.json`;
    const search = [...STEPWISE, "--strategy", "exhaustive"];
    const run = async (...more: string[]) => {
      const { stdout, stderr } = await simulate([
        ...[...SMALL, ...search, "--out", out, "--json", "--quiet"],
        ...more,
      ]);
      return { summary: JSON.parse(stdout), stderr };
    };
    const searched = async () => {
      const { summary, stderr } = await run("--resume", "--budget", "3");
      assertEquals([summary.entry.search.evaluated, summary.evaluated], [3, 3]);
      return { recalled: summary.recalled, stderr };
    };
    await run("--budget", "2");
    assertEquals(await searched(), { recalled: 2, stderr: "" });
    assertEquals((await run("--resume", "--budget", "1", "--order", "4")).summary.recalled, 0);
    // a damaged line costs itself, and is reported
    const path = journalPath(out);
    const lines = (await Deno.readTextFile(path)).split("\n");
    lines[1] = lines[1]!.replace('"traversal"', '"traversel"');
    await Deno.writeTextFile(path, lines.join("\n") + '{"crc32":"0');
    const damaged = await searched();
    assertMatch(
      damaged.stderr,
      /^facet: \S+: left out 1 damaged line, the first is line 2: the checksum differs\n$/,
    );
    assert(damaged.recalled >= 2);
  }));

Deno.test("tune says which traversals are left out, and why, but none that is for other dimensions", () =>
  inDirectory(async (directory) => {
    const rest = ["--cpu-workers", "0", "--budget", "1", "--out", `${directory}/p.json`, "--quiet"];
    const { stdout } = await simulate([...SMALL, "--boundary", "periodic", ...rest, "--json"]);
    const { notTried, entry, balance } = JSON.parse(stdout);
    const names = notTried.map(({ traversal }: { traversal: string }) => traversal);
    assertEquals(names, ["diamond-torre"]);
    assertStringIncludes(notTried[0].reason, "periodic");
    assertEquals([entry.problem.boundary, entry.search.evaluated], ["periodic", 1]);
    assertStringIncludes(balance, "the CPU has no workers");
    const line = await simulate(["--stencil", "heat-1d", "--grid", "1013", "--steps", "9", ...rest]);
    assertMatch(
      line.stdout,
      /^Not tried: swept-register: cannot cut 1013 points into nodes: the nearest that work: \d+ and \d+$/m,
    );
    assert(!line.stdout.includes("torre"), line.stdout);
  }));

Deno.test("a rate that the final round corrects is explained where it was shown, not with --quiet", () =>
  inDirectory(async (directory) => {
    // what is timed first seems faster than it is
    const behave: Simulation["behave"] = (prepared) => ({
      batchNs: (repetitions) => repetitions * (prepared === 0 ? 0.9e6 : 1e6),
    });
    const args = [...SMALL, ...STEPWISE, "--budget", "3", "--out", `${directory}/p.json`];
    const { stdout } = await simulate(args, { behave });
    const [, rate = ""] = /^ {2}([\d.]+ [GMk]cells\/s) /m.exec(stdout) ?? [];
    assertMatch(
      stdout,
      new RegExp(`^  during the search the best was .*; .* the chosen one runs at ${rate}$`, "m"),
    );
    assert(!(await simulate([...args, "--quiet"], { behave })).stdout.includes("during the search"));
  }));

Deno.test("several runs at once on one profile lose no entries and no records", () =>
  inDirectory(async (directory) => {
    const out = `${directory}/p.json`;
    const orders = [2, 4, 6];
    const args = [...SMALL, ...STEPWISE, "--budget", "4", "--out", out, "--quiet"];
    const runs = await capture(orders.map((order) => tuning([...args, "--order", `${order}`])));
    assertEquals(runs.codes, [0, 0, 0], runs.stderr);
    const { entries } = await readProfile(out);
    assertEquals(entries.map(({ problem }) => problem.order).sort(), orders);
    const records = await recordsOf(out);
    for (const kind of ["run", "measurement"]) {
      const runs = new Set(records.flatMap((record) => record.kind === kind ? [record.run] : []));
      assertEquals(runs.size, 3);
    }
    assert(records.length >= 3 + entries.reduce((sum, { search }) => sum + search.evaluated, 0));
  }));

Deno.test("tune refuses what is wrong before any work, and writes nothing", () =>
  inDirectory(async (directory) => {
    const file = `${directory}/file`,
      older = `${directory}/older.json`,
      foreign = `${directory}/foreign.json`;
    await Deno.writeTextFile(file, "{ not a profile");
    await Deno.writeTextFile(older, JSON.stringify({ ...PROFILE, schemaVersion: 0 }));
    await Deno.writeTextFile(foreign, formatProfile(PROFILE));
    const before = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
    const out = ["--out", `${directory}/p.json`];
    await assertRefused("tune", [
      [["--grid", "0x5x5", ...out], "--grid"],
      [["--grid", "40000x40000x40000", ...out], /a time level of 40000x40000x40000 takes [\d.,]+ [GT]iB/],
      [["--grid", "3000000000x1x1", ...out], "at most 2147483647 cells along each axis are wanted"],
      [["--grid", "3x40000x40000", ...out], /a time level of 3x40000x40000 takes [\d.]+ GiB/],
      [
        ["--grid", "300x64x64", "--device-memory", "1MiB", "--cpu-workers", "2", ...out],
        "no CPU workers are wanted beside a window: what passes through it is not shared: found 2",
      ],
      [
        ["--grid", "300x64x64", "--device-memory", "1MiB", "--boundary", "periodic", ...out],
        "stepwise: the boundary is periodic: only a grid among zeros passes through a window",
      ],
      [
        ["--grid", "30x512x512", "--device-memory", "1MiB", ...out],
        /\d+ bytes in the 3 slices of a level that a passage touches at once, a window of 1048576 bytes holds 0/,
      ],
      [
        ["--device-memory", "4GB", ...out],
        '--device-memory: wanted an amount of memory in MiB or GiB, such as 512MiB or 4GiB: found "4GB"',
      ],
      [["--stencil", "heat-1d", "--grid", "1", ...out], "needs a grid of 1x1xN, N at least 2"],
      [["--no-gpu", "--traversal", "stepwise", ...out], "runs on a GPU: the GPU is left out"],
      [
        ["--out", "/nowhere/nope/x.json"],
        "Cannot write /nowhere/nope/x.json: there is no folder /nowhere/nope",
      ],
      [["--out", `${directory}/new/x.json`], `/new/x.json: there is no folder ${directory}/new`],
      [["--out", `${file}/x.json`], /Cannot (write|read) .*file\/x\.json/],
      [["--out", file], "file: it is not JSON: line 1, column 3: wanted a name in quotes or }, found not"],
      [["--out", older], /older\.json.*version/],
      [["--out", foreign], /foreign\.json.*another device/],
      [["--out", directory], "it is a folder"],
    ]);
    assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name).sort(), before);
  }));

Deno.test("several grids share one budget, and each is an entry; the summary says what choices for unseen sizes lose", () =>
  inDirectory(async (directory) => {
    const out = `${directory}/p.json`;
    const grids = ["24x20x16", "32x24x16", "16x40x24"];
    const args = [
      ...grids.flatMap((grid) => ["--grid", grid]),
      "--steps",
      "12",
      "--out",
      out,
      "--cpu-workers",
      "0",
    ];
    const { stdout } = await simulate([...args, "--budget", "31"]);
    const { entries } = await readProfile(out);
    assertEquals(entries.map(({ problem }) => problem.grid.join("x")), grids);
    assertEquals(entries.map(({ search }) => search.evaluated), [10, 10, 11]);
    for (const { calibration } of entries) {
      assert(calibration!.length > 2 && calibration!.length <= 11);
    }
    assertMatch(stdout, /\nLoss on unseen sizes: median [\d.]+%, largest [\d.]+%;/);
    assertEquals(stdout.split(`Profile: ${out}`).length, 2, "the profile is named once");
    const again = await simulate([...args, "--budget", "30", "--json"]);
    const { sizes, unseen } = JSON.parse(again.stdout);
    assertEquals([sizes.length, unseen.length], [3, 3]);
    // what is too small for all of them is said before the first, and again where it was exceeded
    const other = `${directory}/other.json`, toOther = args.with(args.indexOf(out), other);
    const tight = await simulate([...toOther, "--budget", "2"]);
    assertMatch(tight.stderr, /^facet: 3 grids: each gets one evaluation$/m);
    assertEquals((await readProfile(other)).entries.map(({ search }) => search.evaluated), [1, 1, 1]);
    const slow: Simulation = { referenceNs: 4e9 };
    const short =
      "a budget of 3.00 s is too small for 3 grids: 1.00 s each is hardly a search; give 15.0 s or more";
    const late = await simulate([...args, "--budget", "3s", "--quiet"], slow);
    assertEquals(late.stderr.split(short).length, 2, late.stderr);
    assertMatch(late.stdout, new RegExp(`^The budget was exceeded by [\\d.]+ s: ${short}$`, "m"));
    const enough = [[{ timeNs: 15e9 }, 3], [{ evaluations: 3 }, 3], [{ timeNs: 1 }, 1]] as const;
    for (const [budget, grids] of enough) assertEquals(whyTight(budget, grids), undefined);
    const both = ["--grid", "8x8x8", "--sizes", "typical"];
    await assertRefused("tune", [[both, "both name what to tune"]]);
  }));
