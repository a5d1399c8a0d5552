import { assert, assertEquals } from "@std/assert";
import { parseProfile } from "../../tuner/profile/schema.ts";
import { runTask } from "./run_task.ts";

const FIXTURE = "fixtures/h100/heat.json";

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the tasks export and import: a profile out and back through a packed T4 file", () =>
  withFolder(async (folder) => {
    const t4 = `${folder}/heat.t4.json.gz`, profile = `${folder}/new/profile.json`;
    const exported = await runTask("export", [
      "--format",
      "t4",
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
    assertEquals(after.entries, [before.entries[1]]);
    // a second import adds to the profile what is new in it
    const again = await runTask("import", ["--from", t4, "--out", profile]);
    assertEquals([again.code, again.stdout.includes("Everything was carried over.")], [0, true]);
    const whole = await runTask("export", [
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
  withFolder(async (folder) => {
    const open = `${folder}/open.json`, out = `${folder}/t4.json`;
    const header =
      '{"device_name": "G", "kernel_name": "k", "tune_params_keys": ["x"], "tune_params": {"x": [1, 2]}, ';
    await Deno.writeTextFile(open, `${header}"cache": {\n"1": {"x": 1, "time": 0.5},\n"2": {"x": 2, "ti`);
    const { code, stdout } = await runTask("export", ["--format", "t4", "--from", open, "--out", out]);
    assertEquals(code, 0);
    assert(stdout.includes("the last record was cut off while it was written: left out"), stdout);
    assertEquals(JSON.parse(await Deno.readTextFile(out)).results.length, 1);
    const imported = await runTask("import", ["--from", open, "--out", `${folder}/p.json`]);
    assertEquals([imported.code, imported.stdout], [2, ""]);
    assert(imported.stderr.includes("found no problem size: give --grid XxYxZ"), imported.stderr);
    const told = await runTask("import", ["--from", open, "--out", `${folder}/p.json`, "--grid", "10x10x10"]);
    assertEquals(told.code, 0);
    assert(told.stdout.includes("the verification: Facet did not compare"), told.stdout);
  }));

Deno.test("wrong requests end with 2 and one line", () =>
  withFolder(async (folder) => {
    const out = `${folder}/x.json`;
    const cases: [task: string, args: string[], message: string][] = [
      [
        "export",
        ["--format", "csv", "--profile", FIXTURE, "--out", out],
        "Cannot use --format: wanted one of t4, kernel-tuner",
      ],
      ["export", ["--profile", FIXTURE, "--out", out], "Missing option --format"],
      ["export", ["--format", "t4", "--out", out], "wanted either --profile or --from"],
      [
        "export",
        ["--format", "t4", "--profile", FIXTURE, "--out", out],
        "the profile has 4: give --entry N: 1 heat",
      ],
      [
        "export",
        ["--format", "t4", "--profile", FIXTURE, "--entry", "9", "--out", out],
        "wanted a whole number from 1 to 4",
      ],
      [
        "export",
        ["--format", "t4", "--from", "deno.json", "--out", out],
        "Cannot read deno.json: wanted T4 results",
      ],
      [
        "export",
        ["--format", "t4", "--from", "deno.json", "--entry", "1", "--out", out],
        "it goes with --profile",
      ],
      ["import", ["--from", "/no/such", "--out", out], "Cannot read /no/such: there is no such file"],
      ["import", ["--from", "deno.json"], "Missing option --out"],
    ];
    const results = await Promise.all(cases.map(([task, args]) => runTask(task, args)));
    results.forEach(({ code, stdout, stderr }, i) => {
      assertEquals([code, stdout], [2, ""]);
      assert(stderr.includes(cases[i][2]), `${stderr}wanted: ${cases[i][2]}`);
      assert(stderr.trim().split("\n").length === 1, stderr);
    });
    assertEquals([...Deno.readDirSync(folder)], []);
  }));
