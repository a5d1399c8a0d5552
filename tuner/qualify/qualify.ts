import { checkOptions } from "../../kernels/check_options.ts";
import { detectDevice, type DeviceDescription } from "../devices/device.ts";
import { devicesOf, isSameDevice } from "../profile/merge.ts";
import { ProfileError } from "../profile/profile_error.ts";
import { checkProfile, type Profile, type ProfileEntry } from "../profile/schema.ts";
import { isFailure } from "../devices/run_failure.ts";
import { DeviceSession, type Session } from "../devices/session.ts";
import { noteOf } from "./check_entry.ts";
import { type AttemptOptions, configurationsOf, type Trial, trialsOf } from "./trial.ts";
import { answerOf, checkTolerance, type EntryResult, judgedInterval, type Qualification } from "./verdict.ts";
import { describeDevice } from "./formats.ts";
import { uses } from "../shares.ts";

export type { Answer, EntryResult, Qualification, Rate, RateVerdict, Verdict } from "./verdict.ts";

/** How far a qualification has come. */
export interface QualifyProgress {
  /** `again`: what came out slower is measured again. */
  readonly stage: "measure" | "again";
  /** The entry that is measured now. */
  readonly entry: ProfileEntry;
  /** Entries of the stage that are done. */
  readonly done: number;
  /** Entries of the stage. */
  readonly total: number;
}

/** Options of {@linkcode qualify}. */
export interface QualifyOptions {
  /** Fraction that a rate may fall below the recorded interval, from 0 to below 1. @default {0.1} */
  readonly tolerance?: number;
  /**
   * Ends within a minute: takes fewer samples, and leaves out entries for which there is no time.
   * @default {false}
   */
  readonly quick?: boolean;
  /** Only verifies results and compares no rates, as for a profile of another device. @default {false} */
  readonly numericsOnly?: boolean;
  /** Called before every measurement, and at the end of a stage. */
  readonly onProgress?: (progress: QualifyProgress) => void;
  /** Stops after the measurement under way; what is known is returned. */
  readonly signal?: AbortSignal;
}

/** Time of a quick qualification; the program's start and the end of what is under way fit the rest of a minute. */
const QUICK_NS = 45e9;
/** Measurements of what is slower: on hardware by its own clock, and where other programs use the same CPU. */
const HARDWARE_ATTEMPTS = 3, SOFTWARE_ATTEMPTS = 10;
/**
 * Other programs slow a device down by a factor below this: llvmpipe and two workers on two cores varied by 3.7 under
 * a load of 7 (2026-11-21).
 */
const NOISE = 4;
/** Pauses before measuring again grow by this, up to the most. */
const PAUSE_NS = 0.5e9, LONGEST_PAUSE_NS = 3e9;
/** Work on the GPU that takes longer than this hangs. */
const TIMEOUT_MS = 20_000, QUICK_TIMEOUT_MS = 10_000;

/**
 * Whether this device still computes what a profile says, as fast as it says. Every entry's chosen configuration is
 * verified and measured again, and its rate is compared with the recorded interval. Its ties and the best of each
 * traversal are verified, so that a broken kernel is noticed whichever one won.
 *
 * @returns what became of every entry, also if it was interrupted
 * @throws {ProfileError} if the profile has no entries, none of its several devices is this one, or it has a configuration that no device can run
 * @throws {RangeError} if the tolerance is not from 0 to below 1
 *
 * @example
 * ```ts
 * import { qualify } from "./qualify.ts";
 * import { parseProfile } from "../profile/schema.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const path = new URL("../../fixtures/h100/heat.json", import.meta.url);
 * const profile = parseProfile(await Deno.readTextFile(path), "heat.json");
 * const stop = AbortSignal.abort(); // nothing is run: it would take a while
 * const { answer, results } = await qualify(profile, { signal: stop });
 * assertEquals([answer, results.length], ["unanswered", profile.entries.length]);
 * ```
 */
export async function qualify(profile: Profile, options: QualifyOptions = {}): Promise<Qualification> {
  checkOptions("qualify", options, ["tolerance", "quick", "numericsOnly", "onProgress", "signal"]);
  checkProfile(profile, "the profile");
  const isF64 = devicesOf(profile).some(({ entries }) =>
    entries.some(({ problem }) => problem.precision === "f64")
  );
  const device = await detectDevice({ precision: isF64 ? "f64" : "f32" });
  using session = new DeviceSession({
    device,
    useGpu: partFor(profile, device).entries.flatMap(configurationsOf).some(({ share }) =>
      uses(share, "gpu")
    ),
    timeoutMs: options.quick ? QUICK_TIMEOUT_MS : TIMEOUT_MS,
  });
  return await qualifyOn(session, profile, options);
}

/**
 * The part of a profile of several devices that was measured on this one, or else on the same GPU.
 *
 * @throws {ProfileError} if none was
 */
