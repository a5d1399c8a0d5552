import { assertEquals } from "@std/assert";
import { configurationKey, type Measurement } from "../../tuner/configuration.ts";
import { entryRecords } from "../../tuner/profile/entry_records.ts";
import type { JournalRecord, RunRecord } from "../../tuner/profile/journal_format.ts";
import { DEVICE, ENTRY, PROBLEM, PROFILE } from "./sample_profile.ts";

const AT = "2026-11-21T10:00:00.000Z";

function run(name: string, changes: Partial<RunRecord> = {}): RunRecord {
  const { tool } = PROFILE;
  return {
    kind: "run",
    version: 1,
    run: name,
    startedAt: AT,
    tool,
    device: DEVICE,
    problem: PROBLEM,
    kernelSource: "new",
    ...changes,
  };
}

function measured(name: string, dts: number, samples: readonly number[]): JournalRecord {
  const measurement: Measurement = {
    configuration: { ...ENTRY.configuration, parameters: { dts, nt: 96 } },
    cellsPerSecond: samples[0]!,
    confidence95: [0, 1e12],
    samples,
    spread: 0,
    verification: ENTRY.verification,
    compileNs: 7,
  };
  return { kind: "measurement", run: name, at: AT, measurement };
}

function failed(name: string, dts: number): JournalRecord {
  const configuration = { ...ENTRY.configuration, parameters: { dts, nt: 96 } };
  return { kind: "failure", run: name, at: AT, configuration, failure: { reason: "timeout", message: "" } };
}

Deno.test("of several evaluations the one with most samples counts, of equals the last; a rate beats a failure", () => {
  const { measured: found, failed: failures, repeated } = entryRecords(PROFILE, ENTRY, [
    run("a"),
    measured("a", 1, [10, 11, 12]),
    measured("a", 1, [20, 21]),
    measured("a", 2, [30]),
    failed("a", 2),
    measured("a", 2, [31]),
    failed("a", 3),
    failed("a", 3),
  ]);
  assertEquals(found.map(({ measurement }) => measurement.samples[0]), [10, 31, ENTRY.result.samples[0]]);
  assertEquals(failures.map(({ configuration }) => configuration.parameters.dts), [3]);
  assertEquals(repeated, 4);
});

Deno.test("the entry's own configuration has the entry's own result", () => {
  const { measured: found, repeated } = entryRecords(PROFILE, ENTRY, [
    run("a"),
    measured("a", 5, [1, 2, 3, 4, 5]),
  ]);
  assertEquals(found.map(({ measurement }) => [measurement.samples, measurement.compileNs]), [[
    ENTRY.result.samples,
    7,
  ]]);
  assertEquals(repeated, 0);
});

Deno.test("other problems, devices and kernels of old are left out", () => {
  const cpu = { model: "Other CPU", cores: 2 };
  const { measured: found, outdated, kernelSource } = entryRecords(PROFILE, ENTRY, [
    run("problem", { problem: { ...PROBLEM, steps: 1 } }),
    run("device", { device: { ...DEVICE, cpu } }),
    run("old", { kernelSource: "old" }),
    run("new"),
    ...["problem", "device", "old", "new"].map((name, i) => measured(name, 10 + i, [1])),
  ]);
  assertEquals(found.map(({ measurement }) => measurement.configuration.parameters.dts), [13, 5]);
  assertEquals([outdated, kernelSource], [1, "new"]);
  assertEquals(entryRecords(PROFILE, ENTRY, []).kernelSource, null);
});

Deno.test("configurations differ by values, not by the order of names", () => {
  const { share } = ENTRY.configuration;
  const key = (parameters: Record<string, number>): string =>
    configurationKey({ traversal: "t", parameters, share });
  assertEquals(key({ a: 1, b: 2 }) === key({ b: 2, a: 1 }), true);
  assertEquals(key({ a: 1, b: 2 }) === key({ a: 2, b: 1 }), false);
  assertEquals(
    configurationKey({ traversal: "t", parameters: {}, share: { ...share, exchangeEvery: 9 } }) === key({}),
    false,
  );
  // of the CPU's slices too
  const { cpu, ...stepwise } = share;
  const keys = [cpu, { ...cpu!, traversal: "stepwise" }, { ...cpu!, parameters: { tiles: 8 } }, undefined]
    .map((one) => configurationKey({ traversal: "t", parameters: {}, share: { ...stepwise, cpu: one } }));
  assertEquals(new Set(keys).size, 4);
  assertEquals(configurationKey({ traversal: "t", parameters: {}, share: stepwise }), keys[3]);
});
