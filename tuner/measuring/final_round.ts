/**
 * The final round: the best few are measured again in blocks. In a block each has one turn, in random order, so that a
 * drift of the clock or the temperature affects all alike. Turns of the CPU alone come in parts, the others' between, so
 * that other programs' work of a second meets all of them. `tie_set.ts` says what follows from the rates.
 *
 * A finalist that is significantly slower has no further turn. The round ends when the others are known precisely
 * enough to choose among them and to compare a later run with, after {@linkcode MOST_BLOCKS} blocks, or when another block would end too late. Two blocks always run,
 * because one says nothing about the noise.
 *
 * @module
 */
import { geometricMean } from "npm:simple-statistics@7.12.1";
import { cellsOf, type Problem } from "../../kernels/stencils/stencil.ts";
import type { Configuration, Measurement } from "../configuration.ts";
import { evaluateOn, type Evaluation, measurementOf, type Workbench } from "./evaluate.ts";
import { deviceOf } from "../shares.ts";
import { laterRunInterval, noiseOfTurns, type TurnNoise } from "./later_run.ts";
import { isComparable, median } from "./statistics.ts";
import { seededRandom } from "./seeded_random.ts";
import { NEGLIGIBLE, overlappingTies, type Standing, standingsOf, type Turns } from "./tie_set.ts";

export interface FinalRoundOptions {
  readonly problem: Problem;
  /** Compiles configurations again: pipelines are cached. */
  readonly session: Workbench;
  /** Whether it ran in this process before. @default {none did} */
  readonly isAgain?: (configuration: Configuration) => boolean;
  readonly seed: number;
  /** When to stop, on the clock, in nanoseconds; see above. */
  readonly deadlineNs: number;
  readonly signal: AbortSignal;
  /** Called after every turn; `total`: turns until {@linkcode LEAST_BLOCKS} blocks are made, if all stay to the end. */
  readonly onEvaluation: (evaluation: Evaluation, done: number, total: number) => void | Promise<void>;
}

/** What became of a finalist. */
export interface Finalist {
  /** What was known before. */
  readonly before: Measurement;
  /** With the samples of its turns; as before if it had none. */
  readonly measurement: Measurement;
  /** The rates that each of its turns found, by block; undefined where it had none. */
  readonly blocks: readonly (readonly number[] | undefined)[];
  /** How it compares with the others; undefined if the round ended too early. */
  readonly standing: Standing | undefined;
}

/** Time for the samples of a turn, and how many there are at least if they fit into it; one always runs. */
export const TURN_NS = 0.4e9, TURN_SAMPLES = 2;
/** Parts of a CPU's turn at most, and the runs that a part has time for: one that is verified, and samples. */
const MOST_PARTS = 4, PART_RUNS = 5;
/** Blocks that always run, blocks at least, time permitting, and blocks at most. */
export const SURE_BLOCKS = 2, LEAST_BLOCKS = 5, MOST_BLOCKS = 12;
/** Fewer samples than this say nothing of the noise. */
const FEW_SAMPLES = 3;
/** Precision of the slowdowns at which the round ends early, as a part of the rate. */
const PRECISION = NEGLIGIBLE / 2;

/** A finalist under way. */
type Racer = Pick<Finalist, "before"> & {
  readonly blocks: (readonly number[] | undefined)[];
  /** The rate of each part of each turn. */
  readonly parts: (number[] | undefined)[];
  /** The device's lowest clock in its turns, if it is known. */
  clock?: number | undefined;
};

/**
 * Measures the finalists again: the result of each, fastest first; one that fails now is left out. What this run has not
 * measured yet, the profile's configuration, has no samples before.
 */
