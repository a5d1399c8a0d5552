import { assertEquals, assertStringIncludes } from "@std/assert";
import { acoustic } from "../../kernels/stencils/acoustic.ts";
import { heat } from "../../kernels/stencils/heat.ts";
import { chooseConfiguration as chooseWithAll } from "../../tuner/profile/choose.ts";
import { type Conflict, devicesOf, mergeProfiles } from "../../tuner/profile/merge.ts";
import { formatProfile } from "../../tuner/profile/format_profile.ts";
import { describeProblem } from "../../tuner/profile/profile_problem.ts";
import { readProfile } from "../../tuner/profile/read_profile.ts";
import { parseProfile, type Profile, type ProfileProblem } from "../../tuner/profile/schema.ts";
import { inDirectory, runCommand } from "../cli/run_task.ts";
import { DEVICE, ENTRY, PROBLEM, PROFILE } from "./sample_profile.ts";

const OTHER: Profile = { ...PROFILE, device: { ...DEVICE, cpu: { model: "Other CPU", cores: 4 } } };
const LATER = { createdAt: "2026-11-22T10:00:00.5Z" };
const FUTURE = { createdAt: "2999-01-01T00:00:00Z" };

/** What a choice learns from the profile alone. */
const chooseConfiguration: typeof chooseWithAll = (profiles, problem, device, options) =>
  chooseWithAll(profiles, problem, device, { shipped: noneShipped, ...options });
const noneShipped = () => false;

Deno.test("profiles of several devices become one that reads back, each device once", () => {
  const merged = mergeProfiles(mergeProfiles(PROFILE, OTHER), { ...OTHER, ...LATER });
  assertEquals(parseProfile(JSON.stringify(merged), "p"), merged);
  assertEquals(devicesOf(merged).map(({ device }) => device.cpu.model), [DEVICE.cpu.model, "Other CPU"]);
  assertEquals(merged.others!.map(({ createdAt, entries }) => [createdAt, entries.length]), [[
    LATER.createdAt,
    1,
  ]]);
  assertEquals(mergeProfiles(PROFILE, PROFILE).others, undefined);
});

Deno.test("an entry of a former formula is reported, not chosen, and gives way to one of today's", () => {
  const grid = [100, 90, 80] as const,
    asked = { stencil: acoustic(), grid, boundary: "zero", steps: 96 } as const;
  const today = describeProblem(asked), { hash: _, ...former } = today;
  const share = { cpuSlices: 0, gpuSlices: 100, exchangeEvery: 96, cpuWorkers: 0 };
  const configuration = {
    traversal: "stepwise",
    parameters: { threadsZ: 64, threadsY: 4, threadsX: 1 },
    share,
  };
  const holding = (...problems: ProfileProblem[]): Profile => ({
    ...PROFILE,
    entries: problems.map((problem) => ({ ...ENTRY, problem, configuration, tieSet: [], balance: [] })),
  });
  const remarksOn = (profile: Profile): string[] => {
    const remarks: string[] = [];
    parseProfile(formatProfile(profile), "p.json", { onRemark: (text) => remarks.push(text) });
    return remarks;
  };
  const old = holding(former, { ...former, steps: 7 }, PROBLEM),
    said = "p.json has 2 entries of another formula of acoustic, not taken as measured: tune again";
  assertEquals(remarksOn(old), [said]);
  assertEquals(remarksOn(mergeProfiles(holding(PROBLEM), { ...old, device: OTHER.device })), [said]);
  assertEquals(remarksOn(holding(today, PROBLEM)), []);
  const merged = mergeProfiles(old, { ...holding(today), ...LATER });
  assertEquals(merged.entries.map(({ problem }) => problem), [{ ...former, steps: 7 }, PROBLEM, today]);
  const { vendor, architecture, device, description, limits } = DEVICE.gpu!;
  const target = { limits, adapterInfo: { vendor, architecture, device, description } };
  const matchOf = (profile: Profile) => chooseConfiguration(profile, asked, target, { cpuWorkers: 0 }).match;
  assertEquals([holding(former), merged].map(matchOf), ["default", "exact"]);
});

Deno.test("of one problem the newer entry counts, with what both measured; where they disagree, it is said", () => {
  const point = (dts: number, cellsPerSecond: number) => ({
    traversal: "diamond-torre",
    parameters: { dts },
    cellsPerSecond,
  });
  const result = { ...ENTRY.result, cellsPerSecond: 1e9, confidence95: [0.9e9, 1.1e9] as const };
  const older = { ...PROFILE, entries: [{ ...ENTRY, calibration: [point(3, 7e9)] }] };
  const newer = {
    ...PROFILE,
    ...LATER,
    entries: [{ ...ENTRY, result, calibration: [point(3, 5e9), point(4, 6e9)] }],
  };
  for (const [first, second] of [[older, newer], [newer, older]] as const) {
    const conflicts: Conflict[] = [];
    const { entries, createdAt } = mergeProfiles(first, second, (conflict) => conflicts.push(conflict));
    assertEquals([createdAt, entries.length, entries[0]!.result], [LATER.createdAt, 1, result]);
    assertEquals(entries[0]!.calibration, [point(3, 7e9), point(4, 6e9)]);
    assertEquals(conflicts.map(({ kept }) => kept.result.cellsPerSecond), [1e9]);
  }
  // a clock was wrong when it was written
  const late = { ...older, ...FUTURE };
  for (const [first, second] of [[late, newer], [newer, late]] as const) {
    const { entries, createdAt } = mergeProfiles(first, second);
    assertEquals([createdAt, entries[0]!.result], [LATER.createdAt, result]);
  }
  const other = { ...PROFILE, entries: [{ ...ENTRY, problem: { ...PROBLEM, steps: 7 } }] };
  assertEquals(
    mergeProfiles(PROFILE, other, () => {
      throw new Error("other problems do not disagree");
    }).entries.length,
    2,
  );
});

