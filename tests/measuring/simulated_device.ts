/**
 * A device whose rates vary as those of real ones do, for tests of the verdict: nothing runs, the clock is the test's.
 *
 * @module
 */
import type { Measurement } from "../../tuner/configuration.ts";
import { evaluateOn } from "../../tuner/measuring/evaluate.ts";
import { type Finalist, finalRound } from "../../tuner/measuring/final_round.ts";
import { configurationNamed, FakeRunner, PROBLEM, workbench } from "./fake_runner.ts";

/** How rates vary: standard deviations of the logarithm of the rate. */
export interface Noise {
  /** Of a configuration in a whole run: its memory's place, the build of its code. */
  readonly run: number;
  /** Of all configurations in a whole run: temperature, clock. */
  readonly common: number;
  /** Of a configuration in a turn. */
  readonly turn: number;
  /** Of one sample. */
  readonly sample: number;
  /** How much slower all get from the first turn to the thirtieth. */
  readonly drift: number;
}

/** Draws of a normal distribution from uniform ones (Box, Muller 1958). */
export function normal(draw: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}

/** What one run of a tune on such a device measures: each configuration in a turn, then a final round of all. */
export async function simulateRun(
  rates: Readonly<Record<string, number>>,
  noise: Noise,
  { draw, seed, deadlineNs = Infinity, signal = new AbortController().signal }: {
    draw: () => number;
    seed: number;
    deadlineNs?: number;
    signal?: AbortSignal;
  },
): Promise<{ search: Measurement[]; finalists: readonly Finalist[] }> {
  const time = { nowNs: 0 };
  const common = noise.common * normal(draw);
  const own = Object.fromEntries(Object.keys(rates).map((name) => [name, noise.run * normal(draw)]));
  let turns = 0;
  const session = workbench(time, (configuration) => {
    const name = configuration.traversal;
    const turn = common + own[name]! + noise.turn * normal(draw) - noise.drift * turns++ / 30;
    const batchNs = (repetitions: number): number =>
      1e15 * repetitions / (rates[name]! * Math.exp(turn + noise.sample * normal(draw)));
    return new FakeRunner(configuration, { batchNs }, time);
  });
  const search: Measurement[] = [];
  for (const name of Object.keys(rates)) {
    const configuration = configurationNamed(name);
    const evaluation = await evaluateOn(session, configuration, { problem: PROBLEM });
    if ("measurement" in evaluation) search.push(evaluation.measurement);
  }
  search.sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  const finalists = await finalRound(search, {
    problem: PROBLEM,
    session,
    seed,
    deadlineNs,
    signal,
    onEvaluation: () => {},
  });
  return { search, finalists };
}
