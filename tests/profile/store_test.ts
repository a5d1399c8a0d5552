import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { defaultProfilePath, profileName } from "../../tuner/profile/own_profile.ts";
import { ProfileError } from "../../tuner/profile/profile_error.ts";
import type { Profile } from "../../tuner/profile/schema.ts";
import {
  checkWritable,
  isSameDevice,
  mergeProfiles,
  readProfile,
  writeProfile,
} from "../../tuner/profile/store.ts";
import { DEVICE, ENTRY, PROBLEM, PROFILE } from "./sample_profile.ts";

async function withDirectory(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function namesIn(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
}

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const error = await assertRejects(() => promise, ProfileError);
  assert(!error.message.includes("\n"), error.message);
  return error.message;
}

const OTHER_DEVICE = { ...DEVICE, cpu: { model: "Other CPU", cores: 4 } };

Deno.test("a profile is read as it was written, and nothing else is left on disk", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/new/deep/p.json`;
    assertEquals(await writeProfile(path, PROFILE), PROFILE);
    assertEquals(await readProfile(path), PROFILE);
    assertEquals(namesIn(`${directory}/new/deep`), ["p.json"]);
  }));

Deno.test("of several writers at once no entry is lost, and what a killed one left behind is removed", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/p.json`;
    const left = `.p.json.${crypto.randomUUID()}.tmp`, other = `.q.json.${crypto.randomUUID()}.tmp`;
    for (const name of [left, other]) await Deno.writeTextFile(`${directory}/${name}`, "{");
    const steps = Array.from({ length: 12 }, (_, i) => i + 1);
    await Promise.all(
      steps.map((count) =>
        writeProfile(path, { ...PROFILE, entries: [{ ...ENTRY, problem: { ...PROBLEM, steps: count } }] })
      ),
    );
    const { entries } = await readProfile(path);
    assertEquals(entries.map(({ problem }) => problem.steps).toSorted((a, b) => a - b), steps);
    assertEquals(namesIn(directory), [other, "p.json"]);
  }));

Deno.test("rules and media are problems of their own", () => {
  const problem = { ...PROBLEM, stencil: "life", order: undefined };
  const entries = ["5/2-7", "4/3"].map((rule) => ({ ...ENTRY, problem: { ...problem, rule } }));
  const [one, other] = entries.map((entry): Profile => ({ ...PROFILE, entries: [entry] }));
  assertEquals(mergeProfiles(one!, other!).entries, entries);
});

Deno.test("an entry for the same problem replaces the old one, others stay", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/p.json`;
    const problems = [
      PROBLEM,
      { ...PROBLEM, order: 4 },
      { ...PROBLEM, steps: 7 },
      { ...PROBLEM, boundary: "periodic" },
    ];
    for (const problem of problems) {
      await writeProfile(path, { ...PROFILE, entries: [{ ...ENTRY, problem }] });
    }
    const better = { ...ENTRY, result: { ...ENTRY.result, roofFraction: 0.9 } };
    const newer: Profile = { ...PROFILE, createdAt: "2026-11-22T00:00:00Z", entries: [better] };
    const merged = await writeProfile(path, newer);
    assertEquals(merged.createdAt, newer.createdAt);
    assertEquals(merged.entries.map(({ problem }) => problem), [...problems.slice(1), PROBLEM]);
    assertEquals(merged.entries.at(-1), better);
    assertEquals(await readProfile(path), merged);
  }));

Deno.test("what was just measured replaces what a wrong clock has dated in the future", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/p.json`, now = new Date().toISOString();
    const result = { ...ENTRY.result, roofFraction: 0.9 };
    await writeProfile(path, { ...PROFILE, createdAt: "2999-01-01T00:00:00Z" });
    const merged = await writeProfile(path, { ...PROFILE, createdAt: now, entries: [{ ...ENTRY, result }] });
    assertEquals([merged.createdAt, merged.entries[0]!.result], [now, result]);
  }));

Deno.test("merging keeps what either profile holds", () => {
  const other = { ...ENTRY, problem: { ...PROBLEM, order: 6 } };
  const merged = mergeProfiles({ ...PROFILE, entries: [other] }, PROFILE);
  assertEquals(merged.entries, [other, ENTRY]);
});

Deno.test("the profile of another device is left alone, and the error says so", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/p.json`;
    await writeProfile(path, { ...PROFILE, device: OTHER_DEVICE });
    const before = await Deno.readTextFile(path);
    const message = await messageOf(writeProfile(path, PROFILE));
    assertStringIncludes(
      message,
      "it is the profile of another device, Test GPU 80GB with Other CPU (4 cores)",
    );
    assertStringIncludes(await messageOf(checkWritable(path, DEVICE)), "another device");
    await checkWritable(path, OTHER_DEVICE);
    assertEquals(await Deno.readTextFile(path), before);
  }));

Deno.test("a damaged profile is left alone", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/p.json`;
    await Deno.writeTextFile(path, '{"schemaVersion": 7}');
    assertStringIncludes(await messageOf(writeProfile(path, PROFILE)), "version 7");
    assertStringIncludes(await messageOf(checkWritable(path)), "version 7");
    assertEquals(await Deno.readTextFile(path), '{"schemaVersion": 7}');
  }));

