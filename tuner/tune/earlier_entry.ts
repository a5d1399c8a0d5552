import { type Configuration, configurationKey, type Failure, type Measurement } from "../configuration.ts";
import { formatRate } from "../format.ts";
import { adaptConfiguration } from "../profile/adapt.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { measurementOfEntry } from "../profile/entry_records.ts";
import { describeProblem, isSameProblem } from "../profile/profile_problem.ts";
import type { ProfileEntry, ProfileRated } from "../profile/profile_types.ts";
import { uses } from "../shares.ts";
import type { TuningRun } from "./tuning_run.ts";

/**
 * The entry that the profile has for the problem at hand. Its configuration takes part in the final round, whatever the
 * search is restricted to, and stays unless another one is significantly faster: a short or a disturbed run leaves
 * nothing worse behind than it found.
 */
export class EarlierEntry {
  /** What was recorded; without samples, as none is of this run. */
  readonly recorded: Measurement;
  /** What this run measured; undefined where it did not. */
  now: Measurement | undefined;
  /** Why it is of no use any more, and why it cannot be measured in this run. */
  fault: string | undefined;
  obstacle: string | undefined;
  /** Whether the final round leaves it where it is. */
  stays = false;
  readonly #key: string;

  private constructor(readonly entry: ProfileEntry, { problem, session: { device } }: TuningRun) {
    const { configuration, configuration: { share } } = entry, limits = device.gpu?.limits;
    this.recorded = { ...measurementOfEntry(entry), samples: [] };
    this.#key = configurationKey(configuration);
    const { deviceMemory = Infinity, cpuWorkers } = share, { windowBytes = Infinity } = limits ?? {};
    if (uses(share, "gpu") && deviceMemory > windowBytes) {
      this.obstacle = "it takes more of the GPU's memory than this run may";
    } else if (deviceMemory === Infinity) {
      const adapted = adaptConfiguration(configuration, { problem, limits, cpuWorkers });
      this.fault = "reason" in adapted ? adapted.reason : adapted.changes[0];
    }
  }

  /** The profile's entry for the run's problem; undefined if it has none. */
  static of(run: TuningRun): EarlierEntry | undefined {
    const problem = describeProblem(run.problem);
    const entry = run.request.earlier?.find((one) => isSameProblem(one.problem, problem));
    return entry && new EarlierEntry(entry, run);
  }

  /**
   * The run's entry, if it is this one at the rate that it had: what a search found that evaluated more still holds. Only
   * the rate and its evidence are new.
   */
  joinedTo(found: ProfileEntry): ProfileEntry {
    const { entry, recorded: { confidence95: [least, most] } } = this, { result, tieSet } = found;
    const [low, high] = result.confidence95 ?? [Infinity, 0];
    const isAsBefore = this.is(found) && low <= most && high >= least;
    if (!isAsBefore || entry.search.evaluated <= found.search.evaluated) return found;
    const { roofFraction, speedupOverStepwise } = entry.result;
    const renewed = (one: ProfileRated): ProfileRated => this.is(one) ? tieSet[0]! : one;
    return {
      ...entry,
      result: { ...result, roofFraction: result.roofFraction ?? roofFraction, speedupOverStepwise },
      tieSet: entry.tieSet.map(renewed),
      ...(entry.bestOfEach && { bestOfEach: entry.bestOfEach.map(renewed) }),
      calibration: found.calibration,
      copyBytesPerSecond: { ...entry.copyBytesPerSecond, ...found.copyBytesPerSecond },
      verification: found.verification,
    };
  }

  is({ configuration }: { readonly configuration: Configuration }): boolean {
    return configurationKey(configuration) === this.#key;
  }

  /** Takes in that it failed; memory that others use, or a GPU that is gone, says nothing of the configuration. */
  fail({ reason, message }: Failure, hasGpu: boolean): void {
    const isGone = !hasGpu && uses(this.entry.configuration.share, "gpu");
    this[isGone || reason === "out-of-memory" ? "obstacle" : "fault"] = `${reason}: ${message}`;
  }

  /** What it was and what became of it, in one line. */
  describe(chosen: Pick<Measurement, "configuration" | "cellsPerSecond"> | undefined): string {
    const { configuration, cellsPerSecond } = this.recorded, like = { like: cellsPerSecond };
    const was = `${describeConfiguration(configuration)} at ${formatRate(cellsPerSecond)}`;
    const rate = this.now && formatRate(this.now.cellsPerSecond, like);
    if (this.fault !== undefined) return `${was} does not run any more: ${this.fault}`;
    const again = rate === undefined
      ? `not measured again${this.obstacle === undefined ? "" : ` (${this.obstacle})`}`
      : `measured again it runs at ${rate}`;
    return this.stays
      ? `${was} stays: ${again}, and nothing is significantly faster`
      : `${was} is replaced: ${again}; ${formatRate(chosen!.cellsPerSecond, like)} is significantly faster`;
  }
}
