/**
 * The sentinel: one configuration that is measured now and then during the search. Its kernel never changes, so a
 * change of its rate comes from the device: its clock, its temperature, or another program. Everything measured since
 * it was last steady is measured again, because it cannot be compared with the rest.
 *
 * @module
 */
import type { Configuration, Measurement } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";

/** Options of {@linkcode Sentinel}. */
export interface SentinelOptions {
  /** The clock, in nanoseconds. */
  readonly now: () => number;
  /** Least time between two looks. @default {10e9} */
  readonly everyNs?: number;
  /** Largest part of the time that looks may take. @default {0.05} */
  readonly part?: number;
  /** A rate that differs by more than this part, with an interval apart from the level's, has drifted. @default {0.05} */
  readonly tolerance?: number;
  /** Looks that wait for the old level to come back; after that the new rate is the level. @default {3} */
  readonly patience?: number;
}

/** Watches over the measurements of a search. */
export class Sentinel {
  /** Looks that found a drift. */
  drifts = 0;
  readonly #options: Required<SentinelOptions>;
  #level: Measurement | undefined;
  #lookedAtNs = 0;
  #lookNs = 0;
  /** Measured since the level was last seen. */
  #since: Configuration[] = [];
  /** Looks in a row that found a drift. */
  #row = 0;
  #again: Configuration[] = [];

  constructor({ everyNs = 10e9, part = 0.05, tolerance = 0.05, patience = 3, now }: SentinelOptions) {
    this.#options = { everyNs, part, tolerance, patience, now };
  }

  /** Notes a measurement; the first one is what is looked at from then on. */
  note(measurement: Measurement): void {
    if (this.#level === undefined) {
      this.#level = measurement;
      this.#lookedAtNs = this.#options.now();
    } else this.#since.push(measurement.configuration);
  }

  /** What to measure now to notice drift; undefined while there is no need. */
  look(): Configuration | undefined {
    const { now, everyNs, part } = this.#options;
    if (this.#level === undefined) return undefined;
    const isDrifting = this.#row > 0;
    const isDue = this.#since.length > 0 &&
      now() - this.#lookedAtNs >= Math.max(everyNs, this.#lookNs / part);
    if (!isDrifting && !isDue) return undefined;
    this.#lookedAtNs = now(); // others that ask meanwhile go on
    return this.#level.configuration;
  }

  /** The next configuration to measure again because of drift, each once. */
  again(): Configuration | undefined {
    return this.#row > 0 ? undefined : this.#again.shift();
  }

  /**
   * Takes in the result of a look.
   *
   * @param measurement of what {@linkcode look} returned; undefined if it failed
   * @param spentNs the time it took, in nanoseconds
   */
  seen(measurement: Measurement | undefined, spentNs: number): void {
    this.#lookedAtNs = this.#options.now();
    this.#lookNs = spentNs;
    if (measurement === undefined) {
      // nothing was learnt; another one becomes the sentinel
      this.#level = undefined;
      this.#row = 0;
      return;
    }
    if (!this.#hasDrifted(measurement)) {
      if (this.#row > 0) this.#repeat();
      this.#row = 0;
      this.#since = [];
      return;
    }
    this.drifts++;
    if (++this.#row < this.#options.patience) return;
    // the new rate stays
    this.#level = measurement;
    this.#row = 0;
    this.#repeat();
    this.#since = [];
  }

  #repeat(): void {
    const known = new Map([...this.#again, ...this.#since].map((one) => [configurationKey(one), one]));
    this.#again = [...known.values()];
  }

  #hasDrifted({ cellsPerSecond, confidence95: [low, high] }: Measurement): boolean {
    const { cellsPerSecond: level, confidence95: [levelLow, levelHigh] } = this.#level!;
    const isApart = high < levelLow || low > levelHigh;
    return isApart && Math.abs(cellsPerSecond / level - 1) > this.#options.tolerance;
  }
}
