import { CPU_TRAVERSALS } from "../../kernels/cpu/cpu_traversals.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { journalPath, readJournal } from "../../tuner/profile/journal.ts";
import { readProfile } from "../../tuner/profile/store.ts";
import { PROFILE } from "../profile/sample_profile.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { THOROUGH } from "../thorough.ts";
import { assertRefused, inDirectory, runCommand, runCommands, taskCommand } from "./run_task.ts";

const SMALL = ["--grid", "24x20x16", "--steps", "12"];

/** The records of a journal without damage. */
async function recordsOf(profilePath: string) {
  const { records, damaged, torn } = await readJournal(journalPath(profilePath));
  assertEquals([damaged, torn], [[], false]);
  return records;
}

testOnGpu(
  "tune writes a verified entry, and a run for another order adds one",
  () =>
    inDirectory(async (directory) => {
      const out = `${directory}/new/p.json`;
      const args = [...SMALL, "--out", out, "--traversal", "stepwise", "--json"];
      const first = await runCommand("tune", [...args, "--budget", "3", "--cpu-workers", "1"]);
      assertEquals(first.code, 0, first.stderr);
      const summary = JSON.parse(first.stdout);
      const profile = await readProfile(out);
      const entry = profile.entries[0]!;
      assertEquals(profile.entries.length, 1);
      assertEquals(entry.problem, {
        stencil: "wave",
        order: 2,
        grid: [24, 20, 16],
        boundary: "zero",
        precision: "f32",
        steps: 12,
      });
      assert(entry.result.cellsPerSecond > 0);
      assert(entry.verification.maxError <= entry.verification.bound);
      assertEquals([summary.profile, summary.entry, summary.interrupted], [out, entry, false]);
      assertEquals(summary.evaluated, entry.search.evaluated);
      // three searched, the CPU alone, and what the balance tried
      assert(entry.search.evaluated >= 4 && entry.search.evaluated <= 8, `${entry.search.evaluated}`);
      assert(entry.balance.length <= 10);
      const best = Math.max(
        ...[summary.gpuAlone, summary.cpuAlone, summary.together].map((one) => one?.cellsPerSecond ?? 0),
      );
      assertEquals(entry.result.cellsPerSecond, best);

      const records = await recordsOf(out);
      assertEquals(records.filter(({ kind }) => kind === "run").length, 1);
      assert(
        records.length > entry.search.evaluated,
        "every evaluation and the final round are in the journal",
      );

      const second = await runCommand("tune", [
        ...args,
        ...["--order", "4", "--budget", "1", "--cpu-workers", "0", "--quiet"],
      ]);
      assertEquals([second.code, second.stderr], [0, ""]);
      const { entries } = await readProfile(out);
      assertEquals(entries[0], entry);
      assertEquals(entries.map(({ problem }) => problem.order), [2, 4]);
      assertEquals(entries[1]!.configuration.traversal, "stepwise");
      assertEquals([entries[1]!.search.evaluated, entries[1]!.balance], [1, []]);
      assertEquals((await recordsOf(out)).filter(({ kind }) => kind === "run").length, 2);
    }),
);

