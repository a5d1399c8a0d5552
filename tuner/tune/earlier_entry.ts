import type { Problem } from "../../kernels/stencils/stencil.ts";
import { type Configuration, configurationKey, type Failure, type Measurement } from "../configuration.ts";
import type { DeviceDescription } from "../devices/device.ts";
import { formatRate } from "../format.ts";
import { adaptConfiguration } from "../profile/adapt.ts";
import { describeConfiguration } from "../profile/describe.ts";
import { type ProfileEntry, type ProfileRated, resultOf } from "../profile/schema.ts";
import { uses } from "../shares.ts";

/**
 * The entry that the profile has for the problem at hand. Its configuration takes part in the final round, whatever the
 * search is restricted to, and stays unless another one is significantly faster.
 */
export class EarlierEntry {
  /** What was recorded; without samples, as none is of this run. */
  readonly recorded: Measurement;
  /** What this run measured; undefined where it did not. */
  now: Measurement | undefined;
  /** Why it is of no use any more; why it cannot be measured in this run. */
  fault: string | undefined;
  obstacle: string | undefined;
  /** Whether nothing is significantly faster. */
  stays = false;

  constructor(readonly entry: ProfileEntry, problem: Problem, { gpu }: Pick<DeviceDescription, "gpu">) {
    this.recorded = { ...resultOf(entry, 0), samples: [] };
    const { configuration, configuration: { share } } = entry, limits = gpu?.limits;
    const { deviceMemory = Infinity, cpuWorkers } = share, { windowBytes = Infinity } = limits ?? {};
    if (uses(share, "gpu") && deviceMemory > windowBytes) {
      this.obstacle = "it takes more of the GPU's memory than this run may";
    } else if (deviceMemory === Infinity) {
      const adapted = adaptConfiguration(configuration, { problem, limits, cpuWorkers });
      this.fault = "reason" in adapted ? adapted.reason : adapted.changes[0];
    }
  }

  is({ configuration }: { readonly configuration: Configuration }): boolean {
    return configurationKey(configuration) === configurationKey(this.entry.configuration);
  }

  /** Takes in that it failed; memory that others use, or a GPU that is gone, says nothing of the configuration. */
  fail({ reason, message }: Failure, hasGpu: boolean): void {
    const isGone = !hasGpu && uses(this.entry.configuration.share, "gpu");
    this[isGone || reason === "out-of-memory" ? "obstacle" : "fault"] = `${reason}: ${message}`;
  }

  /** A run's entry: if it is this one at the rate that it had, the records of the search that evaluated more still hold. */
  joinedTo(found: ProfileEntry): ProfileEntry {
    const { entry, recorded: { confidence95: [least, most] } } = this, { result, tieSet } = found;
    const [low, high] = result.confidence95 ?? [Infinity, 0];
    const isLess = found.search.evaluated < entry.search.evaluated;
    if (!(isLess && this.is(found) && low <= most && high >= least)) return found;
    const { roofFraction, speedupOverStepwise } = entry.result;
    const renewed = (rated: ProfileRated): ProfileRated => this.is(rated) ? tieSet[0]! : rated;
    return {
      ...found,
      result: { ...result, roofFraction: result.roofFraction ?? roofFraction, speedupOverStepwise },
      tieSet: entry.tieSet.map(renewed),
      bestOfEach: entry.bestOfEach?.map(renewed),
      balance: entry.balance,
      costModel: entry.costModel,
      search: entry.search,
    };
  }

  /** What it was and what became of it, in one line; the rate is that of the run's choice. */
  describe(rate = 0): string {
    const { recorded: { configuration, cellsPerSecond: like }, now } = this;
    const was = `${describeConfiguration(configuration)} at ${formatRate(like)}`;
    const end = rate === 0 ? "; the profile keeps it, since nothing else verified" : "";
    if (this.fault !== undefined) return `${was}, which does not run any more: ${this.fault}${end}`;
    const again = now === undefined
      ? `not measured again${this.obstacle === undefined ? "" : ` (${this.obstacle})`}`
      : `measured again it runs at ${formatRate(now.cellsPerSecond, { like })}`;
    return this.stays
      ? `${was}, which stays: ${again}, and nothing is significantly faster`
      : `${was}, which is replaced: ${again}; ${formatRate(rate, { like })} is significantly faster`;
  }
}
