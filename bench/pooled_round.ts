/**
 * One final round of what several runs chose: measured beside each other, do their choices differ?
 *
 * @module
 */
import { detectDevice } from "../tuner/devices/device.ts";
import { DeviceSession } from "../tuner/devices/session.ts";
import { configurationKey } from "../tuner/configuration.ts";
import { type Finalist, finalRound } from "../tuner/measuring/final_round.ts";
import { problemOf } from "../tuner/profile/profile_problem.ts";
import type { ProfileEntry } from "../tuner/profile/schema.ts";

/** Time for the round. */
const ROUND_NS = 60e9;

/**
 * Measures the configurations of entries of one problem again, each once, in blocks.
 *
 * @returns what became of each; undefined where the CPU takes part in one, which no round compares
 */
export async function pooledRound(
  entries: readonly [ProfileEntry, ...ProfileEntry[]],
): Promise<readonly Finalist[] | undefined> {
  const [{ problem: problemRecord }] = entries;
  const [slices] = problemRecord.grid;
  if (entries.some(({ configuration: { share } }) => share.gpuSlices < slices)) return undefined;
  using session = new DeviceSession({ device: await detectDevice() });
  const problem = problemOf(problemRecord)!;
  const each = new Map(entries.map((entry) => [configurationKey(entry.configuration), entry]));
  return await finalRound(
    [...each.values()].map(({ configuration, result, verification }) => ({
      ...result,
      confidence95: result.confidence95 ?? [0, Infinity],
      configuration,
      verification,
      spread: 0,
      compileNs: 0,
    })),
    {
      problem,
      session,
      seed: 1,
      deadlineNs: session.now() + ROUND_NS,
      signal: new AbortController().signal,
      onEvaluation: () => {},
    },
  );
}