Deno.test("tune --no-gpu measures the CPU alone", () =>
  inDirectory(async (directory) => {
    const out = `${directory}/p.json`;
    const args = [...SMALL, "--no-gpu", "--cpu-workers", "1", "--budget", "3", "--out", out];
    const { code, stdout, stderr } = await runCommand("tune", args);
    assertEquals(code, 0, stderr);
    const { device, entries } = await readProfile(out);
    const entry = entries[0]!;
    assertEquals([device.gpu, device.measured.copyBytesPerSecond], [null, null]);
    const { traversal, share } = entry.configuration;
    assertEquals(share, { cpuSlices: 24, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 1 });
    assert(CPU_TRAVERSALS.some(({ name }) => name === traversal), traversal);
    assert(entry.search.spaceSize >= 3 && entry.search.evaluated === 3);
    assertEquals([entry.verification.against, entry.verification.maxError], ["oracle f32", 0]);
    assertStringIncludes(stdout, `Fastest: CPU, 1 worker, ${traversal} `);
    assertStringIncludes(stdout, `Profile: ${out}`);
    const kinds = ["run", "measurement", "measurement", "measurement"];
    assertEquals((await recordsOf(out)).map(({ kind }) => kind), kinds);
    const again = await runCommand("tune", [...args, "--resume", "--quiet"]);
    assertEquals([again.code, again.stderr], [0, ""]);
    assertStringIncludes(again.stdout, "3 evaluations, 3 of them in earlier runs");
    assertEquals((await recordsOf(out)).map(({ kind }) => kind), [...kinds, "run"]);
    assertEquals((await readProfile(out)).entries[0]!.result, entry.result);
  }));

testOnGpu(
  "tune --resume measures nothing again, and something else where the problem is another",
  () =>
    inDirectory(async (directory) => {
      const out = `${directory}/p.json`;
      const search = ["--traversal", "stepwise", "--strategy", "exhaustive", "--cpu-workers", "0"];
      const args = [...SMALL, ...search, "--out", out, "--json", "--quiet"];
      const run = async (...more: string[]) => {
        const { code, stdout, stderr } = await runCommand("tune", [...args, ...more]);
        assertEquals(code, 0, stderr);
        return { summary: JSON.parse(stdout), stderr };
      };
      const searched = async () => {
        const { summary, stderr } = await run("--resume", "--budget", "3");
        assertEquals(summary.entry.search.evaluated, summary.evaluated);
        return { recalled: summary.recalled, stderr };
      };
      await run("--budget", "2");
      assertEquals(await searched(), { recalled: 2, stderr: "" });
      if (THOROUGH) {
        assertEquals((await run("--resume", "--budget", "1", "--order", "4")).summary.recalled, 0);
      }
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
    }),
);

testOnGpu(
  "tune says which traversals a periodic boundary leaves out, and why",
  () =>
    inDirectory(async (directory) => {
      const out = `${directory}/p.json`;
      const rest = ["--boundary", "periodic", "--cpu-workers", "0", "--budget", "1", "--out", out, "--quiet"];
      const { code, stdout, stderr } = await runCommand("tune", [...SMALL, ...rest, "--json"]);
      assertEquals([code, stderr], [0, ""]);
      const { notTried, entry, balance } = JSON.parse(stdout);
      assertEquals(notTried.map(({ traversal }: { traversal: string }) => traversal), ["diamond-torre"]);
      assertStringIncludes(notTried[0].reason, "periodic");
      assertEquals([entry.problem.boundary, entry.search.evaluated], ["periodic", 1]);
      assertStringIncludes(balance, "no CPU workers were asked for");
    }),
);

testOnGpu(
  "tune of a line that no node fits goes on without the sweeps, and says which lengths they could cut",
  () =>
    inDirectory(async (directory) => {
      const out = `${directory}/p.json`;
      const line = ["--stencil", "heat-1d", "--grid", "1013", "--steps", "9"];
      const rest = ["--budget", "1", "--cpu-workers", "0", "--out", out, "--quiet"];
      const { code, stdout, stderr } = await runCommand("tune", [...line, ...rest]);
      assertEquals([code, stderr], [0, ""]);
      assertMatch(
        stdout,
        /^Not tried: swept-register: cannot cut 1013 points into nodes: the nearest that work: \d+ and \d+$/m,
      );
      const { problem, configuration } = (await readProfile(out)).entries[0]!;
      assertEquals([problem.stencil, problem.grid, problem.boundary], ["heat-1d", [1, 1, 1013], "insulated"]);
      assert(["stepwise", "marching", "classic"].includes(configuration.traversal));
    }),
);

