import { assertEquals, assertMatch } from "@std/assert";
import { noteOf, whyNotComparable } from "../../tuner/qualify/check_entry.ts";
import { DEVICE } from "../profile/sample_profile.ts";
import { SIMULATED_DEVICE as HERE } from "../devices/simulated_session.ts";

const GPU = { cpuSlices: 0, gpuSlices: 8, exchangeEvery: 1, cpuWorkers: 0 };
const CPU = { cpuSlices: 8, gpuSlices: 0, exchangeEvery: 1, cpuWorkers: 8 };
const BOTH = { cpuSlices: 4, gpuSlices: 4, exchangeEvery: 1, cpuWorkers: 8 };

Deno.test("rates can be compared where all that takes part is the same", () => {
  // earlier versions did not ask for the size of SIMD groups
  const sized = { ...HERE, gpu: { ...HERE.gpu!, limits: { ...HERE.gpu!.limits, subgroupSize: 32 } } };
  for (const here of [HERE, sized]) {
    for (const share of [GPU, CPU, BOTH]) assertEquals(whyNotComparable(DEVICE, here, share), undefined);
  }
});

Deno.test("another GPU or driver matters where the GPU takes part, and only there", () => {
  const gpu = HERE.gpu!;
  const others: [change: Partial<typeof gpu>, reason: RegExp][] = [
    [{ description: "Other GPU" }, /^another GPU: was Test GPU 80GB, is Other GPU$/],
    [{ vendor: "4098" }, /^another GPU's vendor: was 4318, is 4098$/],
    [{ architecture: "rdna" }, /^another GPU's architecture: was not reported, is rdna$/],
    [{ device: "1" }, /^another GPU's model number/],
    [{ isFallback: true }, /^another kind of adapter: was hardware, is software$/],
    [
      { limits: { ...gpu.limits, maxBufferSize: 5 } },
      /^another driver, by its maxBufferSize: was 18446744073709552000, is 5$/,
    ],
    [{ features: [] }, /^another driver, by its features: was timestamp-query, is not reported$/],
    [
      { features: ["shader-f16", "timestamp-query"] },
      /^another driver, by its features: .* is shader-f16, timestamp-query$/,
    ],
  ];
  for (const [change, reason] of others) {
    const here = { ...HERE, gpu: { ...gpu, ...change } };
    assertMatch(whyNotComparable(DEVICE, here, GPU)!, reason);
    assertMatch(whyNotComparable(DEVICE, here, BOTH)!, reason);
    assertEquals(whyNotComparable(DEVICE, here, CPU), undefined);
  }
  assertMatch(whyNotComparable(DEVICE, { ...HERE, gpu: null }, GPU)!, /no WebGPU adapter/);
  assertMatch(whyNotComparable({ ...DEVICE, gpu: null }, HERE, GPU)!, /profile's device has no GPU/);
});

Deno.test("what another Deno shows of the same driver is no other driver, but noted", () => {
  const here = { ...HERE, deno: "3.0.0", gpu: { ...HERE.gpu!, features: ["new", "timestamp-query"] } };
  assertEquals(whyNotComparable(DEVICE, here, GPU), undefined);
  assertEquals(noteOf(DEVICE, here), "recorded with Deno 2.9.6, this is 3.0.0");
  assertEquals(noteOf(DEVICE, HERE), undefined);
});

Deno.test("another CPU matters where it computes: as workers, or as a software adapter", () => {
  const other = { ...HERE, cpu: { model: "Other CPU", cores: 8 } };
  const fewer = { ...HERE, cpu: { ...HERE.cpu, cores: 1 } };
  assertEquals(whyNotComparable(DEVICE, other, GPU), undefined);
  for (const share of [CPU, BOTH]) {
    assertEquals(whyNotComparable(DEVICE, other, share), "another CPU: was Test CPU, is Other CPU");
    assertEquals(whyNotComparable(DEVICE, fewer, share), "another number of cores: was 8, is 1");
    const why = whyNotComparable(DEVICE, HERE, { ...share, cpuWorkers: 1024 });
    assertEquals(why, "1024 CPU workers, but a worker a core makes 8");
  }
  const software = { ...HERE.gpu!, isFallback: true };
  assertEquals(
    whyNotComparable({ ...DEVICE, gpu: software }, { ...other, gpu: software }, GPU),
    "another CPU: was Test CPU, is Other CPU",
  );
});

Deno.test("another system has other drivers", () => {
  const reason = "another system: was linux x86_64, is windows x86_64";
  assertEquals(whyNotComparable(DEVICE, { ...HERE, os: "windows x86_64" }, GPU), reason);
});
