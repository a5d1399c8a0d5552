/** The limits of a GPU that decide what can run; names and units as in the WebGPU specification. */
export interface DeviceLimits {
  /** Bytes of one array that a shader reads or writes. */
  readonly maxStorageBufferBindingSize: number;
  /** Bytes of one buffer. */
  readonly maxBufferSize: number;
  /** Arrays that a shader reads or writes. @default {8} what every device has */
  readonly maxStorageBuffersPerShaderStage?: number | undefined;
  /**
   * Bytes that both levels may take on the device together, where the host holds them and the device no more than a
   * window: not one of WebGPU's limits.
   */
  readonly windowBytes?: number;
  /**
   * Threads of a SIMD group where all have as many and shaders may shuffle values among them: not one of WebGPU's limits.
   * @default {undefined} they may not
   */
  readonly subgroupSize?: number | undefined;
  /** Bytes of workgroup memory. */
  readonly maxComputeWorkgroupStorageSize: number;
  /** Threads of a workgroup. */
  readonly maxComputeInvocationsPerWorkgroup: number;
  /** Threads along a workgroup's x, which run along z of the grid. */
  readonly maxComputeWorkgroupSizeX: number;
  /** Threads along a workgroup's y. */
  readonly maxComputeWorkgroupSizeY: number;
  /** Threads along a workgroup's z, which run along x of the grid. */
  readonly maxComputeWorkgroupSizeZ: number;
  /** Workgroups of a dispatch along each dimension. */
  readonly maxComputeWorkgroupsPerDimension: number;
}

/** Arrays that a shader may have on every device. */
export const USUAL_BUFFERS = 8;
