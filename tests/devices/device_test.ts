import { assertEquals, assertGreaterOrEqual, assertNotEquals } from "@std/assert";
import { type AdapterFacts, detectDevice, gpuDescriptionOf } from "../../tuner/devices/device.ts";

const LIMITS = {
  maxStorageBufferBindingSize: 1,
  maxBufferSize: 2,
  maxStorageBuffersPerShaderStage: 9,
  maxComputeWorkgroupStorageSize: 3,
  maxComputeInvocationsPerWorkgroup: 4,
  maxComputeWorkgroupSizeX: 5,
  maxComputeWorkgroupSizeY: 6,
  maxComputeWorkgroupSizeZ: 7,
  maxComputeWorkgroupsPerDimension: 8,
};

const ADAPTER: AdapterFacts = {
  info: { vendor: "4318", architecture: "", device: "9008", description: "GPU", isFallbackAdapter: false },
  limits: { ...LIMITS, maxBindGroups: 4 } as AdapterFacts["limits"],
  features: new Set(["timestamp-query", "immediates"]),
};

Deno.test("describeGpu keeps the limits that decide what can run, and no others", () => {
  assertEquals(gpuDescriptionOf(ADAPTER), {
    vendor: "4318",
    architecture: "",
    device: "9008",
    description: "GPU",
    isFallback: false,
    limits: LIMITS,
    features: ["immediates", "timestamp-query"],
    timestampQuery: true,
  });
});

Deno.test("describeGpu sees that timestamp queries are missing", () => {
  assertEquals(gpuDescriptionOf({ ...ADAPTER, features: [] }).timestampQuery, false);
});

Deno.test("detectDevice describes this machine in records that survive JSON", async () => {
  const device = await detectDevice();
  assertEquals(JSON.parse(JSON.stringify(device)), device);
  assertGreaterOrEqual(device.cpu.cores, 1);
  assertNotEquals(device.cpu.model, "");
  assertEquals(device.deno, Deno.version.deno);
});