Deno.test("merge writes one profile of several files and their journals, and leaves what is there alone", () =>
  inDirectory(async (folder) => {
    const out = `${folder}/all.json`;
    const files = ["fixtures/h100/wave.json", "fixtures/h100/heat.json"];
    const { code, stdout, stderr } = await runCommand("merge", [...files, "--out", out]);
    assertEquals([code, stderr], [0, ""]);
    assertEquals(stdout.includes("NVIDIA H100 80GB HBM3: 8 problems"), true, stdout);
    assertEquals((await readProfile(out)).entries.length, 8);
    const lines = async (path: string) => (await Deno.readTextFile(path)).split("\n").filter(Boolean).length;
    const journals = await Promise.all([...files, out].map((path) => lines(`${path}.journal.jsonl`)));
    assertEquals(journals[2], journals[0]! + journals[1]!);
    const again = await runCommand("merge", [...files, "--out", out]);
    assertEquals([again.code, again.stderr], [
      2,
      `facet: Cannot write ${out}: it exists: name another file\n`,
    ]);
    // what an earlier version wrote, at a time that is still to come
    const { createdAt: _, ...wave } = JSON.parse(await Deno.readTextFile(files[0]!));
    await Deno.writeTextFile(`${folder}/c.json`, JSON.stringify({ ...wave, ...FUTURE, checksum: undefined }));
    const told = await runCommand("merge", [`${folder}/c.json`, files[1]!, "--out", `${folder}/d.json`]);
    const [bare, late, ...more] = told.stderr.split("\n");
    assertEquals([told.code, more], [0, [""]]);
    assertStringIncludes(bare!, `facet: ${folder}/c.json has no checksum, so damage would not be noticed`);
    assertStringIncludes(
      late!,
      `facet: ${folder}/c.json is dated ${FUTURE.createdAt}, in the future: a clock`,
    );
    const one = await runCommand("merge", [files[0]!, files[0]!, "--out", `${folder}/b.json`]);
    assertEquals([one.code, one.stderr], [
      2,
      `facet: Cannot merge: wanted at least two different profiles: found ${files[0]}\n`,
    ]);
  }));

Deno.test("a GPU that is in no profile is predicted from those that are, and the choice says so", async () => {
  const profile = await readProfile("fixtures/h100/heat.json");
  const problem = { stencil: heat(1), grid: [128, 2640, 128], boundary: "zero", steps: 96 } as const;
  const adapterInfo = { vendor: "1002", architecture: "", device: "7", description: "Another GPU" };
  const { limits } = profile.device.gpu!;
  const choose = (copyBytesPerSecond?: number) =>
    chooseConfiguration(profile, problem, { limits, adapterInfo }, {
      ...(copyBytesPerSecond && { copyBytesPerSecond }),
      cpuWorkers: 0,
    });
  const fast = choose(2e12), slow = choose(1e12);
  assertEquals([fast.match, fast.entry], ["default", undefined]);
  assertEquals(fast.message.includes("on another device, NVIDIA H100 80GB HBM3"), true, fast.message);
  const ratio = fast.cellsPerSecond! / slow.cellsPerSecond!;
  assertEquals(ratio > 1.7 && ratio < 2.3, true, `${ratio}`);
  // what is not known of it is that of the other device, and both are said
  assertEquals(slow.message.includes("HBM3, scaled to copies at 1,000 GB/s ("), true, slow.message);
  assertEquals(choose().message.includes("HBM3, scaled to copies at 3,01"), true, choose().message);
  // what is found in use is stored under the device that it was chosen for, wherever that is in a merged profile
  const other = { ...profile, device: { ...profile.device, gpu: null } };
  const { vendor, architecture, device, description } = profile.device.gpu!;
  const known = { limits, adapterInfo: { vendor, architecture, device, description } };
  const chosen = chooseConfiguration(mergeProfiles(other, profile), problem, known, { cpuWorkers: 0 });
  assertEquals([chosen.match, chosen.device], ["same-device", profile.device]);
  // software is no GPU
  const software = { ...adapterInfo, isFallbackAdapter: true };
  assertEquals(
    chooseConfiguration(profile, problem, { limits, adapterInfo: software }, { cpuWorkers: 0 })
      .cellsPerSecond,
    undefined,
  );
});
