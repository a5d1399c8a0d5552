import type { RecordedConfiguration } from "./replay_space.ts";

/** An evaluation under way. */
interface UnderWay<C> {
  readonly candidate: C;
  /** When it has compiled. */
  readonly readyNs: number;
  /** How long it has the device. */
  readonly turnNs: number;
}

/** Host time that an evaluation took, compiling included, in ns; 0 where it was not recorded. */
export function evaluationNsOf({ evaluationNs = 0, compileNs = 0 }: RecordedConfiguration): number {
  return evaluationNs || compileNs;
}

/**
 * A device that takes the recorded times, with several evaluations under way at once as `evaluateSideBySide` makes
 * them: all compile side by side, then each waits for its turn on the device, where one at a time is measured.
 */
export class RecordedDevice<C extends { readonly recorded: RecordedConfiguration }> {
  #underWay: readonly UnderWay<C>[] = [];
  #nowNs = 0;

  /** Time since the beginning, in ns. */
  get nowNs(): number {
    return this.#nowNs;
  }

  /** Evaluations under way. */
  get size(): number {
    return this.#underWay.length;
  }

  /** Starts an evaluation now. */
  start(candidate: C): void {
    const tookNs = evaluationNsOf(candidate.recorded);
    const compileNs = Math.min(candidate.recorded.compileNs ?? 0, tookNs);
    const evaluation = { candidate, readyNs: this.#nowNs + compileNs, turnNs: tookNs - compileNs };
    this.#underWay = [...this.#underWay, evaluation];
  }

  /**
   * Waits for the next evaluation to end: the one that compiled first, of several the one that started first.
   *
   * @returns its candidate; undefined where nothing is under way
   */
  finish(): C | undefined {
    if (this.#underWay.length === 0) return undefined;
    const next = this.#underWay.reduce((a, b) => b.readyNs < a.readyNs ? b : a);
    this.#underWay = this.#underWay.filter((one) => one !== next);
    this.#nowNs = Math.max(this.#nowNs, next.readyNs) + next.turnNs;
    return next.candidate;
  }
}
