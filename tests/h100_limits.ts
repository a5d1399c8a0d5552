import type { DeviceLimits } from "../kernels/traversals/traversal.ts";

/** Limits of an NVIDIA H100 80GB HBM3 (Deno 2.9.6, Vulkan, 2026-11-21). */
export const H100_LIMITS: DeviceLimits = {
  maxStorageBufferBindingSize: 2_147_483_644,
  maxBufferSize: 4_292_870_144,
  maxComputeWorkgroupStorageSize: 49_152,
  maxComputeInvocationsPerWorkgroup: 1024,
  maxComputeWorkgroupSizeX: 1024,
  maxComputeWorkgroupSizeY: 1024,
  maxComputeWorkgroupSizeZ: 64,
  maxComputeWorkgroupsPerDimension: 65_535,
};
