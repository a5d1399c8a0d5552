import { assert, assertEquals } from "@std/assert";
import { parseProfile } from "../../tuner/profile/schema.ts";
import { assertRefused, inDirectory, runCommand, runTask } from "./run_task.ts";

const FIXTURE = "fixtures/h100/heat.json";

Deno.test("the tasks export and import: a profile out and back through a packed T4 file", () =>
  inDirectory(async (folder) => {
    const t4 = `${folder}/heat.t4.json.gz`, profile = `${folder}/profile.json`;
    const exported = await runTask("export", [
      "--profile",
      FIXTURE,
      "--entry",
      "2",
      "--out",
      t4,
    ]);
    assertEquals([exported.code, exported.stderr], [0, ""]);
    assert(
      /^Wrote .*: T4 results, \d+ records, 0 failed\nNot carried over:\n {2}- /.test(exported.stdout),
      exported.stdout,
    );
    const imported = await runTask("import", ["--from", t4, "--out", profile, "--json"]);
    assertEquals([imported.code, imported.stderr], [0, ""]);
    const record = JSON.parse(imported.stdout);
    assertEquals([record.format, record.notCarried], ["t4", []]);
    const before = parseProfile(await Deno.readTextFile(FIXTURE), FIXTURE);
    const after = parseProfile(await Deno.readTextFile(profile), profile);
    assertEquals(after.entries, [before.entries[1]!]);
    // a second import adds to the profile what is new in it
    const again = await runCommand("import", ["--from", t4, "--out", profile]);
    assertEquals([again.code, again.stdout.includes("Everything was carried over.")], [0, true]);
    const whole = await runCommand("export", [
      "--format",
      "kernel-tuner",
      "--profile",
      profile,
      "--out",
      `${folder}/k.json`,
      "--json",
    ]);
    assertEquals(JSON.parse(whole.stdout).records, record.records);
  }));

Deno.test("a cache cut off is converted, and what was cut off is told", () =>
  inDirectory(async (folder) => {
    const open = `${folder}/open.json`, out = `${folder}/t4.json`;
    const header =
      '{"device_name": "G", "kernel_name": "k", "tune_params_keys": ["x"], "tune_params": {"x": [1, 2]}, ';
    await Deno.writeTextFile(open, `${header}"cache": {\n"1": {"x": 1, "time": 0.5},\n"2": {"x": 2, "ti`);
    const { code, stdout } = await runCommand("export", ["--from", open, "--out", out]);
    assertEquals(code, 0);
    assert(stdout.includes("the last record was cut off while it was written: left out"), stdout);
    assertEquals(JSON.parse(await Deno.readTextFile(out)).results.length, 1);
    const imported = await runCommand("import", ["--from", open, "--out", `${folder}/p.json`]);
    assertEquals([imported.code, imported.stdout], [2, ""]);
    assert(imported.stderr.includes("found no problem size: give --grid XxYxZ"), imported.stderr);
    const told = await runCommand("import", [
      "--from",
      open,
      "--out",
      `${folder}/p.json`,
      "--grid",
      "10x10x10",
    ]);
    assertEquals(told.code, 0);
    assert(told.stdout.includes("the verification: Facet did not compare"), told.stdout);
  }));

Deno.test("export and import refuse what they cannot read, and write nothing", () =>
  inDirectory(async (folder) => {
    const out = `${folder}/x.json`, t4 = ["--format", "t4", "--out", out];
    await assertRefused("export", [
      [t4, "Missing option --profile: wanted the profile to export from, or --from FILE"],
      [["--profile", FIXTURE, "--out", out], `Missing option --format: ${out} does not say which is wanted`],
      [[...t4, "--profile", FIXTURE], "the profile has 4: give --entry N: 1 heat"],
      [[...t4, "--profile", FIXTURE, "--entry", "9"], "wanted a whole number from 1 to 4"],
      [[...t4, "--from", "deno.json"], "Cannot read deno.json: wanted T4 results"],
    ]);
    await assertRefused("import", [
      [["--from", "/no/such", "--out", out], "Cannot read /no/such: there is no such file"],
    ]);
    const heat = ["--profile", FIXTURE, "--entry", "1"];
    await assertRefused("export", [
      [["--format", "t4", ...heat, "--out", `${folder}/new/x.json`], `there is no folder ${folder}/new`],
    ]);
    assertEquals([...Deno.readDirSync(folder)], []);
  }));
