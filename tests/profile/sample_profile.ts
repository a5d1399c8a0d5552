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
  share: {
    cpuSlices: 4,
    gpuSlices: 96,
    exchangeEvery: 4,
    cpuWorkers: 8,
    cpu: { traversal: "diamond-wavefront", parameters: { tiles: 8, levels: 5, block: 2 } },
  },
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
  costModel: {
    coefficients: {
      cpu: { updateNs: 0.2, stepNs: 2000, missNs: 0.1, cachedCells: 1e6 },
      gpu: { updateNs: 0.0013, stepNs: 1500, passNs: 0, byteNs: 0.04 },
      unpack: { a: 0.2, b: 20e3 },
      pack: { a: 0.3, b: 30e3 },
      schedule: { submitNs: 3e5, timerNs: 1.1e6, waitNs: 11e6, contention: 0, starvation: 0 },
    },
    residuals: { cpu: [0.01, -0.02], gpu: [0], unpack: [0.1], pack: [-0.1], together: [0.02] },
    curve: [
      { exchangeEvery: 4, cpuSlices: 4, predictedNs: 3e6, measuredNs: 2.9e6 },
      { exchangeEvery: 5, cpuSlices: 5, predictedNs: 2.7e6, measuredNs: null },
    ],
  },
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
