import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Profile, ProfileEntry } from "../../tuner/profile/schema.ts";
import { formatProfile } from "../../tuner/profile/format_profile.ts";
import { readProfile } from "../../tuner/profile/store.ts";
import { escapeXml } from "../../tuner/qualify/formats.ts";
import { PROFILE } from "../profile/sample_profile.ts";
import { assertRefused, inDirectory, runCommand, taskCommand } from "./run_task.ts";
import { THOROUGH } from "../thorough.ts";

const ENTRIES = {
  cpu: ["--no-gpu", "--cpu-workers", "1"],
  gpu: ["--cpu-workers", "0", "--traversal", "stepwise"],
} as const;

/** Calls a test with a directory of its own, and a profile that `tune` has just written there. */
function tuned(
  kind: keyof typeof ENTRIES,
  test: (path: string, directory: string) => Promise<void>,
): Promise<void> {
  return inDirectory(async (directory) => {
    const path = `${directory}/p.json`;
    const small = ["--grid", "24x20x16", "--steps", "12", "--budget", "1", "--quiet"];
    const { code, stderr } = await runCommand("tune", [...small, ...ENTRIES[kind], "--out", path]);
    assertEquals(code, 0, stderr);
    await test(path, directory);
  });
}

/** Writes a changed copy of a profile. */
async function changed(
  path: string,
  name: string,
  change: (profile: Profile & { entries: [ProfileEntry] }) => Profile,
): Promise<string> {
  const copy = path.replace("p.json", `${name}.json`);
  const profile = await readProfile(path) as Profile & { entries: [ProfileEntry] };
  await Deno.writeTextFile(copy, formatProfile(change(profile)));
  return copy;
}

/**
 * The profile with all rates multiplied. Their intervals become narrow: where others use the machine, those that `tune`
 * found are so wide that a rate far from the recorded one lies within the tolerance.
 */
function scaled(profile: Profile, factor: number): Profile {
  const entries = profile.entries.map((entry) => ({
    ...entry,
    result: {
      ...entry.result,
      cellsPerSecond: factor * entry.result.cellsPerSecond,
      confidence95: [0.99, 1.01].map((part) => part * factor * entry.result.cellsPerSecond) as [
        number,
        number,
      ],
    },
  }));
  return { ...profile, entries };
}

// a tolerance that leaves room for whatever else the machine does: what is tested is no rate
const LENIENT = ["--quick", "--tolerance", "90%", "--quiet"];

