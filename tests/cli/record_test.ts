import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { whyLong } from "../../tuner/cli/record.ts";
import { describeDriver } from "../../tuner/devices/driver.ts";
import { readJournal } from "../../tuner/profile/journal.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { assertRefused, inDirectory, runCommand, taskCommand } from "./run_task.ts";

const SMALL = ["--grid", "16x12x16", "--steps", "6", "--traversal", "stepwise", "--quiet"];

testOnGpu(
  "record writes a space, goes on with it, and replay reads it",
  () =>
    inDirectory(async (directory) => {
      const out = `${directory}/space.jsonl`;
      const first = await runCommand("record", [...SMALL, "--limit", "3", "--workers", "2", "--out", out]);
      assertEquals([first.code, first.stderr], [0, ""]);
      assertStringIncludes(first.stdout, "3 of ");
      const { records: [run, ...measured] } = await readJournal(out);
      assert(run?.kind === "run");
      assertEquals(run.problem.grid, [16, 12, 16]);
      // what another driver computed is measured again
      assertEquals(run.driver, await describeDriver());
      assertEquals(measured.length, 3);
      for (const record of measured) {
        assert(record.kind === "measurement");
        const { measurement: { cellsPerSecond, confidence95: [low, high], compileNs }, evaluationNs } =
          record;
        assert(cellsPerSecond > 0 && low <= cellsPerSecond && cellsPerSecond <= high);
        assert(evaluationNs! >= compileNs);
      }

      const again = await runCommand("record", [...SMALL, "--limit", "3", "--out", out]);
      assertEquals(again.code, 2);
      assertStringIncludes(again.stderr, "it exists: --resume goes on with it");
      const other = await runCommand("record", [...SMALL, "--resume", "--out", out, "--order", "4"]);
      assertEquals(other.code, 2);
      assertStringIncludes(other.stderr, "it was recorded for another problem");

      const more = await runCommand("record", [...SMALL, "--limit", "6", "--resume", "--out", out]);
      assertEquals(more.code, 0, more.stderr);
      const { records } = await readJournal(out);
      assertEquals(records.slice(0, 4), [run, ...measured]);
      const all = records.filter(({ kind }) => kind === "measurement");
      const parameters = all.map((one) => "measurement" in one && one.measurement.configuration.parameters);
      assertEquals(new Set(parameters.map((one) => JSON.stringify(one))).size, all.length);
      assert(all.length >= 6);

      const replayed = await runCommand("replay", ["--space", out, "--seeds", "2", "--strategy", "auto"]);
      assertEquals(replayed.code, 0, replayed.stderr);
      assertStringIncludes(replayed.stdout, `${all.length} configurations`);
    }),
);

testOnGpu(
  "an interrupted recording keeps what it has, and ends with 130",
  () =>
    inDirectory(async (directory) => {
      const out = `${directory}/space.jsonl`;
      const child = taskCommand("record", [...SMALL, "--out", out]).spawn();
      while ((await readJournal(out)).records.length < 2) await new Promise((next) => setTimeout(next, 50));
      child.kill("SIGINT");
      assertEquals((await child.output()).code, 130);
      const { records: [run, first], damaged, torn } = await readJournal(out);
      assertEquals([run?.kind, first?.kind, damaged, torn], ["run", "measurement", [], false]);
    }),
);

Deno.test("record writes the CPU's space, and replay reads it", () =>
  inDirectory(async (directory) => {
    const out = `${directory}/cpu.jsonl`;
    const small = ["--no-gpu", "--grid", "12x12x16", "--steps", "4", "--cpu-workers", "1", "--quiet"];
    const recorded = await runCommand("record", [...small, "--limit", "5", "--out", out]);
    assertEquals([recorded.code, recorded.stderr], [0, ""]);
    const { records: [run, ...measured] } = await readJournal(out);
    assert(run?.kind === "run" && run.device.gpu === null);
    const traversals = measured.map((one) =>
      one.kind === "measurement" && one.measurement.configuration.traversal
    );
    assertEquals(new Set(traversals), new Set(["stepwise", "diamond-wavefront"]));
    const replayed = await runCommand("replay", [
      "--space",
      out,
      "--strategy",
      "auto",
      "--seeds",
      "2",
      "--json",
    ]);
    assertEquals(replayed.code, 0, replayed.stderr);
    const [{ configurations }] = JSON.parse(replayed.stdout).spaces;
    assertEquals(configurations, 5);
    await assertRefused("record", [
      [["--cpu-workers", "1", "--out", `${directory}/x.jsonl`], "--no-gpu"],
    ]);
  }));

Deno.test("a recording that takes hours is announced, with what would be shorter", () => {
  assertEquals(whyLong(3000, 3599e9), undefined);
  assertEquals(
    whyLong(30_000, 3 * 86_400e9),
    "30,000 configurations would take 3.0 days or longer: " +
      "--limit 500 records a sample of them; Ctrl-C keeps what is recorded",
  );
});

Deno.test("record adds to no file but a journal, and says what to do instead", () =>
  inDirectory(async (directory) => {
    const other = `${directory}/notes.txt`;
    await Deno.writeTextFile(other, "not a journal");
    await assertRefused("record", [
      [[...SMALL, "--out", `${directory}/wave.json.gz`], "choose a name as wave.jsonl"],
      [[...SMALL, "--out", other], "it exists: --resume goes on with it"],
      [[...SMALL, "--out", other, "--resume"], "it is not a journal: choose another file with --out"],
    ]);
    assertEquals(await Deno.readTextFile(other), "not a journal");
  }));
