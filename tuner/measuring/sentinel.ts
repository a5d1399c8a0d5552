import type { Configuration, Measurement } from "../configuration.ts";
import { configurationKey } from "../configuration_key.ts";

/** Least time between two looks, and the largest part of the time that looks may take. */
const EVERY_NS = 10e9, PART = 0.05;
/** A rate that differs by more than this part, with an interval apart from the level's, has drifted. */
const TOLERANCE = 0.05;
/** Looks that wait for the old level to come back; after that the new rate is the level. */
const PATIENCE = 3;

/**
 * Watches over the measurements of a search, by one configuration that is measured now and then. Its kernel never
 * changes, so a change of its rate comes from the device: its clock, its temperature, or another program. Everything
 * measured since it was last steady is measured again, because it cannot be compared with the rest.
 */
export class Sentinel {
  /** Looks that found a drift. */
  drifts = 0;
  #level: Measurement | undefined;
  #lookedAtNs = 0;
  #lookNs = 0;
  /** Measured since the level was last seen. */
  #since: Configuration[] = [];
  /** Looks in a row that found a drift. */
  #row = 0;
  #again: Configuration[] = [];

  /** @param now the clock, in nanoseconds */
  constructor(private readonly now: () => number) {}

  /** Notes a measurement; the first one is what is looked at from then on. */
  note(measurement: Measurement): void {
    if (this.#level === undefined) {
      this.#level = measurement;
      this.#lookedAtNs = this.now();
    } else this.#since.push(measurement.configuration);
  }

  /** What to measure now to notice drift; undefined while there is no need. */
  look(): Configuration | undefined {
    if (this.#level === undefined) return undefined;
    const isDrifting = this.#row > 0;
    const isDue = this.#since.length > 0 &&
      this.now() - this.#lookedAtNs >= Math.max(EVERY_NS, this.#lookNs / PART);
    if (!isDrifting && !isDue) return undefined;
    this.#lookedAtNs = this.now(); // others that ask meanwhile go on
    return this.#level.configuration;
  }

  /** The next configuration to measure again because of drift, each once. */
  again(): Configuration | undefined {
    return this.#row > 0 ? undefined : this.#again.shift();
  }

  /** Takes in the result of a {@linkcode look}, undefined if it failed, and the time it took. */
  seen(measurement: Measurement | undefined, spentNs: number): void {
    this.#lookedAtNs = this.now();
    this.#lookNs = spentNs;
    if (measurement === undefined) {
      // nothing was learnt; another one becomes the sentinel
      this.#level = undefined;
      this.#row = 0;
      return;
    }
    if (this.#hasDrifted(measurement)) {
      this.drifts++;
      if (++this.#row < PATIENCE) return;
      this.#level = measurement; // the new rate stays
    }
    if (this.#row > 0) this.#repeat();
    this.#row = 0;
    this.#since = [];
  }

  #repeat(): void {
    const known = new Map([...this.#again, ...this.#since].map((one) => [configurationKey(one), one]));
    this.#again = [...known.values()];
  }

  #hasDrifted({ cellsPerSecond, confidence95: [low, high] }: Measurement): boolean {
    const { cellsPerSecond: level, confidence95: [levelLow, levelHigh] } = this.#level!;
    const isApart = high < levelLow || low > levelHigh;
    return isApart && Math.abs(cellsPerSecond / level - 1) > TOLERANCE;
  }
}
