import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { Constants } from "../../models/gpu_record.ts";
import type { SharedCostModel } from "../sharing/search_shares.ts";
import type { Session } from "../devices/session.ts";
import type { Measurement } from "../configuration.ts";
import type { Evaluation } from "../measuring/evaluate.ts";
import type { Evaluator } from "../measuring/evaluator.ts";
import type { ProcessOptions } from "../measuring/process/process_evaluator.ts";
import type { ResolvedProblem } from "../problem/resolve_problem.ts";
import type { Sample } from "../../models/cost_model.ts";
import type { ProfileEntry } from "../profile/schema.ts";
import type { Space } from "../search/space.ts";
import type { Strategy } from "../search/strategy.ts";
import type { Findings } from "./findings.ts";

/** The budget of a problem for which those before it have left no time. */
export const SPENT_NS = 1;

export interface TuneRequest
  extends
    Problem,
    Pick<ResolvedProblem, "traversals" | "cpuWorkers">,
    Partial<Pick<ResolvedProblem, "isDefaultGrid" | "isDefaultSteps">> {
  readonly strategy: Strategy;
  /** When to stop searching: time for the whole run, or evaluations. */
  readonly budget: { readonly timeNs: number } | { readonly evaluations: number };
  readonly seed: number;
  /** The CPU's share of the slices when balancing begins. @default {by the rates of both alone} */
  readonly startShare?: number | undefined;
  /** What was measured for other grids of the same equation: it corrects the predictions. @default {[]} */
  readonly learned?: readonly Sample[];
  /** The profile's entries for this device: the configuration of the same problem stays unless another is significantly faster. @default {[]} */
  readonly earlier?: readonly ProfileEntry[];
  /** What it says of a GPU that no record describes. @default {measured} */
  readonly constants?: Constants | undefined;
}

/** How far a run has come. */
export interface TuneProgress {
  /** What is being done. */
  readonly stage: "device" | "GPU search" | "CPU search" | "final round" | "balance";
  /** How much of it is done. */
  readonly done: number;
  /** How much there is of it; 0 where unknown. */
  readonly total: number;
  /** Best verified rate so far. */
  readonly bestCellsPerSecond?: number | undefined;
  /** Time left of the stage's budget. */
  readonly leftNs?: number | undefined;
}

/** What a run works with, and whom it informs. */
export interface TuneEnvironment {
  /** The devices and the clock. The caller closes it. */
  readonly session: Session;
  /** Stops the run after the evaluation under way; what is known is returned. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: TuneProgress) => void;
  /** Called with what the user should know before the run goes on, in one line. */
  readonly onWarning?: ((text: string) => void) | undefined;
  /**
   * Called when the problem is fixed and the device is known, before anything is evaluated. The search reuses what is
   * returned, results of earlier runs that still hold, by {@linkcode configurationKey}; they count toward the budget.
   */
  readonly onStart?: (start: TuneStart) => Promise<ReadonlyMap<string, Evaluation> | void>;
  /** Who evaluates in the search, as processes that may crash or hang without harm. @default {this process} */
  readonly evaluators?: Evaluators | undefined;
  /** Called with every evaluation as it is made, and in the search with its roof, if there is one. */
  readonly onEvaluation: (evaluation: Evaluation, roof?: number) => void | Promise<void>;
}

/** Evaluators outside this process. */
export interface Evaluators {
  /** How many for a problem, at least 1: while one measures, others compile. */
  workersFor(problem: Problem): number;
  /** Starts one; a {@linkcode RunFailure} if it cannot. */
  start(
    problem: Problem,
    options: Pick<ProcessOptions, "turn" | "limitMs" | "samplingNs" | "chainNs">,
  ): Promise<Evaluator>;
}

/** What is known before the search. */
export interface TuneStart {
  readonly problem: Problem;
  /** Bytes per second of a plain copy; null where there is no GPU. */
  readonly copyBytesPerSecond: number | null;
  /** What else was measured of a GPU that no record describes. */
  readonly constants?: Constants | undefined;
  readonly space: Space;
}

/** What a run found. */
export interface TuneOutcome
  extends
    TuneStart,
    Readonly<Pick<Findings, "bestOfEach" | "finalists" | "evaluated" | "recalled" | "failed">> {
  /** The entry of the profile; undefined if no configuration verified. */
  readonly entry: ProfileEntry | undefined;
  /** Fastest verified measurement of the GPU alone, the CPU alone, and both together. */
  readonly gpuAlone: Measurement | undefined;
  readonly cpuAlone: Measurement | undefined;
  readonly together: Measurement | undefined;
  /** Why the CPU alone was not measured; undefined if it was. */
  readonly cpuMessage: string | undefined;
  /** How the balance ended, or why there was none, in one line. */
  readonly balanceMessage: string;
  /** By what the steps between exchanges were chosen; undefined if nothing was shared or measured. */
  readonly costModel: SharedCostModel | undefined;
  /** What the profile had for this problem, and what became of it, in one line; undefined where it had nothing. */
  readonly earlierMessage?: string | undefined;
  /** Why the strategy ended the search before its budget did; undefined where it did not. */
  readonly searchVerdict?: string | undefined;
  readonly interrupted: boolean;
  /** Why the run took longer than its budget by more than a tenth, in one line; undefined where it did not. */
  readonly budgetMessage?: string | undefined;
  readonly elapsedNs: number;
}