Deno.test("a profile that breaks its own schema is not written", () =>
  withDirectory(async (directory) => {
    const wrong = { ...PROFILE, entries: [{ ...ENTRY, result: { ...ENTRY.result, cellsPerSecond: NaN } }] };
    const message = await messageOf(writeProfile(`${directory}/p.json`, wrong));
    assertStringIncludes(message, "the new profile: entries[0].result.cellsPerSecond: wanted a number");
    assertEquals(namesIn(directory), []);
  }));

Deno.test("checking leaves the disk as it was", () =>
  withDirectory(async (directory) => {
    await checkWritable(`${directory}/c.json`);
    const message = await messageOf(checkWritable(`${directory}/a/b/c.json`));
    assertStringIncludes(message, `c.json: there is no folder ${directory}/a/b`);
    assertEquals(namesIn(directory), []);
  }));

Deno.test("what can't be written is found before any work", () =>
  withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/file`, "text");
    const cases: [path: string, message: string][] = [
      [directory, "it is a folder"],
      [`${directory}/file/p.json`, "Not a directory"],
      [`${directory}/file/deeper/p.json`, "Not a directory"],
      [`${directory}/`, "wanted the name of a file"],
      ["", "wanted the name of a file"],
      ["a\0b", "wanted the name of a file"],
      ["/dev/null", "it is not a regular file"],
      ["/proc/no/such/p.json", "Cannot write /proc/no/such/p.json: "],
      [`${directory}/${"n".repeat(300)}.json`, "File name too long"],
    ];
    for (const [path, wanted] of cases) {
      assertStringIncludes(await messageOf(checkWritable(path)), wanted);
      assertStringIncludes(await messageOf(writeProfile(path, PROFILE)), wanted);
    }
    assertEquals(namesIn(directory), ["file"]);
  }));

Deno.test("reading what is not there says so", async () => {
  assertEquals(await messageOf(readProfile("/no/p.json")), "Cannot read /no/p.json: there is no such file");
});

Deno.test("a link is followed, not replaced", () =>
  withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/real.json`, JSON.stringify(PROFILE));
    await Deno.symlink(`${directory}/real.json`, `${directory}/link.json`);
    const problem = { ...PROBLEM, order: 8 };
    await writeProfile(`${directory}/link.json`, { ...PROFILE, entries: [{ ...ENTRY, problem }] });
    assertEquals((await readProfile(`${directory}/real.json`)).entries.length, 2);
    assert((await Deno.lstat(`${directory}/link.json`)).isSymlink);
  }));

Deno.test("readers never see half a profile", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/p.json`;
    await writeProfile(path, PROFILE);
    let writing = true;
    const writer = (async () => {
      for (let order = 2; order <= 14; order += 2) {
        await writeProfile(path, { ...PROFILE, entries: [{ ...ENTRY, problem: { ...PROBLEM, order } }] });
      }
      writing = false;
    })();
    while (writing) await readProfile(path);
    await writer;
    assertEquals((await readProfile(path)).entries.length, 7);
  }));

Deno.test("devices are the same by their hardware, not their drivers", () => {
  assert(isSameDevice(DEVICE, { ...DEVICE, gpu: { ...DEVICE.gpu!, features: [] } }));
  assert(!isSameDevice(DEVICE, { ...DEVICE, gpu: null }));
  assert(!isSameDevice(DEVICE, { ...DEVICE, gpu: { ...DEVICE.gpu!, description: "Test GPU 40GB" } }));
  assert(!isSameDevice(DEVICE, OTHER_DEVICE));
});

Deno.test("a profile's name is safe in every file system", () => {
  const named = (description: string) => profileName({ ...DEVICE, gpu: { ...DEVICE.gpu!, description } });
  assertEquals(named("NVIDIA H100 80GB HBM3"), "nvidia-h100-80gb-hbm3");
  assertEquals(named("llvmpipe (LLVM 15.0.6, 256 bits)"), "llvmpipe-llvm-15-0-6-256-bits");
  assertEquals(named("../../etc/passwd"), "etc-passwd");
  assertEquals(named("con"), "con-device");
  assertEquals(named("Grafikkarte Größe 9"), "grafikkarte-gro-e-9");
  assertEquals(named("显卡"), "device");
  assertEquals(named(""), "4318-9520");
  assert(named("x".repeat(500)).length <= 80);
  assertEquals(defaultProfilePath({ gpu: null, cpu: DEVICE.cpu }), "profiles/test-cpu.json");
});