for (const kind of THOROUGH ? ["cpu", "gpu"] as const : ["cpu"] as const) {
  Deno.test({
    name: `tune, then qualify: exit 0; rates 1,000 times as high: exit 1 with the figures (${kind})`,
    ignore: kind === "gpu" && await navigator.gpu?.requestAdapter() === null,
    fn: () =>
      tuned(kind, async (path, directory) => {
        const [junit, markdown] = [`${directory}/j.xml`, `${directory}/m.md`];
        const files = ["--junit", junit, "--markdown", markdown];
        const narrow = await changed(path, "narrow", (profile) => scaled(profile, 1));
        const same = await runCommand("qualify", ["--profile", narrow, ...LENIENT, ...files, "--json"]);
        assertEquals([same.code, same.stderr], [0, ""], same.stdout);
        const record = JSON.parse(same.stdout);
        assertEquals([record.profile, record.answer, record.results.length], [narrow, "yes", 1]);
        assert(record.results[0].measured.cellsPerSecond > 0);
        assertStringIncludes(await Deno.readTextFile(junit), 'tests="1" failures="0" errors="0"');
        assertMatch(await Deno.readTextFile(markdown), /^## ✅ Qualified: 1 (pass|faster)\n/);

        const faster = await changed(path, "faster", (profile) => scaled(profile, 1000));
        const slower = await runCommand("qualify", ["--profile", faster, ...LENIENT, ...files]);
        assertEquals([slower.code, slower.stderr], [1, ""], slower.stdout);
        assertMatch(slower.stdout, /^slower by [\d.]+%: wave, order 2, grid 24x20x16/m);
        assertMatch(
          slower.stdout,
          /^ {2}measured [\d.,]+ [GM]cells\/s \(95% between .*\), the best of \d+ meas/m,
        );
        assertMatch(slower.stdout, /^Not qualified: 1 slower, tolerance 90%/m);
        assertStringIncludes(await Deno.readTextFile(junit), 'tests="1" failures="1"');
        assertStringIncludes(await Deno.readTextFile(markdown), "❌ slower by ");

        if (kind === "gpu") return; // what follows is the same for both
        const elsewhere = await changed(path, "elsewhere", (profile) => ({
          ...profile,
          device: { ...profile.device, cpu: { model: "Z80", cores: 1 }, os: "cpm z80" },
        }));
        const other = await runCommand("qualify", ["--profile", elsewhere, ...LENIENT]);
        assertEquals(other.code, 1, other.stdout);
        assertStringIncludes(other.stdout, "not comparable: wave");
        assertStringIncludes(other.stdout, "With --numerics only the results count, not the rates.");
        const numerics = await runCommand("qualify", [
          "--profile",
          elsewhere,
          "--quick",
          "--quiet",
          "--numerics",
        ]);
        assertEquals(numerics.code, 0, numerics.stdout);
        assertMatch(numerics.stdout, /^Qualified: 1 right, in /m);
      }),
  });
}

Deno.test("qualify refuses what is wrong before any work", () =>
  inDirectory(async (directory) => {
    const heat = await Deno.readTextFile("fixtures/h100/heat.json");
    const files = {
      sample: formatProfile(PROFILE), // its configuration lacks parameters
      version: JSON.stringify({ ...PROFILE, schemaVersion: 2 }),
      broken: JSON.stringify(PROFILE).slice(0, 300),
      empty: formatProfile({ ...PROFILE, entries: [] }),
      other: "[]",
      delta: heat.replaceAll('"delta": 1', '"delta": 7'),
      cyclic: heat.replaceAll('"boundary": "zero"', '"boundary": "cyclic"'),
    };
    const path = (name: string): string => `${directory}/${name}.json`;
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(path(name), text);
    const given = (name: string): string[] => ["--profile", path(name)];
    const fixture = ["--profile", "fixtures/h100/wave.json"];
    await assertRefused("qualify", [
      [given("nosuch"), /there is no such file$/],
      [given("version"), /it is a profile of version 2: this Facet reads version 1$/],
      [given("broken"), /it is not JSON: line \d+, column \d+: wanted .*, found the end$/],
      [given("other"), /Cannot read .*other\.json/],
      [given("delta"), /entries\[0\]\.problem\.delta: wanted one of 1, 2, 3, 4, found 7/],
      [given("cyclic"), /entries\[0\]\.problem\.boundary: wanted one of zero, .* found "cyclic"/],
      [given("empty"), /wanted a profile with entries: found none$/],
      [
        given("sample"),
        /^facet: Cannot qualify entry 1 \(wave, order 2, .*; diamond-torre .*\): no device can run it: /,
      ],
      [
        [...fixture, "--junit", "/nowhere/x/y"],
        /Cannot write \/nowhere\/x\/y: there is no folder \/nowhere\/x$/,
      ],
      [[...fixture, "--markdown", directory], /it is a folder$/],
      [[...fixture, "--gpu", "no such"], /Cannot take GPU "no such"/],
    ]);
  }));

Deno.test("Ctrl-C ends a qualification early, keeps what is known, exit 130", () =>
  tuned("cpu", async (path, directory) => {
    // so slow that it is measured again and again
    const faster = await changed(path, "faster", (profile) => scaled(profile, 1000));
    const junit = `${directory}/j.xml`;
    const child = taskCommand("qualify", ["--profile", faster, "--junit", junit]).spawn();
    const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
    let seen = "";
    while (!seen.includes("again")) {
      const { value, done } = await reader.read();
      assert(!done, seen);
      seen += value;
    }
    assertMatch(
      seen,
      /^wave, order 2, 24x20x16 on CPU: 0\/1\n(.*\n)*slower, again: wave, order 2, 24x20x16 on CPU/,
    );
    child.kill("SIGINT");
    reader.releaseLock();
    const [{ code }, stdout] = await Promise.all([child.status, new Response(child.stdout).text()]);
    assertEquals(code, 130);
    assertStringIncludes(stdout, "Interrupted: 1 slower");
    assertStringIncludes(await Deno.readTextFile(junit), 'failures="1"');
  }));

Deno.test("the workflow calls tasks and options that there are", async () => {
  const text = (await Deno.readTextFile(".github/workflows/qualify.yml")).replace(/\n\s+(?=--)/g, " ");
  const calls = [...text.matchAll(/deno@\S+ task (\w+) (.*)/g)];
  assertEquals(calls.map(([, task]) => task), ["tune", "tune", "qualify", "qualify"]);
  for (const [, task = "", rest = ""] of calls) {
    const { stdout } = await runCommand(task, ["--help"]);
    const options = [...rest.matchAll(/--[a-z-]+/g)].map(([option]) => option);
    assert(options.length >= 2);
    for (const option of options) assertMatch(stdout, new RegExp(`^ +${option}( |$)`, "m"));
  }
});

Deno.test("a profile that is refused makes JUnit and Markdown red, with the reason", () =>
  inDirectory(async (directory) => {
    const [junit, markdown] = [`${directory}/q.xml`, `${directory}/q.md`];
    await Deno.writeTextFile(`${directory}/p.json`, "{}");
    const files = ["--profile", `${directory}/p.json`, "--junit", junit, "--markdown", markdown];
    const { code, stderr } = await runCommand("qualify", files);
    assertEquals(code, 2);
    const xml = await Deno.readTextFile(junit), [, reason = ""] = /^facet: (.*)\n$/.exec(stderr)!;
    assertMatch(xml, /<testsuite name="facet qualify" tests="1" failures="0" errors="1" /);
    assertStringIncludes(xml, `message="${escapeXml(reason)}"`);
    assertMatch(await Deno.readTextFile(markdown), /^## ❌ Cannot read .*\n$/);
  }));