Deno.test("several runs at once on one profile lose no entries and no records", () =>
  inDirectory(async (directory) => {
    const out = `${directory}/p.json`;
    const orders = [2, 4, 6];
    const alone = [...SMALL, "--no-gpu", "--cpu-workers", "1", "--budget", "2", "--out", out, "--quiet"];
    const runs = await runCommands(orders.map((order) => ["tune", ...alone, "--order", `${order}`]));
    assertEquals(runs.codes, [0, 0, 0], runs.stderr);
    const { entries } = await readProfile(out);
    assertEquals(entries.map(({ problem }) => problem.order).sort(), orders);
    const { records, damaged } = await readJournal(`${out}.journal.jsonl`);
    assertEquals(damaged, []);
    const evaluated = entries.reduce((sum, { search }) => sum + search.evaluated, 0);
    assertEquals(records.filter(({ kind }) => kind === "measurement").length, evaluated);
  }));

Deno.test("tune refuses what is wrong before any work, and writes nothing", () =>
  inDirectory(async (directory) => {
    const file = `${directory}/file`,
      older = `${directory}/older.json`,
      foreign = `${directory}/foreign.json`;
    await Deno.writeTextFile(file, "{ not a profile");
    await Deno.writeTextFile(older, JSON.stringify({ ...PROFILE, schemaVersion: 0 }));
    await Deno.writeTextFile(foreign, JSON.stringify(PROFILE));
    const before = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
    const out = ["--out", `${directory}/p.json`];
    await assertRefused("tune", [
      [["--grid", "0x5x5", ...out], "--grid"],
      [["--grid", "4000x4000x4000", ...out], "at most 2147483647 cells is wanted: found 4000x4000x4000"],
      [["--grid", "1290x1290x1290", ...out], /a time level of 1290x1290x1290 takes \d+ bytes/],
      [["--stencil", "heat-1d", "--grid", "1", ...out], "needs a grid of 1x1xN, N at least 2"],
      [["--no-gpu", "--traversal", "stepwise", ...out], "runs on a GPU: the GPU is left out"],
      [["--out", "/proc/nope/x.json"], "Cannot write /proc/nope/x.json"],
      [["--out", `${file}/x.json`], /Cannot (write|read) .*file\/x\.json/],
      [["--out", file], "file"],
      [["--out", older], /older\.json.*version/],
      [["--out", foreign], /foreign\.json.*another device/],
      [["--out", directory], "directory"],
    ]);
    assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name).sort(), before);
  }));

testOnGpu("Ctrl-C writes what is known, and ends with 130", () =>
  inDirectory(async (directory) => {
    const out = `${directory}/p.json`;
    const child = taskCommand("tune", [...SMALL, "--budget", "60s", "--cpu-workers", "0", "--out", out])
      .spawn();
    const stdout = new Response(child.stdout).text();
    // the second record is the first measurement: there is something to keep
    let hasEnded = false;
    child.status.then(() => hasEnded = true);
    while (!hasEnded && (await readJournal(journalPath(out))).records.length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert(!hasEnded, "the run ended before anything was measured");
    child.kill("SIGINT");
    const [{ code }, stderr] = await Promise.all([child.status, new Response(child.stderr).text()]);
    assertEquals(code, 130, stderr);
    // on a pipe: a line for each stage, without control characters
    assertMatch(stderr, /^device\nsearch: 0\/\d+\b/);
    assert(!stderr.includes("\r") && !stderr.includes("\x1b"));
    assertStringIncludes(await stdout, "Interrupted: these are the results so far.");
    const entry = (await readProfile(out)).entries[0]!;
    const records = await recordsOf(out);
    const rates = records.flatMap((record) =>
      record.kind === "measurement" ? [record.measurement.cellsPerSecond] : []
    );
    assertEquals(entry.result.cellsPerSecond, Math.max(...rates));
    assertEquals(entry.search.evaluated, records.length - 1);
  }));
