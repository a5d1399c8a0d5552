import { refusalOf } from "../../kernels/capability.ts";
import { cellsOf, fieldBytes, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Demand, DeviceLimits, Parameters, Traversal } from "../../kernels/traversals/traversal.ts";
import { combine } from "../../kernels/traversals/combine.ts";
import type { Configuration, Share } from "../configuration.ts";
import { type DeviceModel, predictRate, roofOf } from "../../models/roofline.ts";
import { type Passage, windowRate } from "../../models/window.ts";
import { WINDOW_SECTIONS } from "../../kernels/sections.ts";
import { configurationOf } from "../shares.ts";

/** A configuration of the GPU that could be measured. */
export interface Candidate {
  readonly traversal: Traversal;
  readonly parameters: Parameters;
  /** The whole grid on the GPU. */
  readonly configuration: Configuration;
  readonly demand: Demand;
  /** Predicted cells per second. */
  readonly predicted: number;
  /** Cells per second that bandwidth allows for its traffic. */
  readonly roof: number;
  /** Of levels that pass through a window. */
  readonly window?: {
    readonly bytes: number;
    readonly passage: Passage;
    /** Predicted cells per second if all lay on the device. */
    readonly resident: number;
  };
}

/** The configuration of a candidate: the whole grid on the GPU. */
export function onGpuAlone(
  { traversal, parameters, window }: Pick<Candidate, "traversal" | "parameters" | "window">,
  { grid: [slices], steps }: Problem,
): Configuration {
  const gpu = { device: "gpu", slices, traversal: traversal.name, parameters } as const;
  return configurationOf([{ ...gpu, memory: window?.bytes }], steps);
}

export interface Space {
  /** Candidates in the order to try them. */
  readonly candidates: readonly Candidate[];
  /** Traversals that cannot run the problem at all, and why. */
  readonly refused: readonly { readonly traversal: string; readonly reason: string }[];
  /** Combinations of parameters, before anything was filtered out. */
  readonly combinations: number;
  /** Combinations left out before compiling: how many, and an example of why, by traversal. */
  readonly infeasible: readonly {
    readonly traversal: string;
    readonly count: number;
    readonly example: string;
  }[];
}

/** The space where there is no GPU. */
export const EMPTY_SPACE: Space = { candidates: [], refused: [], combinations: 0, infeasible: [] };

/** The best predicted configurations of each traversal that are tried before all others. */
const FIRST_OF_EACH = 4;

/**
 * What a candidate's place loses for every earlier one with the same prediction. The model does not know how a
 * kernel is written (unrolling, chunks), so the ways to write one shape take turns with the next best shapes.
 */
const TURN = 0.95;

/**
 * Enumerates the space: every combination of the traversals' own parameter lists that the device's limits allow, each
 * with its predicted rate, in the order of {@linkcode rankCandidates}. Nothing is compiled.
 */
export function enumerateSpace(problem: Problem, options: SpaceOptions): Space {
  const space = feasible(problem, options);
  return { ...space, candidates: rankCandidates(space.candidates) };
}

interface SpaceOptions {
  readonly traversals: readonly Traversal[];
  readonly limits: DeviceLimits;
  readonly device: DeviceModel;
}

