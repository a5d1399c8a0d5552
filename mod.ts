/**
 * Facet tunes stencil kernels for the GPU and the CPU it runs on, and lets other programs use what it found.
 *
 * @module
 */
export type { Expression, Offset, Tap } from "./kernels/expression.ts";
export { type FieldLevels, type ReferenceRun, runReference } from "./kernels/reference.ts";
export {
  BOUNDARIES,
  type Boundary,
  type ExactSolution,
  type Grid,
  type Problem,
  type Stencil,
} from "./kernels/stencils/stencil.ts";
export { fourierLimit, heat, HEAT_DELTAS, type HeatOptions } from "./kernels/stencils/heat.ts";
export { stabilityLimit, wave, WAVE_ORDERS, type WaveOptions } from "./kernels/stencils/wave.ts";
export type { DeviceLimits, Parameters } from "./kernels/traversals/traversal.ts";
export type {
  Configuration,
  Failure,
  FailureReason,
  Measurement,
  Share,
  Verification,
} from "./tuner/configuration.ts";
export {
  type CpuDescription,
  detectDevice,
  type DeviceDescription,
  type GpuDescription,
} from "./tuner/device.ts";
export {
  type Answer,
  type EntryResult,
  type Qualification,
  qualify,
  type QualifyOptions,
  type QualifyProgress,
  type Rate,
  type RateVerdict,
  type Verdict,
} from "./tuner/qualify.ts";
