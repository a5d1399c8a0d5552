import { assert, assertEquals } from "@std/assert";
import type { Problem } from "../../../kernels/stencils/stencil.ts";
import { wave } from "../../../kernels/stencils/wave.ts";
import { ClockGauge } from "../../../tuner/devices/gpu/clock_gauge.ts";
import { GpuField } from "../../../tuner/devices/gpu/gpu_field.ts";
import { GpuDevice } from "../../../tuner/devices/gpu/gpu_device.ts";
import { makeReference } from "../../../tuner/devices/make_reference.ts";
import { prepare } from "../../../tuner/devices/runners.ts";
import { testOnGpu } from "../../test_on_gpu.ts";

testOnGpu("a gauge says the clock as a part of the fastest; software has none", async (gpu) => {
  if (gpu.isSoftware) assertEquals(await ClockGauge.of(gpu), undefined);
  using other = (await GpuDevice.open({ timeoutMs: gpu.timeoutMs }))!;
  if (!other.hasTimestamps) return;
  Object.defineProperty(other, "isSoftware", { value: false });
  const gauge = (await ClockGauge.of(other, 1e12))!;
  assertEquals(await (await gauge.begin()).finish(), 1); // faster than what was known
  const fastestNs = gauge.chainNs;
  assert(fastestNs > 0 && fastestNs < 1e12, `${fastestNs}`);
  const clock = await (await gauge.begin(3)).finish();
  assert(clock > 0 && clock <= 1 && gauge.chainNs <= fastestNs, `${clock}`);

  const problem: Problem = { stencil: wave(2), grid: [6, 7, 8], boundary: "zero", steps: 5 };
  const share = { cpuSlices: 0, gpuSlices: 6, exchangeEvery: 5, cpuWorkers: 0 };
  const configuration = {
    traversal: "stepwise",
    parameters: { threadsZ: 8, threadsY: 2, threadsX: 1 },
    share,
  };
  const reference = await makeReference({ gpu: other, problem, isChecked: true });
  const devices = { gpu: other, cpuPool: undefined, gpuMemory: undefined, reference };
  assertEquals((await prepare(devices, problem, configuration)).begin, undefined);
  const runner = await prepare({ ...devices, gauge }, problem, configuration);
  await runner.initialise();
  const begun: unknown[][] = [], { begin } = GpuField.prototype;
  GpuField.prototype.begin = function (steps, repetitions = 1) {
    begun.push([steps, repetitions]);
    return begin.call(this, steps, repetitions);
  };
  const [one, two] = [await runner.begin!(1), await runner.begin!(2)]; // both are under way
  GpuField.prototype.begin = begin;
  assertEquals(begun, [[5, 1], [10, 1]]); // as a long simulation, which begins once
  for (const { timeNs, clock } of [await one.finish(), await two.finish()]) {
    assert(timeNs > 0 && clock > 0 && clock <= 1, `${timeNs} ns, ${clock}`);
  }
  await runner.initialise();
  await (await runner.begin!(1)).finish();
  const { maxError, bound } = await runner.verify();
  assert(maxError <= bound);
  runner.dispose();
  reference.dispose();
});
