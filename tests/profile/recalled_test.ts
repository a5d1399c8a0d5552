import { wave } from "../../kernels/stencils/wave.ts";
import { describeProblem, problemOf } from "../../tuner/profile/profile_problem.ts";
import { assert, assertEquals } from "@std/assert";
import { configurationKey, type Failure, type Measurement } from "../../tuner/configuration.ts";
import type { JournalHeader, JournalRecord } from "../../tuner/profile/journal_format.ts";
import { recallEvaluations } from "../../tuner/profile/recalled.ts";
import { configurationNamed, measurementNamed } from "../measuring/fake_runner.ts";
import { DEVICE, PROBLEM } from "./sample_profile.ts";

const AT = "2026-11-21T10:00:00.000Z";

const HEADER: JournalHeader = {
  tool: { name: "facet", version: "0.1.0" },
  device: DEVICE,
  problem: PROBLEM,
  kernelSource: "cpu=1 marching=2 stepwise=3",
  driver: "libvulkan.so 1",
};

const run = (name: string, change: Partial<JournalHeader> = {}): JournalRecord => ({
  kind: "run",
  version: 1,
  run: name,
  startedAt: AT,
  ...HEADER,
  ...change,
});

const measured = (name: string, measurement: Measurement): JournalRecord => ({
  kind: "measurement",
  run: name,
  at: AT,
  measurement,
});

const failed = (name: string, traversal: string, reason: Failure["reason"]): JournalRecord => ({
  kind: "failure",
  run: name,
  at: AT,
  configuration: configurationNamed(traversal),
  failure: { reason, message: "so it is" },
});

/** What is recalled: rates, or reasons. */
function recalled(records: readonly JournalRecord[], header: JournalHeader = HEADER) {
  const found = [...recallEvaluations(records, header).values()];
  return found.map((one) => "failure" in one ? one.failure.reason : one.measurement.cellsPerSecond);
}

Deno.test("what was measured under the same conditions is recalled, by its configuration", () => {
  const records = [run("a"), measured("a", measurementNamed("stepwise", 5)), run("b")];
  const found = recallEvaluations(records, HEADER);
  assertEquals([...found.keys()], [configurationKey(configurationNamed("stepwise"))]);
  assertEquals(recalled(records), [5]);
  const later = { ...HEADER, device: { ...DEVICE, measured: { copyBytesPerSecond: 1 } } };
  assertEquals(recalled(records, { ...later, tool: { name: "facet", version: "9" } }), [5]);
});

Deno.test("what was measured under anything else is not", () => {
  const gpu = DEVICE.gpu!;
  const others: Partial<JournalHeader>[] = [
    { driver: "libvulkan.so 2" },
    { driver: undefined },
    { device: { ...DEVICE, deno: "2.9.7" } },
    { device: { ...DEVICE, os: "linux aarch64" } },
    { device: { ...DEVICE, cpu: { ...DEVICE.cpu, cores: 4 } } },
    { device: { ...DEVICE, gpu: { ...gpu, description: "Test GPU 40GB" } } },
    { device: { ...DEVICE, gpu: { ...gpu, limits: { ...gpu.limits, maxBufferSize: 1 } } } },
    { problem: { ...PROBLEM, order: 4 } },
    { problem: { ...PROBLEM, steps: 95 } },
    { problem: describeProblem({ ...problemOf(PROBLEM)!, stencil: wave(2, { courant: 0.1 }) }) },
    { kernelSource: "cpu=1 marching=2 stepwise=4" },
    { kernelSource: "cpu=1 marching=2" },
    { kernelSource: "an older hash of everything" },
  ];
  for (const other of others) {
    const records = [run("a", other), measured("a", measurementNamed("stepwise", 5))];
    assertEquals(recalled(records), [], JSON.stringify(other));
  }
  const orphan = [measured("a", measurementNamed("stepwise", 5)), run("a")];
  assertEquals(recalled(orphan), []);
});

Deno.test("a changed traversal leaves what is known of the others, and the CPU has a kernel of its own", () => {
  const cpu = configurationNamed("stepwise");
  const share = { cpuSlices: 50, gpuSlices: 50, exchangeEvery: 1, cpuWorkers: 2 };
  const records = [
    run("a"),
    measured("a", measurementNamed("stepwise", 5)),
    measured("a", measurementNamed("marching", 6)),
    measured("a", {
      ...measurementNamed("marching", 7),
      configuration: { ...cpu, traversal: "marching", share },
    }),
  ];
  assertEquals(recalled(records, { ...HEADER, kernelSource: "cpu=1 marching=2 stepwise=4" }), [6, 7]);
  assertEquals(recalled(records, { ...HEADER, kernelSource: "cpu=9 marching=2 stepwise=4" }), [6]);
});

Deno.test("of several evaluations the one with most samples counts, of equals the last; failures are kept", () => {
  const many = { ...measurementNamed("stepwise", 6), samples: [6, 6, 6] };
  const one = (rate: number) => measured("a", measurementNamed("stepwise", rate));
  assertEquals(recalled([run("a"), one(5), measured("a", many), one(7)]), [6]);
  assertEquals(recalled([run("a"), one(5), run("b"), measured("b", measurementNamed("stepwise", 8))]), [8]);
  for (const reason of ["compile", "limits", "incorrect", "timeout", "device-lost"] as const) {
    assertEquals(recalled([run("a"), failed("a", "stepwise", reason)]), [reason]);
    assertEquals(recalled([run("a"), one(5), failed("a", "stepwise", reason)]), [reason]);
    assertEquals(recalled([run("a"), failed("a", "stepwise", reason), one(5)]), [5]);
  }
  assertEquals(recalled([run("a"), failed("a", "stepwise", "out-of-memory")]), []);
  assertEquals(recalled([run("a"), one(5), failed("a", "stepwise", "out-of-memory")]), [5]);
  assert(recalled([]).length === 0);
});
