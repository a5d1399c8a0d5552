import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Runner } from "../../tuner/configuration.ts";
import { detectDevice } from "../../tuner/devices/device.ts";
import type { Profile, ProfileEntry } from "../../tuner/profile/schema.ts";
import { qualify, qualifyOn } from "../../tuner/qualify/qualify.ts";
import { DeviceBench } from "../../tuner/qualify/device_bench.ts";
import { testOnGpu } from "../test_on_gpu.ts";
import { entryOf, profileOf } from "./fake_bench.ts";

const TORRE = { dts: 2, nt: 8, bands: 1, zPerThread: 2, threads: 5, chunk: 8, unroll: 1, lookahead: 99 };

/** An entry that is small enough for a software device, and so slow that any device passes. */
function small(changes: Parameters<typeof entryOf>[0] = {}): ProfileEntry {
  const share = { gpuSlices: 20, ...changes.share };
  return entryOf({
    rate: 1e4,
    ...changes,
    problem: { grid: [20, 12, 10], steps: 8, ...changes.problem },
    share,
  });
}

/** A profile of this machine. */
async function profileHere(entries: readonly ProfileEntry[]): Promise<Profile> {
  return profileOf(entries, { ...await detectDevice(), measured: { copyBytesPerSecond: 1e9 } });
}

/** The devices, with a say in what is prepared on them. */
class MeddledBench extends DeviceBench {
  meddle: (prepared: number, runner: Runner) => Runner = (_, runner) => runner;
  prepared = 0;

  override async prepare(problem: Problem, configuration: Configuration): Promise<Runner> {
    return this.meddle(this.prepared++, await super.prepare(problem, configuration));
  }
}

async function meddled(meddle: MeddledBench["meddle"]): Promise<MeddledBench> {
  const bench = new MeddledBench({ device: await detectDevice(), needsGpu: true, timeoutMs: 120_000 });
  bench.meddle = meddle;
  return bench;
}

testOnGpu("the GPU alone, the CPU alone and both together are verified and measured", async () => {
  const profile = await profileHere([
    small(),
    small({ traversal: "diamond-torre", parameters: TORRE }),
    small({ share: { cpuSlices: 20, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 2 } }),
    small({ share: { cpuSlices: 12, gpuSlices: 8, exchangeEvery: 2, cpuWorkers: 1 } }),
    small({ problem: { boundary: "periodic" } }),
  ]);
  const { answer, results } = await qualify(profile, { quick: true });
  for (const { verdict, reason } of results) assertEquals([verdict, reason], ["faster", null]);
  assertEquals(answer, "yes");
  const against = results.map(({ verification }) => verification!.against);
  assertEquals(new Set(against), new Set(["gpu stepwise 64x4x1"]));
});

Deno.test("the CPU alone needs no GPU, neither for its reference", async () => {
  const entry = small({ share: { cpuSlices: 20, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 2 } });
  const { gpu: _, ...machine } = await detectDevice();
  using bench = new DeviceBench({ device: { ...machine, gpu: null }, needsGpu: false });
  const profile = profileOf([entry], { ...machine, gpu: null, measured: { copyBytesPerSecond: null } });
  const { answer, results: [{ verification }] } = await qualifyOn(bench, profile, { quick: true });
  assertEquals([answer, verification!.against, verification!.maxError], ["yes", "oracle f32", 0]);
});

/** Runs a test with a compiler that gets the update's first weight wrong in the shaders of that label. */
async function miscompiled(label: RegExp, test: () => Promise<void>): Promise<number> {
  const { createShaderModule } = GPUDevice.prototype;
  let changed = 0;
  GPUDevice.prototype.createShaderModule = function (descriptor) {
    if (!label.test(descriptor.label ?? "")) return createShaderModule.call(this, descriptor);
    const code = descriptor.code.replace(/const W0 = [\d.]+f;/, "const W0 = 0.25f;");
    if (code !== descriptor.code) changed++;
    return createShaderModule.call(this, { ...descriptor, code });
  };
  try {
    await test();
  } finally {
    GPUDevice.prototype.createShaderModule = createShaderModule;
  }
  return changed;
}

testOnGpu("a kernel that the driver gets wrong is wrong, and the others are not", async () => {
  const profile = await profileHere([small(), small({ traversal: "diamond-torre", parameters: TORRE })]);
  const changed = await miscompiled(/^diamond-torre/, async () => {
    using bench = await meddled((_, runner) => runner);
    const { answer, results } = await qualifyOn(bench, profile);
    assertEquals([answer, results.map(({ verdict }) => verdict)], ["no", ["faster", "wrong"]]);
    assertStringIncludes(results[1].reason!, "differs from gpu stepwise 64x4x1 by");
  });
  assert(changed > 0);
});

testOnGpu("a driver that gets the reference wrong as well is found out by the CPU", async () => {
  const profile = await profileHere([small({ traversal: "diamond-torre", parameters: TORRE })]);
  const changed = await miscompiled(/^(diamond-torre|stepwise)/, async () => {
    using bench = await meddled((_, runner) => runner);
    const { answer, results: [{ verdict, reason }] } = await qualifyOn(bench, profile);
    assertEquals([answer, verdict], ["no", "wrong"]);
    assertStringIncludes(reason!, "gpu stepwise 64x4x1, the reference itself, differs from the CPU by");
  });
  assert(changed > 0);
});

testOnGpu("a device that is lost fails its entry, and is opened anew for the next", async () => {
  using bench = await meddled((prepared, runner) => {
    if (prepared === 0) bench.recover(); // destroys the device under the runner
    return runner;
  });
  const { answer, results } = await qualifyOn(bench, await profileHere([small(), small()]), { quick: true });
  assertEquals(results.map(({ verdict }) => verdict), ["failed", "faster"]);
  assertEquals([answer, results[0].failure], ["device failed", "device-lost"]);
  assertStringIncludes(results[0].reason!, "the device");
});
