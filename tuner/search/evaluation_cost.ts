import type { Point } from "./strategy.ts";

/**
 * What an evaluation takes, learnt from those that were made: a line through their times over the kernel's
 * instructions, by least squares. Compiling takes time by the instruction, everything else takes as long for all.
 */
export class EvaluationCost {
  #count = 0;
  #instructions = 0;
  #squares = 0;
  #spent = 0;
  #products = 0;

  /** Takes in a time, in ns. */
  observe(point: Point, spentNs: number): void {
    const instructions = instructionsOf(point);
    this.#count++;
    this.#instructions += instructions;
    this.#squares += instructions * instructions;
    this.#spent += spentNs;
    this.#products += instructions * spentNs;
  }

  /** Mean time of an evaluation, in ns; 0 before the first. */
  get meanNs(): number {
    return this.#count === 0 ? 0 : this.#spent / this.#count;
  }

  /** Estimate of a candidate's time, in ns; never below the mean. */
  expectNs(point: Point): number {
    if (this.#count === 0) return 0;
    const centre = this.#instructions / this.#count;
    const spread = this.#squares - this.#count * centre * centre;
    const slope = spread > 0 ? (this.#products - centre * this.#spent) / spread : 0;
    return this.meanNs + Math.max(0, slope) * Math.max(0, instructionsOf(point) - centre);
  }
}

/** Instructions to compile, roughly; 0 where unknown. */
export function instructionsOf({ demand }: Point): number {
  return demand?.loopInstructions ?? 0;
}
