/**
 * Facet tunes stencil kernels for the GPU and the CPU it runs on, and lets other programs use what it found: read a
 * profile, choose a configuration for the problem and the device at hand, and run it.
 *
 * @example
 * ```ts
 * import { createSolver, readProfile, wave } from "./mod.ts";
 * import { assert } from "@std/assert";
 *
 * const profile = await readProfile("fixtures/h100/wave.json"); // without it, what `tune` wrote on this machine
 * const problem = { stencil: wave(2), grid: [32, 32, 32], boundary: "zero" } as const;
 * await using solver = await createSolver(problem, { profile });
 * for (const ago of [0, 1] as const) await solver.write("F", (x, y, z) => x + y + z === 48 ? 1 : 0, { ago });
 * const { cellsPerSecond } = await solver.run(64);
 * const field = await solver.read("F");
 * assert(field.length === 32 ** 3 && cellsPerSecond > 0 && solver.choice!.message !== "");
 * ```
 *
 * @module
 */
export {
  type Definition,
  definitionOf,
  type ExpressionData,
  hashOf,
  stencilOf,
} from "./kernels/definition.ts";
export type { ProfileValues } from "./kernels/axis_profiles.ts";
export {
  along,
  type AlongAxis,
  type BoundedMaterial,
  equation,
  type EquationOptions,
  type FieldTap,
  type MaterialSource,
  type MaterialTap,
  type NewValues,
  type PackedMaterial,
  type ProfileFormula,
} from "./kernels/equation.ts";
export type {
  Ago,
  Axis,
  Expression,
  FormulaWord,
  Offset,
  Operation,
  PartialSum,
  ProfileTap,
  Tap,
  Variable,
} from "./kernels/expression.ts";
export type { FunctionName, Operations } from "./kernels/functions.ts";
export type { InitialField } from "./kernels/initial_field.ts";
export type { FloatArray, Precise, PrecisionName } from "./kernels/precision.ts";
export type { Layout } from "./kernels/layout.ts";
export {
  absolute,
  add,
  atLeast,
  choose,
  cosine,
  divide,
  exponential,
  floor,
  greater,
  logarithm,
  maximum,
  minimum,
  multiply,
  power,
  shifted,
  sine,
  squareRoot,
  subtract,
  tanh,
  type Value,
} from "./kernels/operations.ts";
export {
  curl,
  derivative,
  type DerivativeOptions,
  divergence,
  gradient,
  type GradientOptions,
  laplacian,
  type LaplacianOptions,
  type OperatorOptions,
  type Way,
} from "./kernels/operators.ts";
export type {
  Assignment,
  AxisProfile,
  Layer,
  Material,
  Substep,
  Update,
  ValueRange,
} from "./kernels/update.ts";
export { type FieldLevels, type ReferenceRun, runReference } from "./kernels/reference.ts";
export { stableTimeStep } from "./kernels/stability.ts";
export {
  type AxisBoundaries,
  type AxisEnds,
  type AxisWalls,
  BOUNDARIES,
  type Boundaries,
  type Boundary,
  type Dimensions,
  type EndCells,
  type ExactSolution,
  type Grid,
  type InnerCells,
  type InSpace,
  type OpenProblem,
  type OwnBoundaries,
  type OwnGrid,
  type Problem,
  type Stencil,
  type Wall,
  type WallPlace,
  type Walls,
  type WallShape,
  type WallValue,
} from "./kernels/stencils/stencil.ts";
export {
  absorbing,
  type AbsorbingOptions,
  flux,
  insulated,
  mirror,
  robin,
  value,
  type WallOptions,
} from "./kernels/walls.ts";
export {
  acoustic,
  acousticEdges,
  type AcousticMedium,
  type AcousticOptions,
  type AcousticShot,
  acousticTimeStep,
  acousticWarning,
} from "./kernels/stencils/acoustic.ts";
export type { Accuracy } from "./kernels/stencils/dispersion.ts";
export type { EdgeWidths } from "./kernels/stencils/edges.ts";
export {
  elastic,
  ELASTIC_FIELDS,
  elasticEdges,
  type ElasticOptions,
  elasticTimeStep,
  elasticWarning,
  lameOf,
} from "./kernels/stencils/elastic.ts";
export { fourierLimit, heat, HEAT_DELTAS } from "./kernels/stencils/heat.ts";
export { FOURIER_LIMIT_1D, heat1d } from "./kernels/stencils/heat_1d.ts";
export { ks, KS_POINTS, ksTimeStepLimit } from "./kernels/stencils/ks.ts";
export { life } from "./kernels/stencils/life.ts";
export {
  maxwell,
  MAXWELL_FIELDS,
  maxwellLimit,
  type MaxwellOptions,
  maxwellWarning,
  SPEED_OF_LIGHT,
  VACUUM_IMPEDANCE,
} from "./kernels/stencils/maxwell.ts";
export { stabilityLimit, wave, WAVE_ORDERS } from "./kernels/stencils/wave.ts";
export type { Constant, Constants } from "./models/gpu_record.ts";
export type { LinearCost, SharedCosts } from "./models/shared_fit.ts";
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
} from "./tuner/devices/device.ts";
export { measureDevice } from "./tuner/devices/gpu/device_constants.ts";
export { DeviceError } from "./tuner/devices/device_error.ts";
export { openDevice } from "./tuner/devices/open_device.ts";
export { ProfileError } from "./tuner/profile/profile_error.ts";
export type {
  DeviceEntries,
  Profile,
  ProfileBalance,
  ProfileCostModel,
  ProfileCosts,
  ProfileDevice,
  ProfileEntry,
  ProfilePoint,
  ProfileProblem,
  ProfileRate,
  ProfileRated,
  ProfileResult,
  ProfileSearch,
} from "./tuner/profile/profile_types.ts";
export { problemOf } from "./tuner/profile/profile_problem.ts";
export { formatProfile } from "./tuner/profile/format_profile.ts";
export { type ReadOptions, readProfile } from "./tuner/profile/read_profile.ts";
export {
  type AdapterIdentity,
  type Choice,
  chooseConfiguration,
  type ChooseOptions,
  type MatchGrade,
  type PassedOver,
  type TargetDevice,
} from "./tuner/profile/choose.ts";
export type { Refined, Tried } from "./tuner/solver/refined.ts";
export { addFlux, type FluxOptions } from "./tuner/solver/flux.ts";
export { createSolver, solverLayout } from "./tuner/solver/create_solver.ts";
export type { CellsOptions, CellValues, Solver, SolverOptions, SolverRun } from "./tuner/solver/solver.ts";
export {
  type CellBox,
  type PlaceOptions,
  pointsOfBox,
  type Position,
  type ReceiverOptions,
} from "./tuner/devices/survey.ts";
export type { Interpolation } from "./kernels/interpolation.ts";
export type { PointCounts } from "./kernels/points.ts";
export type { Source } from "./kernels/update.ts";
export type { Snapshot, SnapshotOptions } from "./tuner/solver/snapshots.ts";
export type { DeviceWishes, Message, RankDevice, World } from "./tuner/devices/world.ts";
export {
  type FileArray,
  type NumberArray,
  readArray,
  type ReadArrayOptions,
  writeArray,
  type WriteArrayOptions,
} from "./tuner/files/array.ts";
export { drawField, type DrawFieldOptions } from "./tuner/files/draw_field.ts";
export { SolverError } from "./tuner/solver/solver_error.ts";
export {
  tune,
  type TuneEvaluation,
  type TuneOptions,
  type TuneProgress,
  type TuneResult,
} from "./tuner/tune/library_tune.ts";
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
} from "./tuner/qualify/qualify.ts";
