import type { Demand, Parameters } from "../../kernels/traversals/traversal.ts";

/**
 * What a strategy sees of a candidate: one of Facet's own space, or a configuration that another tuner recorded, for
 * which the models predict nothing.
 */
export interface SearchPoint {
  readonly traversal: { readonly name: string };
  readonly parameters: Parameters;
  /** Predicted rate; undefined where no model knows. */
  readonly predicted?: number;
  /** Rate that was measured on another device, where no model knows. */
  readonly elsewhere?: number;
  /** What it asks of the device, the models' input. */
  readonly demand?: Demand;
}

/** What came of a candidate. */
export interface Outcome {
  /** Its rate, larger is better; undefined if it failed. */
  readonly rate: number | undefined;
  /** Host time that it took, compiling included, in ns; 0 where it is unknown. */
  readonly spentNs: number;
}

/** A search under way. */
export interface Search<P extends SearchPoint> {
  /**
   * The next candidate to measure, none twice; undefined when nothing is left that is worth it. May be asked
   * again before the last one's outcome is known.
   */
  next(): P | undefined;
  /** What came of a candidate that `next` gave, or what earlier runs found out, before `next` is first asked. */
  tell(candidate: P, outcome: Outcome): void;
  /** Why it ended although candidates were left; undefined while it goes on. */
  readonly verdict?: string | undefined;
}

/** Options of {@linkcode Strategy.begin}. */
export type SearchOptions = {
  /** Makes random choices repeatable. */
  readonly seed: number;
  /** Whether a kernel may compile for seconds, as for a GPU in software: it is not the first to try. @default {false} */
  readonly compilesSlowly?: boolean;
};

/** A way to search a space: proposes candidates and learns what came of them; it never measures. */
export interface Strategy {
  readonly name: string;
  readonly title: string;
  /** Begins a search of candidates, of which promising ones come first. */
  begin<P extends SearchPoint>(candidates: readonly P[], options: SearchOptions): Search<P>;
}
