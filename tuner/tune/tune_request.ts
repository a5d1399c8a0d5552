/**
 * What a run of `tune` is asked, what it is given to work with, and what it answers.
 *
 * @module
 */
import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Traversal } from "../../kernels/traversals/traversal.ts";
import type { SharedCostModel } from "../sharing/balance.ts";
import type { Session } from "../devices/session.ts";
import type { Measurement } from "../configuration.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import type { Evaluator, Turn } from "../measuring/evaluator.ts";
import type { Finalist } from "../measuring/final_round.ts";
import type { ProfileEntry } from "../profile/schema.ts";
import type { Space } from "../search/space.ts";
import type { Strategy } from "../search/strategy.ts";

/** What to tune, and how. */
export interface TuneRequest extends Problem {
  /** Whether the grid may become smaller if the memory turns out too small for it. @default {false} */
  readonly isDefaultGrid?: boolean;
  /** The GPU's traversals to try; what fits only the CPU is tried wherever the CPU takes part. */
  readonly traversals: readonly Traversal[];
  readonly strategy: Strategy;
  /** When to stop searching: time for the whole run, or evaluations. */
  readonly budget: { readonly timeNs: number } | { readonly evaluations: number };
  /** Workers on the CPU; 0: the GPU alone. */
  readonly cpuWorkers: number;
  readonly seed: number;
  /** The CPU's share of the slices when balancing begins. */
  readonly startShare: number;
}

/** How far a run has come. */
export interface TuneProgress {
  /** What is being done. */
  readonly stage: "device" | "search" | "final round" | "cpu" | "balance";
  /** How much of it is done. */
  readonly done: number;
  /** How much there is of it; 0 where unknown. */
  readonly total: number;
  /** Best verified rate so far. */
  readonly bestCellsPerSecond?: number;
  /** Time left of the stage's budget. */
  readonly leftNs?: number;
}

/** What a run tells while it runs, and what it runs on. */
export interface TuneEnvironment {
  /** The devices and the clock. The caller closes it. */
  readonly session: Session;
  /** Stops the run after the evaluation under way; what is known is returned. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: TuneProgress) => void;
  /** Called when the problem is fixed and the device is known, before anything is evaluated. */
  readonly onStart: (start: TuneStart) => void | Promise<void>;
  /**
   * What earlier runs evaluated that still holds, by {@linkcode configurationKey}; asked before `onStart`. It is not
   * evaluated again in the search, and counts as evaluations of its budget; finalists are.
   * @default {undefined} nothing
   */
  readonly recall?: (start: TuneStart) => Promise<ReadonlyMap<string, Evaluation>>;
  /**
   * Who evaluates in the search, as processes that may crash or hang without harm.
   * @default {undefined} this process
   */
  readonly evaluators?: Evaluators;
  /** Called with every evaluation as it is made. */
  readonly onEvaluation: (evaluation: Evaluation) => void | Promise<void>;
}

/** Evaluators outside of this process. */
export interface Evaluators {
  /** How many for a problem, at least 1: while one measures, others compile. */
  workersFor(problem: Problem): number;
  /**
   * Starts one.
   * @throws {RunFailure} if it cannot
   */
  start(problem: Problem, turn: Turn): Promise<Evaluator>;
}

/** What is known before the search. */
export interface TuneStart {
  readonly problem: Problem;
  /** Bytes per second of a plain copy; null where there is no GPU. */
  readonly copyBytesPerSecond: number | null;
  readonly space: Space;
}

/** What a run found. */
export interface TuneOutcome extends TuneStart {
  /** The entry of the profile; undefined where no configuration verified. */
  readonly entry: ProfileEntry | undefined;
  /** Fastest verified measurement of the GPU alone, the CPU alone, and both together. */
  readonly gpuAlone: Measurement | undefined;
  readonly cpuAlone: Measurement | undefined;
  readonly together: Measurement | undefined;
  /** Why the CPU alone was not measured; undefined where it was. */
  readonly cpuMessage: string | undefined;
  /** How the balance ended, in one line; why there was none, where there was none. */
  readonly balanceMessage: string;
  /** What the steps between exchanges were chosen by; undefined where nothing was shared or measured. */
  readonly costModel: SharedCostModel | undefined;
  /** Fastest verified measurement of each traversal on the GPU. */
  readonly bestOfEach: ReadonlyMap<string, Measurement>;
  /** The final round: every finalist, fastest first; empty where there was none. */
  readonly finalists: readonly Finalist[];
  readonly evaluated: number;
  /** Evaluations, of those, that earlier runs made. */
  readonly recalled: number;
  /** Why the strategy ended the search before its budget did; undefined where it did not. */
  readonly searchVerdict?: string;
  /** How often the device was found to run at another rate than before; what that affected was measured again. */
  readonly drifts: number;
  readonly failed: Readonly<Record<string, number>>;
  readonly interrupted: boolean;
  /** Why the run took longer than its budget by more than a tenth, in one line; undefined where it did not. */
  readonly budgetMessage?: string;
  readonly elapsedNs: number;
}
