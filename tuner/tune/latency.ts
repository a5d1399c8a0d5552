import type { TimedEvaluation } from "../measuring/evaluator.ts";

/**
 * How long an evaluation takes from its beginning to its end: compiling, and then a turn on the device after those of
 * the evaluations before it. What counts is what each took, and not how many have ended since the search began: the
 * first ends late, when many start side by side.
 *
 * @example
 * ```ts
 * import { Latency } from "./latency.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const latency = new Latency();
 * assertEquals(latency.expectNs(8), 0); // nothing is known
 * const configuration = { traversal: "stepwise", parameters: {}, share: { cpuSlices: 0, gpuSlices: 8, exchangeEvery: 1, cpuWorkers: 0 } };
 * const failure = { reason: "incorrect", message: "" } as const;
 * latency.observe({ evaluation: { configuration, failure }, evaluationNs: 0.5e9 });
 * assertEquals(latency.expectNs(8), 4e9);
 * ```
 */
export class Latency {
  #ended = 0;
  #compileNs = 0;
  #turnNs = 0;

  /** Takes in an evaluation that has ended; of one that failed, all its time counts as a turn. */
  observe({ evaluation, evaluationNs }: TimedEvaluation): void {
    const compileNs = "measurement" in evaluation ? evaluation.measurement.compileNs : 0;
    this.#ended++;
    this.#compileNs += compileNs;
    this.#turnNs += Math.max(0, evaluationNs - compileNs);
  }

  /** What one that begins now is expected to take, with so many evaluators; 0 while nothing is known. */
  expectNs(workers: number): number {
    return this.#ended === 0 ? 0 : (this.#compileNs + workers * this.#turnNs) / this.#ended;
  }
}