export async function finalRound(
  finalists: readonly Measurement[],
  { problem, session, isAgain = () => false, seed, deadlineNs, signal, onEvaluation }: FinalRoundOptions,
): Promise<readonly Finalist[]> {
  const racing: Racer[] = finalists.map((before) => ({ before, blocks: [], parts: [] }));
  const draw = seededRandom(seed);
  let compete = [...racing];
  let done = 0, turnNs = 0;
  for (let block = 0; block < MOST_BLOCKS && compete.length > 0; block++) {
    const beganNs = session.now();
    const isSure = block < SURE_BLOCKS;
    const order = compete.flatMap((finalist) => {
      const parts = partsOfTurn(finalist.before, problem);
      return Array.from({ length: parts }, (_, part) => ({ finalist, parts, key: part + draw() }));
    }).sort((a, b) => a.key - b.key);
    const isLate = beganNs + turnNs * order.length > deadlineNs;
    if (signal.aborted || (isLate && !isSure)) break;
    for (const [place, { finalist, parts }] of order.entries()) {
      if (signal.aborted) break;
      if (!racing.includes(finalist)) continue;
      const { configuration } = finalist.before;
      const evaluation = await evaluateOn(session, configuration, {
        problem,
        samplingNs: TURN_NS / parts,
        minSamples: TURN_SAMPLES,
        isAgain: isAgain(configuration),
        isReported: true,
      });
      if ("failure" in evaluation) racing.splice(racing.indexOf(finalist), 1);
      else {
        const { samples, clock } = evaluation.measurement;
        finalist.blocks[block] = [...finalist.blocks[block] ?? [], ...samples];
        (finalist.parts[block] ??= []).push(median(samples));
        finalist.clock = clock && Math.min(clock, finalist.clock ?? 1);
      }
      const left = order.length - 1 - place + order.length * Math.max(0, LEAST_BLOCKS - 1 - block);
      await onEvaluation(evaluation, ++done, done + left);
    }
    turnNs = (session.now() - beganNs) / order.length;
    const standings = standingsOf(racing.map(ratesOf));
    if (standings === undefined) {
      compete = compete.filter((finalist) => racing.includes(finalist));
      continue;
    }
    // if the fastest has failed, others are among the best again
    compete = racing.filter((_, i) => standings[i]!.isTied);
    const found = measurementsOf(racing, standings);
    const areKnown = standings.every((of, i) => !of.isTied || (isKnown(of) && isComparable(found[i]!)));
    if (block + 1 >= LEAST_BLOCKS && areKnown) break;
  }
  const standings = done === 0 ? undefined : standingsOf(racing.map(ratesOf));
  const measurements = measurementsOf(racing, standings);
  return racing.map((finalist, i) => ({
    before: finalist.before,
    measurement: measurements[i]!,
    blocks: finalist.blocks,
    standing: standings?.[i],
  })).sort((a, b) => b.measurement.cellsPerSecond - a.measurement.cellsPerSecond);
}

/**
 * The tie set, the chosen one first: the core, then the others, each part in order. After a round that was cut short,
 * those whose intervals overlap, the fastest first. `order` orders what ties, see {@linkcode orderTies}.
 */
export function tieSetOf(
  finalists: readonly Finalist[],
  order: (ties: readonly Measurement[]) => readonly Measurement[],
): readonly Measurement[] {
  const standings = finalists.flatMap(({ standing }) => standing === undefined ? [] : [standing]);
  if (standings.length < finalists.length) {
    return overlappingTies(finalists.map(({ measurement }) => measurement));
  }
  const part = (isWanted: (standing: Standing) => boolean): readonly Measurement[] =>
    order(finalists.filter((_, i) => isWanted(standings[i]!)).map(({ measurement }) => measurement));
  return [...part(({ isCore }) => isCore), ...part(({ isCore, isTied }) => isTied && !isCore)];
}

/** In how many parts a finalist has its turn: a CPU alone whose runs are short in several. */
export function partsOfTurn(
  { configuration, cellsPerSecond }: Measurement,
  { grid, steps }: Problem,
): number {
  if (deviceOf(configuration) === "gpu") return 1;
  const runNs = cellsOf(grid) * steps / cellsPerSecond * 1e9;
  return Math.min(MOST_PARTS, Math.max(1, Math.floor(TURN_NS / (PART_RUNS * runNs))));
}

/** The records of all finalists, by what is known now. */
function measurementsOf(racing: readonly Racer[], standings: readonly Standing[] | undefined): Measurement[] {
  const among = standings === undefined ? racing.length : standings.filter(({ isTied }) => isTied).length;
  const noise = noiseOfTurns(racing.map(turnsOf));
  return racing.map((finalist) => measurementAfter(finalist, { among, noise }));
}

/** Whether a slowdown is known precisely enough. */
function isKnown({ interval95: [low, high] }: Standing): boolean {
  return high - low <= 2 * PRECISION;
}

/** The rate of each turn: of several parts their mean, as a median of all would be that of either half. */
function ratesOf({ parts }: Racer): Turns {
  return Array.from(parts, (rates) => rates && geometricMean(rates));
}

/** The samples of each turn that a finalist had. */
function turnsOf({ blocks }: Racer): readonly (readonly number[])[] {
  return blocks.filter((samples) => samples !== undefined);
}

/**
 * The record of a finalist: its samples and its interval are those of its turns. The search's turn counts in the
 * interval, and among the samples where these are too few, but only where its runs are as long: not on a GPU that is kept
 * busy, where a long run may be 28% faster than the problem's own (swept, 2²⁰ points, H100, 2026-11-22).
 */
function measurementAfter(racer: Racer, options: { among: number; noise: TurnNoise }): Measurement {
  const { before, clock } = racer, turns = turnsOf(racer);
  const own = turns.flat(), isAlike = clock === undefined || turns.length === 0;
  const rates = isAlike && own.length < FEW_SAMPLES ? [...before.samples, ...own] : own;
  const measurement = turns.length === 0
    ? before
    : measurementOf(before.configuration, rates, { ...before, clock });
  const { cellsPerSecond } = measurement;
  const compared = isAlike && before.samples.length > 0 ? [before.samples, ...turns] : turns;
  if (compared.length === 0) return before;
  const confidence95 = laterRunInterval(compared, { rate: cellsPerSecond, ...options });
  return { ...measurement, confidence95 };
}
