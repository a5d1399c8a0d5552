import type { Problem } from "../../kernels/stencils/stencil.ts";
import type { DeviceLimits, Traversal } from "../../kernels/traversals/traversal.ts";
import type { CostModel } from "../../models/cost_model.ts";
import { median } from "../measuring/statistics.ts";
import { type Candidate, Enumeration } from "./enumeration.ts";

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

/** Candidates of a traversal whose predictions are corrected one by one, the models' best. */
const MOST_CORRECTED = 4000;

/**
 * Enumerates the space: every combination of the traversals' own parameter lists that the device's limits allow, each
 * with its predicted rate, in the order of {@linkcode rankCandidates}. Nothing is compiled.
 */
export function enumerateSpace(
  problem: Problem,
  { traversals, limits, model }: {
    readonly traversals: readonly Traversal[];
    readonly limits: DeviceLimits;
    readonly model: CostModel;
  },
): Space {
  const all = traversals.map((way) => new Enumeration(way, problem, { limits, device: model.device }).look());
  return {
    candidates: rankCandidates(all.flatMap(({ candidates }) => corrected(candidates, problem, model))),
    refused: all.flatMap(({ traversal, refusal: reason }) =>
      reason === undefined ? [] : [{ traversal, reason }]
    ),
    combinations: all.reduce((sum, { combinations }) => sum + combinations, 0),
    infeasible: all.filter(({ infeasible }) => infeasible > 0)
      .map(({ traversal, infeasible: count, why: example }) => ({ traversal, count, example })),
  };
}

/**
 * A traversal's candidates with corrected predictions, as far as anything was measured. Those that the models leave far behind
 * are all as far off as the median of the others, since a space has tens of thousands.
 */
function corrected(
  candidates: readonly Candidate[],
  problem: Problem,
  model: CostModel,
): readonly Candidate[] {
  if (!model.isCorrected || candidates.length === 0) return candidates;
  const rates = Float64Array.from(candidates, ({ predicted }) => predicted).sort();
  const least = rates[rates.length - MOST_CORRECTED] ?? 0;
  const ratios = candidates.map((candidate) =>
    candidate.predicted < least ? undefined : Math.exp(model.mean(candidate, problem)) / candidate.predicted
  );
  const usual = median(ratios.filter((ratio) => ratio !== undefined));
  return candidates.map((way, i) => ({ ...way, predicted: way.predicted * (ratios[i] ?? usual) }));
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