function partFor(profile: Profile, here: DeviceDescription): Profile {
  const parts = devicesOf(profile),
    isSameGpu = (other: Profile): boolean =>
      here.gpu !== null && isSameDevice({ ...other.device, cpu: here.cpu }, here);
  const own = parts.find(({ device }) => isSameDevice(device, here)) ?? parts.find(isSameGpu);
  if (own !== undefined || parts.length === 1) return own ?? profile;
  const wanted = parts.map(({ device }) => describeDevice(device)).join("; ");
  throw new ProfileError(
    `Cannot qualify: wanted one of the profile's ${parts.length} devices (${wanted}): found ` +
      describeDevice(here),
  );
}

/** The same on a session that is given, as a simulated one. */
export async function qualifyOn(
  session: Session,
  whole: Profile,
  options: QualifyOptions = {},
): Promise<Qualification> {
  const { tolerance = 0.1, quick = false, numericsOnly = false, onProgress, signal } = options;
  checkTolerance(tolerance);
  const profile = partFor(whole, session.device);
  const trials = trialsOf(profile, session);
  const startedNs = session.now();
  const run: AttemptOptions = {
    session,
    tolerance,
    numericsOnly,
    deadlineNs: quick ? startedNs + QUICK_NS : Infinity,
    slowdown: signal?.aborted ? 1 : await slowdownOf(session, trials, profile),
    signal,
  };
  for (const [done, trial] of trials.entries()) {
    onProgress?.({ stage: "measure", entry: trial.entry, done, total: trials.length });
    trial.result = await trial.attempt(run, trials.length - done);
    // while the reference is there
    if (trial.result.verification !== null) await trial.verifyOthers(run);
  }
  await measureAgain(trials, run, onProgress);
  const results = trials.map(({ outcome }) => outcome);
  const answer = answerOf(results);
  const isCompared = results.some(({ leastCellsPerSecond }) => leastCellsPerSecond !== null);
  return {
    answer,
    device: session.device,
    recorded: profile.device,
    tolerance: isCompared ? tolerance : null,
    note: noteOf(profile.device, session.device) ?? null,
    results,
    interrupted: answer !== "yes" && (signal?.aborted ?? false),
    elapsedNs: session.now() - startedNs,
  };
}

/** How many times slower this device is than a foreign one, by their copies; 1 if that is not known. */
async function slowdownOf(session: Session, trials: readonly Trial[], { device }: Profile): Promise<number> {
  const recorded = device.measured.copyBytesPerSecond;
  const isForeign = trials.some(({ entry, obstacle, notComparable }) =>
    obstacle === undefined && notComparable !== undefined && uses(entry.configuration.share, "gpu")
  );
  if (!isForeign || recorded === null) return 1;
  try {
    return Math.max(1, recorded / await session.copyBytesPerSecond());
  } catch (error) {
    if (!isFailure(error)) throw error;
    session.recover(error);
    return 1;
  }
}

/**
 * Measures again what came out slower, in turns with pauses: other programs slow a device down for a while, and nothing
 * speeds it up. So the fastest of the measurements counts; of the results the worst, for one that is wrong only now and
 * then is wrong.
 */
async function measureAgain(
  trials: readonly Trial[],
  run: AttemptOptions,
  onProgress: QualifyOptions["onProgress"],
): Promise<void> {
  const { session, deadlineNs, signal } = run;
  for (let round = 1; round < SOFTWARE_ATTEMPTS; round++) {
    const again = trials.filter((trial) => {
      const { result } = trial;
      const most = trial.isNoisy && !isHopeless(result) ? SOFTWARE_ATTEMPTS : HARDWARE_ATTEMPTS;
      const isInTime = session.now() + trial.expectedNs(run) < deadlineNs;
      return result.verdict === "slower" && round < most && isInTime;
    });
    if (again.length === 0 || signal?.aborted) return;
    await session.pause(Math.min(PAUSE_NS * round, LONGEST_PAUSE_NS), signal);
    for (const [done, trial] of again.entries()) {
      if (signal?.aborted) return;
      onProgress?.({ stage: "again", entry: trial.entry, done, total: again.length });
      trial.result = worseOrFaster(trial.result, await trial.attempt(run, again.length - done));
    }
  }
}

/** Whether a rate is so low that other programs do not explain it. */
function isHopeless({ measured, leastCellsPerSecond: least }: EntryResult): boolean {
  return measured !== null && least !== null && NOISE * judgedInterval(measured)[1] < least;
}

/** Of two measurements of an entry the one that counts: what fails, else the faster. */
function worseOrFaster(earlier: EntryResult, later: EntryResult): EntryResult {
  const attempts = earlier.attempts + later.attempts, elapsedNs = earlier.elapsedNs + later.elapsedNs;
  if (later.verdict === "not run") return earlier; // no time was left for it
  const isFaster = (later.measured?.cellsPerSecond ?? 0) >= (earlier.measured?.cellsPerSecond ?? 0);
  return { ...(later.verdict !== "slower" || isFaster ? later : earlier), attempts, elapsedNs };
}
