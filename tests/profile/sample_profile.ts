import type { Profile, ProfileDevice, ProfileEntry, ProfileProblem } from "../../tuner/profile/schema.ts";

/** A made-up device. */
export const DEVICE: ProfileDevice = {
  gpu: {
    vendor: "4318",
    architecture: "",
    device: "9520",
    description: "Test GPU 80GB",
    isFallback: false,
    limits: {
      maxStorageBufferBindingSize: 2147483644,
      maxBufferSize: 2 ** 64,
      maxComputeWorkgroupStorageSize: 49152,
      maxComputeInvocationsPerWorkgroup: 1024,
      maxComputeWorkgroupSizeX: 1024,
      maxComputeWorkgroupSizeY: 1024,
      maxComputeWorkgroupSizeZ: 64,
      maxComputeWorkgroupsPerDimension: 65535,
    },
    features: ["timestamp-query"],
    timestampQuery: true,
  },
  cpu: { model: "Test CPU", cores: 8 },
  os: "linux x86_64",
  deno: "2.9.6",
  measured: { copyBytesPerSecond: 2995e9 },
};

export const PROBLEM: ProfileProblem = {
  stencil: "wave",
  order: 2,
  grid: [100, 90, 80],
  boundary: "zero",
  precision: "f32",
  steps: 96,
};

const CONFIGURATION = {
  traversal: "diamond-torre",
  parameters: { dts: 5, nt: 96 },
  share: { cpuSlices: 4, gpuSlices: 96, exchangeEvery: 4, cpuWorkers: 8 },
} as const;

export const ENTRY: ProfileEntry = {
  problem: PROBLEM,
  configuration: CONFIGURATION,
  result: {
    cellsPerSecond: 770e9,
    confidence95: [760e9, 780e9],
    samples: [770e9, 760e9, 780e9],
    roofFraction: 0.82,
    speedupOverStepwise: 3.4,
  },
  tieSet: [{ configuration: CONFIGURATION, cellsPerSecond: 770e9, confidence95: [760e9, 780e9] }],
  balance: [{ cpuSlices: 10, gpuSlices: 90, cpuTimeNs: 5e6, gpuTimeNs: 2e6 }],
  verification: { maxError: 1e-6, bound: 1e-4, against: "gpu stepwise 64x4x1" },
  search: {
    strategy: "random",
    seed: 1,
    spaceSize: 400,
    evaluated: 96,
    failed: { compile: 1, "device-lost": 2 },
    elapsedMs: 60000,
  },
};

/** A profile of one entry. */
export const PROFILE: Profile = {
  $schema: "profile.schema.json",
  schemaVersion: 1,
  tool: { name: "facet", version: "0.1.0" },
  createdAt: "2026-11-21T10:00:00.000Z",
  device: DEVICE,
  entries: [ENTRY],
};
