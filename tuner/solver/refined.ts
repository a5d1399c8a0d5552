import type { Problem } from "../../kernels/stencils/stencil.ts";
import { type Configuration, configurationKey, type Failure, type Verification } from "../configuration.ts";
import { median, medianInterval95 } from "../measuring/statistics.ts";
import { pointOf, pointsOf } from "../profile/samples.ts";
import { describeProblem } from "../profile/profile_problem.ts";
import type { ProfileEntry } from "../profile/profile_types.ts";
import { isShared } from "../shares.ts";

/** A configuration that a refining solver has tried. */
export interface Tried {
  /** The configuration. */
  readonly configuration: Configuration;
  /** Cells per second of each piece that was timed, but those under a lower clock. */
  readonly samples: readonly number[];
  /** How far it lay from another one's result. */
  readonly verification?: Verification;
  /** Why it was dropped, where it cannot run here or is wrong. */
  readonly failure?: Failure;
}

/** With what the device's clock was in each piece, as the rate of the first configuration; infinite if it has none. */
export type Clocked = Tried & { readonly clocks: readonly number[] };

/** Clocks this close to each other are the same. */
const SAME_CLOCK = 0.97;

/** Only what was timed under the highest clock that another piece confirms: of others the ratios alone are sound. */
export function atFullClock(all: readonly Clocked[]): Tried[] {
  // both of a duel have the same clocks
  const highestFirst = [...new Set(all.flatMap(({ clocks }) => clocks))].sort((a, b) => b - a);
  const isSame = (clock: number, other: number): boolean => clock >= SAME_CLOCK * other;
  const highest = highestFirst.find((clock, i) => isSame(highestFirst[i + 1] ?? 0, clock)) ??
    highestFirst[0]!;
  return all.map(({ clocks, samples, ...tried }) => {
    return { ...tried, samples: samples.filter((_, i) => isSame(clocks[i]!, highest)) };
  });
}

/** What a refining solver has found so far. */
export interface Refined {
  /** Whether all candidates are decided. */
  readonly isDone: boolean;
  /** The fastest so far, which computes now. */
  readonly configuration: Configuration;
  /** Its rate, the median; undefined as long as nothing was timed. */
  readonly cellsPerSecond?: number;
  /** Everything that was tried. */
  readonly tried: readonly Tried[];
  /** The same as a profile's entry; undefined as long as nothing was timed. */
  readonly entry?: ProfileEntry;
}

/** What was found, and the profile's entry of it. */
export function refinedOf(
  problem: Problem,
  configuration: Configuration,
  { isDone, tried, timeNs }: Pick<Refined, "isDone" | "tried"> & { readonly timeNs: number },
): Refined {
  const own = configurationKey(configuration);
  const current = tried.find((one) => configurationKey(one.configuration) === own);
  const { samples = [], verification } = current ?? {};
  if (samples.length === 0 || verification === undefined) return { isDone, configuration, tried };
  const cellsPerSecond = median(samples);
  const rate = { cellsPerSecond, confidence95: samples.length < 3 ? null : medianInterval95(samples) };
  const failures = Map.groupBy(tried.flatMap(({ failure }) => failure ?? []), ({ reason }) => reason);
  const points = tried.filter(({ failure, samples }) => failure === undefined && samples.length > 0)
    .flatMap(({ configuration, samples }) =>
      isShared(configuration.share) ? [] : [pointOf({ configuration, cellsPerSecond: median(samples) })]
    ).sort((a, b) => b.cellsPerSecond - a.cellsPerSecond);
  const entry: ProfileEntry = {
    problem: describeProblem(problem),
    configuration,
    result: { ...rate, samples, roofFraction: null, speedupOverStepwise: null },
    tieSet: [{ configuration, ...rate }],
    calibration: pointsOf(points),
    balance: [],
    verification,
    search: {
      strategy: "refine",
      seed: 1,
      spaceSize: tried.length,
      evaluated: tried.length,
      failed: Object.fromEntries([...failures].map(([reason, { length }]) => [reason, length])),
      elapsedMs: timeNs / 1e6,
    },
  };
  return { isDone, configuration, cellsPerSecond, tried, entry };
}