/** The same in no order. */
export function feasible(problem: Problem, { traversals, limits, device }: SpaceOptions): Space {
  const refused: Space["refused"][number][] = [];
  const infeasible: Space["infeasible"][number][] = [];
  const candidates: Candidate[] = [];
  const cells = cellsOf(problem.grid);
  const { mostLoopInstructions = Infinity, mostWorkgroupBytes = Infinity } = device.record ?? {};
  let combinations = 0, share: Share | undefined;
  for (const traversal of traversals) {
    const refusal = refusalOf(traversal, problem, limits);
    if (refusal !== undefined) {
      refused.push({ traversal: traversal.name, reason: refusal.message });
      continue;
    }
    let count = 0, example = "", limit = "";
    for (const parameters of combine(traversal.parameterLists(problem, limits))) {
      combinations++;
      const why = traversal.infeasible(problem, parameters, limits);
      const demand = why === undefined ? traversal.demand(problem, parameters) : undefined;
      const { loopInstructions = 0, workgroupBytes = 0 } = demand ?? {};
      if (
        demand === undefined || loopInstructions > mostLoopInstructions || workgroupBytes > mostWorkgroupBytes
      ) {
        count++;
        const reason = why?.message ?? "a driver in software takes too long to compile it: " +
            (loopInstructions > mostLoopInstructions
              ? `a loop of ${loopInstructions} instructions`
              : `${workgroupBytes} bytes of workgroup memory`);
        // what the device does not allow says more than what parameters do not go together
        if (limit === "" && why !== undefined && why.kind !== "parameters") limit = reason;
        example ||= reason;
        continue;
      }
      const resident = predictRate(demand, device, { cells });
      const roof = roofOf(demand, device.copyBytesPerSecond);
      const passage = passageOf(problem, { traversal, parameters }, limits);
      const predicted = passage === undefined ? resident : windowRate(passage, resident);
      const window = passage && { window: { bytes: limits.windowBytes!, passage, resident } };
      const made = { traversal, parameters, ...window };
      share ??= onGpuAlone(made, problem).share;
      const configuration = { traversal: traversal.name, parameters, share };
      candidates.push({ ...made, configuration, demand, predicted, roof });
    }
    if (count > 0) infeasible.push({ traversal: traversal.name, count, example: limit || example });
  }
  return { candidates, refused, combinations, infeasible };
}

/** A passage through the window that the limits give; undefined where all lies on the device. */
function passageOf(
  problem: Problem,
  { traversal, parameters }: Pick<Candidate, "traversal" | "parameters">,
  limits: DeviceLimits,
): Passage | undefined {
  const { windowBytes } = limits;
  if (windowBytes === undefined) return undefined;
  const { grid, steps } = problem, cells = cellsOf(grid);
  const bytes = fieldBytes(problem);
  // of each section half is in common with the next, roughly
  const sections = Math.ceil(2 * WINDOW_SECTIONS * bytes / windowBytes);
  const most = traversal.passageSteps?.(problem, parameters, limits) ?? 1;
  return { cells, steps: Math.min(steps, most), bytes, sections };
}

/** What candidates are ordered by. */
type Predicted = { readonly traversal: { readonly name: string }; readonly predicted: number };

/**
 * Candidates in the order to try them: the few best predicted of every traversal in turn, so that no traversal is
 * judged by the model alone, then all others by their prediction.
 */
export function rankCandidates<C extends Predicted>(candidates: readonly C[]): C[] {
  const ordered = [...Map.groupBy(candidates, ({ traversal }) => traversal.name).values()].map(inTurns);
  const leaders = ordered.flatMap((list, which) =>
    list.slice(0, FIRST_OF_EACH).map((candidate, rank) => ({ candidate, rank, which }))
  );
  leaders.sort((a, b) => a.rank - b.rank || a.which - b.which);
  const first = leaders.map(({ candidate }) => candidate);
  return [...first, ...inTurns(ordered.flatMap((list) => list.slice(FIRST_OF_EACH)))];
}

/** Candidates by prediction, those of equal prediction {@linkcode TURN} by turn. */
function inTurns<C extends Predicted>(candidates: readonly C[]): C[] {
  const turns = new Map<string, Map<number, number>>();
  const placed = candidates.toSorted((a, b) => b.predicted - a.predicted).map((candidate) => {
    const { traversal: { name }, predicted } = candidate;
    const digits = 10 ** (3 - Math.floor(Math.log10(predicted))),
      key = Math.round(predicted * digits) / digits;
    const seen = turns.get(name) ?? new Map<number, number>();
    turns.set(name, seen);
    const turn = seen.get(key) ?? 0;
    seen.set(key, turn + 1);
    return { candidate, place: candidate.predicted * TURN ** turn };
  });
  return placed.sort((a, b) => b.place - a.place).map(({ candidate }) => candidate);
}
