/**
 * What a strategy's file provides. A strategy is asked for the next candidate and told what came of it; it
 * never measures.
 *
 * @module
 */
import type { Candidate } from "./space.ts";

/** A search under way. */
export interface Search {
  /** The next candidate to measure; undefined when nothing is left to try. */
  next(): Candidate | undefined;
  /** What came of a candidate: its rate in cells per second, undefined if it failed. */
  tell(candidate: Candidate, cellsPerSecond: number | undefined): void;
}

/** A way to search a space. */
export interface Strategy {
  /** The name that `--strategy` takes. */
  readonly name: string;
  /** One line for people. */
  readonly title: string;
  /**
   * Begins a search.
   *
   * @param candidates the space, promising candidates first
   * @param seed makes random choices repeatable
   */
  begin(candidates: readonly Candidate[], seed: number): Search;
}
