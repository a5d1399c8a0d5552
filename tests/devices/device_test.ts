import { assertEquals, assertGreaterOrEqual, assertNotEquals, assertRejects } from "@std/assert";
import { PRECISIONS } from "../../kernels/precision.ts";
import {
  type AdapterFacts,
  detectDevice,
  deviceLimitsOf,
  gpuDescriptionOf,
  requestFullDevice,
  whyNoPrecision,
} from "../../tuner/devices/device.ts";

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

/** An adapter that grants these features, and what compiling on its devices fails with. */
function fakeAdapter(grants: readonly string[], fault: string | null): GPUAdapter & { asked: string[] } {
  const asked: string[] = [];
  const device = {
    pushErrorScope() {},
    popErrorScope: () => Promise.resolve(fault && { message: fault }),
    createShaderModule: () => ({}),
    createComputePipeline: () => ({}),
    destroy() {},
  };
  return {
    ...ADAPTER,
    asked,
    requestDevice({ requiredFeatures }: { requiredFeatures: string[] }) {
      asked.push(...requiredFeatures);
      const isGranted = requiredFeatures.every((name) => grants.includes(name));
      return isGranted ? Promise.resolve(device) : Promise.reject(new TypeError("unsupported feature"));
    },
  } as unknown as GPUAdapter & { asked: string[] };
}

Deno.test("features of a precision are asked for where it is wanted, and count where a shader of it compiles", async () => {
  const { features } = PRECISIONS.f64, clock = "timestamp-query", of = { precision: "f64" } as const;
  const able = fakeAdapter([clock, ...features], null),
    feigning = fakeAdapter([clock, ...features], "FLOAT64");
  assertNotEquals(await requestFullDevice(able), null);
  assertEquals(able.asked.splice(0), [clock]);
  assertNotEquals(await requestFullDevice(able, of), null);
  assertEquals(able.asked, [clock, ...features]);
  assertEquals(await requestFullDevice(feigning, of), null);
  assertEquals(await requestFullDevice(fakeAdapter([clock, features[0]!], null), of), null);
  await assertRejects(() => requestFullDevice(fakeAdapter([], null)), TypeError);
});

Deno.test("shuffles are asked for where all SIMD groups have one size, and it does without where they are refused", async () => {
  const clock = "timestamp-query", info = { ...ADAPTER.info, subgroupMinSize: 32, subgroupMaxSize: 32 };
  const sizeOf = (changes: Partial<AdapterFacts>) =>
    gpuDescriptionOf({ ...ADAPTER, info, ...changes }).limits.subgroupSize;
  assertEquals(sizeOf({}), 32);
  assertEquals(sizeOf({ info: { ...info, subgroupMinSize: 8 } }), undefined);
  // where a browser lists them, shaders have to enable them first
  assertEquals(sizeOf({ features: [clock, "subgroups"] }), undefined);
  for (const grants of [[clock, "subgroups"], [clock]]) {
    const adapter = { ...fakeAdapter(grants, null), info } as ReturnType<typeof fakeAdapter>;
    assertNotEquals(await requestFullDevice(adapter), null);
    assertEquals(adapter.asked, grants.length === 2 ? grants : [clock, "subgroups", clock]);
  }
  const granted = { limits: LIMITS, adapterInfo: info, features: new Set(["subgroups"]) };
  assertEquals(deviceLimitsOf(granted), { ...LIMITS, subgroupSize: 32 });
  assertEquals(deviceLimitsOf({ ...granted, features: new Set() }), LIMITS);
  assertEquals(deviceLimitsOf({ limits: { ...LIMITS, subgroupSize: 32 } }), { ...LIMITS, subgroupSize: 32 });
});

Deno.test("what a precision lacks is said, and which features were wanted", () => {
  const { features } = PRECISIONS.f64, f64 = { precision: "f64" } as const;
  assertEquals(whyNoPrecision({ features: [] }, {}), undefined);
  assertEquals(whyNoPrecision({ features }, f64), undefined);
  const needs = "f64 needs wgpu-shader-f64 and wgpu-shader-int64: found";
  assertEquals(whyNoPrecision({ features: [] }, f64), `${needs} neither`);
  assertEquals(whyNoPrecision({ features: features.slice(0, 1) }, f64), `${needs} no wgpu-shader-int64`);
});
